//===- ContentionLocalSearch.h - Better orders where ops share --*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where ops slow each other down, the search judges a change of an order by a
// simulation from the change on. The simulation ends where its state equals
// that of the order before at the same node: from there on both orders take
// equally long. The states soon agree, because an awaited operation and a lane
// without work leave no trace of what ran before. A sweep goes from the first
// node to the last, so the state before each change is known.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_SEARCH_IMPROVEMENT_CONTENTIONLOCALSEARCH_H
#define BRAID_LIB_SCHEDULE_SEARCH_IMPROVEMENT_CONTENTIONLOCALSEARCH_H

#include "Schedule/Search/SearchParts.h"
#include "Schedule/Simulation/ContentionSimulator.h"
#include "TimedOrder.h"
#include "braid/Schedule/Simulation/Simulator.h"

#include <random>

namespace braid {

/// Improves orders of one problem on a machine whose ops slow each other down.
/// All orders that it tries keep the limits if the first one does.
class ContentionLocalSearch {
public:
  ContentionLocalSearch(const FlatProblem &flat, SearchStatistics &statistics);

  /// Restarts from `order`, which has at least one node.
  void assign(llvm::ArrayRef<unsigned> order);

  /// Anneals with less and less tolerance, until the makespan is at most
  /// `targetNs` or `maxSteps` are spent.
  void improve(const SearchParts &options, int64_t targetNs, uint64_t maxSteps,
               std::mt19937_64 &engine);

  /// Improves each of `starts`, at least one pair of a makespan and an order, a
  /// little, as `improve` does, and the best of what that gives with what is
  /// left of `maxSteps`. Overwrites `starts`.
  void improveBestOf(std::vector<std::pair<int64_t, ScheduleOrder>> &starts,
                     const SearchParts &options, int64_t targetNs,
                     uint64_t maxSteps, std::mt19937_64 &engine);

  /// Moves neighbours past others at random, everywhere in turn, while steps
  /// are left. A move that makes the order longer may stay, by at most
  /// `toleranceNs` at the beginning and by nothing at the end. True if the
  /// makespan has become shorter.
  bool anneal(int64_t toleranceNs, int64_t targetNs, uint64_t maxSteps,
              std::mt19937_64 &engine);

  /// The best order since `assign`.
  llvm::ArrayRef<unsigned> getOrder() const { return best; }
  int64_t getMakespanNs() const { return bestNs; }
  uint64_t getSteps() const { return steps + timed.getSteps(); }

private:
  bool isStopped() const {
    return stop && stop->load(std::memory_order_relaxed);
  }
  /// Simulates `order` and stores the time that each node takes in it.
  int64_t simulate(llvm::ArrayRef<unsigned> order);
  /// Goes back to the best order.
  void restore();
  /// Begins and ends a sweep; true if the order is better than the best.
  void beginSweep();
  bool endSweep();
  /// The simulator's state before `place` of the present order. `place` must
  /// not precede the last requested one by more than the longest move and the
  /// nodes that are simulated behind it, because older states are dropped.
  const ContentionMachine &getPresent(unsigned place);
  void change(unsigned begin, llvm::ArrayRef<unsigned> nodes);
  /// The reduction of the makespan if the order continues at `place` from the
  /// state `machine`, with other nodes before it.
  int64_t getGain(ContentionMachine &machine, unsigned place);
  /// The end of the order if it continues at `place` from the state `machine`,
  /// and all further nodes take as long as in the last simulation.
  int64_t estimateEnd(const ContentionMachine &machine, unsigned place);
  /// Moves the nodes from `begin` to `end`, in their order, to just before the
  /// place `to`, which is outside of that range or the end of the order.
  struct Move {
    unsigned begin, end, to;

    bool isUp() const { return to < begin; }
    /// The part of the order that changes.
    unsigned first() const { return isUp() ? to : begin; }
    unsigned last() const { return isUp() ? end : to; }
  };
  bool isLegal(const Move &move) const;
  /// The reduction of the makespan. The nodes between both ends of the move are
  /// simulated only until the state is that of the present order.
  int64_t getGain(const Move &move);
  /// Makes the move if it keeps the edges and the limits and costs at most
  /// `toleranceNs`.
  void tryMove(const Move &move, int64_t toleranceNs);

  /// The problem with the times of nodes in the order that was simulated last.
  FlatProblem frozen;
  SearchStatistics &statistics;
  /// `SearchOptions::stop`.
  const std::atomic<bool> *stop = nullptr;
  uint64_t steps = 0;
  std::vector<SimulatedOp> ops;
  std::vector<SimulatedTimes> times;
  PairRates pairs;
  /// The present order.
  TimedOrder timed;
  ScheduleOrder best;
  int64_t bestNs = 0;

  /// The states of the machine before the places from `firstKnown` to
  /// `endKnown` of the present order, by place modulo their number.
  std::vector<ContentionMachine> machines;
  unsigned firstKnown = 0, endKnown = 0;

  // Scratch.
  ContentionMachine trial;
  std::vector<unsigned> swapped;
};

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_SEARCH_IMPROVEMENT_CONTENTIONLOCALSEARCH_H
