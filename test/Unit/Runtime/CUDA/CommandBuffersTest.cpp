//===- CommandBuffersTest.cpp - Graphs of parts of an invocation ----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Device/CommandBuffers.h"
#include "Setup.h"

using namespace braid::rt;
using testing::HasSubstr;
using testing::Not;

namespace {
/// A program that reads on the host, and so is no graph as a whole.
class CommandBuffersTest : public CudaTest {
protected:
  void prepare() {
    program.device.hostReadCount = 1;
    device().prepare(program.get());
    device().allowCommandBuffers(true);
    memory = upload<int>({7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  }

  /// Copies the first element to the second one, that to the third one, and so
  /// on, and reads the last copy. Returns what has been read.
  int copyOn(int copies, int begin = 0) {
    for (int i = begin; i < begin + copies; ++i)
      device().copy(memory + i + 1, memory + i, 4);
    int value = 0;
    device().read(&value, memory + begin + copies, 4);
    return value;
  }

  template <typename Body> void run(Body body) {
    fake_cuda_clear_log();
    EXPECT_FALSE(device().beginInvocation(program.entry, nullptr));
    body();
    device().endInvocation();
    log = fake_cuda_log();
  }

  TestProgram program;
  int *memory = nullptr;
  std::string log;
};
} // namespace

TEST_F(CommandBuffersTest, recordTheSecondSequence) {
  prepare();
  run([&] { EXPECT_EQ(copyOn(8), 7); });
  EXPECT_THAT(log, Not(HasSubstr("graph")));
  for (int repetition = 0; repetition < 3; ++repetition) {
    run([&] { EXPECT_EQ(copyOn(8), 7); });
    EXPECT_THAT(log, HasSubstr("graph of 8 operations"));
  }
}

TEST_F(CommandBuffersTest, replayIterations) {
  prepare();
  run([&] {
    for (int iteration = 0; iteration < 4; ++iteration) {
      EXPECT_EQ(copyOn(9), 7);
      int next = 7;
      device().write(memory, &next, 4);
    }
  });
  size_t graphs = 0;
  for (size_t at = 0; (at = log.find("graph of 9", at)) != std::string::npos;
       ++at)
    ++graphs;
  EXPECT_EQ(graphs, 3u);
}

TEST_F(CommandBuffersTest, tellAddressesApart) {
  prepare();
  run([&] { EXPECT_EQ(copyOn(8), 7); });
  run([&] { EXPECT_EQ(copyOn(8, 1), 7); });
  EXPECT_THAT(log, Not(HasSubstr("graph")));
}

TEST_F(CommandBuffersTest, tellArgumentsOfKernelsApart) {
  prepare();
  auto launch = [&](float factor) {
    for (int i = 0; i < 8; ++i) {
      void *data = memory;
      int64_t count = 4;
      void *arguments[] = {&data, &factor, &count};
      device().launch(program.scale, {{1, 1, 1}, {32, 1, 1}, 0}, arguments, 3);
    }
  };
  for (float factor : {1.f, 2.f}) {
    run([&] { launch(factor); });
    EXPECT_THAT(log, Not(HasSubstr("graph")));
  }
  run([&] { launch(2.f); });
  EXPECT_THAT(log, HasSubstr("graph of 8 operations"));
}

TEST_F(CommandBuffersTest, enqueueShortSequencesOneByOne) {
  prepare();
  for (int repetition = 0; repetition < 3; ++repetition) {
    run([&] { EXPECT_EQ(copyOn(7), 7); });
    EXPECT_THAT(log, Not(HasSubstr("graph")));
  }
}

TEST_F(CommandBuffersTest, divideLongSequences) {
  prepare();
  for (int repetition = 0; repetition < 2; ++repetition)
    run([&] {
      for (int i = 0; i < 300; ++i)
        device().copy(memory + 1, memory, 4);
    });
  EXPECT_THAT(log, HasSubstr("graph of 256 operations"));
  EXPECT_THAT(log, HasSubstr("graph of 44 operations"));
}

TEST_F(CommandBuffersTest, waitForNothingThatIsNotAllowed) {
  prepare();
  device().allowCommandBuffers(false);
  for (int repetition = 0; repetition < 3; ++repetition) {
    run([&] { EXPECT_EQ(copyOn(8), 7); });
    EXPECT_THAT(log, Not(HasSubstr("graph")));
  }
}

TEST_F(CommandBuffersTest, dropWhatAFailureLeaves) {
  prepare();
  EXPECT_FALSE(device().beginInvocation(program.entry, nullptr));
  for (int i = 0; i < 8; ++i)
    device().copy(memory + 1, memory, 4);
  device().failInvocation();
  run([] {});
  EXPECT_EQ(download<int>(memory + 1, 1)[0], 0);
}

TEST_F(CommandBuffersTest, forgetRecordingsOfOldPrograms) {
  prepare();
  run([&] { copyOn(8); });
  run([&] { copyOn(8); });
  EXPECT_THAT(log, HasSubstr("graph of 8 operations"));
  device().prepare(program.get());
  run([&] { copyOn(8); });
  EXPECT_THAT(log, Not(HasSubstr("graph")));
}
