//===- ScheduleChanges.cpp - What scheduling did to a program -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/ScheduleIR/ScheduleChanges.h"

#include "llvm/ADT/STLExtras.h"

using namespace braid;
using namespace mlir;

ScheduleChanges::~ScheduleChanges() {
  for (auto &change : changes)
    if (auto *replaced = std::get_if<Replaced>(&change))
      replaced->op->destroy();
}

void ScheduleChanges::recordOrder(const BlockGraph &graph) {
  std::vector<Operation *> ops(graph.ops.size() + graph.prologue.size());
  for (auto [op, place] : llvm::zip_equal(graph.ops, graph.opPlaces))
    ops[place.position] = op;
  for (auto [op, place] : llvm::zip_equal(graph.prologue, graph.prologuePlaces))
    ops[place.position] = op;
  changes.emplace_back(Order{graph.block, std::move(ops)});
}

void ScheduleChanges::replace(Operation *op, Value replacement,
                              ArrayRef<Operation *> created) {
  Replaced replaced{op,
                    llvm::to_vector<2>(op->getOperands()),
                    {},
                    llvm::to_vector(created),
                    op->getBlock(),
                    op->getNextNode()};
  Value result = op->getResult(0);
  for (OpOperand &use : result.getUses())
    replaced.uses.push_back(&use);
  result.replaceAllUsesWith(replacement);
  op->remove();
  // What is in no block must not be found as a user.
  op->dropAllReferences();
  changes.emplace_back(std::move(replaced));
}

void ScheduleChanges::Order::restore() const {
  // What is not in the list is the terminator, which stands last.
  Block::iterator end = block->end();
  if (block->mightHaveTerminator())
    end = block->getTerminator()->getIterator();
  for (Operation *op : ops)
    op->moveBefore(block, end);
}

void ScheduleChanges::Replaced::restore() const {
  Block::iterator place = next ? next->getIterator() : block->end();
  block->getOperations().insert(place, op);
  for (auto [index, operand] : llvm::enumerate(operands))
    op->setOperand(index, operand);
  for (OpOperand *use : uses)
    use->set(op->getResult(0));
  for (Operation *created : llvm::reverse(created))
    created->erase();
}

void ScheduleChanges::undo() {
  for (const auto &change : llvm::reverse(changes))
    std::visit([](const auto &which) { which.restore(); }, change);
  changes.clear();
}
