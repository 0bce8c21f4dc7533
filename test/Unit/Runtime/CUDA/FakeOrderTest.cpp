//===- FakeOrderTest.cpp - Order and capture on the fake driver -----------===//
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

#include <atomic>
#include <cstring>
#include <thread>

using namespace braid::rt;
using namespace braid::rt::cuda;
using testing::HasSubstr;

namespace {
using FakeOrderTest = FakeCUDATest;
using FakeOrderDeathTest = FakeCUDATest;
} // namespace

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

TEST_F(FakeOrderDeathTest, writesFollowWrites) {
  EXPECT_DEATH(
      {
        copy(memory, memory + 64, first);
        copy(memory + 32, memory + 256, second);
      },
      "copy 64 bytes: on stream 2 writes memory that copy 64 bytes on stream 1 "
      "writes, and no event orders them");
}

TEST_F(FakeOrderDeathTest, readsFollowWrites) {
  EXPECT_DEATH(
      {
        copy(memory, memory + 64, first);
        copy(memory + 128, memory + 32, second);
      },
      "on stream 2 reads memory that copy 64 bytes on stream 1 writes");
}

TEST_F(FakeOrderDeathTest, writesFollowReads) {
  EXPECT_DEATH(
      {
        copy(memory, memory + 64, first);
        fake.memsetD8Async(memory + 127, 0, 1, second);
      },
      "fill 1 bytes: on stream 2 writes memory that copy 64 bytes on stream 1 "
      "reads");
}

TEST_F(FakeOrderTest, readsNeedNoOrder) {
  copy(memory, memory + 64, first);
  EXPECT_EQ(copy(memory + 128, memory + 64, second), SUCCESS);
}

TEST_F(FakeOrderTest, eventsOrder) {
  copy(memory, memory + 64, first);
  order();
  EXPECT_EQ(copy(memory + 64, memory, second), SUCCESS);
}

TEST_F(FakeOrderDeathTest, eventsOrderWhatTheyWereRecordedAfter) {
  EXPECT_DEATH(
      {
        order();
        copy(memory, memory + 64, first);
        copy(memory + 64, memory, second);
      },
      "no event orders them");
}

TEST_F(FakeOrderTest, theHostOrders) {
  copy(memory, memory + 64, first);
  fake.streamSynchronize(first);
  copy(memory + 64, memory, second);
  fake.eventRecord(event, second);
  fake.eventSynchronize(event);
  copy(memory, memory + 64, first);
  fake.eventRecord(event, first);
  while (fake.eventQuery(event) != SUCCESS)
    std::this_thread::yield();
  copy(memory + 64, memory, second);
  while (fake.streamQuery(second) != SUCCESS)
    std::this_thread::yield();
  copy(memory, memory + 64, first);
  fake.ctxSynchronize();
  EXPECT_EQ(copy(memory + 64, memory, second), SUCCESS);
}

TEST_F(FakeOrderTest, streamsWaitForEvents) {
  fake_cuda_block(0);
  int word = 5;
  fake.memcpyHtoDAsync(memory, &word, 4, first);
  order();
  fake.memcpyDtoDAsync(memory + 64, memory, 4, second);
  int read = 0;
  fake.memcpyDtoHAsync(&read, memory + 64, 4, second);
  EXPECT_EQ(fake.streamQuery(second), ERROR_NOT_READY);
  EXPECT_EQ(fake.eventQuery(event), ERROR_NOT_READY);
  fake_cuda_unblock(0);
  fake.streamSynchronize(second);
  EXPECT_EQ(read, 5);
}

TEST_F(FakeOrderDeathTest, nobodyWaitsForAnEventThatWasNotRecorded) {
  EXPECT_DEATH(fake.streamWaitEvent(first, event, 0),
               "cuStreamWaitEvent: the event has never been recorded");
}

TEST_F(FakeOrderTest, eventsThatWereNotRecordedHaveHappened) {
  EXPECT_EQ(fake.eventQuery(event), SUCCESS);
  EXPECT_EQ(fake.eventSynchronize(event), SUCCESS);
}

TEST_F(FakeOrderTest, pinnedMemoryIsReadWhenTheCopyRuns) {
  void *pinned = nullptr;
  fake.memHostAlloc(&pinned, 4, 0);
  int pageable = 1, read[2] = {};
  std::memcpy(pinned, &pageable, 4);
  fake_cuda_block(0);
  fake.memcpyHtoDAsync(memory, pinned, 4, first);
  fake.memcpyHtoDAsync(memory + 4, &pageable, 4, first);
  pageable = 2;
  std::memcpy(pinned, &pageable, 4);
  fake_cuda_unblock(0);
  fake.memcpyDtoHAsync(read, memory, 8, first);
  fake.streamSynchronize(first);
  EXPECT_EQ(read[0], 2);
  EXPECT_EQ(read[1], 1);
  fake.memFreeHost(pinned);
}

