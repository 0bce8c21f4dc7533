//===- Pause.h - Waits of a thread ------------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_MPI_PAUSE_H
#define BRAID_RUNTIME_MPI_PAUSE_H

#include "MPI/MPIEngine.h"

#include <algorithm>
#include <chrono>
#include <thread>

#if defined(__linux__)
#include <sys/prctl.h>
#endif

namespace braid::rt {

/// By default the kernel may wake a thread 50 us late to save power.
inline bool makeSleepPrecise() {
#if defined(__linux__)
  return prctl(PR_SET_TIMERSLACK, 1000UL) == 0;
#else
  return false;
#endif
}

/// Holds the engine's mutex for a thread that makes progress itself, and
/// releases it during sleeps. The progress thread makes no progress meanwhile.
class Pause {
public:
  explicit Pause(MPIEngine &engine) : engine(engine), lock(engine.mutex) {
    engine.waiting.fetch_add(1);
  }
  ~Pause() { engine.waiting.fetch_sub(1); }
  Pause(const Pause &) = delete;
  Pause &operator=(const Pause &) = delete;

  /// Data move only during calls of the library, so the thread polls while data
  /// move. While another rank has not started the operation and may need this
  /// core, the thread sleeps for longer and longer times. Yields instead of
  /// sleeps have led to waits of seconds on a busy machine.
  void sleep(bool dataMove, int64_t waitedNs) {
    constexpr int64_t spinNs = 50 * 1000, patientNs = 1000 * 1000;
    int64_t ns = shortestNs;
    if (!dataMove && waitedNs > spinNs)
      ns = std::min(waitedNs / 8, patientNs);
    else if (!engine.sharesCores && waitedNs - sleptNs < patientNs)
      return;
    lock.unlock();
    sleepFor(ns);
    sleptNs = waitedNs;
    lock.lock();
  }

  /// The shortest sleep.
  static constexpr int64_t shortestNs = 1000;

private:
  static void sleepFor(int64_t ns) {
    static thread_local bool isPrecise = makeSleepPrecise();
    (void)isPrecise;
    std::this_thread::sleep_for(std::chrono::nanoseconds(ns));
  }

  MPIEngine &engine;
  MPIEngine::Lock lock;
  int64_t sleptNs = 0; ///< When this last slept, in the caller's time.
};

} // namespace braid::rt

#endif // BRAID_RUNTIME_MPI_PAUSE_H
