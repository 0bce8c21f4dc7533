//===- BadOperandsTest.cpp - Starts and waits that are refused --*- C++ -*-===//
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

#include "../Harness.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace braid::test;
using testing::HasSubstr;

static float memory[1024];

/// A view of the static memory.
static braid_rt_view viewOf(const int64_t *sizes, int32_t rank,
                            int32_t dtype = BRAID_RT_F32, int offset = 0) {
  return {memory + offset, sizes, dtype, rank};
}

static constexpr int64_t four[] = {4}, five[] = {5}, eight[] = {8};

/// An all-reduce of one view into another.
static void allReduce(braid_rt_view from, braid_rt_view to,
                      int32_t reduction = BRAID_RT_SUM) {
  braid_rt_all_reduce(&worldGroup, 1, &from, &to, reduction, nullptr, nullptr);
}

static void allToAll(int64_t count, const int64_t *in, const int64_t *out) {
  braid_rt_view a = viewOf(four, 1);
  braid_rt_view b = viewOf(four, 1, BRAID_RT_F32, 64);
  braid_rt_all_to_all_splits(&worldGroup, 1, &a, &b, count, in, out, nullptr);
}

static const braid_rt_group *groupOf(const char *name) {
  static Group outside("outside", {{1}}), big("big", {{0, 7}}),
      twice("twice", {{0, 1}, {1}});
  for (const Group *group : {&outside, &big, &twice})
    if (std::string(group->get()->name) == name)
      return group->get();
  return nullptr;
}

namespace {
/// What one rank of two does while the other one does nothing, and what the
/// error says.
struct Refusal {
  const char *name;
  void (*body)();
  const char *text;
};
class RefusalTest : public testing::TestWithParam<Refusal> {};
} // namespace

