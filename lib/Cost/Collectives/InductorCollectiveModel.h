//===- InductorCollectiveModel.h - Inductor's NCCL formula ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_COST_COLLECTIVES_INDUCTORCOLLECTIVEMODEL_H
#define BRAID_LIB_COST_COLLECTIVES_INDUCTORCOLLECTIVEMODEL_H

#include "braid/Cost/Collectives/CollectiveCost.h"

#include <optional>

namespace braid {

/// The tables of `torch/_inductor/comm_analysis.py` as of PyTorch 2.4, which
/// are those of NCCL's tuner (src/graph/tuning.cc) for the LL protocol.
namespace inductor {

enum NcclCollective { AllReduce, AllGather, ReduceScatter, NumCollectives };
enum GpuType { Volta, Ampere, Hopper, NumGpuTypes };
enum NcclHardware { NvLink, Pci, Net, NumHardware };
enum NcclAlgorithm { Tree, Ring, NumAlgorithms };
enum NcclProtocol { LL, NumProtocols };

/// The base latency in microseconds.
constexpr double baseLatency[NumAlgorithms][NumProtocols] = {{6.8}, {6.6}};

/// Microseconds of one step.
constexpr double hardwareLatency[NumHardware][NumAlgorithms][NumProtocols] = {
    {{0.6}, {0.6}}, {{1.0}, {1.0}}, {{5.0}, {2.7}}};

/// The largest bandwidth of the LL protocol, in GB/s, on 1, 2, and 4 or more
/// nodes.
constexpr double llMaxBandwidth[NumGpuTypes][3] = {
    {39.0, 39.0, 20.4}, {87.7, 22.5, 19.0}, {87.7, 22.5, 19.0}};

/// `config.intra_node_bw` and `config.inter_node_bw`, GB/s.
constexpr double intraNodeBandwidth = 300.0;
constexpr double interNodeBandwidth = 25.0;
constexpr int64_t gpusPerNode = 8;
constexpr double numChannels = 2.0;

/// The type of GPU that Inductor assumes: Ampere for all GPUs but V100, A100
/// and H100. The row of Hopper equals that of Ampere.
GpuType getGpuType(const Hardware &hardware);

} // namespace inductor

/// `estimate_nccl_collective_runtime`: a ring with the LL protocol.
///
///   time = bytes of the output / (bus bandwidth * n / steps)
///        + base latency + steps within nodes * 0.6 us + between nodes * 2.7 us
///
/// where steps = 2 (n - 1) for an all-reduce and n - 1 for an all-gather or a
/// reduce-scatter. As upstream, the size and the bandwidth use gigabytes of
/// 2^30 bytes.
///
/// The original raises an error for every other collective. This class applies
/// the formula to the steps and bytes of their ring (CollectiveTraits.h), as
/// nccl-tests (doc/PERFORMANCE.md) and NCCL's tuner define them. `bytes` is
/// then the size of the whole operation. A barrier has only latency.
class InductorCollectiveModel : public CollectiveCostModel {
public:
  explicit InductorCollectiveModel(inductor::GpuType gpuType)
      : gpuType(gpuType) {}

  llvm::StringRef getName() const override { return "inductor"; }
  CollectiveTime estimate(const CollectiveCall &call) const override;

  /// The original formula: nanoseconds of an all-reduce, an all-gather or a
  /// reduce-scatter; none for other collectives.
  std::optional<double> estimateAsInductor(const CollectiveCall &call) const;

private:
  inductor::GpuType gpuType;
};

} // namespace braid

#endif // BRAID_LIB_COST_COLLECTIVES_INDUCTORCOLLECTIVEMODEL_H
