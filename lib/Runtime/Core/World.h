//===- World.h - The ranks of one process -----------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CORE_WORLD_H
#define BRAID_RUNTIME_CORE_WORLD_H

#include "Base/Environment.h"
#include "Core/Context.h"
#include "Engine/Engine.h"
#include "braid-rt/Host.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace braid::rt {

/// The ranks of this process, their engine and their threads.
class World {
public:
  /// Throws an Error if the engine cannot be created.
  explicit World(const braid_rt_config &config);
  ~World();

  /// Runs the entry on all local ranks; false if one fails. `args` has one
  /// entry for each local rank. `here`: one rank on the host runs on the
  /// calling thread.
  bool run(const braid_rt_entry &entry, void ***args, bool here);

  /// Has the next run follow the work of a caller's streams, one for each rank
  /// (Device::follow).
  bool follow(void *const *streams);

  /// For another thread than that of `run`: the time since the first failure of
  /// a rank, if other ranks still run; else 0. `text` gets the messages.
  int64_t describeFailing(std::string &text);

  /// Compares the program with those of the other processes and creates its
  /// communicators. Throws an Error on every process if the programs differ.
  void prepare(const braid_rt_program &program);

  /// Sets the work that the next invocations skip, a braid_rt_skip. Throws an
  /// Error if this is not possible.
  void skip(int32_t what);

  void reset();

  /// Writes the last operations of all local ranks, or logs them if the
  /// configuration names no files. Any thread may call this function.
  void dump(const std::string &reason) const;

  /// The context of a local rank, nullptr for any other.
  Context *context(int32_t rank) const;

  const Environment environment;
  int64_t elapsedNs = 0;
  std::unique_ptr<Engine> engine;

private:
  struct Worker {
    std::thread thread;
    int64_t beginNs = 0;
    int64_t endNs = 0;
    int32_t status = BRAID_RT_OK;
    bool isRunning = false; ///< Guarded by the mutex, like the next one.
    std::string error;      ///< Of a failed rank.
    bool isSecondary = false;
  };

  void writeOthers() const;
  void startWorkers();
  void work(size_t rank);
  /// Whether the calling thread of `run` may be that of the rank.
  bool canRunHere() const;
  /// Runs the job on a rank. `lock` is not locked meanwhile.
  void runRank(size_t rank, std::unique_lock<std::mutex> &lock);

  /// One for each local rank.
  std::vector<std::unique_ptr<Context>> contexts;

  std::mutex mutex;
  std::condition_variable jobChanged;
  std::condition_variable jobDone;
  std::vector<Worker> workers;
  const braid_rt_entry *jobEntry = nullptr;
  void ***jobArgs = nullptr;
  int64_t jobNumber = 0;
  size_t running = 0;
  int64_t failedNs = 0; ///< The time of the job's first failure; 0: none.
  bool stopping = false;
};

} // namespace braid::rt

#endif // BRAID_RUNTIME_CORE_WORLD_H
