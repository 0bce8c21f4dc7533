//===- InductorCollectiveModelTest.cpp - Inductor's NCCL formula ----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cost/Collectives/InductorCollectiveModel.h"

#include "gtest/gtest.h"

#include <iterator>

using namespace braid;
using namespace braid::inductor;
using comm::CollectiveKind;

// PyTorch's test_nccl_heuristics: the tables have a row for each algorithm,
// kind of hardware and type of GPU, and a column for each protocol.
TEST(InductorCollectiveModel, TablesHaveTheShapesOfTheirIndices) {
  EXPECT_EQ(std::size(baseLatency), NumAlgorithms);
  for (const auto &row : baseLatency)
    EXPECT_EQ(std::size(row), NumProtocols);
  EXPECT_EQ(std::size(hardwareLatency), NumHardware);
  for (const auto &table : hardwareLatency) {
    EXPECT_EQ(std::size(table), NumAlgorithms);
    for (const auto &row : table)
      EXPECT_EQ(std::size(row), NumProtocols);
  }
  EXPECT_EQ(std::size(llMaxBandwidth), NumGpuTypes);
}

// Every entry is used, so that none of the shapes above hides a missing value.
TEST(InductorCollectiveModel, TablesHaveNoHoles) {
  for (const auto &row : baseLatency)
    for (double us : row)
      EXPECT_GT(us, 0.0);
  for (const auto &table : hardwareLatency)
    for (const auto &row : table)
      for (double us : row)
        EXPECT_GT(us, 0.0);
  for (const auto &row : llMaxBandwidth)
    for (double gbps : row)
      EXPECT_GT(gbps, 0.0);
}

static double estimate(GpuType gpu, CollectiveKind kind, int64_t groupSize,
                       uint64_t bytes) {
  return InductorCollectiveModel(gpu)
      .estimateAsInductor({kind, groupSize, bytes, bytes})
      .value();
}

namespace {
struct WorkedValue {
  GpuType gpu;
  CollectiveKind kind;
  int64_t groupSize;
  /// Nanoseconds for 64 B, 1 MiB and 64 MiB.
  double ns[3];
};
} // namespace

TEST(InductorCollectiveModel, GivesTheWorkedValues) {
  const WorkedValue values[] = {
      {Ampere, CollectiveKind::all_reduce, 2, {7800.7, 18935.3, 720456.8}},
      {Ampere, CollectiveKind::all_reduce, 8, {15001.2, 34486.7, 1262149.4}},
      {Ampere, CollectiveKind::all_reduce, 16, {43408.9, 189884.4, 9418400.0}},
      {Ampere, CollectiveKind::all_reduce, 32, {82209.2, 233567.2, 9769700.0}},
      {Ampere, CollectiveKind::all_gather, 2, {7200.3, 12767.6, 363528.4}},
      {Ampere, CollectiveKind::all_gather, 8, {10800.6, 20543.4, 634374.7}},
      {Ampere, CollectiveKind::all_gather, 16, {23304.5, 96542.2, 4710800.0}},
      {Ampere, CollectiveKind::all_gather, 32, {42704.6, 118383.6, 4886450.0}},
      {Volta, CollectiveKind::all_reduce, 2, {7801.5, 32840.1, 1610364.1}},
      {Volta, CollectiveKind::all_reduce, 8, {15002.7, 58820.1, 2819487.2}},
      {Volta, CollectiveKind::all_gather, 8, {10801.3, 32710.1, 1413043.6}},
  };
  const uint64_t sizes[] = {64, uint64_t{1} << 20, uint64_t{64} << 20};
  for (const WorkedValue &value : values)
    for (auto [bytes, ns] : llvm::zip_equal(sizes, value.ns)) {
      EXPECT_NEAR(estimate(value.gpu, value.kind, value.groupSize, bytes), ns,
                  0.1);
      // Hopper's row is Ampere's.
      if (value.gpu == Ampere)
        EXPECT_EQ(estimate(Hopper, value.kind, value.groupSize, bytes),
                  estimate(Ampere, value.kind, value.groupSize, bytes));
      // A reduce-scatter takes what an all-gather takes.
      if (value.kind == CollectiveKind::all_gather)
        EXPECT_EQ(estimate(value.gpu, CollectiveKind::reduce_scatter,
                           value.groupSize, bytes),
                  estimate(value.gpu, value.kind, value.groupSize, bytes));
    }
}

