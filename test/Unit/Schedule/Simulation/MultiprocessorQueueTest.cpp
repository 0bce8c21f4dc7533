//===- MultiprocessorQueueTest.cpp - Ops that queue for room --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestProblems/SimulatedOps.h"
#include "braid/Schedule/Simulation/ExposureReasons.h"
#include "braid/Schedule/Simulation/Simulator.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace braid;
using namespace braid::test;
using testing::ElementsAre;

static MachineModel queued(int32_t multiprocessors) {
  MachineModel machine;
  machine.multiprocessors = multiprocessors;
  machine.multiprocessorModel = MultiprocessorModel::Queued;
  return machine;
}

/// A persistent kernel; `blocks` is its target.
static SimulatedOp matmul(int64_t cost, int64_t tiles, int32_t blocks = 0) {
  SimulatedOp op = compute(cost);
  op.demand.arithmeticNs = cost;
  op.demand.tiles = tiles;
  op.demand.blocks = blocks;
  op.demand.isPersistent = true;
  return op;
}

static SimulatedOp waves(int64_t cost, int64_t tiles) {
  SimulatedOp op = matmul(cost, tiles);
  op.demand.isPersistent = false;
  return op;
}

static SimulatedOp kernelOn(int64_t cost, int32_t multiprocessors,
                            unsigned lane = 0) {
  SimulatedOp op = start(cost, lane);
  op.demand.multiprocessors = multiprocessors;
  return op;
}

static std::vector<std::pair<int64_t, int64_t>>
getTimes(llvm::ArrayRef<SimulatedOp> ops, const MachineModel &machine) {
  std::vector<std::pair<int64_t, int64_t>> result;
  for (const SimulatedTimes &times : simulate(ops, machine).times)
    result.emplace_back(times.startNs, times.endNs);
  return result;
}

TEST(MultiprocessorQueue, AStartBeforeAMatmulHasItsMultiprocessors) {
  // Three of four are left for 8 tiles of 100 ns: 3, 3, and 2 at the end.
  EXPECT_THAT(getTimes({kernelOn(1000, 1), matmul(200, 8)}, queued(4)),
              ElementsAre(std::pair(0, 1000), std::pair(0, 300)));
}

static MachineModel launching(int64_t streamNs, int64_t laneNs) {
  MachineModel machine = queued(4);
  machine.launchNs = streamNs;
  machine.laneLaunchNs = laneNs;
  return machine;
}

TEST(MultiprocessorQueue, AMatmulThatIsLaunchedFasterComesFirst) {
  EXPECT_THAT(getTimes({kernelOn(50, 1), matmul(400, 16)}, launching(2, 5)),
              ElementsAre(std::pair(402, 452), std::pair(2, 402)));
}

TEST(MultiprocessorQueue, AKernelThatIsLaunchedFasterComesFirst) {
  // The matmul takes tiles at 10 (3), 55, 110 (3), 155, ..., 310 (3), 355.
  EXPECT_THAT(getTimes({kernelOn(50, 1), matmul(400, 16)}, launching(10, 5)),
              ElementsAre(std::pair(5, 55), std::pair(10, 455)));
}

TEST(MultiprocessorQueue, TheNextInALaneWasLaunchedBefore) {
  EXPECT_THAT(getTimes({kernelOn(10, 1), kernelOn(20, 1)}, launching(2, 5)),
              ElementsAre(std::pair(5, 15), std::pair(15, 35)));
}

TEST(MultiprocessorQueue, AWaitLastsUntilALaunchedOperationEnds) {
  SimulatedOp wait;
  wait.role = StreamRole::Wait;
  wait.awaits = {0};
  EXPECT_THAT(getTimes({kernelOn(10, 1), wait}, launching(2, 5)),
              ElementsAre(std::pair(5, 15), std::pair(0, 15)));
}

TEST(MultiprocessorQueue, TheNextInALaneWaitsForTheMatmul) {
  // The multiprocessor of the first operation goes to the matmul, which has
  // taken tiles of 100 ns at 0 (3), 10, 100 (3), 110, 200 (3), 210, 300 (3) and
  // 310. Three are free again at 400.
  std::vector<SimulatedOp> ops = {kernelOn(10, 1), kernelOn(70, 2),
                                  matmul(400, 16), matmul(400, 16)};
  EXPECT_THAT(getTimes(ops, queued(4)),
              ElementsAre(std::pair(0, 10), std::pair(400, 470),
                          std::pair(0, 410),
                          // Two at 410, 470, 510, ..., 770.
                          std::pair(410, 870)));
}

