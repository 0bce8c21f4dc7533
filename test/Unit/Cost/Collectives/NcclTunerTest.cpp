//===- NcclTunerTest.cpp - NCCL's own model of collectives ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The worked values are of one node of H100s or H200s: 12 channels of 30 GB/s,
// without NVLS.
//
//===----------------------------------------------------------------------===//

#include "NcclTunerTestUtils.h"

#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace braid;
using namespace braid::nccl;

//===----------------------------------------------------------------------===//
// Worked values
//===----------------------------------------------------------------------===//

namespace {
struct WorkedEntry {
  Function function;
  int64_t numRanks;
  Algorithm algorithm;
  Protocol protocol;
  double latency;
  double bandwidth;
};
} // namespace

TEST(NcclTuner, GivesTheWorkedLatenciesAndBandwidths) {
  constexpr auto ar = Function::AllReduce;
  constexpr auto ag = Function::AllGather;
  constexpr auto tree = Algorithm::Tree;
  constexpr auto ring = Algorithm::Ring;
  constexpr auto ll = Protocol::LL;
  constexpr auto ll128 = Protocol::LL128;
  constexpr auto simple = Protocol::Simple;
  const WorkedEntry entries[] = {
      {ar, 2, tree, ll, 8.0, 43.6},       {ar, 2, tree, ll128, 16.5, 128.8},
      {ar, 2, tree, simple, 16.4, 165.6}, {ar, 2, ring, ll, 7.8, 141},
      {ar, 2, ring, ll128, 17.8, 331.2},  {ar, 2, ring, simple, 15.2, 360},
      {ar, 4, tree, ll, 10.4, 43.6},      {ar, 4, tree, ll128, 21.5, 128.8},
      {ar, 4, tree, simple, 32.4, 165.6}, {ar, 4, ring, ll, 10.2, 94},
      {ar, 4, ring, ll128, 25.4, 220.8},  {ar, 4, ring, simple, 28.8, 240},
      {ar, 8, tree, ll, 15.2, 43.6},      {ar, 8, tree, ll128, 31.5, 128.8},
      {ar, 8, tree, simple, 64.4, 165.6}, {ar, 8, ring, ll, 15.0, 80.6},
      {ar, 8, ring, ll128, 40.6, 189.3},  {ar, 8, ring, simple, 56.0, 205.7},
      {ag, 2, ring, ll, 7.2, 282},        {ag, 2, ring, ll128, 15.9, 662.4},
      {ag, 2, ring, simple, 11.8, 720},   {ag, 4, ring, ll, 8.4, 188},
      {ag, 4, ring, ll128, 19.7, 441.6},  {ag, 4, ring, simple, 18.6, 480},
      {ag, 8, ring, ll, 10.8, 161.1},     {ag, 8, ring, ll128, 27.3, 378.5},
      {ag, 8, ring, simple, 32.2, 411.4},
  };
  for (const WorkedEntry &entry : entries) {
    std::optional<TableEntry> found =
        getTableEntry(onH100(entry.numRanks), entry.function, entry.algorithm,
                      entry.protocol);
    ASSERT_TRUE(found);
    EXPECT_NEAR(found->latency, entry.latency, 0.051);
    EXPECT_NEAR(found->bandwidth, entry.bandwidth, 0.051);
    if (entry.function != ag)
      continue;
    // A reduce-scatter takes what an all-gather takes.
    std::optional<TableEntry> scatter =
        getTableEntry(onH100(entry.numRanks), Function::ReduceScatter,
                      entry.algorithm, entry.protocol);
    ASSERT_TRUE(scatter);
    EXPECT_EQ(scatter->latency, found->latency);
    EXPECT_EQ(scatter->bandwidth, found->bandwidth);
  }
  for (int64_t numRanks : {2, 4, 8})
    for (Function function : {Function::Broadcast, Function::Reduce}) {
      auto expectEntry = [&](Protocol protocol, double latency,
                             double bandwidth) {
        std::optional<TableEntry> found = getTableEntry(
            onH100(numRanks), function, Algorithm::Ring, protocol);
        ASSERT_TRUE(found);
        EXPECT_NEAR(found->latency, latency, 0.051);
        EXPECT_NEAR(found->bandwidth, bandwidth, 0.051);
      };
      expectEntry(ll, 7.2, 141);
      // 14 + 1.9 us.
      expectEntry(ll128, 15.9, 331.2);
      expectEntry(simple, 11.8, 360);
    }
}

