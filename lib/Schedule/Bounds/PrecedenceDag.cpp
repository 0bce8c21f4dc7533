//===- PrecedenceDag.cpp - What has to end before what begins -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PrecedenceDag.h"

#include "braid/Support/Units.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <array>
#include <utility>

using namespace braid;
using namespace llvm;

int64_t braid::getPreemptiveMakespan(std::vector<Job> jobs) {
  llvm::sort(jobs, [](const Job &a, const Job &b) { return a.head < b.head; });
  // A heap of (tail, what is left) of the jobs that may run, by tail alone: an
  // interrupted job stays in its place.
  std::vector<std::pair<int64_t, int64_t>> ready;
  auto hasShorterTail = llvm::less_first();
  int64_t now = 0, makespan = 0;
  for (size_t next = 0; next != jobs.size() || !ready.empty();) {
    if (ready.empty())
      now = std::max(now, jobs[next].head);
    for (; next != jobs.size() && jobs[next].head <= now; ++next) {
      ready.emplace_back(jobs[next].tail, jobs[next].work);
      std::push_heap(ready.begin(), ready.end(), hasShorterTail);
    }
    auto &[tail, left] = ready.front();
    int64_t end = addNs(now, left);
    if (next != jobs.size() && jobs[next].head < end) {
      left = end - jobs[next].head;
      now = jobs[next].head;
      continue;
    }
    now = end;
    makespan = std::max(makespan, addNs(now, tail));
    std::pop_heap(ready.begin(), ready.end(), hasShorterTail);
    ready.pop_back();
  }
  return makespan;
}

PrecedenceDag PrecedenceDag::transpose() const {
  PrecedenceDag result;
  unsigned last = size() - 1;
  result.work.assign(work.rbegin(), work.rend());
  result.resource.assign(resource.rbegin(), resource.rend());
  result.isOpen.assign(isOpen.rbegin(), isOpen.rend());
  for (unsigned vertex : vertexOfNode)
    result.vertexOfNode.push_back(last - vertex);
  std::vector<std::pair<unsigned, unsigned>> edges;
  edges.reserve(predecessorsOf.numEntries());
  for (unsigned vertex = 0; vertex != size(); ++vertex)
    for (unsigned predecessor : predecessors(vertex))
      edges.emplace_back(last - predecessor, last - vertex);
  result.predecessorsOf = FlatLists(size(), edges);
  return result;
}

/// The head of `vertex` from those of its predecessors.
static int64_t getPathHead(const PrecedenceDag &dag, unsigned vertex,
                           ArrayRef<int64_t> heads) {
  int64_t head = dag.isOpen[vertex] ? -1 : 0;
  for (unsigned predecessor : dag.predecessors(vertex))
    if (heads[predecessor] >= 0)
      head = std::max(head, addNs(heads[predecessor], dag.work[predecessor]));
  return head;
}

std::vector<int64_t> PrecedenceDag::getLongestPaths() const {
  std::vector<int64_t> heads(size());
  for (unsigned vertex = 0; vertex != size(); ++vertex)
    heads[vertex] = getPathHead(*this, vertex, heads);
  return heads;
}

namespace {
/// A set of operations. Reading the edges takes longer than a word, so that a
/// set has several.
struct OperationSet {
  static constexpr size_t wordBits = 64, numWords = 4;

  std::array<uint64_t, numWords> words = {};

  void insert(size_t index) {
    words[index / wordBits] |= uint64_t(1) << (index % wordBits);
  }
  OperationSet &operator|=(const OperationSet &other) {
    for (size_t i = 0; i != numWords; ++i)
      words[i] |= other.words[i];
    return *this;
  }
  bool isIn(const OperationSet &first, const OperationSet &second) const {
    uint64_t missing = 0;
    for (size_t i = 0; i != numWords; ++i)
      missing |= words[i] & ~(first.words[i] | second.words[i]);
    return missing == 0;
  }
};
} // namespace

