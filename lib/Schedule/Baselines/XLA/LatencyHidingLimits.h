//===- LatencyHidingLimits.h - Operations in flight -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_BASELINES_XLA_LATENCYHIDINGLIMITS_H
#define BRAID_LIB_SCHEDULE_BASELINES_XLA_LATENCYHIDINGLIMITS_H

#include "braid/Schedule/Baselines/XLA/LatencyHidingSchedule.h"
#include "braid/Schedule/Model/ProblemLists.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace braid {

/// Follows the live bytes while an order is built from its end to its
/// beginning: a buffer lives from the first of its users that is placed to the
/// last.
class BackwardMemory {
public:
  explicit BackwardMemory(const SchedulingProblem &problem);

  /// The bytes that live before what is placed, and the most that live anywhere
  /// in it.
  int64_t getLive() const { return live; }
  int64_t getPeak() const { return peak; }

  /// The bytes that `node` would add, and the most that would live while it
  /// runs. Takes time linear in its buffers.
  std::pair<int64_t, int64_t> getEffect(unsigned node) const;
  void place(unsigned node);

private:
  const std::vector<GraphBuffer> &buffers;
  BufferLists lists;
  std::vector<int64_t> transientBytes;
  /// The users of each buffer that are not placed.
  std::vector<unsigned> missing;
  int64_t live, peak;
};

/// Counts the operations in flight while an order is laid down from its end to
/// its beginning. An operation is in flight from its awaiter that is placed
/// last to its start; an operation without a wait, from the beginning.
class InFlightLimits {
public:
  /// Which limits count.
  enum class Level { All, OfProblem, None };

  InFlightLimits(const SchedulingProblem &problem,
                 const LatencyHidingOptions &options, const AwaitLists &awaits);

  unsigned getNumLanes() const { return lanes.size(); }

  /// True if `node` may be placed now.
  bool hasRoom(unsigned node, Level level) const;
  void place(unsigned node);

  /// Counts `node`, which awaits operations, among the ready nodes, or not.
  void addQueued(unsigned node) { changeQueue(node, 1); }
  void removeQueued(unsigned node) { changeQueue(node, -1); }
  /// True if limits keep ready nodes back until `start` is placed.
  bool isBackedUp(unsigned start) const;

  /// True if some starts that share a limit have to keep their order.
  bool isOrdered() const { return ordered; }
  /// Of each limit that keeps the order of its starts, the last start whose
  /// operation is not in flight yet: the limit has room for this one first.
  llvm::SmallVector<unsigned> getNextStarts() const;

private:
  /// Starts of one limit, in program order.
  struct Sequence {
    std::vector<unsigned> starts;
    /// All from here on are in flight or placed.
    size_t numIdle = 0;
    /// True if the starts have to keep their order.
    bool isOrdered = false;

    /// How many places have to be free for `start`. An operation keeps its
    /// place until its start is placed. Where starts keep their order, that
    /// waits for later starts, which need a place, too.
    unsigned getPlacesNeeded(unsigned start) const {
      return !isOrdered || (numIdle != 0 && starts[numIdle - 1] == start) ? 1
                                                                          : 2;
    }
  };
  struct Lane : Sequence {
    bool isPointToPoint = false;
    unsigned inFlight = 0;
    /// Operations that ready nodes await.
    unsigned queued = 0;
    /// The lanes that may not be in flight together with this one.
    llvm::SmallVector<unsigned> exclusive;
  };
  /// Collectives, and sends and receives.
  struct Kind : Sequence {
    unsigned limit = 0;
    unsigned inFlight = 0;
    unsigned queued = 0;
  };

  const Kind &getKind(const Lane &lane) const {
    return kinds[lane.isPointToPoint];
  }
  Kind &getKind(const Lane &lane) { return kinds[lane.isPointToPoint]; }
  void changeQueue(unsigned node, int change);
  void setInFlight(unsigned start);
  void skipBusy(Sequence &sequence) const;
  bool hasRoomForStart(unsigned start, llvm::ArrayRef<unsigned> together,
                       Level level) const;
  bool isExcluded(const Lane &lane) const;

  const ScheduleGraph &graph;
  const AwaitLists &awaits;
  unsigned maxInFlight;
  bool ordered = false;
  std::vector<Lane> lanes;
  Kind kinds[2];
  /// Awaiters of each start that are not placed, and starts whose operation is
  /// in flight or placed.
  std::vector<unsigned> missing;
  std::vector<bool> isBusy;
};

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_BASELINES_XLA_LATENCYHIDINGLIMITS_H