TEST(NcclTuner, GivesTheWorkedTimes) {
  struct {
    Function function;
    int64_t numRanks;
    double times[8];
  } rows[] = {
      {Function::AllReduce,
       2,
       {7.8, 8.3, 15.2, 26.9, 61.8, 201.6, 760.9, 2998}},
      {Function::AllReduce,
       4,
       {10.2, 10.9, 21.4, 44.4, 98.7, 308.4, 1147, 4503}},
      {Function::AllReduce,
       8,
       {15.1, 15.8, 28.0, 62.8, 129.2, 382.2, 1361, 5276}},
      {Function::AllGather,
       2,
       {7.2, 7.4, 10.9, 17.6, 35.1, 105.0, 384.6, 1503}},
      {Function::AllGather,
       4,
       {8.4, 8.7, 14.0, 27.3, 53.6, 158.4, 577.8, 2256}},
      {Function::AllGather,
       8,
       {10.8, 11.2, 17.3, 36.8, 71.6, 195.3, 684.6, 2642}},
  };
  const uint64_t sizes[] = {4 * kib,  64 * kib, mib,       4 * mib,
                            16 * mib, 64 * mib, 256 * mib, gib};
  for (const auto &row : rows)
    for (auto [bytes, time] : llvm::zip_equal(sizes, row.times)) {
      double tolerance = time >= 1000 ? 0.51 : 0.051;
      Communicator communicator = onH100(row.numRanks);
      EXPECT_NEAR(choose(communicator, row.function, bytes).time, time,
                  tolerance)
          << bytes << " bytes, " << row.numRanks << " ranks";
      if (row.function == Function::AllGather)
        EXPECT_EQ(choose(communicator, Function::ReduceScatter, bytes).time,
                  choose(communicator, row.function, bytes).time);
    }
}

// The first power of two at which another protocol wins.
TEST(NcclTuner, ChangesProtocolWhereTheReferenceDoes) {
  auto firstSize = [](Function function, int64_t numRanks, Protocol protocol) {
    for (uint64_t bytes = kib; bytes <= gib; bytes *= 2)
      if (choose(onH100(numRanks), function, bytes).protocol == protocol)
        return bytes / mib;
    return uint64_t{0};
  };
  constexpr auto ar = Function::AllReduce;
  constexpr auto ag = Function::AllGather;
  // Two ranks go from LL to Simple at once, four do in an all-gather.
  EXPECT_EQ(firstSize(ar, 2, Protocol::LL128), 0u);
  EXPECT_EQ(firstSize(ar, 2, Protocol::Simple), 2u);
  EXPECT_EQ(firstSize(ar, 4, Protocol::LL128), 4u);
  EXPECT_EQ(firstSize(ar, 4, Protocol::Simple), 16u);
  EXPECT_EQ(firstSize(ar, 8, Protocol::LL128), 4u);
  EXPECT_EQ(firstSize(ar, 8, Protocol::Simple), 64u);
  for (int64_t numRanks : {2, 4}) {
    EXPECT_EQ(firstSize(ag, numRanks, Protocol::LL128), 0u);
    EXPECT_EQ(firstSize(ag, numRanks, Protocol::Simple), 4u);
  }
  EXPECT_EQ(firstSize(ag, 8, Protocol::LL128), 8u);
  EXPECT_EQ(firstSize(ag, 8, Protocol::Simple), 32u);
  // On one node a ring beats a tree at every size.
  for (uint64_t bytes = 8; bytes <= gib; bytes *= 2)
    for (int64_t numRanks : {2, 3, 4, 5, 6, 7, 8})
      EXPECT_EQ(choose(onH100(numRanks), ar, bytes).algorithm, Algorithm::Ring);
}

