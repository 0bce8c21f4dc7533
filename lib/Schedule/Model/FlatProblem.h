//===- FlatProblem.h - A scheduling problem in flat arrays ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the parts of the search read of a problem, laid out for speed.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_MODEL_FLATPROBLEM_H
#define BRAID_LIB_SCHEDULE_MODEL_FLATPROBLEM_H

#include "braid/Schedule/Model/ProblemLists.h"

namespace braid {

/// What the times of an order follow from.
enum class TimingModel : uint8_t {
  /// Sums and maxima of costs.
  Additive,
  /// Ops slow each other down: the events of the machine.
  Contended,
  /// A simulation from beginning to end: something is awaited across the back
  /// edge of a loop, or costs or sizes are so large that sums overflow.
  Simulated
};

/// A problem as the search sees it. Times are those of a machine on which
/// nothing slows anything down; they are exact if `timing` is `Additive`.
struct FlatProblem : AwaitLists, BufferLists {
  explicit FlatProblem(const SchedulingProblem &problem);

  unsigned size() const { return cost.size(); }
  bool isStart(unsigned node) const { return lane[node] >= 0; }

  const SchedulingProblem &problem;

  unsigned numLanes = 0;
  /// Of a start: of its operation; otherwise on the stream. Sums of all costs
  /// do not overflow.
  std::vector<int64_t> cost;
  /// -1 for nodes that are no starts.
  std::vector<int32_t> lane;
  /// The edges; with those between one start and the next if starts have to
  /// keep their order.
  FlatLists predecessors, successors;

  /// By buffer.
  std::vector<int64_t> bufferBytes;
  std::vector<bool> escapes;
  std::vector<int64_t> transientBytes;
  int64_t liveBytes = 0;

  /// The largest value if there is no limit, or if no order can reach it.
  int64_t maxMemory;
  /// 0 if there is no limit.
  unsigned maxInFlight = 0;
  bool hasMemoryLimit() const;
  /// On memory or on operations in flight.
  bool hasLimits() const { return hasMemoryLimit() || maxInFlight != 0; }

  TimingModel timing = TimingModel::Additive;

private:
  /// True if all costs and sizes are so small that sums do not overflow.
  bool sumsFit = true;
  void addCosts();
  void addEdges();
  void addMemory();
};

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_MODEL_FLATPROBLEM_H
