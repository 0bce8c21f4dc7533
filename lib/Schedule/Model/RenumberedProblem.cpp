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

/// For each node its place in `order`.
static std::vector<unsigned> getPlaces(ArrayRef<unsigned> order) {
  std::vector<unsigned> placeOf(order.size());
  for (auto [place, node] : enumerate(order))
    placeOf[node] = static_cast<unsigned>(place);
  return placeOf;
}

ScheduleGraph braid::renumberGraph(const ScheduleGraph &graph,
                                   ArrayRef<unsigned> order) {
  std::vector<unsigned> placeOf = getPlaces(order);
  ScheduleGraph renumbered;
  renumbered.reserve(order.size());
  for (unsigned node : order) {
    unsigned place = renumbered.addNode(graph[node]);
    for (unsigned before : graph.predecessors(node))
      renumbered.addEdge(placeOf[before], place);
  }
  renumbered.finalize();
  return renumbered;
}

SchedulingProblem braid::renumberProblem(const SchedulingProblem &problem,
                                         ArrayRef<unsigned> order) {
  std::vector<unsigned> placeOf = getPlaces(order);
  SchedulingProblem renumbered = problem;
  renumbered.graph = renumberGraph(problem.graph, order);
  if (!problem.demands.empty())
    for (auto [place, node] : enumerate(order))
      renumbered.demands[place] = problem.demands[node];

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
