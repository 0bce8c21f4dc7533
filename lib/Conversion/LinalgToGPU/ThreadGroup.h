//===- ThreadGroup.h - Threads that share a reduction -----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CONVERSION_LINALGTOGPU_THREADGROUP_H
#define BRAID_LIB_CONVERSION_LINALGTOGPU_THREADGROUP_H

#include "Reduction.h"

namespace braid::kernels {

/// Adjacent threads that share what they reduce: a part of a warp, or a block.
struct ThreadGroup {
  /// Threads of a group, a power of two, and groups of a block.
  int64_t threads = 1, groupsOfBlock = 1;
  /// The position of the thread in the group, and the number of the group.
  mlir::Value thread, group;
  /// Whether there is a group of this number; null if there is.
  mlir::Value isGroup;

  /// Sets the number of threads, and that of the groups of a block.
  void setThreads(int64_t number);
  int64_t getBlockSize() const { return threads * groupsOfBlock; }
  /// The types of the shared memory in which `combine` combines results.
  void addWorkgroupTypes(KernelBuilder &builder,
                         llvm::ArrayRef<Combiner> combiners,
                         llvm::SmallVectorImpl<mlir::Type> &types) const;
  /// Emits the place of the thread among `groups` groups.
  void emitPlace(KernelBuilder &builder, int64_t groups);
  /// Whether the thread stores the results of its group; null if every thread
  /// does.
  mlir::Value isStoring(KernelBuilder &builder) const;
  /// Combines the values of the threads of the group, for each of these. The
  /// shared memory `memory` belongs to this result alone.
  mlir::Value combine(KernelBuilder &builder, const Combiner &combiner,
                      mlir::Value value, unsigned memory) const;
};

/// Takes in the items `first`, `first + step`, ... below `count`, where `first`
/// is below `step`: `unroll` at once, so that their loads overlap. `takeIn`
/// combines items with accumulators; it replaces items that are not valid by
/// neutral elements.
llvm::SmallVector<mlir::Value>
takeInTurns(KernelBuilder &builder, int64_t count, mlir::Value first,
            int64_t step, int64_t unroll,
            llvm::SmallVector<mlir::Value> accumulators,
            llvm::function_ref<llvm::SmallVector<mlir::Value>(
                llvm::ArrayRef<mlir::Value> items, mlir::Value isValid,
                llvm::SmallVector<mlir::Value> accumulators)>
                takeIn);

} // namespace braid::kernels

#endif // BRAID_LIB_CONVERSION_LINALGTOGPU_THREADGROUP_H
