//===- World.h - The ranks of one process -----------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CORE_WORLD_H
#define BRAID_RUNTIME_CORE_WORLD_H

#include "Core/Context.h"
#include "Core/Engine.h"
#include "braid-rt/Host.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace braid::rt {

/// Nanoseconds of the monotonic clock.
int64_t monotonicNs();

/// The ranks, the engine they share and the threads that run them.
class World {
public:
  explicit World(const braid_rt_config &config);
  ~World();

  /// Runs the entry on all ranks; false when one failed.
  bool run(const braid_rt_entry &entry, void ***args);

  void reset();

  /// Nanoseconds since the world was created.
  int64_t now() const { return monotonicNs() - createdNs; }

  bool logs(braid_rt_debug level) const { return config.debug >= level; }
  void log(const std::string &line) const;

  const braid_rt_config config;
  const int64_t createdNs;
  int64_t elapsedNs = 0;
  std::vector<std::unique_ptr<Context>> contexts;
  std::unique_ptr<Engine> engine;

private:
  struct Worker {
    std::thread thread;
    int64_t beginNs = 0;
    int64_t endNs = 0;
    int32_t status = BRAID_RT_OK;
  };

  void startWorkers();
  void work(size_t rank);

  std::mutex mutex;
  std::condition_variable jobChanged;
  std::condition_variable jobDone;
  std::vector<Worker> workers;
  const braid_rt_entry *jobEntry = nullptr;
  void ***jobArgs = nullptr;
  int64_t jobNumber = 0;
  size_t running = 0;
  bool stopping = false;
};

/// The engine of ranks that are threads of this process.
std::unique_ptr<Engine> createInProcessEngine(World &world);

} // namespace braid::rt

#endif // BRAID_RUNTIME_CORE_WORLD_H
