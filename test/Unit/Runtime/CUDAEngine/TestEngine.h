//===- TestEngine.h - An engine on fake GPUs --------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TEST_UNIT_RUNTIME_CUDAENGINE_TESTENGINE_H
#define BRAID_TEST_UNIT_RUNTIME_CUDAENGINE_TESTENGINE_H

#include "CUDA/CudaEngine.h"
#include "TestWorld.h"

#include <functional>

namespace braid::test {

/// The engine `cuda` without a world around it, for `ranks` ranks, or those of
/// the launcher for 0.
class TestEngine {
public:
  explicit TestEngine(int32_t ranks)
      : config(configure(ranks)), environment(config), engine(environment) {
    // The ranks of a world meet before they use it: a rank answers no post
    // until its engine is whole.
    engine.exchange("");
  }

  rt::CudaEngine *operator->() { return &engine; }

  /// What the local rank `rank` chooses for one product, where it would measure
  /// `measure`.
  int32_t choose(size_t rank, const std::function<int32_t()> &measure) {
    return engine.chooseAlgorithm(*engine.ranks()[rank], "a product", measure);
  }

private:
  static braid_rt_config configure(int32_t ranks) {
    useFakes();
    braid_rt_config config;
    braid_rt_config_init(&config, nullptr, 0);
    config.ranks = ranks;
    return config;
  }

  braid_rt_config config;
  rt::Environment environment;
  rt::CudaEngine engine;
};

} // namespace braid::test

#endif // BRAID_TEST_UNIT_RUNTIME_CUDAENGINE_TESTENGINE_H
