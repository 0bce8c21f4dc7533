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

#include <limits>
#include <queue>

namespace braid {

/// The time of what does not happen.
constexpr int64_t never = std::numeric_limits<int64_t>::max();

/// For each node the longest chain from its beginning to the end: its own cost,
/// that of its operation if it is a start, and of all that has to follow.
std::vector<int64_t> getTails(const FlatProblem &flat);

/// For each node the work of the stream from its beginning to the next start
/// that needs the node, negated; the least value if none does.
std::vector<int64_t> getNearestStarts(const FlatProblem &flat);

/// For each node the start that `nearest`, from `getNearestStarts`, means; the
/// number of nodes if there is none.
std::vector<unsigned> getStartsAhead(const FlatProblem &flat,
                                     llvm::ArrayRef<int64_t> nearest);

/// The rule that chooses among ready nodes.
struct PriorityRule {
  /// By node; the highest goes first, among equals the first in the program.
  llvm::ArrayRef<int64_t> priorities;
  /// Every start is placed as soon as it is ready. Otherwise a start is delayed
  /// until its lane would become idle during the next op of the stream, so that
  /// a more urgent start can come first.
  bool eagerStarts = false;
  /// The most idle time of the stream before a node that is more urgent than
  /// all ready ones and waits for an operation.
  int64_t maxInsertedIdleNs = 0;
  /// If the next node would delay a more urgent node, which waits for an
  /// operation that ends soon, a node that ends before the operation goes
  /// first, or else the one that ends first.
  bool fitsEnds = false;
  /// If given: the priorities of the stream while some lane has no ready start
  /// and at most `backlogNs` of work.
  llvm::ArrayRef<int64_t> urgentPriorities = {};
  int64_t backlogNs = 0;
  /// The most idle time of a lane before a start that is more urgent than its
  /// ready ones and that the next node of the stream makes ready.
  int64_t maxInsertedLaneIdleNs = 0;
  /// If there are limits: an order that keeps them, and the most places by
  /// which a node may precede the first unplaced node of that order.
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
  /// `priorities` as in `PriorityRule`: a tail that includes queueing for the
  /// stream and the lanes.
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
