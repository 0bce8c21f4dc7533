//===- MovableOrder.h - An order that changes swap by swap ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the passes that move one node at a time share: an order in which a node
// changes places with a group of neighbours, and the memory that lives at each
// node of it. It knows nothing of IR.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SCHEDULE_BASELINES_INDUCTOR_MOVABLEORDER_H
#define BRAID_SCHEDULE_BASELINES_INDUCTOR_MOVABLEORDER_H

#include "braid/Schedule/Model/ProblemLists.h"

namespace braid {

/// An order as a linked list, with the bytes that live before each node. A
/// *group* is a run of neighbours that moves as one; there is at most one at a
/// time. The node before or after it can change places with all of it, which
/// takes time linear in the buffers of that node; only where it and the group
/// are the first or the last to use the same buffer, linear in the group.
class MovableOrder {
public:
  /// Stands for no node, before the first and after the last.
  static constexpr unsigned none = ~0u;

  /// `order`: a legal order of `problem`, which has to outlive this.
  MovableOrder(const SchedulingProblem &problem,
               llvm::ArrayRef<unsigned> order);

  unsigned getFirst() const { return first; }
  unsigned getPrevious(unsigned node) const { return previous[node]; }
  unsigned getNext(unsigned node) const { return next[node]; }
  ScheduleOrder getOrder() const;

  /// The most bytes that live at once; linear in the nodes. No group is open.
  int64_t getPeakBytes() const;
  /// The bytes that live before `node`, which is not in the group.
  int64_t getBytesBefore(unsigned node) const { return bytesBefore[node]; }

  /// Opens a group of `node` alone.
  void beginGroup(unsigned node);
  /// Takes the node before the group, or after it, into the group.
  void extendLeft();
  void extendRight();
  void endGroup();

  unsigned getHead() const { return head; }
  unsigned getTail() const { return tail; }
  bool isInGroup(unsigned node) const { return memberOf[node] == group; }
  /// True if a node of the group has to follow `node` directly.
  bool groupNeeds(unsigned node) const { return neededBy[node] == group; }
  /// True if `node` has to follow a node of the group directly.
  bool needsGroup(unsigned node) const { return dependentOn[node] == group; }

  /// What became of a move.
  enum class MoveResult {
    Moved,
    /// There would be more than `maxInFlight` operations in flight on a lane.
    TooManyInFlight,
    /// More than `limitBytes` would live at once in what was to move.
    TooManyBytes
  };

  /// The group changes places with the node before it, which nothing in it
  /// needs, if at most `limitBytes` live in either after that. `peakBytes`, if
  /// given, gets how many do.
  MoveResult moveLeft(int64_t limitBytes, int64_t *peakBytes = nullptr);
  /// The group changes places with the node after it, which needs nothing of
  /// it.
  MoveResult moveRight(int64_t limitBytes, int64_t *peakBytes = nullptr);

  /// The work done so far: one for each move tried, and one for each node of a
  /// group that was looked at again.
  uint64_t getNumSteps() const { return numSteps; }

private:
  struct SavedUser {
    unsigned buffer, first, last;
  };

  int64_t delta(unsigned node) const { return allocated[node] - freed[node]; }
  llvm::ArrayRef<unsigned> getBuffers(unsigned node) const {
    return lists.buffersOf[node];
  }
  /// Sets the bytes that nodes allocate and free, and the first and the last
  /// user of each buffer.
  void findBuffers(llvm::ArrayRef<unsigned> position);
  /// Counts the operations in flight at each start.
  void countInFlight(llvm::ArrayRef<unsigned> order);
  void join(unsigned node);
  void refreshProfile();
  bool staysInFlightLeft(unsigned candidate) const;
  bool staysInFlightRight(unsigned candidate) const;
  void raiseInFlightLeft(unsigned candidate);
  void raiseInFlightRight(unsigned candidate);
  unsigned countAwaited(unsigned node, int32_t lane) const;
  void setFirst(unsigned buffer, unsigned user);
  void setLast(unsigned buffer, unsigned user);
  /// Hands the buffers that `candidate` and the group share on, as if it had
  /// changed places with the group. True if there are any; `saved` has what is
  /// needed to undo it.
  bool exchangeUsers(unsigned candidate, bool left);
  void restoreUsers();
  /// The same, unless more than `limitBytes` would live at once in what changes
  /// places. `peakBytes`, if given, gets how many would.
  bool exchangeWithin(int64_t limitBytes, unsigned candidate, bool left,
                      int64_t *peakBytes);
  /// Two runs of neighbours change places: the nodes from `begin` to `middle`,
  /// and those that follow, up to `end`.
  void swapRuns(unsigned begin, unsigned middle, unsigned end);
  unsigned findUserInGroup(unsigned buffer, bool fromHead) const;

  const SchedulingProblem &problem;
  const ScheduleGraph &graph;
  unsigned first = none;
  std::vector<unsigned> previous, next;

  BufferLists lists;
  /// Bytes of each buffer.
  std::vector<int64_t> bytesOf;
  /// The first and the last user of each buffer in the order.
  std::vector<unsigned> firstUser, lastUser;
  /// Bytes that are allocated before each node, that live during it alone, that
  /// are freed after it, and that live before it.
  std::vector<int64_t> allocated, transient, freed, bytesBefore;
  int64_t endBytes = 0;

  /// Marks, by node and by buffer: the number of the group that they belong to.
  unsigned group = 0;
  std::vector<unsigned> memberOf, neededBy, dependentOn, usedBy;
  unsigned head = none, tail = none;
  /// What lives before the group, and, beyond that, at most in it and after it.
  int64_t groupBefore = 0, groupPeak = 0, groupDelta = 0;
  /// Starts of the group, and nodes of it that await something.
  llvm::SmallVector<unsigned, 4> groupStarts, groupHolders;
  llvm::SmallVector<SavedUser, 4> saved;

  /// At each start, the operations of its lane in flight, itself included; no
  /// fewer than there are. Empty without a limit.
  std::vector<unsigned> inFlight;
  uint64_t numSteps = 0;
};

} // namespace braid

#endif // BRAID_SCHEDULE_BASELINES_INDUCTOR_MOVABLEORDER_H
