//===- OrderValidation.cpp - Checks a new order of a block ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Analysis/OrderValidation.h"

#include "Analysis/BufferRange.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <optional>
#include <vector>

using namespace braid;
using namespace mlir;

namespace {

/// An op that starts operations of groups, waits for them, or does so inside.
struct Communication {
  Operation *op;
  /// Where it stood.
  unsigned before;
  bool isStart = false, isWait = false;
  /// The lane, of a message or of a wait for one.
  Attribute messageLane;
  /// A wait for what another block has started, or inside of an op.
  bool awaitsAny = false;
};

class OrderValidator {
public:
  OrderValidator(Block &block, ArrayRef<Operation *> before, CallEffects &calls,
                 RankUniformity &uniformity, StringRef pass)
      : block(block), before(before), calls(calls), uniformity(uniformity),
        pass(pass) {}

  LogicalResult validate();

private:
  /// Where an op stood and stands.
  struct Places {
    unsigned before, after;
  };

  bool collectPlaces();
  std::vector<Operation *> findMoved() const;
  LogicalResult validateUses(Operation *op);
  LogicalResult validateEffects(ArrayRef<Operation *> moved);
  Communication getCommunication(Operation *op);
  LogicalResult validateNumbers(ArrayRef<Communication> communications);
  LogicalResult validateMessages(ArrayRef<Communication> communications);
  LogicalResult validateDivergence(ArrayRef<Communication> communications);
  LogicalResult validateStarts();
  LogicalResult emit(Operation *op, Operation *other, const Twine &rule);

  Block &block;
  ArrayRef<Operation *> before;
  CallEffects &calls;
  RankUniformity &uniformity;
  StringRef pass;
  std::vector<Operation *> after;
  llvm::DenseMap<Operation *, Places> places;
  BufferResolver resolver;
};

} // namespace

LogicalResult OrderValidator::emit(Operation *op, Operation *other,
                                   const Twine &rule) {
  InFlightDiagnostic diagnostic =
      op->emitOpError() << "was moved past '" << other->getName() << "' by "
                        << pass << ", expected that " << rule;
  diagnostic.attachNote(other->getLoc()) << "the other op is here";
  return diagnostic;
}

bool OrderValidator::collectPlaces() {
  places.reserve(before.size());
  for (auto [number, op] : llvm::enumerate(before))
    places[op] = {static_cast<unsigned>(number), ~0u};
  Operation *terminator =
      block.mightHaveTerminator() ? block.getTerminator() : nullptr;
  for (Operation &op : block) {
    if (&op == terminator)
      continue;
    auto it = places.find(&op);
    if (it == places.end())
      return false;
    it->second.after = after.size();
    after.push_back(&op);
  }
  return after.size() == before.size();
}

/// Ops without which the others stand in the order in which they stood.
std::vector<Operation *> OrderValidator::findMoved() const {
  // The last op of a longest selection of each length that ascends.
  std::vector<unsigned> last, previous(after.size(), ~0u);
  std::vector<unsigned> stood;
  for (Operation *op : after)
    stood.push_back(places.find(op)->second.before);
  for (unsigned index = 0; index != stood.size(); ++index) {
    auto longer = llvm::partition_point(
        last, [&](unsigned other) { return stood[other] < stood[index]; });
    if (longer != last.begin())
      previous[index] = *std::prev(longer);
    if (longer == last.end())
      last.push_back(index);
    else
      *longer = index;
  }
  std::vector<bool> stays(after.size(), false);
  for (unsigned index = last.empty() ? ~0u : last.back(); index != ~0u;
       index = previous[index])
    stays[index] = true;
  std::vector<Operation *> moved;
  for (auto [index, op] : llvm::enumerate(after))
    if (!stays[index])
      moved.push_back(op);
  return moved;
}

