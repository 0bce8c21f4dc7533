//===- HostTest.cpp - Configuration, programs and counters ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <atomic>
#include <cstdlib>
#include <thread>

using namespace braid::test;
using testing::AllOf;
using testing::HasSubstr;

/// Sets a variable of the environment as long as it lives.
namespace {
struct Variable {
  Variable(const char *name, const char *value) : name(name) {
    setenv(name, value, 1);
  }
  ~Variable() { unsetenv(name); }
  const char *name;
};
} // namespace

TEST(DebugLevel, IsReadInAnyCaseAndIsOffByDefault) {
  char error[256];
  braid_rt_config config;
  ASSERT_EQ(braid_rt_config_init(&config, error, sizeof(error)), BRAID_RT_OK);
  EXPECT_EQ(config.debug, BRAID_RT_DEBUG_OFF);
  for (auto [text, level] : {std::pair<const char *, int32_t>{"OFF", 0},
                             {"off", 0},
                             {"Info", 1},
                             {"INFO", 1},
                             {"detail", 2},
                             {"DeTaIl", 2},
                             {"", 0}}) {
    Variable variable("BRAID_DEBUG", text);
    EXPECT_EQ(braid_rt_config_init(&config, error, sizeof(error)), BRAID_RT_OK);
    EXPECT_EQ(config.debug, level) << text;
  }
}

TEST(DebugLevel, AnythingElseIsAnError) {
  for (const char *text : {"foo", "0", "1", "-1", "INFOS"}) {
    Variable variable("BRAID_DEBUG", text);
    char error[256];
    braid_rt_config config;
    EXPECT_EQ(braid_rt_config_init(&config, error, sizeof(error)),
              BRAID_RT_FAILED);
    EXPECT_THAT(
        std::string(error),
        AllOf(HasSubstr("must be OFF, INFO, or DETAIL"), HasSubstr(text)));
  }
}

TEST(Config, BadValuesAreRefused) {
  auto errorOf = [](auto adjust) {
    braid_rt_config config;
    char error[256] = "";
    braid_rt_config_init(&config, error, sizeof(error));
    adjust(config);
    EXPECT_EQ(braid_rt_world_create(&config, error, sizeof(error)), nullptr);
    return std::string(error);
  };
  EXPECT_THAT(errorOf([](braid_rt_config &c) { c.ranks = 0; }),
              HasSubstr("between 1 and 4096, found 0"));
  EXPECT_THAT(errorOf([](braid_rt_config &c) { c.timeoutNs = 0; }),
              HasSubstr("timeout must be positive"));
  static const braid_rt_option latency = {"link-latency", "-5"},
                               bandwidth = {"link-bandwidth", "-1"},
                               unknown = {"speed", "9"};
  auto errorOfOption = [&](const braid_rt_option &option) {
    return errorOf([&](braid_rt_config &c) {
      c.options = &option;
      c.optionCount = 1;
    });
  };
  EXPECT_THAT(errorOfOption(latency),
              AllOf(HasSubstr("link-latency"), HasSubstr("-5")));
  EXPECT_THAT(errorOfOption(bandwidth),
              AllOf(HasSubstr("link-bandwidth"), HasSubstr("-1")));
  EXPECT_THAT(errorOfOption(unknown), HasSubstr("speed"));
  EXPECT_THAT(errorOf([](braid_rt_config &c) { c.engine = "none"; }),
              HasSubstr("libbraid_rt_none.so"));
}

TEST(Config, ErrorBufferIsNeverOverrun) {
  braid_rt_config config;
  braid_rt_config_init(&config, nullptr, 0);
  config.ranks = 0;
  char error[8] = "xxxxxxx";
  EXPECT_EQ(braid_rt_world_create(&config, error, 5), nullptr);
  EXPECT_STREQ(error, "the ");
  EXPECT_EQ(error[5], 'x');
  EXPECT_EQ(braid_rt_world_create(&config, nullptr, 0), nullptr);
}

TEST(Invoke, RanksMayRunOnThreadsOfTheCaller) {
  // One rank: on this very thread.
  static int64_t seen;
  seen = -1;
  World world(1);
  braid_rt_entry entry = {
      "main", [](void **) { seen = braid_rt_size(&worldGroup, nullptr); }, 0,
      nullptr, nullptr};
  EXPECT_EQ(braid_rt_invoke(world.context(0), &entry, nullptr), BRAID_RT_OK);
  EXPECT_EQ(seen, 1);
}

/// How many ranks of a world of this size run_here runs on this thread.
static int64_t countRanksHere(int32_t ranks) {
  static std::atomic<int64_t> here;
  static std::thread::id caller;
  here = 0;
  caller = std::this_thread::get_id();
  World world(ranks);
  braid_rt_entry entry = {
      "main", [](void **) { here += std::this_thread::get_id() == caller; }, 0,
      nullptr, nullptr};
  std::vector<void **> none(static_cast<size_t>(ranks), nullptr);
  EXPECT_EQ(braid_rt_world_run_here(world.get(), &entry, none.data()),
            BRAID_RT_OK);
  return here;
}

TEST(Invoke, OneRankRunsHere) { EXPECT_EQ(countRanksHere(1), 1); }

TEST(Invoke, SeveralRanksRunOnThreadsOfTheirOwn) {
  EXPECT_EQ(countRanksHere(2), 0);
}

TEST(Invoke, FailuresOfARankThatRunsHereEndItsRunAlone) {
  World world(1);
  static bool fails;
  braid_rt_entry entry = {"main",
                          [](void **) {
                            if (fails)
                              braid_rt_fail("no", nullptr);
                          },
                          0, nullptr, nullptr};
  void **none = nullptr;
  auto run = [&]() {
    return braid_rt_world_run_here(world.get(), &entry, &none);
  };
  fails = true;
  EXPECT_EQ(run(), BRAID_RT_FAILED);
  EXPECT_THAT(world.error(0), HasSubstr("no"));
  fails = false;
  EXPECT_EQ(run(), BRAID_RT_OK);
}

