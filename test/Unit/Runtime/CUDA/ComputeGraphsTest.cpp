//===- ComputeGraphsTest.cpp - Neighbouring calls as graphs ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Device/ComputeGraphs.h"
#include "Setup.h"

using namespace braid::rt;
using testing::HasSubstr;
using testing::Not;

namespace {
class ComputeGraphsTest : public CudaTest {
protected:
  ComputeGraphsTest() { options.computeGraphs = 2; }

  void prepare() {
    device().prepare(program.get());
    memory = upload<int>({0, 0, 0, 0});
  }

  /// Calls that set the elements of the memory from the first one on.
  void write(const std::vector<int> &values) {
    for (size_t i = 0; i < values.size(); ++i)
      device().write(memory + i, &values[i], 4);
  }

  /// What the streams do in an invocation with these calls.
  std::string logOf(const std::vector<int> &values) {
    fake_cuda_clear_log();
    invoke([&] { write(values); });
    return fake_cuda_log();
  }

  /// The same calls in as many invocations as a graph needs.
  void repeat(const std::vector<int> &values) {
    for (int i = 0; i < 2; ++i)
      invoke([&] { write(values); });
  }

  TestProgram program;
  int *memory = nullptr;
};
} // namespace

static const char *const begin = "stream 1: record an event\n";
static const char *const fill = "stream 1: fill 4 bytes\n";
static const char *const end = "stream 1: record an event\n";

/// What `count` calls do in an invocation without graphs.
static std::string calls(int count) {
  std::string log = begin;
  for (int i = 0; i < count; ++i)
    log += fill;
  return log + end;
}

//===----------------------------------------------------------------------===//
// Segments that repeat
//===----------------------------------------------------------------------===//

TEST_F(ComputeGraphsTest, launchTheThirdRunAsOneGraph) {
  prepare();
  EXPECT_EQ(logOf({1, 2, 3}), calls(3));
  // The recording begins when the work has ended.
  EXPECT_EQ(logOf({1, 2, 3}), calls(3) + fill + fill + fill);
  EXPECT_EQ(logOf({1, 2, 3}),
            std::string(begin) + "stream 1: graph of 3 operations\n" + end);
}

TEST_F(ComputeGraphsTest, doTheWorkInEveryRun) {
  prepare();
  for (int run = 0; run < 5; ++run) {
    std::vector<int> zeros(4, 0);
    device().copyToDevice(memory, zeros.data(), 16);
    invoke([&] { write({1, 2, 3}); });
    EXPECT_EQ(download<int>(memory, 4), (std::vector<int>{1, 2, 3, 0}))
        << "run " << run;
  }
}

TEST_F(ComputeGraphsTest, endWhereOtherWorkIsOrdered) {
  prepare();
  int seen = 0;
  auto body = [&] {
    write({1, 2});
    device().read(&seen, memory + 1, 4);
    write({3, 4, 5});
  };
  invoke(body);
  invoke(body);
  seen = 0;
  fake_cuda_clear_log();
  invoke(body);
  EXPECT_EQ(seen, 2);
  EXPECT_EQ(std::string(fake_cuda_log()),
            std::string(begin) +
                "stream 1: graph of 2 operations\n"
                "stream 1: copy to host 4 bytes\n"
                "stream 1: record an event\n"
                "stream 1: graph of 3 operations\n" +
                end);
}

TEST_F(ComputeGraphsTest, containCopiesKernelsAndWrites) {
  prepare();
  int *other = upload<int>({5, 6, 7, 8});
  auto body = [&] {
    int64_t count = 2;
    float factor = 2;
    void *arguments[] = {&memory, &count, &factor};
    device().launch(program.scale, {{1, 1, 1}, {32, 1, 1}, 0}, arguments, 3);
    device().copy(memory, other, 16);
    write({1});
  };
  invoke(body);
  invoke(body);
  fake_cuda_clear_log();
  invoke(body);
  EXPECT_EQ(std::string(fake_cuda_log()),
            std::string(begin) + "stream 1: graph of 3 operations\n" + end);
  EXPECT_EQ(download<int>(memory, 4), (std::vector<int>{1, 6, 7, 8}));
}

TEST_F(ComputeGraphsTest, areDividedIfTheyAreLong) {
  prepare();
  auto body = [&] {
    for (int i = 0; i < 131; ++i)
      write({i});
  };
  invoke(body);
  invoke(body);
  fake_cuda_clear_log();
  invoke(body);
  EXPECT_EQ(std::string(fake_cuda_log()),
            std::string(begin) + "stream 1: graph of 128 operations\n" +
                "stream 1: graph of 3 operations\n" + end);
  EXPECT_EQ(download<int>(memory, 1)[0], 130);
}

TEST_F(ComputeGraphsTest, needTheNumberOfCallsThatTheOptionSays) {
  options.computeGraphs = 3;
  prepare();
  repeat({1, 2});
  EXPECT_EQ(logOf({1, 2}), calls(2));
}

TEST_F(ComputeGraphsTest, areNoneWithoutTheOption) {
  options.computeGraphs = 0;
  prepare();
  repeat({1, 2, 3});
  EXPECT_EQ(logOf({1, 2, 3}), calls(3));
}

//===----------------------------------------------------------------------===//
// Segments that change
//===----------------------------------------------------------------------===//

