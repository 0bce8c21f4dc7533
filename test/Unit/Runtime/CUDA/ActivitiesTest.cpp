//===- ActivitiesTest.cpp - Traces of CUPTI's activities ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeCupti.h"
#include "Setup.h"

#include "CUDA/Trace/Activities.h"
#include "CUDA/Trace/ActivityTimeline.h"

#include <cstdlib>

using namespace braid::rt;
using testing::AllOf;
using testing::HasSubstr;

namespace {
/// A device whose trace takes its times from the fake CUPTI.
class ActivitiesTest : public CudaTest {
protected:
  ActivitiesTest() : library("BRAID_CUPTI_LIBRARY", FAKE_CUPTI) {
    fake_cupti_reset();
    options.trace = true;
    options.activities = cuda::Activities::open();
  }

  void copy(float *memory) { device().copy(memory + 64, memory, 64); }
  void fill(float *memory) {
    float zero = 0;
    device().write(memory, &zero, 4);
  }

  /// The names of an invocation's events, in the order of their times.
  std::string take() {
    std::string names;
    int64_t lastNs = 0;
    for (const DeviceEvent &event : device().takeEvents()) {
      names += (names.empty() ? "" : ", ") + event.name;
      EXPECT_GE(event.beginNs, lastNs);
      EXPECT_GT(event.endNs, event.beginNs);
      lastNs = event.endNs;
    }
    return names;
  }

private:
  ScopedVariable library;
};

/// Measures all proposals.
class MeasuringHooks final : public cuda::DeviceHooks {
public:
  int32_t chooseAlgorithm(const std::string &,
                          const std::function<int32_t()> &measure) override {
    begunNs = monotonicNs();
    int32_t chosen = measure();
    endedNs = monotonicNs();
    return chosen;
  }

  int64_t begunNs = 0, endedNs = 0;
};
} // namespace

TEST_F(ActivitiesTest, spansHaveTheTimesOfWhatTheDeviceRan) {
  auto *memory = upload(std::vector<float>(256));
  for (int i = 0; i < 2; ++i) {
    int64_t begunNs = monotonicNs();
    invoke([&] {
      copy(memory);
      fill(memory);
      copy(memory);
    });
    std::vector<DeviceEvent> events = device().takeEvents();
    ASSERT_EQ(events.size(), 3U);
    EXPECT_EQ(events[1].name, "Memset");
    EXPECT_GE(events[0].beginNs, begunNs);
    EXPECT_LE(events[2].endNs, monotonicNs());
    EXPECT_LE(events[0].endNs, events[1].beginNs + 1);
    EXPECT_LE(events[1].endNs, events[2].beginNs + 1);
  }
}

TEST_F(ActivitiesTest, timesCountFromTheBeginningOfTheWorld) {
  options.createdNs = monotonicNs() - 1000;
  auto *memory = upload(std::vector<float>(256));
  invoke([&] { copy(memory); });
  std::vector<DeviceEvent> events = device().takeEvents();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_GT(events[0].beginNs, 1000);
  EXPECT_LT(events[0].beginNs, monotonicNs() - options.createdNs);
}

TEST_F(ActivitiesTest, timesOfAnotherClockAreConverted) {
  auto *memory = upload(std::vector<float>(256));
  for (long long hour : {-3600, 3600}) {
    fake_cupti_set_clock_offset(hour * 1000000000);
    int64_t begunNs = monotonicNs();
    invoke([&] { copy(memory); });
    std::vector<DeviceEvent> events = device().takeEvents();
    ASSERT_EQ(events.size(), 1U);
    EXPECT_GT(events[0].beginNs, begunNs - 1000000);
    EXPECT_LT(events[0].endNs, monotonicNs() + 1000000);
  }
}

TEST_F(ActivitiesTest, recordsThatComeLateAreAwaited) {
  auto *memory = upload(std::vector<float>(256));
  fake_cupti_hold(5);
  invoke([&] { copy(memory); });
  EXPECT_EQ(take(), "Memcpy DtoD");
}

TEST_F(ActivitiesTest, spanWithoutWorkIsLeftOut) {
  auto *memory = upload(std::vector<float>(256));
  invoke([&] {
    device().write(memory, nullptr, 0);
    fill(memory);
  });
  EXPECT_EQ(take(), "Memset");
}