std::vector<uint32_t> PrecedenceDag::getGroupsBeside(
    ArrayRef<std::pair<unsigned, unsigned>> groupOf) const {
  // Of so many operations at once; of very many nothing is said.
  constexpr size_t blockSize = OperationSet::wordBits * OperationSet::numWords,
                   maxSteps = 200'000'000;
  size_t numWords = divideCeil(groupOf.size(), OperationSet::wordBits);
  std::vector<uint32_t> groups(size(), 0);
  if (numWords * (size() + predecessorsOf.numEntries()) > maxSteps) {
    for (auto [vertex, group] : groupOf)
      groups[0] |= 1u << group;
    std::fill(groups.begin(), groups.end(), groups[0]);
    return groups;
  }
  std::vector<OperationSet> before(size()), after(size());
  for (; !groupOf.empty();
       groupOf = groupOf.drop_front(std::min(blockSize, groupOf.size()))) {
    ArrayRef<std::pair<unsigned, unsigned>> block =
        groupOf.take_front(blockSize);
    std::fill(before.begin(), before.end(), OperationSet());
    std::fill(after.begin(), after.end(), OperationSet());
    std::array<OperationSet, 32> members;
    uint32_t present = 0;
    // Each is before and after itself.
    for (auto [index, entry] : llvm::enumerate(block)) {
      before[entry.first].insert(index);
      after[entry.first].insert(index);
      members[entry.second].insert(index);
      present |= 1u << entry.second;
    }
    for (unsigned vertex = 0; vertex != size(); ++vertex)
      for (unsigned predecessor : predecessors(vertex))
        before[vertex] |= before[predecessor];
    for (unsigned vertex = size(); vertex-- != 0;)
      for (unsigned predecessor : predecessors(vertex))
        after[predecessor] |= after[vertex];
    for (unsigned vertex = 0; vertex != size(); ++vertex)
      for (uint32_t left = present & ~groups[vertex]; left != 0;
           left &= left - 1) {
        unsigned group = countr_zero(left);
        if (!members[group].isIn(before[vertex], after[vertex]))
          groups[vertex] |= 1u << group;
      }
  }
  return groups;
}

std::vector<int64_t> PrecedenceDag::getLaneWorks(size_t count) const {
  std::vector<int64_t> works;
  for (unsigned vertex = 0; vertex != size(); ++vertex)
    if (resource[vertex] >= 0 && work[vertex] > 0)
      works.push_back(work[vertex]);
  llvm::sort(works);
  works.erase(llvm::unique(works), works.end());
  if (works.size() <= count)
    return works;
  std::vector<int64_t> chosen;
  for (size_t i = 1; i <= count; ++i)
    chosen.push_back(works[works.size() * i / count - 1]);
  return chosen;
}

std::vector<int64_t> PrecedenceDag::getTruncatedPaths(int64_t limitNs) const {
  std::vector<int64_t> paths(size());
  for (unsigned vertex = 0; vertex != size(); ++vertex) {
    paths[vertex] = isOpen[vertex] ? -1 : 0;
    for (unsigned predecessor : predecessors(vertex)) {
      // Nothing on the stream stands between operations of a lane.
      bool onLane = resource[vertex] >= 0 && resource[predecessor] >= 0;
      if (!onLane && paths[predecessor] >= 0)
        paths[vertex] = std::max(
            paths[vertex],
            addNs(paths[predecessor], std::min(work[predecessor], limitNs)));
    }
  }
  return paths;
}

namespace {

/// Finds what resources have to do before a vertex.
class HeadRefiner {
public:
  explicit HeadRefiner(const PrecedenceDag &dag)
      : dag(dag), paths(dag.size()), reachedBy(dag.size(), ~0u),
        limits(dag.getLaneWorks(4)), excess(limits.size()) {
    for (int64_t limit : limits)
      truncated.push_back(dag.getTruncatedPaths(limit));
    int32_t lanes = 0;
    for (int32_t resource : dag.resource)
      lanes = std::max(lanes, resource + 1);
    jobs.resize(lanes + 1);
  }

  /// A head of `vertex`; those of lower vertices are known.
  int64_t refine(unsigned vertex, ArrayRef<int64_t> heads) {
    for (std::vector<Job> &list : jobs)
      list.clear();
    std::fill(excess.begin(), excess.end(), 0);
    // The longest path from the end of each ancestor to `vertex`.
    reach(vertex, vertex, 0);
    for (unsigned ancestor = vertex; ancestor-- != 0;) {
      if (reachedBy[ancestor] != vertex)
        continue;
      reach(ancestor, vertex, addNs(paths[ancestor], dag.work[ancestor]));
      if (dag.work[ancestor] > 0 && heads[ancestor] >= 0 &&
          dag.resource[ancestor] != PrecedenceDag::onNothing)
        jobs[dag.resource[ancestor] + 1].push_back(
            {heads[ancestor], dag.work[ancestor], paths[ancestor]});
      if (dag.resource[ancestor] == PrecedenceDag::onStream)
        for (auto [limit, sum] : zip_equal(limits, excess))
          sum = addNs(sum, std::max<int64_t>(dag.work[ancestor] - limit, 0));
    }
    int64_t head = 0;
    for (auto [paths, sum] : zip_equal(truncated, excess))
      if (paths[vertex] >= 0)
        head = std::max(head, addNs(paths[vertex], sum));
    for (const std::vector<Job> &list : jobs)
      if (list.size() > 1)
        head = std::max(head, getPreemptiveMakespan(list));
    return head;
  }

private:
  void reach(unsigned from, unsigned target, int64_t path) {
    for (unsigned predecessor : dag.predecessors(from)) {
      if (reachedBy[predecessor] != target) {
        reachedBy[predecessor] = target;
        paths[predecessor] = 0;
      }
      paths[predecessor] = std::max(paths[predecessor], path);
    }
  }

