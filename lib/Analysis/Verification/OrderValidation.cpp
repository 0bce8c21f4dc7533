//===- OrderValidation.cpp - Checks a new order of a block ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Analysis/Verification/OrderValidation.h"

#include "CommunicationOrder.h"
#include "SeenAccesses.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Compiler.h"

#include <algorithm>
#include <optional>
#include <vector>

using namespace braid;
using namespace mlir;

namespace {

class OrderValidator {
public:
  OrderValidator(Block &block, ArrayRef<Operation *> before,
                 const OrderClaim &claim, BlockEffects &effects,
                 CallEffects &calls, RankUniformity &uniformity, StringRef pass)
      : block(block), before(before), claim(claim), effects(effects),
        calls(calls), uniformity(uniformity), pass(pass),
        terminator(block.mightHaveTerminator() ? block.getTerminator()
                                               : nullptr) {}

  LogicalResult validate();

private:
  bool acceptPlaces();
  bool findPlaces();
  bool visitOps();
  bool acceptMoved();
  void findMoved();
  LogicalResult validateUses();
  LogicalResult validateStarts();
  LogicalResult validateSpans();
  LogicalResult validateEffects(unsigned begin, unsigned end);
  LogicalResult emit(Operation *op, Operation *other, StringRef rule);

  /// The effects of the op at `place` of the order before the pass.
  const BlockEffects::Entry &getEffects(unsigned place) {
    return effects.get(place, before[place], calls);
  }

  Block &block;
  ArrayRef<Operation *> before;
  const OrderClaim &claim;
  BlockEffects &effects;
  CallEffects &calls;
  RankUniformity &uniformity;
  StringRef pass;
  Operation *terminator;
  /// For each op in the present order, its place before the pass.
  ArrayRef<unsigned> stood;
  std::vector<unsigned> ownStood;
  /// The present place of an op that does not stand before all its users.
  std::optional<unsigned> early;
  Operation *user = nullptr;
  /// Present places of ops that the pass has moved: all others are in the same
  /// order as before it.
  std::vector<unsigned> moved;
  SeenInSpan seen;
};

} // namespace

/// Loads `op` into the cache, which does not hold the ops of a long block.
static void prefetch(const Operation *op) {
  LLVM_PREFETCH(op, /*rw=*/0, /*locality=*/3);
}

/// Loads the results of `op`, which MLIR stores just in front of it, and their
/// number, without reading it.
static void prefetchResults(const Operation *op) {
  const char *address = reinterpret_cast<const char *>(op);
  LLVM_PREFETCH(address - 16, /*rw=*/0, /*locality=*/3);
  LLVM_PREFETCH(address + 40, /*rw=*/0, /*locality=*/3);
}

static void prefetchUses(Operation *op) {
  for (OpResult result : op->getOpResults())
    if (!result.use_empty())
      LLVM_PREFETCH(result.use_begin().getOperand(), /*rw=*/0, /*locality=*/3);
}

