//===- GroupShapeTest.cpp - Groups of ranks on a cluster ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Cost/Collectives/GroupShape.h"

#include "Cost/Collectives/NcclCollectiveModel.h"
#include "braid/Cost/Hardware/HardwareMachine.h"

#include "gtest/gtest.h"

#include <limits>

using namespace braid;
using comm::CollectiveKind;

/// H100s, 8 nodes behind a leaf switch, a spine of a quarter of the ports.
static Hardware getCluster() {
  Hardware hardware = *lookupHardware("h100x8");
  hardware.network = {64, false, 4};
  return hardware;
}

static void expectShape(const GroupShape &shape, int64_t size, int64_t nodes,
                        int64_t leaves) {
  EXPECT_EQ(shape.size, size);
  EXPECT_EQ(shape.numNodes, nodes);
  EXPECT_EQ(shape.numLeaves, leaves);
}

TEST(GroupShape, StridesSayTheNodesAndTheLeaves) {
  Hardware cluster = getCluster();
  // Tensor parallelism, and the data parallelism around it.
  expectShape(placeStridedRanks(cluster, 8, 1), 8, 1, 1);
  expectShape(placeStridedRanks(cluster, 16, 8), 16, 16, 2);
  // All of 128 nodes; replicas behind each leaf switch; every second rank.
  expectShape(placeStridedRanks(cluster, 1024, 1), 1024, 128, 16);
  expectShape(placeStridedRanks(cluster, 4, 64), 4, 4, 4);
  expectShape(placeStridedRanks(cluster, 6, 2), 6, 2, 1);
  expectShape(placeStridedRanks(cluster, 1, 1000), 1, 1, 1);
  // A spine without bottleneck is none.
  expectShape(placeStridedRanks(*lookupHardware("h100x8"), 1024, 1), 1024, 128,
              1);
}

TEST(GroupShape, ListsOfRanksAgreeWithStrides) {
  Hardware cluster = getCluster();
  for (int64_t stride : {1, 2, 3, 8, 12, 64, 100})
    for (int64_t size : {1, 2, 7, 64, 300}) {
      std::vector<int64_t> ranks;
      for (int64_t i = 0; i < size; ++i)
        ranks.push_back(i * stride);
      GroupShape shape = placeStridedRanks(cluster, size, stride);
      expectShape(placeRanks(cluster, ranks), size, shape.numNodes,
                  shape.numLeaves);
    }
}

TEST(GroupShape, RailsPutMoreNodesBehindALeaf) {
  Hardware cluster = getCluster();
  EXPECT_EQ(cluster.getNodesPerLeaf(), 8);
  cluster.network.hasRails = true;
  EXPECT_EQ(cluster.getNodesPerLeaf(), 64);
  expectShape(placeStridedRanks(cluster, 512, 1), 512, 64, 1);
  // Islands of NVLink are nodes.
  cluster.ranksPerNode = 72;
  expectShape(placeStridedRanks(cluster, 72, 1), 72, 1, 1);
}

TEST(GroupShape, ASpineLimitsWhatCrossesIt) {
  Hardware cluster = getCluster();
  auto getRate = [&](CollectiveKind kind, int64_t size, int64_t stride) {
    return getNetworkShare(cluster, kind,
                           placeStridedRanks(cluster, size, stride))
        .rate;
  };
  // Each of 64 ports crosses: a quarter. A ring through 8 nodes of each leaf
  // switch leaves it by one node of 8, an exchange by half of its bytes.
  EXPECT_EQ(getRate(CollectiveKind::all_gather, 4, 64), 0.25);
  EXPECT_EQ(getRate(CollectiveKind::all_gather, 128, 1), 1);
  EXPECT_EQ(getRate(CollectiveKind::all_gather, 16, 8), 1);
  EXPECT_DOUBLE_EQ(getRate(CollectiveKind::all_to_all, 128, 1),
                   15.0 / 16 / 0.5 / 4);
  EXPECT_EQ(getRate(CollectiveKind::all_to_all, 64, 1), 1);
  // A ring through two nodes of each leaf switch.
  cluster.network.leafPorts = 16;
  EXPECT_EQ(getRate(CollectiveKind::all_reduce, 128, 1), 0.5);
}

TEST(GroupShape, NcclTakesItsShareOfTheSpine) {
  Hardware cluster = getCluster();
  NcclCollectiveModel model(cluster);
  auto estimate = [&](int64_t size, int64_t stride) {
    GroupShape shape = placeStridedRanks(cluster, size, stride);
    CollectiveCall call{CollectiveKind::all_gather, size, 1 << 28, 1 << 30,
                        shape.numNodes};
    call.network = getNetworkShare(cluster, call.kind, shape);
    return std::pair(model.estimate(call), call);
  };
  // A ring over one port of each of 4 nodes, at 12.5 of 50 GB/s.
  auto [crossing, call] = estimate(4, 64);
  EXPECT_NEAR(crossing.ns, (1 << 30) * 0.75 / 12.5, 1e-2 * crossing.ns);
  EXPECT_EQ(getSharedLink(call), spineLink);
  EXPECT_EQ(getSharedLinkBytes(call, crossing.linkBytes), 3 << 28);
  auto [inside, insideCall] = estimate(4, 8);
  EXPECT_NEAR(inside.ns * 4, crossing.ns, 0.3 * crossing.ns);
  EXPECT_EQ(getSharedLink(insideCall), interNodeLink);
  EXPECT_EQ(getSharedLink(estimate(8, 1).second), intraNodeLink);
  EXPECT_EQ(getMachineModel(cluster).linkBandwidth,
            (std::vector<double>{450, 50, 12.5}));
}

TEST(GroupShape, HugeGroupsDoNotOverflow) {
  constexpr auto most = std::numeric_limits<int64_t>::max();
  for (int64_t stride : {int64_t{1}, int64_t{7}, most}) {
    GroupShape shape = placeStridedRanks(getCluster(), most, stride);
    EXPECT_GT(shape.numNodes, 0);
    EXPECT_LE(shape.numLeaves, shape.numNodes);
  }
}
