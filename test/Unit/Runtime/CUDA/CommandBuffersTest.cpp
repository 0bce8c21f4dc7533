//===- CommandBuffersTest.cpp - Graphs of parts of an invocation ----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Device/Commands/CommandBuffers.h"
#include "Setup.h"

#include <chrono>
#include <thread>

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

  TestProgram program{waitingPtx};
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

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {
/// Loops that double an element of `memory` as often as a list of bytes says.
class LoopCommandsTest : public CommandBuffersTest {
protected:
  void SetUp() override {
    CommandBuffersTest::SetUp();
    prepare();
    const size_t sizes[] = {8, 4, 8};
    fake_cuda_register_kernel(
        "scale", sizes, 3,
        [](void **arguments, const unsigned *, const unsigned *) {
          **static_cast<int **>(arguments[0]) *= 2;
        });
    conditions = upload<char>(std::vector<char>(64));
  }
  void TearDown() override {
    const size_t sizes[] = {8, 4, 8};
    fake_cuda_register_kernel("scale", sizes, 3, nullptr);
    CommandBuffersTest::TearDown();
  }

  /// Adds the doubling of the element at `index`.
  void doubleElement(int index) {
    int *data = memory + index;
    float factor = 2;
    int64_t count = 1;
    void *arguments[] = {&data, &factor, &count};
    device().launch(program.scale, {{1, 1, 1}, {32, 1, 1}, 0}, arguments, 3);
  }
  /// Adds the move of the bytes from `begin` on to the front.
  void nextCondition(int begin) {
    device().copy(conditions + 48, conditions + begin + 1, 12);
    device().copy(conditions + begin, conditions + 48, 12);
  }
  bool repeat(int begin, int64_t loop) {
    bool hasRead = false;
    bool isRepeated = device().repeat(conditions + begin, loop, hasRead);
    reads += hasRead;
    return isRepeated;
  }
  void setConditions(int begin, const std::vector<char> &values) {
    device().copyToDevice(conditions + begin, values.data(),
                          static_cast<int64_t>(values.size()));
  }
  /// Doubles the first element once for each leading 1 of `values`.
  int doubleOften(const std::vector<char> &values) {
    setConditions(0, values);
    int one = 1, result = 0;
    device().copyToDevice(memory, &one, 4);
    run([&] {
      while (repeat(0, 0)) {
        doubleElement(0);
        nextCondition(0);
      }
    });
    result = download<int>(memory, 1)[0];
    return result;
  }

  char *conditions = nullptr;
  int reads = 0;
};
} // namespace

TEST_F(LoopCommandsTest, repeatWhatHasRunOnce) {
  EXPECT_EQ(doubleOften({1, 1, 1, 1, 0}), 16);
  // The first iteration runs by itself, the others by a graph.
  EXPECT_THAT(log, HasSubstr("graph of 2 operations"));
  EXPECT_EQ(doubleOften({1, 1, 0}), 4);
  EXPECT_EQ(doubleOften({1, 1, 1, 1, 1, 0}), 32);
  EXPECT_EQ(doubleOften({1, 0}), 2);
  EXPECT_EQ(doubleOften({0}), 1);
  EXPECT_THAT(log, HasSubstr("graph of 2 operations"));
  EXPECT_THAT(log, Not(HasSubstr("kernel scale")));
  EXPECT_EQ(reads, 0);
}

TEST_F(LoopCommandsTest, runNoIterationAtFirst) {
  EXPECT_EQ(doubleOften({0}), 1);
  EXPECT_EQ(doubleOften({1, 1, 0}), 4);
  EXPECT_EQ(doubleOften({1, 1, 1, 0}), 8);
}

