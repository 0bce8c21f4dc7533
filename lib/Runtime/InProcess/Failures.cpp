//===- Failures.cpp - Failures of ranks in one process --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Diagnosis/Deadlock.h"
#include "InProcess/InProcessEngine.h"

using namespace braid::rt;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

int32_t Slot::worldRank(size_t position) const {
  return group->ranks[members[position]];
}

static Match matchOf(const Slot &slot) {
  return {slot.group->name, slot.isMessage, slot.sequence};
}

std::string InProcessEngine::describeWaiting(int32_t rank) const {
  const Slot *slot = ranks[rank].blockedOn;
  if (!slot)
    return "";
  for (size_t i = 0; i < slot->members.size(); ++i)
    if (slot->worldRank(i) == rank && slot->requests[i])
      return describeOperation(slot->requests[i]->operation);
  return "";
}

std::string InProcessEngine::describeMissing(const Slot &slot) const {
  std::vector<int32_t> missing;
  std::string whereabouts;
  for (size_t i = 0; i < slot.members.size(); ++i) {
    if (slot.requests[i])
      continue;
    int32_t rank = slot.worldRank(i);
    missing.push_back(rank);
    std::string waiting = describeWaiting(rank);
    if (!waiting.empty())
      whereabouts += "; rank " + std::to_string(rank) + " waits for " + waiting;
  }
  return braid::rt::describeMissing(missing, matchOf(slot)) + whereabouts;
}

std::string InProcessEngine::describePresent(const Slot &slot) const {
  std::vector<int32_t> present;
  const Operation *operation = nullptr;
  for (size_t i = 0; i < slot.members.size(); ++i)
    if (slot.requests[i]) {
      present.push_back(slot.worldRank(i));
      operation = &slot.requests[i]->operation;
    }
  return braid::rt::describeWaiting(present, describeOperation(*operation));
}

//===----------------------------------------------------------------------===//
// Disagreement
//===----------------------------------------------------------------------===//

static std::string disagreement(const Slot &slot, size_t a, size_t b) {
  return describeDisagreement(matchOf(slot), slot.worldRank(a),
                              describeOperation(slot.requests[a]->operation),
                              slot.worldRank(b),
                              describeOperation(slot.requests[b]->operation));
}

static bool messageAgrees(const Operation &send, const Operation &receive) {
  if (send.operands.size() != receive.operands.size())
    return false;
  for (size_t i = 0; i < send.operands.size(); ++i)
    if (send.operands[i].dtype != receive.operands[i].dtype ||
        send.operands[i].sourceSizes != receive.operands[i].destinationSizes)
      return false;
  return true;
}

/// The first disagreement in the splits of an all_to_all; "" if all agree.
static std::string splitsDisagree(const Slot &slot) {
  auto size = static_cast<int64_t>(slot.members.size());
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = 0; j < size; ++j) {
      const Operation &from = slot.requests[i]->operation;
      const Operation &to = slot.requests[j]->operation;
      int64_t sent = from.sourceSplits[j], expected = to.destinationSplits[i];
      if (sent != expected)
        return disagreement(slot, i, j) +
               describeSplitDisagreement(slot.worldRank(i), sent,
                                         slot.worldRank(j), expected);
    }
  return "";
}

std::string InProcessEngine::checkAgreement(const Slot &slot) const {
  if (slot.isMessage) {
    if (slot.arrived == 2 && !messageAgrees(slot.requests[0]->operation,
                                            slot.requests[1]->operation))
      return disagreement(slot, 0, 1);
    return "";
  }
  // Compare the newest member with the first one. The members in between agree
  // with the first one.
  size_t first = slot.members.size();
  for (size_t i = 0; i < slot.members.size(); ++i) {
    if (!slot.requests[i])
      continue;
    if (first == slot.members.size())
      first = i;
    else if (!agree(slot.requests[first]->operation,
                    slot.requests[i]->operation))
      return disagreement(slot, first, i);
  }
  bool complete = slot.arrived == slot.members.size();
  if (complete && slot.requests[0]->operation.splits == Splits::Lists &&
      !slot.requests[0]->operation.operands.empty())
    return splitsDisagree(slot);
  return "";
}

//===----------------------------------------------------------------------===//
// Failing
//===----------------------------------------------------------------------===//

void InProcessEngine::failSlot(const std::shared_ptr<Slot> &slot,
                               const std::string &error, bool secondary) {
  slot->error = error;
  slot->secondary = secondary;
  if (slot->state.load() == Slot::Pending)
    pending.erase(slot->pendingPosition);
  slot->state.store(Slot::Failed, std::memory_order_release);
  for (size_t i = 0; i < slot->members.size(); ++i) {
    if (!slot->requests[i])
      continue;
    RankState &state = ranks[slot->worldRank(i)];
    if (!state.failedSlot) {
      state.failedSlot = slot;
      state.failedSite = slot->requests[i]->operation.site;
    }
    // The rank's requests end with its invocation; no thread may access them.
    slot->requests[i] = nullptr;
    if (state.blockedOn)
      state.changed.notify_one();
  }
}

