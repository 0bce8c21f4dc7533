//===- RankRegions.cpp - One rank on one path: regions --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankExecution.h"

#include "braid/Support/IterationCount.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IntegerSet.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;
using namespace mlir;

// Bounds of one path; what exceeds them is not followed.
static constexpr unsigned mostWhileRuns = 4096;
/// Runs of a while loop whose condition the program does not tell.
static constexpr unsigned mostChosenRuns = 64;
/// Loops with more iterations than this skip some in the middle.
static constexpr uint64_t mostIterations = 48;
/// Iterations are skipped by multiples of this, so that buffers that take turns
/// go on as they would.
static constexpr uint64_t skippedMultiple = 12;

SmallVector<Attribute> RankExecution::getScalars(ValueRange values,
                                                 bool mayChoose, Frame &frame) {
  SmallVector<Attribute> attributes;
  for (Value value : values) {
    const PathValue &pathValue = get(value, frame);
    std::optional<int64_t> number;
    if (isScalarType(value.getType()))
      number = mayChoose ? scalars.evaluate(pathValue)
                         : scalars.evaluateKnown(pathValue);
    attributes.push_back(number ? getNumberAttr(value.getType(), *number)
                                : Attribute());
  }
  return attributes;
}

/// True if `op`, which has regions, communicates nothing and touches nothing in
/// flight.
bool RankExecution::mayBeSkipped(Operation *op, Frame &frame) {
  if (query.communicates(op) ||
      llvm::any_of(op->getResultTypes(), [](Type type) {
        return isa<comm::TokenType, BaseMemRefType>(type);
      }))
    return false;
  // Conditions may depend on its numbers, which are known if all is.
  if (llvm::any_of(op->getResultTypes(), mayDecide) || usesNumbers(op, frame)) {
    auto loop = dyn_cast<LoopLikeOpInterface>(op);
    std::optional<SmallVector<LoopDim, 1>> dims =
        loop ? getLoopDims(loop, /*mayChoose=*/false, frame) : std::nullopt;
    if (dims && llvm::all_of(*dims, [](const LoopDim &dim) {
          return dim.lower && dim.upper && dim.step;
        }))
      return false;
    if (!dims && isa<RegionBranchOpInterface>(op) &&
        !llvm::is_contained(
            getScalars(op->getOperands(), /*mayChoose=*/false, frame),
            Attribute()))
      return false;
  }
  if (buffers.isEmpty())
    return true;
  // What the regions know from outside, and what they may call.
  return !op->walk([&](Operation *nested) {
              for (Value operand : nested->getOperands())
                if (isa<BaseMemRefType>(operand.getType()) &&
                    !op->isAncestor(operand.getParentBlock()->getParentOp())) {
                  const PathValue &value = get(operand, frame);
                  if (!value.buffer || buffers.isInFlight(value.buffer->root))
                    return WalkResult::interrupt();
                }
              return isa<CallOpInterface>(nested) ? WalkResult::interrupt()
                                                  : WalkResult::advance();
            }).wasInterrupted();
}

bool RankExecution::executeRegions(Operation *op, Frame &frame) {
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
    if (getLoopDims(loop, /*mayChoose=*/false, frame))
      return executeLoop(loop, frame);
  if (auto branch = dyn_cast<RegionBranchOpInterface>(op))
    return executeBranch(branch, frame);
  return executeOnce(op, frame);
}

