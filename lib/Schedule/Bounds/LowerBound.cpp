//===- LowerBound.cpp - What no order can go below ------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/Bounds/LowerBound.h"

#include "KnapsackBound.h"
#include "LagrangianRelaxation.h"
#include "PrecedenceDag.h"
#include "Schedule/Model/Contention.h"
#include "StateSearch.h"
#include "TwoJobBound.h"
#include "braid/Support/Units.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>

using namespace braid;
using namespace llvm;

StringRef braid::stringifyLowerBoundKind(LowerBoundKind kind) {
  switch (kind) {
  case LowerBoundKind::CriticalPath:
    return "critical path";
  case LowerBoundKind::Stream:
    return "compute stream";
  case LowerBoundKind::Lane:
    return "lane";
  case LowerBoundKind::Link:
    return "link";
  case LowerBoundKind::Memory:
    return "memory bandwidth";
  case LowerBoundKind::Path:
    return "path with the work before and after it";
  case LowerBoundKind::StreamHeadTail:
    return "compute stream with head and tail";
  case LowerBoundKind::LaneHeadTail:
    return "lane with head and tail";
  case LowerBoundKind::LinkHeadTail:
    return "link with head and tail";
  case LowerBoundKind::MemoryHeadTail:
    return "memory bandwidth with head and tail";
  case LowerBoundKind::Availability:
    return "work that is available in time";
  case LowerBoundKind::TwoJobs:
    return "two chains that take turns";
  case LowerBoundKind::Contention:
    return "contention";
  case LowerBoundKind::Cycle:
    return "loop-carried cycle";
  }
  llvm_unreachable("unknown kind of bound");
}

int64_t LowerBounds::best() const {
  return *std::max_element(ns.begin(), ns.end());
}

LowerBoundKind LowerBounds::bestKind() const {
  return LowerBoundKind(std::max_element(ns.begin(), ns.end()) - ns.begin());
}

/// What two cycles need at least: from a start at its earliest to what awaits
/// it in the next iteration at its latest, and from there back to the start.
static int64_t getCycleBound(const SchedulingProblem &problem,
                             const PrecedenceDag &dag, ArrayRef<int64_t> heads,
                             ArrayRef<int64_t> tails) {
  // A few cycles say what all do: there are as many as prefetched operations.
  constexpr size_t maxCycles = 16;
  int64_t bound = 0;
  std::vector<int64_t> path(dag.size());
  for (auto [index, carried] : llvm::enumerate(problem.carriedAwaits)) {
    unsigned operation = dag.vertexOfNode[carried.start];
    unsigned issue = operation - 1;
    unsigned waiter = dag.vertexOfNode[carried.waiter];
    if (problem.graph[carried.waiter].kind == NodeKind::Start)
      --waiter;
    int64_t fromStart = addNs(heads[issue], dag.work[operation]);
    int64_t toEnd =
        addNs(dag.work[waiter], std::max<int64_t>(tails[waiter], 0));
    bound = std::max(bound,
                     addNs(fromStart, toEnd) / 2 + addNs(fromStart, toEnd) % 2);
    if (index >= maxCycles || waiter >= issue)
      continue;
    // From the waiter to the start in one iteration.
    std::fill(path.begin() + waiter, path.begin() + issue + 1, -1);
    path[waiter] = 0;
    for (unsigned vertex = waiter + 1; vertex <= issue; ++vertex)
      for (unsigned predecessor : dag.predecessors(vertex))
        if (predecessor >= waiter && path[predecessor] >= 0)
          path[vertex] = std::max(
              path[vertex], addNs(path[predecessor], dag.work[predecessor]));
    if (path[issue] >= 0)
      bound = std::max(bound, addNs(path[issue], dag.work[operation]));
  }
  return bound;
}

/// How long the stream stands idle for lack of what lanes bring, from the
/// beginning or, if `dag` is transposed, from the end.
static std::vector<IdleTime>
getStreamIdleTimes(const SchedulingProblem &problem, const PrecedenceDag &dag,
                   ArrayRef<int64_t> heads, size_t steps) {
  // More lanes than these are rare, and each takes its time.
  constexpr int32_t maxLanes = 4;
  int32_t numLanes = 0;
  for (unsigned start : problem.graph.starts())
    numLanes = std::max(numLanes, problem.graph[start].lane + 1);
  numLanes = std::min(numLanes, maxLanes);
  std::vector<IdleTime> result;
  for (int32_t lane = 0; lane != numLanes; ++lane)
    llvm::append_range(result, getIdleTimes(dag, heads, PrecedenceDag::onStream,
                                            lane, steps / numLanes));
  llvm::sort(result, [](const IdleTime &a, const IdleTime &b) {
    return std::pair(a.timeNs, a.idleNs) < std::pair(b.timeNs, b.idleNs);
  });
  return result;
}

