//===- CollectiveCost.h - Time of collectives -------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_COST_COLLECTIVES_COLLECTIVECOST_H
#define BRAID_COST_COLLECTIVES_COLLECTIVECOST_H

#include "braid/Cost/Collectives/GroupShape.h"
#include "braid/Dialect/Comm/IR/CollectiveKind.h"

#include <memory>

namespace braid {

/// The properties of one launch that cost models use. The bytes of a coalesced
/// launch are the sums over its operands.
struct CollectiveCall {
  comm::CollectiveKind kind;
  /// The number of ranks that take part.
  int64_t groupSize;
  /// Bytes of the operands and of the results of one member.
  uint64_t inputBytes;
  uint64_t outputBytes;
  /// The number of nodes that the members of one communicator are spread over.
  int64_t numNodes = 1;
  /// The communicators of the group on a node, which run at the same time, and
  /// the distance of neighbouring members.
  int64_t groupsPerNode = 1, stride = 1;
  /// What the spine of the network leaves of it.
  NetworkShare network = {};
  /// The operands of a coalesced launch.
  int64_t numOperands = 1;
  /// True if the launch reduces 8-bit floats.
  bool reducesFloat8 = false;
  /// The limit on thread blocks of its lane; 0 for none.
  int64_t maxCtas = 0;
  /// Its lane has copy engines move the data where they can.
  bool usesCopyEngine = false;

  /// The bytes of the whole operation, on which the formulas of the link and of
  /// NCCL depend: the gathered result of a gather, the operand of a scatter.
  uint64_t getWholeBytes() const { return std::max(inputBytes, outputBytes); }
};

/// An estimate of one launch.
struct CollectiveTime {
  double ns;
  /// False if the model does not cover this kind of collective and a stand-in
  /// (see `InductorCollectiveModel`) gives the time.
  bool exact;
  /// Multiprocessors that the collective occupies; 0 if copy engines run the
  /// collective, or if the model has no value.
  int32_t channels = 0;
  /// Bytes that one member sends over its links within the node, or over its
  /// network port if there are several nodes; 0 if the model has no value.
  uint64_t linkBytes = 0;
};

/// The link, of those of HardwareMachine.h, that `call` shares with other
/// collectives.
int32_t getSharedLink(const CollectiveCall &call);

/// The bytes that `call` sends over that link, if `linkBytes` are those of the
/// links within a node or of the port.
int64_t getSharedLinkBytes(const CollectiveCall &call, uint64_t linkBytes);

/// Bytes that the busiest member of `call` sends over its link. The factors are
/// the factors of `braid_rt_link_bytes` and of nccl-tests (doc/PERFORMANCE.md).
uint64_t getLinkBytes(const CollectiveCall &call);

/// True if the data of `kind` moves in one direction
/// (`ResourceDemand::isOneWay`).
inline bool isOneWay(comm::CollectiveKind kind) {
  return kind != comm::CollectiveKind::all_reduce;
}

/// Bytes of device memory that one member of `call` reads and writes.
double getMemoryBytes(const CollectiveCall &call);

/// A formula for the time of collectives.
class CollectiveCostModel {
public:
  virtual ~CollectiveCostModel();

  /// The name that `collective-model` selects the model by.
  virtual llvm::StringRef getName() const = 0;

  /// The time of `call`, from the moment when all members have started it and
  /// the lane is free. 0 for a group of one.
  virtual CollectiveTime estimate(const CollectiveCall &call) const = 0;

  /// The nanoseconds that the operands of `call` take beyond one operand of all
  /// bytes, with one latency. `estimate` includes them; a time that was
  /// measured for one operand does not.
  virtual double getFurtherOperandsNs(const CollectiveCall & /*call*/) const {
    return 0;
  }
};

/// Messages over one full-duplex link for each rank: steps times latency plus
/// bytes over bandwidth. The formula is `braid_rt_link_time_ns`
/// (braid-rt/Link.h), which the runtime rehearses, so estimate and rehearsal
/// agree.
class LinkCollectiveModel : public CollectiveCostModel {
public:
  /// `latencyNs`: nanoseconds of one step. `bandwidth`: bytes per second; 0
  /// means unlimited.
  LinkCollectiveModel(double latencyNs, double bandwidth);

  llvm::StringRef getName() const override { return "link"; }
  CollectiveTime estimate(const CollectiveCall &call) const override;

private:
  double latencyNs;
  double bandwidth;
};

/// Creates the model of `kind` for ranks of `hardware`. The model refers to
/// `hardware`. The link model takes `linkLatencyNs` and `linkBandwidth` (bytes
/// per second).
std::unique_ptr<CollectiveCostModel>
createCollectiveModel(CollectiveModelKind kind, const Hardware &hardware,
                      double linkLatencyNs, double linkBandwidth);

} // namespace braid

#endif // BRAID_COST_COLLECTIVES_COLLECTIVECOST_H
