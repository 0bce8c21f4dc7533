//===- Regions.cpp - Branches and loops of regions ------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "braid/Support/IterationCount.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;
using namespace braid::interpreter;
using namespace mlir;

SmallVector<Attribute> Machine::getScalars(unsigned rank, ValueRange values) {
  return llvm::map_to_vector(
      values, [&](Value value) { return get(rank, value).scalar; });
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

bool Machine::enterBranch(unsigned rank, RegionBranchOpInterface op) {
  SmallVector<RegionSuccessor> successors;
  op.getEntrySuccessorRegions(getScalars(rank, op->getOperands()), successors);
  if (successors.size() != 1)
    return unsupported(op);
  Values forwarded =
      getAll(rank, op.getEntrySuccessorOperands(successors.front()));
  if (successors.front().isParent()) {
    bind(rank, op->getResults(), forwarded);
    return true;
  }
  return enter(rank, op, *successors.front().getSuccessor(), forwarded);
}

bool Machine::terminateBranch(unsigned rank,
                              RegionBranchTerminatorOpInterface terminator) {
  SmallVector<RegionSuccessor> successors;
  terminator.getSuccessorRegions(getScalars(rank, terminator->getOperands()),
                                 successors);
  if (successors.size() != 1)
    return unsupported(terminator);
  Values forwarded =
      getAll(rank, terminator.getSuccessorOperands(successors.front()));
  if (successors.front().isParent())
    return leave(rank, forwarded);
  goTo(ranks[rank].frames.back(), &successors.front().getSuccessor()->front(),
       forwarded);
  return true;
}

bool Machine::runBody(unsigned rank, Operation *owner, Region &region,
                      const Values &arguments, Values &yielded) {
  size_t depth = ranks[rank].frames.size();
  if (!enter(rank, owner, region, arguments))
    return false;
  ranks[rank].frames.back().yielded = &yielded;
  while (!hasFailed() && ranks[rank].frames.size() > depth)
    step(rank);
  return !hasFailed();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

bool Machine::enterLoop(unsigned rank, LoopLikeOpInterface loop) {
  std::optional<SmallVector<OpFoldResult>> lower = loop.getLoopLowerBounds();
  std::optional<SmallVector<OpFoldResult>> upper = loop.getLoopUpperBounds();
  std::optional<SmallVector<OpFoldResult>> steps = loop.getLoopSteps();
  if (!lower || !upper || !steps)
    return unsupported(loop);
  auto forLoop = dyn_cast<scf::ForOp>(*loop);
  Frame::Loop state;
  for (auto [from, to, by] : llvm::zip_equal(*lower, *upper, *steps)) {
    IntegerAttr first = getInteger(rank, from), last = getInteger(rank, to),
                step = getInteger(rank, by);
    if (!first || !last || !step)
      return unsupported(loop);
    std::optional<uint64_t> count =
        countIterations(first.getValue(), last.getValue(), step.getValue(),
                        forLoop && forLoop.getUnsignedCmp());
    bool isTooLong = false;
    if (count)
      state.total = llvm::SaturatingMultiply(state.total, *count, &isTooLong);
    if (!count || isTooLong)
      return unsupported(loop);
    state.lower.push_back(first.getValue());
    state.step.push_back(step.getValue());
    state.counts.push_back(*count);
  }
  Values carried = getAll(rank, loop.getInits());
  if (!enter(rank, loop, *loop.getLoopRegions().front(), {}))
    return false;
  ranks[rank].frames.back().loop = std::move(state);
  return continueLoop(rank, carried);
}

/// Begins the next iteration of the loop of the innermost frame, or ends it.
bool Machine::continueLoop(unsigned rank, const Values &carried) {
  Frame &frame = ranks[rank].frames.back();
  Frame::Loop &loop = *frame.loop;
  if (loop.next == loop.total)
    return leave(rank, carried);
  Block &body =
      cast<LoopLikeOpInterface>(frame.owner).getLoopRegions().front()->front();
  Values arguments(loop.counts.size());
  uint64_t rest = loop.next++;
  for (size_t dim = loop.counts.size(); dim-- != 0;) {
    APInt index(loop.step[dim].getBitWidth(), rest % loop.counts[dim],
                /*isSigned=*/false, /*implicitTrunc=*/true);
    rest /= loop.counts[dim];
    arguments[dim].scalar =
        IntegerAttr::get(body.getArgument(dim).getType(),
                         loop.lower[dim] + index * loop.step[dim]);
  }
  // The reductions of scf.parallel have no arguments; their values so far are
  // the results.
  if (carried.size() + arguments.size() == body.getNumArguments())
    arguments.append(carried.begin(), carried.end());
  else
    bind(rank, frame.owner->getResults(), carried);
  goTo(frame, &body, arguments);
  return true;
}

/// Ends an iteration of the loop of the innermost frame.
bool Machine::terminateLoop(unsigned rank, Operation *terminator) {
  Operation *owner = ranks[rank].frames.back().owner;
  if (auto reduce = dyn_cast<scf::ReduceOp>(terminator)) {
    Values carried = getAll(rank, owner->getResults());
    for (auto [value, operand, region] : llvm::zip_equal(
             carried, reduce.getOperands(), reduce.getReductions())) {
      Values yielded;
      if (!runBody(rank, reduce, region, {value, get(rank, operand)}, yielded))
        return false;
      value = yielded.front();
    }
    return continueLoop(rank, carried);
  }
  if (auto parallel = dyn_cast<scf::InParallelOp>(terminator)) {
    auto loop = cast<scf::ForallOp>(owner);
    Values carried = getAll(rank, loop.getRegionIterArgs());
    for (Operation &op : parallel.getYieldingOps()) {
      auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(op);
      if (!insert)
        return unsupported(&op);
      size_t number = llvm::find(loop.getRegionIterArgs(), insert.getDest()) -
                      loop.getRegionIterArgs().begin();
      RuntimeValue inserted;
      if (!insertSlice(rank, insert, get(rank, insert.getSource()),
                       carried[number], insert.getDroppedDims(), inserted))
        return false;
      carried[number] = inserted;
    }
    return continueLoop(rank, carried);
  }
  return continueLoop(rank, getAll(rank, terminator->getOperands()));
}
