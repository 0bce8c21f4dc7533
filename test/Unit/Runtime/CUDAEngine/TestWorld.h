//===- TestWorld.h - A world on fake GPUs -----------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TEST_UNIT_RUNTIME_CUDAENGINE_TESTWORLD_H
#define BRAID_TEST_UNIT_RUNTIME_CUDAENGINE_TESTWORLD_H

#include "FakeCUDA.h"
#include "braid-rt/braid-rt.h"

#include <cstdlib>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace braid::test {

/// Has the engine load the fakes; before the first world.
inline void useFakes() {
  setenv("BRAID_CUDA_LIBRARY", FAKE_CUDA, 1);
  setenv("BRAID_CUBLASLT_LIBRARY", FAKE_CUBLASLT, 1);
  setenv("BRAID_CUPTI_LIBRARY", FAKE_CUPTI, 1);
  setenv("BRAID_NCCL_LIBRARY", FAKE_NCCL, 1);
  setenv("BRAID_TUNING_CACHE", "", 0);
}

using Options = std::vector<std::pair<std::string, std::string>>;

/// A world of the engine `cuda`. Bodies that fail are left by longjmp: they
/// hold nothing with a destructor.
class TestWorld {
public:
  explicit TestWorld(int32_t ranks, const Options &options = {},
                     int64_t timeoutNs = int64_t(30) * 1000000000,
                     bool trace = false)
      : world(nullptr, braid_rt_world_destroy) {
    useFakes();
    braid_rt_config config;
    char error[1024] = "";
    braid_rt_config_init(&config, error, sizeof(error));
    config.engine = "cuda";
    config.ranks = ranks;
    config.timeoutNs = timeoutNs;
    config.trace = trace;
    std::vector<braid_rt_option> list;
    for (const auto &[key, value] : options)
      list.push_back({key.c_str(), value.c_str()});
    config.options = list.data();
    config.optionCount = static_cast<int64_t>(list.size());
    world.reset(braid_rt_world_create(&config, error, sizeof(error)));
    if (!world)
      throw std::runtime_error(error);
    const int32_t *ranksHere = nullptr;
    int32_t count = braid_rt_world_local_ranks(world.get(), &ranksHere);
    locals.assign(ranksHere, ranksHere + count);
  }

  /// What braid_rt_world_prepare says; empty when it succeeds.
  std::string prepare(const std::vector<const braid_rt_group *> &groups,
                      const char *schedule = nullptr) {
    braid_rt_device_program device = {};
    braid_rt_program program = {};
    program.abiVersion = BRAID_RT_ABI_VERSION;
    program.target = BRAID_RT_TARGET_CUDA;
    program.name = "test";
    program.groupCount = static_cast<int64_t>(groups.size());
    program.groups = groups.data();
    program.schedule = schedule;
    program.device = &device;
    char error[1024] = "";
    braid_rt_world_prepare(world.get(), &program, error, sizeof(error));
    return error;
  }

  /// Runs `body` on all local ranks; the arguments of the entry are equal in
  /// every run of one body.
  bool run(const std::function<void(int32_t rank)> &body) {
    struct Call {
      const std::function<void(int32_t rank)> *body;
      int32_t rank;
    };
    std::vector<Call> calls;
    for (int32_t rank : locals)
      calls.push_back({&body, rank});
    std::vector<void *> arguments;
    for (Call &call : calls)
      arguments.push_back(&call);
    std::vector<void **> ofRanks;
    for (void *&argument : arguments)
      ofRanks.push_back(&argument);
    const braid_rt_entry entry = {"body",
                                  [](void **args) {
                                    auto &call = *static_cast<Call *>(args[0]);
                                    (*call.body)(call.rank);
                                  },
                                  0, nullptr, nullptr};
    return braid_rt_world_run(world.get(), &entry, ofRanks.data()) ==
           BRAID_RT_OK;
  }

  std::string error(int32_t rank) const {
    return braid_rt_error(context(rank));
  }
  braid_rt_context *context(int32_t rank) const {
    return braid_rt_world_context(world.get(), rank);
  }

  float *allocate(int32_t rank, int64_t floats) const {
    char error[512] = "";
    void *memory = braid_rt_device_alloc(
        context(rank), floats * int64_t(sizeof(float)), error, sizeof(error));
    if (!memory)
      throw std::runtime_error(error);
    return static_cast<float *>(memory);
  }
  void release(int32_t rank, float *memory) const {
    braid_rt_device_free(context(rank), memory);
  }
  void set(int32_t rank, float *device,
           const std::vector<float> &values) const {
    braid_rt_copy_to_device(context(rank), device, values.data(),
                            static_cast<int64_t>(values.size() * sizeof(float)),
                            nullptr, 0);
  }
  std::vector<float> get(int32_t rank, const float *device,
                         int64_t count) const {
    std::vector<float> values(static_cast<size_t>(count));
    braid_rt_copy_from_device(context(rank), values.data(), device,
                              count * int64_t(sizeof(float)), nullptr, 0);
    return values;
  }

  std::unique_ptr<braid_rt_world, void (*)(braid_rt_world *)> world;
  std::vector<int32_t> locals;
};

/// What creating such a world says; empty when it succeeds.
inline std::string whyNoWorld(int32_t ranks, const Options &options = {},
                              int64_t timeoutNs = int64_t(5) * 1000000000) {
  try {
    TestWorld world(ranks, options, timeoutNs);
    return "";
  } catch (const std::runtime_error &error) {
    return error.what();
  }
}

inline const braid_rt_group everyone = {"world", 1,       0,
                                        nullptr, nullptr, nullptr};

/// How often a text stands in the log of the fakes.
inline size_t countInLog(const std::string &text) {
  std::string log = fake_cuda_log();
  size_t count = 0;
  for (size_t at = log.find(text); at != std::string::npos;
       at = log.find(text, at + 1))
    ++count;
  return count;
}

/// Starts an all-reduce of `count` floats.
inline void *startAllReduce(const braid_rt_group &group, float *from, float *to,
                            int64_t count, const braid_rt_site *site = nullptr,
                            int32_t reduction = BRAID_RT_SUM) {
  braid_rt_view source = {from, &count, BRAID_RT_F32, 1};
  braid_rt_view destination = {to, &count, BRAID_RT_F32, 1};
  return braid_rt_all_reduce(&group, 1, &source, &destination, reduction,
                             nullptr, site);
}

} // namespace braid::test

#endif // BRAID_TEST_UNIT_RUNTIME_CUDAENGINE_TESTWORLD_H
