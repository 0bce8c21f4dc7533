//===- Failures.cpp - Failures of ranks in one process --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InProcess/InProcessEngine.h"

#include <algorithm>

using namespace braid::rt;

//===----------------------------------------------------------------------===//
// What the ranks do
//===----------------------------------------------------------------------===//

int32_t Slot::worldRank(size_t position) const {
  return group->ranks[members[position]];
}

OpenOperation Slot::describe(size_t position) const {
  const InProcessRequest &request = *requests[position];
  OpenOperation open;
  open.match = open.lane = reinterpret_cast<uintptr_t>(this);
  open.group = group->name;
  open.isMessage = isMessage;
  for (size_t i = 0; i < members.size(); ++i)
    open.members.push_back(worldRank(i));
  open.sequence = sequence;
  open.invocation = invocation;
  open.fingerprint = request.fingerprint;
  open.text = describeOperation(request.operation);
  open.sent = request.operation.sourceSplits;
  open.expected = request.operation.destinationSplits;
  return open;
}

std::vector<OpenOperation> InProcessEngine::findAwaited(int32_t rank) const {
  const Slot *slot = ranks[rank].blockedOn;
  // A rank may also sleep while its data move: it waits for nobody.
  if (!slot || slot->state.load() != Slot::Pending)
    return {};
  for (size_t i = 0; i < slot->members.size(); ++i)
    if (slot->worldRank(i) == rank && slot->requests[i])
      return {slot->describe(i)};
  return {};
}

Statuses InProcessEngine::statuses(const Slot &slot) const {
  Statuses statuses;
  for (size_t i = 0; i < slot.members.size(); ++i) {
    int32_t rank = slot.worldRank(i);
    const RankState &state = ranks[rank];
    RankStatus &status = statuses[rank];
    status.ended = state.ended;
    status.failed = state.failed;
    status.wait = state.blockedOn ? 1 : 0;
    status.open = slot.requests[i]
                      ? std::vector<OpenOperation>{slot.describe(i)}
                      : findAwaited(rank);
  }
  return statuses;
}

std::string InProcessEngine::describeTimedOut(const Slot &slot) const {
  auto present = std::find_if(slot.requests.begin(), slot.requests.end(),
                              [](const auto *request) { return request; });
  return braid::rt::describeTimedOut(
             statuses(slot),
             slot.describe(size_t(present - slot.requests.begin())),
             environment.config.timeoutNs)
      .text;
}

bool Slot::agrees() const {
  const InProcessRequest *first = nullptr;
  for (const InProcessRequest *request : requests) {
    if (first && request && request->fingerprint != first->fingerprint)
      return false;
    first = first ? first : request;
  }
  bool hasLists = first->operation.splits == Splits::Lists &&
                  !first->operation.operands.empty();
  for (size_t i = 0;
       hasLists && arrived == size_t(group->size()) && i < arrived; ++i)
    for (size_t j = 0; j < arrived; ++j)
      if (requests[i]->operation.sourceSplits[j] !=
          requests[j]->operation.destinationSplits[i])
        return false;
  return true;
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
  return findProblem(statuses(slot)).value().text;
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
    operations[rank] = findAwaited(rank).front().text;
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
