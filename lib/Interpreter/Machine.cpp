//===- Machine.cpp - Control flow of all ranks ----------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;
using namespace braid::interpreter;
using namespace mlir;

InterpreterResult braid::interpret(FunctionOpInterface entry,
                                   const InterpreterOptions &options) {
  return Machine(options).run(entry);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

bool braid::interpreter::isSmall(ArrayRef<int64_t> sizes) {
  int64_t count = 1;
  for (int64_t size : sizes)
    if (size < 0 || size > mostElements || (count *= size) > mostElements)
      return false;
  return true;
}

int64_t RuntimeValue::getNumElements() const {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

int64_t RuntimeValue::getPosition(ArrayRef<int64_t> indices) const {
  int64_t position = offset;
  for (auto [index, stride] : llvm::zip_equal(indices, strides))
    position += index * stride;
  return position;
}

int64_t RuntimeValue::getPosition(int64_t index) const {
  int64_t position = offset;
  for (size_t i = sizes.size(); i-- != 0;) {
    position += index % sizes[i] * strides[i];
    index /= sizes[i];
  }
  return position;
}

RuntimeValue braid::interpreter::makeElements(ArrayRef<int64_t> sizes,
                                              std::vector<Attribute> elements) {
  RuntimeValue value;
  value.sizes.assign(sizes.begin(), sizes.end());
  value.strides.resize(sizes.size());
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- != 0;) {
    value.strides[i] = stride;
    stride *= sizes[i];
  }
  value.memory = std::make_shared<Memory>();
  value.memory->readers.resize(elements.size());
  value.memory->writers.resize(elements.size());
  value.memory->elements = std::move(elements);
  return value;
}

/// The number `number` as an element of type `type`, a complex one with the
/// imaginary part -`number`; null for other types.
static Attribute makeNumber(Type type, int64_t number) {
  if (auto complex = dyn_cast<ComplexType>(type)) {
    Type part = complex.getElementType();
    return ArrayAttr::get(type.getContext(), {makeNumber(part, number),
                                              makeNumber(part, -number)});
  }
  if (auto floatType = dyn_cast<FloatType>(type))
    return FloatAttr::get(floatType, static_cast<double>(number));
  if (type.isIndex() || type.isSignlessInteger(64))
    return IntegerAttr::get(type, number);
  if (type.isSignlessInteger())
    return IntegerAttr::get(type, APInt(type.getIntOrFloatBitWidth(), number,
                                        /*isSigned=*/true,
                                        /*implicitTrunc=*/true));
  return {};
}

RuntimeValue Machine::makeArgument(Type type, unsigned rank, unsigned number) {
  RuntimeValue value;
  auto shaped = dyn_cast<ShapedType>(type);
  if (!options.arguments.empty()) {
    const InterpreterTensor &given = options.arguments[rank][number];
    if (shaped)
      return makeElements(given.sizes, given.elements);
    value.scalar = given.elements.front();
    return value;
  }
  if (!shaped) {
    bool isCount = type.isIndex() || type.isSignlessInteger();
    value.scalar = makeNumber(type, isCount ? options.argument : number + 1);
    return value;
  }
  constexpr int64_t dynamicSize = 4;
  if (!shaped.hasRank())
    return value;
  SmallVector<int64_t> sizes(shaped.getShape());
  std::replace(sizes.begin(), sizes.end(), ShapedType::kDynamic, dynamicSize);
  if (!isSmall(sizes))
    return value;
  std::vector<Attribute> elements(ShapedType::getNumElements(sizes));
  for (auto [index, element] : llvm::enumerate(elements))
    element = makeNumber(shaped.getElementType(),
                         1 + rank + 2 * number + 3 * (index % 5));
  return makeElements(sizes, std::move(elements));
}

bool Machine::fail(InterpreterFailure failure, Operation *op,
                   const Twine &message) {
  if (!hasFailed()) {
    result.failure = failure;
    result.op = op;
    result.message = message.str();
  }
  return false;
}

RuntimeValue &Machine::get(unsigned rank, Value value) {
  return (*ranks[rank].frames.back().values)[value.getAsOpaquePointer()];
}

Machine::Values Machine::getAll(unsigned rank, ValueRange values) {
  Values all;
  for (Value value : values)
    all.push_back(get(rank, value));
  return all;
}

IntegerAttr Machine::getInteger(unsigned rank, OpFoldResult value) {
  auto attribute = dyn_cast<Attribute>(value);
  if (!attribute)
    attribute = get(rank, cast<Value>(value)).scalar;
  return dyn_cast_if_present<IntegerAttr>(attribute);
}

std::optional<int64_t> Machine::getNumber(unsigned rank, OpFoldResult value) {
  IntegerAttr number = getInteger(rank, value);
  if (!number)
    return std::nullopt;
  if (number.getType().isInteger(1))
    return number.getValue().getBoolValue();
  return number.getValue().trySExtValue();
}

int64_t Machine::getIndex(unsigned rank, OpFoldResult value) {
  std::optional<int64_t> number = getNumber(rank, value);
  if (!number)
    unsupported(&*std::prev(ranks[rank].frames.back().next));
  return number.value_or(0);
}

void Machine::bind(unsigned rank, ValueRange values, const Values &bound) {
  for (auto [value, runtimeValue] : llvm::zip(values, bound))
    get(rank, value) = runtimeValue;
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

void Machine::goTo(Frame &frame, Block *block, const Values &arguments) {
  frame.block = block;
  frame.next = block->begin();
  for (auto [argument, value] : llvm::zip(block->getArguments(), arguments))
    (*frame.values)[argument.getAsOpaquePointer()] = value;
}

bool Machine::enter(unsigned rank, Operation *owner, Region &region,
                    const Values &arguments, bool isCall) {
  constexpr size_t mostFrames = 1000;
  if (ranks[rank].frames.size() == mostFrames)
    return fail(InterpreterFailure::Unsupported, owner,
                "is deeper than " + Twine(mostFrames) + " calls and regions");
  Frame frame;
  frame.owner = owner;
  frame.values = isCall ? std::make_shared<Environment>()
                        : ranks[rank].frames.back().values;
  goTo(frame, &region.front(), arguments);
  ranks[rank].frames.push_back(std::move(frame));
  return true;
}

/// Ends the innermost frame: `results` are those of its owner.
bool Machine::leave(unsigned rank, const Values &results) {
  Operation *owner = ranks[rank].frames.back().owner;
  if (!owner) {
    for (const RuntimeValue &value : results) {
      // The caller awaits the tokens that it gets.
      if (value.launch)
        value.launch->isAwaited[value.token] = true;
      ranks[rank].results.push_back(value);
    }
    ranks[rank].isFinished = true;
    return true;
  }
  ranks[rank].frames.pop_back();
  bind(rank, owner->getResults(), results);
  return true;
}

bool Machine::terminate(unsigned rank, Operation *terminator) {
  Frame &frame = ranks[rank].frames.back();
  if (auto branch = dyn_cast<BranchOpInterface>(terminator)) {
    SmallVector<Attribute> operands;
    for (Value operand : terminator->getOperands())
      operands.push_back(get(rank, operand).scalar);
    Block *next = terminator->getNumSuccessors() == 1
                      ? terminator->getSuccessor(0)
                      : branch.getSuccessorForOperands(operands);
    if (!next)
      return unsupported(terminator);
    unsigned index = 0;
    while (terminator->getSuccessor(index) != next)
      ++index;
    // A condition may choose between the arguments of one block.
    if (terminator->getNumSuccessors() == 2 &&
        terminator->getSuccessor(0) == terminator->getSuccessor(1))
      index = getIndex(rank, terminator->getOperand(0)) ? 0 : 1;
    goTo(frame, next,
         getAll(rank,
                branch.getSuccessorOperands(index).getForwardedOperands()));
    return true;
  }
  if (frame.yielded) {
    Values results = getAll(rank, terminator->getOperands());
    frame.yielded->assign(results.begin(), results.end());
    ranks[rank].frames.pop_back();
    return true;
  }
  if (frame.loop)
    return terminateLoop(rank, terminator);
  if (isa_and_present<RegionBranchOpInterface>(frame.owner))
    if (auto branch = dyn_cast<RegionBranchTerminatorOpInterface>(terminator))
      return terminateBranch(rank, branch);
  return leave(rank, getAll(rank, terminator->getOperands()));
}

bool Machine::execute(unsigned rank, Operation *op) {
  if (comm::AsyncStartOpInterface start = comm::getAsyncStart(op))
    return this->start(rank, start);
  if (auto wait = dyn_cast<comm::WaitOp>(op))
    return this->wait(rank, wait);
  // The interface of branches does not tell how often loops run.
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op);
      loop && loop.getLoopLowerBounds())
    return enterLoop(rank, loop);
  if (auto branch = dyn_cast<RegionBranchOpInterface>(op))
    return enterBranch(rank, branch);
  if (auto compute = dyn_cast<comm::ComputeOp>(op);
      compute && !compute.isOpaque())
    return enter(rank, op, compute.getBody(), getAll(rank, compute.getInputs()),
                 /*isCall=*/true);
  if (auto call = dyn_cast<CallOpInterface>(op)) {
    auto callee = dyn_cast_if_present<FunctionOpInterface>(
        call.resolveCallableInTable(&symbolTables));
    if (!callee || callee.isExternal())
      return unsupported(op);
    return enter(rank, op, callee.getFunctionBody(),
                 getAll(rank, call.getArgOperands()), /*isCall=*/true);
  }
  return compute(rank, op);
}

