//===- CollectivesTest.cpp - Every collective, type and number of ranks ---===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Harness.h"
#include "../Reference.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

using namespace braid::test;

namespace {
/// One case: an element type on a number of ranks.
class CollectivesTest
    : public testing::TestWithParam<std::tuple<int32_t, int32_t>> {
protected:
  int32_t dtype = std::get<0>(GetParam());
  int32_t ranks = std::get<1>(GetParam());
  /// The results are of reductions.
  bool reduces = false;

  void SetUp() override { BRAID_NEEDS_SHARED_WORLD(ranks); }

  /// What a rank's body starts, given its source and destination.
  using Start = std::function<void *(int32_t rank, braid_rt_view *source,
                                     braid_rt_view *destination)>;

  std::vector<Buffer> makeSources(const std::vector<int64_t> &sizes,
                                  uint64_t seed) const {
    std::vector<Buffer> sources;
    for (int32_t rank = 0; rank < ranks; ++rank) {
      sources.emplace_back(dtype, sizes);
      sources.back().fill(seed * 100 + static_cast<uint64_t>(rank));
    }
    return sources;
  }

  /// Runs the collective and compares every rank's destination. With `inPlace`
  /// odd ranks use one buffer as source and destination.
  void check(std::vector<Buffer> sources, const std::vector<Buffer> &expected,
             const Start &start, bool inPlace, const std::string &what) {
    std::vector<Buffer> destinations;
    for (const Buffer &buffer : expected)
      destinations.emplace_back(buffer.dtype, buffer.sizes);
    World &world = sharedWorld(ranks);
    bool ok = world.run([&](int32_t rank) {
      braid_rt_view source = sources[rank].view();
      braid_rt_view destination = destinations[rank].view();
      if (inPlace && rank % 2 == 1)
        destination = source;
      braid_rt_site site = siteAt(1);
      braid_rt_wait(start(rank, &source, &destination), &site);
    });
    ASSERT_TRUE(ok) << what << ": " << world.errors();
    for (int32_t rank : world.localRanks()) {
      const Buffer &found =
          inPlace && rank % 2 == 1 ? sources[rank] : destinations[rank];
      EXPECT_TRUE(reduces ? isReduced(found, expected[rank], ranks)
                          : found.data == expected[rank].data)
          << what << " of " << braid_rt_dtype_name(dtype) << ", rank " << rank
          << " of " << ranks << (inPlace ? ", in place" : "");
    }
  }

  /// The sizes on which kinds are tried: with dimension 0 divisible by all
  /// numbers of ranks; scalars and empty tensors have tests of their own.
  std::vector<int64_t> sizes() const {
    return {static_cast<int64_t>(ranks) * 2, 3, 5};
  }

  std::vector<Buffer> makeScales(int32_t reduction) const {
    std::vector<Buffer> scales;
    for (int32_t rank = 0; rank < ranks; ++rank) {
      scales.emplace_back(dtype, std::vector<int64_t>{});
      encode(scales.back(), 0, rank % 2 ? 2.0 : -1.0, 0.5 * rank);
    }
    return reduction == BRAID_RT_PREMUL_SUM ? scales : std::vector<Buffer>();
  }

  static const void *scaleOf(std::vector<Buffer> &scales, int32_t rank) {
    return scales.empty() ? nullptr : scales[rank].data.data();
  }
};
} // namespace

TEST_P(CollectivesTest, AllReduce) {
  BRAID_NEEDS(whyNoReductions(dtype));
  reduces = true;
  for (int32_t reduction : reductionsOf(dtype, ranks)) {
    std::vector<Buffer> sources = makeSources(sizes(), 1);
    std::vector<Buffer> scales = makeScales(reduction);
    std::vector<Buffer> expected(ranks,
                                 reduceReference(reduction, sources, scales));
    for (bool inPlace : {false, true})
      check(
          sources, expected,
          [&](int32_t rank, braid_rt_view *from, braid_rt_view *to) {
            return braid_rt_all_reduce(&worldGroup, 1, from, to, reduction,
                                       scaleOf(scales, rank), nullptr);
          },
          inPlace, braid_rt_reduction_name(reduction));
  }
}

