//===- InFlightAccesses.cpp - Accesses to buffers in flight ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Analysis/Memory/InFlightAccesses.h"

#include "BufferAccesses.h"
#include "BufferRange.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {

/// A buffer in flight within a block: after `begin` (from the start of the
/// block if null) and before `end` (to its end if null).
struct Flight {
  Operation *begin;
  Operation *end;
  Value buffer;
  bool written;
  Operation *start;
  Location started;
};

/// The buffer that `value` is a view of.
Value getRoot(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    auto view = dyn_cast<ViewLikeOpInterface>(op);
    if (!view || !isa<BaseMemRefType>(view.getViewSource().getType()))
      break;
    value = view.getViewSource();
  }
  return value;
}

/// True if `a` and `b`, views of one buffer, are known to share no element.
bool areDisjoint(Value a, Value b, BufferResolver &resolver) {
  for (Value view : {a, b})
    if (auto type = dyn_cast<MemRefType>(view.getType());
        type && type.hasStaticShape() && type.getNumElements() == 0)
      return true;
  BufferRange first = resolver.resolve(a), second = resolver.resolve(b);
  if (first.root && first.root == second.root &&
      (first.rootEnd <= second.rootBegin || second.rootEnd <= first.rootBegin))
    return true;
  if (first.buffer == second.buffer && first.buffer != BufferRange::unknown &&
      (first.end <= second.begin || second.end <= first.begin))
    return true;
  auto viewA = a.getDefiningOp<memref::SubViewOp>();
  auto viewB = b.getDefiningOp<memref::SubViewOp>();
  if (!viewA || !viewB || viewA.getSource() != viewB.getSource())
    return false;
  FailureOr<bool> overlap = ValueBoundsConstraintSet::areOverlappingSlices(
      a.getContext(),
      HyperrectangularSlice(
          cast<OffsetSizeAndStrideOpInterface>(viewA.getOperation())),
      HyperrectangularSlice(
          cast<OffsetSizeAndStrideOpInterface>(viewB.getOperation())));
  return succeeded(overlap) && !*overlap;
}

/// True if `op` loads or stores an element, at constant indices, of the buffer
/// that `view` is a part of, beside that part.
bool isElementBeside(Operation *op, Value view) {
  auto load = dyn_cast<memref::LoadOp>(op);
  auto store = dyn_cast<memref::StoreOp>(op);
  auto part = view.getDefiningOp<memref::SubViewOp>();
  if ((!load && !store) || !part ||
      part.getSource() != (load ? load.getMemRef() : store.getMemRef()))
    return false;
  SmallVector<OpFoldResult> indices = getAsOpFoldResult(
      load ? ValueRange(load.getIndices()) : ValueRange(store.getIndices()));
  SmallVector<OpFoldResult> ones(indices.size(), OpBuilder(op).getIndexAttr(1));
  FailureOr<bool> overlap = ValueBoundsConstraintSet::areOverlappingSlices(
      op->getContext(), HyperrectangularSlice(indices, ones, ones),
      HyperrectangularSlice(
          cast<OffsetSizeAndStrideOpInterface>(part.getOperation())));
  return succeeded(overlap) && !*overlap;
}

class InFlightChecker {
public:
  /// Adds a start or a wait; other ops add nothing.
  void collect(Operation *op) {
    if (AsyncStartOpInterface start = getAsyncStart(op))
      collectStart(start);
    else if (auto wait = dyn_cast<WaitOp>(op))
      collectWait(wait);
  }
  SmallVector<InFlightAccess> check();

private:
  void collectStart(AsyncStartOpInterface start);
  void collectWait(WaitOp wait);
  void add(Block *block, Operation *begin, Operation *end, ValueRange reads,
           ValueRange writes, Operation *start, Location started);
  void checkBlock(Block *block, ArrayRef<Flight> flights);
  void checkOp(Operation *op);

  llvm::MapVector<Block *, SmallVector<Flight>> flightsOf;
  /// The flights at the current place, by the root of their buffers.
  llvm::DenseMap<Value, SmallVector<const Flight *, 2>> active;
  SmallVector<InFlightAccess> found;
  BufferResolver resolver;
};

void InFlightChecker::add(Block *block, Operation *begin, Operation *end,
                          ValueRange reads, ValueRange writes, Operation *start,
                          Location started) {
  SmallVector<Flight> &flights = flightsOf[block];
  for (Value buffer : writes)
    flights.push_back({begin, end, buffer, /*written=*/true, start, started});
  for (Value buffer : reads)
    if (!llvm::is_contained(writes, buffer))
      flights.push_back(
          {begin, end, buffer, /*written=*/false, start, started});
}

/// The first op of `block` that uses one of `tokens`, itself or in its regions;
/// null if there is none.
Operation *getFirstUser(Block *block, ValueRange tokens) {
  Operation *first = nullptr;
  for (Value token : tokens)
    for (Operation *user : token.getUsers()) {
      Operation *ancestor = block->findAncestorOpInBlock(*user);
      if (ancestor && (!first || ancestor->isBeforeInBlock(first)))
        first = ancestor;
    }
  return first;
}

void InFlightChecker::collectStart(AsyncStartOpInterface start) {
  if (!start.isBufferForm())
    return;
  SmallVector<Value> sources = start.getSources();
  SmallVector<Value> destinations = start.getDestinations();
  ResultRange tokens = start.getTokens();
  Block *block = start->getBlock();
  bool onePerToken =
      tokens.size() == sources.size() &&
      (destinations.empty() || destinations.size() == sources.size());
  if (!onePerToken) {
    add(block, start, getFirstUser(block, tokens), sources, destinations, start,
        start.getLoc());
    return;
  }
  for (auto [index, token] : llvm::enumerate(tokens))
    add(block, start, getFirstUser(block, token), sources[index],
        destinations.empty() ? ValueRange() : ValueRange(destinations[index]),
        start, start.getLoc());
}

