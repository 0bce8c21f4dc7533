//===- LimitTracker.h - Memory and operations in flight ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one place that says when a buffer lives and when an operation is in
// flight. Searches of sets of at most 64 nodes count the same with bit masks
// (WindowSearch.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_MODEL_LIMITTRACKER_H
#define BRAID_LIB_SCHEDULE_MODEL_LIMITTRACKER_H

#include "FlatProblem.h"

#include "llvm/ADT/STLExtras.h"

namespace braid {

/// What lives and what is in flight at a place in an order. A buffer lives from
/// the first of its users to the last, an operation is in flight from its start
/// to the first node that awaits it. Copies are independent.
class LimitTracker {
public:
  /// What a node does to memory and to operations in flight.
  struct Effect {
    /// The bytes that live while the node runs.
    int64_t neededBytes;
    /// The node frees memory or awaits an operation.
    bool endsSomething;
  };

  /// Tracks orders of `flat`, which has to outlive this, from their beginning.
  explicit LimitTracker(const FlatProblem &flat);
  LimitTracker(const LimitTracker &) = default;
  /// Goes to the place of `other`, a tracker of the same problem.
  LimitTracker &operator=(const LimitTracker &other);

  /// Goes back to the beginning of an order.
  void reset();

  /// Goes to a place in an order where `liveBytes` live. `isBefore` says of
  /// each node whether it stands before that place. From there on only `nodes`
  /// may be placed. Takes as long as `nodes` have buffers and users of these.
  template <typename IsBefore>
  void enter(llvm::ArrayRef<unsigned> nodes, int64_t newLiveBytes,
             IsBefore isBefore) {
    liveBytes = newLiveBytes;
    for (unsigned node : nodes) {
      for (unsigned buffer : flat.buffersOf[node])
        placedUsers[buffer] = llvm::count_if(flat.usersOf[buffer], isBefore);
      if (flat.maxInFlight == 0)
        continue;
      for (unsigned start : flat.awaited[node])
        placedAwaiters[start] = llvm::count_if(flat.awaiters[start], isBefore);
    }
  }
  /// By lane: the operations in flight.
  llvm::ArrayRef<unsigned> getInFlight() const { return inFlight; }
  void setInFlight(llvm::ArrayRef<unsigned> counts) {
    inFlight.assign(counts.begin(), counts.end());
  }

  /// `node` comes next.
  Effect place(unsigned node);

  int64_t getLiveBytes() const { return liveBytes; }
  /// The bytes that live while `node` runs, if it comes next.
  int64_t getNeededBytes(unsigned node) const;
  /// How many more bytes live after `node` than before it, if it comes next.
  int64_t getAddedBytes(unsigned node) const;
  /// The users of `buffer` that are not placed.
  unsigned getMissingUsers(unsigned buffer) const {
    return flat.usersOf[buffer].size() - placedUsers[buffer];
  }
  /// False if `node` would be an operation too many in flight.
  bool mayStart(unsigned node) const {
    return flat.maxInFlight == 0 || !flat.isStart(node) ||
           inFlight[flat.lane[node]] < flat.maxInFlight;
  }
  /// True if `node` may come next within all limits.
  bool fits(unsigned node) const {
    return mayStart(node) &&
           (!flat.hasMemoryLimit() || getNeededBytes(node) <= flat.maxMemory);
  }

private:
  const FlatProblem &flat;
  int64_t liveBytes = 0;
  /// By buffer: the users that are placed.
  std::vector<unsigned> placedUsers;
  /// By start: the nodes that await it and are placed.
  std::vector<unsigned> placedAwaiters;
  /// By lane.
  std::vector<unsigned> inFlight;
};

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_MODEL_LIMITTRACKER_H
