//===- GroupsTest.cpp - Every collective on groups of some ranks ----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Harness.h"
#include "../Reference.h"

#include "gtest/gtest.h"

using namespace braid::test;

namespace {
/// A group of a world: lists in no order, of different sizes, some ranks in
/// none.
struct Layout {
  const char *name;
  int32_t ranks;
  std::vector<std::vector<int32_t>> lists;
};

const std::vector<Layout> layouts = {
    {"Reversed", 2, {{1, 0}}},       {"PairAndOne", 3, {{2, 0}, {1}}},
    {"Rotated", 3, {{1, 2, 0}}},     {"Pairs", 4, {{3, 0}, {2, 1}}},
    {"ThreeOfFour", 4, {{3, 0, 2}}},
};

class GroupsTest : public testing::TestWithParam<std::tuple<int32_t, size_t>> {
protected:
  void SetUp() override { BRAID_NEEDS_SHARED_WORLD(layout.ranks); }

  /// By member of a list: operands and results.
  using Members = std::vector<Buffer>;
  /// Starts the collective of the member with an index in its list.
  using Start = std::function<void *(int64_t index, const braid_rt_view *source,
                                     const braid_rt_view *destination)>;

  /// Runs the collective on every list of the group with operands of these
  /// sizes, which may depend on the size of the list.
  void check(const std::string &what,
             const std::function<std::vector<int64_t>(int64_t)> &sizes,
             const std::function<Members(const Members &)> &model,
             const Start &start) {
    std::vector<Buffer> sources(layout.ranks), found(layout.ranks),
        expected(layout.ranks);
    std::vector<int64_t> indices(layout.ranks, -1);
    for (const std::vector<int32_t> &list : layout.lists) {
      Members operands;
      for (int32_t rank : list) {
        operands.emplace_back(dtype, sizes(static_cast<int64_t>(list.size())));
        operands.back().fill(static_cast<uint64_t>(rank) + 17);
      }
      Members results = model(operands);
      for (size_t i = 0; i < list.size(); ++i) {
        indices[list[i]] = static_cast<int64_t>(i);
        sources[list[i]] = operands[i];
        expected[list[i]] = results[i];
        found[list[i]] = Buffer(dtype, results[i].sizes);
      }
    }
    World &world = sharedWorld(layout.ranks);
    ASSERT_TRUE(world.run(
        [&](int32_t rank) {
          if (indices[rank] < 0)
            return;
          braid_rt_view from = sources[rank].view(), to = found[rank].view();
          braid_rt_wait(start(indices[rank], &from, &to), nullptr);
        },
        {group.get()}))
        << what << ": " << world.errors();
    for (int32_t rank : world.localRanks())
      EXPECT_TRUE(reduces ? isReduced(found[rank], expected[rank], layout.ranks)
                          : found[rank].data == expected[rank].data)
          << what << " of " << braid_rt_dtype_name(dtype) << ", rank " << rank;
  }

  static std::vector<int64_t> fixedSizes(int64_t) { return {3, 5}; }
  static std::vector<int64_t> sizesOfParts(int64_t members) {
    return {2 * members, 3};
  }

  /// The results are of reductions.
  bool reduces = false;
  int32_t dtype = std::get<0>(GetParam());
  const Layout &layout = layouts[std::get<1>(GetParam())];
  Group group{layout.name, layout.lists};
};
} // namespace

TEST_P(GroupsTest, AllReduce) {
  BRAID_NEEDS(whyNoReductions(dtype));
  reduces = true;
  for (int32_t reduction : reductionsOf(dtype)) {
    if (reduction == BRAID_RT_PREMUL_SUM)
      continue; // its scales are CollectivesTest's
    check(
        "all_reduce", fixedSizes,
        [&](const Members &in) {
          return Members(in.size(), reduceReference(reduction, in, {}));
        },
        [&](int64_t, const braid_rt_view *from, const braid_rt_view *to) {
          return braid_rt_all_reduce(group.get(), 1, from, to, reduction,
                                     nullptr, nullptr);
        });
  }
}

TEST_P(GroupsTest, Reduce) {
  BRAID_NEEDS(whyNoReduction(BRAID_RT_MAX, dtype));
  check(
      "reduce", fixedSizes,
      [&](const Members &in) {
        Members out = in;
        out[0] = reduceReference(BRAID_RT_MAX, in, {});
        return out;
      },
      [&](int64_t, const braid_rt_view *from, const braid_rt_view *to) {
        return braid_rt_reduce(group.get(), 1, from, to, BRAID_RT_MAX, nullptr,
                               0, nullptr);
      });
}