/// The most time that the stream stands idle at the beginning and at the end
/// together, if every order takes at least `knownNs`, so that the two do not
/// overlap.
static int64_t getMostIdle(ArrayRef<IdleTime> atBegin, ArrayRef<IdleTime> atEnd,
                           int64_t knownNs) {
  int64_t most = 0, mostAtEnd = 0;
  const auto *next = atEnd.begin();
  for (const IdleTime &begin : llvm::reverse(atBegin)) {
    for (; next != atEnd.end() && addNs(begin.timeNs, next->timeNs) <= knownNs;
         ++next)
      mostAtEnd = std::max(mostAtEnd, next->idleNs);
    most = std::max(most, addNs(begin.idleNs, mostAtEnd));
  }
  for (const IdleTime &end : atEnd)
    most = std::max(most, end.idleNs);
  return most;
}

namespace {
/// What the bounds that take long may look at.
struct BoundBudget {
  size_t knapsackSteps = 15'000'000;
  size_t jobPoints = 0;

  constexpr BoundBudget operator/(size_t parts) const {
    return {knapsackSteps / parts, jobPoints / parts};
  }
};
} // namespace

static constexpr BoundBudget fullBudget = {200'000'000, 4'000'000};

/// Raises the bound of `kind` to `ns`.
static void raise(LowerBounds &bounds, LowerBoundKind kind, int64_t ns) {
  bounds.ns[size_t(kind)] = std::max(bounds.ns[size_t(kind)], ns);
}

/// The bounds of a problem but for what contention costs.
class LowerBoundFinder::GraphBounds {
public:
  GraphBounds(const SchedulingProblem &problem, const LowerBoundParts &parts);

  LowerBounds find(int64_t knownNs, BoundBudget budget) const;

private:
  void findPathBounds();
  void findResourceBounds();
  /// From the jobs of the stream, of each lane, of each link and of the memory.
  void findHeadTailBounds(std::vector<Job> stream,
                          std::vector<std::vector<Job>> lanes,
                          std::vector<std::vector<Job>> onLink,
                          std::vector<Job> onMemory);
  int64_t roundDown(int64_t ns) const;

  const SchedulingProblem &problem;
  LowerBoundParts parts;
  PrecedenceDag before, after;
  /// By vertex of `before`.
  std::vector<int64_t> heads, tails;
  /// What depends on no budget.
  LowerBounds basicBounds;
};

LowerBoundFinder::GraphBounds::GraphBounds(const SchedulingProblem &problem,
                                           const LowerBoundParts &parts)
    : problem(problem), parts(parts) {
  if (problem.graph.size() == 0)
    return;
  before = buildPrecedenceDag(problem);
  after = before.transpose();
  findPathBounds();
  // A refined vertex costs about as much as a longest path.
  constexpr size_t refinedVertices = 400'000;
  size_t maxRefined = parts.refinedHeads
                          ? std::max<size_t>(refinedVertices / before.size(), 2)
                          : 0;
  heads = before.getHeads(maxRefined);
  tails = after.getHeads(maxRefined);
  std::reverse(tails.begin(), tails.end());
  findResourceBounds();
}

void LowerBoundFinder::GraphBounds::findPathBounds() {
  for (auto [vertex, path] : llvm::enumerate(before.getLongestPaths()))
    if (!before.isOpen[vertex])
      raise(basicBounds, LowerBoundKind::CriticalPath,
            addNs(path, before.work[vertex]));
}

/// Shares are rounded, and the simulator lets an op end up to 1/1024 ns before
/// its work is done.
int64_t LowerBoundFinder::GraphBounds::roundDown(int64_t ns) const {
  return std::max<int64_t>(ns - problem.graph.size() / 512 - 1, 0);
}

