//===- RoutineCalls.h - Calls of library routines ---------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CONVERSION_LINALGTOBRAIDRT_ROUTINECALLS_H
#define BRAID_LIB_CONVERSION_LINALGTOBRAIDRT_ROUTINECALLS_H

#include "braid/Dialect/Library/IR/Library.h"

namespace braid {

/// Replaces `op`, on buffers, by a call of `braid_rt_call_routine`. Fails, with
/// an error, if the elements of a buffer are not contiguous.
llvm::LogicalResult convertToCall(library::CallOp op);

} // namespace braid

#endif // BRAID_LIB_CONVERSION_LINALGTOBRAIDRT_ROUTINECALLS_H
