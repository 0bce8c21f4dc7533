//===- FakeCUDATest.cpp - The rules of the fake driver ===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Every rule of FakeCUDA.h has a test that breaks it.
//
//===----------------------------------------------------------------------===//

#include "FakeSetup.h"

#include <thread>

using namespace braid::rt;
using namespace braid::rt::cuda;

namespace {
using FakeCUDADeathTest = FakeCUDATest;
} // namespace

extern "C" Result cuDeviceGetCount(int *count);

/// The process that dies runs this test alone.
TEST(FakeCUDAStartDeathTest, callsFollowCuInit) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  int count = 0;
  EXPECT_DEATH(cuDeviceGetCount(&count),
               "fake CUDA: cuDeviceGetCount: cuInit has not been called");
}

//===----------------------------------------------------------------------===//
// Contexts and handles
//===----------------------------------------------------------------------===//

TEST_F(FakeCUDADeathTest, callsNeedACurrentContext) {
  EXPECT_DEATH(
      {
        fake.ctxSetCurrent(nullptr);
        fake.memAlloc(&memory, 16);
      },
      "fake CUDA: cuMemAlloc: the calling thread has no current context");
}

TEST_F(FakeCUDADeathTest, contextsAreThoseOfTheirThread) {
  EXPECT_DEATH(std::thread([&] { fake.memAlloc(&memory, 16); }).join(),
               "cuMemAlloc: the calling thread has no current context");
}

TEST_F(FakeCUDADeathTest, contextsAreNotUsedAfterTheirRelease) {
  EXPECT_DEATH(
      {
        fake.devicePrimaryCtxRelease(1);
        fake.ctxSetCurrent(contexts[1]);
        fake.memAlloc(&memory, 16);
      },
      "cuMemAlloc: the current context, of device 1, has been released");
}

TEST_F(FakeCUDADeathTest, contextsOutliveTheirStreams) {
  EXPECT_DEATH(fake.devicePrimaryCtxRelease(0),
               "cuDevicePrimaryCtxRelease: a stream of the context has not "
               "been destroyed");
}

TEST_F(FakeCUDADeathTest, contextsAreReleasedOnce) {
  EXPECT_DEATH(fake.devicePrimaryCtxRelease(2),
               "cuDevicePrimaryCtxRelease: the context has not been retained");
}

TEST_F(FakeCUDADeathTest, streamsWantTheirContext) {
  EXPECT_DEATH(
      {
        fake.ctxSetCurrent(contexts[1]);
        copy(memory, memory + 64, first);
      },
      "cuMemcpyDtoDAsync: the stream belongs to device 0, but the current "
      "context to device 1");
}

TEST_F(FakeCUDADeathTest, theLegacyStreamIsNotUsed) {
  EXPECT_DEATH(copy(memory, memory + 64, nullptr),
               "the legacy stream orders all streams of the device");
}

TEST_F(FakeCUDADeathTest, streamsDoNotWaitForTheLegacyStream) {
  Stream stream = nullptr;
  EXPECT_DEATH(fake.streamCreateWithPriority(&stream, 0, 0),
               "the stream would wait for the legacy stream");
}

TEST_F(FakeCUDADeathTest, destroyedStreamsAreNotUsed) {
  EXPECT_DEATH(
      {
        fake.streamDestroy(first);
        fake.streamQuery(first);
      },
      "cuStreamQuery: the stream does not exist, or was destroyed");
}

TEST_F(FakeCUDADeathTest, destroyedEventsAreNotUsed) {
  EXPECT_DEATH(
      {
        fake.eventDestroy(event);
        fake.eventRecord(event, first);
      },
      "cuEventRecord: the event does not exist, or was destroyed");
}

TEST_F(FakeCUDADeathTest, eventsAreThoseOfTheirContext) {
  EXPECT_DEATH(
      {
        Event other = nullptr;
        fake.ctxSetCurrent(contexts[1]);
        fake.eventCreate(&other, 0);
        fake.ctxSetCurrent(contexts[0]);
        fake.eventRecord(other, first);
      },
      "cuEventRecord: event and stream belong to different contexts");
}

TEST_F(FakeCUDADeathTest, unloadedKernelsAreNotLaunched) {
  EXPECT_DEATH(
      {
        Module module = load();
        Function function = nullptr;
        fake.moduleGetFunction(&function, module, "fill");
        fake.moduleUnload(module);
        fake.launchKernel(function, 1, 1, 1, 1, 1, 1, 0, first, nullptr,
                          nullptr);
      },
      "cuLaunchKernel: the kernel does not exist, or its module was unloaded");
}

