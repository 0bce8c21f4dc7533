//===- Progress.cpp - Who advances the operations, and when -----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Core/Error.h"
#include "Core/Messages.h"
#include "MPI/MPIEngine.h"
#include "MPI/Pause.h"

#include <algorithm>

using namespace braid::rt;

namespace {
/// How often control messages are looked for while data move.
constexpr int64_t controlNs = 100 * 1000;
/// How long the progress thread sleeps: while a program runs with nothing under
/// way, and while none runs.
constexpr int64_t computingNs = 500 * 1000;
constexpr int64_t restingNs = 10 * 1000 * 1000;
/// The same with something under way that other ranks have to start first, and
/// between looks at data when every core has a rank to run.
constexpr int64_t checkingNs = 50 * 1000;
constexpr int64_t movingNs = 20 * 1000;
} // namespace

void MPIEngine::progress() {
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
  if (size == 1)
    return;
  int64_t now = environment.now();
  if (now - lastControlNs < controlNs)
    return;
  lastControlNs = now;
  try {
    serveControl();
  } catch (const Error &error) {
    // Without control messages no failure is reported any more.
    isDead = true;
    if (!failure)
      failure = Failure{error.what(), false, {}};
  }
}

int64_t MPIEngine::idleNs() const {
  if (isDead)
    return restingNs;
  if (waiting.load() > 0)
    return computingNs;
  if (busy.empty())
    return running ? computingNs : restingNs;
  for (const auto &entry : busy)
    if (!entry.first->open.empty() &&
        entry.first->open.front()->state.load() == Transfer::Moving)
      return hasSpareCores ? Pause::shortestNs : movingNs;
  return checkingNs;
}

void MPIEngine::progressThread() {
  makeSleepPrecise();
  Lock lock(mutex);
  while (!stopping) {
    if (waiting.load() == 0)
      progress();
    threadSleeps = true;
    wake.wait_for(lock, std::chrono::nanoseconds(idleNs()));
    threadSleeps = false;
  }
}

void MPIEngine::addBusy(Queue &queue, MPICommunicator &communicator,
                        const Transfer &transfer) {
  std::pair<Queue *, MPICommunicator *> entry = {&queue, &communicator};
  if (std::find(busy.begin(), busy.end(), entry) == busy.end())
    busy.push_back(entry);
  // Waking the thread costs more than a small operation, which it finds soon.
  constexpr int64_t wakeBytes = 64 * 1024;
  if (threadSleeps && transfer.operation.linkBytes() >= wakeBytes)
    wake.notify_one();
}

void MPIEngine::wait(Transfer &transfer) {
  if (transfer.state.load(std::memory_order_acquire) == Transfer::Done)
    return;
  Pause pause(*this);
  int64_t beginNs = environment.now();
  inquiryPauseNs = (20 + size) * int64_t(1000 * 1000);
  nextInquiryNs = beginNs + inquiryPauseNs;
  inquiry.sentNs = 0;
  lastDeadlock.reset();
  blockedOn = &transfer;
  ++waitCount;
  try {
    while (true) {
      progress();
      int state = transfer.state.load();
      if (state == Transfer::Done)
        break;
      throwIfFailed();
      int64_t now = environment.now();
      if (state == Transfer::Checking)
        investigate(transfer, now - beginNs);
      else
        investigateData(transfer, now - transfer.lastStepNs);
      pause.sleep(state == Transfer::Moving, now - beginNs);
    }
  } catch (...) {
    blockedOn = nullptr;
    throw;
  }
  blockedOn = nullptr;
  if (threadSleeps && !busy.empty())
    wake.notify_one();
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
    failure = Failure{text, secondary, transfer.operation.site};
}
