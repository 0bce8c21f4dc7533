//===- RankExecution.cpp - One rank on one path: control flow -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankExecution.h"

#include "braid/Support/IterationCount.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;
using namespace mlir;

// Bounds of one path; what exceeds them is not followed.
static constexpr uint64_t mostSteps = 4'000'000;
static constexpr unsigned mostCalls = 64;
static constexpr unsigned mostBlocks = 4096;
static constexpr unsigned mostWhileRuns = 4096;
/// Runs of a while loop whose condition the program does not tell.
static constexpr unsigned mostChosenRuns = 64;
/// Loops with more iterations than this skip some in the middle.
static constexpr uint64_t mostIterations = 48;
/// Iterations are skipped by multiples of this, so that buffers that take turns
/// go on as they would.
static constexpr uint64_t skippedMultiple = 12;

//===----------------------------------------------------------------------===//
// CommunicationQuery
//===----------------------------------------------------------------------===//

FunctionOpInterface CommunicationQuery::getCallee(CallOpInterface call) {
  return dyn_cast_or_null<FunctionOpInterface>(
      call.resolveCallableInTable(&symbolTables));
}

bool CommunicationQuery::communicates(Operation *op) {
  auto [it, isNew] = known.try_emplace(op, false);
  if (!isNew)
    return it->second;
  bool found = op->walk([&](Operation *nested) {
                   if (comm::getAsyncStart(nested) || isa<comm::WaitOp>(nested))
                     return WalkResult::interrupt();
                   if (auto call = dyn_cast<CallOpInterface>(nested))
                     if (FunctionOpInterface callee = getCallee(call))
                       if (communicates(callee))
                         return WalkResult::interrupt();
                   return WalkResult::advance();
                 }).wasInterrupted();
  return known[op] = found;
}

//===----------------------------------------------------------------------===//
// RankExecution: control flow
//===----------------------------------------------------------------------===//

const PathValue &RankExecution::get(Value value, Frame &frame) {
  auto it = frame.find(value);
  if (it != frame.end())
    return it->second;
  // A value of an op that was skipped.
  PathValue unknown =
      makeUnknown(value, llvm::hash_combine(value.getAsOpaquePointer(), 7));
  return frame[value] = unknown;
}

RankExecution::Values RankExecution::getAll(ValueRange values, Frame &frame) {
  Values all;
  for (Value value : values)
    all.push_back(get(value, frame));
  return all;
}

void RankExecution::bind(ValueRange values, const Values &bound, Frame &frame) {
  for (auto [value, pathValue] : llvm::zip(values, bound))
    frame[value] = pathValue;
}

SmallVector<Finding::Note> RankExecution::describePath() {
  SmallVector<Finding::Note> notes;
  constexpr size_t mostNotes = 6;
  for (const PathChoices::Choice &choice :
       choices.getChoices().take_front(mostNotes))
    notes.push_back({choice.value.getLoc(),
                     "the path where this value is " +
                         std::to_string(PathChoices::getValue(choice))});
  if (scalars.hasUsedRank())
    notes.push_back(
        {entryOp->getLoc(), "the path of rank " + std::to_string(rank)});
  return notes;
}

RankTrace RankExecution::run(FunctionOpInterface entry) {
  entryOp = entry;
  Frame frame;
  Values arguments, results;
  for (BlockArgument argument : entry.getArguments()) {
    uint64_t id = llvm::hash_combine(argument.getArgNumber(), 3);
    PathValue value = makeUnknown(argument, id);
    if (value.token)
      buffers.keepAccesses();
    arguments.push_back(value);
  }
  trace.isComplete =
      executeRegion(entry.getFunctionBody(), arguments, results, frame);
  if (trace.isComplete) {
    for (const PathValue &result : results)
      if (result.token)
        tokens.handOut(*result.token, entry);
    tokens.finish(describePath());
  }
  trace.dependsOnRank = scalars.hasUsedRank();
  return std::move(trace);
}

