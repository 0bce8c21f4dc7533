//===- ResourceChoice.h - Options of each op --------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_PLANNING_RESOURCECHOICE_H
#define BRAID_LIB_SCHEDULE_PLANNING_RESOURCECHOICE_H

#include "braid/Schedule/Model/SchedulingProblem.h"

namespace braid {

/// One variant of an op. Operations of one lane count as running one after
/// the other in all variants, although another variant may be another lane:
/// what collectives do to each other is not measured.
struct ResourceOption {
  int64_t costNs = 0;
  ResourceDemand demand;
};

/// Ops that are run alike, because they are the same but for their
/// operands.
struct OpClass {
  /// Nodes of the problem.
  std::vector<unsigned> ops;
  /// The first one is the present state of the ops.
  std::vector<ResourceOption> options;
  /// Classes of the same kind are tried with the same number of an option
  /// together: the multiprocessors that a matmul leaves free have to suit all
  /// collectives.
  unsigned kind = 0;
};

/// A number of an option for each class.
using ResourceChoice = std::vector<unsigned>;

/// Sets cost and demand of `node` to those of `option`. The problem has
/// demands.
void applyOption(SchedulingProblem &problem, unsigned node,
                 const ResourceOption &option);

/// Sets costs and demands of `problem` to those of `choice`.
void applyChoice(SchedulingProblem &problem, llvm::ArrayRef<OpClass> opClasses,
                 llvm::ArrayRef<unsigned> choice);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_PLANNING_RESOURCECHOICE_H