// 4 to 128 MiB on 8 H200s, NCCL 2.28.9 with NVLS off, microseconds.
TEST(NcclTuner, AgreesWithMeasurements) {
  Communicator communicator = on("h200x8", 8);
  const double allReduce[] = {54, 78, 122, 215, 375, 712};
  const double allGather[] = {37, 47, 68, 126, 208, 387};
  uint64_t bytes = 4 * mib;
  for (auto [reduce, gather] : llvm::zip_equal(allReduce, allGather)) {
    EXPECT_NEAR(choose(communicator, Function::AllReduce, bytes).time / reduce,
                1.0, 0.17);
    EXPECT_NEAR(choose(communicator, Function::AllGather, bytes).time / gather,
                1.0, 0.1);
    bytes *= 2;
  }
}

//===----------------------------------------------------------------------===//
// Algorithms
//===----------------------------------------------------------------------===//

/// The entry must exist.
static TableEntry getEntry(const Communicator &communicator, Function function,
                           Algorithm algorithm,
                           Protocol protocol = Protocol::Simple) {
  std::optional<TableEntry> entry =
      getTableEntry(communicator, function, algorithm, protocol);
  EXPECT_TRUE(entry);
  return entry.value_or(TableEntry{0, 0});
}

TEST(NcclTuner, RingsOverNodesPayForTheNetwork) {
  Communicator communicator = onH100(16, 2);
  // 30 steps, 2 of them between nodes; posting takes 1 us (3 us for Simple),
  // Intel's row of the LL cap.
  TableEntry ll = getEntry(communicator, Function::AllReduce, Algorithm::Ring,
                           Protocol::LL);
  EXPECT_NEAR(ll.latency, 6.6 + 28 * 1.0 + 2 * 2.7, 1e-9);
  EXPECT_NEAR(ll.bandwidth, 39 * 16.0 / 30, 1e-9);
  TableEntry simple =
      getEntry(communicator, Function::AllReduce, Algorithm::Ring);
  EXPECT_NEAR(simple.latency, 8.4 + 28 * 3.4 + 2 * 14, 1e-9);
  EXPECT_NEAR(simple.bandwidth, 360 * 16.0 / 30, 1e-9);
  // AMD: its row, 2 us, 6 us for Simple.
  communicator = on("a100x8", 16, 2);
  ll = getEntry(communicator, Function::AllReduce, Algorithm::Ring,
                Protocol::LL);
  EXPECT_NEAR(ll.latency, 6.6 + 28 * 2.0 + 2 * 2.7, 1e-9);
  EXPECT_NEAR(ll.bandwidth, 22.5 * 16.0 / 30, 1e-9);
  simple = getEntry(communicator, Function::AllGather, Algorithm::Ring);
  EXPECT_NEAR(simple.latency, 8.4 + 14 * 6 + 14, 1e-9);
  // Channels that enter a node at ports of their own: a step for each rank, by
  // the chunks of trees.
  TableEntry broadcast =
      getEntry(communicator, Function::Broadcast, Algorithm::Ring);
  EXPECT_NEAR(broadcast.latency, 8.4 + 16 * 14, 1e-9);
}

TEST(NcclTuner, TreesOverNodesTakeTheLogarithm) {
  // 64 ranks, 8 nodes: 7 hops in the node and 3 between nodes, there and back.
  Communicator communicator = onH100(64, 8);
  TableEntry tree = getEntry(communicator, Function::AllReduce, Algorithm::Tree,
                             Protocol::LL);
  EXPECT_NEAR(tree.latency, 6.8 + 2 * (7 * 0.6 + 3 * 5.0), 1e-9);
  // min(.92 * 360, 8 * 36) / 3.8 is more than the cap of LL, 20.4.
  EXPECT_NEAR(tree.bandwidth, 20.4 / 2, 1e-9);
  tree = getEntry(communicator, Function::AllReduce, Algorithm::Tree);
  EXPECT_NEAR(tree.bandwidth, 288.0 / 2, 1e-9);
  // 288 * 120/128 = 270 is more than 8 * 29.
  tree = getEntry(communicator, Function::AllReduce, Algorithm::Tree,
                  Protocol::LL128);
  EXPECT_NEAR(tree.bandwidth, 232.0 / 2, 1e-9);
  communicator.hasPlainTrees = true;
  tree = getEntry(communicator, Function::AllReduce, Algorithm::Tree);
  EXPECT_NEAR(tree.bandwidth, 0.85 * 288.0 / 2, 1e-9);

  // Small all-reduces over many nodes are what trees are for.
  EXPECT_EQ(choose(onH100(64, 8), Function::AllReduce, kib).algorithm,
            Algorithm::Tree);
  EXPECT_EQ(choose(onH100(64, 8), Function::AllReduce, gib).algorithm,
            Algorithm::Ring);
}