static MachineModel issuedByHost(int64_t launchNs, int64_t startNs) {
  MachineModel machine = queued(4);
  machine.hostLaunchNs = launchNs;
  machine.hostStartNs = startNs;
  return machine;
}

TEST(MultiprocessorQueue, AnOpWaitsForItsHost) {
  // The host launches at 5, starts at 45, and launches at 50.
  EXPECT_THAT(
      getTimes({matmul(10, 4), kernelOn(20, 1), matmul(30, 3)},
               issuedByHost(5, 40)),
      ElementsAre(std::pair(5, 15), std::pair(45, 65), std::pair(50, 80)));
}

TEST(MultiprocessorQueue, AHostThatIsAheadCostsNothing) {
  EXPECT_THAT(
      getTimes({matmul(100, 4), kernelOn(20, 1), matmul(30, 3)},
               issuedByHost(5, 40)),
      ElementsAre(std::pair(5, 105), std::pair(105, 125), std::pair(105, 135)));
}

TEST(MultiprocessorQueue, LongRunsAreLaunchedTogether) {
  std::vector<SimulatedOp> ops(7, matmul(1, 4));
  EXPECT_EQ(simulate(ops, issuedByHost(5, 40)).makespanNs, 28);
}

TEST(MultiprocessorQueue, WaitsForTheHostAreGaps) {
  Simulation result = simulate({matmul(10, 4), kernelOn(20, 1), matmul(30, 3)},
                               issuedByHost(5, 40));
  EXPECT_EQ(result.launchNs, 40);
  EXPECT_EQ(result.computeNs + result.launchNs + result.computeLostNs +
                result.exposedNs,
            result.makespanNs);
}

TEST(MultiprocessorQueue, TheWaitAndWhoHeldAreReported) {
  Simulation result =
      simulate({kernelOn(10, 1), kernelOn(20, 2), matmul(400, 16)}, queued(4));
  EXPECT_EQ(result.times[1].issuedNs, 0);
  EXPECT_EQ(result.times[1].waitedNs, 390);
  EXPECT_EQ(result.times[1].heldBy, 2u);
  EXPECT_EQ(result.times[0].waitedNs, 0);
  EXPECT_EQ(result.times[0].heldBy, std::nullopt);
}

TEST(MultiprocessorQueue, ATargetLeavesRoom) {
  EXPECT_THAT(
      getTimes({kernelOn(10, 1), kernelOn(20, 1), matmul(400, 12, 3)},
               queued(4)),
      ElementsAre(std::pair(0, 10), std::pair(10, 30), std::pair(0, 400)));
}

TEST(MultiprocessorQueue, BlocksThatJoinLaterShareTheTiles) {
  // Tiles of 100 ns: two at 0, two at 50, two at 100, the last two at 150.
  EXPECT_THAT(getTimes({kernelOn(50, 2), matmul(200, 8)}, queued(4)),
              ElementsAre(std::pair(0, 50), std::pair(0, 250)));
}

TEST(MultiprocessorQueue, BlocksThatJoinTooLateFindNoTile) {
  // At 150 all tiles are given out.
  EXPECT_THAT(getTimes({kernelOn(150, 2), matmul(100, 4)}, queued(4)),
              ElementsAre(std::pair(0, 150), std::pair(0, 200)));
}

TEST(MultiprocessorQueue, MultiprocessorsWithoutTilesServeThoseThatWait) {
  // Of six tiles of 100 ns three begin at 0, one at 1 and two at 100.
  EXPECT_THAT(
      getTimes({kernelOn(1, 1), kernelOn(500, 2), matmul(200, 6)}, queued(4)),
      ElementsAre(std::pair(0, 1), std::pair(101, 601), std::pair(0, 200)));
}

TEST(MultiprocessorQueue, OperationsAreServedInTheirOrder) {
  // The second wants less, but has asked later.
  EXPECT_THAT(
      getTimes({kernelOn(100, 3, 0), kernelOn(100, 2, 1), kernelOn(100, 1, 2)},
               queued(4)),
      ElementsAre(std::pair(0, 100), std::pair(100, 200), std::pair(100, 200)));
}

TEST(MultiprocessorQueue, OtherKernelsGiveWayAtTheEndOfAWave) {
  // The second operation asks at 130, in the second of four waves of 100 ns.
  SimulatedOp transfer = start(130);
  transfer.demand.linkBytes = 1;
  EXPECT_THAT(getTimes({transfer, kernelOn(60, 1), waves(400, 16)}, queued(4)),
              ElementsAre(std::pair(0, 130), std::pair(200, 260),
                          // On three of four, 16 tiles take 6 waves for 4.
                          std::pair(0, 420)));
}

