//===- OrderValidation.cpp - Checks a new order of a block ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Analysis/OrderValidation.h"

#include "SeenAccesses.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Compiler.h"

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
  OrderValidator(Block &block, ArrayRef<Operation *> before,
                 BlockEffects &effects, CallEffects &calls,
                 RankUniformity &uniformity, StringRef pass)
      : block(block), before(before), effects(effects), calls(calls),
        uniformity(uniformity), pass(pass) {}

  LogicalResult validate();

private:
  bool matchPlaces();
  LogicalResult validateSpan(unsigned begin, unsigned end);
  std::vector<unsigned> findMoved(unsigned begin, unsigned end) const;
  LogicalResult validateUses(ArrayRef<unsigned> moved, unsigned begin,
                             unsigned end);
  LogicalResult validateEffects(unsigned begin, unsigned end);
  Communication getCommunication(unsigned place);
  LogicalResult validateNumbers(ArrayRef<Communication> communications);
  LogicalResult validateMessages(ArrayRef<Communication> communications);
  LogicalResult validateDivergence(ArrayRef<Communication> communications);
  std::vector<Communication> findCommunications(unsigned begin, unsigned end);
  LogicalResult validateStarts(unsigned begin, unsigned end);
  LogicalResult emit(Operation *op, Operation *other, const Twine &rule);

  /// The effects of the op that stood at `place`.
  const BlockEffects::Entry &getEffects(unsigned place) {
    return effects.get(place, before[place], calls);
  }

  Block &block;
  ArrayRef<Operation *> before;
  BlockEffects &effects;
  CallEffects &calls;
  RankUniformity &uniformity;
  StringRef pass;
  /// For each op, as they stand now, the place where it stood.
  std::vector<unsigned> stood;
  SeenInSpan seen;
  bool areMessagesChecked = false;
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

/// Finds out where each op stood; false if the ops are not the same. Most ops
/// have not moved past each other: both orders are read side by side, and only
/// ops that come in one order long before they come in the other are looked up.
bool OrderValidator::matchPlaces() {
  constexpr size_t numAhead = 8, prefetchAhead = 16;
  constexpr unsigned unknown = ~0u;
  stood.reserve(before.size());
  // Ops that came in the old order first, and in the new order first, and how
  // many of them have not come in the other one. Tables stay fast if nothing is
  // erased.
  llvm::DenseMap<Operation *, unsigned> firstBefore, firstNow;
  size_t numBefore = 0, numNow = 0, next = 0;
  // Advances in the old order over an op that came in the new one.
  auto advance = [&]() {
    if (numNow == 0)
      return false;
    auto it = firstNow.find(before[next]);
    if (it == firstNow.end() || stood[it->second] != unknown)
      return false;
    stood[it->second] = next++;
    --numNow;
    return true;
  };
  Operation *terminator =
      block.mightHaveTerminator() ? block.getTerminator() : nullptr;
  for (Operation &op : block) {
    if (&op == terminator)
      break;
    // Ops of a long block are not in the cache, and mostly come as they did.
    if (next + prefetchAhead < before.size())
      LLVM_PREFETCH(before[next + prefetchAhead], /*rw=*/0, /*locality=*/3);
    if (numBefore != 0)
      if (auto it = firstBefore.find(&op); it != firstBefore.end()) {
        stood.push_back(it->second);
        --numBefore;
        continue;
      }
    while (next != before.size() && advance())
      continue;
    ArrayRef<Operation *> ahead = before.drop_front(next).take_front(numAhead);
    if (!llvm::is_contained(ahead, &op)) {
      firstNow[&op] = stood.size();
      stood.push_back(unknown);
      ++numNow;
      continue;
    }
    while (before[next] != &op) {
      if (advance())
        continue;
      firstBefore[before[next]] = next;
      ++numBefore;
      ++next;
    }
    stood.push_back(next++);
  }
  while (next != before.size() && advance())
    continue;
  return next == before.size() && numBefore == 0 && numNow == 0;
}

/// The old places of ops without which the others of the span stand in the
/// order in which they stood.
std::vector<unsigned> OrderValidator::findMoved(unsigned begin,
                                                unsigned end) const {
  ArrayRef<unsigned> span = ArrayRef(stood).slice(begin, end - begin);
  // The last op of a longest selection of each length that ascends.
  std::vector<unsigned> last, previous(span.size(), ~0u);
  for (unsigned index = 0; index != span.size(); ++index) {
    auto longer = last.end();
    if (!last.empty() && span[last.back()] > span[index])
      longer = llvm::partition_point(
          last, [&](unsigned other) { return span[other] < span[index]; });
    if (longer != last.begin())
      previous[index] = *std::prev(longer);
    if (longer == last.end())
      last.push_back(index);
    else
      *longer = index;
  }
  std::vector<bool> stays(span.size(), false);
  for (unsigned index = last.empty() ? ~0u : last.back(); index != ~0u;
       index = previous[index])
    stays[index] = true;
  std::vector<unsigned> moved;
  for (auto [index, place] : llvm::enumerate(span))
    if (!stays[index])
      moved.push_back(place);
  return moved;
}

/// Calls `use` with each pair of an op of the block and an op of the block that
/// uses its values, if `op` is one of both.
static void forEachUse(Operation *op, Block &block,
                       function_ref<void(Operation *, Operation *)> use) {
  auto visitOperands = [&](Operation *user) {
    for (Value operand : user->getOperands()) {
      Operation *definition = operand.getDefiningOp();
      if (definition && definition->getBlock() == &block && definition != op)
        use(definition, op);
    }
  };
  if (hasNestedOps(op))
    op->walk(visitOperands);
  else
    visitOperands(op);
  for (Operation *user : op->getUsers()) {
    Operation *ancestor =
        user->getBlock() == &block ? user : block.findAncestorOpInBlock(*user);
    if (ancestor && ancestor != op)
      use(op, ancestor);
  }
}

