//===- MemoryProblems.cpp - Problems with memory, for tests ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MemoryProblems.h"

#include "braid/Schedule/Simulation/SimulatedOrder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <random>

using namespace braid;
using namespace braid::test;

std::string NamedProblem::print(llvm::ArrayRef<unsigned> order) const {
  return llvm::join(
      llvm::map_range(order, [&](unsigned node) { return names[node]; }), ",");
}

unsigned NamedProblem::get(llvm::StringRef name) const {
  auto it = llvm::find(names, name);
  if (it == names.end())
    llvm::report_fatal_error("unknown node: " + name);
  return it - names.begin();
}

/// Says that every node but a start awaits the starts that stand before it.
static void addAwaits(SchedulingProblem &problem) {
  const ScheduleGraph &graph = problem.graph;
  for (unsigned node = 0; node != graph.size(); ++node)
    for (unsigned predecessor : graph.predecessors(node))
      if (graph[predecessor].kind == NodeKind::Start &&
          (graph[node].kind == NodeKind::Wait ||
           graph[node].kind == NodeKind::Compute))
        problem.awaits.emplace_back(node, predecessor);
}

NamedProblem test::parseProblem(llvm::StringRef program,
                                llvm::StringRef buffers) {
  NamedGraph graph = parseGraph(program);
  NamedProblem result;
  result.problem.graph = std::move(graph.graph);
  result.names = std::move(graph.names);
  addAwaits(result.problem);
  for (llvm::StringRef text : llvm::split(buffers, ',')) {
    llvm::SmallVector<llvm::StringRef> words;
    llvm::SplitString(text, words);
    if (words.empty())
      continue;
    GraphBuffer buffer;
    buffer.escapes = words.front().consume_back("!");
    if (words.front().getAsInteger(10, buffer.bytes))
      llvm::report_fatal_error("not a number of bytes: " + words.front());
    for (llvm::StringRef name : llvm::drop_begin(words))
      buffer.users.push_back(result.get(name));
    result.problem.buffers.push_back(std::move(buffer));
  }
  return result;
}

SchedulingProblem test::makeMemoryProblem(uint64_t seed,
                                          const RandomGraphOptions &options) {
  ScheduleGraph base = makeRandomGraph(seed, options);
  std::mt19937_64 engine(seed + 1);
  auto below = [&](uint64_t bound) { return bound ? engine() % bound : 0; };

  SchedulingProblem problem;
  ScheduleGraph &graph = problem.graph;
  std::vector<unsigned> starts;
  for (unsigned node = 0; node != base.size(); ++node) {
    graph.addNode(base[node]);
    for (unsigned predecessor : base.predecessors(node))
      graph.addEdge(predecessor, node);
    if (base[node].kind == NodeKind::Start)
      starts.push_back(node);
    else if (base[node].kind == NodeKind::Compute && !starts.empty() &&
             below(16) == 0)
      graph.addEdge(starts[below(starts.size())], node);
  }
  graph.finalize();
  addAwaits(problem);

  for (unsigned node = 0; node != graph.size(); ++node) {
    if (below(4) == 0)
      continue;
    GraphBuffer buffer;
    buffer.bytes = below(100);
    buffer.escapes = below(10) == 0;
    buffer.users.push_back(node);
    for (unsigned successor : graph.successors(node))
      if (graph[successor].kind != NodeKind::Opaque && below(4) != 0)
        buffer.users.push_back(successor);
    problem.buffers.push_back(std::move(buffer));
    if (below(8) == 0)
      problem.transientBytes.emplace_back(node, below(50));
  }
  // Buffers that order nothing: whoever comes first allocates.
  for (uint64_t i = 0, n = graph.size() / 8; i < n; ++i) {
    GraphBuffer buffer;
    buffer.bytes = below(100);
    for (unsigned node = below(graph.size());
         node < graph.size() && buffer.users.size() < 5; node += 1 + below(9))
      buffer.users.push_back(node);
    problem.buffers.push_back(std::move(buffer));
  }
  problem.liveBytes = below(100);
  return problem;
}

//===----------------------------------------------------------------------===//
// The rules, word by word
//===----------------------------------------------------------------------===//