bool RankExecution::executeRegion(Region &region, const Values &arguments,
                                  Values &results, Frame &frame) {
  if (region.empty())
    return true;
  Block *block = &region.front();
  Values incoming = arguments;
  for (unsigned numBlocks = 0; numBlocks != mostBlocks; ++numBlocks) {
    bind(block->getArguments(), incoming, frame);
    Operation *terminator =
        block->mightHaveTerminator() ? block->getTerminator() : nullptr;
    for (Operation &op : *block)
      if (&op != terminator && !executeOp(&op, frame))
        return false;
    if (!terminator)
      return true;
    auto branch = dyn_cast<BranchOpInterface>(terminator);
    if (!branch) {
      results = getAll(terminator->getOperands(), frame);
      return true;
    }
    SmallVector<Attribute> operands;
    for (Value operand : terminator->getOperands()) {
      const PathValue &value = get(operand, frame);
      bool decides = terminator->getNumSuccessors() > 1 && value.scalar &&
                     operand == terminator->getOperand(0);
      Attribute attribute;
      if (decides)
        attribute =
            IntegerAttr::get(operand.getType(), *scalars.evaluate(value));
      operands.push_back(attribute);
    }
    Block *next = terminator->getNumSuccessors() == 1
                      ? terminator->getSuccessor(0)
                      : branch.getSuccessorForOperands(operands);
    if (!next)
      return false;
    // Both edges of a branch may lead to one block: take that of the condition.
    unsigned index = llvm::find(terminator->getSuccessors(), next) -
                     terminator->getSuccessors().begin();
    if (terminator->getNumSuccessors() == 2 &&
        terminator->getSuccessor(0) == terminator->getSuccessor(1))
      index = cast<IntegerAttr>(operands[0]).getValue().isZero() ? 1 : 0;
    incoming = getAll(branch.getSuccessorOperands(index).getForwardedOperands(),
                      frame);
    block = next;
  }
  return false;
}

bool RankExecution::executeOp(Operation *op, Frame &frame) {
  if (++numSteps > mostSteps)
    return false;
  if (comm::AsyncStartOpInterface start = comm::getAsyncStart(op)) {
    executeStart(start, frame);
    return true;
  }
  if (auto wait = dyn_cast<comm::WaitOp>(op)) {
    executeWait(wait, frame);
    return true;
  }
  if (auto call = dyn_cast<CallOpInterface>(op))
    return executeCall(call, frame);
  if (auto compute = dyn_cast<comm::ComputeOp>(op);
      compute && !compute.isOpaque()) {
    Values results;
    Frame bodyFrame;
    if (!buffers.isEmpty() &&
        !executeRegion(compute.getBody(), getAll(compute.getInputs(), frame),
                       results, bodyFrame))
      return false;
    bindUnknown(op, frame);
    return true;
  }
  // Interfaces tell the effects of ops such as those of linalg.
  if (op->getNumRegions() == 0 || isa<MemoryEffectOpInterface>(op)) {
    accessMemory(op, frame);
    if (!bindGroupQuery(op, frame) && !bindElement(op, frame) &&
        !bindBody(op, frame) && !bindBuffer(op, frame))
      bindResults(op, frame);
    return true;
  }
  if (mayBeSkipped(op, frame)) {
    bindUnknown(op, frame);
    return true;
  }
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return executeFor(loop, frame);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return executeWhile(loop, frame);

  Region *region = nullptr;
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    bool holds = *scalars.evaluate(get(branch.getCondition(), frame)) != 0;
    region = holds ? &branch.getThenRegion() : &branch.getElseRegion();
  } else if (auto branch = dyn_cast<scf::IndexSwitchOp>(op)) {
    int64_t number = *scalars.evaluate(get(branch.getArg(), frame));
    const auto *found = llvm::find(branch.getCases(), number);
    region = found == branch.getCases().end()
                 ? &branch.getDefaultRegion()
                 : &branch.getCaseRegions()[found - branch.getCases().begin()];
  } else if (op->getNumRegions() == 1 && !query.communicates(op)) {
    // Whatever it is: its accesses, once, with nothing known of its arguments.
    for (Region &body : op->getRegions())
      for (Block &block : body)
        for (Operation &nested : block)
          if (!nested.hasTrait<OpTrait::IsTerminator>() &&
              !executeOp(&nested, frame))
            return false;
    bindUnknown(op, frame);
    return true;
  } else if (isa<scf::ExecuteRegionOp>(op)) {
    region = &op->getRegion(0);
  } else {
    return false;
  }
  Values results;
  if (!executeRegion(*region, {}, results, frame))
    return false;
  bind(op->getResults(), results, frame);
  return true;
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
  if (auto branch = dyn_cast<scf::IfOp>(op);
      branch && llvm::any_of(op->getResultTypes(), getScalarType) &&
      scalars.evaluateKnown(get(branch.getCondition(), frame)))
    return false;
  if (auto loop = dyn_cast<scf::ForOp>(op);
      loop && llvm::any_of(op->getResultTypes(), isScalarType))
    if (llvm::all_of(ValueRange{loop.getLowerBound(), loop.getUpperBound(),
                                loop.getStep()},
                     [&](Value bound) {
                       return scalars.evaluateKnown(get(bound, frame));
                     }))
      return false;
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

