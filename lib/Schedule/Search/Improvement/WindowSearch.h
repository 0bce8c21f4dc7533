//===- WindowSearch.h - Exact search of a part of an order ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the best order of at most 64 neighbours in an order, all others fixed,
// by dynamic programming over sets; of a small graph as a whole, too.
//
// On a machine without contention an order is a sequence of sums and maxima, so
// the makespan is the largest of the stream time, lane times and ends of
// operations after the window, each plus a constant that the nodes after the
// window give. The state after some of the window's nodes is their set, the
// time of the stream, when each lane is free and when the operations in flight
// end; memory and operations in flight follow from the set alone. Of two states
// with one set, the one that is nowhere later wins: whatever follows, it stays
// nowhere later.
//
// Without limits, orders that differ only in steps that change nothing for the
// better are searched once:
//  - a start follows a stream node only if it depends on it, as it could go
//    before it and would end no later;
//  - a node that is no wait follows a wait only if it depends on it, as the
//    wait could come after it and would hold the stream no longer;
//  - starts on different lanes that do not depend on one another come in the
//    order of their lanes.
// Nothing is lost: say that each state of the layer of k nodes is given and let
// v be a node that is ready in state X = P + u but not tried for such a reason.
// P + v is covered (a kept state of the same set is nowhere later) as it has k
// nodes, and u is ready there. P + v + u is nowhere later than X + v, and is
// covered if u is tried after P + v. u may be kept from that by a rule in turn,
// but the same argument covers it: waits are always tried, stream nodes give
// way to waits alone, starts to stream nodes, waits and starts of later lanes,
// so the argument ends.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_SEARCH_IMPROVEMENT_WINDOWSEARCH_H
#define BRAID_LIB_SCHEDULE_SEARCH_IMPROVEMENT_WINDOWSEARCH_H

#include "Schedule/Model/FlatProblem.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace braid {

/// The set of one node of a window, by its place among the nodes.
inline uint64_t bit(unsigned index) { return uint64_t(1) << index; }

/// A part of an order, and what surrounds it.
struct ScheduleWindow {
  /// At most 64, in the present order.
  std::vector<unsigned> nodes;
  /// When the stream and each lane are free before the window.
  int64_t streamNs = 0;
  std::vector<int64_t> laneNs;
  /// From when the stream and each lane are free after the window to the end.
  int64_t streamTailNs = 0;
  std::vector<int64_t> laneTailNs;
  /// By node: of starts before the window when they end; of starts in the
  /// window, from when they end to the end, as far as nodes after the window
  /// await them.
  llvm::ArrayRef<int64_t> endNs, endTailNs;
  /// By node: its place in the order; the window begins at `begin`.
  llvm::ArrayRef<unsigned> position;
  unsigned begin = 0;
  /// Bytes that live before the window, and, by lane, the operations that are
  /// in flight there, which are not counted without a limit.
  int64_t liveBytes = 0;
  std::vector<unsigned> inFlight;
};

/// Searches windows of one problem; reuses its memory.
class WindowSearch {
public:
  explicit WindowSearch(const FlatProblem &flat) : flat(flat) {}

  struct Result {
    /// Something below the given value was found: the order and its value, as
    /// far as the window decides it.
    bool improved = false;
    std::vector<unsigned> order;
    int64_t value = 0;
    /// Nothing was left out: the order is the best there is, or, if nothing was
    /// found, no order is below the given value.
    bool complete = false;
  };

  /// Looks for an order with a makespan below `upperNs` and, if there are any
  /// limits, within them. Keeps the `width` most promising states of each
  /// number of nodes; ends early when `maxSteps` are spent.
  Result search(const ScheduleWindow &window, int64_t upperNs, unsigned width,
                uint64_t maxSteps);

  /// Looks for an order whose peak of memory inside the window is below
  /// `upperBytes`, with no more operations in flight than the problem allows;
  /// its value is that peak.
  Result searchPeak(const ScheduleWindow &window, int64_t upperBytes,
                    unsigned width, uint64_t maxSteps);