static bool holdsStream(const SchedulingProblem &problem, unsigned node) {
  return problem.graph[node].kind == NodeKind::Wait ||
         !problem.getAwaitedStarts(node).empty();
}

ScheduleOrder test::listScheduleNaively(const SchedulingProblem &problem,
                                        const ListScheduleOptions &options) {
  const ScheduleGraph &graph = problem.graph;
  // The starts that have to follow each node.
  std::vector<unsigned> first(graph.size(), ~0u);
  for (unsigned i = graph.starts().size(); i-- != 0;) {
    std::vector<bool> blocks(graph.size(), false);
    blocks[graph.starts()[i]] = true;
    for (unsigned node = graph.size(); node-- != 0;) {
      for (unsigned successor : graph.successors(node))
        if (blocks[successor])
          blocks[node] = true;
      if (blocks[node] && options.raise)
        first[node] = i;
    }
  }
  auto key = [&](unsigned node) {
    return std::tuple(first[node], options.sink && holdsStream(problem, node),
                      node);
  };

  ScheduleOrder order;
  std::vector<bool> done(graph.size(), false);
  auto takeBest = [&](auto isCandidate) -> std::optional<unsigned> {
    std::optional<unsigned> best;
    for (unsigned node = 0; node != graph.size(); ++node) {
      bool ready = !done[node] && llvm::all_of(graph.predecessors(node),
                                               [&](unsigned predecessor) {
                                                 return done[predecessor];
                                               });
      if (problem.keepOrderOfStarts && graph[node].kind == NodeKind::Start)
        for (unsigned start : graph.starts())
          ready &= start >= node || done[start];
      if (ready && isCandidate(node) && (!best || key(node) < key(*best)))
        best = node;
    }
    if (best) {
      done[*best] = true;
      order.push_back(*best);
    }
    return best;
  };
  while (std::optional<unsigned> node =
             takeBest([](unsigned) { return true; })) {
    if (!options.reorder || graph[*node].kind != NodeKind::Start)
      continue;
    int64_t left = graph[*node].cost;
    while (left > 0) {
      std::optional<unsigned> filler = takeBest([&](unsigned other) {
        return graph[other].kind == NodeKind::Compute &&
               !holdsStream(problem, other);
      });
      if (!filler)
        break;
      left -= graph[*filler].cost;
    }
  }
  return order;
}

ScheduleOrder test::simpleOverlapNaively(const SchedulingProblem &problem) {
  const ScheduleGraph &graph = problem.graph;
  ScheduleOrder program = getProgramOrder(graph), order = program;
  int64_t peak = simulateOrder(problem, order).peakBytes;
  auto trySwap = [&](size_t index, NodeKind kind, unsigned other) {
    if (graph[other].kind == kind)
      return false;
    std::swap(order[index], order[index + 1]);
    if (isAllowedOrder(problem, order) &&
        simulateOrder(problem, order).peakBytes <= peak)
      return true;
    std::swap(order[index], order[index + 1]);
    return false;
  };
  for (unsigned node : program) {
    if (graph[node].kind != NodeKind::Start)
      continue;
    size_t index = llvm::find(order, node) - order.begin();
    while (index != 0 && trySwap(index - 1, NodeKind::Start, order[index - 1]))
      --index;
  }
  for (unsigned node : llvm::reverse(program)) {
    if (graph[node].kind != NodeKind::Wait)
      continue;
    size_t index = llvm::find(order, node) - order.begin();
    while (index + 1 != order.size() &&
           trySwap(index, NodeKind::Wait, order[index + 1]))
      ++index;
  }
  return order;
}

namespace {
/// What the two iterative algorithms share.
struct Naive {
  Naive(const SchedulingProblem &problem, const IterativeOptions &options)
      : problem(problem), graph(problem.graph), options(options),
        order(getProgramOrder(graph)) {
    peak = simulateOrder(problem, order).peakBytes;
  }

  double runtime(unsigned node) const {
    bool isStart = graph[node].kind == NodeKind::Start;
    return std::round(
        double(graph[node].cost) *
        (isStart ? options.commRuntimeMult : options.computeRuntimeMult));
  }

