//===- ConvolutionCalls.h - Calls of the library for convolutions -*- C++
//-*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CONVERSION_LINALGTOBRAIDRT_CONVOLUTIONCALLS_H
#define BRAID_LIB_CONVERSION_LINALGTOBRAIDRT_CONVOLUTIONCALLS_H

#include "braid/Dialect/Library/IR/Library.h"

namespace braid {

/// Replaces a convolution on buffers by a call of `braid_rt_convolution`.
/// Fails, with an error, if the library does not compute it or the strides of
/// an operand are not known.
llvm::LogicalResult convertConvolutionToCall(library::ConvolutionOp op);

} // namespace braid

#endif // BRAID_LIB_CONVERSION_LINALGTOBRAIDRT_CONVOLUTIONCALLS_H
