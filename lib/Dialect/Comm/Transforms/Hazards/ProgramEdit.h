//===- ProgramEdit.h - Changes that can be taken back --------- -*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_HAZARDS_PROGRAMEDIT_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_HAZARDS_PROGRAMEDIT_H

#include "mlir/IR/Operation.h"

#include <functional>
#include <vector>

namespace braid::comm {

/// Changes of a program, which `undo` takes back in reverse order.
class ProgramEdit {
public:
  void moveBefore(mlir::Operation *op, mlir::Operation *place) {
    mlir::Block *block = op->getBlock();
    mlir::Operation *next = op->getNextNode();
    steps.push_back([=]() {
      if (next)
        op->moveBefore(next);
      else
        op->moveBefore(block, block->end());
    });
    op->moveBefore(place);
  }

  void replace(mlir::OpOperand &operand, mlir::Value value) {
    steps.push_back([&operand, old = operand.get()]() { operand.set(old); });
    operand.set(value);
  }

  /// `op` was inserted.
  void insert(mlir::Operation *op) {
    steps.push_back([op]() { op->erase(); });
  }

  bool isEmpty() const { return steps.empty(); }

  void undo() {
    for (; !steps.empty(); steps.pop_back())
      steps.back()();
  }

private:
  std::vector<std::function<void()>> steps;
};

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_HAZARDS_PROGRAMEDIT_H