TEST_P(CollectivesTest, Reduce) {
  BRAID_NEEDS(whyNoReductions(dtype));
  reduces = true;
  for (int32_t reduction : reductionsOf(dtype, ranks)) {
    int32_t root = ranks - 1;
    std::vector<Buffer> sources = makeSources(sizes(), 2);
    std::vector<Buffer> scales = makeScales(reduction);
    // A rank that is not the root gets its own operand.
    std::vector<Buffer> expected = sources;
    expected[root] = reduceReference(reduction, sources, scales);
    for (bool inPlace : {false, true})
      check(
          sources, expected,
          [&](int32_t rank, braid_rt_view *from, braid_rt_view *to) {
            return braid_rt_reduce(&worldGroup, 1, from, to, reduction,
                                   scaleOf(scales, rank), root, nullptr);
          },
          inPlace, braid_rt_reduction_name(reduction));
  }
}

TEST_P(CollectivesTest, ReduceScatter) {
  BRAID_NEEDS(whyNoReductions(dtype));
  reduces = true;
  for (int32_t reduction : reductionsOf(dtype, ranks))
    for (int64_t dim : {0, 1, 2}) {
      if (!whyNoDimension(dim).empty())
        continue;
      std::vector<int64_t> whole = {4, 3, 2};
      whole[dim] *= ranks;
      std::vector<Buffer> sources = makeSources(whole, 3);
      std::vector<Buffer> scales = makeScales(reduction);
      Buffer reduced = reduceReference(reduction, sources, scales);
      std::vector<Buffer> expected;
      for (int32_t rank = 0; rank < ranks; ++rank)
        expected.push_back(slice(reduced, dim, rank, ranks));
      check(
          sources, expected,
          [&](int32_t rank, braid_rt_view *from, braid_rt_view *to) {
            return braid_rt_reduce_scatter(&worldGroup, 1, from, to, reduction,
                                           scaleOf(scales, rank), dim, nullptr);
          },
          /*inPlace=*/false, braid_rt_reduction_name(reduction));
    }
}

TEST_P(CollectivesTest, Broadcast) {
  int32_t root = ranks / 2;
  std::vector<Buffer> sources = makeSources(sizes(), 4);
  for (bool inPlace : {false, true})
    check(
        sources, std::vector<Buffer>(ranks, sources[root]),
        [&](int32_t, braid_rt_view *from, braid_rt_view *to) {
          return braid_rt_broadcast(&worldGroup, 1, from, to, root, nullptr);
        },
        inPlace, "broadcast");
}

TEST_P(CollectivesTest, AllGather) {
  for (int64_t dim : {0, 1, 2}) {
    if (!whyNoDimension(dim).empty())
      continue;
    std::vector<Buffer> sources = makeSources({2, 3, 5}, 5);
    check(
        sources, std::vector<Buffer>(ranks, concatenate(sources, dim)),
        [&](int32_t, braid_rt_view *from, braid_rt_view *to) {
          return braid_rt_all_gather(&worldGroup, 1, from, to, dim, nullptr);
        },
        /*inPlace=*/false, "all_gather");
  }
}

TEST_P(CollectivesTest, Gather) {
  int32_t root = ranks - 1;
  std::vector<Buffer> sources = makeSources({2, 3}, 6);
  Buffer whole = concatenate(sources, 0);
  std::vector<Buffer> expected(ranks, zeros(dtype, whole.sizes));
  expected[root] = whole;
  check(
      sources, expected,
      [&](int32_t, braid_rt_view *from, braid_rt_view *to) {
        return braid_rt_gather(&worldGroup, 1, from, to, root, nullptr);
      },
      /*inPlace=*/false, "gather");
}

TEST_P(CollectivesTest, Scatter) {
  int32_t root = ranks / 2;
  std::vector<Buffer> sources = makeSources(sizes(), 7);
  std::vector<Buffer> expected;
  for (int32_t rank = 0; rank < ranks; ++rank)
    expected.push_back(slice(sources[root], 0, rank, ranks));
  check(
      sources, expected,
      [&](int32_t, braid_rt_view *from, braid_rt_view *to) {
        return braid_rt_scatter(&worldGroup, 1, from, to, root, nullptr);
      },
      /*inPlace=*/false, "scatter");
}