  uint64_t getSteps() const { return steps; }

private:
  struct Node {
    unsigned id;
    bool isStart, isWait;
    /// Among the lanes that the window uses.
    unsigned lane;
    int64_t costNs;
    /// Its operations before the window have ended.
    int64_t releaseNs;
    /// To the end: from its beginning, and from the end of its operation.
    int64_t tailNs, endTailNs;
    /// Starts: as far as nodes after the window await them.
    int64_t outerTailNs;
    uint64_t predecessors, awaited, awaiters;
    std::vector<unsigned> buffers;
    int64_t transientBytes;
  };
  struct Buffer {
    int64_t bytes;
    uint64_t users;
    bool livesBefore, diesInside;
  };
  struct Lane {
    unsigned id;
    int64_t tailNs;
    uint64_t starts;
    /// The window's starts by the tails of their ends, the shortest first.
    std::vector<unsigned> byEndTail;
    /// Operations in flight before the window: the nodes that await them, and
    /// how many no node of the window awaits.
    std::vector<uint64_t> inFlight;
    unsigned numInFlightThroughout;
  };
  /// All states with the same number of nodes.
  struct Layer {
    std::vector<uint64_t> masks;
    std::vector<int64_t> bounds, sums, liveBytes, times;
    std::vector<unsigned> parents, nextOfSet;
    std::vector<uint8_t> lastNodes;
    std::vector<bool> dead;
    size_t size() const { return masks.size(); }
    void clear();
  };
  /// Parent and last node of each state of a layer that is done.
  using Trace = std::vector<std::pair<unsigned, uint8_t>>;

  void prepare(const ScheduleWindow &window);
  void findLanes(const ScheduleWindow &window);
  std::vector<unsigned> findNodes(const ScheduleWindow &window);
  /// Finds the buffers of the window's nodes.
  void findBuffers(const ScheduleWindow &window,
                   llvm::function_ref<unsigned(unsigned)> getLocal);
  /// Finds the operations in flight before the window. `getLocal` gives the
  /// number of a node in the window.
  void findInFlight(const ScheduleWindow &window,
                    llvm::function_ref<unsigned(unsigned)> getLocal);
  bool isRedundant(unsigned last, unsigned node) const;
  /// False if the start would be one operation too many in flight.
  bool mayStart(uint64_t mask, const Node &node) const;
  /// The most bytes that live while `node` comes after the nodes of `mask`;
  /// `live` becomes what lives after it.
  int64_t getNeededBytes(uint64_t mask, unsigned node, int64_t &live) const;
  int64_t getBound(uint64_t mask, const int64_t *times) const;
  void expand(const Layer &layer, unsigned state, int64_t upperNs);
  void add(uint64_t mask, int64_t upperNs, unsigned parent, unsigned node,
           int64_t live);
  void truncate(Layer &layer, unsigned width);
  unsigned findSlot(uint64_t mask);

  const FlatProblem &flat;
  uint64_t steps = 0;

  std::vector<Node> nodes;
  std::vector<Lane> lanes;
  std::vector<Buffer> buffers;
  std::vector<unsigned> localStarts;
  bool limited = false;
  uint64_t streamNodes = 0;
  /// Stream nodes by the tails of their ends, the shortest first.
  std::vector<unsigned> streamByEndTail;
  int64_t streamTailNs = 0;
  /// Of a state: stream time, what is certain already, lane times, ends of the
  /// window's starts.
  unsigned stride = 0;
  Layer current, next;
  std::vector<unsigned> table;
  std::vector<int64_t> scratch;
};

/// All of a graph as a window; `program` is any order of it.
ScheduleWindow getWholeWindow(const FlatProblem &flat,
                              llvm::ArrayRef<unsigned> program,
                              std::vector<unsigned> &position,
                              std::vector<int64_t> &zeros);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_SEARCH_IMPROVEMENT_WINDOWSEARCH_H