/// Follows the regions of `op`, which does not say how it runs them: each once,
/// as if the op ran it. What a region does alone is wrong whatever the op
/// means; of tokens and buffers from outside, and of what ranks do together,
/// nothing is proven.
bool RankExecution::executeOnce(Operation *op, Frame &frame) {
  if (!query.communicates(op)) {
    for (Region &body : op->getRegions())
      for (Block &block : body)
        for (Operation &nested : block)
          if (!nested.hasTrait<OpTrait::IsTerminator>() &&
              !executeOp(&nested, frame))
            return false;
    forgetNested(op, frame);
    bindUnknown(op, frame);
    return true;
  }
  if (!trace.unknownRegions)
    trace.unknownRegions = op;
  auto forget = [&](Value value) {
    if (std::optional<unsigned> token = get(value, frame).token) {
      tokens.forget(*token);
      buffers.end(*token);
    }
  };
  llvm::for_each(op->getOperands(), forget);
  visitUsedValuesDefinedAbove(op->getRegions(),
                              [&](OpOperand *used) { forget(used->get()); });
  for (Region &region : op->getRegions()) {
    Values arguments, results;
    for (BlockArgument argument : region.getArguments()) {
      arguments.push_back(
          makeUnknown(argument, llvm::hash_combine(op, countRun(op),
                                                   argument.getArgNumber())));
      if (arguments.back().token)
        tokens.forget(*arguments.back().token);
    }
    if (!executeRegion(region, arguments, results, frame))
      return false;
    for (const PathValue &result : results)
      if (result.token)
        tokens.forget(*result.token);
  }
  forgetNested(op, frame);
  bindUnknown(op, frame);
  return true;
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

/// The number of the successor to which control goes from `point`, a terminator
/// or `op` itself, where the program does not tell.
unsigned RankExecution::chooseSuccessor(Operation *op, Operation *point,
                                        ArrayRef<RegionSuccessor> successors) {
  return choices.chooseSuccessor(llvm::hash_combine(point, countRun(point), 19),
                                 op, successors.size());
}

/// Whether `op`, which is `affine.if`, runs its first region; none for others.
static std::optional<bool> evaluateSet(Operation *op,
                                       ArrayRef<Attribute> operands) {
  auto branch = dyn_cast<affine::AffineIfOp>(op);
  if (!branch || llvm::is_contained(operands, Attribute()))
    return std::nullopt;
  IntegerSet set = branch.getIntegerSet();
  AffineMap map = AffineMap::get(set.getNumDims(), set.getNumSymbols(),
                                 set.getConstraints(), op->getContext());
  SmallVector<Attribute> values;
  if (failed(map.constantFold(operands, values)))
    return std::nullopt;
  for (auto [value, isEquality] : llvm::zip_equal(values, set.getEqFlags())) {
    int64_t number = cast<IntegerAttr>(value).getInt();
    if (isEquality ? number != 0 : number < 0)
      return false;
  }
  return true;
}

bool RankExecution::executeBranch(RegionBranchOpInterface op, Frame &frame) {
  // Only what regions do not get can decide between them.
  auto needsChoice = [](ArrayRef<RegionSuccessor> successors) {
    return successors.size() > 1;
  };
  SmallVector<RegionSuccessor> successors;
  SmallVector<Attribute> operands =
      getScalars(op->getOperands(), /*mayChoose=*/false, frame);
  op.getEntrySuccessorRegions(operands, successors);
  if (needsChoice(successors)) {
    successors.clear();
    operands = getScalars(op->getOperands(), /*mayChoose=*/true, frame);
    op.getEntrySuccessorRegions(operands, successors);
    if (std::optional<bool> holds = evaluateSet(op, operands)) {
      Region *region = &op->getRegion(*holds ? 0 : 1);
      llvm::erase_if(successors, [&](RegionSuccessor successor) {
        return region->empty() ? !successor.isParent()
                               : successor.getSuccessor() != region;
      });
    }
  }
  Operation *point = op;
  Values forwarded;
  for (unsigned numRuns = 0, numChosen = 0;
       numRuns != mostWhileRuns && numChosen != mostChosenRuns; ++numRuns) {
    if (successors.empty())
      return false;
    unsigned number = 0;
    if (needsChoice(successors)) {
      number = chooseSuccessor(op, point, successors);
      ++numChosen;
    }
    RegionSuccessor next = successors[number];
    auto terminator = dyn_cast<RegionBranchTerminatorOpInterface>(point);
    bool isEntry = point == op.getOperation();
    if (!isEntry && !terminator)
      return false;
    forwarded = getAll(isEntry ? op.getEntrySuccessorOperands(next)
                               : terminator.getSuccessorOperands(next),
                       frame);
    if (next.isParent()) {
      bind(op->getResults(), forwarded, frame);
      return true;
    }
    Values results;
    if (!executeRegion(*next.getSuccessor(), forwarded, results, frame, &point))
      return false;
    auto last = dyn_cast<RegionBranchTerminatorOpInterface>(point);
    if (!last || point->getParentOp() != op)
      return false;
    successors.clear();
    last.getSuccessorRegions(
        getScalars(point->getOperands(), /*mayChoose=*/false, frame),
        successors);
    if (needsChoice(successors)) {
      successors.clear();
      // What decides is not handed on.
      SmallVector<Attribute> known =
          getScalars(point->getOperands(), /*mayChoose=*/false, frame);
      // No choice decides how often a loop runs that computes alone.
      bool computesAlone = buffers.isEmpty() && !query.communicates(op);
      for (auto [operand, attribute] :
           llvm::zip_equal(point->getOperands(), known))
        if (!attribute && operand.getType().isInteger(1)) {
          if (computesAlone) {
            forgetNested(op, frame);
            bindUnknown(op, frame);
            return true;
          }
          attribute = getScalars(operand, /*mayChoose=*/true, frame).front();
          ++numChosen;
          break;
        }
      last.getSuccessorRegions(known, successors);
    }
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

std::optional<SmallVector<RankExecution::LoopDim, 1>>
RankExecution::getLoopDims(LoopLikeOpInterface loop, bool mayChoose,
                           Frame &frame) {
  SmallVector<LoopDim, 1> dims;
  if (auto affineLoop = dyn_cast<affine::AffineForOp>(*loop)) {
    auto fold = [&](AffineMap map, ValueRange operands, bool isLower) {
      std::optional<int64_t> bound;
      SmallVector<Attribute> values;
      SmallVector<Attribute> numbers = getScalars(operands, mayChoose, frame);
      if (llvm::is_contained(numbers, Attribute()) ||
          failed(map.constantFold(numbers, values)))
        return bound;
      for (Attribute value : values) {
        int64_t number = cast<IntegerAttr>(value).getInt();
        bound = !bound    ? number
                : isLower ? std::max(*bound, number)
                          : std::min(*bound, number);
      }
      return bound;
    };
    dims.push_back(
        {fold(affineLoop.getLowerBoundMap(), affineLoop.getLowerBoundOperands(),
              /*isLower=*/true),
         fold(affineLoop.getUpperBoundMap(), affineLoop.getUpperBoundOperands(),
              /*isLower=*/false),
         affineLoop.getStepAsInt()});
    return dims;
  }
  std::optional<SmallVector<OpFoldResult>> lower = loop.getLoopLowerBounds();
  std::optional<SmallVector<OpFoldResult>> upper = loop.getLoopUpperBounds();
  std::optional<SmallVector<OpFoldResult>> steps = loop.getLoopSteps();
  std::optional<SmallVector<Value>> variables = loop.getLoopInductionVars();
  if (!lower || !upper || !steps || !variables || lower->empty())
    return std::nullopt;
  // Compute runs often in full, whatever the number of its iterations is.
  auto getBound = [&](OpFoldResult bound) -> std::optional<int64_t> {
    if (!mayChoose || isa<Attribute>(bound))
      return getKnown(bound, frame);
    return scalars.evaluate(get(cast<Value>(bound), frame));
  };
  for (auto [from, to, step] : llvm::zip_equal(*lower, *upper, *steps))
    dims.push_back({getBound(from), getBound(to), getBound(step)});
  return dims;
}

bool RankExecution::executeLoop(LoopLikeOpInterface loop, Frame &frame) {
  SmallVector<LoopDim, 1> dims =
      *getLoopDims(loop, /*mayChoose=*/query.communicates(loop), frame);
  SmallVector<Value> variables = *loop.getLoopInductionVars();
  bool isKnown = llvm::all_of(dims, [](const LoopDim &dim) {
    return dim.lower && dim.upper && dim.step;
  });
  if (!isKnown && query.communicates(loop))
    return false;
  auto forLoop = dyn_cast<scf::ForOp>(*loop);
  SmallVector<uint64_t, 1> counts;
  uint64_t iterations = 1;
  if (isKnown)
    for (auto [dim, variable] : llvm::zip_equal(dims, variables)) {
      Type type = variable.getType();
      std::optional<uint64_t> count =
          countIterations(getNumberAttr(type, *dim.lower).getValue(),
                          getNumberAttr(type, *dim.upper).getValue(),
                          getNumberAttr(type, *dim.step).getValue(),
                          forLoop && forLoop.getUnsignedCmp());
      bool isTooLong = false;
      if (count)
        iterations = llvm::SaturatingMultiply(iterations, *count, &isTooLong);
      if (!count || isTooLong)
        return false;
      counts.push_back(*count);
    }
  Values carried = getAll(loop.getInits(), frame);
  bool isCarried = loop.getRegionIterArgs().size() == carried.size();
  Region &body = *loop.getLoopRegions().front();
  uint64_t skipFrom = mostIterations / 2, skipTo = skipFrom;
  if (iterations > mostIterations)
    skipTo = skipFrom +
             (iterations - mostIterations) / skippedMultiple * skippedMultiple;
  for (uint64_t i = 0; i < iterations; ++i) {
    if (i == skipFrom && skipTo != skipFrom) {
      i = skipTo;
      forgetNested(loop, frame);
    }
    Values arguments(variables.size());
    uint64_t rest = i;
    for (size_t number = variables.size(); number-- != 0;) {
      if (!isKnown) {
        arguments[number] = makeUnknown(
            variables[number],
            llvm::hash_combine(loop.getOperation(), countRun(loop), number));
        continue;
      }
      // Unsigned numbers wrap around where signed ones may not.
      uint64_t index = rest % counts[number];
      rest /= counts[number];
      arguments[number] = getConstantScalar(variables[number].getType(),
                                            uint64_t(*dims[number].lower) +
                                                index * *dims[number].step,
                                            /*dependsOnRank=*/false);
    }
    if (isCarried)
      arguments.append(carried.begin(), carried.end());
    Values results;
    if (!executeRegion(body, arguments, results, frame))
      return false;
    if (isCarried && loop.getYieldedValues().size() == carried.size())
      carried = std::move(results);
  }
  if (!isKnown)
    forgetNested(loop, frame);
  if (isCarried && loop->getNumResults() == carried.size() &&
      loop.getYieldedValues().size() == carried.size())
    bind(loop->getResults(), carried, frame);
  else
    bindUnknown(loop, frame);
  return true;
}