TEST_F(FakeCUDADeathTest, kernelsRunInTheirContext) {
  EXPECT_DEATH(
      {
        fake.ctxSetCurrent(contexts[1]);
        Function function = nullptr;
        fake.moduleGetFunction(&function, load(), "fill");
        fake.ctxSetCurrent(contexts[0]);
        fake.launchKernel(function, 1, 1, 1, 1, 1, 1, 0, first, nullptr,
                          nullptr);
      },
      "cuLaunchKernel: kernel fill of device 1 on a stream of device 0");
}

TEST_F(FakeCUDADeathTest, modulesAreUnloadedOnce) {
  EXPECT_DEATH(
      {
        Module module = load();
        fake.moduleUnload(module);
        fake.moduleUnload(module);
      },
      "cuModuleUnload: the module does not exist, or was unloaded");
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST_F(FakeCUDADeathTest, hostMemoryIsNoDeviceMemory) {
  char host[64];
  EXPECT_DEATH(copy(memory, reinterpret_cast<DevicePointer>(host), first),
               "copy 64 bytes: 0x[0-9a-f]+ is no device memory");
}

TEST_F(FakeCUDADeathTest, freedMemoryIsNotUsed) {
  EXPECT_DEATH(
      {
        fake.memFree(memory);
        fake.memsetD8Async(memory + 8, 0, 4, first);
      },
      "fill 4 bytes: 0x[0-9a-f]+ is memory that cuMemFree has freed");
}

TEST_F(FakeCUDADeathTest, memoryIsFreedOnce) {
  EXPECT_DEATH(
      {
        fake.memFree(memory);
        fake.memFree(memory);
      },
      "cuMemFree: 0x[0-9a-f]+ is memory that cuMemFree has freed");
}

TEST_F(FakeCUDADeathTest, memoryIsFreedFromItsBegin) {
  EXPECT_DEATH(fake.memFree(memory + 8),
               "cuMemFree: 0x[0-9a-f]+ is not the begin of an allocation");
}

TEST_F(FakeCUDADeathTest, operationsStayInTheirAllocation) {
  EXPECT_DEATH(
      fake.memsetD8Async(memory + 1000, 0, 25, first),
      "fill 25 bytes: 25 bytes from 0x[0-9a-f]+ on leave an allocation "
      "that has 24 there");
}

TEST_F(FakeCUDADeathTest, memoryIsThatOfTheStreamsDevice) {
  EXPECT_DEATH(
      {
        DevicePointer other = 0;
        fake.ctxSetCurrent(contexts[1]);
        fake.memAlloc(&other, 64);
        fake.ctxSetCurrent(contexts[0]);
        copy(memory, other, first);
      },
      "copy 64 bytes: 0x[0-9a-f]+ is memory of device 1, but the stream "
      "belongs "
      "to device 0");
}

TEST_F(FakeCUDADeathTest, kernelsGetNoFreedMemory) {
  EXPECT_DEATH(
      {
        Function function = nullptr;
        fake.moduleGetFunction(&function, load(), "fill");
        fake.memFree(memory);
        void *arguments[] = {&memory};
        fake.launchKernel(function, 1, 1, 1, 1, 1, 1, 0, first, arguments,
                          nullptr);
      },
      "kernel fill, argument 0: 0x[0-9a-f]+ is memory that cuMemFree has "
      "freed");
}

TEST_F(FakeCUDADeathTest, pinnedMemoryIsFreedOnce) {
  void *pinned = nullptr;
  fake.memHostAlloc(&pinned, 64, 0);
  fake.memFreeHost(pinned);
  EXPECT_DEATH(fake.memFreeHost(pinned),
               "cuMemFreeHost: the memory has not been pinned, or was freed");
}

TEST_F(FakeCUDADeathTest, nothingIsAllocatedWhenThatIsForbidden) {
  fake_cuda_forbid_allocations(1);
  const char *why = "nothing may be allocated any more";
  EXPECT_DEATH(fake.memAlloc(&memory, 16), why);
  EXPECT_DEATH(fake.eventCreate(&event, 0), why);
  EXPECT_DEATH(fake.streamCreateWithPriority(&first, STREAM_NON_BLOCKING, 0),
               why);
  EXPECT_DEATH(load(), why);
  void *pinned = nullptr;
  EXPECT_DEATH(fake.memHostAlloc(&pinned, 16, 0), why);
}

TEST_F(FakeCUDATest, memoryIsLimited) {
  fake_cuda_set_memory(4096);
  DevicePointer more = 0;
  EXPECT_EQ(fake.memAlloc(&more, 3073), ERROR_OUT_OF_MEMORY);
  size_t available = 0, total = 0;
  fake.memGetInfo(&available, &total);
  EXPECT_EQ(available, 3072U);
  EXPECT_EQ(total, 4096U);
  EXPECT_EQ(fake.memAlloc(&more, 3072), SUCCESS);
  fake.memFree(more);
}