void LowerBoundFinder::GraphBounds::findResourceBounds() {
  const ScheduleGraph &graph = problem.graph;
  const MachineModel &machine = problem.machine;
  // The jobs of each resource; of what is shared, the time that it takes at
  // full bandwidth.
  std::vector<Job> stream;
  std::vector<std::vector<Job>> lanes;
  std::vector<Job> onMemory;
  std::vector<std::vector<Job>> onLink(machine.linkBandwidth.size());
  int64_t memoryNs = 0;
  std::vector<int64_t> linkNs(onLink.size(), 0), laneNs;
  for (unsigned node = 0; node != graph.size(); ++node) {
    unsigned vertex = before.vertexOfNode[node];
    Job job{heads[vertex], before.work[vertex], tails[vertex]};
    if (job.tail >= 0)
      raise(basicBounds, LowerBoundKind::Path,
            addNs(job.head, addNs(job.work, job.tail)));
    if (job.work == 0)
      continue;
    bool isStart = graph[node].kind == NodeKind::Start;
    int32_t lane = isStart ? graph[node].lane : -1;
    if (isStart) {
      if (size_t(lane) >= lanes.size()) {
        lanes.resize(lane + 1);
        laneNs.resize(lane + 1, 0);
      }
      lanes[lane].push_back(job);
      laneNs[lane] = addNs(laneNs[lane], job.work);
    } else {
      stream.push_back(job);
      raise(basicBounds, LowerBoundKind::Stream,
            addNs(basicBounds.get(LowerBoundKind::Stream), job.work));
    }

    // Of a body, nothing but its least time is known.
    int64_t costNs = graph[node].cost;
    if (problem.demands.empty() || costNs == 0 ||
        problem.getLeastNs(node).value_or(costNs) < costNs)
      continue;
    const ResourceDemand &demand = problem.demands[node];
    auto share = [&](double part, int64_t &sum, std::vector<Job> &jobs) {
      Job shared = {job.head, takePart(costNs, part), job.tail};
      sum = addNs(sum, shared.work);
      if (shared.work > 0 && shared.tail >= 0)
        jobs.push_back(shared);
    };
    if (double rate = getMemoryDemand(costNs, demand, machine); rate > 0)
      share(rate / machine.memoryBandwidth, memoryNs, onMemory);
    int32_t link = isStart ? getLink(machine, lane) : -1;
    if (double rate = getLinkDemand(costNs, demand, machine, link); rate > 0)
      share(rate / machine.linkBandwidth[link], linkNs[link], onLink[link]);
  }

  for (auto [lane, work] : llvm::enumerate(laneNs)) {
    if (work > basicBounds.get(LowerBoundKind::Lane))
      basicBounds.lane = lane;
    raise(basicBounds, LowerBoundKind::Lane, work);
  }
  for (auto [link, work] : llvm::enumerate(linkNs)) {
    if (roundDown(work) > basicBounds.get(LowerBoundKind::Link))
      basicBounds.link = link;
    raise(basicBounds, LowerBoundKind::Link, roundDown(work));
  }
  raise(basicBounds, LowerBoundKind::Memory, roundDown(memoryNs));

  if (parts.headTail)
    findHeadTailBounds(std::move(stream), std::move(lanes), std::move(onLink),
                       std::move(onMemory));
}

void LowerBoundFinder::GraphBounds::findHeadTailBounds(
    std::vector<Job> stream, std::vector<std::vector<Job>> lanes,
    std::vector<std::vector<Job>> onLink, std::vector<Job> onMemory) {
  auto getMakespan = [](std::vector<Job> &jobs) {
    llvm::erase_if(jobs, [](const Job &job) { return job.tail < 0; });
    return getPreemptiveMakespan(std::move(jobs));
  };
  raise(basicBounds, LowerBoundKind::StreamHeadTail, getMakespan(stream));
  for (std::vector<Job> &operations : lanes)
    raise(basicBounds, LowerBoundKind::LaneHeadTail, getMakespan(operations));
  for (std::vector<Job> &jobs : onLink)
    raise(basicBounds, LowerBoundKind::LinkHeadTail,
          roundDown(getPreemptiveMakespan(std::move(jobs))));
  raise(basicBounds, LowerBoundKind::MemoryHeadTail,
        roundDown(getPreemptiveMakespan(std::move(onMemory))));
}

LowerBounds LowerBoundFinder::GraphBounds::find(int64_t knownNs,
                                                BoundBudget budget) const {
  LowerBounds bounds = basicBounds;
  if (problem.graph.size() == 0)
    return bounds;
  if (parts.knapsack) {
    std::vector<IdleTime> idleAtBegin =
        getStreamIdleTimes(problem, before, heads, budget.knapsackSteps);
    // By vertex of `after`.
    std::vector<int64_t> headsOfAfter(tails.rbegin(), tails.rend());
    std::vector<IdleTime> idleAtEnd =
        getStreamIdleTimes(problem, after, headsOfAfter, budget.knapsackSteps);
    if (int64_t idle = getMostIdle(idleAtBegin, idleAtEnd, bounds.best()))
      raise(bounds, LowerBoundKind::Availability,
            addNs(bounds.get(LowerBoundKind::Stream), idle));
  }
  if (!problem.carriedAwaits.empty())
    raise(bounds, LowerBoundKind::Cycle,
          getCycleBound(problem, before, heads, tails));
  if (bounds.best() >= knownNs)
    return bounds;

  int64_t streamNs = bounds.get(LowerBoundKind::Stream);
  if (parts.twoJobs && budget.jobPoints != 0)
    raise(bounds, LowerBoundKind::TwoJobs,
          addNs(streamNs,
                getTwoJobIdle(before, knownNs - streamNs, budget.jobPoints)));
  return bounds;
}

