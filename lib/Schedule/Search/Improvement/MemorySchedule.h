//===- MemorySchedule.h - Orders that need little memory --------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_SEARCH_IMPROVEMENT_MEMORYSCHEDULE_H
#define BRAID_LIB_SCHEDULE_SEARCH_IMPROVEMENT_MEMORYSCHEDULE_H

#include "Schedule/Model/FlatProblem.h"
#include "WindowSearch.h"
#include "braid/Schedule/Search/SearchTypes.h"

namespace braid {

/// How the greedy schedule chooses among nodes that add the same to the memory
/// that lives.
enum class MemoryTieBreak {
  /// The first of the program.
  Program,
  /// What has become ready last: deep before wide.
  Latest,
};

/// An order that takes, of what is ready, whatever leaves the least alive.
/// Keeps the limit on operations in flight; false if that ran into a dead end.
/// Takes O((n + edges + users) log n).
bool scheduleForMemory(const FlatProblem &flat, MemoryTieBreak tieBreak,
                       ScheduleOrder &order);

/// An order that completes, for one last node of the graph after the other in
/// program order, all that it needs, the deepest first. Knows no limits.
ScheduleOrder scheduleDepthFirst(const FlatProblem &flat);

/// Lowers the peak of `order` by exact search of windows around its worst node
/// until it is at most `limitBytes`, nothing changes any more, or `maxSteps`
/// are spent.
void lowerPeak(const FlatProblem &flat, WindowSearch &search,
               int64_t limitBytes, uint64_t maxSteps, ScheduleOrder &order);

/// Where an order needs the most memory.
struct MemoryPeak {
  int64_t bytes = 0;
  /// The place in the order of the first node with which that many live.
  unsigned place = 0;
  /// The buffers that do, the largest first.
  std::vector<unsigned> buffers;
};
MemoryPeak getMemoryPeak(const FlatProblem &flat,
                         llvm::ArrayRef<unsigned> order);

/// Bytes that no order's peak can go below: what must live while some node
/// runs, as it uses it or as something before it and something after it does.
/// Looks at what has to come before and after each node only in graphs of at
/// most 4,096 nodes.
int64_t getLeastPeak(const FlatProblem &flat);

/// Sets `excess` of `result`, whose order has a peak above the limit on memory:
/// by how much, where, and whether any order could keep the limit. Keeps what
/// `excess` has proven already.
void explainExcess(const FlatProblem &flat, SearchResult &result);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_SEARCH_IMPROVEMENT_MEMORYSCHEDULE_H
