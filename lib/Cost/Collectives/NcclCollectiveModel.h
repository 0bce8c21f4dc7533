//===- NcclCollectiveModel.h - NCCL's tuner as a cost model -----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_COST_COLLECTIVES_NCCLCOLLECTIVEMODEL_H
#define BRAID_LIB_COST_COLLECTIVES_NCCLCOLLECTIVEMODEL_H

#include "NcclTuner.h"
#include "braid/Cost/Collectives/CollectiveCost.h"

namespace braid {

/// The estimates of NCCL's tuner (see NcclTuner.h) for collectives of the
/// dialect. Braid's own models cover collectives that the tuner does not
/// support, and collectives of copy engines. A barrier is an all-reduce of one
/// byte.
class NcclCollectiveModel : public CollectiveCostModel {
public:
  /// Models communicators on `hardware`, which must support NCCL
  /// (`Hardware::hasNccl`) and outlive the model.
  explicit NcclCollectiveModel(const Hardware &hardware);

  llvm::StringRef getName() const override { return "nccl"; }
  CollectiveTime estimate(const CollectiveCall &call) const override;
  double getFurtherOperandsNs(const CollectiveCall &call) const override;

  /// The algorithm, protocol and channels of `call`, and its microseconds.
  nccl::Estimate choose(const CollectiveCall &call) const;

private:
  nccl::Communicator describe(const CollectiveCall &call) const;

  const Hardware &hardware;
};

} // namespace braid

#endif // BRAID_LIB_COST_COLLECTIVES_NCCLCOLLECTIVEMODEL_H
