//===- SinkWaits.h - Every wait as late as possible -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SCHEDULE_BASELINES_INDUCTOR_SINKWAITS_H
#define BRAID_SCHEDULE_BASELINES_INDUCTOR_SINKWAITS_H

#include "braid/Schedule/Model/ScheduleGraph.h"

namespace braid {

/// Moves every wait down to just before the first node that has to follow it,
/// or to the end; several waits at one place stand in program order, and
/// nothing else moves. `sink_waits` of PyTorch Inductor. Linear in nodes and
/// edges; idempotent.
ScheduleOrder sinkWaits(const ScheduleGraph &graph);

} // namespace braid

#endif // BRAID_SCHEDULE_BASELINES_INDUCTOR_SINKWAITS_H