  const PrecedenceDag &dag;
  std::vector<int64_t> paths;
  std::vector<unsigned> reachedBy;
  /// By resource, the stream first.
  std::vector<std::vector<Job>> jobs;
  /// By limit: its truncated paths, and what ops on the stream take beyond it.
  std::vector<int64_t> limits;
  std::vector<std::vector<int64_t>> truncated;
  std::vector<int64_t> excess;
};

} // namespace

std::vector<int64_t> PrecedenceDag::getHeads(size_t maxRefined) const {
  // Where only one edge leads to a vertex, there is nothing to add to it.
  std::vector<unsigned> joins;
  for (unsigned vertex = 0; vertex != size(); ++vertex)
    if (predecessors(vertex).size() > 1)
      joins.push_back(vertex);
  // Spread evenly; the last is among them.
  std::vector<unsigned> chosen;
  size_t count = std::min(joins.size(), maxRefined);
  for (size_t i = 1; i <= count; ++i)
    chosen.push_back(joins[joins.size() * i / count - 1]);

  HeadRefiner refiner(*this);
  std::vector<int64_t> heads(size());
  auto next = chosen.begin();
  for (unsigned vertex = 0; vertex != size(); ++vertex) {
    heads[vertex] = getPathHead(*this, vertex, heads);
    if (next == chosen.end() || *next != vertex)
      continue;
    ++next;
    if (heads[vertex] >= 0)
      heads[vertex] = std::max(heads[vertex], refiner.refine(vertex, heads));
  }
  return heads;
}

static bool isStart(const SchedulingProblem &problem, unsigned node) {
  return problem.graph[node].kind == NodeKind::Start;
}

static void addVertices(const SchedulingProblem &problem, PrecedenceDag &dag) {
  auto addVertex = [&](int64_t work, int32_t resource) {
    dag.work.push_back(work);
    dag.resource.push_back(resource);
    return unsigned(dag.work.size()) - 1;
  };
  for (unsigned node = 0; node != problem.graph.size(); ++node) {
    const ScheduleNode &info = problem.graph[node];
    std::optional<int64_t> leastNs = problem.getLeastNs(node);
    int64_t work = std::min(info.cost, leastNs.value_or(info.cost));
    if (isStart(problem, node)) {
      addVertex(0, PrecedenceDag::onNothing);
      dag.vertexOfNode.push_back(addVertex(work, info.lane));
      continue;
    }
    work = addNs(work,
                 problem.machine.getLaunchGap(info.cost, leastNs.has_value()));
    dag.vertexOfNode.push_back(addVertex(work, PrecedenceDag::onStream));
  }
}

namespace {
/// A vertex and one before it.
using Edges = std::vector<std::pair<unsigned, unsigned>>;
} // namespace

/// The vertex of the issue of a start, and that of any other node.
static unsigned getIssue(const SchedulingProblem &problem,
                         const PrecedenceDag &dag, unsigned node) {
  return dag.vertexOfNode[node] - (isStart(problem, node) ? 1 : 0);
}

static void addDependences(const SchedulingProblem &problem,
                           const PrecedenceDag &dag, Edges &edges) {
  auto await = problem.awaits.begin();
  for (unsigned node = 0; node != problem.graph.size(); ++node) {
    unsigned issue = getIssue(problem, dag, node);
    for (unsigned predecessor : problem.graph.predecessors(node)) {
      // Both are sorted, and what is awaited is an edge.
      if (await != problem.awaits.end() &&
          *await == std::pair(node, predecessor)) {
        edges.emplace_back(issue, dag.vertexOfNode[predecessor]);
        ++await;
      } else {
        edges.emplace_back(issue, getIssue(problem, dag, predecessor));
      }
    }
    if (isStart(problem, node))
      edges.emplace_back(dag.vertexOfNode[node], issue);
  }
}