TEST(MultiprocessorQueue, KernelsWithoutTilesGiveWayAtOnce) {
  EXPECT_THAT(
      getTimes({kernelOn(130, 1), kernelOn(50, 1), waves(300, 0)}, queued(4)),
      ElementsAre(std::pair(0, 130), std::pair(130, 180), std::pair(0, 345)));
}

TEST(MultiprocessorQueue, ClustersNeedRoomInOneGroup) {
  MachineModel machine = queued(16);
  machine.processorGroups = 2;
  SimulatedOp clustered = kernelOn(50, 4);
  clustered.demand.clusterSize = 4;
  std::vector<SimulatedOp> ops = {kernelOn(10, 4), clustered,
                                  matmul(200, 24, 12)};
  // 4 are free, and 4 + 3 * 2 needed to be sure of a cluster of 4.
  EXPECT_THAT(
      getTimes(ops, machine),
      ElementsAre(std::pair(0, 10), std::pair(200, 250), std::pair(0, 200)));
  ops.back() = matmul(200, 12, 6);
  EXPECT_THAT(
      getTimes(ops, machine),
      ElementsAre(std::pair(0, 10), std::pair(10, 60), std::pair(0, 200)));
}

/// Two single blocks stand in two pairs, and four in the same two.
static MachineModel paired() {
  MachineModel machine = queued(8);
  machine.takenFromPairs = {{2, 4}, {4, 4}};
  return machine;
}

TEST(MultiprocessorQueue, SingleBlocksTakePairsFromAMatmul) {
  // Four are left for 6 blocks: the other two begin their tile at 100.
  EXPECT_THAT(getTimes({kernelOn(500, 2), matmul(100, 6, 6)}, paired()),
              ElementsAre(std::pair(0, 500), std::pair(0, 200)));
  EXPECT_THAT(getTimes({kernelOn(500, 2), matmul(100, 4, 4)}, paired()),
              ElementsAre(std::pair(0, 500), std::pair(0, 100)));
  EXPECT_THAT(getTimes({kernelOn(500, 4), matmul(100, 4, 4)}, paired()),
              ElementsAre(std::pair(0, 500), std::pair(0, 100)));
  // Half of the way to the first figure, and beyond the last.
  EXPECT_THAT(getTimes({kernelOn(500, 1), matmul(100, 6, 6)}, paired()),
              ElementsAre(std::pair(0, 500), std::pair(0, 100)));
  EXPECT_THAT(getTimes({kernelOn(500, 6), matmul(100, 2, 2)}, paired()),
              ElementsAre(std::pair(0, 500), std::pair(0, 100)));
}

TEST(MultiprocessorQueue, TheBlocksOfOperationsTakePairsTogether) {
  EXPECT_THAT(
      getTimes({kernelOn(500, 1, 0), kernelOn(500, 1, 1), matmul(100, 6, 6)},
               paired()),
      ElementsAre(std::pair(0, 500), std::pair(0, 500), std::pair(0, 200)));
}

TEST(MultiprocessorQueue, ClustersTakeNoMorePairsThanTheyAre) {
  SimulatedOp clustered = kernelOn(500, 2);
  clustered.demand.clusterSize = 2;
  EXPECT_THAT(getTimes({clustered, matmul(100, 6, 6)}, paired()),
              ElementsAre(std::pair(0, 500), std::pair(0, 100)));
}

TEST(MultiprocessorQueue, ClustersOfTwoFitIntoThePairsThatAMatmulLeaves) {
  MachineModel machine = queued(16);
  machine.processorGroups = 2;
  SimulatedOp clustered = kernelOn(50, 4);
  clustered.demand.clusterSize = 2;
  EXPECT_THAT(
      getTimes({kernelOn(10, 4), clustered, matmul(200, 24, 12)}, machine),
      ElementsAre(std::pair(0, 10), std::pair(10, 60), std::pair(0, 200)));
}

TEST(MultiprocessorQueue, AMatmulThatHasBegunKeepsItsPairs) {
  MachineModel machine = paired();
  machine.laneLaunchNs = 10;
  EXPECT_THAT(getTimes({kernelOn(500, 2), matmul(100, 6, 6)}, machine),
              ElementsAre(std::pair(10, 510), std::pair(0, 100)));
}

TEST(MultiprocessorQueue, PairsAreFreeWhenTheirBlocksLeave) {
  // At 50 both other blocks begin their tile.
  EXPECT_THAT(getTimes({kernelOn(50, 2), matmul(100, 6, 6)}, paired()),
              ElementsAre(std::pair(0, 50), std::pair(0, 150)));
}

