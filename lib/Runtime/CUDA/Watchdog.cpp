//===- Watchdog.cpp - Finds operations that do not end --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Watchdog.h"
#include "CUDA/CudaEngine.h"

#include <algorithm>

using namespace braid::rt;
using namespace braid::rt::cuda;

static constexpr int64_t millisecondNs = 1000 * 1000;

/// Polls at least four times per timeout.
static int64_t choosePeriod(int64_t timeoutNs) {
  return std::clamp<int64_t>(timeoutNs / 4, millisecondNs, 100 * millisecondNs);
}

Watchdog::Watchdog(CudaEngine &engine)
    : engine(engine),
      periodNs(choosePeriod(engine.environment.config.timeoutNs)),
      thread([this]() { watch(); }) {}

Watchdog::~Watchdog() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
  }
  changed.notify_all();
  thread.join();
}

void Watchdog::wake() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    woken = true;
  }
  changed.notify_all();
}

void Watchdog::watch() {
  std::unique_lock<std::mutex> lock(mutex);
  while (!stopping) {
    changed.wait_for(lock, std::chrono::nanoseconds(periodNs),
                     [&]() { return stopping || woken; });
    woken = false;
    lock.unlock();
    try {
      look();
    } catch (const std::exception &error) {
      engine.environment.log(std::string("watchdog: ") + error.what());
    }
    lock.lock();
  }
}

void Watchdog::look() {
  if (engine.hasFailed())
    return engine.stopRanks();
  int64_t now = engine.environment.now(), stalledNs = 0;
  for (const auto &rank : engine.ranks()) {
    stalledNs = std::max(stalledNs, rank->look(now));
    auto [error, text] = rank->findAsyncError();
    if (error != nccl::Success) {
      engine.awaitFailureOfPeer(error);
      Failure failure;
      failure.text = text;
      failure.members = {rank->rank};
      failure.cause = rank->rank;
      engine.fail(failure);
      return engine.stopRanks();
    }
  }
  // Ignores lanes that completed an operation within the last two periods.
  if (stalledNs < 2 * periodNs) {
    lastDeadlock.clear();
    inquiryPauseNs = 0;
    return;
  }
  investigate(stalledNs);
  if (engine.hasFailed())
    engine.stopRanks();
}

void Watchdog::investigate(int64_t stalledNs) {
  int64_t timeoutNs = engine.environment.config.timeoutNs;
  int64_t now = engine.environment.now();
  bool isLate = stalledNs > timeoutNs;
  // Ask other processes less and less often.
  bool isAlone = engine.ranks().size() > 1 || engine.worldSize() == 1;
  if (!isAlone && !isLate && now < nextInquiryNs)
    return;
  inquiryPauseNs =
      std::clamp(2 * inquiryPauseNs, periodNs, 2000 * millisecondNs);
  nextInquiryNs = now + inquiryPauseNs;
  Statuses statuses = engine.askAll();
  if (std::optional<Failure> problem = findProblem(statuses))
    return engine.fail(*problem);
  std::optional<Deadlock> deadlock = findDeadlock(statuses, engine.worldSize());
  // With equal waits in two rounds, all of these ranks waited at the same time.
  if (deadlock && deadlock->waits == lastDeadlock)
    return engine.fail(deadlock->failure);
  lastDeadlock.clear();
  if (deadlock)
    lastDeadlock = std::move(deadlock->waits);
  if (!isLate)
    return;
  for (const auto &rank : engine.ranks()) {
    if (rank->look(engine.environment.now()) <= timeoutNs)
      continue;
    // Finds the same operation in the status, which has its text.
    std::optional<OpenOperation> late = rank->oldestOpen();
    for (const OpenOperation &open : statuses[rank->rank].open)
      if (late && open.ownQueue == late->ownQueue &&
          open.sequence == late->sequence)
        return engine.fail(describeTimedOut(statuses, open, timeoutNs));
  }
}
