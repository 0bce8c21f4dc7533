//===- CollectiveCost.h - Time of collectives -------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_COST_COLLECTIVES_COLLECTIVECOST_H
#define BRAID_COST_COLLECTIVES_COLLECTIVECOST_H

#include "braid/Cost/Hardware/Hardware.h"
#include "braid/Dialect/Comm/IR/CollectiveKind.h"

#include <memory>

namespace braid {

/// What a cost model has to know of one launch. A coalesced launch has the sums
/// over its operands.
struct CollectiveCall {
  comm::CollectiveKind kind;
  /// The number of ranks that take part.
  int64_t groupSize;
  /// Bytes that one member gives, and bytes that one member gets.
  uint64_t inputBytes;
  uint64_t outputBytes;
  /// The number of nodes that the members of one communicator are spread over.
  int64_t numNodes = 1;
  /// The operands of a coalesced launch.
  int64_t numOperands = 1;
  /// True if it reduces 8-bit floats.
  bool reducesFloat8 = false;
  /// The limit on thread blocks of its lane; 0 for none.
  int64_t maxCtas = 0;
  /// Its lane has copy engines move the data where they can.
  bool usesCopyEngine = false;

  /// The size of the whole operation, which link and NCCL formulas start from:
  /// the gathered result of a gather, the whole operand of a scatter.
  uint64_t getWholeBytes() const { return std::max(inputBytes, outputBytes); }
};

/// An estimate of one launch.
struct CollectiveTime {
  double ns;
  /// False if the model says nothing of such a collective itself, and a
  /// stand-in (see `InductorCollectiveModel`) gave the figure.
  bool exact;
  /// Multiprocessors that the collective holds while it runs; 0 if copy engines
  /// run it, or if the model does not say.
  int32_t channels = 0;
  /// Bytes that one member sends over its links within the node, or over its
  /// port of the network if there are several nodes; 0 if the model does not
  /// say.
  uint64_t linkBytes = 0;
};

/// Bytes that the busiest member of `call` sends over its link: the factors of
/// `braid_rt_link_bytes`, which are those of nccl-tests (doc/PERFORMANCE.md).
uint64_t getLinkBytes(const CollectiveCall &call);

/// Bytes of device memory that a rank's part of `call` reads and writes.
double getMemoryBytes(const CollectiveCall &call);

/// A formula for the time of collectives.
class CollectiveCostModel {
public:
  virtual ~CollectiveCostModel();

  /// The name that `collective-model` selects the model by.
  virtual llvm::StringRef getName() const = 0;

  /// The time from the moment all members have started `call` and the lane is
  /// free to its end. 0 for a group of one.
  virtual CollectiveTime estimate(const CollectiveCall &call) const = 0;
};

/// Messages over one full-duplex link a rank: steps times latency plus bytes
/// over bandwidth. The formula is `braid_rt_link_time_ns`, which the runtime
/// rehearses (braid-rt/Link.h), so that an estimate and a rehearsal agree.
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

/// The model of `kind` for ranks of `hardware`, which has to outlive it. The
/// link model takes `linkLatencyNs` and `linkBandwidth` (bytes per second).
std::unique_ptr<CollectiveCostModel>
createCollectiveModel(CollectiveModelKind kind, const Hardware &hardware,
                      double linkLatencyNs, double linkBandwidth);

} // namespace braid

#endif // BRAID_COST_COLLECTIVES_COLLECTIVECOST_H