TEST(Invoke, ArgumentsReachTheEntry) {
  static const braid_rt_argument arguments[] = {
      {"arg0", BRAID_RT_I64, 0, nullptr, BRAID_RT_IN, BRAID_RT_SCALAR},
      {"result0", BRAID_RT_I64, 0, nullptr, BRAID_RT_OUT, BRAID_RT_SCALAR}};
  braid_rt_entry entry = {"main",
                          [](void **args) {
                            *static_cast<int64_t *>(args[1]) =
                                *static_cast<int64_t *>(args[0]) * 2;
                          },
                          2, arguments, nullptr};
  World world(1);
  int64_t in = 21, out = 0;
  void *args[] = {&in, &out};
  EXPECT_EQ(braid_rt_invoke(world.context(0), &entry, args), BRAID_RT_OK);
  EXPECT_EQ(out, 42);
}

TEST(Invoke, ARankCannotRunInsideARank) {
  static World *shared;
  World world(2);
  shared = &world;
  static int32_t status;
  EXPECT_TRUE(world.run([](int32_t rank) {
    if (rank == 0) {
      static const braid_rt_entry inner = {"inner", [](void **) {}, 0, nullptr,
                                           nullptr};
      status = braid_rt_invoke(shared->context(1), &inner, nullptr);
    }
  }));
  EXPECT_EQ(status, BRAID_RT_FAILED);
}

TEST(Invoke, ARefusedRankIsNotTouched) {
  static World *shared;
  World world(2);
  shared = &world;
  static char message[128];
  EXPECT_TRUE(world.run([](int32_t rank) {
    if (rank == 0) {
      static const braid_rt_entry inner = {"inner", [](void **) {}, 0, nullptr,
                                           nullptr};
      for (int32_t other : {0, 1})
        braid_rt_invoke(shared->context(other), &inner, nullptr);
      std::snprintf(message, sizeof(message), "%s",
                    braid_rt_error(shared->context(1)));
    }
  }));
  EXPECT_STREQ(message, "rank 1: a rank is already running on this thread");
  EXPECT_EQ(world.error(0), "");
  EXPECT_EQ(world.error(1), "");
}

TEST(Invoke, ARankRunsOnOneThreadAtATime) {
  static World *shared;
  World world(1);
  shared = &world;
  static int32_t status;
  static std::string message;
  static const braid_rt_entry inner = {"inner", [](void **) {}, 0, nullptr,
                                       nullptr};
  static const braid_rt_entry outer = {
      "outer",
      [](void **) {
        std::thread([] {
          status = braid_rt_invoke(shared->context(0), &inner, nullptr);
          message = braid_rt_error(shared->context(0));
        }).join();
      },
      0, nullptr, nullptr};
  EXPECT_EQ(braid_rt_invoke(world.context(0), &outer, nullptr), BRAID_RT_OK);
  EXPECT_EQ(status, BRAID_RT_FAILED);
  EXPECT_EQ(message, "rank 0: another thread is already running this rank");
  EXPECT_EQ(world.error(0), "");
  // The rank can be run again.
  EXPECT_EQ(braid_rt_invoke(world.context(0), &inner, nullptr), BRAID_RT_OK);
}

TEST(Invoke, ARefusalIsForgottenByTheNextRun) {
  static std::atomic<bool> begun, mayEnd;
  begun = mayEnd = false;
  static const braid_rt_entry entry = {"main",
                                       [](void **) {
                                         begun = true;
                                         while (!mayEnd)
                                           std::this_thread::yield();
                                       },
                                       0, nullptr, nullptr};
  World world(1);
  std::thread other(
      [&] { braid_rt_invoke(world.context(0), &entry, nullptr); });
  while (!begun)
    std::this_thread::yield();
  EXPECT_EQ(braid_rt_invoke(world.context(0), &entry, nullptr),
            BRAID_RT_FAILED);
  mayEnd = true;
  other.join();
  EXPECT_EQ(world.error(0),
            "rank 0: another thread is already running this rank");
  EXPECT_TRUE(world.run([](int32_t) {}));
  EXPECT_EQ(world.error(0), "");
}

TEST(Program, WhatIsNoProgramIsRefused) {
  char error[512];
  EXPECT_EQ(braid_rt_load("/no/such/file.so", error, sizeof(error)), nullptr);
  EXPECT_THAT(std::string(error), HasSubstr("cannot load /no/such/file.so"));
}

TEST(Program, EntriesAreFoundByName) {
  static const braid_rt_entry a = {"a", nullptr, 0, nullptr, nullptr},
                              b = {"main", nullptr, 0, nullptr, nullptr};
  static const braid_rt_entry *const both[] = {&a, &b}, *const one[] = {&a};
  braid_rt_program program = {
      BRAID_RT_ABI_VERSION, 0, "p", 0, nullptr, 2, both};
  char error[256] = "";
  EXPECT_EQ(braid_rt_find_entry(&program, "a", error, sizeof(error)), &a);
  EXPECT_EQ(braid_rt_find_entry(&program, nullptr, error, sizeof(error)), &b);
  EXPECT_EQ(braid_rt_find_entry(&program, "c", error, sizeof(error)), nullptr);
  EXPECT_THAT(std::string(error), HasSubstr("no entry 'c'; there is a, main"));
  program.entryCount = 1;
  program.entries = one;
  EXPECT_EQ(braid_rt_find_entry(&program, nullptr, error, sizeof(error)), &a);
}