//===----------------------------------------------------------------------===//
// Capture
//===----------------------------------------------------------------------===//

TEST_F(FakeOrderDeathTest, recordingsAreOrderedToo) {
  EXPECT_DEATH(
      {
        fake.streamBeginCapture(first, CAPTURE_THREAD_LOCAL);
        order();
        copy(memory, memory + 64, first);
        copy(memory + 64, memory, second);
      },
      "no event orders them");
}

TEST_F(FakeOrderDeathTest, graphsFollowWhatTheyTouch) {
  EXPECT_DEATH(
      {
        Graph graph = nullptr;
        GraphExec exec = nullptr;
        fake.streamBeginCapture(first, CAPTURE_THREAD_LOCAL);
        copy(memory, memory + 64, first);
        fake.streamEndCapture(first, &graph);
        fake.graphInstantiate(&exec, graph, 0);
        copy(memory, memory + 128, second);
        fake.graphLaunch(exec, first);
      },
      "graph of 1 operations: on stream 1 writes memory that copy 64 bytes on "
      "stream 2 writes");
}

TEST_F(FakeOrderTest, recordingsRunWhenTheyAreLaunched) {
  int word = 1;
  fake.memcpyHtoDAsync(memory, &word, 4, first);
  Graph graph = nullptr;
  GraphExec exec = nullptr;
  fake.streamBeginCapture(first, CAPTURE_THREAD_LOCAL);
  order();
  fake.memsetD32Async(memory, 7, 1, second);
  fake.eventRecord(event, second);
  fake.streamWaitEvent(first, event, 0);
  CaptureStatus status = CAPTURE_NONE;
  fake.streamIsCapturing(second, &status);
  EXPECT_EQ(status, CAPTURE_ACTIVE);
  EXPECT_EQ(fake.streamEndCapture(first, &graph), SUCCESS);
  fake.streamIsCapturing(second, &status);
  EXPECT_EQ(status, CAPTURE_NONE);
  size_t nodes = 0;
  fake.graphGetNodes(graph, nullptr, &nodes);
  EXPECT_EQ(nodes, 1U);
  fake.graphInstantiate(&exec, graph, 0);
  fake.graphDestroy(graph);
  int before = 0, after = 0;
  fake.memcpyDtoHAsync(&before, memory, 4, first);
  fake.graphLaunch(exec, first);
  fake.memcpyDtoHAsync(&after, memory, 4, first);
  fake.streamSynchronize(first);
  EXPECT_EQ(before, 1);
  EXPECT_EQ(after, 7);
  fake.graphExecDestroy(exec);
}

TEST_F(FakeOrderTest, recordingsOrderNothingOutside) {
  Graph graph = nullptr;
  fake.streamBeginCapture(first, CAPTURE_THREAD_LOCAL);
  order();
  fake.eventRecord(event, second);
  fake.streamWaitEvent(first, event, 0);
  EXPECT_EQ(fake.streamEndCapture(first, &graph), SUCCESS);
  fake.graphDestroy(graph);
  EXPECT_EQ(fake.eventQuery(event), ERROR_CAPTURED_EVENT);
  EXPECT_EQ(fake.streamWaitEvent(second, event, 0), ERROR_CAPTURED_EVENT);
}

TEST_F(FakeOrderTest, recordingsEndWhereTheyBegan) {
  Graph graph = nullptr;
  EXPECT_EQ(fake.streamEndCapture(first, &graph),
            ERROR_STREAM_CAPTURE_UNMATCHED);
  fake.streamBeginCapture(first, CAPTURE_THREAD_LOCAL);
  order();
  EXPECT_EQ(fake.streamEndCapture(second, &graph),
            ERROR_STREAM_CAPTURE_UNMATCHED);
  std::thread([&] {
    fake.ctxSetCurrent(contexts[0]);
    EXPECT_EQ(fake.streamEndCapture(first, &graph),
              ERROR_STREAM_CAPTURE_WRONG_THREAD);
  }).join();
  EXPECT_EQ(fake.streamEndCapture(first, &graph), SUCCESS);
  fake.graphDestroy(graph);
}