/// Checks that the ops that stood at `moved`, ops of the span, stand after what
/// they use and before their users. Ops outside of the span stand where they
/// stood.
LogicalResult OrderValidator::validateUses(ArrayRef<unsigned> moved,
                                           unsigned begin, unsigned end) {
  llvm::DenseMap<Operation *, unsigned> places;
  for (unsigned place : moved)
    forEachUse(before[place], block,
               [&](Operation *definition, Operation *user) {
                 places[definition] = places[user] = ~0u;
               });
  if (places.empty())
    return success();
  for (unsigned index = begin; index != end; ++index)
    if (auto it = places.find(before[stood[index]]); it != places.end())
      it->second = index;
  LogicalResult result = success();
  for (unsigned place : moved) {
    Operation *op = before[place];
    forEachUse(op, block, [&](Operation *definition, Operation *user) {
      unsigned defined = places.lookup(definition), used = places.lookup(user);
      if (succeeded(result) && defined != ~0u && used != ~0u && used < defined)
        result = emit(op, op == user ? definition : user,
                      "each value stands before its uses");
    });
  }
  return result;
}

/// Checks accesses of which one writes. Ops outside of the span stand where
/// they stood.
LogicalResult OrderValidator::validateEffects(unsigned begin, unsigned end) {
  seen.clear();
  for (unsigned index = begin; index != end; ++index) {
    unsigned place = stood[index];
    const BlockEffects::Entry &entry = getEffects(place);
    if (!entry.touchesMemory())
      continue;
    std::optional<unsigned> passed =
        seen.add(place, entry.isUnknown, effects.getAccesses(entry),
                 effects.getResources(entry));
    if (passed)
      return emit(before[place], before[*passed],
                  "accesses to memory of which one writes keep their order");
  }
  return success();
}

/// What the op that stood at `place` does for other ranks to see.
Communication OrderValidator::getCommunication(unsigned place) {
  Communication found;
  found.before = place;
  Operation *op = found.op = before[place];
  const BlockEffects::Entry &entry = getEffects(place);
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
  } else if (!comm::getAsyncStart(op)) {
    found.isStart = entry.hasStart;
    found.isWait = found.awaitsAny = entry.hasWait;
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

/// The communications from number `begin` up to `end` of the new order.
std::vector<Communication> OrderValidator::findCommunications(unsigned begin,
                                                              unsigned end) {
  std::vector<Communication> communications;
  for (unsigned place : ArrayRef(stood).slice(begin, end - begin)) {
    const BlockEffects::Entry &entry = getEffects(place);
    if (!entry.hasStart && !entry.hasWait)
      continue;
    if (Communication found = getCommunication(place);
        found.isStart || found.isWait)
      communications.push_back(found);
  }
  return communications;
}

LogicalResult OrderValidator::validateStarts(unsigned begin, unsigned end) {
  // Most orders move waits down and starts up: look at the places alone.
  bool isStartPassed = false, isWaitPassed = false, hasMessages = false;
  unsigned latest = 0;
  for (unsigned place : ArrayRef(stood).slice(begin, end - begin)) {
    const BlockEffects::Entry &entry = getEffects(place);
    if (!entry.hasStart && !entry.hasWait)
      continue;
    if (place < latest)
      (entry.hasStart ? isStartPassed : isWaitPassed) = true;
    latest = std::max(latest, place);
    if (entry.hasStart && !hasMessages)
      if (auto start = dyn_cast<comm::CollectiveOpInterface>(before[place]))
        hasMessages = start.isPointToPoint();
  }
  // Messages of one batch may stand within and outside of the span.
  if (hasMessages && !areMessagesChecked && (isStartPassed || isWaitPassed)) {
    areMessagesChecked = true;
    if (failed(validateMessages(findCommunications(0, stood.size()))))
      return failure();
  }
  if (!isStartPassed)
    return success();
  std::vector<Communication> communications = findCommunications(begin, end);
  if (failed(validateNumbers(communications)))
    return failure();
  return validateDivergence(communications);
}

/// Checks the ops from number `begin` up to `end` of the new order, which are
/// those that stood there.
LogicalResult OrderValidator::validateSpan(unsigned begin, unsigned end) {
  std::vector<unsigned> moved = findMoved(begin, end);
  if (failed(validateUses(moved, begin, end)) ||
      failed(validateStarts(begin, end)))
    return failure();
  // Whatever has passed an op without effects, one of both was moved.
  if (llvm::none_of(moved, [&](unsigned place) {
        return getEffects(place).touchesMemory();
      }))
    return success();
  return validateEffects(begin, end);
}

LogicalResult OrderValidator::validate() {
  if (!matchPlaces())
    return block.getParentOp()->emitOpError()
           << "has other ops after " << pass
           << " than before, expected that the pass changes their order alone";
  for (unsigned begin = 0, size = stood.size(); begin != size;) {
    unsigned end = begin, furthest = begin;
    do
      furthest = std::max(furthest, stood[end++]);
    while (end <= furthest);
    if (end - begin > 1 && failed(validateSpan(begin, end)))
      return failure();
    begin = end;
  }
  return success();
}

LogicalResult braid::validateOrder(Block &block, ArrayRef<Operation *> before,
                                   BlockEffects &effects, CallEffects &calls,
                                   RankUniformity &uniformity, StringRef pass) {
  return OrderValidator(block, before, effects, calls, uniformity, pass)
      .validate();
}
