//===- StuckRanks.h - Ranks that go on after a failure ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_FAILURES_STUCKRANKS_H
#define BRAID_TOOLS_BRAID_RUN_FAILURES_STUCKRANKS_H

#include "braid-rt/braid-rt.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace braid::run {

/// Ends the process with the messages of the failed ranks if other ranks of the
/// same run have not ended after `timeout`: a thread that computes cannot be
/// stopped. With `dumps` the other ranks write their last operations before.
class StuckRanks {
public:
  StuckRanks(braid_rt_world *world, std::chrono::seconds timeout, bool dumps);
  ~StuckRanks();
  StuckRanks(const StuckRanks &) = delete;
  StuckRanks &operator=(const StuckRanks &) = delete;

private:
  void watch();
  void endIfStuck(std::string &text) const;

  braid_rt_world *const world;
  const std::chrono::nanoseconds timeout;
  const bool dumps;
  std::mutex mutex;
  std::condition_variable changed;
  bool isDone = false;
  std::thread thread; // After the members that it uses.
};

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_FAILURES_STUCKRANKS_H
