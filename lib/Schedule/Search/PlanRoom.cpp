//===- PlanRoom.cpp - Room beside products for kernels --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanRoom.h"

#include "Schedule/Simulation/PersistentKernel.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace braid;
using namespace llvm;

/// What a planned operation by copy engines finds room in: the kernels around
/// the copies. With 4 multiprocessors beside a product a gather took 2.3 times
/// as long as alone on H100s, with 8 it took 1.4 times as long; braid-calibrate
/// measures it with 8.
static constexpr int64_t copyRoom = 8;

/// The multiprocessors that a product with `demand` keeps to its end; 0 for
/// other ops.
static int64_t getTaken(const ResourceDemand &demand,
                        const MachineModel &machine) {
  if (!demand.isPersistent)
    return 0;
  return demand.blocks ? demand.blocks : machine.multiprocessors;
}

/// The multiprocessors that an operation with a planned option asks for; 0 if
/// it may wait for them. Clusters of blocks are kernels that are not limited.
static int64_t getAsked(const ResourceFamily &family, unsigned option,
                        const MachineModel &machine) {
  const ResourceDemand &demand = family.options[option].demand;
  if (demand.isPersistent || option == 0 || demand.clusterSize > 1)
    return 0;
  int64_t needed =
      getNeededMultiprocessors(demand, machine, /*isCrowded=*/false);
  bool isCopy = needed > 0 && demand.multiprocessors == 0;
  return isCopy ? std::min<int64_t>(copyRoom, machine.multiprocessors - 1)
                : needed;
}

bool braid::leavesRoom(const MachineModel &machine,
                       ArrayRef<ResourceFamily> families,
                       ArrayRef<unsigned> choice) {
  int64_t asked = 0, taken = 0;
  for (auto [family, option] : zip_equal(families, choice)) {
    taken = std::max(taken, getTaken(family.options[option].demand, machine));
    asked = std::max(asked, getAsked(family, option, machine));
  }
  return asked == 0 || taken + asked <= machine.multiprocessors;
}

bool braid::leavesRoomInOrder(const SchedulingProblem &problem,
                              ArrayRef<ResourceFamily> families,
                              ArrayRef<unsigned> choice,
                              ArrayRef<unsigned> order) {
  const MachineModel &machine = problem.machine;
  if (!problem.carriedAwaits.empty())
    return leavesRoom(machine, families, choice);
  std::vector<int64_t> asked(order.size()), taken(order.size());
  for (auto [family, option] : zip_equal(families, choice))
    for (unsigned node : family.ops) {
      taken[node] = getTaken(family.options[option].demand, machine);
      asked[node] = getAsked(family, option, machine);
    }
  SmallVector<unsigned> inFlight;
  for (unsigned node : order) {
    for (unsigned start : problem.getAwaitedStarts(node))
      llvm::erase(inFlight, start);
    if (asked[node] > 0)
      inFlight.push_back(node);
    if (taken[node] == 0)
      continue;
    // Operations that ask for the same share a lane, others run side by side.
    SmallVector<int64_t> lanes;
    for (unsigned start : inFlight)
      if (!is_contained(lanes, asked[start]))
        lanes.push_back(asked[start]);
    if (!lanes.empty() && taken[node] + sum_of(lanes) > machine.multiprocessors)
      return false;
  }
  return true;
}