  /// Compute beside `start`.
  double comp(llvm::ArrayRef<unsigned> order, unsigned start) const {
    double ns = 0;
    std::vector<unsigned> later = {start};
    for (unsigned node : llvm::drop_begin(order, llvm::find(order, start) -
                                                     order.begin() + 1)) {
      if (graph[node].kind == NodeKind::Start) {
        if (graph[node].lane == graph[start].lane)
          later.push_back(node);
        continue;
      }
      if (llvm::any_of(problem.getAwaitedStarts(node), [&](unsigned awaited) {
            return llvm::is_contained(later, awaited);
          }))
        return ns;
      ns += runtime(node);
    }
    return ns;
  }
  double exposed(llvm::ArrayRef<unsigned> order, unsigned start) const {
    return std::max(0.0, runtime(start) - comp(order, start));
  }
  double exposed(llvm::ArrayRef<unsigned> order,
                 const std::vector<unsigned> &starts) const {
    double ns = 0;
    for (unsigned start : starts)
      ns += exposed(order, start);
    return ns;
  }
  bool isHidden(const MoveStatistics &statistics) const {
    return options.useRuntimeEstimations &&
           statistics.getFinalExposedNs() <
               -options.extraOverlap * statistics.commNs;
  }
  bool fits(llvm::ArrayRef<unsigned> order) const {
    int64_t now = simulateOrder(problem, order).peakBytes;
    return double(now - peak) <= double(peak) * options.peakMemoryBudget;
  }
  bool mayDrag(unsigned node, MoveStatistics &statistics) const {
    if (graph[node].kind == NodeKind::Start && !options.groupWithCollectives)
      statistics.limit.kind = LimitingFactor::DataDependency;
    else if (!options.isMatmul.empty() && options.isMatmul[node] &&
             !options.useRuntimeEstimations)
      statistics.limit.kind = LimitingFactor::MatmulDependency;
    return statistics.limit.kind == LimitingFactor::None;
  }

  const SchedulingProblem &problem;
  const ScheduleGraph &graph;
  const IterativeOptions &options;
  ScheduleOrder order;
  int64_t peak;
};
} // namespace

IterativeResult
test::reorderIterativelyNaively(const SchedulingProblem &problem,
                                const IterativeOptions &options) {
  Naive naive(problem, options);
  const ScheduleGraph &graph = problem.graph;
  ScheduleOrder &order = naive.order;
  IterativeResult result;
  for (unsigned start : graph.starts()) {
    MoveStatistics statistics;
    statistics.node = start;
    statistics.commNs = naive.runtime(start);
    statistics.initialCompNs = naive.comp(order, start);
    size_t head = llvm::find(order, start) - order.begin(), tail = head;
    while (true) {
      statistics.finalCompNs = naive.comp(order, start);
      auto stop = [&](LimitingFactor::Kind kind) {
        statistics.limit.kind = kind;
      };
      if (head == 0)
        break;
      if (naive.isHidden(statistics)) {
        stop(LimitingFactor::Unexposed);
        break;
      }
      unsigned candidate = order[head - 1];
      bool isStart = graph[candidate].kind == NodeKind::Start;
      bool needed = false;
      for (size_t i = head; i <= tail; ++i)
        needed |= graph.hasEdge(candidate, order[i]);
      if (needed) {
        if (!naive.mayDrag(candidate, statistics))
          break;
        statistics.grouped.push_back(candidate);
        --head;
        continue;
      }
      if (isStart &&
          (!options.reorderCollectives || problem.keepOrderOfStarts)) {
        stop(LimitingFactor::CollectiveOrdering);
        break;
      }
      ScheduleOrder moved = order;
      std::rotate(moved.begin() + head - 1, moved.begin() + head,
                  moved.begin() + tail + 1);
      double dragged = 0;
      std::vector<unsigned> affected = {start};
      for (unsigned node : statistics.grouped) {
        if (graph[node].kind != NodeKind::Start)
          dragged += naive.runtime(node);
        for (unsigned awaited : problem.getAwaitedStarts(node))
          if (!llvm::is_contained(affected, awaited))
            affected.push_back(awaited);
      }
      if (options.useRuntimeEstimations && isStart && dragged > 0) {
        double comm = naive.runtime(candidate);
        double comp = naive.comp(order, candidate);
        if (std::max(0.0, comm - comp + dragged) > std::max(0.0, comm - comp)) {
          stop(LimitingFactor::ExposedCandidate);
          break;
        }
      }
      if (options.useRuntimeEstimations && !isStart &&
          naive.runtime(candidate) > 0 &&
          naive.exposed(moved, affected) > naive.exposed(order, affected)) {
        stop(LimitingFactor::ExposedGroup);
        break;
      }
      if (!naive.fits(moved)) {
        stop(LimitingFactor::PeakMemory);
        break;
      }
      order = moved;
      --head;
      --tail;
      ++statistics.moves;
    }
    result.statistics.push_back(std::move(statistics));
  }
  result.order = order;
  return result;
}

