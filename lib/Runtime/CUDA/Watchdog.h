//===- Watchdog.h - Finds operations that do not end ------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_WATCHDOG_H
#define BRAID_RUNTIME_CUDA_WATCHDOG_H

#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>

namespace braid::rt {
class CudaEngine;
} // namespace braid::rt

namespace braid::rt::cuda {

/// Polls the flights of this process's ranks every 100 ms, because NCCL waits
/// for a missing rank without a timeout or an error.
class Watchdog {
public:
  explicit Watchdog(CudaEngine &engine);
  ~Watchdog();
  Watchdog(const Watchdog &) = delete;
  Watchdog &operator=(const Watchdog &) = delete;

  /// Polls at once, after an event that may end the world.
  void wake();

private:
  void watch();
  void look();
  void investigate(int64_t stalledNs);

  CudaEngine &engine;
  const int64_t periodNs;
  int64_t nextInquiryNs = 0;
  int64_t inquiryPauseNs = 0;
  std::map<int32_t, int64_t> lastDeadlock; ///< The waits in the last poll.

  std::mutex mutex;
  std::condition_variable changed;
  bool stopping = false, woken = false;
  std::thread thread;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_WATCHDOG_H
