//===- InductorNewestModelTest.cpp - Inductor's newest NCCL formula -------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cost/Collectives/InductorNewestModel.h"

#include "gtest/gtest.h"

using namespace braid;
using namespace braid::inductor_newest;
using comm::CollectiveKind;

static constexpr uint64_t kib = 1 << 10;
static constexpr uint64_t mib = 1 << 20;

namespace {
struct WorkedValue {
  GpuGeneration generation;
  CollectiveKind kind;
  int64_t groupSize;
  /// Microseconds of 64 B, 64 KiB, 1 MiB, 64 MiB and 1 GiB.
  double us[5];
};
} // namespace

TEST(InductorNewestModel, GivesTheWorkedValues) {
  constexpr auto ar = CollectiveKind::all_reduce;
  constexpr auto ag = CollectiveKind::all_gather;
  constexpr auto hopper = GpuGeneration::Hopper;
  constexpr auto ampere = GpuGeneration::Ampere;
  constexpr auto blackwell = GpuGeneration::Blackwell;
  const WorkedValue values[] = {
      {hopper, ar, 2, {7.80, 8.26, 15.24, 196.58, 2917.20}},
      {hopper, ar, 8, {15.00, 15.81, 28.01, 373.41, 5134.51}},
      {hopper, ag, 8, {10.80, 11.21, 17.31, 190.90, 2571.45}},
      {hopper, ar, 16, {30.81, 46.12, 137.95, 3266.13, 50284.13}},
      {hopper, ag, 16, {23.30, 26.36, 72.28, 1637.27, 25146.27}},
      {hopper, ar, 64, {50.81, 67.40, 239.58, 3098.66, 25686.28}},
      {hopper, ag, 64, {81.50, 84.66, 132.10, 1553.53, 12847.34}},
      {ampere, ar, 8, {15.00, 16.31, 35.92, 545.34, 7885.37}},
      {ampere, ag, 8, {10.80, 11.45, 21.26, 276.87, 3946.88}},
      {blackwell, ar, 8, {15.00, 15.41, 21.51, 214.59, 2665.79}},
      {blackwell, ag, 8, {10.80, 11.00, 14.05, 113.76, 1337.09}},
  };
  const uint64_t sizes[] = {64, 64 * kib, mib, 64 * mib, 1024 * mib};
  for (const WorkedValue &value : values)
    for (auto [bytes, us] : llvm::zip_equal(sizes, value.us))
      EXPECT_NEAR(inductor_newest::estimate(value.generation, value.kind,
                                            value.groupSize, 8, bytes)
                      ->microseconds,
                  us, 0.006)
          << value.groupSize << " ranks, " << bytes << " bytes";
}

TEST(InductorNewestModel, ChoosesAsTheWorkedValuesSay) {
  auto expectChoice = [](GpuGeneration generation, int64_t groupSize,
                         uint64_t bytes, Algorithm algorithm,
                         Protocol protocol) {
    std::optional<Estimate> best = inductor_newest::estimate(
        generation, CollectiveKind::all_reduce, groupSize, 8, bytes);
    EXPECT_EQ(best->algorithm, algorithm);
    EXPECT_EQ(best->protocol, protocol);
  };
  constexpr auto hopper = GpuGeneration::Hopper;
  expectChoice(hopper, 8, 64, Ring, LL);
  expectChoice(hopper, 8, 64 * mib, Ring, Simple);
  expectChoice(hopper, 16, 64, Tree, LL);
  expectChoice(hopper, 16, 64 * kib, Ring, LL);
  expectChoice(hopper, 64, 64 * kib, Tree, LL);
  expectChoice(hopper, 64, mib, Tree, Simple);
  expectChoice(hopper, 64, 64 * mib, Ring, Simple);
  expectChoice(GpuGeneration::Blackwell, 8, 64 * mib, Ring, LL128);
}

TEST(InductorNewestModel, KnowsFourCollectivesAndStandsInForTheOthers) {
  InductorNewestModel model(GpuGeneration::Hopper, 8);
  for (uint32_t i = 0; i <= comm::getMaxEnumValForCollectiveKind(); ++i) {
    auto kind = static_cast<CollectiveKind>(i);
    bool isKnown = kind == CollectiveKind::all_reduce ||
                   kind == CollectiveKind::all_gather ||
                   kind == CollectiveKind::reduce_scatter ||
                   kind == CollectiveKind::all_to_all;
    CollectiveTime time = model.estimate({kind, 8, mib, mib});
    EXPECT_EQ(time.exact, isKnown);
    EXPECT_GT(time.ns, 0.0);
    EXPECT_EQ(time.channels, 0);
    EXPECT_EQ(model.estimate({kind, 1, mib, mib}).ns, 0.0);
  }
  // One message by the simple protocol: 8.4 + 3.4 us, 370 GB/s.
  EXPECT_NEAR(model.estimate({CollectiveKind::send, 8, 0, 37000000}).ns, 111800,
              1e-6);
}

TEST(InductorNewestModel, StartsFromTheBytesOfTheOperands) {
  InductorNewestModel model(GpuGeneration::Hopper, 8);
  double whole = model.estimate({CollectiveKind::all_gather, 8, mib, mib}).ns;
  EXPECT_NEAR(whole, 17310, 6);
  EXPECT_EQ(model.estimate({CollectiveKind::all_gather, 8, mib, 8 * mib}).ns,
            whole);
}

TEST(InductorNewestModel, KnowsWhereLinksSaturate) {
  auto bytes = [](LinkProfile link, int64_t groupSize) {
    return computeMinSaturationBytes(link, CollectiveKind::all_gather,
                                     groupSize, 0.9);
  };
  EXPECT_NEAR(bytes(LinkProfile::NvLinkH100, 8), 93960000, 1);
  EXPECT_NEAR(bytes(LinkProfile::NvLinkA100, 8), 64350000, 1);
  EXPECT_NEAR(bytes(LinkProfile::NvLinkB200, 8), 118800000, 1);
  EXPECT_NEAR(bytes(LinkProfile::NvLinkV100, 8), 45360000, 1);
  EXPECT_NEAR(bytes(LinkProfile::Pcie, 8), 39150000, 1);
  EXPECT_NEAR(bytes(LinkProfile::InfiniBandNdr, 64), 155628000, 1);
  // Networks have a floor.
  EXPECT_EQ(bytes(LinkProfile::InfiniBandNdr, 2), 100.0 * mib);
  EXPECT_EQ(bytes(LinkProfile::InfiniBandHdr, 2), 75.0 * mib);
  // An all-reduce takes twice the steps.
  EXPECT_NEAR(computeMinSaturationBytes(LinkProfile::NvLinkH100,
                                        CollectiveKind::all_reduce, 8, 0.9),
              9 * (10 + 14 * 40) * 36e3, 1);
}