//===----------------------------------------------------------------------===//
// Interleaving
//===----------------------------------------------------------------------===//

bool Machine::isBlocked(unsigned rank) {
  Operation &op = *ranks[rank].frames.back().next;
  auto wait = dyn_cast<comm::WaitOp>(op);
  if (!wait)
    return false;
  const RuntimeValue &token = get(rank, wait.getToken());
  return token.launch && !token.launch->isAwaited[token.token] &&
         !token.launch->hasEnded;
}

void Machine::step(unsigned rank) {
  if (numSteps++ == options.maxSteps) {
    fail(InterpreterFailure::Unsupported,
         ranks[rank].frames.front().block->getParentOp(),
         "runs for too many steps");
    return;
  }
  Frame &frame = ranks[rank].frames.back();
  Operation *op = &*frame.next;
  ++frame.next;
  if (op->hasTrait<OpTrait::IsTerminator>())
    terminate(rank, op);
  else
    execute(rank, op);
}

void Machine::finish() {
  for (const Rank &rank : ranks)
    for (const LaunchPtr &launch : rank.launches)
      for (bool isAwaited : launch->isAwaited)
        if (!isAwaited) {
          fail(InterpreterFailure::Token, launch->op,
               "is not awaited by rank " + Twine(launch->rank));
          return;
        }
}

