//===- ScheduleChanges.h - Undoes changes of scheduling ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SCHEDULEIR_SCHEDULECHANGES_H
#define BRAID_SCHEDULEIR_SCHEDULECHANGES_H

#include "braid/ScheduleIR/GraphBuilder.h"

#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace braid {

/// Records the changes that scheduling makes to a program, so that a pass that
/// fails can undo them. During its lifetime only recorded changes may be made
/// to the recorded blocks.
class ScheduleChanges {
public:
  ScheduleChanges() = default;
  ScheduleChanges(const ScheduleChanges &) = delete;
  ScheduleChanges &operator=(const ScheduleChanges &) = delete;

  /// Records the present order of the graph's block, which must not have
  /// changed since the graph was built, and applies `order`.
  void applyOrder(const BlockGraph &graph, llvm::ArrayRef<unsigned> order);

  /// Calls `check` with each changed block and its first order of ops, what is
  /// claimed of the present order, and the effects of these ops. Stops and
  /// fails if `check` fails.
  llvm::LogicalResult
  checkBlocks(llvm::function_ref<llvm::LogicalResult(
                  mlir::Block &block, llvm::ArrayRef<mlir::Operation *> before,
                  const OrderClaim &claim, BlockEffects &effects)>
                  check) const;

  /// Undoes all changes, the last one first, and drops the records.
  void undo();

private:
  struct Order {
    mlir::Block *block;
    std::vector<mlir::Operation *> ops;
    OrderClaim claim;
    std::shared_ptr<BlockEffects> effects;
    void restore() const;
  };
  std::vector<Order> changes;
  /// The first change of each block.
  llvm::DenseMap<mlir::Block *, size_t> firstChanges;
};

} // namespace braid

#endif // BRAID_SCHEDULEIR_SCHEDULECHANGES_H
