//===- ContentionWindow.h - A window where ops share ------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_SEARCH_IMPROVEMENT_CONTENTIONWINDOW_H
#define BRAID_LIB_SCHEDULE_SEARCH_IMPROVEMENT_CONTENTIONWINDOW_H

#include "Schedule/Simulation/ContentionSimulator.h"
#include "WindowSearch.h"
#include "braid/Schedule/Simulation/Simulator.h"

namespace braid {

/// Looks for a better order of at most 64 neighbours in an order on a machine
/// whose ops slow each other down: a beam of machine states that are extended
/// node by node.
///
/// The remaining time of a state is estimated by the bound of `WindowSearch`,
/// with the times of nodes in the present order.
class ContentionWindow : private WindowSearch {
public:
  /// An order of the window and the machine after it.
  struct Found {
    std::vector<unsigned> order;
    ContentionMachine machine;
    /// The end of the order, as far as the window decides it.
    int64_t estimateNs;
  };

  /// The costs of `flat` are the times of nodes in the present order.
  explicit ContentionWindow(const FlatProblem &flat) : WindowSearch(flat) {}

  /// The most promising orders, the best first, from `machine` on, the state at
  /// the beginning of `window`; all keep the limits. `width` states of each
  /// number of nodes are kept, at most `count` orders are given. Times before
  /// the window that `window` names are not looked at. `outer` has the
  /// operations that are in flight before the window, and from their ends to
  /// the end of all as far as nodes after the window await them. Gives nothing
  /// if `maxSteps` do not suffice.
  void search(const ScheduleWindow &window, const ContentionMachine &machine,
              llvm::ArrayRef<std::pair<unsigned, int64_t>> outer,
              unsigned width, unsigned count, uint64_t maxSteps,
              std::vector<Found> &found);

  uint64_t getSteps() const { return steps; }

private:
  struct State {
    uint64_t mask;
    int64_t liveBytes;
    int64_t boundNs, sum;
    unsigned parent, last;
    /// Among `machines`.
    unsigned machine;
  };
  /// Of an operation in flight before the window: the nodes that await it, and
  /// from its end to the end of all as far as nodes after the window do.
  struct Outer {
    uint64_t waiters;
    int64_t tailNs;
  };

  void prepareOuter(llvm::ArrayRef<std::pair<unsigned, int64_t>> starts);
  void expandState(const std::vector<State> &layer, unsigned index);
  void tryNode(const State &state, unsigned parent, unsigned node);
  /// Sets the bound and the sum of `state`.
  void estimate(State &state, const ContentionMachine &machine);
  unsigned takeMachine();

  std::vector<ContentionMachine> machines;
  std::vector<unsigned> freeMachines;
  std::vector<State> children;
  std::vector<uint64_t> seen;
  std::vector<int64_t> key;
  std::vector<Outer> outerStarts;
  /// By node, while the window is searched: its number in it, and among
  /// `outerStarts`.
  std::vector<unsigned> numberOf, outerOf;
};

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_SEARCH_IMPROVEMENT_CONTENTIONWINDOW_H