void InProcessEngine::throwIfFailed(int32_t rank) {
  const RankState &state = ranks[rank];
  if (!state.failedSlot)
    return;
  Error error(state.failedSlot->error, state.failedSlot->secondary);
  error.site = state.failedSite;
  throw error;
}

std::string InProcessEngine::whyGone(const Slot &slot, int32_t rank) const {
  const RankState &state = ranks[rank];
  if (state.failed)
    return state.failure;
  return describeDeparted(rank, matchOf(slot)) + "; " + describePresent(slot);
}

void InProcessEngine::failIfMemberIsGone(const std::shared_ptr<Slot> &slot) {
  for (size_t i = 0; i < slot->members.size(); ++i) {
    const RankState &state = ranks[slot->worldRank(i)];
    if (slot->requests[i] || state.ended < slot->invocation)
      continue;
    failSlot(slot, whyGone(*slot, slot->worldRank(i)), state.failed);
    return;
  }
}

void InProcessEngine::failPendingOf(int32_t rank, bool alsoArrived) {
  int64_t invocation = ranks[rank].ended;
  for (auto it = pending.begin(); it != pending.end();) {
    std::shared_ptr<Slot> slot = *it++;
    if (slot->invocation > invocation)
      continue;
    for (size_t i = 0; i < slot->members.size(); ++i)
      if (slot->worldRank(i) == rank && (alsoArrived || !slot->requests[i])) {
        failSlot(slot, whyGone(*slot, rank), ranks[rank].failed);
        break;
      }
  }
}

std::vector<int32_t> InProcessEngine::findMissing(int32_t rank) const {
  const Slot *slot = ranks[rank].blockedOn;
  std::vector<int32_t> missing;
  // A rank may also sleep while its data move.
  if (slot && slot->state.load() == Slot::Pending)
    for (size_t i = 0; i < slot->members.size(); ++i)
      if (!slot->requests[i])
        missing.push_back(slot->worldRank(i));
  return missing;
}

void InProcessEngine::failIfDeadlocked(int32_t newest) {
  // There was no deadlock before the newest rank waited, so only the ranks that
  // it waits for, directly or indirectly, can be part of one.
  WaitingRanks waiting;
  std::vector<int32_t> open = {newest};
  while (!open.empty()) {
    int32_t rank = open.back();
    open.pop_back();
    if (waiting.count(rank))
      continue;
    std::vector<int32_t> missing = findMissing(rank);
    if (missing.empty())
      continue;
    open.insert(open.end(), missing.begin(), missing.end());
    waiting[rank] = std::move(missing);
  }
  if (findDeadlocked(waiting).empty())
    return;
  // Others may wait for these.
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    auto other = static_cast<int32_t>(rank);
    std::vector<int32_t> missing = findMissing(other);
    if (!missing.empty())
      waiting[other] = std::move(missing);
  }
  std::map<int32_t, std::string> operations;
  std::vector<std::shared_ptr<Slot>> stuck;
  for (int32_t rank : findDeadlocked(waiting)) {
    operations[rank] = describeWaiting(rank);
    stuck.push_back(*ranks[rank].blockedOn->pendingPosition);
  }
  std::string text =
      describeDeadlock(operations, static_cast<int32_t>(ranks.size()));
  for (const std::shared_ptr<Slot> &slot : stuck)
    if (slot->state.load() == Slot::Pending)
      failSlot(slot, text, /*secondary=*/false);
}

void InProcessEngine::endInvocation(int32_t rank) {
  Lock lock(mutex);
  RankState &state = ranks[rank];
  throwIfFailed(rank);
  state.ended = state.begun;
  state.failed = false;
  failPendingOf(rank, /*alsoArrived=*/false);
}

void InProcessEngine::failInvocation(int32_t rank, const std::string &message) {
  Lock lock(mutex);
  RankState &state = ranks[rank];
  state.ended = state.begun;
  state.failed = true;
  // Pass on the first cause, not the chain of secondary failures.
  state.failure = state.failedSlot && state.failedSlot->secondary
                      ? state.failedSlot->error
                      : "rank " + std::to_string(rank) + " failed: " + message;
  failPendingOf(rank, /*alsoArrived=*/true);
  // Operations in flight access this rank's memory until they end.
  for (InProcessRequest *request : state.open) {
    const std::shared_ptr<Slot> slot = request->slot;
    while (slot->state.load() < Slot::Done) {
      state.blockedOn = slot.get();
      if (std::shared_ptr<Slot> other = takeWork()) {
        lock.unlock();
        work(other);
        lock.lock();
      } else {
        state.changed.wait(lock);
      }
      state.blockedOn = nullptr;
    }
  }
  state.open.clear();
  state.failedSlot.reset();
}
