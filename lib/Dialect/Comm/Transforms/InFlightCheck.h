//===- InFlightCheck.h - Checks buffers in flight ---------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_INFLIGHTCHECK_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_INFLIGHTCHECK_H

#include "braid/Analysis/Memory/InFlightAccesses.h"

#include "llvm/Support/LogicalResult.h"

namespace braid::comm {

/// Checks every operation in flight on buffers below `root`. Between its start
/// and its wait no op may write or free a buffer that the operation reads, nor
/// read, write or free a buffer that it writes. Emits an error at each such op,
/// with a note at the start, and fails if there is one.
///
/// Views of different allocations or arguments are disjoint. Views of one
/// buffer are disjoint if their static offsets and sizes are, and so are a view
/// and an element at constant indices beside it. If a token comes from outside
/// the block, the buffers that its wait names are in flight from the token on.
/// The check is linear in the number of ops, for a bounded number of buffers in
/// flight at once.
llvm::LogicalResult checkInFlight(mlir::Operation *root);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_INFLIGHTCHECK_H
