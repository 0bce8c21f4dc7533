//===- HazardRepair.h - Two repairs of accesses in flight ----- -*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_HAZARDS_HAZARDREPAIR_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_HAZARDS_HAZARDREPAIR_H

#include "Analysis/Memory/BufferRange.h"
#include "ProgramEdit.h"

#include "braid/Analysis/Memory/OpEffects.h"
#include "braid/Analysis/Tokens/RankUniformity.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "llvm/ADT/SetVector.h"

#include <string>

namespace braid::comm {

/// The accesses in flight of one operation.
struct Hazard {
  /// Null if the operation starts outside of what is known.
  mlir::Operation *start = nullptr;
  llvm::SetVector<mlir::Operation *> accesses;
};

/// What both repairs ask of a program. A change of the program makes it stale.
struct HazardContext {
  CallEffects &calls;
  RankUniformity &uniformity;
  mlir::SymbolTableCollection &symbolTables;
  BufferResolver buffers;

  /// True if `op`, with all that is nested in it, may touch a byte of `buffer`,
  /// other than to free it; with `onlyWrites`, may change or free one.
  bool mayAccess(mlir::Operation *op, mlir::Value buffer, bool onlyWrites);
  /// What `value` may point to, also through selects, loops and branches.
  llvm::SmallVector<BufferRange> getRanges(mlir::Value value);
  /// True if `a` and `b` may share a byte.
  bool mayOverlap(mlir::Value a, mlir::Value b);
};

/// The buffer that `op` itself frees; null if it frees none.
mlir::Value getFreedBuffer(mlir::Operation *op);

/// The waits of the operation that `start` starts; none if its token goes
/// anywhere else, too.
std::optional<llvm::SmallVector<WaitOp>> getOnlyWaits(mlir::Operation *start);

/// The ops of the function of `hazard.start` (or of the accesses, without one)
/// that make its accesses: the accesses, or the calls that lead to them.
llvm::SmallVector<mlir::Operation *> findLocalAccesses(const Hazard &hazard,
                                                       HazardContext &context);

/// Moves the waits of the operation up before its accesses in flight. Returns
/// why this is not possible, or an empty text if it is done.
std::string moveWaits(const Hazard &hazard, HazardContext &context,
                      ProgramEdit &edit);

/// Lets the operation read a copy of what is written in its flight, made before
/// the start, and write a buffer of its own in place of what is touched in its
/// flight, copied after the waits. Returns why this is not possible, or an
/// empty text if it is done.
std::string copyBuffers(const Hazard &hazard, HazardContext &context,
                        ProgramEdit &edit);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_HAZARDS_HAZARDREPAIR_H