TEST_F(ComputeGraphsTest, makeTheirCallsIfAnotherOneComes) {
  prepare();
  repeat({1, 2, 3});
  EXPECT_EQ(logOf({1, 2, 4}), calls(3));
  EXPECT_EQ(download<int>(memory, 3), (std::vector<int>{1, 2, 4}));
  EXPECT_THAT(logOf({1, 2, 3}), HasSubstr("graph of 3 operations"));
}

TEST_F(ComputeGraphsTest, makeTheirCallsIfTheSegmentEnds) {
  prepare();
  repeat({1, 2, 3});
  EXPECT_EQ(logOf({1, 2}), calls(2));
  EXPECT_EQ(download<int>(memory, 3), (std::vector<int>{1, 2, 3}));
}

TEST_F(ComputeGraphsTest, areFollowedByTheCallsOfALongerSegment) {
  prepare();
  repeat({1, 2, 3});
  EXPECT_EQ(logOf({1, 2, 3, 4}), std::string(begin) +
                                     "stream 1: graph of 3 operations\n" +
                                     fill + end);
}

TEST_F(ComputeGraphsTest, learnASegmentThatChangesBeforeItHasAGraph) {
  prepare();
  invoke([&] { write({1, 2, 3}); });
  repeat({1, 5});
  EXPECT_EQ(logOf({1, 5}),
            std::string(begin) + "stream 1: graph of 2 operations\n" + end);
}

TEST_F(ComputeGraphsTest, areGivenUpIfTheyKeepChanging) {
  prepare();
  repeat({1, 2, 3});
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(logOf({1, 2, 4}), calls(3));
  EXPECT_EQ(logOf({1, 2, 3}), calls(3));
}

TEST_F(ComputeGraphsTest, compareTheArgumentsOfKernels) {
  static float lastFactor = 0;
  const size_t sizes[] = {8, 8, 4};
  fake_cuda_register_kernel(
      "scale", sizes, 3,
      [](void **arguments, const unsigned *, const unsigned *) {
        lastFactor = *static_cast<float *>(arguments[2]);
      });
  prepare();
  auto run = [&](float factor) {
    invoke([&] {
      int64_t count = 0;
      void *arguments[] = {&memory, &count, &factor};
      LaunchSize size = {{1, 1, 1}, {32, 1, 1}, 0};
      write({1});
      device().launch(program.scale, size, arguments, 3);
    });
    return lastFactor;
  };
  for (float factor : {2.0F, 2.0F, 2.0F, 3.0F, 2.0F})
    EXPECT_EQ(run(factor), factor);
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

TEST_F(ComputeGraphsTest, areNoneIfTheDriverRefusesThem) {
  // The fourth fill is the first one that is recorded.
  for (auto [call, skipped] :
       {std::pair("cuStreamBeginCapture", 0), std::pair("cuMemsetD32Async", 3),
        std::pair("cuGraphInstantiate", 0), std::pair("cuGraphUpload", 0)}) {
    prepare();
    invoke([&] { write({1, 2, 3}); });
    fake_cuda_fail(call, cuda::ERROR_OUT_OF_MEMORY, skipped);
    invoke([&] { write({1, 2, 3}); });
    EXPECT_EQ(logOf({1, 2, 3}), calls(3)) << call;
  }
}

TEST_F(ComputeGraphsTest, reportALaunchThatFails) {
  prepare();
  repeat({1, 2, 3});
  fake_cuda_fail("cuGraphLaunch", cuda::ERROR_OUT_OF_MEMORY, 0);
  EXPECT_EQ(errorOf([&] { invoke([&] { write({1, 2, 3}); }); }),
            "cuGraphLaunch failed: CUDA_ERROR_OUT_OF_MEMORY (out of memory)");
  device().failInvocation();
  EXPECT_EQ(logOf({1, 2, 3}), calls(3));
}

TEST_F(ComputeGraphsTest, doNotMakeTheCallsOfAFailedInvocation) {
  prepare();
  repeat({1, 2, 3});
  fake_cuda_clear_log();
  device().beginInvocation(program.entry, nullptr);
  write({1, 2});
  device().failInvocation();
  EXPECT_EQ(std::string(fake_cuda_log()), begin);
}

TEST_F(ComputeGraphsTest, areForgottenWithTheProgram) {
  prepare();
  repeat({1, 2, 3});
  device().prepare(program.get());
  EXPECT_EQ(logOf({1, 2, 3}), calls(3));
}

TEST_F(ComputeGraphsTest, doNotUseMemoryThatTheProgramUsesNoMore) {
  device().prepare(program.get());
  memory = static_cast<int *>(device().allocate(16));
  repeat({1, 2, 3});
  device().free(memory);
  // The fake driver ends the process if a graph uses freed memory.
  memory = upload<int>({0, 0, 0, 0});
  EXPECT_THAT(logOf({1, 2, 4}), Not(HasSubstr("graph")));
}

TEST_F(ComputeGraphsTest, endWhenTheStreamIsGivenAway) {
  prepare();
  repeat({1, 2, 3});
  fake_cuda_clear_log();
  invoke([&] {
    write({1, 2});
    EXPECT_NE(device().computeStream(), nullptr);
    EXPECT_EQ(std::string(fake_cuda_log()), std::string(begin) + fill + fill);
    write({3});
  });
  EXPECT_EQ(logOf({1, 2, 3}), calls(3));
}
