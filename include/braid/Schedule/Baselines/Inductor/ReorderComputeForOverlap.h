//===- ReorderComputeForOverlap.h - Compute behind collectives --*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SCHEDULE_BASELINES_INDUCTOR_REORDERCOMPUTEFOROVERLAP_H
#define BRAID_SCHEDULE_BASELINES_INDUCTOR_REORDERCOMPUTEFOROVERLAP_H

#include "braid/Schedule/Model/ScheduleGraph.h"

namespace braid {

/// Puts compute between starts so that it hides behind what they started:
/// `reorder_compute_for_overlap` of PyTorch Inductor 2.4.
///
/// The starts keep their order. The first one is scheduled with all it needs;
/// then for each next one:
///  1. what it needs and what does not depend on the start before it;
///  2. if that is shorter than the operation in flight: ready nodes that do not
///     depend on it, those needed by the earliest start first, unless at most
///     half of the node would be hidden;
///  3. what it needs and what depends on the start before it;
///  4. the start itself.
/// Compute of step 2 counts for the next operation too if step 3 was empty, as
/// both are in flight then. The rest follows in program order. Unlike the
/// original, step 2 takes `Compute` nodes alone.
///
/// Takes O((n + edges) log n).
ScheduleOrder reorderComputeForOverlap(const ScheduleGraph &graph);

/// The same with the candidates of the original: step 2 takes waits, too. A
/// wait has no cost, so every one that is ready, and that does not wait for the
/// operation in flight, is taken as long as there is something left to hide.
/// `Opaque` nodes, which the original does not have, are still left out.
ScheduleOrder reorderComputeForOverlapWaitsAsFiller(const ScheduleGraph &graph);

} // namespace braid

#endif // BRAID_SCHEDULE_BASELINES_INDUCTOR_REORDERCOMPUTEFOROVERLAP_H
