//===- LaneAgreement.cpp - Common resources of a lane's members -----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Communication/LaneAgreement.h"
#include "Base/Error.h"
#include "Operations/Messages.h"

#include <algorithm>

using namespace braid::rt;
using namespace braid::rt::cuda;

bool braid::rt::cuda::isPlanned(const LaneSpec &lane) {
  return lane.ctas > 0 || lane.transport != BRAID_RT_TRANSPORT_DEFAULT;
}

bool braid::rt::cuda::isRefusal(nccl::Result result) {
  return result == nccl::InvalidArgument || result == nccl::InvalidUsage;
}

bool braid::rt::cuda::weaken(LaneSpec &lane) {
  if (lane.transport == BRAID_RT_TRANSPORT_COPY)
    lane.transport = BRAID_RT_TRANSPORT_SYMMETRIC;
  else if (lane.ctas > 0)
    lane.ctas = 0;
  else
    return false;
  return true;
}

std::string braid::rt::cuda::describeResources(const LaneSpec &lane) {
  static constexpr const char *transports[] = {"", "transport symmetric",
                                               "transport copy"};
  std::string text = transports[lane.transport];
  if (lane.ctas)
    text += (text.empty() ? "" : ", ") + std::to_string(lane.ctas) + " CTAs";
  return text.empty() ? "the choice of NCCL" : text;
}

void LaneAgreement::add(int32_t rank, const LaneOutcome &outcome) {
  if (outcome.lane.ctas < 0 ||
      outcome.lane.transport < BRAID_RT_TRANSPORT_DEFAULT ||
      outcome.lane.transport > BRAID_RT_TRANSPORT_COPY)
    throw Error("a message from another rank is damaged: a lane has " +
                std::to_string(outcome.lane.ctas) + " CTAs and transport " +
                std::to_string(outcome.lane.transport));
  outcomes[rank] = outcome;
}

LaneSpec LaneAgreement::common() const {
  LaneSpec lane = outcomes.begin()->second.lane;
  // A limit is either the planned one or none.
  for (const auto &[rank, outcome] : outcomes) {
    lane.ctas = std::min(lane.ctas, outcome.lane.ctas);
    lane.transport = std::min(lane.transport, outcome.lane.transport);
  }
  return lane;
}

bool LaneAgreement::needsOthers() const {
  LaneSpec lane = common();
  return std::any_of(outcomes.begin(), outcomes.end(), [&](const auto &entry) {
    const LaneOutcome &outcome = entry.second;
    return outcome.isStale || outcome.lane.ctas != lane.ctas ||
           outcome.lane.transport != lane.transport;
  });
}

std::string LaneAgreement::describeRefusals() const {
  std::map<std::string, std::vector<int32_t>> ranks;
  for (const auto &[rank, outcome] : outcomes)
    if (!outcome.refusal.empty())
      ranks[outcome.refusal].push_back(rank);
  std::string text;
  for (const auto &[refusal, those] : ranks)
    text += (text.empty() ? "" : "; ") + listRanks(those) + ": " + refusal;
  return text;
}
