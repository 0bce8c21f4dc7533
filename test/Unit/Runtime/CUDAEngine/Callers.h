//===- Callers.h - Streams that runs of a world follow ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TEST_UNIT_RUNTIME_CUDAENGINE_CALLERS_H
#define BRAID_TEST_UNIT_RUNTIME_CUDAENGINE_CALLERS_H

#include "../CUDA/CallerStream.h"
#include "TestWorld.h"

#include <deque>

namespace braid::test {

/// A stream of a caller on the GPU of each local rank.
class Callers {
public:
  /// `memory`: some of each local rank.
  Callers(const TestWorld &world, const std::vector<float *> &memory)
      : world(world), memory(memory) {
    for (size_t i = 0; i < memory.size(); ++i) {
      makeCurrent(i);
      streams.emplace_back();
    }
  }
  ~Callers() {
    for (size_t i = 0; !streams.empty(); ++i) {
      makeCurrent(i);
      streams.pop_front();
    }
  }

  /// Has the next run follow the streams.
  void follow() const {
    std::vector<void *> given;
    for (const CallerStream &caller : streams)
      given.push_back(caller.stream);
    EXPECT_EQ(braid_rt_world_follow(world.world.get(), given.data()),
              BRAID_RT_OK);
  }

  std::deque<CallerStream> streams;

private:
  /// Makes a rank's GPU that of this thread.
  void makeCurrent(size_t i) const { world.get(world.locals[i], memory[i], 1); }

  const TestWorld &world;
  const std::vector<float *> memory;
};

} // namespace braid::test

#endif // BRAID_TEST_UNIT_RUNTIME_CUDAENGINE_CALLERS_H
