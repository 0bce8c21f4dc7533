//===- ListScheduler.h - List schedules by priority -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds orders node by node along the time that the machine takes for them.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_SEARCH_CONSTRUCTION_LISTSCHEDULER_H
#define BRAID_LIB_SCHEDULE_SEARCH_CONSTRUCTION_LISTSCHEDULER_H

#include "Schedule/Model/LimitTracker.h"

#include <queue>

namespace braid {

/// For each node the longest chain from its beginning to the end: its own cost,
/// that of its operation if it is a start, and of all that has to follow.
std::vector<int64_t> getTails(const FlatProblem &flat);

/// For each node how much the stream has to do from its beginning to the next
/// start that needs it, negated; the least value if none does.
std::vector<int64_t> getNearestStarts(const FlatProblem &flat);

/// For each node the start that `nearest`, from `getNearestStarts`, means; the
/// number of nodes if there is none.
std::vector<unsigned> getStartsAhead(const FlatProblem &flat,
                                     llvm::ArrayRef<int64_t> nearest);

/// How to choose among the nodes that may come next.
struct PriorityRule {
  /// By node; the highest goes first, among equals the first in the program.
  llvm::ArrayRef<int64_t> priorities;
  /// Every start goes as soon as it may. Otherwise a start waits until its lane
  /// would stand still during what the stream does next, so that a more urgent
  /// one may overtake it.
  bool eagerStarts = false;
  /// The stream stands still for at most so long rather than begin something
  /// less urgent than what the operation holds back.
  int64_t maxInsertedIdleNs = 0;
  /// If the stream would come too late to an operation that ends soon and holds
  /// back something more urgent, what is short enough goes first instead, or
  /// what comes the least too late.
  bool fitsEnds = false;
  /// If given: what goes first instead, on the stream, while some lane has
  /// nothing to start and at most `backlogNs` left to do.
  llvm::ArrayRef<int64_t> urgentPriorities = {};
  int64_t backlogNs = 0;
  /// A lane stands still for at most so long rather than begin something less
  /// urgent than a start to which what the stream does next, or what it awaits
  /// next, leads.
  int64_t maxInsertedLaneIdleNs = 0;
  /// If there are limits: an order that keeps them, and how many places a node
  /// may go before the first node of it that is still missing.
  llvm::ArrayRef<unsigned> base = {};
  unsigned maxLead = ~0u;
};

/// Builds orders of one problem; reuses its memory.
class ListScheduler {
public:
  explicit ListScheduler(const FlatProblem &flat);

  /// Builds an order that keeps all limits. False if `rule` ran into a dead end
  /// where no node may come next. Takes O((n + edges) log n).
  bool schedule(const PriorityRule &rule, ScheduleOrder &order);

  /// For each node the time from its beginning to the end in a schedule that is
  /// built from the end on the relaxed machine where starts need no stream, by
  /// `priorities` as in `PriorityRule`: a tail that knows what stands in line
  /// for the stream and the lanes.
  void scheduleBackward(llvm::ArrayRef<int64_t> priorities,
                        std::vector<int64_t> &tails);

  uint64_t getSteps() const { return steps; }

private:
  /// (key, complement of the node): the largest comes first.
  using Entry = std::pair<int64_t, unsigned>;
  using Heap = std::priority_queue<Entry>;

  void reset(const PriorityRule &rule);
  void makeReady(unsigned node);
  void admit(unsigned node);
  bool fits(unsigned node) const { return !limited || limits.fits(node); }
  void place(unsigned node);
  /// The first node of `heap` that fits, which stays there; the number of nodes
  /// if there is none. Sets nodes that do not fit aside.
  unsigned findFitting(Heap &heap);
  /// Of the ready compute that goes first, one that ends by `releaseNs`, or
  /// else the one that ends first.
  unsigned findShorter(int64_t releaseNs);
  bool issueStarts(int64_t horizonNs, unsigned next);
  bool holdsLane(unsigned start, int64_t horizonNs, unsigned next);
  bool isLaneIdling() const;
  int64_t getNextRelease();

  const FlatProblem &flat;
  const bool limited;
  uint64_t steps = 0;

  // What is being built.
  PriorityRule rule;
  ScheduleOrder *order = nullptr;
  int64_t streamNs = 0;
  std::vector<int64_t> endNs, laneFreeNs;
  std::vector<unsigned> missing;
  std::vector<bool> placed;
  /// Nodes on the stream that take no time and can come at once.
  std::vector<unsigned> immediate;
  Heap compute, urgentCompute;
  std::vector<Heap> startsOfLane;
  /// Starts that are missing.
  std::vector<unsigned> missingOfLane;
  /// Nodes on the stream whose operations have not ended; by their ends,
  /// negated.
  Heap pending;

  /// If a lane waits for more urgent starts: the nearest start of each node.
  std::vector<int64_t> nearestNs;
  std::vector<unsigned> startAhead;

  // Limits.
  LimitTracker limits;
  std::vector<unsigned> basePosition;
  unsigned baseFirst = 0;
  /// Nodes that do not fit, and those that lead too far, by the negated
  /// position.
  std::vector<unsigned> aside;
  std::vector<Entry> looked;
  Heap leading;
};

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_SEARCH_CONSTRUCTION_LISTSCHEDULER_H