IterativeResult test::sinkIterativelyNaively(const SchedulingProblem &problem,
                                             const IterativeOptions &options) {
  Naive naive(problem, options);
  const ScheduleGraph &graph = problem.graph;
  ScheduleOrder &order = naive.order;
  IterativeResult result;
  for (unsigned wait = graph.size(); wait-- != 0;) {
    if (graph[wait].kind != NodeKind::Wait)
      continue;
    MoveStatistics statistics;
    statistics.node = wait;
    std::vector<unsigned> affected;
    double most = 0;
    for (unsigned start : problem.getAwaitedStarts(wait)) {
      double exposed = naive.runtime(start) - naive.comp(order, start);
      if (!affected.empty() && exposed <= most)
        continue;
      affected = {start};
      most = exposed;
    }
    if (!affected.empty()) {
      statistics.commNs = naive.runtime(affected.front());
      statistics.initialCompNs = naive.comp(order, affected.front());
    }
    size_t head = llvm::find(order, wait) - order.begin(), tail = head;
    double dragged = 0;
    bool dragsStart = false;
    while (true) {
      auto stop = [&](LimitingFactor::Kind kind) {
        statistics.limit.kind = kind;
      };
      if (statistics.commNs != 0 || !affected.empty())
        statistics.finalCompNs = naive.comp(order, affected.front());
      if (tail + 1 == order.size())
        break;
      if (naive.isHidden(statistics)) {
        stop(LimitingFactor::Unexposed);
        break;
      }
      unsigned candidate = order[tail + 1];
      bool isStart = graph[candidate].kind == NodeKind::Start;
      bool needs = false;
      for (size_t i = head; i <= tail; ++i)
        needs |= graph.hasEdge(order[i], candidate);
      if (needs) {
        if (holdsStream(problem, candidate)) {
          stop(LimitingFactor::DataDependency);
          break;
        }
        if (!naive.mayDrag(candidate, statistics))
          break;
        statistics.grouped.push_back(candidate);
        ++tail;
        if (!isStart) {
          dragged += naive.runtime(candidate);
        } else {
          dragsStart = true;
          affected.push_back(candidate);
        }
        continue;
      }
      if (isStart && (!options.swapWithCollectives || dragsStart)) {
        stop(LimitingFactor::CollectiveOrdering);
        break;
      }
      ScheduleOrder moved = order;
      std::rotate(moved.begin() + head, moved.begin() + tail + 1,
                  moved.begin() + tail + 2);
      if (options.useRuntimeEstimations && dragged > 0) {
        bool worse = false;
        for (unsigned start : problem.getAwaitedStarts(candidate))
          worse |= naive.exposed(moved, start) > naive.exposed(order, start);
        if (worse) {
          stop(LimitingFactor::ExposedCandidate);
          break;
        }
      }
      if (options.useRuntimeEstimations && dragsStart && !isStart &&
          naive.runtime(candidate) > 0 &&
          naive.exposed(moved, affected) > naive.exposed(order, affected)) {
        stop(LimitingFactor::ExposedGroup);
        break;
      }
      if (!naive.fits(moved)) {
        stop(LimitingFactor::PeakMemory);
        break;
      }
      order = moved;
      ++head;
      ++tail;
      ++statistics.moves;
    }
    result.statistics.push_back(std::move(statistics));
  }
  result.order = order;
  return result;
}
