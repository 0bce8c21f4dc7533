//===- SplitDilations.h - Convolutions without gaps in input ----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_LIBRARY_TRANSFORMS_SPLITDILATIONS_H
#define BRAID_LIB_DIALECT_LIBRARY_TRANSFORMS_SPLITDILATIONS_H

#include "braid/Dialect/Library/IR/Library.h"
#include "mlir/IR/PatternMatch.h"

namespace braid::library {

/// Replaces a convolution on tensors whose input has gaps, as the gradient of
/// one with strides, by a convolution for each remainder of the places of the
/// output: of n taps each has those n / lhs_dilation that find an element of
/// the input. Gives these; `op` itself if it has strides, too, or no gaps.
llvm::SmallVector<ConvolutionOp> splitDilations(mlir::RewriterBase &rewriter,
                                                ConvolutionOp op);

} // namespace braid::library

#endif // BRAID_LIB_DIALECT_LIBRARY_TRANSFORMS_SPLITDILATIONS_H
