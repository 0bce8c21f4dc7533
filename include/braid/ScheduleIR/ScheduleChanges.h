//===- ScheduleChanges.h - What scheduling did to a program -----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SCHEDULEIR_SCHEDULECHANGES_H
#define BRAID_SCHEDULEIR_SCHEDULECHANGES_H

#include "braid/ScheduleIR/GraphBuilder.h"

#include <vector>

namespace braid {

/// What scheduling has changed in a program, so that a pass that fails can
/// leave its input as it was. While it lives, nothing but what is recorded here
/// may change the blocks that it knows.
class ScheduleChanges {
public:
  ScheduleChanges() = default;
  ScheduleChanges(const ScheduleChanges &) = delete;
  ScheduleChanges &operator=(const ScheduleChanges &) = delete;

  /// Remembers how the ops of the graph's block stand, which they do as they
  /// did when the graph was built.
  void recordOrder(const BlockGraph &graph);

  /// Calls `check` with each block that has changed and the order in which its
  /// ops stood at first; stops and fails when it fails.
  llvm::LogicalResult
  checkBlocks(llvm::function_ref<llvm::LogicalResult(
                  mlir::Block &block, llvm::ArrayRef<mlir::Operation *> before)>
                  check) const;

  /// Takes back all changes, the last first, and forgets them.
  void undo();

private:
  struct Order {
    mlir::Block *block;
    std::vector<mlir::Operation *> ops;
    void restore() const;
  };
  std::vector<Order> changes;
};

} // namespace braid

#endif // BRAID_SCHEDULEIR_SCHEDULECHANGES_H