TEST_F(FakeOrderTest, recordingsDoNotWaitForWhatIsOutside) {
  fake.eventRecord(event, second);
  fake.streamBeginCapture(first, CAPTURE_THREAD_LOCAL);
  EXPECT_EQ(fake.streamWaitEvent(first, event, 0),
            ERROR_STREAM_CAPTURE_ISOLATION);
  EXPECT_EQ(copy(memory, memory + 64, first), ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(fake.eventRecord(event, first), ERROR_STREAM_CAPTURE_INVALIDATED);
  Graph graph = nullptr;
  EXPECT_EQ(fake.streamEndCapture(first, &graph),
            ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(graph, nullptr);
}

TEST_F(FakeOrderTest, someCallsBreakRecordingsOfTheirThread) {
  DevicePointer other = 0;
  Module module = nullptr;
  void *pinned = nullptr;
  auto broken = [&](auto call) {
    fake.streamBeginCapture(first, CAPTURE_THREAD_LOCAL);
    Result result = call();
    CaptureStatus status = CAPTURE_NONE;
    fake.streamIsCapturing(first, &status);
    EXPECT_EQ(status, CAPTURE_INVALIDATED);
    Graph graph = nullptr;
    fake.streamEndCapture(first, &graph);
    return result;
  };
  EXPECT_EQ(broken([&] { return fake.memAlloc(&other, 16); }),
            ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(broken([&] { return fake.memFree(memory); }),
            ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(broken([&] { return fake.memHostAlloc(&pinned, 16, 0); }),
            ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(broken([&] { return fake.ctxSynchronize(); }),
            ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(broken([&] { return fake.streamSynchronize(first); }),
            ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(broken([&] { return fake.streamQuery(first); }),
            ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(broken([&] {
              return fake.moduleLoadDataEx(&module, testPtx, 0, nullptr,
                                           nullptr);
            }),
            ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

TEST_F(FakeOrderTest, callsOfOtherThreadsDoNotBreakRecordings) {
  fake.streamBeginCapture(first, CAPTURE_THREAD_LOCAL);
  std::thread([&] {
    fake.ctxSetCurrent(contexts[0]);
    DevicePointer other = 0;
    EXPECT_EQ(fake.memAlloc(&other, 16), SUCCESS);
    EXPECT_EQ(fake.memFree(other), SUCCESS);
  }).join();
  Graph graph = nullptr;
  EXPECT_EQ(fake.streamEndCapture(first, &graph), SUCCESS);
  fake.graphDestroy(graph);
}

TEST_F(FakeOrderDeathTest, streamsRecordOneGraphAtATime) {
  EXPECT_DEATH(
      {
        fake.streamBeginCapture(first, CAPTURE_THREAD_LOCAL);
        fake.streamBeginCapture(first, CAPTURE_THREAD_LOCAL);
      },
      "cuStreamBeginCapture: the stream is recording already");
}

TEST_F(FakeOrderDeathTest, destroyedGraphsAreNotUsed) {
  Graph graph = nullptr;
  GraphExec exec = nullptr;
  fake.streamBeginCapture(first, CAPTURE_THREAD_LOCAL);
  fake.streamEndCapture(first, &graph);
  fake.graphInstantiate(&exec, graph, 0);
  fake.graphDestroy(graph);
  fake.graphExecDestroy(exec);
  EXPECT_DEATH(fake.graphDestroy(graph),
               "cuGraphDestroy: the graph does not exist, or was destroyed");
  EXPECT_DEATH(fake.graphLaunch(exec, first),
               "cuGraphLaunch: the executable graph does not exist, or was "
               "destroyed");
}

//===----------------------------------------------------------------------===//
// For other fakes
//===----------------------------------------------------------------------===//

TEST_F(FakeOrderTest, otherFakesPutOperationsIntoStreams) {
  static std::atomic<int> runs{0}, releases{0};
  runs = releases = 0;
  const fake_cuda_access access = {reinterpret_cast<void *>(memory), 64, 1};
  auto enqueue = [&] {
    return fake_cuda_enqueue(
        first, "ncclThing", &access, 1, 100, [](void *) { ++runs; },
        [](void *) { ++releases; }, &runs);
  };
  EXPECT_EQ(enqueue(), SUCCESS);
  fake.streamSynchronize(first);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(releases, 1);
  Graph graph = nullptr;
  GraphExec exec = nullptr;
  fake.streamBeginCapture(first, CAPTURE_THREAD_LOCAL);
  EXPECT_EQ(enqueue(), SUCCESS);
  fake.streamEndCapture(first, &graph);
  fake.graphInstantiate(&exec, graph, 0);
  fake.graphDestroy(graph);
  EXPECT_EQ(runs, 1);
  for (int i = 0; i < 2; ++i)
    fake.graphLaunch(exec, first);
  fake.streamSynchronize(first);
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(releases, 1);
  fake.graphExecDestroy(exec);
  EXPECT_EQ(releases, 2);
  EXPECT_THAT(fake_cuda_log(), HasSubstr("stream 1: ncclThing\n"));
}

TEST_F(FakeOrderDeathTest, operationsOfOtherFakesAreOrdered) {
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

TEST_F(FakeOrderDeathTest, otherFakesCheckMemory) {
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
