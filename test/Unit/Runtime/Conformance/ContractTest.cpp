//===- ContractTest.cpp - The fine points of the engines' contract --------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Harness.h"
#include "../Reference.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace braid::test;

namespace {
/// The shared worlds of some sizes.
class ContractTest : public testing::TestWithParam<int32_t> {
protected:
  void SetUp() override {
    BRAID_NEEDS_SHARED_WORLD(ranks);
    world = &sharedWorld(ranks);
  }

  std::vector<Buffer> makeBuffers(int32_t dtype,
                                  const std::vector<int64_t> &sizes,
                                  uint64_t seed = 0) const {
    std::vector<Buffer> buffers;
    for (int32_t rank = 0; rank < ranks; ++rank) {
      buffers.emplace_back(dtype, sizes);
      if (seed)
        buffers.back().fill(seed * 64 + static_cast<uint64_t>(rank));
    }
    return buffers;
  }

  /// All-reduces the sources and returns the local results.
  std::vector<Buffer> allReduce(std::vector<Buffer> &sources,
                                int32_t reduction) {
    std::vector<Buffer> results =
        makeBuffers(sources[0].dtype, sources[0].sizes);
    EXPECT_TRUE(world->run([&](int32_t rank) {
      braid_rt_view from = sources[rank].view(), to = results[rank].view();
      braid_rt_wait(braid_rt_all_reduce(&worldGroup, 1, &from, &to, reduction,
                                        nullptr, nullptr),
                    nullptr);
    })) << world->errors();
    return results;
  }

  int32_t ranks = GetParam();
  World *world = nullptr;
};
} // namespace

INSTANTIATE_TEST_SUITE_P(Ranks, ContractTest, testing::Values(1, 2, 3, 4),
                         testing::PrintToStringParamName());

static constexpr int32_t floatTypes[] = {BRAID_RT_F16,      BRAID_RT_BF16,
                                         BRAID_RT_F32,      BRAID_RT_F64,
                                         BRAID_RT_F8E4M3FN, BRAID_RT_F8E5M2};

TEST_P(ContractTest, ReductionsCombineInTheOrderOfTheRanks) {
  BRAID_NEEDS(whyNoOrder());
  // Large values cancel in one order alone, and the exponents are spread, so
  // that any other order or association rounds to other bits. Sizes around the
  // pieces into which engines cut an operand.
  for (int32_t dtype : {BRAID_RT_F32, BRAID_RT_F64, BRAID_RT_F16, BRAID_RT_BF16,
                        BRAID_RT_COMPLEX_F32})
    for (int64_t count : {1, 7, 1023, 40001}) {
      std::vector<Buffer> sources = makeBuffers(dtype, {count}, 5);
      for (int32_t rank = 0; rank < ranks; ++rank)
        for (int64_t i = 0; i < count; ++i) {
          double value =
              decode(sources[rank], i) * std::exp2((i * 7 + rank * 5) % 13);
          encode(sources[rank], i, value, -value);
        }
      for (int32_t reduction : {BRAID_RT_SUM, BRAID_RT_AVG}) {
        Buffer expected = reduceReference(reduction, sources, {});
        std::vector<Buffer> found = allReduce(sources, reduction);
        for (int32_t rank : world->localRanks())
          EXPECT_TRUE(found[rank].data == expected.data)
              << braid_rt_reduction_name(reduction) << " of "
              << braid_rt_dtype_name(dtype) << ", " << count << " elements";
      }
    }
}

TEST_P(ContractTest, IntegersWrapAround) {
  std::vector<Buffer> sources = makeBuffers(BRAID_RT_I8, {256});
  for (int32_t rank = 0; rank < ranks; ++rank)
    for (int i = 0; i < 256; ++i)
      sources[rank].data[i] = static_cast<char>(i + rank);
  for (int32_t reduction : {BRAID_RT_SUM, BRAID_RT_PRODUCT, BRAID_RT_AVG}) {
    if (!whyNoReduction(reduction, BRAID_RT_I8).empty())
      continue;
    Buffer expected = reduceReference(reduction, sources, {});
    std::vector<Buffer> found = allReduce(sources, reduction);
    for (int32_t rank : world->localRanks())
      EXPECT_TRUE(found[rank].data == expected.data)
          << braid_rt_reduction_name(reduction);
  }
}