TEST_F(LoopCommandsTest, repeatLoopsInLoops) {
  for (int repetition = 0; repetition < 3; ++repetition) {
    setConditions(0, {1, 1, 1, 0});
    int ones[] = {1, 1, 1};
    device().copyToDevice(memory, ones, sizeof(ones));
    setConditions(32, {1, 1, 0});
    run([&] {
      doubleElement(2);
      while (repeat(0, 0)) {
        doubleElement(0);
        device().copy(conditions + 16, conditions + 32, 12);
        while (repeat(16, 1)) {
          doubleElement(1);
          nextCondition(16);
        }
        nextCondition(0);
      }
      doubleElement(2);
    });
    EXPECT_EQ(download<int>(memory, 3), (std::vector<int>{8, 64, 4}));
  }
  EXPECT_THAT(log, HasSubstr("graph of 4 operations"));
}

TEST_F(LoopCommandsTest, repeatOneLoopAfterTheOther) {
  for (int repetition = 0; repetition < 3; ++repetition) {
    setConditions(0, {1, 1, 0});
    setConditions(16, {1, 1, 1, 0});
    int one = 1;
    device().copyToDevice(memory, &one, 4);
    run([&] {
      for (int loop = 0; loop < 2; ++loop)
        while (repeat(16 * loop, loop)) {
          doubleElement(0);
          nextCondition(16 * loop);
        }
    });
    EXPECT_EQ(download<int>(memory, 1)[0], 32);
  }
}

TEST_F(LoopCommandsTest, readConditionsWhereNothingIsCollected) {
  device().allowCommandBuffers(false);
  EXPECT_EQ(doubleOften({1, 1, 1, 0}), 8);
  EXPECT_EQ(reads, 4);
  EXPECT_THAT(log, Not(HasSubstr("graph")));
}

TEST_F(LoopCommandsTest, goOnWhereTheDriverHasNoConditions) {
  fake_cuda_fail("cuGraphConditionalHandleCreate",
                 braid::rt::cuda::ERROR_NOT_SUPPORTED, 0);
  EXPECT_EQ(doubleOften({1, 1, 1, 1, 0}), 16);
  EXPECT_THAT(log, Not(HasSubstr("graph")));
  EXPECT_EQ(doubleOften({1, 1, 0}), 4);
}

TEST_F(LoopCommandsTest, submitWhatIsBeforeALoop) {
  setConditions(0, {1, 0});
  int one = 1;
  device().copyToDevice(memory, &one, 4);
  run([&] {
    doubleElement(0);
    EXPECT_TRUE(repeat(0, 0));
    doubleElement(0);
    device().submit();
    EXPECT_EQ(download<int>(memory, 1)[0], 2);
    nextCondition(0);
    EXPECT_FALSE(repeat(0, 0));
  });
  EXPECT_EQ(download<int>(memory, 1)[0], 4);
}

TEST_F(LoopCommandsTest, refuseWorkThatNoGraphDoes) {
  run([&] {
    EXPECT_TRUE(repeat(0, 0));
    int value = 0;
    EXPECT_THAT(
        errorOf([&] { device().read(&value, memory, 4); }),
        HasSubstr("control flow of the GPU has work that a graph cannot "
                  "do"));
    EXPECT_FALSE(repeat(0, 0));
  });
}

namespace {
class SlowLoopTest : public LoopCommandsTest {
protected:
  SlowLoopTest() { options.timeoutNs = 300 * 1000 * 1000; }
};
} // namespace

TEST_F(SlowLoopTest, takeLongerThanTheTimeout) {
  EXPECT_EQ(doubleOften({1, 1, 0}), 4);
  EXPECT_EQ(doubleOften({1, 1, 1, 0}), 8);
  fake_cuda_block(0);
  std::thread unblock([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(900));
    fake_cuda_unblock(0);
  });
  run([&] {
    while (repeat(0, 0)) {
      doubleElement(0);
      nextCondition(0);
    }
  });
  unblock.join();
  EXPECT_EQ(download<int>(memory, 1)[0], 8);
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

