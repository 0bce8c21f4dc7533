//===- LocalSearch.h - Better orders near a good one ------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_SEARCH_IMPROVEMENT_LOCALSEARCH_H
#define BRAID_LIB_SCHEDULE_SEARCH_IMPROVEMENT_LOCALSEARCH_H

#include "Schedule/Search/SearchParts.h"
#include "Schedule/Simulation/ScheduleEvaluator.h"
#include "TimedOrder.h"
#include "WindowSearch.h"

#include <algorithm>
#include <random>

namespace braid {

/// The node at `from` goes to `to`, past all between.
struct NodeMove {
  unsigned from, to;

  /// The part of the order that changes.
  unsigned begin() const { return std::min(from, to); }
  unsigned end() const { return std::max(from, to) + 1; }
  /// `nodes`: that part of the order.
  void apply(llvm::MutableArrayRef<unsigned> nodes) const;
};

/// Improves orders of one problem, on machines where ops do not slow each other
/// down. All orders that it tries keep the limits if the first one does.
class LocalSearch {
public:
  LocalSearch(const FlatProblem &flat, WindowSearch &windows,
              SearchStatistics &statistics);

  /// Begins anew from `order`.
  void assign(llvm::ArrayRef<unsigned> order) { timed.assign(order); }
  /// Begins anew from `order`, and takes windows and moves in turn, as far as
  /// `options` has them, with longer and longer windows, until no change
  /// improves the order, the makespan is at most `targetNs` or `maxSteps` are
  /// spent.
  void improve(llvm::ArrayRef<unsigned> order, const SearchParts &options,
               int64_t targetNs, uint64_t maxSteps, std::mt19937_64 &engine);
  /// Searches every window of `length` nodes, half of each new, and again where
  /// something became better, until nothing does, the makespan is at most
  /// `targetNs` or so many steps are spent. True if the makespan has become
  /// shorter.
  bool searchWindows(unsigned length, unsigned width, int64_t targetNs,
                     uint64_t maxSteps);
  /// Moves single nodes on the critical path, at most `reach` places, until
  /// nothing has become better for long.
  bool moveNodes(unsigned reach, int64_t targetNs, uint64_t maxSteps,
                 std::mt19937_64 &engine);

  llvm::ArrayRef<unsigned> getOrder() const { return timed.getOrder(); }
  int64_t getMakespanNs() const { return timed.getMakespanNs(); }
  /// Of its own; windows count theirs.
  uint64_t getSteps() const { return timed.getSteps(); }

private:
  bool tryMove(NodeMove move);

  const FlatProblem &flat;
  WindowSearch &windows;
  SearchStatistics &statistics;
  TimedOrder timed;
  std::vector<unsigned> scratch;
};

/// Moves single nodes of `order` at random, on any machine: each move that
/// makes nothing worse stays. Ends when the makespan, `value.makespanNs`, is at
/// most `targetNs`, when `maxSteps` are spent, or when nothing has become
/// better for long. Keeps the limits if `order` does.
void searchInsertionMoves(const FlatProblem &flat, ScheduleEvaluator &evaluator,
                          ScheduleOrder &order, ScheduleEvaluator::Value &value,
                          int64_t targetNs, uint64_t maxSteps,
                          std::mt19937_64 &engine,
                          SearchStatistics &statistics);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_SEARCH_IMPROVEMENT_LOCALSEARCH_H