TEST_P(ContractTest, NaNOfAnyRankReachesAllRanks) {
  // What NCCL's least and greatest of a NaN and a number is, it does not say.
  BRAID_NEEDS(whyNoOrder());
  // Element i has a NaN on rank i, the last one on none.
  for (int32_t dtype : floatTypes)
    for (int32_t reduction : {BRAID_RT_SUM, BRAID_RT_PRODUCT, BRAID_RT_MIN,
                              BRAID_RT_MAX, BRAID_RT_AVG}) {
      std::vector<Buffer> sources = makeBuffers(dtype, {ranks + 1}, 3);
      for (int32_t rank = 0; rank < ranks; ++rank) {
        encode(sources[rank], rank, std::nan(""), 0);
        ASSERT_TRUE(std::isnan(decode(sources[rank], rank)));
      }
      std::vector<Buffer> found = allReduce(sources, reduction);
      for (int32_t rank : world->localRanks())
        for (int64_t i = 0; i <= ranks; ++i)
          EXPECT_EQ(std::isnan(decode(found[rank], i)), i < ranks)
              << braid_rt_reduction_name(reduction) << " of "
              << braid_rt_dtype_name(dtype) << ", element " << i;
    }
}

TEST_P(ContractTest, ZerosAreOrderedByTheirSigns) {
  BRAID_NEEDS(whyNoOrder());
  // The first rank has the other zero than the rest.
  for (int32_t dtype : floatTypes)
    for (int32_t reduction : {BRAID_RT_MIN, BRAID_RT_MAX}) {
      std::vector<Buffer> sources = makeBuffers(dtype, {2});
      for (int32_t rank = 0; rank < ranks; ++rank) {
        encode(sources[rank], 0, rank == 0 ? -0.0 : 0.0, 0);
        encode(sources[rank], 1, rank == 0 ? 0.0 : -0.0, 0);
      }
      std::vector<Buffer> expected = makeBuffers(dtype, {2});
      for (int element = 0; element < 2; ++element)
        encode(expected[0], element,
               ranks == 1 ? (element == 0 ? -0.0 : 0.0)
                          : (reduction == BRAID_RT_MIN ? -0.0 : 0.0),
               0);
      std::vector<Buffer> found = allReduce(sources, reduction);
      for (int32_t rank : world->localRanks())
        EXPECT_TRUE(found[rank].data == expected[0].data)
            << braid_rt_reduction_name(reduction) << " of "
            << braid_rt_dtype_name(dtype);
    }
}

TEST_P(ContractTest, InfinitiesCancelToNaN) {
  if (ranks == 1)
    GTEST_SKIP() << "needs two operands";
  for (int32_t dtype : {BRAID_RT_F32, BRAID_RT_F64, BRAID_RT_BF16}) {
    std::vector<Buffer> sources = makeBuffers(dtype, {2}, 4);
    double infinity = std::numeric_limits<double>::infinity();
    encode(sources[0], 0, infinity, 0);
    encode(sources[0], 1, infinity, 0);
    encode(sources[1], 1, -infinity, 0);
    std::vector<Buffer> found = allReduce(sources, BRAID_RT_SUM);
    for (int32_t rank : world->localRanks()) {
      EXPECT_EQ(decode(found[rank], 0), infinity);
      EXPECT_TRUE(std::isnan(decode(found[rank], 1)));
    }
  }
}

//===----------------------------------------------------------------------===//
// A rank's own slice as its source or destination
//===----------------------------------------------------------------------===//

/// The view of part `part` of `parts` along dimension 0. `sizes` receives its
/// sizes.
static braid_rt_view partOf(Buffer &buffer, int64_t part, int64_t parts,
                            int64_t *sizes) {
  std::copy(buffer.sizes.begin(), buffer.sizes.end(), sizes);
  sizes[0] /= parts;
  return {buffer.data.data() + part * (buffer.bytes() / parts), sizes,
          buffer.dtype, static_cast<int32_t>(buffer.sizes.size())};
}

/// Writes each rank's part to its place in the rank's whole.
static void placeOwnParts(const std::vector<Buffer> &parts,
                          std::vector<Buffer> &whole) {
  for (size_t rank = 0; rank < parts.size(); ++rank)
    std::memcpy(whole[rank].data.data() + rank * parts[rank].bytes(),
                parts[rank].data.data(), parts[rank].bytes());
}

