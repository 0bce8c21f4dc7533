//===- MemoryTest.cpp - Memory of compiled code -----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bodies that fail are left by longjmp: they hold nothing with a destructor.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstring>
#include <utility>

using namespace braid::test;
using testing::HasSubstr;

static braid_rt_statistics statisticsOf(World &world, int32_t rank = 0) {
  braid_rt_statistics statistics;
  braid_rt_get_statistics(world.context(rank), &statistics);
  return statistics;
}

TEST(Memory, IsAlignedAndCounted) {
  World world(1);
  bool aligned = true;
  ASSERT_TRUE(world.run([&](int32_t) {
    for (size_t size : {0, 1, 63, 64, 65, 100000}) {
      void *memory = _mlir_memref_to_llvm_alloc(size);
      aligned &= reinterpret_cast<uintptr_t>(memory) % 64 == 0;
      std::memset(memory, 7, size);
      _mlir_memref_to_llvm_free(memory);
    }
    void *wide = _mlir_memref_to_llvm_aligned_alloc(4096, 100);
    aligned &= reinterpret_cast<uintptr_t>(wide) % 4096 == 0;
    void *more = _mlir_memref_to_llvm_alloc(1000);
    _mlir_memref_to_llvm_free(wide);
    _mlir_memref_to_llvm_free(more);
    _mlir_memref_to_llvm_free(nullptr);
  }));
  EXPECT_TRUE(aligned);
  braid_rt_statistics statistics = statisticsOf(world);
  EXPECT_EQ(statistics.currentBytes, 0);
  EXPECT_EQ(statistics.peakBytes, 100000);
  EXPECT_EQ(statistics.allocations, 8);
  EXPECT_EQ(statistics.leakedBytes, 0);
}

TEST(Memory, PeakIsThatOfOneRank) {
  World world(2);
  ASSERT_TRUE(world.run([&](int32_t rank) {
    void *a = _mlir_memref_to_llvm_alloc(1000);
    void *b = _mlir_memref_to_llvm_alloc(rank ? 500 : 200);
    _mlir_memref_to_llvm_free(a);
    void *c = _mlir_memref_to_llvm_alloc(700);
    _mlir_memref_to_llvm_free(b);
    _mlir_memref_to_llvm_free(c);
  }));
  EXPECT_EQ(statisticsOf(world, 0).peakBytes, 1200);
  EXPECT_EQ(statisticsOf(world, 1).peakBytes, 1500);
  braid_rt_reset_statistics(world.context(1));
  EXPECT_EQ(statisticsOf(world, 1).peakBytes, 0);
}

TEST(Memory, LargeBlocksAreUsedAgain) {
  World world(1);
  void *first = nullptr, *second = nullptr, *larger = nullptr;
  ASSERT_TRUE(world.run([&](int32_t) {
    first = _mlir_memref_to_llvm_alloc(1 << 20);
    _mlir_memref_to_llvm_free(first);
  }));
  ASSERT_TRUE(world.run([&](int32_t) {
    second = _mlir_memref_to_llvm_alloc((1 << 20) - 1000);
    larger = _mlir_memref_to_llvm_alloc(1 << 20);
    _mlir_memref_to_llvm_free(second);
    _mlir_memref_to_llvm_free(larger);
  }));
  EXPECT_EQ(first, second);
  EXPECT_NE(first, larger);
}

TEST(Memory, SmallBlocksOfAboutASizeAreUsedAgain) {
  World world(1);
  bool sameBlock = true, apart = true, whole = true;
  ASSERT_TRUE(world.run([&](int32_t) {
    for (size_t size : {1, 64, 65, 512, 513, 700, 1000, 4097, 60000, 65536}) {
      void *first = _mlir_memref_to_llvm_alloc(size);
      void *other = _mlir_memref_to_llvm_alloc(size);
      apart &= first != other;
      _mlir_memref_to_llvm_free(first);
      void *again = _mlir_memref_to_llvm_alloc(size);
      sameBlock &= first == again;
      // Neither lies in the other.
      std::memset(again, 1, size);
      std::memset(other, 2, size);
      for (size_t i = 0; i < size; ++i)
        whole &= static_cast<char *>(again)[i] == 1;
      _mlir_memref_to_llvm_free(again);
      _mlir_memref_to_llvm_free(other);
    }
  }));
  EXPECT_TRUE(sameBlock);
  EXPECT_TRUE(apart);
  EXPECT_TRUE(whole);
  EXPECT_EQ(statisticsOf(world).currentBytes, 0);
  EXPECT_EQ(statisticsOf(world).peakBytes, 131072);
}

TEST(Memory, ASmallBlockServesTheLargestSizeOfItsKind) {
  // Sizes that share blocks: 1025 bytes take one of 1280.
  World world(1);
  bool same = true, kept = true;
  ASSERT_TRUE(world.run([&](int32_t) {
    for (auto [small, large] :
         {std::pair<size_t, size_t>{1, 64}, {1025, 1280}, {57345, 65536}}) {
      void *first = _mlir_memref_to_llvm_alloc(small);
      _mlir_memref_to_llvm_free(first);
      void *second = _mlir_memref_to_llvm_alloc(large);
      same &= first == second;
      // A neighbour would be overwritten if the block were too short.
      void *next = _mlir_memref_to_llvm_alloc(large);
      std::memset(next, 3, large);
      std::memset(second, 4, large);
      for (size_t i = 0; i < large; ++i)
        kept &= static_cast<char *>(next)[i] == 3;
      _mlir_memref_to_llvm_free(second);
      _mlir_memref_to_llvm_free(next);
    }
  }));
  EXPECT_TRUE(same);
  EXPECT_TRUE(kept);
}

