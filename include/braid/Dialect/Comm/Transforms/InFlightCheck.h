//===- InFlightCheck.h - Checks buffers in flight ---------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_COMM_TRANSFORMS_INFLIGHTCHECK_H
#define BRAID_DIALECT_COMM_TRANSFORMS_INFLIGHTCHECK_H

#include "mlir/IR/Operation.h"

namespace braid::comm {

/// Checks every operation in flight on buffers below `root`: between its start
/// and its wait no op may write or free a buffer that it reads, nor read, write
/// or free one that it writes. Emits an error at each op that does, with a note
/// at the start, and fails if there is one.
///
/// Buffers are told apart by the allocation or argument that they are views of;
/// views of one buffer by their offsets and sizes where these are known to be
/// disjoint. Where a token comes from elsewhere, the buffers that its wait
/// names are in flight from there. Takes time linear in the number of ops, for
/// a bounded number of buffers in flight at once.
llvm::LogicalResult checkInFlight(mlir::Operation *root);

} // namespace braid::comm

#endif // BRAID_DIALECT_COMM_TRANSFORMS_INFLIGHTCHECK_H
