//===- TimedOrder.h - An order with its times from both ends ----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An order, when everything in it happens, and how far everything is from the
// end. As the time of each step is a sum of a maximum, the makespan after a
// change inside of a part of the order follows from that part alone.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_SEARCH_IMPROVEMENT_TIMEDORDER_H
#define BRAID_LIB_SCHEDULE_SEARCH_IMPROVEMENT_TIMEDORDER_H

#include "Schedule/Model/LimitTracker.h"
#include "WindowSearch.h"

namespace braid {

/// The live bytes and the operations in flight at every place of an order that
/// changes. As both depend on the set of the nodes before a place alone, a
/// change of a part of the order takes as long as the part. Does nothing
/// without limits.
class OrderLimits {
public:
  explicit OrderLimits(const FlatProblem &flat) : flat(flat), tracker(flat) {}

  /// Begins anew with `order`; `place` has the place of each node in it. Both
  /// have to outlive this.
  void assign(llvm::ArrayRef<unsigned> order, llvm::ArrayRef<unsigned> place);
  /// The nodes from `begin` to `end` have changed their places among
  /// themselves.
  void update(unsigned begin, unsigned end);
  /// True if the order keeps the limits, which it keeps now, with `nodes` in
  /// place of those from `begin` on, which have to be the same.
  bool keeps(unsigned begin, llvm::ArrayRef<unsigned> nodes);
  /// The bytes that live before the node at `where`.
  int64_t getLiveBytes(unsigned where) const { return liveBytes[where]; }

  /// By lane, if there is a limit: the operations in flight there.
  llvm::ArrayRef<unsigned> getInFlight(unsigned where) const {
    return llvm::ArrayRef(inFlight).slice(size_t(where) * flat.numLanes,
                                          flat.numLanes);
  }

private:
  void enter(unsigned begin, llvm::ArrayRef<unsigned> nodes);

  const FlatProblem &flat;
  LimitTracker tracker;
  llvm::ArrayRef<unsigned> order, place;
  /// By place, and one more: what lives before the node, and, by lane, the
  /// operations in flight.
  std::vector<int64_t> liveBytes;
  std::vector<unsigned> inFlight;
};

/// For machines where ops do not slow each other down.
class TimedOrder {
public:
  explicit TimedOrder(const FlatProblem &flat);

  /// Takes `order` over and simulates it from both ends; linear.
  void assign(llvm::ArrayRef<unsigned> order);
  /// Puts `nodes` in place of those from `begin` on, which have to be the same,
  /// and updates all times; takes as long as times change.
  void replace(unsigned begin, llvm::ArrayRef<unsigned> nodes);

  /// The same, but all times from both ends stay those of the order before.
  void permute(unsigned begin, llvm::ArrayRef<unsigned> nodes);

  llvm::ArrayRef<unsigned> getOrder() const { return order; }
  unsigned getPlace(unsigned node) const { return place[node]; }
  llvm::ArrayRef<unsigned> getPlaces() const { return place; }
  int64_t getMakespanNs() const { return streamTailNs.front(); }
  /// When the stream reaches the node at `where`, and from there to the end.
  int64_t getStreamNs(unsigned where) const { return streamNs[where]; }
  int64_t getStreamTailNs(unsigned where) const { return streamTailNs[where]; }
  /// Of a start: when its operation ends, and from there to the end.
  int64_t getEndNs(unsigned start) const { return endNs[start]; }
  int64_t getEndTailNs(unsigned start) const { return endTailNs[start]; }
  /// The start before `start` on its lane, or the number of nodes.
  unsigned getPreviousOnLane(unsigned start) const { return previous[start]; }
  unsigned getNextOnLane(unsigned start) const { return next[start]; }
  /// From the end of its operation to the end of the order, as far as nodes
  /// from the place `from` on await it.
  int64_t getAwaitedTail(unsigned start, unsigned from) const;
  /// True if the makespan would grow with the time at which the stream reaches
  /// `where`.
  bool isCritical(unsigned where) const {
    return streamNs[where] + streamTailNs[where] == getMakespanNs();
  }

  /// The part from `begin` to `end` with what surrounds it; valid until the
  /// order changes.
  ScheduleWindow getWindow(unsigned begin, unsigned end);

  /// The makespan with `nodes` in place of the nodes from `begin` on, as far as
  /// it depends on their order; O(nodes).
  int64_t evaluate(unsigned begin, llvm::ArrayRef<unsigned> nodes);
  /// True if the order, which keeps the limits, keeps them with `nodes` in
  /// place of those from `begin` on; takes as long as `nodes`.
  bool keepsLimits(unsigned begin, llvm::ArrayRef<unsigned> nodes);

  /// The nodes that were simulated.
  uint64_t getSteps() const { return steps; }

private:
  /// The places on all sides whose neighbours on lanes have changed.
  std::pair<unsigned, unsigned> link(unsigned begin, unsigned end);
  void simulateForward(unsigned begin, unsigned reach);
  void simulateBackward(unsigned begin, unsigned end, unsigned reach);

  const FlatProblem &flat;
  uint64_t steps = 0;
  std::vector<unsigned> order, place;
  /// By place, and one more.
  std::vector<int64_t> streamNs, streamTailNs;
  /// By start.
  std::vector<int64_t> endNs, endTailNs;
  /// By start: its neighbours on the lane, or the number of nodes.
  std::vector<unsigned> previous, next;
  // Scratch: by lane and by node.
  std::vector<int64_t> laneNs, newEndNs, outerTailNs;
  std::vector<unsigned> lastOnLane;
  OrderLimits limits;
};

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_SEARCH_IMPROVEMENT_TIMEDORDER_H