void InFlightChecker::collectWait(WaitOp wait) {
  if (wait.getReads().empty() && wait.getWrites().empty())
    return;
  Value token = wait.getToken();
  Block *definition = token.getParentBlock();
  Location started = token.getLoc();
  Operation *start = token.getDefiningOp();
  if (start && !getAsyncStart(start))
    start = nullptr;
  // From the blocks that lie between the token and its wait.
  Operation *end = wait;
  while (end && end->getBlock() != definition) {
    add(end->getBlock(), /*begin=*/nullptr, end, wait.getReads(),
        wait.getWrites(), start, started);
    Operation *parent = end->getParentOp();
    if (!definition->findAncestorOpInBlock(*parent))
      return;
    end = parent;
  }
  if (!end || start)
    return;
  add(definition, token.getDefiningOp(), end, wait.getReads(), wait.getWrites(),
      start, started);
}

void InFlightChecker::checkOp(Operation *op) {
  // A wait accesses none of the buffers that it names. What most ops in the
  // bodies of others do, they do to scalars.
  auto isBuffer = [](Type type) { return isa<BaseMemRefType>(type); };
  if (isa<WaitOp>(op) || (op->getNumRegions() == 0 &&
                          llvm::none_of(op->getOperandTypes(), isBuffer)))
    return;
  auto report = [&](const BufferAccess &access) {
    auto flights = active.find(getRoot(access.buffer));
    if (flights == active.end())
      return false;
    for (const Flight *flight : flights->second) {
      if ((conflictsWithWritesAlone(access.kind) && !flight->written) ||
          areDisjoint(access.buffer, flight->buffer, resolver) ||
          isElementBeside(op, flight->buffer))
        continue;
      found.push_back({op, getVerb(access.kind), flight->written, flight->start,
                       flight->started});
      return true;
    }
    return false;
  };

  SmallVector<BufferAccess, 4> accesses = getBufferAccesses(op);
  if (isa<CallOpInterface>(op) && !isa<MemoryEffectOpInterface>(op))
    for (Value operand : op->getOperands())
      if (isBuffer(operand.getType()))
        accesses.push_back({operand, BufferAccessKind::Pass});
  for (const BufferAccess &access : accesses)
    if (report(access))
      return;
}

void InFlightChecker::checkBlock(Block *block, ArrayRef<Flight> flights) {
  llvm::MapVector<Operation *, SmallVector<const Flight *, 2>> begins;
  llvm::DenseMap<Operation *, SmallVector<const Flight *, 2>> ends;
  active.clear();
  auto activate = [&](const Flight *flight) {
    active[getRoot(flight->buffer)].push_back(flight);
  };
  for (const Flight &flight : flights) {
    if (flight.begin)
      begins[flight.begin].push_back(&flight);
    else
      activate(&flight);
    if (flight.end)
      ends[flight.end].push_back(&flight);
  }
  auto deactivate = [&](const Flight *flight) {
    auto entry = active.find(getRoot(flight->buffer));
    if (entry == active.end())
      return;
    llvm::erase(entry->second, flight);
    if (entry->second.empty())
      active.erase(entry);
  };
  auto visit = [&](Operation *op) {
    if (auto found = ends.find(op); found != ends.end())
      llvm::for_each(found->second, deactivate);
    if (!active.empty())
      op->walk([&](Operation *nested) { checkOp(nested); });
    if (auto *found = begins.find(op); found != begins.end()) {
      llvm::for_each(found->second, activate);
      found->second.clear();
    }
  };
  // Ops before which nothing is in flight are passed over.
  for (Operation *op = &block->front(); op && !active.empty();
       op = op->getNextNode())
    visit(op);
  for (auto &[begin, started] : begins) {
    if (started.empty())
      continue;
    Operation *op = begin;
    do {
      visit(op);
      op = op->getNextNode();
    } while (op && !active.empty());
    active.clear();
  }
}

SmallVector<InFlightAccess> InFlightChecker::check() {
  for (auto &[block, flights] : flightsOf)
    checkBlock(block, flights);
  return std::move(found);
}

} // namespace

SmallVector<InFlightAccess> braid::comm::findInFlightAccesses(Operation *root) {
  InFlightChecker checker;
  root->walk([&](Operation *op) { checker.collect(op); });
  return checker.check();
}

SmallVector<InFlightAccess>
braid::comm::findInFlightAccesses(ArrayRef<Operation *> communication) {
  InFlightChecker checker;
  for (Operation *op : communication)
    checker.collect(op);
  return checker.check();
}

LogicalResult braid::comm::checkInFlight(Operation *root, bool onlyWarns) {
  SmallVector<InFlightAccess> accesses = findInFlightAccesses(root);
  for (const InFlightAccess &access : accesses) {
    InFlightDiagnostic diagnostic =
        onlyWarns ? access.op->emitWarning() : access.op->emitError();
    diagnostic << "'" << access.op->getName() << "' op " << access.verb
               << " a buffer that an operation in flight "
               << (access.isWritten ? "writes" : "reads")
               << ", expected its wait before";
    diagnostic.attachNote(access.started)
        << "the operation starts here; "
        << describeRepair(access.op, access.isWritten);
  }
  return success(onlyWarns || accesses.empty());
}

std::string braid::comm::describeRepair(Operation *op, bool isWritten) {
  return ("place its wait before the '" + op->getName().getStringRef() +
          "' op, or let the operation " +
          (isWritten ? "write another buffer" : "read a copy of the buffer"))
      .str();
}