bool RankExecution::executeFor(scf::ForOp loop, Frame &frame) {
  bool communicates = query.communicates(loop);
  auto getBound = [&](Value bound) -> std::optional<int64_t> {
    const PathValue &value = get(bound, frame);
    // Compute runs often in full, whatever the number of its iterations is.
    return communicates ? scalars.evaluate(value)
                        : scalars.evaluateKnown(value);
  };
  std::optional<int64_t> lower = getBound(loop.getLowerBound());
  std::optional<int64_t> upper = getBound(loop.getUpperBound());
  std::optional<int64_t> step = getBound(loop.getStep());
  Values carried = getAll(loop.getInitArgs(), frame);
  bool isKnown = lower && upper && step;
  Type type = loop.getInductionVar().getType();
  uint64_t iterations = 1;
  if (isKnown) {
    std::optional<uint64_t> count = countIterations(
        getNumberAttr(type, *lower).getValue(),
        getNumberAttr(type, *upper).getValue(),
        getNumberAttr(type, *step).getValue(), loop.getUnsignedCmp());
    if (!count)
      return false;
    iterations = *count;
  }
  uint64_t skipFrom = mostIterations / 2, skipTo = skipFrom;
  if (iterations > mostIterations)
    skipTo = skipFrom +
             (iterations - mostIterations) / skippedMultiple * skippedMultiple;
  for (uint64_t i = 0; i < iterations; ++i) {
    if (i == skipFrom)
      i = skipTo;
    Values arguments;
    // Unsigned numbers wrap around where signed ones may not.
    arguments.push_back(
        isKnown ? getConstantScalar(type, uint64_t(*lower) + i * *step,
                                    /*dependsOnRank=*/false)
                : makeUnknown(
                      loop.getInductionVar(),
                      llvm::hash_combine(loop.getOperation(), countRun(loop))));
    arguments.append(carried.begin(), carried.end());
    Values results;
    if (!executeRegion(loop.getRegion(), arguments, results, frame))
      return false;
    carried = std::move(results);
  }
  bind(loop->getResults(), carried, frame);
  return true;
}

bool RankExecution::executeWhile(scf::WhileOp loop, Frame &frame) {
  Values carried = getAll(loop.getInits(), frame);
  for (unsigned i = 0, numChosen = 0;
       i != mostWhileRuns && numChosen != mostChosenRuns; ++i) {
    Values results;
    if (!executeRegion(loop.getBefore(), carried, results, frame))
      return false;
    numChosen += !scalars.evaluateKnown(results.front());
    bool goesOn = *scalars.evaluate(results.front()) != 0;
    results.erase(results.begin());
    if (!goesOn) {
      bind(loop->getResults(), results, frame);
      return true;
    }
    carried.clear();
    if (!executeRegion(loop.getAfter(), results, carried, frame))
      return false;
  }
  return false;
}

bool RankExecution::executeCall(CallOpInterface call, Frame &frame) {
  FunctionOpInterface callee = query.getCallee(call);
  if (callee && !callee.isExternal() &&
      callee.getNumArguments() == call.getArgOperands().size()) {
    bool hasTokensOrBuffers =
        llvm::any_of(call->getResultTypes(), [](Type type) {
          return isa<comm::TokenType, BaseMemRefType>(type);
        });
    if (!query.communicates(callee) && buffers.isEmpty() &&
        !hasTokensOrBuffers) {
      bindUnknown(call, frame);
      return true;
    }
    if (callDepth == mostCalls)
      return false;
    ++callDepth;
    Frame callFrame;
    Values results;
    bool isDone =
        executeRegion(callee.getFunctionBody(),
                      getAll(call.getArgOperands(), frame), results, callFrame);
    --callDepth;
    if (isDone)
      bind(call->getResults(), results, frame);
    return isDone;
  }
  // Nothing is known of the callee but what its declaration says.
  StringRef effects;
  if (callee)
    if (auto attribute = callee->getAttrOfType<StringAttr>(
            comm::CommDialect::kEffectsAttrName))
      effects = attribute.getValue();
  // Nobody but the callee can await the tokens that it gets.
  for (Value operand : call.getArgOperands())
    if (std::optional<unsigned> token = get(operand, frame).token) {
      tokens.handOut(*token, call);
      buffers.end(*token);
    }
  for (Value operand : call.getArgOperands()) {
    const PathValue &value = get(operand, frame);
    if (value.buffer && effects != "none")
      access(call, operand,
             effects == "args" ? BufferAccessKind::Write
                               : BufferAccessKind::Pass,
             frame);
  }
  bindUnknown(call, frame);
  return true;
}