static const Refusal refusals[] = {
    {"ResultOfAnotherShape",
     [] { allReduce(viewOf(four, 1), viewOf(five, 1)); },
     "the result is tensor<5xf32>, expected tensor<4xf32>"},
    {"GatheredResultOfAnotherShape",
     [] {
       braid_rt_view a = viewOf(four, 1), b = viewOf(five, 1);
       braid_rt_all_gather(&worldGroup, 1, &a, &b, 0, nullptr);
     },
     "the result is tensor<5xf32>, expected tensor<8xf32>"},
    {"DimensionOutOfRange",
     [] {
       braid_rt_view a = viewOf(four, 1), b = viewOf(eight, 1);
       braid_rt_all_gather(&worldGroup, 1, &a, &b, 1, nullptr);
     },
     "dim 1 is out of range for tensor<4xf32>"},
    {"SizeThatCannotBeDivided",
     [] {
       braid_rt_view a = viewOf(five, 1), b = viewOf(four, 1);
       braid_rt_reduce_scatter(&worldGroup, 1, &a, &b, BRAID_RT_SUM, nullptr, 0,
                               nullptr);
     },
     "size 5 of dimension 0 cannot be divided among 2"},
    {"ResultOfAnotherType",
     [] { allReduce(viewOf(four, 1), viewOf(four, 1, BRAID_RT_I32, 64)); },
     "the operand is tensor<4xf32>, the result tensor<4xi32>"},
    {"RootOutOfRange",
     [] {
       braid_rt_view a = viewOf(four, 1);
       braid_rt_broadcast(&worldGroup, 1, &a, &a, 2, nullptr);
     },
     "root 2 is no index of a group of 2 ranks"},
    {"UnknownElementType",
     [] {
       braid_rt_view a = viewOf(four, 1, 77);
       braid_rt_broadcast(&worldGroup, 1, &a, &a, 0, nullptr);
     },
     "77 is no element type"},
    {"BitwiseReductionOfFloats",
     [] { allReduce(viewOf(four, 1), viewOf(four, 1), BRAID_RT_BAND); },
     "band is not defined for f32"},
    {"MaximumOfComplexNumbers",
     [] {
       braid_rt_view a = viewOf(four, 1, BRAID_RT_COMPLEX_F32);
       allReduce(a, a, BRAID_RT_MAX);
     },
     "max is not defined for complex<f32>"},
    {"UnknownReduction",
     [] { allReduce(viewOf(four, 1), viewOf(four, 1), 42); },
     "42 is no reduction"},
    {"ScaledSumWithoutScale",
     [] { allReduce(viewOf(four, 1), viewOf(four, 1), BRAID_RT_PREMUL_SUM); },
     "premul_sum has no scale"},
    {"OverlappingBuffers",
     [] { allReduce(viewOf(four, 1), viewOf(four, 1, BRAID_RT_F32, 2)); },
     "the source and the destination overlap"},
    {"SplitsThatDoNotAddUp",
     [] {
       int64_t in[] = {1, 2}, out[] = {2, 2};
       allToAll(2, in, out);
     },
     "this rank's splits add up to 3, expected 4"},
    {"SplitsOfAnotherCount",
     [] {
       int64_t in[] = {1, 2, 1};
       allToAll(3, in, in);
     },
     "3 splits, expected one for each of the 2 ranks"},
    {"NegativeSplit",
     [] {
       int64_t in[] = {-1, 5};
       allToAll(2, in, in);
     },
     "split -1 is negative"},
    {"SourceTwiceInAPermute",
     [] {
       int64_t pairs[] = {0, 1, 0, 0};
       braid_rt_view a = viewOf(four, 1);
       braid_rt_permute(&worldGroup, 1, &a, &a, 2, pairs, nullptr);
     },
     "0 is twice a source"},
    {"PermuteOutsideTheGroup",
     [] {
       int64_t pairs[] = {0, 2};
       braid_rt_view a = viewOf(four, 1);
       braid_rt_permute(&worldGroup, 1, &a, &a, 1, pairs, nullptr);
     },
     "2 is no index of a group of 2 ranks"},
    {"GroupWithAnUnknownRank", [] { braid_rt_rank(groupOf("big"), nullptr); },
     "group @big names rank 7, but the program runs on 2 ranks"},
    {"GroupWithARepeatedRank", [] { braid_rt_size(groupOf("twice"), nullptr); },
     "group @twice has rank 1 twice"},
    {"GroupWithoutThisRank",
     [] {
       braid_rt_site site = siteAt(5);
       braid_rt_barrier(groupOf("outside"), &site);
     },
     "prog.mlir:5:3: rank 0: this rank is in no list of group @outside"},
    {"WaitForWhatIsNoRequest",
     [] {
       braid_rt_site site = siteAt(4, "b");
       braid_rt_wait(reinterpret_cast<void *>(uintptr_t(0x55)), &site);
     },
     "prog.mlir:4:3 (b): rank 0: "},
};

TEST_P(RefusalTest, IsAnErrorThatSaysWhatWasFoundAndExpected) {
  BRAID_NEEDS_OWN_WORLD(2);
  World world(2);
  world.run([&](int32_t rank) {
    if (rank == 0)
      GetParam().body();
  });
  if (world.isLocal(0))
    EXPECT_THAT(world.error(0), HasSubstr(GetParam().text));
  if (world.isLocal(1))
    EXPECT_EQ(world.error(1), "");
}

INSTANTIATE_TEST_SUITE_P(All, RefusalTest, testing::ValuesIn(refusals),
                         [](const testing::TestParamInfo<Refusal> &info) {
                           return info.param.name;
                         });

TEST(Waits, WaitTooManyIsAnError) {
  BRAID_NEEDS_OWN_WORLD(2);
  World world(2);
  world.run([](int32_t) {
    void *request = braid_rt_barrier(&worldGroup, nullptr);
    braid_rt_wait(request, nullptr);
    braid_rt_wait(request, nullptr);
  });
  for (int32_t rank : world.localRanks())
    EXPECT_THAT(world.error(rank), HasSubstr("awaited already"));
}

TEST(Waits, EndWithoutAWaitIsAnError) {
  BRAID_NEEDS_OWN_WORLD(1);
  World world(1);
  world.run([](int32_t) {
    braid_rt_site site = siteAt(8, "bar");
    braid_rt_barrier(&worldGroup, &site);
  });
  EXPECT_EQ(world.error(0), "prog.mlir:8:3 (bar): rank 0: the program ended "
                            "without waiting for barrier on @world");
}
