//===- ResourceFamilies.h - Ways to run the ops of a block ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_RESOURCEFAMILIES_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_RESOURCEFAMILIES_H

#include "Schedule/Planning/ResourcePlan.h"

#include "braid/ScheduleIR/ProblemBuilder.h"

namespace braid::comm {

/// The attributes that one way of running an op gives it.
using ResourceAttributes = llvm::SmallVector<mlir::NamedAttribute, 2>;

/// The ops of a block that can be run in several ways, grouped by what they
/// are, with the attributes of each option of each family.
struct ResourceFamilies {
  std::vector<ResourceFamily> families;
  std::vector<std::vector<ResourceAttributes>> attributes;
};

/// Finds the ops of `problem` that can be run in several ways, with the costs
/// of `model`, whose machine queues for multiprocessors and has a calibration.
/// Collectives come in class 0, products in class 1. Ops whose way is set by
/// hand, or whose cost is, are left out, and with `plansCollectives` false all
/// collectives.
ResourceFamilies findResourceFamilies(const BlockProblem &problem,
                                      CostModel &model, bool plansCollectives);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_RESOURCEFAMILIES_H
