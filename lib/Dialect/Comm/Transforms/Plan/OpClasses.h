//===- OpClasses.h - Variants of the ops of a block -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_OPCLASSES_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_OPCLASSES_H

#include "Schedule/Planning/ResourcePlan.h"

#include "braid/ScheduleIR/ProblemBuilder.h"

namespace braid::comm {

/// The attributes that one variant of an op gives it.
using ResourceAttributes = llvm::SmallVector<mlir::NamedAttribute, 2>;

/// The ops of a block that have several variants, grouped by what they
/// are, with the attributes of each option of each class.
struct OpClasses {
  std::vector<OpClass> classes;
  std::vector<std::vector<ResourceAttributes>> attributes;
};

/// Finds the ops of `problem` that have several variants, with the costs
/// of `model`, whose machine queues for multiprocessors and has a calibration.
/// Collectives have kind 0, matmuls kind 1. Ops whose variant is set by
/// hand, or whose cost is, are left out, and with `plansCollectives` false all
/// collectives.
OpClasses findOpClasses(const BlockProblem &problem, CostModel &model,
                        bool plansCollectives);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_OPCLASSES_H
