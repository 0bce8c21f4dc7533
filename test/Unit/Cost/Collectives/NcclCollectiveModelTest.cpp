//===- NcclCollectiveModelTest.cpp - NCCL's tuner as a cost model ---------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cost/Collectives/NcclCollectiveModel.h"

#include "gtest/gtest.h"

#include <limits>

using namespace braid;
using comm::CollectiveKind;

static constexpr uint64_t mib = 1 << 20;

static const Hardware &h100() { return *lookupHardware("h100x8"); }

TEST(NcclCollectiveModel, GivesNanoseconds) {
  NcclCollectiveModel model(h100());
  CollectiveTime time =
      model.estimate({CollectiveKind::all_reduce, 8, 64 * mib, 64 * mib});
  EXPECT_NEAR(time.ns, 382200, 50);
  EXPECT_TRUE(time.exact);
  EXPECT_EQ(time.channels, 24);
  EXPECT_EQ(time.linkBytes, 112 * mib);
}

TEST(NcclCollectiveModel, StartsFromTheLargerSide) {
  NcclCollectiveModel model(h100());
  double gather =
      model.estimate({CollectiveKind::all_gather, 8, 8 * mib, 64 * mib}).ns;
  EXPECT_NEAR(gather, 195300, 50);
  EXPECT_EQ(
      model.estimate({CollectiveKind::reduce_scatter, 8, 64 * mib, 8 * mib}).ns,
      gather);
}

TEST(NcclCollectiveModel, SaysWhatNcclHasNoModelOf) {
  NcclCollectiveModel model(h100());
  for (uint32_t i = 0; i <= comm::getMaxEnumValForCollectiveKind(); ++i) {
    auto kind = static_cast<CollectiveKind>(i);
    bool isTuned = kind == CollectiveKind::all_reduce ||
                   kind == CollectiveKind::reduce ||
                   kind == CollectiveKind::broadcast ||
                   kind == CollectiveKind::all_gather ||
                   kind == CollectiveKind::reduce_scatter;
    CollectiveTime time = model.estimate({kind, 8, mib, mib});
    EXPECT_EQ(time.exact, isTuned);
    EXPECT_GT(time.ns, 0.0);
    EXPECT_GT(time.channels, 0);
    time = model.estimate({kind, 1, mib, mib});
    EXPECT_EQ(time.exact, isTuned);
    EXPECT_EQ(time.ns, 0.0);
    EXPECT_EQ(time.channels, 0);
    EXPECT_EQ(time.linkBytes, 0u);
  }
  // A barrier is the smallest all-reduce.
  CollectiveTime barrier = model.estimate({CollectiveKind::barrier, 8, 0, 0});
  EXPECT_NEAR(barrier.ns, 15000, 1);
  EXPECT_EQ(barrier.channels, 1);
  EXPECT_EQ(barrier.linkBytes, 0u);
}

TEST(NcclCollectiveModel, CountsWhatPassesTheNetwork) {
  NcclCollectiveModel model(h100());
  auto linkBytes = [&](CollectiveKind kind, int64_t numNodes) {
    CollectiveCall call{kind, 16, 16 * mib, 16 * mib};
    call.numNodes = numNodes;
    return model.estimate(call).linkBytes;
  };
  // 2 * 15/16 over 8 ports a node; all-to-all: 8 of 16 ranks are elsewhere.
  EXPECT_EQ(linkBytes(CollectiveKind::all_reduce, 2), 30 * mib / 8);
  EXPECT_EQ(linkBytes(CollectiveKind::all_to_all, 2), 8 * mib);
  EXPECT_EQ(linkBytes(CollectiveKind::send, 2), 16 * mib);
  // One rank a node has a port for itself.
  EXPECT_EQ(linkBytes(CollectiveKind::all_reduce, 16), 30 * mib);
}

TEST(NcclCollectiveModel, CopyEnginesTakeNoMultiprocessors) {
  Hardware hardware = h100();
  hardware.nccl.useCopyEngine = true;
  NcclCollectiveModel model(hardware);
  for (auto kind : {CollectiveKind::all_gather, CollectiveKind::all_to_all,
                    CollectiveKind::gather, CollectiveKind::scatter}) {
    CollectiveTime time = model.estimate({kind, 8, 64 * mib, 64 * mib});
    EXPECT_EQ(time.channels, 0);
    EXPECT_FALSE(time.exact);
    EXPECT_EQ(time.linkBytes, 56 * mib);
  }
  // Reductions take arithmetic.
  CollectiveTime time =
      model.estimate({CollectiveKind::reduce_scatter, 8, 64 * mib, 8 * mib});
  EXPECT_EQ(time.channels, 24);
  EXPECT_TRUE(time.exact);
}

TEST(NcclCollectiveModel, ALaunchOfSeveralOperandsHasOneLatency) {
  NcclCollectiveModel model(h100());
  auto getNs = [&](CollectiveKind kind, uint64_t bytes, int64_t numOperands,
                   bool usesCopyEngine = false) {
    CollectiveCall call{kind, 8, bytes, bytes};
    call.numOperands = numOperands;
    call.usesCopyEngine = usesCopyEngine;
    return model.estimate(call).ns;
  };
  for (CollectiveKind kind :
       {CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
        CollectiveKind::all_reduce, CollectiveKind::all_to_all})
    for (uint64_t bytes :
         {uint64_t{2048}, uint64_t{1} << 20, uint64_t{1} << 28}) {
      double one = getNs(kind, bytes, 1);
      double launch = getNs(kind, 16 * bytes, 16);
      EXPECT_LT(launch, 16 * one);
      EXPECT_GE(launch, getNs(kind, 16 * bytes, 1));
      EXPECT_LE(launch, getNs(kind, 16 * bytes, 64));
    }
  // Small operands share a channel, but not the latency of a launch.
  double small = getNs(CollectiveKind::all_gather, 16 * 2048, 16);
  EXPECT_GT(small, 1.5 * getNs(CollectiveKind::all_gather, 16 * 2048, 1));
  EXPECT_LT(small, 8 * getNs(CollectiveKind::all_gather, 2048, 1));
  // Large ones are spread over the channels. For several operands NCCL chooses
  // a protocol of less latency and bandwidth.
  EXPECT_LT(getNs(CollectiveKind::all_gather, 16 * mib, 16),
            2 * getNs(CollectiveKind::all_gather, 16 * mib, 1));
  // Copy engines copy one operand after the other.
  EXPECT_GT(h100().nccl.copyEngineBandwidth, 0);
  EXPECT_NEAR(getNs(CollectiveKind::all_gather, 16 * mib, 16, true),
              getNs(CollectiveKind::all_gather, 16 * mib, 1, true) +
                  15 * (getNs(CollectiveKind::all_gather, 0, 1, true)),
              1);
}

TEST(NcclCollectiveModel, HugeSizesAndGroupsDoNotOverflow) {
  NcclCollectiveModel model(h100());
  constexpr auto huge = std::numeric_limits<uint64_t>::max();
  for (uint32_t i = 0; i <= comm::getMaxEnumValForCollectiveKind(); ++i)
    for (int64_t size : {int64_t{2}, std::numeric_limits<int64_t>::max()})
      for (int64_t nodes : {int64_t{1}, int64_t{2}, size}) {
        CollectiveCall call{static_cast<CollectiveKind>(i), size, huge, huge};
        call.numNodes = nodes;
        call.numOperands = std::numeric_limits<int32_t>::max();
        EXPECT_GT(model.estimate(call).ns, 0.0);
        EXPECT_LE(model.estimate(call).channels, 64);
      }
}