TEST(InductorCollectiveModel, StartsFromTheBytesOfTheOutput) {
  InductorCollectiveModel model(Ampere);
  uint64_t shard = 1 << 20, whole = 8 << 20;
  EXPECT_EQ(
      model.estimateAsInductor({CollectiveKind::all_gather, 8, shard, whole}),
      estimate(Ampere, CollectiveKind::all_gather, 8, whole));
  EXPECT_EQ(model.estimateAsInductor(
                {CollectiveKind::reduce_scatter, 8, whole, shard}),
            estimate(Ampere, CollectiveKind::reduce_scatter, 8, shard));
}

TEST(InductorCollectiveModel, AGroupOfOneTakesNoTime) {
  InductorCollectiveModel model(Ampere);
  for (int64_t groupSize : {1, 0})
    for (auto kind : {CollectiveKind::all_reduce, CollectiveKind::broadcast,
                      CollectiveKind::barrier})
      EXPECT_EQ(model.estimate({kind, groupSize, 1 << 20, 1 << 20}).ns, 0.0);
}

TEST(InductorCollectiveModel, KnowsThreeCollectivesAndStandsInForTheOthers) {
  InductorCollectiveModel model(Ampere);
  uint64_t bytes = 1 << 20;
  for (uint32_t i = 0; i <= comm::getMaxEnumValForCollectiveKind(); ++i) {
    auto kind = static_cast<CollectiveKind>(i);
    bool isKnown = kind == CollectiveKind::all_reduce ||
                   kind == CollectiveKind::all_gather ||
                   kind == CollectiveKind::reduce_scatter;
    CollectiveCall call{kind, 8, bytes, bytes};
    EXPECT_EQ(model.estimateAsInductor(call).has_value(), isKnown);
    EXPECT_EQ(model.estimate(call).exact, isKnown);
    EXPECT_GT(model.estimate(call).ns, 0.0);
  }
}

TEST(InductorCollectiveModel, StandInsFollowTheBusFactors) {
  InductorCollectiveModel model(Ampere);
  uint64_t bytes = 1 << 20;
  auto time = [&](CollectiveKind kind, int64_t groupSize) {
    return model.estimate({kind, groupSize, bytes, bytes}).ns;
  };
  // Transport of 1 MiB at the LL cap: 2^20 / 2^30 / 87.7 s.
  double transport = 1e9 / 1024 / 87.7;
  for (auto kind : {CollectiveKind::all_to_all, CollectiveKind::gather,
                    CollectiveKind::scatter})
    EXPECT_NEAR(time(kind, 8), 6600 + 7 * 600 + transport * 7 / 8, 0.1);
  for (auto kind : {CollectiveKind::broadcast, CollectiveKind::reduce})
    EXPECT_NEAR(time(kind, 8), 6600 + 7 * 600 + transport, 0.1);
  for (auto kind :
       {CollectiveKind::send, CollectiveKind::recv, CollectiveKind::permute})
    EXPECT_NEAR(time(kind, 8), 6600 + 600 + transport, 0.1);
  EXPECT_NEAR(time(CollectiveKind::barrier, 8), 6600 + 14 * 600, 0.1);
  // On two nodes one step crosses them: NET's 2.7 us, 12.5 GB/s.
  EXPECT_NEAR(time(CollectiveKind::permute, 16),
              6600 + 2700 + 1e9 / 1024 / 12.5, 0.1);
}

TEST(InductorCollectiveModel, TakesUnknownGpusForAnAmpere) {
  EXPECT_EQ(getGpuType(*lookupHardware("v100x8")), Volta);
  EXPECT_EQ(getGpuType(*lookupHardware("a100x8")), Ampere);
  EXPECT_EQ(getGpuType(*lookupHardware("h100x8")), Hopper);
  EXPECT_EQ(getGpuType(*lookupHardware("b200x8")), Ampere);
  EXPECT_EQ(getGpuType(*lookupHardware("cpu")), Ampere);
}
