//===- GraphsTest.cpp - Invocations recorded as graphs --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Device/Graphs.h"
#include "Setup.h"
#include "braid-rt/Memory.h"

using namespace braid::rt;
using testing::HasSubstr;

namespace {
/// The descriptor of a memref of rank 1.
struct Memref {
  void *allocated, *aligned;
  int64_t offset, size, stride;

  explicit Memref(void *data) : Memref(data, 4) {}
  Memref(void *data, int64_t size)
      : allocated(data), aligned(data), offset(0), size(size), stride(1) {}
};

class GraphsTest : public CudaTest {
protected:
  GraphsTest() { options.graphs = cuda::GraphUse::On; }
  ~GraphsTest() override {
    for (cuda::Event event : events)
      driver().eventDestroy(event);
    for (cuda::Stream stream : streams)
      driver().streamDestroy(stream);
  }

  /// Runs an invocation that adds its scalar's value to the log by a fill.
  bool run(Memref memref, int64_t scalar = 1) {
    void *args[] = {&memref, &scalar};
    return run(args, [&] {
      auto word = static_cast<int32_t>(scalar);
      device().write(memref.aligned, &word, 4);
    });
  }
  template <typename Body> bool run(void **args, Body body) {
    bool replayed = device().beginInvocation(program.entry, args);
    if (!replayed)
      body();
    device().endInvocation();
    return replayed;
  }

  /// Prepares an entry with a memref and a scalar.
  void prepare() {
    program.addArgument("arg0", BRAID_RT_INOUT, BRAID_RT_MEMREF);
    program.addArgument("arg1", BRAID_RT_IN, BRAID_RT_SCALAR);
    device().prepare(program.get());
  }

  cuda::Stream makeStream() {
    device().gpu().makeCurrent();
    streams.emplace_back();
    driver().streamCreateWithPriority(&streams.back(),
                                      cuda::STREAM_NON_BLOCKING, -1);
    return streams.back();
  }
  cuda::Event makeEvent() {
    device().gpu().makeCurrent();
    events.emplace_back();
    driver().eventCreate(&events.back(), cuda::EVENT_NO_TIMING);
    return events.back();
  }

  TestProgram program;

private:
  std::vector<cuda::Stream> streams;
  std::vector<cuda::Event> events;
};
} // namespace

//===----------------------------------------------------------------------===//
// Recording and replay
//===----------------------------------------------------------------------===//

TEST_F(GraphsTest, replayTheThirdInvocation) {
  prepare();
  int *memory = upload<int>({0, 0, 0, 0});
  fake_cuda_clear_log();
  EXPECT_FALSE(run(Memref(memory)));
  EXPECT_THAT(fake_cuda_log(), testing::Not(HasSubstr("graph")));
  fake_cuda_clear_log();
  EXPECT_FALSE(run(Memref(memory)));
  EXPECT_STREQ(fake_cuda_log(), "stream 1: fill 4 bytes\n"
                                "stream 1: record an event\n"
                                "stream 1: graph of 1 operations\n"
                                "stream 1: record an event\n");
  fake_cuda_clear_log();
  EXPECT_TRUE(run(Memref(memory)));
  EXPECT_STREQ(fake_cuda_log(), "stream 1: record an event\n"
                                "stream 1: graph of 1 operations\n"
                                "stream 1: record an event\n");
}

TEST_F(GraphsTest, doTheWorkInEveryInvocation) {
  prepare();
  int *memory = upload<int>({0, 0, 0, 0});
  for (int i = 0; i < 4; ++i) {
    int zero = 0;
    device().copyToDevice(memory, &zero, 4);
    run(Memref(memory), 7);
    EXPECT_EQ(download<int>(memory, 1)[0], 7) << "invocation " << i;
  }
}

