//===- ScheduleEvaluator.h - Makespan and peak of many orders ---*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SCHEDULE_SCHEDULEEVALUATOR_H
#define BRAID_SCHEDULE_SCHEDULEEVALUATOR_H

#include "braid/Schedule/SchedulingProblem.h"

#include <memory>

namespace braid {

struct FlatProblem;

/// Plays many orders of one problem. Where ops do not slow each other down, one
/// pass over flat arrays gives what `simulateOrder` gives, without allocating;
/// elsewhere it asks `simulateOrder`.
class ScheduleEvaluator {
public:
  /// What an order is worth.
  struct Value {
    /// The makespan; of the body of a loop its steady period.
    int64_t makespanNs = 0;
    int64_t peakBytes = 0;
  };

  /// `problem` has to outlive the evaluator.
  explicit ScheduleEvaluator(const SchedulingProblem &problem);
  /// Shares the arrays of the search.
  explicit ScheduleEvaluator(const FlatProblem &flat);
  ~ScheduleEvaluator();

  /// Plays `order`, a legal order of the problem's graph.
  Value evaluate(llvm::ArrayRef<unsigned> order);

  /// Orders that were played so far.
  uint64_t getNumOrders() const { return numOrders; }

private:
  std::unique_ptr<FlatProblem> owned;
  const FlatProblem &flat;
  uint64_t numOrders = 0;
  std::vector<int64_t> endNs, laneFreeNs;
  /// Users of each buffer that have not run, and how many there are.
  std::vector<unsigned> missingUsers, numUsers;
};

} // namespace braid

#endif // BRAID_SCHEDULE_SCHEDULEEVALUATOR_H