TEST(Memory, WhatAFailedProgramHeldIsReleased) {
  World world(2);
  EXPECT_FALSE(world.run([](int32_t rank) {
    _mlir_memref_to_llvm_alloc(100);
    _mlir_memref_to_llvm_alloc(1 << 20);
    if (rank == 1)
      braid_rt_fail("no", nullptr);
    braid_rt_wait(braid_rt_barrier(&worldGroup, nullptr), nullptr);
  }));
  for (int32_t rank : {0, 1}) {
    EXPECT_EQ(statisticsOf(world, rank).currentBytes, 0);
    EXPECT_EQ(statisticsOf(world, rank).leakedBytes, 0);
  }
}

TEST(Memory, FailingRankWaitsForItsDataInFlightBeforeItsMemoryGoes) {
  // Rank 0 fails with a large collective under way on memory of its own; the
  // address sanitizer would see a use after free.
  World world(2);
  for (int round = 0; round < 20; ++round) {
    EXPECT_FALSE(world.run([](int32_t rank) {
      constexpr int64_t count = 1 << 18;
      int64_t sizes[] = {count};
      auto *memory =
          static_cast<float *>(_mlir_memref_to_llvm_alloc(count * 4));
      for (int64_t i = 0; i < count; ++i)
        memory[i] = 1.0F;
      braid_rt_view view = {memory, sizes, BRAID_RT_F32, 1};
      void *request = braid_rt_all_reduce(&worldGroup, 1, &view, &view,
                                          BRAID_RT_SUM, nullptr, nullptr);
      if (rank == 0)
        braid_rt_fail("stop", nullptr);
      braid_rt_wait(request, nullptr);
      braid_rt_wait(braid_rt_barrier(&worldGroup, nullptr), nullptr);
    }));
    EXPECT_THAT(world.error(1), HasSubstr("rank 0 failed: rank 0: stop"));
  }
}

TEST(Memory, LeaksAreReleasedAndCounted) {
  World world(1);
  ASSERT_TRUE(world.run([](int32_t) { _mlir_memref_to_llvm_alloc(777); }));
  EXPECT_EQ(statisticsOf(world).leakedBytes, 777);
  EXPECT_EQ(statisticsOf(world).currentBytes, 0);
}

TEST(Memory, AllocationThatCannotBeIsAnErrorThatNamesTheSize) {
  World world(1);
  EXPECT_FALSE(
      world.run([](int32_t) { _mlir_memref_to_llvm_alloc(size_t(1) << 62); }));
  EXPECT_THAT(world.error(0),
              HasSubstr("rank 0: cannot allocate 4611686018427387904 bytes"));
}

//===----------------------------------------------------------------------===//
// Results of dynamic size
//===----------------------------------------------------------------------===//

static const int64_t dynamicSizes[] = {BRAID_RT_DYNAMIC};
static const braid_rt_argument dynamicResults[] = {
    {"result0", BRAID_RT_I32, 1, dynamicSizes, BRAID_RT_OUT, BRAID_RT_MEMREF}};

namespace {
struct Memref1D {
  void *allocated, *aligned;
  int64_t offset, size, stride;
};
} // namespace

static void makeResult(void **args) {
  auto *memory = static_cast<int32_t *>(_mlir_memref_to_llvm_alloc(12));
  for (int i = 0; i < 3; ++i)
    memory[i] = i + 5;
  *static_cast<Memref1D *>(args[0]) = {memory, memory, 0, 3, 1};
}

static void makeNoMemory(void **args) {
  static int32_t constant[3] = {};
  *static_cast<Memref1D *>(args[0]) = {constant, constant, 0, 3, 1};
}

static void failAfterResult(void **args) {
  makeResult(args);
  braid_rt_fail("late", nullptr);
}

TEST(Memory, DynamicResultBelongsToTheCaller) {
  World world(1);
  Memref1D memref = {};
  void *args[] = {&memref};
  braid_rt_entry entry = {"main", makeResult, 1, dynamicResults, nullptr};
  ASSERT_EQ(braid_rt_invoke(world.context(0), &entry, args), BRAID_RT_OK);
  ASSERT_EQ(memref.size, 3);
  EXPECT_EQ(static_cast<int32_t *>(memref.aligned)[2], 7);
  EXPECT_EQ(statisticsOf(world).currentBytes, 0);
  EXPECT_EQ(statisticsOf(world).leakedBytes, 0);
  braid_rt_free(memref.allocated);
}

TEST(Memory, DynamicResultMustBeTheProgramsOwnMemory) {
  World world(1);
  Memref1D memref = {};
  void *args[] = {&memref};
  braid_rt_entry entry = {"main", makeNoMemory, 1, dynamicResults, nullptr};
  EXPECT_EQ(braid_rt_invoke(world.context(0), &entry, args), BRAID_RT_FAILED);
  EXPECT_THAT(world.error(0), HasSubstr("main returned memory for result0 that "
                                        "it had not allocated"));
  EXPECT_EQ(memref.allocated, nullptr);
}

TEST(Memory, DynamicResultOfAFailedProgramIsGone) {
  World world(1);
  Memref1D memref = {};
  void *args[] = {&memref};
  braid_rt_entry entry = {"main", failAfterResult, 1, dynamicResults, nullptr};
  EXPECT_EQ(braid_rt_invoke(world.context(0), &entry, args), BRAID_RT_FAILED);
  EXPECT_EQ(memref.allocated, nullptr);
  EXPECT_EQ(statisticsOf(world).currentBytes, 0);
}
