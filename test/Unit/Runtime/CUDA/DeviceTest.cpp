//===- DeviceTest.cpp - A GPU and the waits for it ------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Setup.h"

#include "Base/Environment.h"
#include <atomic>
#include <chrono>
#include <thread>

using namespace braid::rt;
using testing::HasSubstr;
using testing::StartsWith;

namespace {
using DeviceTest = CudaTest;

/// Hooks of a rank that has failed.
class FailedRank final : public cuda::DeviceHooks {
public:
  void waitsFor(cuda::Stream) override { throw Error("rank 1 failed", true); }
};
} // namespace

static Environment environmentWith(std::vector<braid_rt_option> options) {
  braid_rt_config config;
  braid_rt_config_init(&config, nullptr, 0);
  config.engine = "cuda";
  config.timeoutNs = 7;
  config.optionCount = static_cast<int64_t>(options.size());
  config.options = options.data();
  return Environment(config);
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

TEST(DeviceOptions, haveDefaults) {
  Environment environment = environmentWith({});
  cuda::DeviceOptions options = cuda::DeviceOptions::read(environment);
  EXPECT_EQ(options.graphs, cuda::GraphUse::Auto);
  EXPECT_FALSE(options.tf32);
  EXPECT_FALSE(options.fastAttentionGradients);
  EXPECT_TRUE(options.measureAlgorithms);
  EXPECT_EQ(options.timeoutNs, 7);
}

TEST(DeviceOptions, areRead) {
  Environment environment = environmentWith({{"cuda-graph", "1"},
                                             {"matmul-precision", "tf32"},
                                             {"attention-gradients", "fast"},
                                             {"matmul-tuning", "heuristic"}});
  cuda::DeviceOptions options = cuda::DeviceOptions::read(environment);
  EXPECT_EQ(options.graphs, cuda::GraphUse::On);
  EXPECT_TRUE(options.tf32);
  EXPECT_TRUE(options.fastAttentionGradients);
  EXPECT_FALSE(options.measureAlgorithms);
}

TEST(DeviceOptions, refuseOtherValues) {
  EXPECT_EQ(errorOf([] {
              cuda::DeviceOptions::read(
                  environmentWith({{"cuda-graph", "yes"}}));
            }),
            "option 'cuda-graph' of engine cuda is 'yes', expected auto, 0 "
            "or 1");
  EXPECT_EQ(errorOf([] {
              cuda::DeviceOptions::read(
                  environmentWith({{"matmul-precision", "f64"}}));
            }),
            "option 'matmul-precision' of engine cuda is 'f64', expected f32 "
            "or tf32");
  EXPECT_EQ(errorOf([] {
              cuda::DeviceOptions::read(
                  environmentWith({{"matmul-tuning", "best"}}));
            }),
            "option 'matmul-tuning' of engine cuda is 'best', expected measure "
            "or heuristic");
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

TEST_F(DeviceTest, knowsItsGpu) {
  const cuda::Gpu &gpu = device(2).gpu();
  EXPECT_EQ(gpu.name, "device 2 (Fake GPU)");
  EXPECT_EQ(gpu.model, "Fake GPU");
  EXPECT_EQ(gpu.ordinal, 2);
  EXPECT_EQ(gpu.multiprocessors, 132);
  EXPECT_EQ(gpu.capability, 90);
}

TEST_F(DeviceTest, tellsItsProperties) {
  CudaDevice &opened = device(1);
  EXPECT_EQ(opened.property("gpu"), "Fake GPU");
  EXPECT_EQ(opened.property("multiprocessors"), "132");
  EXPECT_EQ(opened.property("cuda"), "13.0");
  EXPECT_EQ(opened.property("cublaslt"), "13.2");
  EXPECT_EQ(opened.property("nccl"), "");
}

TEST_F(DeviceTest, computesOnAStreamOfTheLowestPriority) {
  void *stream = device().computeStream();
  EXPECT_EQ(stream, device().gpu().stream);
  EXPECT_EQ(fake_cuda_stream_priority(stream), 0);
}

TEST_F(DeviceTest, refusesADeviceThatTheMachineLacks) {
  fake_cuda_set_devices(1);
  EXPECT_EQ(errorOf([&] { device(1); }),
            "there is no device 1: the CUDA driver finds 1 GPU");
}

TEST_F(DeviceTest, refusesANegativeDevice) {
  EXPECT_EQ(errorOf([&] { device(-1); }),
            "there is no device -1: the CUDA driver finds 8 GPUs");
}

TEST_F(DeviceTest, releasesTheContextWhenTheStreamFails) {
  fake_cuda_fail("cuStreamCreateWithPriority", cuda::ERROR_OUT_OF_MEMORY, 0);
  EXPECT_EQ(errorOf([&] { device(3); }),
            "device 3 (Fake GPU): cuStreamCreateWithPriority failed: "
            "CUDA_ERROR_OUT_OF_MEMORY (out of memory)");
  EXPECT_STREQ(fake_cuda_leaks(), "");
}

TEST_F(DeviceTest, releasesTheGpuWhenAnEventOfTheDeviceFails) {
  fake_cuda_fail("cuEventCreate", cuda::ERROR_OUT_OF_MEMORY, 1);
  EXPECT_THAT(errorOf([&] { device(); }), StartsWith("cuEventCreate failed"));
  EXPECT_STREQ(fake_cuda_leaks(), "");
}

//===----------------------------------------------------------------------===//
// Invocations
//===----------------------------------------------------------------------===//

TEST_F(DeviceTest, makesItsContextCurrentForInvocations) {
  device(1);
  driver().ctxSetCurrent(nullptr);
  EXPECT_FALSE(invoke([] { EXPECT_EQ(fake_cuda_current_device("test"), 1); }));
}

TEST_F(DeviceTest, measuresInvocationsOnTheDevicesClock) {
  TestProgram program;
  device().prepare(program.get());
  EXPECT_EQ(device().deviceNs(), 0);
  invoke([&] {
    void *memory = nullptr;
    void *arguments[] = {&memory};
    for (int i = 0; i < 3; ++i)
      device().launch(program.fill, {{1, 1, 1}, {1, 1, 1}, 0}, arguments, 1);
  });
  // A kernel takes 1000 ns on the fake's clock.
  EXPECT_NEAR(static_cast<double>(device().deviceNs()), 3000, 1);
}

TEST_F(DeviceTest, leavesOutOfItsTimeWhatStandsInForCollectives) {
  TestProgram program;
  device().prepare(program.get());
  std::vector<float> operand = {1, 2}, result(5, 0.0F);
  auto *memory = static_cast<float *>(device().allocate(28));
  device().copyToDevice(memory, operand.data(), 8);
  invoke([&] {
    void *nothing = nullptr;
    void *arguments[] = {&nothing};
    device().launch(program.fill, {{1, 1, 1}, {1, 1, 1}, 0}, arguments, 1);
    device().standIn(memory + 2, 20, memory, 8);
  });
  EXPECT_NEAR(static_cast<double>(device().deviceNs()), 1000, 1);
  device().copyFromDevice(result.data(), memory + 2, 20);
  EXPECT_EQ(result, (std::vector<float>{1, 2, 1, 2, 1}));
  // The next invocation counts from anew.
  invoke([&] { device().copy(memory + 2, memory, 8); });
  EXPECT_GT(device().deviceNs(), 0);
  device().free(memory);
}

TEST_F(DeviceTest, waitsForTheDeviceAtTheEnd) {
  device();
  fake_cuda_block(0);
  std::atomic<bool> ended{false};
  std::thread rank([&] {
    invoke([] {});
    ended = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(ended);
  fake_cuda_unblock(0);
  rank.join();
  EXPECT_TRUE(ended);
}

TEST_F(DeviceTest, givesUpAfterTheTimeout) {
  options.timeoutNs = 5000000;
  device();
  fake_cuda_block(0);
  EXPECT_EQ(errorOf([&] { invoke([] {}); }),
            "timed out after 5 ms: device 0 (Fake GPU) has not finished the "
            "program");
  fake_cuda_unblock(0);
  device().failInvocation();
  EXPECT_EQ(errorOf([&] { invoke([] {}); }), "");
}

TEST_F(DeviceTest, endsWithTheFailureOfTheRank) {
  hooks = std::make_unique<FailedRank>();
  device();
  fake_cuda_block(0);
  EXPECT_EQ(errorOf([&] { invoke([] {}); }), "rank 1 failed");
  fake_cuda_unblock(0);
}

TEST_F(DeviceTest, reportsAFaultOfAKernel) {
  device();
  fake_cuda_fail("cuEventQuery", cuda::ERROR_ILLEGAL_ADDRESS, 0);
  EXPECT_EQ(errorOf([&] { invoke([] {}); }),
            "device 0 (Fake GPU) failed while it worked on the program: "
            "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was "
            "encountered); with CUDA_LAUNCH_BLOCKING=1 in the environment the "
            "message names the kernel");
}

TEST_F(DeviceTest, waitsForItsStreamAfterAFailure) {
  device();
  fake_cuda_block(0);
  std::thread helper([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    fake_cuda_unblock(0);
  });
  device().gpu().makeCurrent();
  cuda::Event event = nullptr;
  driver().eventCreate(&event, cuda::EVENT_NO_TIMING);
  driver().eventRecord(event, device().gpu().stream);
  device().failInvocation();
  EXPECT_EQ(driver().eventQuery(event), cuda::SUCCESS);
  helper.join();
  driver().eventDestroy(event);
}
