//===- Orders.cpp - What happens to an order ------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Errors.h"
#include "Objects.h"

using namespace braid;

int32_t braid_simulate(const braid_problem *problem, const int64_t *order,
                       braid_times *times, braid_simulation_summary *summary,
                       braid_error *error) {
  if (!isGiven(problem, "problem", error) || !isGiven(order, "order", error) ||
      !hasSize(summary, "summary", error))
    return BRAID_INVALID_ARGUMENT;
  if (problem->problem.graph.size() == 0)
    times = nullptr;
  if (times && !hasSize(times, "times", error))
    return BRAID_INVALID_ARGUMENT;
  std::optional<ScheduleOrder> legal =
      readOrder(problem->problem, order, error);
  if (!legal)
    return BRAID_INVALID_ARGUMENT;
  Simulation simulation = simulateOrder(problem->problem, *legal);
  size_t size = times ? times->struct_size : 0;
  for (size_t place = 0; times && place != simulation.times.size(); ++place) {
    const SimulatedTimes &of = simulation.times[place];
    braid_times result = {};
    result.issued_ns = of.issuedNs;
    result.start_ns = of.startNs;
    result.end_ns = of.endNs;
    result.lost_ns = of.lostNs;
    result.exposed_ns = of.exposedNs;
    write(result, getElement(times, size, place), size);
  }
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
  if (!isGiven(problem, "problem", error) || !isGiven(order, "order", error) ||
      !isGiven(bytes, "bytes", error))
    return BRAID_INVALID_ARGUMENT;
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
  if (!problem)
    return -1;
  LowerBounds bounds = computeLowerBounds(problem->problem);
  if (reason)
    *reason = stringifyLowerBoundKind(bounds.bestKind()).data();
  return bounds.best();
}

int64_t braid_get_reasons(const braid_problem *problem, const int64_t *order,
                          braid_reason *reasons, int64_t capacity,
                          braid_error *error) {
  if (!isGiven(problem, "problem", error) || !isGiven(order, "order", error) ||
      (capacity > 0 && !hasSize(reasons, "reasons", error)))
    return -1;
  std::optional<ScheduleOrder> legal =
      readOrder(problem->problem, order, error);
  if (!legal)
    return -1;
  std::vector<ExposureReason> found =
      getExposureReasons(problem->problem, *legal);
  size_t size = capacity > 0 ? reasons->struct_size : 0;
  auto count = std::min<int64_t>(std::max<int64_t>(capacity, 0), found.size());
  for (int64_t index = 0; index != count; ++index) {
    const ExposureReason &reason = found[index];
    braid_reason result = {};
    result.start = reason.start;
    result.exposed_ns = reason.exposedNs;
    result.node = reason.node ? int64_t(*reason.node) : -1;
    result.gain_ns = reason.gainNs;
    result.excess_bytes = reason.excessBytes;
    result.kind = stringifyExposureKind(reason.kind).data();
    write(result, getElement(reasons, size, index), size);
  }
  return found.size();
}

int64_t braid_reason_describe(const braid_reason *reason, const char *name,
                              char *text, int64_t capacity) {
  if (!hasSize(reason, "reason", nullptr))
    return -1;
  braid_reason given = read(*reason);
  ExposureReason described;
  described.start = static_cast<unsigned>(given.start);
  described.exposedNs = given.exposed_ns;
  described.gainNs = given.gain_ns;
  described.excessBytes = given.excess_bytes;
  if (given.node >= 0)
    described.node = static_cast<unsigned>(given.node);
  described.kind = ExposureKind::NoIndependentCompute;
  for (ExposureKind kind :
       {ExposureKind::NotMoved, ExposureKind::MemoryLimit,
        ExposureKind::InFlightLimit, ExposureKind::OrderConstraint,
        ExposureKind::LaneBusy, ExposureKind::DependencyChain})
    if (given.kind && stringifyExposureKind(kind) == given.kind)
      described.kind = kind;
  std::string sentence = describeExposureReason(
      described, [&](unsigned) { return std::string(name ? name : ""); });
  if (text && capacity > 0) {
    int64_t length = std::min<int64_t>(sentence.size(), capacity - 1);
    std::memcpy(text, sentence.data(), length);
    text[length] = '\0';
  }
  return sentence.size();
}
