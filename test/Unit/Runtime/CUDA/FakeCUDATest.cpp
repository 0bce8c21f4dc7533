//===- FakeCUDATest.cpp - The rules of the fake driver --------------------===//
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

#include "Setup.h"

#include <atomic>
#include <cstring>
#include <thread>

using namespace braid::rt;
using namespace braid::rt::cuda;
using testing::HasSubstr;

namespace {
/// Two streams of device 0 and memory, without any of the runtime's own code.
class FakeCUDATest : public CudaTest {
protected:
  FakeCUDATest() {
    // Threads run when a process dies in a death test.
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    cuda.devicePrimaryCtxRetain(&contexts[0], 0);
    cuda.devicePrimaryCtxRetain(&contexts[1], 1);
    cuda.ctxSetCurrent(contexts[0]);
    for (Stream *stream : {&first, &second})
      cuda.streamCreateWithPriority(stream, STREAM_NON_BLOCKING, 0);
    cuda.eventCreate(&event, EVENT_NO_TIMING);
    cuda.memAlloc(&memory, 1024);
  }
  ~FakeCUDATest() override {
    cuda.ctxSetCurrent(contexts[0]);
    if (memory)
      cuda.memFree(memory);
    cuda.eventDestroy(event);
    for (Stream stream : {first, second})
      cuda.streamDestroy(stream);
    cuda.devicePrimaryCtxRelease(0);
    cuda.devicePrimaryCtxRelease(1);
    cuda.ctxSetCurrent(nullptr);
  }

  /// Has the second stream wait for the first one.
  void order() {
    cuda.eventRecord(event, first);
    cuda.streamWaitEvent(second, event, 0);
  }
  Result copy(DevicePointer to, DevicePointer from, Stream stream) {
    return cuda.memcpyDtoDAsync(to, from, 64, stream);
  }
  Module load(const char *image = testPtx) {
    Module module = nullptr;
    EXPECT_EQ(cuda.moduleLoadDataEx(&module, image, 0, nullptr, nullptr),
              SUCCESS);
    return module;
  }

  Driver &cuda = driver();
  ContextHandle contexts[2] = {};
  Stream first = nullptr, second = nullptr;
  Event event = nullptr;
  DevicePointer memory = 0;
};
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
        cuda.ctxSetCurrent(nullptr);
        cuda.memAlloc(&memory, 16);
      },
      "fake CUDA: cuMemAlloc: the calling thread has no current context");
}

TEST_F(FakeCUDADeathTest, contextsAreThoseOfTheirThread) {
  EXPECT_DEATH(std::thread([&] { cuda.memAlloc(&memory, 16); }).join(),
               "cuMemAlloc: the calling thread has no current context");
}

TEST_F(FakeCUDADeathTest, contextsAreNotUsedAfterTheirRelease) {
  EXPECT_DEATH(
      {
        cuda.devicePrimaryCtxRelease(1);
        cuda.ctxSetCurrent(contexts[1]);
        cuda.memAlloc(&memory, 16);
      },
      "cuMemAlloc: the current context, of device 1, has been released");
}

TEST_F(FakeCUDADeathTest, contextsOutliveTheirStreams) {
  EXPECT_DEATH(cuda.devicePrimaryCtxRelease(0),
               "cuDevicePrimaryCtxRelease: a stream of the context has not "
               "been destroyed");
}

TEST_F(FakeCUDADeathTest, contextsAreReleasedOnce) {
  EXPECT_DEATH(cuda.devicePrimaryCtxRelease(2),
               "cuDevicePrimaryCtxRelease: the context has not been retained");
}