/// Checks that `op` stands after what it uses, and before its users.
LogicalResult OrderValidator::validateUses(Operation *op) {
  unsigned place = places[op].after;
  constexpr StringLiteral rule = "each value stands before its uses";
  LogicalResult result = success();
  op->walk([&](Operation *nested) {
    for (Value operand : nested->getOperands()) {
      Operation *definition = operand.getDefiningOp();
      if (!definition || definition->getBlock() != &block ||
          places[definition].after < place || definition == op)
        continue;
      result = emit(op, definition, rule);
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  if (failed(result))
    return result;
  for (Operation *user : op->getUsers()) {
    Operation *ancestor = block.findAncestorOpInBlock(*user);
    auto it = places.find(ancestor);
    if (it != places.end() && it->second.after < place)
      return emit(op, ancestor, rule);
  }
  return success();
}

namespace {

/// One access to a buffer or resource of an op that stood at `before`.
struct SeenAccess {
  Operation *op;
  unsigned before;
  bool isWrite;
  BufferRange range;
};

/// The accesses to one buffer or resource by the ops up to one place.
class SeenAccesses {
public:
  void add(const SeenAccess &access) {
    accesses.push_back(access);
    if (!last || last->before < access.before)
      last = access;
    if (access.isWrite && (!lastWrite || lastWrite->before < access.before))
      lastWrite = access;
  }
  /// The op of an access that stood after `access`, conflicts with it, and
  /// stands before it now; null if there is none.
  Operation *findPassed(const SeenAccess &access) const {
    const std::optional<SeenAccess> &latest = access.isWrite ? last : lastWrite;
    if (!latest || latest->before <= access.before)
      return nullptr;
    for (const SeenAccess &other : accesses)
      if (other.before > access.before && other.op != access.op &&
          (other.isWrite || access.isWrite) &&
          other.range.begin < access.range.end &&
          access.range.begin < other.range.end)
        return other.op;
    return nullptr;
  }

private:
  std::vector<SeenAccess> accesses;
  std::optional<SeenAccess> last, lastWrite;
};

} // namespace

static bool hasEffects(const OpEffects &effects) {
  return effects.isUnknown || !effects.accesses.empty() ||
         !effects.resources.empty();
}

LogicalResult OrderValidator::validateEffects(ArrayRef<Operation *> moved) {
  // Whatever has passed an op without effects, one of both was moved.
  if (llvm::none_of(moved, [&](Operation *op) {
        return hasEffects(getOpEffects(op, calls));
      }))
    return success();
  constexpr StringLiteral rule =
      "accesses to memory of which one writes keep their order";
  llvm::DenseMap<unsigned, SeenAccesses> buffers;
  llvm::DenseMap<TypeID, SeenAccesses> resources;
  // What may be any buffer, all buffers, and all that has effects.
  SeenAccesses unknown, known, barriers, all;
  for (Operation *op : after) {
    OpEffects effects = getOpEffects(op, calls);
    if (!hasEffects(effects))
      continue;
    SeenAccess whole = {op, places[op].before, /*isWrite=*/true, {}};
    Operation *passed = (effects.isUnknown ? all : barriers).findPassed(whole);
    if (effects.isUnknown)
      barriers.add(whole);
    all.add(whole);
    for (const OpEffects::ResourceAccess &access : effects.resources) {
      SeenAccesses &seen = resources[access.resource];
      SeenAccess own = {op, whole.before, access.isWrite, {}};
      if (!passed)
        passed = seen.findPassed(own);
      seen.add(own);
    }
    for (const OpEffects::Access &access : effects.accesses) {
      SeenAccess own = {op, whole.before, access.isWrite,
                        access.buffer ? resolver.resolve(access.buffer)
                                      : BufferRange()};
      bool isKnown = own.range.buffer != BufferRange::unknown;
      if (!passed)
        passed = unknown.findPassed(own);
      if (!passed)
        passed = isKnown ? buffers[own.range.buffer].findPassed(own)
                         : known.findPassed(own);
      if (isKnown) {
        buffers[own.range.buffer].add(own);
        // Any piece of it may be what an unknown access touches.
        own.range = BufferRange();
        known.add(own);
      } else {
        unknown.add(own);
      }
    }
    if (passed)
      return emit(op, passed, rule);
  }
  return success();
}

/// What `op` does for other ranks to see.
Communication OrderValidator::getCommunication(Operation *op) {
  Communication found;
  found.op = op;
  found.before = places[op].before;
  comm::CollectiveOpInterface collective;
  if (auto wait = dyn_cast<comm::WaitOp>(op)) {
    comm::AsyncStartOpInterface start = wait.getStart();
    if (start)
      collective = dyn_cast<comm::CollectiveOpInterface>(*start);
    // What runs on a side stream needs no other rank.
    found.isWait = !start || collective;
    found.awaitsAny = !start;
  } else if ((collective = dyn_cast<comm::CollectiveOpInterface>(op))) {
    found.isStart = true;
  } else if (hasNestedOps(op) || isa<CallOpInterface>(op)) {
    OpEffects effects = getOpEffects(op, calls);
    found.isStart = effects.hasStart;
    found.isWait = found.awaitsAny = effects.hasWait;
  }
  if (collective && collective.isPointToPoint())
    found.messageLane =
        cast<comm::AsyncStartOpInterface>(*collective).getLane();
  return found;
}

/// Checks that starts with `comm.order` keep their order.
LogicalResult
OrderValidator::validateNumbers(ArrayRef<Communication> communications) {
  const Communication *last = nullptr;
  int64_t lastNumber = 0;
  for (const Communication &next : communications) {
    auto number =
        next.op->getAttrOfType<IntegerAttr>(comm::CommDialect::kOrderAttrName);
    if (!number)
      continue;
    if (last && number.getInt() < lastNumber && next.before < last->before)
      return emit(last->op, next.op, "starts with comm.order keep their order");
    last = &next;
    lastNumber = number.getInt();
  }
  return success();
}

/// For each message the number of waits that may be of its lane and stood
/// before it. Messages with equal numbers run together.
static llvm::DenseMap<Operation *, unsigned>
countWaitsBefore(ArrayRef<Communication> communications) {
  SmallVector<const Communication *> stood =
      llvm::to_vector(llvm::make_pointer_range(communications));
  llvm::sort(stood, [](const Communication *a, const Communication *b) {
    return a->before < b->before;
  });
  llvm::DenseMap<Operation *, unsigned> numbers;
  llvm::DenseMap<Attribute, unsigned> numWaits;
  unsigned numOfAny = 0;
  for (const Communication *next : stood) {
    if (next->awaitsAny)
      ++numOfAny;
    else if (next->messageLane && next->isWait)
      ++numWaits[next->messageLane];
    else if (next->messageLane)
      numbers[next->op] = numWaits[next->messageLane] + numOfAny;
  }
  return numbers;
}

/// Checks the messages of each lane, and the waits for them. Messages with no
/// wait between them run together.
LogicalResult
OrderValidator::validateMessages(ArrayRef<Communication> communications) {
  if (llvm::none_of(communications, [](const Communication &communication) {
        return communication.messageLane;
      }))
    return success();
  struct Lane {
    /// The message before this place, and the last wait after it.
    const Communication *message = nullptr, *split = nullptr;
    /// The wait that stood last among those that now stand before this place.
    const Communication *wait = nullptr;
  };
  llvm::MapVector<Attribute, Lane> lanes;
  for (const Communication &next : communications)
    if (next.messageLane)
      lanes.insert({next.messageLane, Lane()});
  llvm::DenseMap<Operation *, unsigned> waitsBefore =
      countWaitsBefore(communications);
  auto addWait = [](Lane &lane, const Communication &wait) {
    lane.split = &wait;
    if (!lane.wait || lane.wait->before < wait.before)
      lane.wait = &wait;
  };
  for (const Communication &next : communications) {
    if (next.awaitsAny)
      for (auto &[attribute, lane] : lanes)
        addWait(lane, next);
    if (!next.messageLane)
      continue;
    Lane &lane = lanes[next.messageLane];
    if (next.isWait) {
      addWait(lane, next);
      continue;
    }
    const Communication *message = lane.message;
    if (message && next.before < message->before)
      return emit(message->op, next.op,
                  "the messages of a group keep their order");
    if (lane.wait && next.before < lane.wait->before)
      return emit(lane.wait->op, next.op,
                  "a wait stands after the messages that it stood after");
    if (message && lane.split &&
        waitsBefore.lookup(message->op) == waitsBefore.lookup(next.op))
      return emit(lane.split->op, message->op,
                  "no wait comes between messages that run together");
    lane.message = &next;
    lane.split = nullptr;
  }
  return success();
}

/// Checks starts and waits where ranks may take different ways: starts keep
/// their order, and no wait stands before a start that it stood after.
LogicalResult
OrderValidator::validateDivergence(ArrayRef<Communication> communications) {
  const Communication *start = nullptr, *wait = nullptr;
  for (const Communication &next : communications) {
    const Communication *passed = nullptr;
    StringRef rule;
    if (next.isStart && start && next.before < start->before) {
      passed = start;
      rule = "starts keep their order where ranks may take different ways";
    } else if (next.isStart && wait && next.before < wait->before) {
      passed = wait;
      rule = "a wait stands after the starts that it stood after where ranks "
             "may take different ways";
    }
    // Few orders raise the question, and the answer takes a look at the module.
    if (passed)
      return uniformity.areReachedTogether(block)
                 ? success()
                 : emit(passed->op, next.op, rule);
    if (next.isStart)
      start = &next;
    if (next.isWait && (!wait || wait->before < next.before))
      wait = &next;
  }
  return success();
}

LogicalResult OrderValidator::validateStarts() {
  std::vector<Communication> communications;
  for (Operation *op : after)
    if (Communication found = getCommunication(op);
        found.isStart || found.isWait)
      communications.push_back(found);
  if (failed(validateNumbers(communications)) ||
      failed(validateMessages(communications)))
    return failure();
  return validateDivergence(communications);
}

LogicalResult OrderValidator::validate() {
  if (!collectPlaces())
    return block.getParentOp()->emitOpError()
           << "has other ops after " << pass
           << " than before, expected that the pass changes their order alone";
  std::vector<Operation *> moved = findMoved();
  if (moved.empty())
    return success();
  for (Operation *op : moved)
    if (failed(validateUses(op)))
      return failure();
  if (failed(validateStarts()))
    return failure();
  return validateEffects(moved);
}

LogicalResult braid::validateOrder(Block &block, ArrayRef<Operation *> before,
                                   CallEffects &calls,
                                   RankUniformity &uniformity, StringRef pass) {
  return OrderValidator(block, before, calls, uniformity, pass).validate();
}