TEST_P(ContractTest, AllGatherTakesItsOwnSliceOfTheResult) {
  for (int64_t rows : {1, 5000}) {
    std::vector<Buffer> parts = makeBuffers(BRAID_RT_F32, {rows, 3}, 6);
    std::vector<Buffer> whole = makeBuffers(BRAID_RT_F32, {rows * ranks, 3});
    placeOwnParts(parts, whole);
    ASSERT_TRUE(world->run([&](int32_t rank) {
      int64_t sizes[2];
      braid_rt_view from = partOf(whole[rank], rank, ranks, sizes);
      braid_rt_view to = whole[rank].view();
      braid_rt_wait(braid_rt_all_gather(&worldGroup, 1, &from, &to, 0, nullptr),
                    nullptr);
    })) << world->errors();
    for (int32_t rank : world->localRanks())
      EXPECT_TRUE(whole[rank].data == concatenate(parts, 0).data);
  }
}

TEST_P(ContractTest, GatherTakesItsOwnSliceOfTheResult) {
  for (int64_t rows : {1, 5000}) {
    int64_t root = ranks - 1;
    std::vector<Buffer> parts = makeBuffers(BRAID_RT_F32, {rows, 3}, 7);
    std::vector<Buffer> whole = makeBuffers(BRAID_RT_F32, {rows * ranks, 3});
    placeOwnParts(parts, whole);
    ASSERT_TRUE(world->run([&](int32_t rank) {
      int64_t sizes[2];
      braid_rt_view from = partOf(whole[rank], rank, ranks, sizes);
      braid_rt_view to = whole[rank].view();
      braid_rt_wait(braid_rt_gather(&worldGroup, 1, &from, &to, root, nullptr),
                    nullptr);
    })) << world->errors();
    for (int32_t rank : world->localRanks())
      EXPECT_TRUE(whole[rank].data ==
                  (rank == root ? concatenate(parts, 0)
                                : zeros(BRAID_RT_F32, whole[rank].sizes))
                      .data);
  }
}

TEST_P(ContractTest, ReduceScatterGivesIntoItsOwnSliceOfTheSource) {
  for (int64_t rows : {1, 5000}) {
    std::vector<Buffer> whole = makeBuffers(BRAID_RT_F32, {rows * ranks, 3}, 8);
    Buffer reduced = reduceReference(BRAID_RT_SUM, whole, {});
    ASSERT_TRUE(world->run([&](int32_t rank) {
      int64_t sizes[2];
      braid_rt_view from = whole[rank].view();
      braid_rt_view to = partOf(whole[rank], rank, ranks, sizes);
      braid_rt_wait(braid_rt_reduce_scatter(&worldGroup, 1, &from, &to,
                                            BRAID_RT_SUM, nullptr, 0, nullptr),
                    nullptr);
    })) << world->errors();
    for (int32_t rank : world->localRanks())
      EXPECT_TRUE(isReduced(slice(whole[rank], 0, rank, ranks),
                            slice(reduced, 0, rank, ranks), ranks));
  }
}

TEST_P(ContractTest, ScatterGivesIntoItsOwnSliceOfTheSource) {
  for (int64_t rows : {1, 5000}) {
    std::vector<Buffer> whole = makeBuffers(BRAID_RT_F32, {rows * ranks, 3}, 9);
    std::vector<Buffer> before = whole;
    int64_t root = ranks - 1;
    ASSERT_TRUE(world->run([&](int32_t rank) {
      int64_t sizes[2];
      braid_rt_view from = whole[rank].view();
      braid_rt_view to = partOf(whole[rank], rank, ranks, sizes);
      braid_rt_wait(braid_rt_scatter(&worldGroup, 1, &from, &to, root, nullptr),
                    nullptr);
    })) << world->errors();
    for (int32_t rank : world->localRanks())
      EXPECT_TRUE(slice(whole[rank], 0, rank, ranks).data ==
                  slice(before[root], 0, rank, ranks).data);
  }
}

//===----------------------------------------------------------------------===//
// Zero fill, sources that stay, coalesced launches
//===----------------------------------------------------------------------===//

