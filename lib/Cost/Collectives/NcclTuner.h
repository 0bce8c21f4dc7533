//===- NcclTuner.h - NCCL's own model of collectives ------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The formulas by which NCCL 2.28 (src/graph/tuning.cc, src/enqueue.cc) chooses
// an algorithm, a protocol and a number of channels for a collective, as
// functions of a description of the communicator. Times are microseconds and
// rates are GB/s (10^9 bytes), as they are there. It knows nothing of IR.
//
// NCCL has no model of messages between pairs of ranks and of what it builds
// from them (all-to-all, gather, scatter), of copy engines, nor of a limit on
// its CTAs. What stands here for those says so.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_COST_COLLECTIVES_NCCLTUNER_H
#define BRAID_LIB_COST_COLLECTIVES_NCCLTUNER_H

#include "braid/Cost/Hardware/Hardware.h"

#include <cstdint>
#include <optional>

namespace braid::nccl {

/// The collectives that NCCL's tuner has a model of.
enum class Function { Broadcast, Reduce, AllGather, ReduceScatter, AllReduce };
constexpr unsigned numFunctions = 5;

/// NCCL's algorithms. The last two are ours, for what the tuner leaves out:
/// messages between pairs of ranks, and copies without a kernel.
enum class Algorithm {
  Tree,
  Ring,
  CollNetDirect,
  CollNetChain,
  Nvls,
  NvlsTree,
  Pat,
  PointToPoint,
  CopyEngine
};
constexpr unsigned numAlgorithms = 7;

enum class Protocol { LL, LL128, Simple };
constexpr unsigned numProtocols = 3;

/// The links that a path between two GPUs, or from a GPU to the network, takes:
/// NCCL's PATH_* in its order, from the fastest to the slowest.
enum class PathType { Nvl, Nvb, C2c, Pix, Pxb, P2c, Pxn, Phb, Sys };

/// What NCCL's search of the topology finds for an algorithm.
struct Graph {
  /// Channels, before NCCL doubles them for its kernels.
  int64_t numChannels = 0;
  /// GB/s of one channel within a node and between nodes.
  double intraBandwidth = 0;
  double interBandwidth = 0;
};

/// A communicator as the tuner sees it.
struct Communicator {
  GpuGeneration generation = GpuGeneration::Hopper;
  int64_t numRanks = 1;
  int64_t numNodes = 1;
  CpuVendor cpuVendor = CpuVendor::Intel;
  PathType intraPath = PathType::Nvl;
  PathType interPath = PathType::Pxb;
  /// Rings, trees, and the binomial trees of PAT.
  Graph ring;
  Graph nvls;
  Graph collNet;
  /// The search had to fall back on plain trees, which cost 15 %.
  bool hasPlainTrees = false;
  /// The channels of a ring visit the ranks in the same order.
  bool hasSameChannels = true;
  bool hasNvSwitch = true;
  /// Multicast through the switches (NVLS), and reduction in the network
  /// (CollNet).
  bool enableNvls = false;
  bool enableCollNet = false;
  /// Microseconds that the network reports for itself.
  double netLatency = 0;
  /// Channels of a large collective: one CTA each.
  int64_t numChannels = 1;
  int64_t numNvlsChannels = 0;
  /// Channels of messages between pairs of ranks: in all, and for one pair.
  int64_t numPointToPointChannels = 1;
  int64_t numChannelsPerPeer = 1;
  /// `maxCTAs` of the communicator; 0 for no limit.
  int64_t maxCtas = 0;
  /// Zero-CTA policy: copy engines run what they can (see `usesCopyEngine`).
  bool useCopyEngine = false;
  /// Microseconds, and GB/s that one rank sends.
  double copyEngineLatency = 0;
  double copyEngineBandwidth = 0;

  double getRanksPerNode() const {
    return static_cast<double>(numRanks) / static_cast<double>(numNodes);
  }
};

/// The communicator of `numRanks` ranks on `numNodes` nodes of `hardware`, with
/// the channels that NCCL's search finds there (see docs/cost-models.md).
/// `hardware` has NCCL figures; `numRanks` >= `numNodes` >= 1.
Communicator describeCommunicator(const Hardware &hardware, int64_t numRanks,
                                  int64_t numNodes);

/// Latency (us) and algorithm bandwidth (GB/s) of one line of the tuner's
/// table.
struct TableEntry {
  double latency;
  double bandwidth;
};

/// The entry of `function`, or none if the combination does not exist or is
/// disabled.
std::optional<TableEntry> getTableEntry(const Communicator &communicator,
                                        Function function, Algorithm algorithm,
                                        Protocol protocol);

/// One launch of a collective.
struct Launch {
  Function function;
  /// The larger of what a rank gives and what it gets: the gathered result of
  /// an all-gather, the whole operand of a reduce-scatter.
  uint64_t bytes;
  /// The collectives of a group that share one kernel; `bytes` is their sum.
  int64_t numOperations = 1;
  /// Elements are 8-bit floats, which long rings would round too often.
  bool isFloat8 = false;
};

/// The microseconds that NCCL's tuner predicts: none for a combination that
/// does not exist or is disabled. It knows of no limit on CTAs.
std::optional<double> predictTime(const Communicator &communicator,
                                  const Launch &launch, Algorithm algorithm,
                                  Protocol protocol);

/// What a collective is taken to do.
struct Estimate {
  /// Microseconds.
  double time = 0;
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;
  /// CTAs, and so multiprocessors, that it holds; 0 for copy engines.
  int64_t numChannels = 0;
};

/// The combination that NCCL chooses, which is the one with the least predicted
/// time; the channels that it launches; and the time. With a limit on CTAs the
/// choice stays NCCL's, and the bandwidth is at most what the CTAs carry: the
/// channels' share of the ring's.
Estimate chooseAlgorithm(const Communicator &communicator,
                         const Launch &launch);

/// The channels that NCCL launches for `launch` with a given choice.
int64_t countChannels(const Communicator &communicator, const Launch &launch,
                      Algorithm algorithm, Protocol protocol);

/// What NCCL builds from messages between pairs of ranks.
enum class Transfer { SendReceive, AllToAll, Gather, Scatter };

/// True if the copy engines run `transfer` (or all-gathers): the zero-CTA
/// policy within one node.
bool usesCopyEngine(const Communicator &communicator);

/// The estimate of a transfer in which the busiest rank holds `bytes` for all
/// ranks together: the message, what one rank of an all-to-all holds, or the
/// gathered whole. NCCL has no model. Taken: the latency of one ring step, and
/// the bytes that the busiest rank sends or gets over its share of the links.
Estimate estimateTransfer(const Communicator &communicator, Transfer transfer,
                          uint64_t bytes);

/// An all-gather by copy engines; `bytes` is the gathered whole. NCCL has no
/// model. Taken: a latency and a rate that were measured.
Estimate estimateCopyEngine(const Communicator &communicator, uint64_t bytes);

/// The name of `algorithm` or `protocol` as NCCL_ALGO and NCCL_PROTO spell it.
llvm::StringRef stringify(Algorithm algorithm);
llvm::StringRef stringify(Protocol protocol);

} // namespace braid::nccl

#endif // BRAID_LIB_COST_COLLECTIVES_NCCLTUNER_H
