//===- LaneAgreement.h - Common resources of a lane -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_COMMUNICATION_LANEAGREEMENT_H
#define BRAID_RUNTIME_CUDA_COMMUNICATION_LANEAGREEMENT_H

#include "CUDA/API/NCCL.h"
#include "Engine/Engine.h"

#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace braid::rt::cuda {

/// True if a lane limits its CTAs or chooses a transport, which NCCL may
/// refuse.
bool isPlanned(const LaneSpec &lane);

/// True if NCCL refuses what it was asked for, and has not failed otherwise.
bool isRefusal(nccl::Result result);

/// Drops the strongest resource of the configuration of a lane's communicator:
/// first the copy engines, whose place symmetric kernels take, then the limit
/// of CTAs. False if the lane has neither.
bool weaken(LaneSpec &lane);

/// `transport copy, 8 CTAs`; `the choice of NCCL` for a lane without either.
std::string describeResources(const LaneSpec &lane);

/// What NCCL gives one member of a lane.
struct LaneOutcome {
  LaneSpec lane; ///< What the member may use.
  /// True if the member's communicator was created for another lane.
  bool isStale = false;
  /// What NCCL says to the rest of the plan; empty if NCCL refuses nothing.
  std::string refusal;

  template <typename Self> static auto fields(Self &self) {
    return std::tie(self.lane.ctas, self.lane.transport, self.isStale,
                    self.refusal);
  }
};

/// What all members of a lane may use, and what NCCL has said to them.
class LaneAgreement {
public:
  /// Throws an Error if the outcome, another rank's, is of no lane.
  void add(int32_t rank, const LaneOutcome &outcome);

  /// The strongest resources that every member has.
  LaneSpec common() const;

  /// True if a communicator is stale or was created for a lane other than the
  /// common one: all members create theirs again.
  bool needsOthers() const;

  /// `rank 1: ncclCommWindowRegister failed: invalid usage`; empty if NCCL
  /// refuses nothing.
  std::string describeRefusals() const;

  size_t size() const { return outcomes.size(); }

private:
  std::map<int32_t, LaneOutcome> outcomes;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_COMMUNICATION_LANEAGREEMENT_H