TEST_P(CollectivesTest, AllToAll) {
  std::vector<Buffer> sources = makeSources(sizes(), 8);
  std::vector<Buffer> expected;
  for (int32_t rank = 0; rank < ranks; ++rank) {
    std::vector<Buffer> parts;
    for (const Buffer &source : sources)
      parts.push_back(slice(source, 0, rank, ranks));
    expected.push_back(concatenate(parts, 0));
  }
  for (bool inPlace : {false, true})
    check(
        sources, expected,
        [&](int32_t, braid_rt_view *from, braid_rt_view *to) {
          return braid_rt_all_to_all(&worldGroup, 1, from, to, nullptr);
        },
        inPlace, "all_to_all");
}

/// Rows that i sends to j: different for all pairs, some none.
static int64_t splitOf(int64_t i, int64_t j) { return (2 * i + 3 * j) % 4; }

TEST_P(CollectivesTest, AllToAllWithSplits) {
  std::vector<Buffer> sources, expected;
  std::vector<std::vector<int64_t>> sent(ranks), received(ranks);
  std::vector<int64_t> matrix;
  std::vector<std::vector<Buffer>> parts(ranks);
  for (int32_t i = 0; i < ranks; ++i) {
    std::vector<Buffer> own;
    for (int32_t j = 0; j < ranks; ++j) {
      sent[i].push_back(splitOf(i, j));
      received[i].push_back(splitOf(j, i));
      matrix.push_back(splitOf(i, j));
      own.emplace_back(dtype, std::vector<int64_t>{splitOf(i, j), 3});
      own.back().fill(static_cast<uint64_t>(i * 10 + j));
      parts[j].push_back(own.back());
    }
    sources.push_back(concatenate(own, 0));
  }
  for (int32_t j = 0; j < ranks; ++j)
    expected.push_back(concatenate(parts[j], 0));
  check(
      sources, expected,
      [&](int32_t rank, braid_rt_view *from, braid_rt_view *to) {
        return braid_rt_all_to_all_splits(&worldGroup, 1, from, to, ranks,
                                          sent[rank].data(),
                                          received[rank].data(), nullptr);
      },
      /*inPlace=*/false, "all_to_all splits");
  check(
      sources, expected,
      [&](int32_t, braid_rt_view *from, braid_rt_view *to) {
        return braid_rt_all_to_all_matrix(&worldGroup, 1, from, to, ranks,
                                          matrix.data(), nullptr);
      },
      /*inPlace=*/false, "all_to_all matrix");
}

TEST_P(CollectivesTest, Permute) {
  // A ring that leaves rank 0 without a source.
  std::vector<int64_t> pairs;
  std::vector<Buffer> sources = makeSources(sizes(), 9);
  std::vector<Buffer> expected(ranks, zeros(dtype, sizes()));
  for (int32_t rank = 0; rank + 1 < ranks; ++rank) {
    pairs.push_back(rank);
    pairs.push_back(rank + 1);
    expected[rank + 1] = sources[rank];
  }
  for (bool inPlace : {false, true})
    check(
        sources, expected,
        [&](int32_t, braid_rt_view *from, braid_rt_view *to) {
          return braid_rt_permute(&worldGroup, 1, from, to, ranks - 1,
                                  pairs.data(), nullptr);
        },
        inPlace, "permute");
}

TEST_P(CollectivesTest, SendAndReceiveAroundARing) {
  if (ranks == 1)
    GTEST_SKIP() << "a rank cannot send to itself";
  std::vector<Buffer> sources = makeSources(sizes(), 10);
  std::vector<Buffer> expected;
  for (int32_t rank = 0; rank < ranks; ++rank)
    expected.push_back(sources[(rank + ranks - 1) % ranks]);
  check(
      sources, expected,
      [&](int32_t rank, braid_rt_view *from, braid_rt_view *to) {
        void *send =
            braid_rt_send(&worldGroup, 1, from, (rank + 1) % ranks, nullptr);
        void *receive = braid_rt_recv(&worldGroup, 1, to,
                                      (rank + ranks - 1) % ranks, nullptr);
        braid_rt_wait(send, nullptr);
        return receive;
      },
      /*inPlace=*/false, "send and recv");
}

