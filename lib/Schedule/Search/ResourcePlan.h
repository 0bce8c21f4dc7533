//===- ResourcePlan.h - Who runs on what of the machine ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses among ways of running the same op: a collective by kernels on more or
// fewer multiprocessors or by copy engines, a product on all multiprocessors or
// on some. It knows nothing of IR.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_SEARCH_RESOURCEPLAN_H
#define BRAID_LIB_SCHEDULE_SEARCH_RESOURCEPLAN_H

#include "braid/Schedule/Simulation/Simulator.h"

namespace braid {

/// One way of running an op.
struct ResourceOption {
  int64_t costNs = 0;
  ResourceDemand demand;
};

/// Ops that are run in the same way, because they are the same but for their
/// operands.
struct ResourceFamily {
  /// Their positions in the order.
  std::vector<unsigned> ops;
  /// The first is how they are.
  std::vector<ResourceOption> options;
  /// Families of the same class are tried with the same number of an option
  /// together: what a product leaves free has to suit all collectives.
  unsigned ofClass = 0;
};

/// An option for each family, and what they make of the order.
struct ResourcePlan {
  std::vector<unsigned> options;
  int64_t beforeNs = 0, afterNs = 0;
  unsigned numPlayed = 0;
};

/// The plan with the shortest makespan of those that are tried: for two classes
/// each pair of options, then family by family until nothing gains or
/// `maxPlays` are played. Of plans that take as long, the one that changes
/// least. The order is played from beginning to end each time, so that the plan
/// is never slower.
ResourcePlan planResources(std::vector<SimulatedOp> ops,
                           const MachineModel &machine,
                           llvm::ArrayRef<ResourceFamily> families,
                           unsigned maxPlays);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_SEARCH_RESOURCEPLAN_H