TEST_F(ActivitiesTest, workWithoutCorrelationIsThatOfItsStreamInOrder) {
  auto *memory = upload(std::vector<float>(256));
  fake_cupti_forget_correlations(1);
  invoke([&] {
    copy(memory);
    fill(memory);
  });
  EXPECT_EQ(take(), "Memcpy DtoD, Memset");
  // One record for two spans may be that of either.
  invoke([&] {
    device().write(memory, nullptr, 0);
    fill(memory);
  });
  EXPECT_EQ(take(), "");
}

TEST_F(ActivitiesTest, measurementOfAMatmulIsNoPartOfIt) {
  auto owned = std::make_unique<MeasuringHooks>();
  MeasuringHooks &measuring = *owned;
  hooks = std::move(owned);
  auto *memory = upload(std::vector<float>(1024));
  Matmul matmul = {};
  matmul.dtype = matmul.options.resultDtype = BRAID_RT_F32;
  matmul.batch = 1;
  matmul.m = matmul.n = matmul.k = matmul.lda = matmul.ldb = matmul.ldc = 2;
  invoke(
      [&] { device().multiply(matmul, memory, memory + 256, memory + 512); });
  ASSERT_GT(measuring.endedNs, 0);
  std::vector<DeviceEvent> events = device().takeEvents();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].name, "matmul 2x2x2 f32");
  EXPECT_GE(events[0].beginNs, measuring.endedNs);
}

TEST_F(ActivitiesTest, everyReplayOfAGraphShowsItsOperations) {
  options.graphs = cuda::GraphUse::On;
  TestProgram program;
  program.addArgument("arg0", BRAID_RT_INOUT, BRAID_RT_MEMREF);
  device().prepare(program.get());
  auto *memory = upload(std::vector<float>(256));
  struct {
    void *allocated, *aligned;
    int64_t offset, size, stride;
  } memref = {memory, memory, 0, 4, 1};
  void *args[] = {&memref};
  for (int i = 0; i < 4; ++i) {
    bool replayed = device().beginInvocation(program.entry, args);
    EXPECT_EQ(replayed, i >= 2);
    if (!replayed) {
      copy(memory);
      fill(memory);
    }
    device().endInvocation();
    EXPECT_EQ(take(), "Memcpy DtoD, Memset") << i;
  }
}

TEST_F(ActivitiesTest, areKeptAsLongAsSomebodyUsesThem) {
  EXPECT_GT(fake_cupti_enabled(), 0);
  auto second = cuda::Activities::open();
  options.activities.reset();
  EXPECT_GT(fake_cupti_enabled(), 0);
  second.reset();
  EXPECT_EQ(fake_cupti_enabled(), 0);
}

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

TEST(Cupti, missingLibraryIsNamed) {
  ScopedVariable library("BRAID_CUPTI_LIBRARY", "/nowhere/libcupti.so.13");
  EXPECT_THAT(errorOf([] { cupti::Cupti loaded; }),
              AllOf(HasSubstr("CUPTI cannot be loaded"),
                    HasSubstr("/nowhere/libcupti.so.13"),
                    HasSubstr("BRAID_CUPTI_LIBRARY")));
}

TEST(Cupti, anotherVersionIsRefused) {
  ScopedVariable library("BRAID_CUPTI_LIBRARY", FAKE_CUPTI);
  fake_cupti_reset();
  fake_cupti_set_version(130100);
  EXPECT_THAT(errorOf([] { cupti::Cupti loaded; }),
              HasSubstr("has version 130100, expected 1300xx; install CUPTI of "
                        "CUDA 13.0"));
  fake_cupti_set_version(130002);
  EXPECT_EQ(errorOf([] { cupti::Cupti loaded; }), "");
}

TEST(CuptiDeathTest, anotherClientInTheProcessIsNamed) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  ScopedVariable library("BRAID_CUPTI_LIBRARY", FAKE_CUPTI);
  EXPECT_EXIT(
      {
        fake_cupti_fail_subscription(cupti::MultipleSubscribers);
        std::string error = errorOf([] { cuda::Activities::open(); });
        std::fputs(error.c_str(), stderr);
        std::_Exit(3);
      },
      testing::ExitedWithCode(3), "another tool, such as a profiler, uses");
}