TEST_P(ContractTest, GatherAndPermuteGiveZerosOfAnySize) {
  for (int64_t count : {1, 1000, 300000}) {
    std::vector<Buffer> sources = makeBuffers(BRAID_RT_I16, {count}, 10);
    std::vector<Buffer> gathered = makeBuffers(BRAID_RT_I16, {count * ranks});
    std::vector<Buffer> permuted = makeBuffers(BRAID_RT_I16, {count});
    // Rank 0 sends to the last one; nobody else gets anything.
    int64_t pairs[] = {0, ranks - 1};
    ASSERT_TRUE(world->run([&](int32_t rank) {
      braid_rt_view from = sources[rank].view(), to = gathered[rank].view(),
                    moved = permuted[rank].view();
      void *gather = braid_rt_gather(&worldGroup, 1, &from, &to, 0, nullptr);
      void *permute =
          braid_rt_permute(&worldGroup, 1, &from, &moved, 1, pairs, nullptr);
      braid_rt_wait(permute, nullptr);
      braid_rt_wait(gather, nullptr);
    })) << world->errors();
    for (int32_t rank : world->localRanks()) {
      EXPECT_TRUE(gathered[rank].data ==
                  (rank == 0 ? concatenate(sources, 0)
                             : zeros(BRAID_RT_I16, {count * ranks}))
                      .data);
      EXPECT_TRUE(
          permuted[rank].data ==
          (rank == ranks - 1 ? sources[0] : zeros(BRAID_RT_I16, {count})).data);
    }
  }
}

TEST_P(ContractTest, PermuteWithoutPairsGivesZeros) {
  std::vector<Buffer> sources = makeBuffers(BRAID_RT_F32, {9}, 11);
  std::vector<Buffer> results = makeBuffers(BRAID_RT_F32, {9});
  ASSERT_TRUE(world->run([&](int32_t rank) {
    braid_rt_view from = sources[rank].view(), to = results[rank].view();
    braid_rt_wait(
        braid_rt_permute(&worldGroup, 1, &from, &to, 0, nullptr, nullptr),
        nullptr);
  })) << world->errors();
  for (int32_t rank : world->localRanks())
    EXPECT_TRUE(results[rank].data == zeros(BRAID_RT_F32, {9}).data);
}

TEST_P(ContractTest, SourcesAreNotWritten) {
  std::vector<Buffer> sources = makeBuffers(BRAID_RT_F32, {ranks * 40000}, 12);
  std::vector<Buffer> before = sources;
  std::vector<Buffer> results = makeBuffers(BRAID_RT_F32, {ranks * 40000});
  std::vector<Buffer> parts = makeBuffers(BRAID_RT_F32, {40000});
  ASSERT_TRUE(world->run([&](int32_t rank) {
    braid_rt_view from = sources[rank].view(), to = results[rank].view(),
                  part = parts[rank].view();
    braid_rt_wait(braid_rt_all_reduce(&worldGroup, 1, &from, &to, BRAID_RT_SUM,
                                      nullptr, nullptr),
                  nullptr);
    braid_rt_wait(braid_rt_reduce(&worldGroup, 1, &from, &to, BRAID_RT_SUM,
                                  nullptr, 0, nullptr),
                  nullptr);
    braid_rt_wait(braid_rt_reduce_scatter(&worldGroup, 1, &from, &part,
                                          BRAID_RT_SUM, nullptr, 0, nullptr),
                  nullptr);
    braid_rt_wait(braid_rt_all_to_all(&worldGroup, 1, &from, &to, nullptr),
                  nullptr);
  })) << world->errors();
  for (int32_t rank : world->localRanks())
    EXPECT_TRUE(sources[rank].data == before[rank].data);
}

namespace {
/// What a coalesced launch of three operands starts, by kind.
using Launch = void *(*)(const braid_rt_view *from, const braid_rt_view *to);
} // namespace

