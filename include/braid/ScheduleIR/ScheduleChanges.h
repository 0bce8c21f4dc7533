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

#include "mlir/IR/Value.h"

#include <variant>
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
  ~ScheduleChanges();

  /// Remembers how the ops of the graph's block stand, which they do as they
  /// did when the graph was built.
  void recordOrder(const BlockGraph &graph);

  /// Lets `replacement` take the place of the one result of `op`, which leaves
  /// the program. `created` are the ops that were built for it.
  void replace(mlir::Operation *op, mlir::Value replacement,
               llvm::ArrayRef<mlir::Operation *> created);

  /// Takes back all changes, the last first, and forgets them.
  void undo();

private:
  struct Order {
    mlir::Block *block;
    std::vector<mlir::Operation *> ops;
    void restore() const;
  };
  /// An op that stands in no block and has no operands.
  struct Replaced {
    mlir::Operation *op;
    llvm::SmallVector<mlir::Value, 2> operands;
    llvm::SmallVector<mlir::OpOperand *> uses;
    llvm::SmallVector<mlir::Operation *> created;
    mlir::Block *block;
    /// The op before which it stood; null at the end of the block.
    mlir::Operation *next;
    void restore() const;
  };

  std::vector<std::variant<Order, Replaced>> changes;
};

} // namespace braid

#endif // BRAID_SCHEDULEIR_SCHEDULECHANGES_H