TEST(NcclTuner, TreesFallShortOfTheModelInBetween) {
  Communicator communicator = onH100(8);
  auto timePerByte = [&](uint64_t bytes) {
    double latency =
        getEntry(communicator, Function::AllReduce, Algorithm::Tree).latency;
    return (*predictTime(communicator, {Function::AllReduce, bytes},
                         Algorithm::Tree, Protocol::Simple) -
            latency) *
           165.6 * 1000 / static_cast<double>(bytes);
  };
  EXPECT_NEAR(timePerByte(63), 1.0, 1e-9);            // below the table
  EXPECT_NEAR(timePerByte(64), 1 / 0.9, 1e-9);        // its first entry
  EXPECT_NEAR(timePerByte(mib), 1 / 0.5, 1e-9);       // log2(2^20 / 64) = 14
  EXPECT_NEAR(timePerByte(256 * mib), 1 / 0.9, 1e-9); // its last, 22
  EXPECT_NEAR(timePerByte(512 * mib), 1.0, 1e-9);     // beyond
}

TEST(NcclTuner, LargeRingsOverNodesReachAPlateau) {
  // From 64 B a channel and rank on: 16 channels * 16 ranks.
  Communicator communicator = onH100(16, 2);
  TableEntry entry =
      getEntry(communicator, Function::AllReduce, Algorithm::Ring);
  auto latency = [&](const Communicator &communicator, Function function,
                     uint64_t bytes) {
    double bandwidth =
        getEntry(communicator, function, Algorithm::Ring).bandwidth;
    return *predictTime(communicator, {function, bytes}, Algorithm::Ring,
                        Protocol::Simple) -
           static_cast<double>(bytes) / (1000 * bandwidth);
  };
  uint64_t limit = 64 * 16 * 16;
  EXPECT_NEAR(latency(communicator, Function::AllReduce, limit - 1),
              entry.latency, 1e-6);
  EXPECT_NEAR(latency(communicator, Function::AllReduce, limit),
              1.4 * entry.latency, 1e-6);
  // Not for others, nor on one node; more on Volta.
  EXPECT_NEAR(
      latency(communicator, Function::AllGather, limit),
      getEntry(communicator, Function::AllGather, Algorithm::Ring).latency,
      1e-6);
  EXPECT_NEAR(latency(onH100(8), Function::AllReduce, gib), 56.0, 1e-6);
  Communicator volta = on("v100x8", 16, 2);
  EXPECT_NEAR(latency(volta, Function::AllReduce, limit),
              1.9 *
                  getEntry(volta, Function::AllReduce, Algorithm::Ring).latency,
              1e-6);
}

