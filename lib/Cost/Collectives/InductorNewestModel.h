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

/// The fastest algorithm of a collective, and its time.
struct Estimate {
  double microseconds;
  Algorithm algorithm;
  Protocol protocol;
};

/// The least time of any algorithm and protocol (`_nccl_algo_time`) for an
/// all-reduce, an all-gather, a reduce-scatter or an all-to-all of `bytes`
/// among `groupSize` GPUs, `gpusPerNode` on each node; none for other kinds.
/// InfiniBand connects the nodes.
std::optional<Estimate> estimate(GpuGeneration generation,
                                 comm::CollectiveKind kind, int64_t groupSize,
                                 int64_t gpusPerNode, uint64_t bytes);

/// The links with a profile in `computeMinSaturationBytes`.
enum class LinkProfile {
  NvLinkV100,
  NvLinkA100,
  NvLinkH100,
  NvLinkB200,
  InfiniBandHdr,
  InfiniBandNdr,
  Pcie
};

/// The smallest size of a bucket: the bytes for which a collective of
/// `groupSize` ranks reaches the fraction `efficiency` (above 0, below 1) of
/// the bandwidth of `link` (`compute_min_saturation_bytes`). `kind` is an
/// all-reduce or a collective with half as many steps.
double computeMinSaturationBytes(LinkProfile link, comm::CollectiveKind kind,
                                 int64_t groupSize, double efficiency);

} // namespace inductor_newest

/// Inductor's newest formula. As in the upstream scheduler, the formula depends
/// on the bytes of the operands. Collectives that the original does not support
/// have stand-ins: the same ring with the Simple protocol, and the bus factors
/// of nccl-tests. Messages between two ranks have a stand-in, too, because the
/// original multiplies their bandwidth by the size of the group.
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
