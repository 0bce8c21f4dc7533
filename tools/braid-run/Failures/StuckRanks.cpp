//===- StuckRanks.cpp - Ranks that go on after a failure ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Failures/StuckRanks.h"
#include "Common/Failure.h"

#include <cstdio>
#include <unistd.h>

using namespace braid::run;

StuckRanks::StuckRanks(braid_rt_world *world, std::chrono::seconds timeout,
                       bool dumps)
    : world(world), timeout(timeout), dumps(dumps),
      thread([this]() { watch(); }) {}

StuckRanks::~StuckRanks() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    isDone = true;
  }
  changed.notify_all();
  thread.join();
}

void StuckRanks::watch() {
  constexpr auto pause = std::chrono::milliseconds(50);
  std::string text(1 << 16, '\0');
  std::unique_lock<std::mutex> lock(mutex);
  while (!changed.wait_for(lock, pause, [this]() { return isDone; }))
    endIfStuck(text);
}

void StuckRanks::endIfStuck(std::string &text) const {
  if (braid_rt_world_failing(world, text.data(), text.size()) < timeout.count())
    return;
  if (dumps)
    braid_rt_world_dump(world, "failure of another rank");
  std::fflush(stdout);
  printError(1, text.c_str());
  _exit(1);
}