TEST(NcclTuner, NvlsIsOffUnlessAskedFor) {
  Communicator communicator = onH100(8);
  EXPECT_FALSE(getTableEntry(communicator, Function::AllReduce, Algorithm::Nvls,
                             Protocol::Simple));
  communicator.enableNvls = true;
  // 8 heads of 40 GB/s at 85 %, one channel less, both ways at once.
  TableEntry entry =
      getEntry(communicator, Function::AllReduce, Algorithm::Nvls);
  EXPECT_EQ(entry.latency, 25.0);
  EXPECT_NEAR(entry.bandwidth, 8 * 40 * 0.85 * 7 / 8 * 2 * 8 / 14, 1e-9);
  entry = getEntry(communicator, Function::AllGather, Algorithm::Nvls);
  EXPECT_NEAR(entry.bandwidth, 8 * 40 * 0.85 * 7 / 8 * 7 / 8, 1e-9);
  // It wins large all-reduces, on 16 CTAs.
  Estimate best = choose(communicator, Function::AllReduce, 256 * mib);
  EXPECT_EQ(best.algorithm, Algorithm::Nvls);
  EXPECT_EQ(best.numChannels, 16);
  // There is no such form of a broadcast, nor of the LL protocol, nor NVLSTree
  // on one node.
  EXPECT_FALSE(getTableEntry(communicator, Function::Broadcast, Algorithm::Nvls,
                             Protocol::Simple));
  EXPECT_FALSE(getTableEntry(communicator, Function::AllReduce, Algorithm::Nvls,
                             Protocol::LL));
  EXPECT_FALSE(getTableEntry(communicator, Function::AllReduce,
                             Algorithm::NvlsTree, Protocol::Simple));
  // Between nodes NVLS takes CollNet; NVLSTree does not.
  communicator = onH100(16, 2);
  communicator.enableNvls = true;
  EXPECT_FALSE(getTableEntry(communicator, Function::AllReduce, Algorithm::Nvls,
                             Protocol::Simple));
  entry = getEntry(communicator, Function::AllReduce, Algorithm::NvlsTree);
  EXPECT_NEAR(entry.latency, 25 + 2 * 20.9, 1e-9);
  // min(59.5, 2 * 48, 57.7) a channel.
  EXPECT_NEAR(entry.bandwidth, 8 * 57.7 * 16 / 30, 1e-9);
  communicator.enableCollNet = true;
  entry = getEntry(communicator, Function::AllReduce, Algorithm::Nvls);
  EXPECT_NEAR(entry.latency, 25 + 18, 1e-9);
  EXPECT_NEAR(entry.bandwidth, 8 * 48.0 * 16 / 30, 1e-9);
  // Ampere and Volta have no multicast.
  communicator = on("a100x8", 8);
  communicator.enableNvls = true;
  EXPECT_FALSE(getTableEntry(communicator, Function::AllReduce, Algorithm::Nvls,
                             Protocol::Simple));
}

TEST(NcclTuner, CollNetIsOffUnlessAskedFor) {
  Communicator communicator = onH100(16, 2);
  for (auto algorithm : {Algorithm::CollNetDirect, Algorithm::CollNetChain})
    EXPECT_FALSE(getTableEntry(communicator, Function::AllReduce, algorithm,
                               Protocol::Simple));
  communicator.enableCollNet = true;
  // 8 ports for 8 GPUs: the factor is 1.
  TableEntry entry =
      getEntry(communicator, Function::AllReduce, Algorithm::CollNetDirect);
  EXPECT_NEAR(entry.latency, 2 * (3.7 + 7 * 0.4) + 31, 1e-9);
  EXPECT_NEAR(entry.bandwidth, 8 * 48 * 0.85 / 2, 1e-9);
  entry = getEntry(communicator, Function::AllGather, Algorithm::CollNetDirect);
  EXPECT_NEAR(entry.bandwidth, 8 * 0.9 * 48, 1e-9);
  entry = getEntry(communicator, Function::AllReduce, Algorithm::CollNetChain);
  EXPECT_NEAR(entry.latency, 2 * 7 * 2.8 + 30, 1e-9);
  EXPECT_NEAR(entry.bandwidth, 8 * 48.0 / 2, 1e-9);
  EXPECT_FALSE(getTableEntry(communicator, Function::AllGather,
                             Algorithm::CollNetChain, Protocol::Simple));
  EXPECT_FALSE(getTableEntry(communicator, Function::AllReduce,
                             Algorithm::CollNetDirect, Protocol::LL));
  // It takes several nodes, and the direct form switches.
  communicator.hasNvSwitch = false;
  EXPECT_FALSE(getTableEntry(communicator, Function::AllReduce,
                             Algorithm::CollNetDirect, Protocol::Simple));
  communicator = onH100(8);
  communicator.enableCollNet = true;
  EXPECT_FALSE(getTableEntry(communicator, Function::AllReduce,
                             Algorithm::CollNetChain, Protocol::Simple));
  // Its channels: 640 threads and 8 heads with 512 B each are 2.5 MiB a
  // channel.
  communicator = onH100(16, 2);
  communicator.enableCollNet = true;
  Launch launch{Function::AllReduce, gib};
  EXPECT_EQ(countChannels(communicator, launch, Algorithm::CollNetDirect,
                          Protocol::Simple),
            16);
  launch.bytes = mib;
  EXPECT_LT(countChannels(communicator, launch, Algorithm::CollNetDirect,
                          Protocol::Simple),
            4);
  EXPECT_EQ(countChannels(communicator, launch, Algorithm::CollNetChain,
                          Protocol::Simple),
            3); // 320 KiB each
}

