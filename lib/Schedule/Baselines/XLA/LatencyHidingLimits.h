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

#include <vector>

namespace braid {

/// Counts the operations in flight while an order is laid down from its end to
/// its beginning: one is in flight from the last of its awaiters that is placed
/// to its start, and without a wait, from the beginning.
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

  /// `node`, which awaits something, is ready; or is not any more.
  void addQueued(unsigned node) { changeQueue(node, 1); }
  void removeQueued(unsigned node) { changeQueue(node, -1); }
  /// True if ready nodes have no room as long as `start` is not placed.
  bool isBackedUp(unsigned start) const;

  /// True if some starts that share a limit have to keep their order.
  bool isOrdered() const { return ordered; }
  /// Where an order of starts is kept, the last one whose operation is not in
  /// flight yet: it has to have room before those before it.
  llvm::SmallVector<unsigned> getNextStarts() const;

private:
  /// Starts of one limit, in program order.
  struct Sequence {
    std::vector<unsigned> starts;
    /// All from here on are in flight or placed.
    size_t numIdle = 0;
    /// They have to keep their order.
    bool isOrdered = false;

    /// One that takes the last place keeps it until its start has come, which
    /// stays behind later starts where the order is kept. So how many places
    /// have to be free for `start`.
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
    /// The lanes with which it may not be in flight together.
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
