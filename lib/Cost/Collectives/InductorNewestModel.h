//===- InductorNewestModel.h - Inductor's newest NCCL formula ---*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_COST_COLLECTIVES_INDUCTORNEWESTMODEL_H
#define BRAID_LIB_COST_COLLECTIVES_INDUCTORNEWESTMODEL_H

#include "braid/Cost/Collectives/CollectiveCost.h"

#include <optional>

namespace braid {

/// `torch/_inductor/comm_analysis.py` as of PyTorch 2.13.
namespace inductor_newest {

enum Algorithm { Tree, Ring, NumAlgorithms };
enum Protocol { LL, LL128, Simple, NumProtocols };

/// What the formula takes for the fastest way of a collective.
struct Estimate {
  double microseconds;
  Algorithm algorithm;
  Protocol protocol;
};

/// The least time of any algorithm and protocol (`_nccl_algo_time`) for an
/// all-reduce, an all-gather, a reduce-scatter or an all-to-all of `bytes`
/// among `groupSize` GPUs, `gpusPerNode` of them a node; none for every other
/// kind. Nodes are connected by InfiniBand.
std::optional<Estimate> estimate(GpuGeneration generation,
                                 comm::CollectiveKind kind, int64_t groupSize,
                                 int64_t gpusPerNode, uint64_t bytes);

/// The links that `computeMinSaturationBytes` has a profile of.
enum class LinkProfile {
  NvLinkV100,
  NvLinkA100,
  NvLinkH100,
  NvLinkB200,
  InfiniBandHdr,
  InfiniBandNdr,
  Pcie
};

/// The bytes from which a collective of `groupSize` ranks reaches the part
/// `efficiency` (above 0, below 1) of the bandwidth of `link`
/// (`compute_min_saturation_bytes`): what a bucket should at least hold. `kind`
/// is an all-reduce, or one that takes half of its steps.
double computeMinSaturationBytes(LinkProfile link, comm::CollectiveKind kind,
                                 int64_t groupSize, double efficiency);

} // namespace inductor_newest

/// Inductor's newest formula. It starts from the bytes of the operands, as the
/// scheduler's estimate does upstream. What the original does not know, and
/// messages between two ranks (which it multiplies the bandwidth of by the size
/// of the group), have stand-ins: the same ring with the simple protocol, and
/// the bus factors of nccl-tests.
class InductorNewestModel : public CollectiveCostModel {
public:
  InductorNewestModel(GpuGeneration generation, int64_t gpusPerNode)
      : generation(generation), gpusPerNode(gpusPerNode) {}

  llvm::StringRef getName() const override { return "inductor-newest"; }
  CollectiveTime estimate(const CollectiveCall &call) const override;

private:
  GpuGeneration generation;
  int64_t gpusPerNode;
};

} // namespace braid

#endif // BRAID_LIB_COST_COLLECTIVES_INDUCTORNEWESTMODEL_H