TEST(NcclTuner, PatTakesOneGpuANode) {
  for (Function function : {Function::AllGather, Function::ReduceScatter}) {
    EXPECT_FALSE(getTableEntry(onH100(16, 2), function, Algorithm::Pat,
                               Protocol::Simple));
    // log2(8) hops of 14 us over 3.5, and 2.8 us a rank; 75 % of one port.
    TableEntry entry = getEntry(onH100(8, 8), function, Algorithm::Pat);
    EXPECT_NEAR(entry.latency, 8 + 3 * 14 / 3.5 + 8 * 2.8, 1e-9);
    EXPECT_NEAR(entry.bandwidth, 0.75 * 48, 1e-9);
    EXPECT_FALSE(
        getTableEntry(onH100(8, 8), function, Algorithm::Pat, Protocol::LL));
  }
  EXPECT_FALSE(getTableEntry(onH100(8, 8), Function::AllReduce, Algorithm::Pat,
                             Protocol::Simple));
}

TEST(NcclTuner, OneGpuANodeCannotHideTheNetwork) {
  // Rings pay the hop of trees: 5 us instead of 2.7.
  TableEntry entry = getEntry(onH100(2, 2), Function::AllReduce,
                              Algorithm::Ring, Protocol::LL);
  EXPECT_NEAR(entry.latency, 6.6 + 2 * 5.0, 1e-9);
}

TEST(NcclTuner, LL128TakesSafePaths) {
  Communicator communicator = onH100(16, 2);
  auto hasLL128 = [&] {
    return getTableEntry(communicator, Function::AllReduce, Algorithm::Ring,
                         Protocol::LL128)
        .has_value();
  };
  EXPECT_TRUE(hasLL128());
  communicator.interPath = PathType::Pxn;
  EXPECT_TRUE(hasLL128());
  communicator.generation = GpuGeneration::Ampere;
  EXPECT_FALSE(hasLL128());
  communicator.interPath = PathType::Pxb;
  EXPECT_TRUE(hasLL128());
  communicator.intraPath = PathType::Pix;
  EXPECT_FALSE(hasLL128());
  // PCIe has latencies of its own.
  communicator = onH100(8);
  communicator.intraPath = PathType::Phb;
  EXPECT_NEAR(
      getEntry(communicator, Function::AllGather, Algorithm::Ring).latency,
      8.4 + 7 * 5.7, 1e-9);
}

