//===- RenumberedProblem.cpp - Problems in another order ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RenumberedProblem.h"

#include "llvm/ADT/STLExtras.h"

using namespace braid;
using namespace llvm;

SchedulingProblem braid::renumberProblem(const SchedulingProblem &problem,
                                         ArrayRef<unsigned> order) {
  std::vector<unsigned> placeOf(order.size());
  for (auto [place, node] : enumerate(order))
    placeOf[node] = static_cast<unsigned>(place);

  SchedulingProblem renumbered = problem;
  renumbered.graph = ScheduleGraph();
  renumbered.graph.reserve(order.size());
  for (unsigned node : order) {
    unsigned place = renumbered.graph.addNode(problem.graph[node]);
    for (unsigned before : problem.graph.predecessors(node))
      renumbered.graph.addEdge(placeOf[before], place);
    if (!problem.demands.empty())
      renumbered.demands[place] = problem.demands[node];
  }
  renumbered.graph.finalize();

  auto renumberFirst = [&](auto &list) {
    for (auto &entry : list)
      entry.first = placeOf[entry.first];
  };
  renumberFirst(renumbered.leastNs);
  llvm::sort(renumbered.leastNs);
  renumberFirst(renumbered.transientBytes);
  llvm::sort(renumbered.transientBytes);
  renumberFirst(renumbered.awaits);
  for (auto &[node, start] : renumbered.awaits)
    start = placeOf[start];
  llvm::sort(renumbered.awaits);
  for (CarriedAwait &await : renumbered.carriedAwaits)
    await = {placeOf[await.waiter], placeOf[await.start]};
  for (GraphBuffer &buffer : renumbered.buffers) {
    for (unsigned &user : buffer.users)
      user = placeOf[user];
    llvm::sort(buffer.users);
  }
  return renumbered;
}
