//===- Failures.cpp - How failures reach the ranks of one process ---------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InProcess/InProcessEngine.h"

using namespace braid::rt;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

int32_t Slot::worldRank(size_t position) const {
  return communicator->ranks[members[position]];
}

/// `all_reduce sum tensor<4xf32> (prog.mlir:12:8 (ar0))`.
static std::string describe(const Operation &operation) {
  std::string text = operation.signature();
  std::string site = describeSite(operation.site);
  return site.empty() ? text : text + " at " + site;
}

/// `rank 3` or `ranks 1, 2 and 5`.
static std::string listRanks(const std::vector<int32_t> &ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (i)
      text += i + 1 == ranks.size() ? " and " : ", ";
    text += std::to_string(ranks[i]);
  }
  return text;
}

/// `collective number 3 of group @tp`.
static std::string describeNumber(const Slot &slot) {
  std::string what = slot.isMessage
                         ? std::string("its side of the message")
                         : "collective number " + std::to_string(slot.sequence);
  return what + " of group @" + slot.communicator->name;
}

std::string InProcessEngine::describeWaiting(int32_t rank) const {
  const Slot *slot = ranks[rank].blockedOn;
  if (!slot)
    return "";
  for (size_t i = 0; i < slot->members.size(); ++i)
    if (slot->worldRank(i) == rank && slot->requests[i])
      return describe(slot->requests[i]->operation);
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
  return listRanks(missing) + (missing.size() == 1 ? " has" : " have") +
         " not started " + describeNumber(slot) + whereabouts;
}

std::string InProcessEngine::describePresent(const Slot &slot) const {
  std::vector<int32_t> present;
  const Operation *operation = nullptr;
  for (size_t i = 0; i < slot.members.size(); ++i)
    if (slot.requests[i]) {
      present.push_back(slot.worldRank(i));
      operation = &slot.requests[i]->operation;
    }
  return listRanks(present) + (present.size() == 1 ? " waits" : " wait") +
         " for " + describe(*operation);
}

//===----------------------------------------------------------------------===//
// Disagreement
//===----------------------------------------------------------------------===//

static std::string disagreement(const Slot &slot, size_t a, size_t b) {
  auto side = [&](size_t i) {
    return "rank " + std::to_string(slot.worldRank(i)) + " runs " +
           describe(slot.requests[i]->operation);
  };
  std::string what = slot.isMessage
                         ? std::string("a message")
                         : "collective number " + std::to_string(slot.sequence);
  return "the ranks of group @" + slot.communicator->name + " disagree in " +
         what + ": " + side(a) + ", " + side(b);
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

/// What members of an all_to_all expect from each other; "" when all fits.
static std::string splitsDisagree(const Slot &slot) {
  auto size = static_cast<int64_t>(slot.members.size());
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = 0; j < size; ++j) {
      const Operation &from = slot.requests[i]->operation;
      const Operation &to = slot.requests[j]->operation;
      int64_t sent = from.sourceSplits[j], expected = to.destinationSplits[i];
      if (sent != expected)
        return disagreement(slot, i, j) + "; rank " +
               std::to_string(slot.worldRank(i)) + " sends " +
               std::to_string(sent) + " rows to rank " +
               std::to_string(slot.worldRank(j)) + ", which expects " +
               std::to_string(expected);
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
  // The one who has just come is compared with the first one there; those in
  // between have agreed with it before.
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
    // Its requests end with the rank's invocation; nobody may look at them.
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
  return "rank " + std::to_string(rank) +
         " has ended its program without starting " + describeNumber(slot) +
         "; " + describePresent(slot);
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

void InProcessEngine::failIfDeadlocked() {
  // Somebody can still come when a rank computes, when one sleeps for data that
  // are on their way, or when one has not begun the invocation yet.
  int64_t newest = 0;
  for (const RankState &state : ranks)
    if (state.blockedOn)
      newest = std::max(newest, state.blockedOn->invocation);
  std::string text = "every rank waits for another one:";
  std::vector<std::shared_ptr<Slot>> stuck;
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    const RankState &state = ranks[rank];
    if (!state.blockedOn) {
      if (state.begun != state.ended || state.ended < newest)
        return;
      continue;
    }
    if (state.blockedOn->state.load() != Slot::Pending)
      return;
    text += (stuck.empty() ? " rank " : ", rank ") + std::to_string(rank) +
            " for " + describeWaiting(static_cast<int32_t>(rank));
    stuck.push_back(*state.blockedOn->pendingPosition);
  }
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
  // The first cause is handed on, not the chain of those who heard of it.
  state.failure = state.failedSlot && state.failedSlot->secondary
                      ? state.failedSlot->error
                      : "rank " + std::to_string(rank) + " failed: " + message;
  failPendingOf(rank, /*alsoArrived=*/true);
  // What is under way reads and writes this rank's memory until it is done.
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
