//===- Pause.h - How a thread waits for others ------------------*- C++ -*-===//
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

namespace braid::rt {

/// Holds the engine's mutex for a thread that makes progress itself, and leaves
/// it to others in between. The progress thread rests meanwhile.
class Pause {
public:
  explicit Pause(MPIEngine &engine) : engine(engine), lock(engine.mutex) {
    engine.waiting.fetch_add(1);
  }
  ~Pause() { engine.waiting.fetch_sub(1); }
  Pause(const Pause &) = delete;
  Pause &operator=(const Pause &) = delete;

  /// Data move only while somebody looks; other ranks that have not come yet
  /// take their time, and maybe this core.
  void sleep(bool dataMove, int64_t waitedNs) {
    lock.unlock();
    constexpr int64_t spinNs = 50 * 1000, patientNs = 1000 * 1000;
    if (!dataMove && waitedNs > spinNs)
      std::this_thread::sleep_for(
          std::chrono::nanoseconds(std::min(waitedNs / 8, patientNs)));
    else if (engine.sharesCores || waitedNs > spinNs)
      std::this_thread::yield();
    lock.lock();
  }

private:
  MPIEngine &engine;
  MPIEngine::Lock lock;
};

} // namespace braid::rt

#endif // BRAID_RUNTIME_MPI_PAUSE_H
