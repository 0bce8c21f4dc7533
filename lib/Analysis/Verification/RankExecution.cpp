//===- RankExecution.cpp - One rank on one path: control flow -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankExecution.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;
using namespace mlir;

// Bounds of one path; what exceeds them is not followed.
static constexpr uint64_t mostStepsOfPath = 1'000'000;
static constexpr unsigned mostCalls = 64;
static constexpr unsigned mostBlocks = 4096;

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

bool CommunicationQuery::isSimple(FunctionOpInterface function) {
  auto [it, isNew] = simple.try_emplace(function, false);
  if (isNew)
    it->second =
        function.getFunctionBody().hasOneBlock() &&
        !function->walk([](CallOpInterface) { return WalkResult::interrupt(); })
             .wasInterrupted();
  return it->second;
}

const CommunicationQuery::Shapes &CommunicationQuery::getShapes(Operation *op) {
  auto [it, isNew] = shapes.try_emplace(op);
  if (!isNew)
    return *it->second;
  it->second = std::make_unique<Shapes>();
  Shapes &found = *it->second;
  auto reify = dyn_cast<ReifyRankedShapedTypeOpInterface>(op);
  if (!reify)
    return found;
  struct Recorder : OpBuilder::Listener {
    void notifyOperationInserted(Operation *op,
                                 OpBuilder::InsertPoint) override {
      ops.push_back(op);
    }
    SmallVector<Operation *> ops;
  };
  Recorder recorder;
  OpBuilder builder(op->getContext(), &recorder);
  builder.setInsertionPointToEnd(&sizeOps);
  bool isReified = succeeded(reify.reifyResultShapes(builder, found.sizes));
  // The program itself stays as it is.
  bool areApart = llvm::all_of(recorder.ops, [&](Operation *sizeOp) {
    return sizeOp->getBlock() == &sizeOps && sizeOp->getNumRegions() == 0;
  });
  if (isReified && areApart) {
    found.ops = std::move(recorder.ops);
    return found;
  }
  for (Operation *sizeOp : llvm::reverse(recorder.ops))
    sizeOp->erase();
  found.sizes.clear();
  return found;
}

//===----------------------------------------------------------------------===//
// RankExecution: control flow
//===----------------------------------------------------------------------===//

bool braid::mayDecide(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return hasKnownElements(type) || (tensor && !tensor.hasStaticShape());
}

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
    notes.push_back(
        {choice.value ? choice.value.getLoc() : choice.op->getLoc(),
         (choice.value ? "the path where this value is "
                       : "the path where this op goes to successor ") +
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
  trace.usesOpenValues = scalars.hasUsedOpen();
  return std::move(trace);
}

bool RankExecution::executeRegion(Region &region, const Values &arguments,
                                  Values &results, Frame &frame,
                                  Operation **last) {
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
      if (last)
        *last = terminator;
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
  if (++numSteps > mostStepsOfPath) {
    trace.isTooLong = true;
    return false;
  }
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
    bool isFollowed =
        !buffers.isEmpty() || llvm::any_of(op->getResultTypes(), mayDecide);
    if (isFollowed &&
        !executeRegion(compute.getBody(), getAll(compute.getInputs(), frame),
                       results, bodyFrame))
      return false;
    forgetNested(op, frame);
    bindUnknown(op, frame);
    if (results.size() == op->getNumResults())
      bind(op->getResults(), results, frame);
    return true;
  }
  // Interfaces tell the effects of ops such as those of linalg.
  if (op->getNumRegions() == 0 ||
      (isa<MemoryEffectOpInterface>(op) && !query.communicates(op))) {
    accessMemory(op, frame);
    writeContents(op, frame);
    releaseContents(op, frame);
    if (!bindGroupQuery(op, frame) && !bindSize(op, frame) &&
        !bindLoad(op, frame) && !bindElements(op, frame) &&
        !bindUniform(op, frame) && !bindBody(op, frame) &&
        !bindBuffer(op, frame))
      bindResults(op, frame);
    return true;
  }
  if (mayBeSkipped(op, frame)) {
    forgetNested(op, frame);
    bindUnknown(op, frame);
    return true;
  }
  return executeRegions(op, frame);
}

bool RankExecution::executeCall(CallOpInterface call, Frame &frame) {
  FunctionOpInterface callee = query.getCallee(call);
  if (callee && !callee.isExternal() &&
      callee.getNumArguments() == call.getArgOperands().size()) {
    bool hasTokensOrBuffers =
        llvm::any_of(call->getResultTypes(), [](Type type) {
          return isa<comm::TokenType, BaseMemRefType>(type);
        });
    // Conditions may depend on its numbers.
    bool tellsNumbers = (llvm::any_of(call->getResultTypes(), mayDecide) ||
                         usesNumbers(call, frame)) &&
                        query.isSimple(callee);
    if (!query.communicates(callee) && buffers.isEmpty() &&
        !hasTokensOrBuffers && !tellsNumbers) {
      forgetNested(call, frame);
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
  // Only the callee can await the tokens that it gets.
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
  if (effects != "none" && effects != "args")
    contents.clear();
  bindUnknown(call, frame);
  return true;
}
