//===- SimpleOverlap.h - Swaps that cost no memory --------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SCHEDULE_BASELINES_INDUCTOR_SIMPLEOVERLAP_H
#define BRAID_SCHEDULE_BASELINES_INDUCTOR_SIMPLEOVERLAP_H

#include "braid/Schedule/Model/SchedulingProblem.h"

namespace braid {

/// Moves the starts of `order`, a legal order of the problem, up one step at a
/// time, the first start first, each until
///  - it has to follow the node before it,
///  - another start stands before it, or
///  - more memory would live at once than in `order`;
/// and then the waits down, the last wait first, each until
///  - the node after it has to follow it,
///  - another wait stands after it, or
///  - more memory would live at once than in `order`.
/// No cost is looked at. This is `simple_overlap` of PyTorch Inductor.
///
/// A step takes time linear in the buffers and edges of what moves. There are
/// at most 100 steps for each node; what has not moved by then stays.
ScheduleOrder simpleOverlap(const SchedulingProblem &problem,
                            llvm::ArrayRef<unsigned> order);

/// The most steps that the passes which move one node at a time make, for each
/// node of the graph.
constexpr uint64_t kMaxStepsPerNode = 100;

} // namespace braid

#endif // BRAID_SCHEDULE_BASELINES_INDUCTOR_SIMPLEOVERLAP_H