InterpreterResult Machine::run(FunctionOpInterface entry) {
  for (auto [number, rank] : llvm::enumerate(ranks)) {
    Frame frame;
    frame.values = std::make_shared<Environment>();
    Values arguments;
    for (BlockArgument argument : entry.getArguments())
      arguments.push_back(
          makeArgument(argument.getType(), number, argument.getArgNumber()));
    for (const RuntimeValue &argument : arguments)
      if (!argument.memory && !argument.scalar)
        fail(InterpreterFailure::Unsupported, entry,
             "has an argument of a type that is not known to the interpreter");
    goTo(frame, &entry.getFunctionBody().front(), arguments);
    rank.frames.push_back(std::move(frame));
  }
  while (!hasFailed()) {
    // A rank continues, or an operation ends.
    SmallVector<unsigned> runnable;
    bool areAllFinished = true;
    for (unsigned rank = 0; rank != ranks.size(); ++rank) {
      areAllFinished &= ranks[rank].isFinished;
      if (!ranks[rank].isFinished && !isBlocked(rank))
        runnable.push_back(rank);
    }
    std::vector<std::vector<LaunchPtr>> ready;
    if (runnable.empty() || (!options.isInOrder && random() % 4 == 0))
      ready = findReady();
    size_t numActions = runnable.size() + ready.size();
    if (hasFailed())
      break;
    if (numActions == 0) {
      if (areAllFinished)
        break;
      for (unsigned rank = 0; rank != ranks.size(); ++rank)
        if (!ranks[rank].isFinished)
          fail(InterpreterFailure::Deadlock, &*ranks[rank].frames.back().next,
               "blocks rank " + Twine(rank) + " forever");
      break;
    }
    size_t action = options.isInOrder ? 0 : random() % numActions;
    if (action < runnable.size())
      step(runnable[action]);
    else
      end(ready[action - runnable.size()]);
  }
  if (!hasFailed() && checkSequences())
    finish();
  for (Rank &rank : ranks) {
    std::vector<InterpreterTensor> tensors;
    for (const RuntimeValue &value : rank.results) {
      InterpreterTensor &tensor = tensors.emplace_back();
      tensor.sizes = value.sizes;
      if (value.memory)
        for (int64_t i = 0, e = value.getNumElements(); i != e; ++i)
          tensor.elements.push_back(
              value.memory->elements[value.getPosition(i)]);
      else
        tensor.elements.push_back(value.scalar);
    }
    result.results.push_back(std::move(tensors));
  }
  return std::move(result);
}