TEST(MultiprocessorQueue, CopyEnginesNeedOneForAMoment) {
  SimulatedOp copies = start(50);
  copies.demand.linkBytes = 100;
  // The first has it before the matmul, which loses nothing.
  EXPECT_THAT(
      getTimes({copies, copies, matmul(200, 8)}, queued(4)),
      ElementsAre(std::pair(0, 50), std::pair(200, 250), std::pair(0, 200)));
  EXPECT_THAT(
      getTimes({copies, copies, matmul(200, 6, 3)}, queued(4)),
      ElementsAre(std::pair(0, 50), std::pair(50, 100), std::pair(0, 200)));
}

TEST(MultiprocessorQueue, ComputeWaitsWhereNoneIsFree) {
  EXPECT_THAT(getTimes({kernelOn(50, 4), matmul(200, 8)}, queued(4)),
              ElementsAre(std::pair(0, 50), std::pair(50, 250)));
  EXPECT_THAT(getTimes({kernelOn(50, 9), waves(200, 8)}, queued(4)),
              ElementsAre(std::pair(0, 50), std::pair(50, 250)));
}

TEST(MultiprocessorQueue, InterferenceSlowsBoth) {
  MachineModel machine = queued(4);
  machine.interference[size_t(ComputeClass::Matmul)]
                      [size_t(LaneEngine::Kernel)] = {1.25, 2};
  machine.interference[size_t(ComputeClass::Elementwise)]
                      [size_t(LaneEngine::CopyEngine)] = {2, 1.5};
  // 100 ns at half speed; in them the matmul does 80 of 120.
  EXPECT_THAT(getTimes({kernelOn(50, 1), matmul(120, 3, 3)}, machine),
              ElementsAre(std::pair(0, 100), std::pair(0, 140)));
  SimulatedOp copies = start(50), elementwise = compute(100);
  copies.demand.linkBytes = 100;
  elementwise.demand.memoryBytes = 100;
  EXPECT_THAT(getTimes({copies, elementwise}, machine),
              ElementsAre(std::pair(0, 75), std::pair(0, 138)));
}

TEST(MultiprocessorQueue, KernelsOfOneWayHaveFactorsOfTheirOwn) {
  MachineModel machine = queued(4);
  machine.interference[size_t(ComputeClass::Matmul)]
                      [size_t(LaneEngine::OneWayKernel)] = {1.25, 2};
  SimulatedOp gather = kernelOn(50, 1);
  gather.demand.isOneWay = true;
  EXPECT_THAT(getTimes({gather, matmul(120, 3, 3)}, machine),
              ElementsAre(std::pair(0, 100), std::pair(0, 140)));
  EXPECT_THAT(getTimes({kernelOn(50, 1), matmul(120, 3, 3)}, machine),
              ElementsAre(std::pair(0, 50), std::pair(0, 120)));
}

TEST(MultiprocessorQueue, LongTimesDoNotOverflow) {
  int64_t longest = std::numeric_limits<int64_t>::max();
  SimulatedOp most = matmul(longest, longest);
  EXPECT_EQ(simulate({kernelOn(longest, 3), most, most}, queued(4)).makespanNs,
            longest);
  EXPECT_EQ(simulate({kernelOn(1, 3), matmul(1, longest)}, queued(4))
                .times[1]
                .startNs,
            0);
}

TEST(MultiprocessorQueue, TheReasonNamesWhoHeldThem) {
  // A matmul, beside it an all-reduce that comes second in its lane.
  SchedulingProblem problem;
  problem.machine = queued(4);
  auto add = [&](NodeKind kind, const SimulatedOp &op) {
    ScheduleNode node;
    node.kind = kind;
    node.cost = op.costNs;
    node.lane = kind == NodeKind::Start ? 0 : -1;
    problem.demands.push_back(op.demand);
    return problem.graph.addNode(node);
  };
  add(NodeKind::Start, kernelOn(10, 1));
  unsigned reduce = add(NodeKind::Start, kernelOn(50, 1));
  unsigned multiply = add(NodeKind::Compute, matmul(200, 8));
  unsigned wait = add(NodeKind::Wait, compute(0));
  problem.graph.addEdge(reduce, wait);
  problem.graph.addEdge(multiply, wait);
  problem.graph.finalize();
  problem.awaits = {{wait, reduce}};
  std::vector<ExposureReason> reasons =
      getExposureReasons(problem, {0, reduce, multiply, wait});
  ASSERT_EQ(reasons.size(), 1u);
  EXPECT_EQ(reasons.front().kind, ExposureKind::MultiprocessorsHeld);
  EXPECT_EQ(reasons.front().node, multiply);
  EXPECT_EQ(describeExposureReason(reasons.front(),
                                   [](unsigned) { return "matmul"; }),
            "it waits for multiprocessors that matmul holds");
}