/// Adds the chains of operations on lanes.
static void addLaneChains(const SchedulingProblem &problem,
                          const PrecedenceDag &dag, Edges &edges) {
  const ScheduleGraph &graph = problem.graph;
  // By node and lane: one more than the last start of the lane that has to be
  // issued before the node. Lanes beyond these few have no chains.
  constexpr unsigned maxLanes = 16;
  unsigned numLanes = 0;
  for (unsigned start : graph.starts())
    numLanes = std::max(numLanes, unsigned(graph[start].lane) + 1);
  numLanes = std::min(numLanes, maxLanes);
  std::vector<unsigned> last(size_t(graph.size()) * numLanes, 0);
  unsigned lastStart = ~0u;
  // The same where the order of the starts is that of the program.
  std::vector<unsigned> lastOfLane;
  for (unsigned node = 0; node != graph.size(); ++node) {
    unsigned *mine = last.data() + size_t(node) * numLanes;
    auto follow = [&](unsigned predecessor) {
      const unsigned *theirs = last.data() + size_t(predecessor) * numLanes;
      for (unsigned lane = 0; lane != numLanes; ++lane)
        mine[lane] = std::max(mine[lane], theirs[lane]);
      if (isStart(problem, predecessor) &&
          unsigned(graph[predecessor].lane) < numLanes)
        mine[graph[predecessor].lane] =
            std::max(mine[graph[predecessor].lane], predecessor + 1);
    };
    for (unsigned predecessor : graph.predecessors(node))
      follow(predecessor);
    if (!isStart(problem, node))
      continue;
    unsigned lane = graph[node].lane;
    unsigned before = lane < numLanes ? mine[lane] : 0;
    if (problem.keepOrderOfStarts) {
      if (lastStart != ~0u)
        edges.emplace_back(getIssue(problem, dag, node),
                           getIssue(problem, dag, lastStart));
      lastStart = node;
      if (lane >= lastOfLane.size())
        lastOfLane.resize(lane + 1, 0);
      before = std::exchange(lastOfLane[lane], node + 1);
    }
    if (before != 0)
      edges.emplace_back(dag.vertexOfNode[node], dag.vertexOfNode[before - 1]);
  }
}

/// Adds the launch of each operation whose lane is always free when it is
/// issued. Nothing else runs on the lane meanwhile.
static void addLaunches(const SchedulingProblem &problem, PrecedenceDag &dag) {
  const MachineModel &machine = problem.machine;
  if (!machine.isQueued() || machine.laneLaunchNs == 0 ||
      !problem.carriedAwaits.empty())
    return;
  constexpr int32_t lastGroup = 31;
  auto getGroup = [&](unsigned start) -> unsigned {
    return std::min(problem.graph[start].lane, lastGroup);
  };
  std::vector<std::pair<unsigned, unsigned>> groupOf;
  for (unsigned start : problem.graph.starts())
    groupOf.emplace_back(dag.vertexOfNode[start], getGroup(start));
  std::vector<uint32_t> beside = dag.getGroupsBeside(groupOf);
  for (unsigned start : problem.graph.starts()) {
    unsigned operation = dag.vertexOfNode[start];
    if (problem.graph[start].cost != 0 &&
        !(beside[operation - 1] & (1u << getGroup(start))))
      dag.work[operation] = addNs(dag.work[operation], machine.laneLaunchNs);
  }
}

PrecedenceDag braid::buildPrecedenceDag(const SchedulingProblem &problem) {
  const ScheduleGraph &graph = problem.graph;
  PrecedenceDag dag;
  addVertices(problem, dag);
  Edges edges;
  edges.reserve(graph.numEdges() + problem.awaits.size() +
                3 * graph.starts().size());
  addDependences(problem, dag, edges);
  addLaneChains(problem, dag, edges);
  // An operation that the next iteration awaits may outlast this one.
  dag.isOpen.assign(dag.size(), false);
  if (!problem.carriedAwaits.empty())
    for (unsigned start : graph.starts())
      dag.isOpen[dag.vertexOfNode[start]] = true;
  dag.predecessorsOf = FlatLists(dag.size(), edges);
  addLaunches(problem, dag);
  return dag;
}
