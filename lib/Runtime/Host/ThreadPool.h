//===- ThreadPool.h - Threads that compute beside ranks ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_HOST_THREADPOOL_H
#define BRAID_RUNTIME_HOST_THREADPOOL_H

#include "braid-rt/Types.h"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace braid::rt {

/// The threads of this process that compute beside the threads of its ranks.
/// They sleep while no rank has work for them.
class BRAID_RT_API ThreadPool {
public:
  ThreadPool() = default;
  ThreadPool(const ThreadPool &) = delete;
  ~ThreadPool();

  /// The pool that all devices of the process share, as long as one is there.
  static std::shared_ptr<ThreadPool> ofProcess();

  /// Calls `body(0)` to `body(parts - 1)`, each once, on the calling thread and
  /// at most `threads - 1` others, and returns after all of them. `body` must
  /// not throw.
  void run(int64_t parts, int32_t threads,
           const std::function<void(int64_t)> &body);

private:
  struct Job;
  using Lock = std::unique_lock<std::mutex>;

  void work();

  std::mutex mutex;
  std::condition_variable changed, left;
  std::vector<Job *> jobs; ///< Those that want more threads.
  std::vector<std::thread> workers;
  int64_t wanted = 0; ///< By all jobs that run.
  bool stopping = false;
};

} // namespace braid::rt

#endif // BRAID_RUNTIME_HOST_THREADPOOL_H
