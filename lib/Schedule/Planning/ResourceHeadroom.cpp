//===- ResourceHeadroom.cpp - Room beside matmuls -------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ResourceHeadroom.h"

#include "Schedule/Model/PersistentKernel.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>

using namespace braid;
using namespace llvm;

/// The multiprocessors that a matmul with `demand` keeps to its end; 0 for
/// other ops.
static int64_t getTaken(const ResourceDemand &demand,
                        const MachineModel &machine) {
  if (!demand.isPersistent)
    return 0;
  return demand.blocks ? demand.blocks : machine.multiprocessors;
}

/// The multiprocessors that an operation with a planned option asks for; 0 if
/// it may wait for them, as kernels do that are not limited: they come in
/// groups.
static int64_t getAsked(const OpClass &opClass, unsigned option,
                        const MachineModel &machine) {
  const ResourceDemand &demand = opClass.options[option].demand;
  if (demand.isPersistent || option == 0 || comesInGroups(demand))
    return 0;
  int64_t needed =
      getNeededMultiprocessors(demand, machine, /*isCrowded=*/false);
  bool isCopy = needed > 0 && demand.multiprocessors == 0;
  return isCopy ? std::max<int64_t>(needed, machine.copyMultiprocessors)
                : needed;
}

bool braid::leavesHeadroom(const MachineModel &machine,
                           ArrayRef<OpClass> opClasses,
                           ArrayRef<unsigned> choice) {
  int64_t asked = 0, taken = 0;
  for (auto [opClass, option] : zip_equal(opClasses, choice)) {
    taken = std::max(taken, getTaken(opClass.options[option].demand, machine));
    asked = std::max(asked, getAsked(opClass, option, machine));
  }
  return asked == 0 || taken + asked <= machine.multiprocessors;
}

ConcurrentOps::ConcurrentOps(const SchedulingProblem &problem)
    : problem(problem), numbers(problem.graph.size()) {
  const ScheduleGraph &graph = problem.graph;
  size_t size = graph.size(), numStarts = graph.starts().size();
  constexpr size_t mostBits = size_t(1) << 27;
  if (!problem.carriedAwaits.empty() || size * numStarts > mostBits)
    return;
  for (auto [number, start] : enumerate(graph.starts()))
    numbers[start] = number;
  apart.assign(size, BitVector(numStarts));
  // What has ended before a node.
  for (unsigned node = 0; node != size; ++node) {
    for (unsigned before : graph.predecessors(node))
      apart[node] |= apart[before];
    for (unsigned start : problem.getAwaitedStarts(node))
      apart[node].set(numbers[start]);
  }
  // What starts behind it.
  std::vector<BitVector> behind(size, BitVector(numStarts));
  for (unsigned node = size; node-- != 0;) {
    for (unsigned after : graph.successors(node)) {
      behind[node] |= behind[after];
      if (graph[after].kind == NodeKind::Start)
        behind[node].set(numbers[after]);
    }
    apart[node] |= behind[node];
  }
}

bool ConcurrentOps::hasAny(unsigned node) const {
  return apart.empty() || !apart[node].all();
}

bool ConcurrentOps::leavesHeadroom(ArrayRef<OpClass> opClasses,
                                   ArrayRef<unsigned> choice) const {
  const MachineModel &machine = problem.machine;
  if (apart.empty())
    return braid::leavesHeadroom(machine, opClasses, choice);
  // The starts that ask for so many.
  std::map<int64_t, BitVector> asking;
  for (auto [opClass, option] : zip_equal(opClasses, choice))
    if (int64_t asked = getAsked(opClass, option, machine)) {
      BitVector &starts =
          asking.try_emplace(asked, problem.graph.starts().size())
              .first->second;
      for (unsigned node : opClass.ops)
        starts.set(numbers[node]);
    }
  for (auto [opClass, option] : zip_equal(opClasses, choice)) {
    int64_t taken = getTaken(opClass.options[option].demand, machine);
    for (const auto &[asked, starts] : asking)
      if (taken > 0 && taken + asked > machine.multiprocessors &&
          any_of(opClass.ops, [&, &starts = starts](unsigned node) {
            return starts.test(apart[node]);
          }))
        return false;
  }
  return true;
}
