//===- ScheduleCandidates.cpp - What the other passes give ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedule/Model/RenumberedProblem.h"
#include "braid/Schedule/Baselines/Inductor/IterativeOverlap.h"
#include "braid/Schedule/Baselines/Inductor/RaiseCollectives.h"
#include "braid/Schedule/Baselines/Inductor/ReorderComputeForOverlap.h"
#include "braid/Schedule/Baselines/Inductor/SimpleOverlap.h"
#include "braid/Schedule/Baselines/ListSchedule.h"
#include "braid/Schedule/Baselines/XLA/LatencyHidingSchedule.h"
#include "braid/Schedule/Search/SearchSchedule.h"

#include "llvm/ADT/STLExtras.h"

using namespace braid;

namespace {
/// Algorithms that know nothing of lanes, machines or limits: one after the
/// other, each on what the one before has left.
struct GraphAlgorithms {
  const char *name;
  llvm::SmallVector<ScheduleOrder (*)(const ScheduleGraph &), 3> steps;
};

/// Algorithms that read the whole problem.
struct ProblemAlgorithm {
  const char *name;
  ScheduleOrder (*run)(const SchedulingProblem &);
};
} // namespace

static ScheduleOrder runInTurn(const ScheduleGraph &graph,
                               const GraphAlgorithms &algorithms) {
  ScheduleOrder order = algorithms.steps.front()(graph);
  for (auto step : llvm::drop_begin(algorithms.steps)) {
    ScheduleOrder further = step(renumberGraph(graph, order));
    for (unsigned &node : further)
      node = order[node];
    order = std::move(further);
  }
  return order;
}

/// The program as it stands.
static ScheduleOrder keepProgram(const SchedulingProblem &problem) {
  return getProgramOrder(problem.graph);
}

/// What an earlier start needs first, what holds the stream last, and compute
/// behind each start.
static ScheduleOrder runListSchedule(const SchedulingProblem &problem) {
  return listSchedule(problem,
                      {/*raise=*/true, /*sink=*/true, /*reorder=*/true});
}

/// The same without compute behind starts.
static ScheduleOrder runListRaiseAndSink(const SchedulingProblem &problem) {
  return listSchedule(problem,
                      {/*raise=*/true, /*sink=*/true, /*reorder=*/false});
}

/// The same by one of the two alone.
static ScheduleOrder runListRaise(const SchedulingProblem &problem) {
  return listSchedule(problem,
                      {/*raise=*/true, /*sink=*/false, /*reorder=*/false});
}
static ScheduleOrder runListSink(const SchedulingProblem &problem) {
  return listSchedule(problem,
                      {/*raise=*/false, /*sink=*/true, /*reorder=*/false});
}

/// The iterative passes as they are without options.
static ScheduleOrder
runReorderPreservingPeakMemory(const SchedulingProblem &problem) {
  return reorderPreservingPeakMemory(problem, getProgramOrder(problem.graph),
                                     IterativeOptions())
      .order;
}
static ScheduleOrder runSinkWaitsIterative(const SchedulingProblem &problem) {
  return sinkWaitsIterative(problem, getProgramOrder(problem.graph),
                            IterativeOptions())
      .order;
}

static ScheduleOrder runSimpleOverlap(const SchedulingProblem &problem) {
  return simpleOverlap(problem, getProgramOrder(problem.graph));
}

/// Waits down, then starts up, then waits down again, at the costs given.
static ScheduleOrder runIterative(const SchedulingProblem &problem) {
  IterativeOptions options;
  options.useRuntimeEstimations = true;
  options.reorderCollectives = options.swapWithCollectives = true;
  ScheduleOrder order =
      listSchedule(problem, {/*raise=*/false, /*sink=*/true, false});
  order = reorderPreservingPeakMemory(problem, order, options).order;
  return sinkWaitsIterative(problem, order, options).order;
}

/// As XLA does.
static ScheduleOrder runLatencyHiding(const SchedulingProblem &problem) {
  return latencyHidingSchedule(problem).order;
}

static constexpr ProblemAlgorithm algorithmsOfProblem[] = {
    {"program order", keepProgram},
    {"list", runListSchedule},
    {"list without compute behind starts", runListRaiseAndSink},
    {"list, raise alone", runListRaise},
    {"list, sink alone", runListSink},
    {"simple overlap", runSimpleOverlap},
    {"sink waits iterative", runSinkWaitsIterative},
    {"reorder preserving peak memory", runReorderPreservingPeakMemory},
    {"iterative", runIterative},
    {"latency hiding", runLatencyHiding},
};

static llvm::ArrayRef<GraphAlgorithms> getAlgorithmsOfGraph() {
  static const GraphAlgorithms algorithms[] = {
      {"sink waits", {sinkWaits}},
      {"raise collectives", {raiseCollectives}},
      {"raise collectives with producers", {raiseCollectivesWithProducers}},
      {"reorder compute for overlap", {reorderComputeForOverlap}},
      {"raise, sink", {raiseCollectives, sinkWaits}},
      {"raise with producers, sink",
       {raiseCollectivesWithProducers, sinkWaits}},
      {"raise, sink, reorder",
       {raiseCollectives, sinkWaits, reorderComputeForOverlap}},
      {"reorder, sink, raise",
       {reorderComputeForOverlap, sinkWaits, raiseCollectives}},
  };
  return algorithms;
}

std::vector<ScheduleCandidate>
braid::getScheduleCandidates(const SchedulingProblem &problem) {
  std::vector<ScheduleCandidate> candidates;
  for (const ProblemAlgorithm &algorithm : algorithmsOfProblem)
    candidates.push_back({algorithm.name, algorithm.run(problem)});
  for (const GraphAlgorithms &algorithms : getAlgorithmsOfGraph())
    candidates.push_back(
        {algorithms.name, runInTurn(problem.graph, algorithms)});
  return candidates;
}

std::vector<llvm::StringRef> braid::getScheduleCandidateNames() {
  std::vector<llvm::StringRef> names;
  for (const ProblemAlgorithm &algorithm : algorithmsOfProblem)
    names.push_back(algorithm.name);
  for (const GraphAlgorithms &algorithms : getAlgorithmsOfGraph())
    names.push_back(algorithms.name);
  return names;
}

std::optional<ScheduleOrder>
braid::getScheduleCandidate(const SchedulingProblem &problem,
                            llvm::StringRef name) {
  for (const ProblemAlgorithm &algorithm : algorithmsOfProblem)
    if (name == algorithm.name)
      return algorithm.run(problem);
  for (const GraphAlgorithms &algorithms : getAlgorithmsOfGraph())
    if (name == algorithms.name)
      return runInTurn(problem.graph, algorithms);
  return std::nullopt;
}
