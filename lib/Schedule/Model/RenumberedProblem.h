//===- RenumberedProblem.h - Problems in another order ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_MODEL_RENUMBEREDPROBLEM_H
#define BRAID_LIB_SCHEDULE_MODEL_RENUMBEREDPROBLEM_H

#include "braid/Schedule/Model/SchedulingProblem.h"

namespace braid {

/// `graph` as it is of the program whose ops stand in `order`, a legal one:
/// node i is `order[i]`.
ScheduleGraph renumberGraph(const ScheduleGraph &graph,
                            llvm::ArrayRef<unsigned> order);

/// `problem` as it is of the program whose ops stand in `order`, a legal one:
/// node i is `order[i]`, and the program's order takes as long as `order`.
/// Lanes keep their numbers, by which the machine has their links.
SchedulingProblem renumberProblem(const SchedulingProblem &problem,
                                  llvm::ArrayRef<unsigned> order);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_MODEL_RENUMBEREDPROBLEM_H