LogicalResult OrderValidator::emit(Operation *op, Operation *other,
                                   StringRef rule) {
  InFlightDiagnostic diagnostic =
      op->emitOpError() << "was moved past '" << other->getName() << "' by "
                        << pass << ", expected that " << rule;
  diagnostic.attachNote(other->getLoc()) << "the other op is here";
  return diagnostic;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// True if the claim gives the place of each op before the pass.
bool OrderValidator::acceptPlaces() {
  if (claim.places.size() != before.size() ||
      llvm::any_of(claim.places,
                   [&](unsigned place) { return place >= before.size(); }))
    return false;
  stood = claim.places;
  return visitOps();
}

/// Finds the place of each op before the pass without a claim; false if the ops
/// are not the same. Most ops keep their order, so this walks both orders
/// together and looks up only ops that one order has much earlier.
bool OrderValidator::findPlaces() {
  constexpr size_t numAhead = 8, prefetchAhead = 16;
  constexpr unsigned unknown = ~0u;
  ownStood.reserve(before.size());
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
    if (it == firstNow.end() || ownStood[it->second] != unknown)
      return false;
    ownStood[it->second] = next++;
    --numNow;
    return true;
  };
  for (Operation &op : block) {
    if (&op == terminator)
      break;
    // Most ops come in the order of `before`.
    if (next + prefetchAhead < before.size())
      prefetch(before[next + prefetchAhead]);
    if (numBefore != 0)
      if (auto it = firstBefore.find(&op); it != firstBefore.end()) {
        ownStood.push_back(it->second);
        --numBefore;
        continue;
      }
    while (next != before.size() && advance())
      continue;
    ArrayRef<Operation *> ahead = before.drop_front(next).take_front(numAhead);
    if (!llvm::is_contained(ahead, &op)) {
      firstNow[&op] = ownStood.size();
      ownStood.push_back(unknown);
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
    ownStood.push_back(next++);
  }
  while (next != before.size() && advance())
    continue;
  if (next != before.size() || numBefore != 0 || numNow != 0)
    return false;
  stood = ownStood;
  return visitOps();
}

/// Visits the ops once, in the present order. True if `stood` has their places
/// before the pass, which also proves that no op is new or gone. Finds an op
/// whose user stands before it.
bool OrderValidator::visitOps() {
  // Only ops that another one has overtaken may have such a user.
  std::vector<uint8_t> isOvertaken(stood.size());
  unsigned furthest = 0;
  for (auto [place, flag] : llvm::zip_equal(stood, isOvertaken)) {
    flag = place < furthest;
    furthest = std::max(furthest, place);
  }
  auto findEarlyUser = [&](Operation &op, unsigned index) {
    for (OpResult result : op.getOpResults())
      for (OpOperand &use : result.getUses()) {
        Operation *owner = use.getOwner();
        if (owner->getBlock() != &block)
          owner = block.findAncestorOpInBlock(*owner);
        if (owner && owner->isBeforeInBlock(&op)) {
          early = index;
          user = owner;
        }
      }
  };
  early.reset();
  // An op that is known to stand in the block still exists, and may be read.
  const size_t size = stood.size();
  size_t numKnown = 0;
  Block::iterator next = block.begin(),
                  end = terminator ? terminator->getIterator() : block.end();
  auto advance = [&]() {
    if (next == end || before[stood[numKnown]] != &*next)
      return false;
    ++next;
    ++numKnown;
    return true;
  };
  constexpr size_t ahead = 16;
  for (size_t index = 0; index != size; ++index) {
    while (numKnown != size && numKnown <= index + 2 * ahead)
      if (!advance())
        return false;
    if (numKnown + ahead < size) {
      prefetch(before[stood[numKnown + ahead]]);
      if (isOvertaken[numKnown + ahead])
        prefetchResults(before[stood[numKnown + ahead]]);
    }
    if (index + ahead < size && isOvertaken[index + ahead])
      prefetchUses(before[stood[index + ahead]]);
    Operation *op = before[stood[index]];
    if (isOvertaken[index] && !early)
      findEarlyUser(*op, index);
  }
  return next == end;
}

//===----------------------------------------------------------------------===//
// Moved ops
//===----------------------------------------------------------------------===//

/// True if the ops that stay, as the claim says, stand in their old order.
bool OrderValidator::acceptMoved() {
  unsigned next = 0, firstPlace = 0;
  auto addMovedUpTo = [&](unsigned end) {
    for (; next != end; ++next)
      moved.push_back(next);
  };
  for (unsigned index : claim.staying) {
    if (index < next || index >= stood.size() || stood[index] < firstPlace) {
      moved.clear();
      return false;
    }
    addMovedUpTo(index);
    ++next;
    firstPlace = stood[index] + 1;
  }
  addMovedUpTo(stood.size());
  return true;
}

/// Finds as few moved ops as possible: all but a longest selection that
/// ascends.
void OrderValidator::findMoved() {
  // The last op of such a selection of each length.
  std::vector<unsigned> last, previous(stood.size(), ~0u);
  for (unsigned index = 0; index != stood.size(); ++index) {
    auto longer = last.end();
    if (!last.empty() && stood[last.back()] > stood[index])
      longer = llvm::partition_point(
          last, [&](unsigned other) { return stood[other] < stood[index]; });
    if (longer != last.begin())
      previous[index] = *std::prev(longer);
    if (longer == last.end())
      last.push_back(index);
    else
      *longer = index;
  }
  std::vector<bool> stays(stood.size(), false);
  for (unsigned index = last.empty() ? ~0u : last.back(); index != ~0u;
       index = previous[index])
    stays[index] = true;
  for (unsigned index = 0; index != stood.size(); ++index)
    if (!stays[index])
      moved.push_back(index);
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// Checks that the users of each op stand after it.
LogicalResult OrderValidator::validateUses() {
  if (!early)
    return success();
  Operation *op = before[stood[*early]];
  bool hasMoved = llvm::binary_search(moved, *early);
  return emit(hasMoved ? op : user, hasMoved ? user : op,
              "each value stands before its uses");
}

/// Checks starts and waits.
LogicalResult OrderValidator::validateStarts() {
  // Most orders move waits down and starts up: look at the places alone.
  bool isStartPassed = false, isWaitPassed = false, hasMessages = false;
  unsigned latest = 0;
  SmallVector<unsigned> places;
  for (unsigned place : stood) {
    const BlockEffects::Entry &entry = getEffects(place);
    if (!entry.hasStart && !entry.hasWait)
      continue;
    places.push_back(place);
    hasMessages |= entry.hasMessage;
    if (place < latest)
      (entry.hasStart ? isStartPassed : isWaitPassed) = true;
    latest = std::max(latest, place);
  }
  if (!isStartPassed && !(isWaitPassed && hasMessages))
    return success();
  std::vector<Communication> communications;
  for (unsigned place : places)
    if (Communication found =
            getCommunication(before[place], place, getEffects(place));
        found.isStart || found.isWait)
      communications.push_back(found);
  return CommunicationOrder(
             block, communications, uniformity,
             [&](Operation *op, Operation *other, StringRef rule) {
               return emit(op, other, rule);
             })
      .validate();
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

/// Checks the accesses in each part of the block whose ops stood in that part,
/// where an op was moved that touches memory.
LogicalResult OrderValidator::validateSpans() {
  size_t next = 0;
  for (unsigned begin = 0; next != moved.size();) {
    unsigned end = begin, furthest = begin;
    do
      furthest = std::max(furthest, stood[end++]);
    while (end <= furthest);
    bool touchesMemory = false;
    for (; next != moved.size() && moved[next] < end; ++next)
      touchesMemory |= getEffects(stood[moved[next]]).touchesMemory();
    if (touchesMemory && failed(validateEffects(begin, end)))
      return failure();
    begin = end;
  }
  return success();
}

LogicalResult OrderValidator::validate() {
  if (!acceptPlaces() && !findPlaces())
    return block.getParentOp()->emitOpError()
           << "has other ops after " << pass
           << " than before, expected that the pass changes their order alone";
  if (claim.staying.empty() || !acceptMoved())
    findMoved();
  return success(succeeded(validateUses()) && succeeded(validateStarts()) &&
                 succeeded(validateSpans()));
}

LogicalResult braid::validateOrder(Block &block, ArrayRef<Operation *> before,
                                   const OrderClaim &claim,
                                   BlockEffects &effects, CallEffects &calls,
                                   RankUniformity &uniformity, StringRef pass) {
  return OrderValidator(block, before, claim, effects, calls, uniformity, pass)
      .validate();
}
