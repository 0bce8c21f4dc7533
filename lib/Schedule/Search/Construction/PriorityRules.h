//===- PriorityRules.h - Rules of list schedules ----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules by which the search builds list schedules: a fixed table of them,
// and changes of one rule to another one nearby.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_SEARCH_CONSTRUCTION_PRIORITYRULES_H
#define BRAID_LIB_SCHEDULE_SEARCH_CONSTRUCTION_PRIORITYRULES_H

#include "ListScheduler.h"

#include <random>

namespace braid {

/// The parameters of a list schedule, of which `PriorityRules` makes a
/// `PriorityRule`.
struct RuleParameters {
  enum class Priority {
    /// The longest chain to the end, or the time to the end in a schedule that
    /// is built from the end.
    Tail,
    BackwardTail,
    /// The first start of the program that needs the node.
    FirstStart
  };

  /// Display name.
  const char *name = "";
  Priority priority = Priority::Tail;
  /// Mixes the priority with so many percent of the program's order: of several
  /// chains that were written one after the other, the first gets ahead.
  unsigned programPercent = 0;
  /// Counts the program's order in so many equal parts of the program; 0: node
  /// by node.
  unsigned programParts = 0;

  // As in `PriorityRule`.
  int64_t maxInsertedIdleNs = 0;
  int64_t maxInsertedLaneIdleNs = 0;
  bool fitsEnds = false;
  /// While some lane has little work, the node that leads to a start the
  /// soonest goes first.
  bool nearestStarts = false;
  int64_t backlogNs = 0;
};

/// The parameters of a beam search: the priorities of a list rule, and as in
/// `BeamGuide`.
struct BeamParameters {
  RuleParameters list;
  int64_t divisor = 32;
  bool countsTails = true;
};

/// The rules for one problem.
class PriorityRules {
public:
  /// `tails` are those of `getTails`, and have to outlive this.
  PriorityRules(const FlatProblem &flat, ListScheduler &scheduler,
                llvm::ArrayRef<int64_t> tails);

  /// The fixed table; the first rule is the one of a search that may try one
  /// alone.
  std::vector<RuleParameters> getTable() const;

  /// Guides of the beam search, the most promising first; one has the
  /// priorities of `best`.
  std::vector<BeamParameters> getBeamTable(const RuleParameters &best) const;

  /// The rule for `parameters`; valid until the next call.
  PriorityRule getRule(const RuleParameters &parameters);

  /// `parameters` with one or two of them changed at random.
  RuleParameters change(RuleParameters parameters,
                        std::mt19937_64 &engine) const;

private:
  const FlatProblem &flat;
  int64_t meanNs = 0, longestNs = 0;
  /// The longest tail.
  int64_t spanNs = 0;
  llvm::ArrayRef<int64_t> tails;
  std::vector<int64_t> backwardTails, firstStarts, nearestStarts;
  std::vector<int64_t> mixed;
};

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_SEARCH_CONSTRUCTION_PRIORITYRULES_H
