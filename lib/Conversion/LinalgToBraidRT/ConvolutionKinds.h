//===- ConvolutionKinds.h - What cuDNN calls a convolution ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CONVERSION_LINALGTOBRAIDRT_CONVOLUTIONKINDS_H
#define BRAID_LIB_CONVERSION_LINALGTOBRAIDRT_CONVOLUTIONKINDS_H

#include "braid-rt/Convolution.h"
#include "braid/Dialect/Library/IR/Library.h"
#include "mlir/IR/PatternMatch.h"

#include <string>

namespace braid {

/// A `library.convolution` as a convolution y = conv(x, w), its gradient by x
/// or its gradient by w. The op computes one of x, w and y from the others.
struct LibraryConvolution {
  /// A spatial dimension of y = conv(x, w). Without padding elements of the
  /// input that are not read may be cut off.
  struct Dim {
    int64_t stride, dilation, low, high;
    int64_t begin, end; ///< What is left of the op's input.
  };

  braid_rt_convolution_kind kind;
  /// The operands of the op (0: input, 1: kernel, 2: output) that are x, w, y.
  unsigned roles[BRAID_RT_CONVOLUTION_OPERANDS];
  /// For each operand of the op its dimensions in the order of the runtime.
  llvm::SmallVector<unsigned, 5> dims[BRAID_RT_CONVOLUTION_OPERANDS];
  llvm::SmallVector<Dim, 3> spatial;
  int64_t groups;
  /// Whether the op has to read the kernel reversed to be this convolution.
  bool isKernelReversed;
};

/// Matches `op` to what cuDNN computes. Else sets `obstacle` to what is found
/// and what is expected.
std::optional<LibraryConvolution>
matchLibraryConvolution(library::ConvolutionOp op, std::string &obstacle);

/// Brings the operands of `op`, on tensors, which matches, to the order in
/// which cuDNN is fast, and to convolutions of the groups that it has.
void arrangeForLibrary(mlir::RewriterBase &rewriter, library::ConvolutionOp op);

} // namespace braid

#endif // BRAID_LIB_CONVERSION_LINALGTOBRAIDRT_CONVOLUTIONKINDS_H