TEST(SmallFloats, EveryCodeSurvivesAReduction) {
  BRAID_NEEDS_SHARED_WORLD(1);
  for (int32_t dtype :
       {BRAID_RT_F16, BRAID_RT_BF16, BRAID_RT_F8E4M3FN, BRAID_RT_F8E5M2}) {
    int64_t size = braid_rt_dtype_size(dtype);
    int64_t count = size == 2 ? 65536 : 256;
    Buffer source(dtype, {count}), result(dtype, {count});
    for (int64_t i = 0; i < count; ++i)
      for (int64_t byte = 0; byte < size; ++byte)
        source.data[i * size + byte] = static_cast<char>(i >> (8 * byte));
    World &world = sharedWorld(1);
    ASSERT_TRUE(world.run([&](int32_t) {
      braid_rt_view from = source.view(), to = result.view();
      braid_rt_wait(braid_rt_all_reduce(&worldGroup, 1, &from, &to,
                                        BRAID_RT_SUM, nullptr, nullptr),
                    nullptr);
    }));
    for (int64_t i = 0; i < count; ++i) {
      double before = decode(source, i), after = decode(result, i);
      if (std::isnan(before))
        EXPECT_TRUE(std::isnan(after)) << i;
      else
        EXPECT_TRUE(before == after &&
                    std::signbit(before) == std::signbit(after))
            << braid_rt_dtype_name(dtype) << " " << i << ": " << before
            << " became " << after;
    }
  }
}

TEST(SmallFloats, SumsThatAreTooLargeOverflowAsTheFormatSays) {
  BRAID_NEEDS_SHARED_WORLD(2);
  BRAID_NEEDS(whyNoOrder());
  // 0x7e is the largest E4M3FN, 448; 0x7b the largest E5M2, 57344.
  struct {
    int32_t dtype;
    uint8_t largest, sum;
  } cases[] = {{BRAID_RT_F8E4M3FN, 0x7e, 0x7f}, {BRAID_RT_F8E5M2, 0x7b, 0x7c}};
  for (const auto &c : cases) {
    uint8_t values[] = {c.largest, static_cast<uint8_t>(c.largest | 0x80)};
    uint8_t sums[2] = {}, differences[2] = {1, 1};
    World &world = sharedWorld(2);
    ASSERT_TRUE(world.run([&](int32_t rank) {
      braid_rt_view large = {&values[0], nullptr, c.dtype, 0};
      braid_rt_view own = {&values[rank], nullptr, c.dtype, 0};
      braid_rt_view sum = {&sums[rank], nullptr, c.dtype, 0};
      braid_rt_view difference = {&differences[rank], nullptr, c.dtype, 0};
      braid_rt_wait(braid_rt_all_reduce(&worldGroup, 1, &large, &sum,
                                        BRAID_RT_SUM, nullptr, nullptr),
                    nullptr);
      braid_rt_wait(braid_rt_all_reduce(&worldGroup, 1, &own, &difference,
                                        BRAID_RT_SUM, nullptr, nullptr),
                    nullptr);
    }));
    for (int32_t rank : world.localRanks()) {
      EXPECT_EQ(sums[rank], c.sum);
      EXPECT_EQ(differences[rank], 0);
    }
  }
}

/// `bf16On4`.
static std::string
caseName(const testing::TestParamInfo<std::tuple<int32_t, int32_t>> &info) {
  std::string name = braid_rt_dtype_name(std::get<0>(info.param));
  for (char &c : name)
    if (c == '<' || c == '>')
      c = '_';
  return name + "On" + std::to_string(std::get<1>(info.param));
}

/// Every type on 2 and 3 ranks; on the other numbers of ranks a type of each
/// size, or every type if BRAID_TEST_ALL_TYPES is set.
static std::vector<std::tuple<int32_t, int32_t>> makeCases() {
  const int32_t ofEachSize[] = {BRAID_RT_I8, BRAID_RT_BF16, BRAID_RT_F32,
                                BRAID_RT_I64, BRAID_RT_COMPLEX_F64};
  bool all = std::getenv("BRAID_TEST_ALL_TYPES") != nullptr;
  std::vector<std::tuple<int32_t, int32_t>> cases;
  for (int32_t dtype = 0; dtype < BRAID_RT_DTYPE_COUNT; ++dtype) {
    bool onAll = all || std::find(std::begin(ofEachSize), std::end(ofEachSize),
                                  dtype) != std::end(ofEachSize);
    for (int32_t ranks : {1, 2, 3, 4, 8})
      if (onAll || ranks == 2 || ranks == 3)
        cases.emplace_back(dtype, ranks);
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, CollectivesTest, testing::ValuesIn(makeCases()),
                         caseName);