TEST_F(GraphsTest, measureReplays) {
  prepare();
  int *memory = upload<int>({0, 0, 0, 0});
  run(Memref(memory));
  int64_t direct = device().deviceNs();
  EXPECT_GT(direct, 0);
  run(Memref(memory));
  EXPECT_EQ(device().deviceNs(), direct);
  run(Memref(memory));
  EXPECT_EQ(device().deviceNs(), direct);
}

TEST_F(GraphsTest, areNotRecordedUnlessAskedFor) {
  options.graphs = cuda::GraphUse::Off;
  prepare();
  int *memory = upload<int>({0, 0, 0, 0});
  for (int i = 0; i < 4; ++i)
    EXPECT_FALSE(run(Memref(memory)));
  EXPECT_THAT(fake_cuda_log(), testing::Not(HasSubstr("graph")));
}

TEST_F(GraphsTest, areOneForEachSetOfArguments) {
  prepare();
  int *first = upload<int>({0, 0, 0, 0});
  int *second = upload<int>({0, 0, 0, 0});
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(run(Memref(first), 1));
    EXPECT_FALSE(run(Memref(first), 2));
    EXPECT_FALSE(run(Memref(second), 1));
    EXPECT_FALSE(run(Memref(second, 3), 1));
  }
  EXPECT_TRUE(run(Memref(first), 2));
  EXPECT_EQ(download<int>(first, 1)[0], 2);
  EXPECT_TRUE(run(Memref(first), 1));
  EXPECT_EQ(download<int>(first, 1)[0], 1);
  EXPECT_TRUE(run(Memref(second), 1));
  EXPECT_TRUE(run(Memref(second, 3), 1));
}

TEST_F(GraphsTest, areForgottenWhenThereAreMany) {
  prepare();
  int *memory = upload<int>({0, 0, 0, 0});
  auto capacity = static_cast<int64_t>(cuda::Graphs::capacity);
  for (int64_t i = 0; i < capacity; ++i)
    for (int k = 0; k < 2; ++k)
      run(Memref(memory), i);
  EXPECT_TRUE(run(Memref(memory), 0));
  // One more: that of 1 has not been used for longest.
  run(Memref(memory), capacity);
  EXPECT_TRUE(run(Memref(memory), 0));
  EXPECT_TRUE(run(Memref(memory), 2));
  EXPECT_FALSE(run(Memref(memory), 1));
}

TEST_F(GraphsTest, areForgottenByAnotherProgram) {
  prepare();
  int *memory = upload<int>({0, 0, 0, 0});
  for (int i = 0; i < 2; ++i)
    run(Memref(memory));
  device().prepare(program.get());
  EXPECT_FALSE(run(Memref(memory)));
}

TEST_F(GraphsTest, areForgottenWhenMemoryIsFreed) {
  prepare();
  int *memory = upload<int>({0, 0, 0, 0});
  void *other = device().allocate(16);
  for (int i = 0; i < 2; ++i)
    run(Memref(memory));
  EXPECT_TRUE(run(Memref(memory)));
  device().free(other);
  EXPECT_FALSE(run(Memref(memory)));
}

TEST_F(GraphsTest, areForgottenAfterAFailure) {
  prepare();
  int *memory = upload<int>({0, 0, 0, 0});
  for (int i = 0; i < 2; ++i)
    run(Memref(memory));
  device().failInvocation();
  EXPECT_FALSE(run(Memref(memory)));
}

TEST_F(GraphsTest, containMatmulsAndKernels) {
  prepare();
  auto *memory = upload(std::vector<float>(1024, 1.0F));
  Memref memref(memory);
  int64_t scalar = 0;
  void *args[] = {&memref, &scalar};
  Matmul matmul = {};
  matmul.dtype = matmul.options.resultDtype = BRAID_RT_F32;
  matmul.batch = 1;
  matmul.m = matmul.n = matmul.k = matmul.lda = matmul.ldb = matmul.ldc = 2;
  std::vector<std::string> logs;
  for (int i = 0; i < 3; ++i) {
    fake_cuda_clear_log();
    run(args, [&] {
      device().multiply(matmul, memory, memory + 256, memory + 512);
      void *argument = memory;
      void *arguments[] = {&argument};
      device().launch(program.fill, {{1, 1, 1}, {1, 1, 1}, 0}, arguments, 1);
      device().copy(memory + 768, memory + 512, 16);
    });
    logs.emplace_back(fake_cuda_log());
  }
  EXPECT_THAT(logs[2], HasSubstr("graph of 3 operations"));
  EXPECT_EQ(download<float>(memory + 768, 4), std::vector<float>(4, 2.0F));
}