TEST_F(FakeCUDADeathTest, streamsWantTheirContext) {
  EXPECT_DEATH(
      {
        cuda.ctxSetCurrent(contexts[1]);
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
  EXPECT_DEATH(cuda.streamCreateWithPriority(&stream, 0, 0),
               "the stream would wait for the legacy stream");
}

TEST_F(FakeCUDADeathTest, destroyedStreamsAreNotUsed) {
  EXPECT_DEATH(
      {
        cuda.streamDestroy(first);
        cuda.streamQuery(first);
      },
      "cuStreamQuery: the stream does not exist, or was destroyed");
}

TEST_F(FakeCUDADeathTest, destroyedEventsAreNotUsed) {
  EXPECT_DEATH(
      {
        cuda.eventDestroy(event);
        cuda.eventRecord(event, first);
      },
      "cuEventRecord: the event does not exist, or was destroyed");
}

TEST_F(FakeCUDADeathTest, eventsAreThoseOfTheirContext) {
  EXPECT_DEATH(
      {
        Event other = nullptr;
        cuda.ctxSetCurrent(contexts[1]);
        cuda.eventCreate(&other, 0);
        cuda.ctxSetCurrent(contexts[0]);
        cuda.eventRecord(other, first);
      },
      "cuEventRecord: event and stream belong to different contexts");
}

TEST_F(FakeCUDADeathTest, unloadedKernelsAreNotLaunched) {
  EXPECT_DEATH(
      {
        Module module = load();
        Function function = nullptr;
        cuda.moduleGetFunction(&function, module, "fill");
        cuda.moduleUnload(module);
        cuda.launchKernel(function, 1, 1, 1, 1, 1, 1, 0, first, nullptr,
                          nullptr);
      },
      "cuLaunchKernel: the kernel does not exist, or its module was unloaded");
}

TEST_F(FakeCUDADeathTest, kernelsRunInTheirContext) {
  EXPECT_DEATH(
      {
        cuda.ctxSetCurrent(contexts[1]);
        Function function = nullptr;
        cuda.moduleGetFunction(&function, load(), "fill");
        cuda.ctxSetCurrent(contexts[0]);
        cuda.launchKernel(function, 1, 1, 1, 1, 1, 1, 0, first, nullptr,
                          nullptr);
      },
      "cuLaunchKernel: kernel fill of device 1 on a stream of device 0");
}

TEST_F(FakeCUDADeathTest, modulesAreUnloadedOnce) {
  EXPECT_DEATH(
      {
        Module module = load();
        cuda.moduleUnload(module);
        cuda.moduleUnload(module);
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
        cuda.memFree(memory);
        cuda.memsetD8Async(memory + 8, 0, 4, first);
      },
      "fill 4 bytes: 0x[0-9a-f]+ is memory that cuMemFree has freed");
}

TEST_F(FakeCUDADeathTest, memoryIsFreedOnce) {
  EXPECT_DEATH(
      {
        cuda.memFree(memory);
        cuda.memFree(memory);
      },
      "cuMemFree: 0x[0-9a-f]+ is memory that cuMemFree has freed");
}

TEST_F(FakeCUDADeathTest, memoryIsFreedFromItsBegin) {
  EXPECT_DEATH(cuda.memFree(memory + 8),
               "cuMemFree: 0x[0-9a-f]+ is not the begin of an allocation");
}

TEST_F(FakeCUDADeathTest, operationsStayInTheirAllocation) {
  EXPECT_DEATH(
      cuda.memsetD8Async(memory + 1000, 0, 25, first),
      "fill 25 bytes: 25 bytes from 0x[0-9a-f]+ on leave an allocation "
      "that has 24 there");
}

TEST_F(FakeCUDADeathTest, memoryIsThatOfTheStreamsDevice) {
  EXPECT_DEATH(
      {
        DevicePointer other = 0;
        cuda.ctxSetCurrent(contexts[1]);
        cuda.memAlloc(&other, 64);
        cuda.ctxSetCurrent(contexts[0]);
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
        cuda.moduleGetFunction(&function, load(), "fill");
        cuda.memFree(memory);
        void *arguments[] = {&memory};
        cuda.launchKernel(function, 1, 1, 1, 1, 1, 1, 0, first, arguments,
                          nullptr);
      },
      "kernel fill, argument 0: 0x[0-9a-f]+ is memory that cuMemFree has "
      "freed");
}

TEST_F(FakeCUDADeathTest, pinnedMemoryIsFreedOnce) {
  void *pinned = nullptr;
  cuda.memHostAlloc(&pinned, 64, 0);
  cuda.memFreeHost(pinned);
  EXPECT_DEATH(cuda.memFreeHost(pinned),
               "cuMemFreeHost: the memory has not been pinned, or was freed");
}

TEST_F(FakeCUDADeathTest, nothingIsAllocatedWhenThatIsForbidden) {
  fake_cuda_forbid_allocations(1);
  const char *why = "nothing may be allocated any more";
  EXPECT_DEATH(cuda.memAlloc(&memory, 16), why);
  EXPECT_DEATH(cuda.eventCreate(&event, 0), why);
  EXPECT_DEATH(cuda.streamCreateWithPriority(&first, STREAM_NON_BLOCKING, 0),
               why);
  EXPECT_DEATH(load(), why);
  void *pinned = nullptr;
  EXPECT_DEATH(cuda.memHostAlloc(&pinned, 16, 0), why);
}

TEST_F(FakeCUDATest, memoryIsLimited) {
  fake_cuda_set_memory(4096);
  DevicePointer more = 0;
  EXPECT_EQ(cuda.memAlloc(&more, 3073), ERROR_OUT_OF_MEMORY);
  size_t available = 0, total = 0;
  cuda.memGetInfo(&available, &total);
  EXPECT_EQ(available, 3072U);
  EXPECT_EQ(total, 4096U);
  EXPECT_EQ(cuda.memAlloc(&more, 3072), SUCCESS);
  cuda.memFree(more);
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

TEST_F(FakeCUDADeathTest, writesFollowWrites) {
  EXPECT_DEATH(
      {
        copy(memory, memory + 64, first);
        copy(memory + 32, memory + 256, second);
      },
      "copy 64 bytes: on stream 2 writes memory that copy 64 bytes on stream 1 "
      "writes, and no event orders them");
}

TEST_F(FakeCUDADeathTest, readsFollowWrites) {
  EXPECT_DEATH(
      {
        copy(memory, memory + 64, first);
        copy(memory + 128, memory + 32, second);
      },
      "on stream 2 reads memory that copy 64 bytes on stream 1 writes");
}

TEST_F(FakeCUDADeathTest, writesFollowReads) {
  EXPECT_DEATH(
      {
        copy(memory, memory + 64, first);
        cuda.memsetD8Async(memory + 127, 0, 1, second);
      },
      "fill 1 bytes: on stream 2 writes memory that copy 64 bytes on stream 1 "
      "reads");
}

TEST_F(FakeCUDATest, readsNeedNoOrder) {
  copy(memory, memory + 64, first);
  EXPECT_EQ(copy(memory + 128, memory + 64, second), SUCCESS);
}

TEST_F(FakeCUDATest, eventsOrder) {
  copy(memory, memory + 64, first);
  order();
  EXPECT_EQ(copy(memory + 64, memory, second), SUCCESS);
}

TEST_F(FakeCUDADeathTest, eventsOrderWhatTheyWereRecordedAfter) {
  EXPECT_DEATH(
      {
        order();
        copy(memory, memory + 64, first);
        copy(memory + 64, memory, second);
      },
      "no event orders them");
}

TEST_F(FakeCUDATest, theHostOrders) {
  copy(memory, memory + 64, first);
  cuda.streamSynchronize(first);
  copy(memory + 64, memory, second);
  cuda.eventRecord(event, second);
  cuda.eventSynchronize(event);
  copy(memory, memory + 64, first);
  cuda.eventRecord(event, first);
  while (cuda.eventQuery(event) != SUCCESS)
    std::this_thread::yield();
  copy(memory + 64, memory, second);
  while (cuda.streamQuery(second) != SUCCESS)
    std::this_thread::yield();
  copy(memory, memory + 64, first);
  cuda.ctxSynchronize();
  EXPECT_EQ(copy(memory + 64, memory, second), SUCCESS);
}

TEST_F(FakeCUDATest, streamsWaitForEvents) {
  fake_cuda_block(0);
  int word = 5;
  cuda.memcpyHtoDAsync(memory, &word, 4, first);
  order();
  cuda.memcpyDtoDAsync(memory + 64, memory, 4, second);
  int read = 0;
  cuda.memcpyDtoHAsync(&read, memory + 64, 4, second);
  EXPECT_EQ(cuda.streamQuery(second), ERROR_NOT_READY);
  EXPECT_EQ(cuda.eventQuery(event), ERROR_NOT_READY);
  fake_cuda_unblock(0);
  cuda.streamSynchronize(second);
  EXPECT_EQ(read, 5);
}

TEST_F(FakeCUDADeathTest, nobodyWaitsForAnEventThatWasNotRecorded) {
  EXPECT_DEATH(cuda.streamWaitEvent(first, event, 0),
               "cuStreamWaitEvent: the event has never been recorded");
}

TEST_F(FakeCUDATest, eventsThatWereNotRecordedHaveHappened) {
  EXPECT_EQ(cuda.eventQuery(event), SUCCESS);
  EXPECT_EQ(cuda.eventSynchronize(event), SUCCESS);
}

TEST_F(FakeCUDATest, pinnedMemoryIsReadWhenTheCopyRuns) {
  void *pinned = nullptr;
  cuda.memHostAlloc(&pinned, 4, 0);
  int pageable = 1, read[2] = {};
  std::memcpy(pinned, &pageable, 4);
  fake_cuda_block(0);
  cuda.memcpyHtoDAsync(memory, pinned, 4, first);
  cuda.memcpyHtoDAsync(memory + 4, &pageable, 4, first);
  pageable = 2;
  std::memcpy(pinned, &pageable, 4);
  fake_cuda_unblock(0);
  cuda.memcpyDtoHAsync(read, memory, 8, first);
  cuda.streamSynchronize(first);
  EXPECT_EQ(read[0], 2);
  EXPECT_EQ(read[1], 1);
  cuda.memFreeHost(pinned);
}

//===----------------------------------------------------------------------===//
// Capture
//===----------------------------------------------------------------------===//

TEST_F(FakeCUDADeathTest, recordingsAreOrderedToo) {
  EXPECT_DEATH(
      {
        cuda.streamBeginCapture(first, CAPTURE_THREAD_LOCAL);
        order();
        copy(memory, memory + 64, first);
        copy(memory + 64, memory, second);
      },
      "no event orders them");
}

TEST_F(FakeCUDADeathTest, graphsFollowWhatTheyTouch) {
  EXPECT_DEATH(
      {
        Graph graph = nullptr;
        GraphExec exec = nullptr;
        cuda.streamBeginCapture(first, CAPTURE_THREAD_LOCAL);
        copy(memory, memory + 64, first);
        cuda.streamEndCapture(first, &graph);
        cuda.graphInstantiate(&exec, graph, 0);
        copy(memory, memory + 128, second);
        cuda.graphLaunch(exec, first);
      },
      "graph of 1 operations: on stream 1 writes memory that copy 64 bytes on "
      "stream 2 writes");
}

TEST_F(FakeCUDATest, recordingsRunWhenTheyAreLaunched) {
  int word = 1;
  cuda.memcpyHtoDAsync(memory, &word, 4, first);
  Graph graph = nullptr;
  GraphExec exec = nullptr;
  cuda.streamBeginCapture(first, CAPTURE_THREAD_LOCAL);
  order();
  cuda.memsetD32Async(memory, 7, 1, second);
  cuda.eventRecord(event, second);
  cuda.streamWaitEvent(first, event, 0);
  CaptureStatus status = CAPTURE_NONE;
  cuda.streamIsCapturing(second, &status);
  EXPECT_EQ(status, CAPTURE_ACTIVE);
  EXPECT_EQ(cuda.streamEndCapture(first, &graph), SUCCESS);
  cuda.streamIsCapturing(second, &status);
  EXPECT_EQ(status, CAPTURE_NONE);
  size_t nodes = 0;
  cuda.graphGetNodes(graph, nullptr, &nodes);
  EXPECT_EQ(nodes, 1U);
  cuda.graphInstantiate(&exec, graph, 0);
  cuda.graphDestroy(graph);
  int before = 0, after = 0;
  cuda.memcpyDtoHAsync(&before, memory, 4, first);
  cuda.graphLaunch(exec, first);
  cuda.memcpyDtoHAsync(&after, memory, 4, first);
  cuda.streamSynchronize(first);
  EXPECT_EQ(before, 1);
  EXPECT_EQ(after, 7);
  cuda.graphExecDestroy(exec);
}

TEST_F(FakeCUDATest, recordingsOrderNothingOutside) {
  Graph graph = nullptr;
  cuda.streamBeginCapture(first, CAPTURE_THREAD_LOCAL);
  order();
  cuda.eventRecord(event, second);
  cuda.streamWaitEvent(first, event, 0);
  EXPECT_EQ(cuda.streamEndCapture(first, &graph), SUCCESS);
  cuda.graphDestroy(graph);
  EXPECT_EQ(cuda.eventQuery(event), ERROR_CAPTURED_EVENT);
  EXPECT_EQ(cuda.streamWaitEvent(second, event, 0), ERROR_CAPTURED_EVENT);
}

TEST_F(FakeCUDATest, recordingsEndWhereTheyBegan) {
  Graph graph = nullptr;
  EXPECT_EQ(cuda.streamEndCapture(first, &graph),
            ERROR_STREAM_CAPTURE_UNMATCHED);
  cuda.streamBeginCapture(first, CAPTURE_THREAD_LOCAL);
  order();
  EXPECT_EQ(cuda.streamEndCapture(second, &graph),
            ERROR_STREAM_CAPTURE_UNMATCHED);
  std::thread([&] {
    cuda.ctxSetCurrent(contexts[0]);
    EXPECT_EQ(cuda.streamEndCapture(first, &graph),
              ERROR_STREAM_CAPTURE_WRONG_THREAD);
  }).join();
  EXPECT_EQ(cuda.streamEndCapture(first, &graph), SUCCESS);
  cuda.graphDestroy(graph);
}

TEST_F(FakeCUDATest, recordingsDoNotWaitForWhatIsOutside) {
  cuda.eventRecord(event, second);
  cuda.streamBeginCapture(first, CAPTURE_THREAD_LOCAL);
  EXPECT_EQ(cuda.streamWaitEvent(first, event, 0),
            ERROR_STREAM_CAPTURE_ISOLATION);
  EXPECT_EQ(copy(memory, memory + 64, first), ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(cuda.eventRecord(event, first), ERROR_STREAM_CAPTURE_INVALIDATED);
  Graph graph = nullptr;
  EXPECT_EQ(cuda.streamEndCapture(first, &graph),
            ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(graph, nullptr);
}

TEST_F(FakeCUDATest, someCallsBreakRecordingsOfTheirThread) {
  DevicePointer other = 0;
  Module module = nullptr;
  void *pinned = nullptr;
  auto broken = [&](auto call) {
    cuda.streamBeginCapture(first, CAPTURE_THREAD_LOCAL);
    Result result = call();
    CaptureStatus status = CAPTURE_NONE;
    cuda.streamIsCapturing(first, &status);
    EXPECT_EQ(status, CAPTURE_INVALIDATED);
    Graph graph = nullptr;
    cuda.streamEndCapture(first, &graph);
    return result;
  };
  EXPECT_EQ(broken([&] { return cuda.memAlloc(&other, 16); }),
            ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(broken([&] { return cuda.memFree(memory); }),
            ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(broken([&] { return cuda.memHostAlloc(&pinned, 16, 0); }),
            ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(broken([&] { return cuda.ctxSynchronize(); }),
            ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(broken([&] { return cuda.streamSynchronize(first); }),
            ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(broken([&] { return cuda.streamQuery(first); }),
            ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(broken([&] {
              return cuda.moduleLoadDataEx(&module, testPtx, 0, nullptr,
                                           nullptr);
            }),
            ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

TEST_F(FakeCUDATest, callsOfOtherThreadsDoNotBreakRecordings) {
  cuda.streamBeginCapture(first, CAPTURE_THREAD_LOCAL);
  std::thread([&] {
    cuda.ctxSetCurrent(contexts[0]);
    DevicePointer other = 0;
    EXPECT_EQ(cuda.memAlloc(&other, 16), SUCCESS);
    EXPECT_EQ(cuda.memFree(other), SUCCESS);
  }).join();
  Graph graph = nullptr;
  EXPECT_EQ(cuda.streamEndCapture(first, &graph), SUCCESS);
  cuda.graphDestroy(graph);
}

TEST_F(FakeCUDADeathTest, streamsRecordOneGraphAtATime) {
  EXPECT_DEATH(
      {
        cuda.streamBeginCapture(first, CAPTURE_THREAD_LOCAL);
        cuda.streamBeginCapture(first, CAPTURE_THREAD_LOCAL);
      },
      "cuStreamBeginCapture: the stream is recording already");
}

TEST_F(FakeCUDADeathTest, destroyedGraphsAreNotUsed) {
  Graph graph = nullptr;
  GraphExec exec = nullptr;
  cuda.streamBeginCapture(first, CAPTURE_THREAD_LOCAL);
  cuda.streamEndCapture(first, &graph);
  cuda.graphInstantiate(&exec, graph, 0);
  cuda.graphDestroy(graph);
  cuda.graphExecDestroy(exec);
  EXPECT_DEATH(cuda.graphDestroy(graph),
               "cuGraphDestroy: the graph does not exist, or was destroyed");
  EXPECT_DEATH(cuda.graphLaunch(exec, first),
               "cuGraphLaunch: the executable graph does not exist, or was "
               "destroyed");
}

//===----------------------------------------------------------------------===//
// For other fakes
//===----------------------------------------------------------------------===//

TEST_F(FakeCUDATest, otherFakesPutOperationsIntoStreams) {
  static std::atomic<int> runs{0}, releases{0};
  runs = releases = 0;
  const fake_cuda_access access = {reinterpret_cast<void *>(memory), 64, 1};
  auto enqueue = [&] {
    return fake_cuda_enqueue(
        first, "ncclThing", &access, 1, 100, [](void *) { ++runs; },
        [](void *) { ++releases; }, &runs);
  };
  EXPECT_EQ(enqueue(), SUCCESS);
  cuda.streamSynchronize(first);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(releases, 1);
  Graph graph = nullptr;
  GraphExec exec = nullptr;
  cuda.streamBeginCapture(first, CAPTURE_THREAD_LOCAL);
  EXPECT_EQ(enqueue(), SUCCESS);
  cuda.streamEndCapture(first, &graph);
  cuda.graphInstantiate(&exec, graph, 0);
  cuda.graphDestroy(graph);
  EXPECT_EQ(runs, 1);
  for (int i = 0; i < 2; ++i)
    cuda.graphLaunch(exec, first);
  cuda.streamSynchronize(first);
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(releases, 1);
  cuda.graphExecDestroy(exec);
  EXPECT_EQ(releases, 2);
  EXPECT_THAT(fake_cuda_log(), HasSubstr("stream 1: ncclThing\n"));
}

TEST_F(FakeCUDADeathTest, operationsOfOtherFakesAreOrdered) {
  const fake_cuda_access access = {reinterpret_cast<void *>(memory), 64, 1};
  EXPECT_DEATH(
      {
        copy(memory, memory + 64, first);
        fake_cuda_enqueue(
            second, "ncclThing", &access, 1, 0, [](void *) {}, [](void *) {},
            nullptr);
      },
      "ncclThing: on stream 2 writes memory that copy 64 bytes on stream 1 "
      "writes");
}

TEST_F(FakeCUDADeathTest, otherFakesCheckMemory) {
  void *begin = nullptr;
  size_t bytes = 0;
  auto *inside = reinterpret_cast<char *>(memory) + 8;
  EXPECT_EQ(fake_cuda_find_allocation(inside, &begin, &bytes), 1);
  EXPECT_EQ(begin, reinterpret_cast<void *>(memory));
  EXPECT_EQ(bytes, 1024U);
  EXPECT_EQ(fake_cuda_memory_device(inside), 0);
  EXPECT_EQ(fake_cuda_memory_device(&bytes), -1);
  EXPECT_EQ(fake_cuda_find_allocation(&bytes, &begin, &bytes), 0);
  EXPECT_EQ(fake_cuda_stream_device("test", first), 0);
  fake_cuda_check_memory("test", 0, inside, 1016);
  EXPECT_DEATH(fake_cuda_check_memory("ncclSend", 1, inside, 1),
               "ncclSend: 0x[0-9a-f]+ is memory of device 0");
  EXPECT_DEATH(fake_cuda_stream_device("ncclSend", &bytes),
               "ncclSend: the stream does not exist");
}