/// What no order can go below if ops slow each other down.
int64_t LowerBoundFinder::findContentionBound(int64_t knownNs,
                                              LowerBoundEffort effort) const {
  // The multiplier that is the best for the work of the stream may not be the
  // best for all bounds.
  constexpr double all[] = {0, 0.25, 0.5, 0.625, 0.75, 0.875, 1, 1.125, 1.25};
  constexpr double few[] = {0, 0.75, 1};
  bool isLarge = problem.graph.size() > 20'000;
  ArrayRef<double> factors = isLarge ? ArrayRef(few) : ArrayRef(all);
  std::vector<RelaxedProblem> relaxed = getRelaxedProblems(problem, factors);
  if (relaxed.empty())
    return 0;
  auto getBound = [&](size_t index, BoundBudget budget) {
    const RelaxedProblem &candidate = relaxed[index];
    LowerBounds inner = GraphBounds(candidate.problem, parts)
                            .find(candidate.getBoundOfProblem(knownNs), budget);
    return std::min(candidate.getBound(inner.best()), knownNs);
  };
  // The bound is about concave in the multiplier: hill climbing finds the best
  // factor, first downwards and then, if that gains nothing, upwards.
  constexpr BoundBudget budget = fullBudget / 2, smallBudget = fullBudget / 16;
  bool isFull = effort == LowerBoundEffort::Full;
  BoundBudget climbBudget = isFull ? budget : smallBudget;
  size_t chosen = llvm::find(factors, 1) - factors.begin();
  int64_t best = getBound(chosen, climbBudget);
  // Where a path takes longest, the least multipliers.
  if (best < knownNs)
    if (int64_t bound = getBound(0, climbBudget); bound > best) {
      best = bound;
      chosen = 0;
    }
  size_t first = chosen;
  for (bool isLess : {true, false}) {
    for (size_t index = first; best < knownNs;) {
      if (index == (isLess ? 0 : factors.size() - 1))
        break;
      isLess ? --index : ++index;
      int64_t bound = getBound(index, climbBudget);
      if (bound <= best)
        break;
      best = bound;
      chosen = index;
    }
    if (chosen != first)
      break;
  }
  if (!isFull && best < knownNs)
    best = std::max(best, getBound(chosen, budget));
  return best;
}

/// The least makespan of all orders of a small graph, or how far a search of
/// them has come.
static int64_t findStateBound(const SchedulingProblem &problem,
                              int64_t knownNs) {
  if (problem.graph.size() > maxStateNodes ||
      llvm::any_of(problem.leastNs, [&](auto entry) {
        return entry.second < problem.graph[entry.first].cost;
      }))
    return 0;
  SchedulingProblem unlimited = problem;
  unlimited.maxMemory.reset();
  unlimited.maxInFlight = 0;
  FlatProblem flat(unlimited);
  if (flat.timing != TimingModel::Contended)
    return 0;
  // About as many as the search takes.
  constexpr uint64_t maxSteps = 3'750'000;
  uint64_t steps = 0;
  return searchStates(flat, knownNs, maxSteps, steps).boundNs;
}

LowerBoundFinder::LowerBoundFinder(const SchedulingProblem &problem,
                                   const LowerBoundParts &parts)
    : problem(problem), parts(parts),
      graphBounds(std::make_unique<GraphBounds>(problem, parts)) {}

LowerBoundFinder::~LowerBoundFinder() = default;

LowerBounds LowerBoundFinder::find(int64_t knownNs, LowerBoundEffort effort) {
  bool isQuick = effort == LowerBoundEffort::Quick;
  bool hasContention = problem.machine.hasContention();
  if (!isQuick && !hasContention)
    return graphBounds->find(knownNs, fullBudget);
  if (!quickBounds)
    quickBounds = graphBounds->find(knownNs, BoundBudget());
  LowerBounds bounds = *quickBounds;
  if (!isQuick && parts.multipliers && bounds.best() < knownNs)
    raise(bounds, LowerBoundKind::Contention,
          findContentionBound(knownNs, effort));
  if (effort == LowerBoundEffort::Full && parts.states &&
      bounds.best() < knownNs)
    raise(bounds, LowerBoundKind::Contention, findStateBound(problem, knownNs));
  return bounds;
}

LowerBounds braid::computeLowerBounds(const SchedulingProblem &problem,
                                      int64_t knownNs, LowerBoundEffort effort,
                                      const LowerBoundParts &parts) {
  return LowerBoundFinder(problem, parts).find(knownNs, effort);
}

std::optional<double> braid::getGap(int64_t makespanNs, int64_t lowerBoundNs) {
  if (lowerBoundNs <= 0)
    return std::nullopt;
  return static_cast<double>(makespanNs) / static_cast<double>(lowerBoundNs) -
         1;
}