TEST_F(GraphsTest, takeTheFirstProposalOfAMatmulThatIsNewInTheRecording) {
  class Hooks final : public cuda::DeviceHooks {
  public:
    int32_t chooseAlgorithm(const std::string &,
                            const std::function<int32_t()> &) override {
      ADD_FAILURE() << "a recording cannot wait for measurements";
      return 0;
    }
  };
  hooks = std::make_unique<Hooks>();
  prepare();
  auto *memory = upload(std::vector<float>(1024, 1.0F));
  Memref memref(memory);
  int64_t scalar = 0;
  void *args[] = {&memref, &scalar};
  Matmul matmul = {};
  matmul.dtype = matmul.options.resultDtype = BRAID_RT_F32;
  matmul.batch = 1;
  matmul.m = matmul.n = matmul.k = matmul.lda = matmul.ldb = matmul.ldc = 2;
  run(args, [] {});
  run(args,
      [&] { device().multiply(matmul, memory, memory + 256, memory + 512); });
  EXPECT_EQ(download<float>(memory + 512, 4), std::vector<float>(4, 2.0F));
}

//===----------------------------------------------------------------------===//
// Other streams
//===----------------------------------------------------------------------===//

TEST_F(GraphsTest, containWorkOfOtherStreams) {
  prepare();
  int *memory = upload<int>({1, 0, 0, 0});
  cuda::Stream side = makeStream();
  cuda::Event fork = makeEvent(), join = makeEvent();
  cuda::Stream compute = device().gpu().stream;
  auto address = reinterpret_cast<cuda::DevicePointer>(memory);
  Memref memref(memory);
  int64_t scalar = 0;
  void *args[] = {&memref, &scalar};
  for (int i = 0; i < 3; ++i) {
    bool replayed = run(args, [&] {
      driver().eventRecord(fork, compute);
      driver().streamWaitEvent(side, fork, 0);
      driver().memcpyDtoDAsync(address + 4, address, 4, side);
      driver().eventRecord(join, side);
      driver().streamWaitEvent(compute, join, 0);
      device().copy(memory + 2, memory + 1, 4);
    });
    EXPECT_EQ(replayed, i == 2);
  }
  EXPECT_EQ(download<int>(memory, 4), (std::vector<int>{1, 1, 1, 0}));
}

TEST_F(GraphsTest, sayThatWorkOfAnotherStreamIsNotAwaited) {
  prepare();
  int *memory = upload<int>({1, 0, 0, 0});
  cuda::Stream side = makeStream();
  cuda::Event fork = makeEvent();
  auto address = reinterpret_cast<cuda::DevicePointer>(memory);
  Memref memref(memory);
  int64_t scalar = 0;
  void *args[] = {&memref, &scalar};
  run(args, [] {});
  EXPECT_EQ(
      errorOf([&] {
        run(args, [&] {
          driver().eventRecord(fork, device().gpu().stream);
          driver().streamWaitEvent(side, fork, 0);
          driver().memcpyDtoDAsync(address + 4, address, 4, side);
        });
      }),
      "the program cannot run as a graph: it does not wait for all that "
      "it has started on other streams "
      "(CUDA_ERROR_STREAM_CAPTURE_UNJOINED (capturing stream has unjoined "
      "work))");
  device().failInvocation();
  EXPECT_FALSE(run(args, [] {}));
}

//===----------------------------------------------------------------------===//
// What cannot be recorded
//===----------------------------------------------------------------------===//