TEST_P(GroupsTest, ReduceScatter) {
  BRAID_NEEDS(whyNoReduction(BRAID_RT_MIN, dtype));
  check(
      "reduce_scatter", sizesOfParts,
      [&](const Members &in) {
        Buffer whole = reduceReference(BRAID_RT_MIN, in, {});
        Members out;
        for (size_t i = 0; i < in.size(); ++i)
          out.push_back(slice(whole, 0, static_cast<int64_t>(i),
                              static_cast<int64_t>(in.size())));
        return out;
      },
      [&](int64_t, const braid_rt_view *from, const braid_rt_view *to) {
        return braid_rt_reduce_scatter(group.get(), 1, from, to, BRAID_RT_MIN,
                                       nullptr, 0, nullptr);
      });
}

TEST_P(GroupsTest, Broadcast) {
  check(
      "broadcast", fixedSizes,
      [](const Members &in) { return Members(in.size(), in[0]); },
      [&](int64_t, const braid_rt_view *from, const braid_rt_view *to) {
        return braid_rt_broadcast(group.get(), 1, from, to, 0, nullptr);
      });
}

TEST_P(GroupsTest, AllGather) {
  for (int64_t dim : {0, 1}) {
    if (!whyNoDimension(dim).empty())
      continue;
    check(
        "all_gather", fixedSizes,
        [&](const Members &in) {
          return Members(in.size(), concatenate(in, dim));
        },
        [&](int64_t, const braid_rt_view *from, const braid_rt_view *to) {
          return braid_rt_all_gather(group.get(), 1, from, to, dim, nullptr);
        });
  }
}

TEST_P(GroupsTest, Gather) {
  check(
      "gather", fixedSizes,
      [&](const Members &in) {
        Buffer whole = concatenate(in, 0);
        Members out(in.size(), zeros(dtype, whole.sizes));
        out[0] = whole;
        return out;
      },
      [&](int64_t, const braid_rt_view *from, const braid_rt_view *to) {
        return braid_rt_gather(group.get(), 1, from, to, 0, nullptr);
      });
}

TEST_P(GroupsTest, Scatter) {
  check(
      "scatter", sizesOfParts,
      [](const Members &in) {
        Members out;
        for (size_t i = 0; i < in.size(); ++i)
          out.push_back(slice(in[0], 0, static_cast<int64_t>(i),
                              static_cast<int64_t>(in.size())));
        return out;
      },
      [&](int64_t, const braid_rt_view *from, const braid_rt_view *to) {
        return braid_rt_scatter(group.get(), 1, from, to, 0, nullptr);
      });
}

TEST_P(GroupsTest, AllToAll) {
  check(
      "all_to_all", sizesOfParts,
      [](const Members &in) {
        Members out;
        for (size_t i = 0; i < in.size(); ++i) {
          Members parts;
          for (const Buffer &source : in)
            parts.push_back(slice(source, 0, static_cast<int64_t>(i),
                                  static_cast<int64_t>(in.size())));
          out.push_back(concatenate(parts, 0));
        }
        return out;
      },
      [&](int64_t, const braid_rt_view *from, const braid_rt_view *to) {
        return braid_rt_all_to_all(group.get(), 1, from, to, nullptr);
      });
}

TEST_P(GroupsTest, Permute) {
  // Lists have different sizes: the first two members change places
  // where there are as many, the others get zeros.
  const int64_t pairs[] = {0, 1, 1, 0};
  auto countOf = [&](size_t members) { return members < 2 ? 0 : 2; };
  check(
      "permute", fixedSizes,
      [&](const Members &in) {
        Members out(in.size(), zeros(dtype, in[0].sizes));
        if (in.size() >= 2) {
          out[1] = in[0];
          out[0] = in[1];
        }
        return out;
      },
      [&](int64_t, const braid_rt_view *from, const braid_rt_view *to) {
        auto members = static_cast<size_t>(braid_rt_size(group.get(), nullptr));
        return braid_rt_permute(group.get(), 1, from, to, countOf(members),
                                pairs, nullptr);
      });
}

INSTANTIATE_TEST_SUITE_P(
    All, GroupsTest,
    testing::Combine(testing::Values<int32_t>(BRAID_RT_I16, BRAID_RT_BF16,
                                              BRAID_RT_F32, BRAID_RT_F64,
                                              BRAID_RT_F8E5M2),
                     testing::Range<size_t>(0, layouts.size())),
    [](const testing::TestParamInfo<std::tuple<int32_t, size_t>> &info) {
      return std::string(braid_rt_dtype_name(std::get<0>(info.param))) + "On" +
             layouts[std::get<1>(info.param)].name;
    });
