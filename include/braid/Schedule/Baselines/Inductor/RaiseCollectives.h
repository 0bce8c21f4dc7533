//===- RaiseCollectives.h - Every start as early as possible ----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SCHEDULE_BASELINES_INDUCTOR_RAISECOLLECTIVES_H
#define BRAID_SCHEDULE_BASELINES_INDUCTOR_RAISECOLLECTIVES_H

#include "braid/Schedule/Model/ScheduleGraph.h"

namespace braid {

/// Moves every start up to just after the last node that it, or a start that
/// stands before it, has to follow, or to the beginning. The starts keep their
/// order, and nothing else moves. `raise_comms` of PyTorch Inductor, without
/// its limit to one collective that depends on arguments alone. Linear in nodes
/// and edges; idempotent.
ScheduleOrder raiseCollectives(const ScheduleGraph &graph);

/// Moves every start up together with what it depends on: a list schedule in
/// which a node that a start needs comes before all that only later starts, or
/// none, need, and that otherwise keeps the program order. The starts keep
/// their order. `raise_comms` of PyTorch Inductor since 2.5. Takes O(n log n);
/// idempotent.
ScheduleOrder raiseCollectivesWithProducers(const ScheduleGraph &graph);

/// For each node the position, among the starts, of the first start that it is
/// or that has to follow it, directly or not; the number of starts if there is
/// none. Linear in nodes and edges.
std::vector<unsigned> getFirstDependentStart(const ScheduleGraph &graph);

} // namespace braid

#endif // BRAID_SCHEDULE_BASELINES_INDUCTOR_RAISECOLLECTIVES_H
