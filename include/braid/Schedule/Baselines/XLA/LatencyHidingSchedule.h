//===- LatencyHidingSchedule.h - XLA's list scheduler -----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The algorithm of XLA's latency hiding scheduler, as XLA:GPU uses it
// (xla/service/latency_hiding_scheduler.cc,
// xla/service/gpu/gpu_latency_hiding_scheduler.cc), on a `SchedulingProblem`.
// It knows nothing of IR.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SCHEDULE_BASELINES_XLA_LATENCYHIDINGSCHEDULE_H
#define BRAID_SCHEDULE_BASELINES_XLA_LATENCYHIDINGSCHEDULE_H

#include "braid/Schedule/Model/SchedulingProblem.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace braid {

/// What the scheduler may do. The defaults are those of XLA:GPU.
///
/// A limit is on operations in flight: started and not yet awaited. Limits give
/// way where nothing else could be placed; those of the problem do not.
struct LatencyHidingOptions {
  /// The most collectives in flight, on all lanes together; 0 for no limit
  /// (`parallel_collective_overlap_limit`).
  unsigned overlapLimit = 1;
  /// The most sends and receives in flight, on all lanes together; 0 for no
  /// limit.
  unsigned pointToPointLimit = 4;
  /// Lanes no two of which may have a collective in flight at once. XLA names
  /// communicators that share two ranks or more: these could launch the two in
  /// different orders and wait for each other for ever. Two operations of one
  /// lane share all their ranks: with `exclusiveLanes` or without, only sends
  /// and receives may be in flight on one lane together.
  std::vector<std::pair<int32_t, int32_t>> exclusiveLanes;
  /// Also compares by the communication that has to come before, by the time
  /// that would be wasted and by what becomes ready
  /// (`aggressive_scheduling_policies`).
  bool aggressive = true;
  /// If the peak exceeds the problem's `maxMemory`, schedule anew with 0.9
  /// times the last limit, so many times (`rerun`).
  unsigned reruns = 0;
  /// At last, put starts as early and waits as late as they may stand, starts
  /// in the order that was found. Left out where the problem limits operations
  /// in flight, and where it would cost `maxMemory`.
  bool postProcess = true;
  /// Of the nodes of one kind that are ready, so many are compared, those first
  /// that have the most communication before them, then those that stand last
  /// in the program. XLA compares all: time quadratic in the program.
  unsigned maxCompared = 64;
};

/// What the scheduler has found.
struct LatencyHidingResult {
  /// Allowed (`isAllowedOrder`) if the program's own order is.
  ScheduleOrder order;
  /// The most bytes that live at once in `order`.
  int64_t peakBytes = 0;
  /// How often it was scheduled anew.
  unsigned numReruns = 0;
  /// Nodes that were placed against a limit of the options, as nothing else was
  /// ready.
  unsigned numForced = 0;
  /// For each node, the rule that chose it over the best other that was ready;
  /// "only choice" if there was none. XLA's names.
  std::vector<llvm::StringRef> reasons;
};

/// Schedules by a list, from the end of the block to its beginning: of the
/// nodes whose successors are all placed, the best by a sequence of rules is
/// placed before them. Waits are taken as soon as limits allow, and compute is
/// taken as long as a start would come before its operation has had its time.
///
/// What is awaited but was not started in the block is no operation in flight;
/// what is started and not awaited is in flight to the end. A start with
/// several waits is in flight to the first of them.
///
/// The problem's `maxMemory` is a wish: memory is looked at when more than half
/// of it lives. Near-linear in nodes, edges and `maxCompared`.
LatencyHidingResult
latencyHidingSchedule(const SchedulingProblem &problem,
                      const LatencyHidingOptions &options = {});

} // namespace braid

#endif // BRAID_SCHEDULE_BASELINES_XLA_LATENCYHIDINGSCHEDULE_H