namespace {
/// Choices between one, two and three doublings of an element of `memory`.
class ChoiceCommandsTest : public LoopCommandsTest {
protected:
  void choose(int32_t bytes = 1) {
    int64_t chosen = device().choose(conditions, bytes, 3);
    reads += chosen != Device::allCases;
    for (int number = 0; number < 3; ++number) {
      if (chosen == Device::allCases && number > 0)
        device().nextCase();
      if (chosen == Device::allCases || chosen == number)
        for (int i = 0; i <= number; ++i)
          doubleElement(0);
    }
    if (chosen == Device::allCases)
      device().endChoice();
  }
  template <typename T> int doubleBy(T selector) {
    device().copyToDevice(conditions, &selector, sizeof(T));
    int one = 1;
    device().copyToDevice(memory, &one, 4);
    run([&] { choose(sizeof(T)); });
    return download<int>(memory, 1)[0];
  }
};
} // namespace

TEST_F(ChoiceCommandsTest, chooseByOneByte) {
  EXPECT_EQ(doubleBy<char>(1), 4);
  EXPECT_EQ(doubleBy<char>(0), 2);
  EXPECT_THAT(log, HasSubstr("graph of 2 operations"));
  EXPECT_EQ(doubleBy<char>(2), 8);
  EXPECT_EQ(doubleBy<char>(3), 8);
  EXPECT_EQ(reads, 0);
}

TEST_F(ChoiceCommandsTest, takeTheLastCaseForOtherNumbers) {
  for (int32_t number : {0, 1, 2, 3, -1, 1 << 30})
    EXPECT_EQ(doubleBy<int32_t>(number), number == 0 ? 2 : number == 1 ? 4 : 8);
  for (int64_t number :
       {int64_t(0), int64_t(1), int64_t(2), int64_t(-1), int64_t(1) << 32})
    EXPECT_EQ(doubleBy<int64_t>(number), number == 0 ? 2 : number == 1 ? 4 : 8);
  EXPECT_EQ(reads, 0);
}

TEST_F(ChoiceCommandsTest, readSelectorsWhereNothingIsCollected) {
  device().allowCommandBuffers(false);
  EXPECT_EQ(doubleBy<char>(1), 4);
  EXPECT_EQ(doubleBy<int32_t>(-1), 8);
  EXPECT_EQ(reads, 2);
}

TEST_F(ChoiceCommandsTest, chooseInLoops) {
  for (int repetition = 0; repetition < 3; ++repetition) {
    // The first byte ends the loop and chooses.
    setConditions(0, {2, 1, 1, 0});
    int one = 1;
    device().copyToDevice(memory, &one, 4);
    run([&] {
      while (repeat(0, 0)) {
        choose();
        nextCondition(0);
      }
    });
    EXPECT_EQ(download<int>(memory, 1)[0], 128);
  }
  EXPECT_EQ(reads, 0);
}

TEST_F(ChoiceCommandsTest, recordLibrariesWhenTheyHaveRun) {
  std::vector<float> ones(4, 1);
  float *matrix = upload(ones), *product = upload(ones);
  Matmul matmul = {};
  matmul.dtype = BRAID_RT_F32;
  matmul.batch = 1;
  matmul.m = matmul.n = matmul.k = 2;
  matmul.lda = matmul.ldb = matmul.ldc = 2;
  matmul.strideA = matmul.strideB = matmul.strideC = 4;
  matmul.options.resultDtype = BRAID_RT_F32;
  auto invoke = [&](char selector) {
    device().copyToDevice(conditions, &selector, 1);
    run([&] {
      device().choose(conditions, 1, 2);
      doubleElement(0);
      device().nextCase();
      device().multiply(matmul, matrix, matrix, product);
      device().endChoice();
    });
  };
  for (int repetition = 0; repetition < 3; ++repetition) {
    invoke(0);
    EXPECT_THAT(log, Not(HasSubstr("graph")));
  }
  invoke(1);
  EXPECT_THAT(log, Not(HasSubstr("graph")));
  for (char selector : {0, 1}) {
    invoke(selector);
    EXPECT_THAT(log, HasSubstr("graph of 2 operations"));
  }
  EXPECT_EQ(download<float>(product, 1)[0], 2);
}
