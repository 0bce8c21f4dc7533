//===- ListSchedule.h - List scheduling for communication -------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SCHEDULE_BASELINES_LISTSCHEDULE_H
#define BRAID_SCHEDULE_BASELINES_LISTSCHEDULE_H

#include "braid/Schedule/Model/SchedulingProblem.h"

namespace braid {

/// What the keys of a list schedule look at.
struct ListScheduleOptions {
  /// What an earlier start needs comes first.
  bool raise = false;
  /// Nodes that hold the stream come last.
  bool sink = false;
  /// Behind each start comes compute that takes as long as its operation.
  bool reorder = false;
};

/// Schedules, again and again, the ready node with the smallest key
///  1. with `raise`: the position of the first start that it is or that has to
///     follow it; those that no start has to follow come last;
///  2. with `sink`: 1 if it holds the stream for an operation, otherwise 0;
///  3. its place in the program.
/// With `reorder`, ready compute follows each start, smallest key first, until
/// its costs add up to that of the operation; what holds the stream and what is
/// opaque is left out.
///
/// This is `_schedule_for_comm` of PyTorch Inductor since 2.5, which runs it as
/// `sink_waits` (sink), `raise_comms` (raise) and `reorder_compute_for_overlap`
/// (all three).
///
/// Starts keep the order of the program with `raise`, and where the problem
/// asks for it. A start that would be one too many in flight on its lane waits
/// for a node that awaits one of them, unless nothing else is left; memory is
/// not looked at. Takes O((n + edges) log n); idempotent.
ScheduleOrder listSchedule(const SchedulingProblem &problem,
                           const ListScheduleOptions &options);

} // namespace braid

#endif // BRAID_SCHEDULE_BASELINES_LISTSCHEDULE_H
