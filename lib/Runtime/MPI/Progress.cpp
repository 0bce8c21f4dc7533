//===- Progress.cpp - Progress of the operations ----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Base/Error.h"
#include "MPI/MPIEngine.h"
#include "MPI/Pause.h"

#include <algorithm>

using namespace braid::rt;

namespace {
/// The time between two polls for control messages.
constexpr int64_t controlNs = 100 * 1000;
/// The sleep of the progress thread without open transfers: while a program
/// runs, and while none runs.
constexpr int64_t computingNs = 500 * 1000;
constexpr int64_t restingNs = 10 * 1000 * 1000;
/// The sleep with an open transfer: during its check, and while its data move
/// on a host without spare cores.
constexpr int64_t checkingNs = 50 * 1000;
constexpr int64_t movingNs = 20 * 1000;
/// A wait within this time of the start counts as right after the start.
constexpr int64_t atOnceNs = 20 * 1000;
} // namespace

int64_t MPIEngine::progress() { return progressAt(environment.now()); }

int64_t MPIEngine::progressAt(int64_t now) {
  nowNs = std::max(nowNs, now);
  advanceAll();
  if (!isDead && size > 1 && nowNs - lastControlNs >= controlNs)
    serveControlAt(nowNs);
  return nowNs;
}

void MPIEngine::advanceAll() {
  if (isDead)
    return;
  for (size_t i = 0; i < busy.size();) {
    Queue &queue = *busy[i].first;
    if (busy[i].second->isMade())
      busy[i].second->advance(queue);
    if (queue.open.empty()) {
      busy[i] = busy.back();
      busy.pop_back();
    } else {
      ++i;
    }
  }
}

void MPIEngine::serveControlAt(int64_t now) {
  lastControlNs = now;
  try {
    serveControl();
  } catch (const Error &error) {
    // Without control messages ranks cannot report failures.
    isDead = true;
    if (!failure)
      failure = OwnFailure{error.what(), false, {}};
  }
}

int64_t MPIEngine::idleNs() const {
  if (isDead)
    return restingNs;
  if (busy.empty())
    return begun > ended ? computingNs : restingNs;
  for (const auto &entry : busy)
    if (!entry.first->open.empty() &&
        entry.first->open.front()->state.load() == Transfer::Moving)
      return hasSpareCores ? Pause::shortestNs : movingNs;
  return checkingNs;
}

int64_t MPIEngine::progressOfThread() {
  // A rank that waits makes progress itself. Its releases of the mutex are
  // cheap only while no other thread waits for the mutex.
  if (waiting.load() > 0)
    return computingNs;
  Lock lock(mutex);
  progress();
  return idleNs();
}

void MPIEngine::progressThread() {
  makeSleepPrecise();
  Lock lock(sleepMutex);
  while (!stopping) {
    lock.unlock();
    int64_t ns = progressOfThread();
    lock.lock();
    wake.wait_for(lock, std::chrono::nanoseconds(ns),
                  [this]() { return stopping || isWanted; });
    isWanted = false;
  }
}

void MPIEngine::wakeThread(bool toStop) {
  {
    Lock lock(sleepMutex);
    isWanted = true;
    stopping |= toStop;
  }
  wake.notify_one();
}

/// Waking the thread costs more than a small operation, and does not help an
/// operation that the rank awaits right after the start.
bool MPIEngine::needsThread(const Transfer &transfer) const {
  constexpr int64_t wakeBytes = 64 * 1024;
  const Operation &operation = transfer.operation;
  return operation.linkBytes() >= wakeBytes &&
         !isAwaitedAtOnce(placeOf(operation.site));
}

void MPIEngine::addBusy(Queue &queue, MPICommunicator &communicator,
                        Transfer &transfer) {
  std::pair<Queue *, MPICommunicator *> entry = {&queue, &communicator};
  if (std::find(busy.begin(), busy.end(), entry) == busy.end())
    busy.push_back(entry);
  if (!needsThread(transfer))
    return;
  wakeThread();
  // Waking may take some time on a core that both threads share.
  transfer.startedNs = environment.now();
}

void MPIEngine::learnFromWait(const Transfer &transfer, int64_t beginNs) {
  Place place = placeOf(transfer.operation.site);
  if (beginNs - transfer.startedNs >= atOnceNs) {
    awaitedAtOnce.erase(place);
    if (lastAtOnce == place)
      lastAtOnce.reset();
  } else if (lastAtOnce != place) {
    awaitedAtOnce.insert(place);
    lastAtOnce = place;
  }
}

void MPIEngine::wait(Transfer &transfer, int64_t awaitedNs) {
  if (transfer.state.load(std::memory_order_acquire) == Transfer::Done)
    return;
  Pause pause(*this);
  inquiry.sentNs = 0;
  lastWaits.clear();
  blockedOn = &transfer;
  ++waitCount;
  try {
    int64_t now = progressAt(awaitedNs), beginNs = now;
    learnFromWait(transfer, beginNs);
    inquiryPauseNs = (20 + size) * int64_t(1000 * 1000);
    nextInquiryNs = beginNs + inquiryPauseNs;
    while (true) {
      int state = transfer.state.load();
      if (state == Transfer::Done)
        break;
      throwIfFailed();
      if (state == Transfer::Checking)
        investigate(transfer, now, now - beginNs);
      else
        investigateData(transfer, now, now - transfer.lastMoveNs());
      pause.sleep(state == Transfer::Moving, now - beginNs);
      now = progress();
    }
  } catch (...) {
    blockedOn = nullptr;
    throw;
  }
  blockedOn = nullptr;
  for (const auto &entry : busy)
    for (const std::shared_ptr<Transfer> &other : entry.first->open)
      if (other->isUnderWay() && needsThread(*other))
        return wakeThread();
}

void MPIEngine::throwIfFailed() const {
  if (!failure)
    return;
  Error error(failure->text, failure->secondary);
  error.site = failure->site;
  throw error;
}

void MPIEngine::failTransfer(const Transfer &transfer, const std::string &text,
                             bool secondary) {
  if (!failure)
    failure = OwnFailure{text, secondary, transfer.operation.site};
}