TEST(NcclTuner, EachGenerationHasItsCaps) {
  auto bandwidth = [](llvm::StringRef hardware, Algorithm algorithm,
                      Protocol protocol) {
    return getEntry(on(hardware, 2), Function::AllReduce, algorithm, protocol)
        .bandwidth;
  };
  // Half of the bus, or the cap.
  EXPECT_NEAR(bandwidth("v100x8", Algorithm::Ring, Protocol::LL), 39, 1e-9);
  EXPECT_NEAR(bandwidth("a100x8", Algorithm::Ring, Protocol::LL), 87.7, 1e-9);
  EXPECT_NEAR(bandwidth("b200x8", Algorithm::Ring, Protocol::LL), 282, 1e-9);
  // 92 % of 120, 240 and 720 are less than the caps.
  EXPECT_NEAR(bandwidth("v100x8", Algorithm::Ring, Protocol::LL128), 110.4,
              1e-9);
  EXPECT_NEAR(bandwidth("a100x8", Algorithm::Ring, Protocol::LL128), 220.8,
              1e-9);
  EXPECT_NEAR(bandwidth("b200x8", Algorithm::Ring, Protocol::LL128), 662.4,
              1e-9);
  EXPECT_NEAR(bandwidth("b200x8", Algorithm::Tree, Protocol::Simple),
              0.92 * 720 / 2, 1e-9);
  // V100s have no switches, so that a ring's channels differ.
  EXPECT_NEAR(
      getEntry(on("v100x8", 8), Function::Broadcast, Algorithm::Ring).latency,
      8.4 + 8 * 4.0, 1e-9);
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

TEST(NcclTuner, AGroupOfLaunchesPaysTheLatencyOfEach) {
  Communicator communicator = onH100(8);
  Launch launch{Function::AllReduce, mib, 11};
  double one = *predictTime(communicator, {Function::AllReduce, mib},
                            Algorithm::Ring, Protocol::LL);
  EXPECT_NEAR(
      *predictTime(communicator, launch, Algorithm::Ring, Protocol::LL) - one,
      10 * 15.0, 1e-9);
  // A tree pays for batches of ten.
  one = *predictTime(communicator, {Function::AllReduce, mib}, Algorithm::Tree,
                     Protocol::LL);
  EXPECT_NEAR(
      *predictTime(communicator, launch, Algorithm::Tree, Protocol::LL) - one,
      15.2, 1e-9);
}

TEST(NcclTuner, LongRingsDoNotReduceFloat8) {
  Communicator communicator = onH100(16, 2);
  Launch launch{Function::AllReduce, gib};
  EXPECT_EQ(chooseAlgorithm(communicator, launch).algorithm, Algorithm::Ring);
  launch.isFloat8 = true;
  Estimate best = chooseAlgorithm(communicator, launch);
  EXPECT_EQ(best.algorithm, Algorithm::Tree);
  // The penalty chooses; it is no time.
  EXPECT_EQ(best.time,
            *predictTime(communicator, launch, best.algorithm, best.protocol));
  // Rings of 8 and what does not reduce are as before; a reduce-scatter has no
  // other way.
  EXPECT_EQ(chooseAlgorithm(onH100(8), launch).algorithm, Algorithm::Ring);
  launch.function = Function::ReduceScatter;
  best = chooseAlgorithm(communicator, launch);
  EXPECT_EQ(best.algorithm, Algorithm::Ring);
  EXPECT_EQ(best.time,
            *predictTime(communicator, launch, best.algorithm, best.protocol));
}

TEST(NcclTuner, AGroupOfOneTakesNoTime) {
  Communicator communicator = onH100(1);
  EXPECT_EQ(choose(communicator, Function::AllReduce, gib).time, 0.0);
  EXPECT_EQ(choose(communicator, Function::AllReduce, gib).numChannels, 0);
  EXPECT_EQ(estimateTransfer(communicator, Transfer::AllToAll, gib).time, 0.0);
  EXPECT_EQ(estimateCopyEngine(communicator, gib).time, 0.0);
}

// Whatever the machine, the group and the size: a positive time that grows with
// the size, and no more channels than there are.
TEST(NcclTuner, EstimatesAreSane) {
  for (const Hardware &hardware : getKnownHardware()) {
    if (!hardware.hasNccl())
      continue;
    for (int64_t numRanks : {2, 3, 5, 8, 16, 31, 64, 1024, 1 << 30})
      for (int64_t numNodes : {1, 2, 3, 8, 1 << 20}) {
        if (numNodes > numRanks)
          continue;
        Communicator communicator =
            describeCommunicator(hardware, numRanks, numNodes);
        for (unsigned f = 0; f < numFunctions; ++f) {
          double last = 0;
          for (uint64_t bytes = 1; bytes != 0; bytes *= 4) {
            Estimate best =
                choose(communicator, static_cast<Function>(f), bytes);
            EXPECT_TRUE(std::isfinite(best.time));
            // The corrections of trees make steps.
            EXPECT_GT(best.time, 0.99 * last);
            last = best.time;
            EXPECT_GE(best.numChannels, 1);
            EXPECT_LE(best.numChannels, 64);
          }
        }
        for (auto transfer : {Transfer::SendReceive, Transfer::AllToAll,
                              Transfer::Gather, Transfer::Scatter}) {
          double last = 0;
          for (uint64_t bytes = 1; bytes != 0; bytes *= 4) {
            Estimate estimate = estimateTransfer(communicator, transfer, bytes);
            EXPECT_TRUE(std::isfinite(estimate.time));
            EXPECT_GE(estimate.time, last);
            last = estimate.time;
            EXPECT_GE(estimate.numChannels, 1);
            EXPECT_LE(estimate.numChannels, 64);
          }
        }
      }
  }
}

TEST(NcclTuner, NamesAreThoseOfTheEnvironment) {
  EXPECT_EQ(stringify(Algorithm::NvlsTree), "NVLSTree");
  EXPECT_EQ(stringify(Algorithm::CollNetDirect), "CollnetDirect");
  EXPECT_EQ(stringify(Protocol::LL128), "LL128");
}