TEST_P(ContractTest, FirstWaitOfALaunchGivesTheResultsOfAllOperands) {
  const Launch launches[] = {
      [](const braid_rt_view *from, const braid_rt_view *to) {
        return braid_rt_all_reduce(&worldGroup, 3, from, to, BRAID_RT_MAX,
                                   nullptr, nullptr);
      },
      [](const braid_rt_view *from, const braid_rt_view *to) {
        return braid_rt_reduce(&worldGroup, 3, from, to, BRAID_RT_MAX, nullptr,
                               0, nullptr);
      },
      [](const braid_rt_view *from, const braid_rt_view *to) {
        return braid_rt_broadcast(&worldGroup, 3, from, to, 0, nullptr);
      },
      [](const braid_rt_view *from, const braid_rt_view *to) {
        return braid_rt_all_to_all(&worldGroup, 3, from, to, nullptr);
      },
      [](const braid_rt_view *from, const braid_rt_view *to) {
        static const int64_t self[] = {0, 0};
        return braid_rt_permute(&worldGroup, 3, from, to, 1, self, nullptr);
      }};
  const int32_t types[] = {BRAID_RT_F32, BRAID_RT_I8, BRAID_RT_F64};
  const int64_t counts[] = {5, 30000, 1};
  for (size_t kind = 0; kind < std::size(launches); ++kind) {
    std::vector<Buffer> sources[3], results[3], expected[3];
    for (int i = 0; i < 3; ++i) {
      std::vector<int64_t> sizes = {ranks * counts[i]};
      sources[i] = makeBuffers(types[i], sizes, static_cast<uint64_t>(20 + i));
      results[i] = makeBuffers(types[i], sizes);
      Buffer most = reduceReference(BRAID_RT_MAX, sources[i], {});
      for (int32_t rank = 0; rank < ranks; ++rank) {
        std::vector<Buffer> parts;
        for (const Buffer &source : sources[i])
          parts.push_back(slice(source, 0, rank, ranks));
        const Buffer models[] = {most, rank == 0 ? most : sources[i][rank],
                                 sources[i][0], concatenate(parts, 0),
                                 rank == 0 ? sources[i][0]
                                           : zeros(types[i], sizes)};
        expected[i].push_back(models[kind]);
      }
    }
    std::vector<std::vector<Buffer>> first(ranks, std::vector<Buffer>(3));
    ASSERT_TRUE(world->run([&](int32_t rank) {
      braid_rt_view from[3], to[3];
      for (int i = 0; i < 3; ++i) {
        from[i] = sources[i][rank].view();
        to[i] = results[i][rank].view();
      }
      void *request = launches[kind](from, to);
      braid_rt_wait(request, nullptr);
      for (int i = 0; i < 3; ++i)
        first[rank][i] = results[i][rank];
      braid_rt_wait(request, nullptr);
      braid_rt_wait(request, nullptr);
    })) << world->errors();
    for (int32_t rank : world->localRanks())
      for (int i = 0; i < 3; ++i)
        EXPECT_TRUE(first[rank][i].data == expected[i][rank].data)
            << "kind " << kind << ", operand " << i << ", rank " << rank;
  }
}

TEST_P(ContractTest, LaunchesOfMessagesAreAwaitedForEachOperand) {
  if (ranks == 1)
    GTEST_SKIP() << "a rank cannot send to itself";
  std::vector<Buffer> a = makeBuffers(BRAID_RT_F32, {7}, 30),
                      b = makeBuffers(BRAID_RT_I64, {20000}, 31);
  std::vector<Buffer> c = makeBuffers(BRAID_RT_F32, {7}),
                      d = makeBuffers(BRAID_RT_I64, {20000});
  ASSERT_TRUE(world->run([&](int32_t rank) {
    braid_rt_view from[] = {a[rank].view(), b[rank].view()};
    braid_rt_view to[] = {c[rank].view(), d[rank].view()};
    void *send =
        braid_rt_send(&worldGroup, 2, from, (rank + 1) % ranks, nullptr);
    void *receive =
        braid_rt_recv(&worldGroup, 2, to, (rank + ranks - 1) % ranks, nullptr);
    for (void *request : {send, receive, receive, send})
      braid_rt_wait(request, nullptr);
  })) << world->errors();
  for (int32_t rank : world->localRanks()) {
    EXPECT_TRUE(c[rank].data == a[(rank + ranks - 1) % ranks].data);
    EXPECT_TRUE(d[rank].data == b[(rank + ranks - 1) % ranks].data);
  }
}

TEST_P(ContractTest, HostWaitGivesTheResults) {
  std::vector<Buffer> sources = makeBuffers(BRAID_RT_I32, {100}, 32);
  std::vector<Buffer> results = makeBuffers(BRAID_RT_I32, {100});
  ASSERT_TRUE(world->run([&](int32_t rank) {
    braid_rt_view from = sources[rank].view(), to = results[rank].view();
    braid_rt_host_wait(braid_rt_all_reduce(&worldGroup, 1, &from, &to,
                                           BRAID_RT_SUM, nullptr, nullptr),
                       nullptr);
  })) << world->errors();
  Buffer expected = reduceReference(BRAID_RT_SUM, sources, {});
  for (int32_t rank : world->localRanks())
    EXPECT_TRUE(results[rank].data == expected.data);
}
