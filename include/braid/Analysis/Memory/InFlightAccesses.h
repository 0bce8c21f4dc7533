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

/// All accesses below `root` that `checkInFlight` reports.
llvm::SmallVector<InFlightAccess> findInFlightAccesses(mlir::Operation *root);

/// The same, of the operations that these starts and waits start and end, in
/// the order of the text.
llvm::SmallVector<InFlightAccess>
findInFlightAccesses(llvm::ArrayRef<mlir::Operation *> communication);

/// What makes an access of `op` to a buffer in flight right, for a note at the
/// start: "place its wait before the 'memref.store' op, or let the operation
/// read a copy of the buffer". `isWritten`: the operation writes the buffer.
std::string describeRepair(mlir::Operation *op, bool isWritten);

} // namespace braid::comm

#endif // BRAID_ANALYSIS_MEMORY_INFLIGHTACCESSES_H
