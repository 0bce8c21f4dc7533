//===- Orders.cpp - What happens to an order ------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Orders.h"
#include "Errors.h"
#include "Objects.h"

using namespace braid;

int32_t braid_simulate(const braid_problem *problem, const int64_t *order,
                       braid_times *times, braid_simulation_summary *summary,
                       braid_error *error) {
  if (!hasSize(summary, "summary", error))
    return BRAID_INVALID_ARGUMENT;
  std::optional<ScheduleOrder> legal =
      readOrder(problem->problem, order, error);
  if (!legal)
    return BRAID_INVALID_ARGUMENT;
  Simulation simulation = simulateOrder(problem->problem, *legal);
  if (times)
    for (const SimulatedTimes &of : simulation.times)
      *times++ = {of.issuedNs, of.startNs, of.endNs, of.lostNs, of.exposedNs};
  braid_simulation_summary result = {};
  result.makespan_ns = simulation.makespanNs;
  result.compute_ns = simulation.computeNs;
  result.communication_ns = simulation.communicationNs;
  result.launch_ns = simulation.launchNs;
  result.compute_lost_ns = simulation.computeLostNs;
  result.communication_lost_ns = simulation.communicationLostNs;
  result.exposed_ns = simulation.exposedNs;
  result.communication_union_ns = simulation.communicationUnionNs;
  result.hidden_ns = simulation.hiddenNs;
  result.peak_bytes = simulation.peakBytes;
  result.peak_place = simulation.peakOp ? int64_t(*simulation.peakOp) : -1;
  write(result, *summary);
  return BRAID_OK;
}

int32_t braid_get_memory(const braid_problem *problem, const int64_t *order,
                         int64_t *bytes, braid_error *error) {
  std::optional<ScheduleOrder> legal =
      readOrder(problem->problem, order, error);
  if (!legal)
    return BRAID_INVALID_ARGUMENT;
  int64_t live = problem->problem.liveBytes;
  for (const SimulatedOp &op : getSimulatedOps(problem->problem, *legal)) {
    live += op.allocatedBytes;
    *bytes++ = live + op.transientBytes;
    live -= op.freedBytes;
  }
  return BRAID_OK;
}

int64_t braid_get_lower_bound(const braid_problem *problem,
                              const char **reason) {
  LowerBounds bounds = computeLowerBounds(problem->problem);
  if (reason)
    *reason = stringifyLowerBoundKind(bounds.bestKind()).data();
  return bounds.best();
}

int64_t braid_get_reasons(const braid_problem *problem, const int64_t *order,
                          braid_reason *reasons, int64_t capacity,
                          braid_error *error) {
  std::optional<ScheduleOrder> legal =
      readOrder(problem->problem, order, error);
  if (!legal)
    return -1;
  std::vector<ExposureReason> found =
      getExposureReasons(problem->problem, *legal);
  for (const ExposureReason &reason : found) {
    if (capacity-- <= 0)
      break;
    *reasons++ = {reason.start,
                  reason.exposedNs,
                  reason.node ? int64_t(*reason.node) : -1,
                  reason.gainNs,
                  reason.excessBytes,
                  stringifyExposureKind(reason.kind).data()};
  }
  return found.size();
}

int64_t braid_reason_describe(const braid_reason *reason, const char *name,
                              char *text, int64_t capacity) {
  ExposureReason described;
  described.start = static_cast<unsigned>(reason->start);
  described.exposedNs = reason->exposed_ns;
  described.gainNs = reason->gain_ns;
  described.excessBytes = reason->excess_bytes;
  if (reason->node >= 0)
    described.node = static_cast<unsigned>(reason->node);
  described.kind = ExposureKind::NoIndependentCompute;
  for (ExposureKind kind :
       {ExposureKind::NotMoved, ExposureKind::MemoryLimit,
        ExposureKind::InFlightLimit, ExposureKind::OrderConstraint,
        ExposureKind::LaneBusy, ExposureKind::DependencyChain})
    if (reason->kind && stringifyExposureKind(kind) == reason->kind)
      described.kind = kind;
  std::string sentence = describeExposureReason(
      described, [&](unsigned) { return std::string(name ? name : ""); });
  if (capacity > 0) {
    int64_t length = std::min<int64_t>(sentence.size(), capacity - 1);
    std::memcpy(text, sentence.data(), length);
    text[length] = '\0';
  }
  return sentence.size();
}
