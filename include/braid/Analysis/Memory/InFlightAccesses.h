//===- InFlightAccesses.h - Accesses to buffers in flight ----- -*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_ANALYSIS_MEMORY_INFLIGHTACCESSES_H
#define BRAID_ANALYSIS_MEMORY_INFLIGHTACCESSES_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/LogicalResult.h"

#include <string>

namespace braid::comm {

/// An access to a buffer between the start and the wait of an operation on it.
struct InFlightAccess {
  mlir::Operation *op;
  /// What the access does: "reads", "writes", "frees" or "passes".
  llvm::StringRef verb;
  /// True if the operation writes the buffer, false if it only reads it.
  bool isWritten;
  /// The start of the operation; null if its token comes from elsewhere.
  mlir::Operation *start;
  mlir::Location started;
};

/// All accesses below `root` to buffers in flight. Between the start of an
/// operation and its wait no op may write or free a buffer that the operation
/// reads, nor read, write or free a buffer that it writes.
///
/// Views of different allocations or arguments are disjoint. Views of one
/// buffer are disjoint if their static offsets and sizes are, and so are a view
/// and an element at constant indices beside it. If a token comes from outside
/// the block, the buffers that its wait names are in flight from the token on.
/// The search is linear in the number of ops, for a bounded number of buffers
/// in flight at once.
llvm::SmallVector<InFlightAccess> findInFlightAccesses(mlir::Operation *root);

/// The same, of the operations that these starts and waits start and end, in
/// the order of the text.
llvm::SmallVector<InFlightAccess>
findInFlightAccesses(llvm::ArrayRef<mlir::Operation *> communication);

/// Emits an error, or a warning if `onlyWarns`, at each access that
/// `findInFlightAccesses` finds below `root`, with a note at the start. Fails
/// if there is an error.
llvm::LogicalResult checkInFlight(mlir::Operation *root,
                                  bool onlyWarns = false);

/// What makes an access of `op` to a buffer in flight right, for a note at the
/// start: "place its wait before the 'memref.store' op, or let the operation
/// read a copy of the buffer". `isWritten`: the operation writes the buffer.
std::string describeRepair(mlir::Operation *op, bool isWritten);

} // namespace braid::comm

#endif // BRAID_ANALYSIS_MEMORY_INFLIGHTACCESSES_H
