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
// functions of a description of the communicator. As in NCCL, times are in
// microseconds and rates in GB/s (10^9 bytes).
//
// NCCL has no model of messages between pairs of ranks, of collectives that
// consist of messages (all-to-all, gather, scatter), of copy engines, or of a
// limit on CTAs. The comments below say which models are Braid's own.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_COST_COLLECTIVES_NCCLTUNER_H
#define BRAID_LIB_COST_COLLECTIVES_NCCLTUNER_H

#include "braid/Cost/Hardware/Hardware.h"

#include <cstdint>
#include <optional>

namespace braid::nccl {

/// The collectives in NCCL's tuner.
enum class Function { Broadcast, Reduce, AllGather, ReduceScatter, AllReduce };
constexpr unsigned numFunctions = 5;

/// NCCL's algorithms. The last two are Braid's own: messages between pairs of
/// ranks, and copies without a kernel.
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

/// The type of the path between two GPUs, or from a GPU to the network: NCCL's
/// PATH_* in its order, from the fastest to the slowest.
enum class PathType { Nvl, Nvb, C2c, Pix, Pxb, P2c, Pxn, Phb, Sys };

/// The result of NCCL's topology search for an algorithm.
struct Graph {
  /// Channels, before NCCL doubles them for its kernels.
  int64_t numChannels = 0;
  /// GB/s of one channel within a node and between nodes.
  double intraBandwidth = 0;
  double interBandwidth = 0;
};

/// The properties of a communicator that the tuner uses.
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
  /// True if the search fell back to plain trees, which cost 15 %.
  bool hasPlainTrees = false;
  /// The channels of a ring visit the ranks in the same order.
  bool hasSameChannels = true;
  bool hasNvSwitch = true;
  /// Multicast through the switches (NVLS), and reduction in the network
  /// (CollNet).
  bool enableNvls = false;
  bool enableCollNet = false;
  /// The GB/s of the ports of a node's members, and the part of it that the
  /// spine of the network leaves them.
  double portBandwidth = 0;
  double networkShare = 1;
  /// The latency that the network reports, in microseconds.
  double netLatency = 0;
  /// Channels of a large collective: one CTA each.
  int64_t numChannels = 1;
  int64_t numNvlsChannels = 0;
  /// Channels of messages between pairs of ranks: of all pairs, and of one
  /// pair.
  int64_t numPointToPointChannels = 1;
  int64_t numChannelsPerPeer = 1;
  /// `maxCTAs` of the communicator; 0 for no limit.
  int64_t maxCtas = 0;
  /// Zero-CTA policy: copy engines run the collectives of `usesCopyEngine`.
  bool useCopyEngine = false;
  /// The latency in microseconds, and the GB/s that one rank sends.
  double copyEngineLatency = 0;
  double copyEngineBandwidth = 0;

  double getRanksPerNode() const {
    return static_cast<double>(numRanks) / static_cast<double>(numNodes);
  }
};

/// The communicator of `numRanks` ranks on `numNodes` nodes of `hardware`, with
/// the channels that NCCL's search finds (see docs/design/cost-models.md).
/// `hardware` must support NCCL; `numRanks` >= `numNodes` >= 1.
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
  /// The larger of the operand and the result of a rank: the gathered result of
  /// an all-gather, the operand of a reduce-scatter.
  uint64_t bytes;
  /// The number of operations in a group call, which share one kernel; `bytes`
  /// is their sum.
  int64_t numOperations = 1;
  /// True for 8-bit floats, which long rings would round too often.
  bool isFloat8 = false;
};

/// The microseconds that NCCL's tuner predicts; none for a combination that
/// does not exist or is disabled. The tuner ignores the limit on CTAs.
std::optional<double> predictTime(const Communicator &communicator,
                                  const Launch &launch, Algorithm algorithm,
                                  Protocol protocol);

/// The estimated algorithm, protocol, time and channels of a collective.
struct Estimate {
  /// Microseconds.
  double time = 0;
  Algorithm algorithm = Algorithm::Ring;
  Protocol protocol = Protocol::Simple;
  /// CTAs of the collective, each of which occupies a multiprocessor; 0 for
  /// copy engines.
  int64_t numChannels = 0;
};

/// The combination that NCCL chooses, which has the smallest predicted time,
/// the channels that NCCL launches, and the time. A limit on CTAs does not
/// change the choice. It limits the bandwidth to the launched channels' share
/// of the ring's bandwidth, and the spine of the network to a share of the
/// ports.
Estimate chooseAlgorithm(const Communicator &communicator,
                         const Launch &launch);

/// The channels that NCCL launches for `launch` with a given choice.
int64_t countChannels(const Communicator &communicator, const Launch &launch,
                      Algorithm algorithm, Protocol protocol);

/// The collectives that NCCL builds from messages between pairs of ranks.
enum class Transfer { SendReceive, AllToAll, Gather, Scatter };

/// True if the copy engines run transfers and all-gathers, by the zero-CTA
/// policy within one node.
bool usesCopyEngine(const Communicator &communicator);

/// The estimate of a transfer in which the busiest rank has `bytes`: the
/// message, the operand of an all-to-all, or the gathered tensor. NCCL has no
/// model. Braid's model is the latency of one ring step plus the bytes that the
/// busiest rank sends or receives divided by the bandwidth of its share of the
/// links.
Estimate estimateTransfer(const Communicator &communicator, Transfer transfer,
                          uint64_t bytes);

/// The estimate of an all-gather by copy engines; `bytes` is the size of the
/// gathered tensor. NCCL has no model. Braid's model is a measured latency and
/// a measured rate.
Estimate estimateCopyEngine(const Communicator &communicator, uint64_t bytes);

/// The name of `algorithm` or `protocol` as NCCL_ALGO and NCCL_PROTO spell it.
llvm::StringRef stringify(Algorithm algorithm);
llvm::StringRef stringify(Protocol protocol);

} // namespace braid::nccl

#endif // BRAID_LIB_COST_COLLECTIVES_NCCLTUNER_H