TEST_F(GraphsTest, refuseProgramsThatReadOnTheHost) {
  program.device.hostReadCount = 2;
  EXPECT_EQ(errorOf([&] { prepare(); }),
            "the program cannot run as a graph: its host code reads device "
            "memory in 2 places (run without cuda-graph)");
}

TEST_F(GraphsTest, refuseProgramsThatAllocateWhileTheyRun) {
  program.device.bufferAllocCount = 1;
  EXPECT_EQ(errorOf([&] { prepare(); }),
            "the program cannot run as a graph: it allocates buffers while it "
            "runs in 1 place (run without cuda-graph)");
}

TEST_F(GraphsTest, refuseResultsThatTheHostComputes) {
  program.addArgument("result0", BRAID_RT_OUT, BRAID_RT_SCALAR);
  EXPECT_EQ(errorOf([&] { device().prepare(program.get()); }),
            "entry main cannot run as a graph: its host code computes the "
            "value of result result0 (run without cuda-graph)");
}

TEST_F(GraphsTest, refuseResultsWhoseSizeTheHostComputes) {
  program.addArgument("result0", BRAID_RT_OUT, BRAID_RT_MEMREF,
                      BRAID_RT_DYNAMIC);
  EXPECT_EQ(errorOf([&] { device().prepare(program.get()); }),
            "entry main cannot run as a graph: its host code computes the size "
            "of result result0 (run without cuda-graph)");
}

TEST_F(GraphsTest, refuseReadsWhileTheyAreRecorded) {
  prepare();
  int *memory = upload<int>({1, 0, 0, 0});
  Memref memref(memory);
  int64_t scalar = 0;
  void *args[] = {&memref, &scalar};
  run(args, [] {});
  int word = 0;
  EXPECT_EQ(
      errorOf([&] { run(args, [&] { device().read(&word, memory, 4); }); }),
      "the program reads device memory on the host, which a graph cannot "
      "do (run without cuda-graph)");
  device().failInvocation();
  // The recording has ended: the stream works again.
  EXPECT_EQ(download<int>(memory, 1)[0], 1);
}

TEST_F(GraphsTest, nameWhatBreaksTheRecording) {
  prepare();
  int *memory = upload<int>({1, 0, 0, 0});
  Memref memref(memory);
  int64_t scalar = 0;
  void *args[] = {&memref, &scalar};
  run(args, [] {});
  EXPECT_EQ(errorOf([&] {
              run(args, [&] {
                // As a collective would that waits on the host.
                driver().streamSynchronize(device().gpu().stream);
                device().gpu().checkCapture("all_reduce");
              });
            }),
            "all_reduce cannot be recorded in a graph: it broke the recording "
            "of the compute stream (run without cuda-graph)");
  device().failInvocation();
  EXPECT_FALSE(run(args, [&] { device().gpu().checkCapture("nothing"); }));
}

TEST_F(GraphsTest, reportAFailedRecording) {
  prepare();
  int *memory = upload<int>({1, 0, 0, 0});
  auto recordAfter = [&](const char *function) {
    run(Memref(memory));
    fake_cuda_fail(function, cuda::ERROR_OUT_OF_MEMORY, 0);
    std::string error = errorOf([&] { run(Memref(memory)); });
    device().failInvocation();
    return error;
  };
  EXPECT_EQ(recordAfter("cuStreamBeginCapture"),
            "cuStreamBeginCapture failed: CUDA_ERROR_OUT_OF_MEMORY (out of "
            "memory)");
  EXPECT_EQ(recordAfter("cuGraphInstantiate"),
            "the program cannot run as a graph: cuGraphInstantiate failed: "
            "CUDA_ERROR_OUT_OF_MEMORY (out of memory)");
  EXPECT_EQ(recordAfter("cuGraphLaunch"),
            "cuGraphLaunch failed: CUDA_ERROR_OUT_OF_MEMORY (out of memory)");
  driver().streamSynchronize(device().gpu().stream);
}
