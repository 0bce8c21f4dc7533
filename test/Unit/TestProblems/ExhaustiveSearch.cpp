//===- ExhaustiveSearch.cpp - Best orders of small graphs -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExhaustiveSearch.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <set>

using namespace braid;
using namespace braid::test;

namespace {

using Set = uint32_t;

/// What can still make a difference after the nodes of a set have run.
struct State {
  int64_t streamNs = 0;
  std::vector<int64_t> laneNs;
  /// Ends of the operations that somebody may still await; 0 for all others.
  std::vector<int64_t> endNs;

  bool operator<(const State &other) const {
    return std::tie(streamNs, laneNs, endNs) <
           std::tie(other.streamNs, other.laneNs, other.endNs);
  }
};

/// The rules, straight from the description of the problem.
struct Rules {
  explicit Rules(const SchedulingProblem &problem)
      : problem(problem), graph(problem.graph) {
    assert(graph.size() <= 32 && "sets of nodes are words");
  }

  static bool contains(Set set, unsigned node) { return set >> node & 1; }

  bool mayFollow(Set done, unsigned node) const {
    if (contains(done, node))
      return false;
    for (unsigned predecessor : graph.predecessors(node))
      if (!contains(done, predecessor))
        return false;
    if (graph[node].kind != NodeKind::Start)
      return true;
    if (problem.keepOrderOfStarts)
      for (unsigned start : graph.starts())
        if (start < node && !contains(done, start))
          return false;
    if (problem.maxInFlight == 0)
      return true;
    unsigned inFlight = 0;
    for (unsigned start : graph.starts())
      inFlight += contains(done, start) &&
                  graph[start].lane == graph[node].lane &&
                  !isAwaited(done, start);
    return inFlight < problem.maxInFlight;
  }

  bool isAwaited(Set done, unsigned start) const {
    return llvm::any_of(problem.awaits, [&](std::pair<unsigned, unsigned> it) {
      return it.second == start && contains(done, it.first);
    });
  }

  /// The bytes that live while `node` follows the nodes of `done`.
  int64_t getBytes(Set done, unsigned node) const {
    int64_t bytes = problem.liveBytes;
    for (const GraphBuffer &buffer : problem.buffers) {
      bool begun = false, ended = !buffer.escapes;
      for (unsigned user : buffer.users) {
        begun |= contains(done, user) || user == node;
        ended &= contains(done, user);
      }
      if (begun && !ended)
        bytes += buffer.bytes;
    }
    for (auto [which, transient] : problem.transientBytes)
      if (which == node)
        bytes += transient;
    return bytes;
  }

  bool fits(Set done, unsigned node) const {
    return !problem.maxMemory || getBytes(done, node) <= *problem.maxMemory;
  }

  State run(State state, Set done, unsigned node) const {
    const ScheduleNode &info = graph[node];
    if (info.kind == NodeKind::Start) {
      int64_t &laneNs = state.laneNs[info.lane];
      laneNs = std::max(laneNs, state.streamNs) + info.cost;
      state.endNs[node] = laneNs;
    } else {
      for (auto [waiter, start] : problem.awaits)
        if (waiter == node)
          state.streamNs = std::max(state.streamNs, state.endNs[start]);
      if (info.cost > 0)
        state.streamNs += info.cost + problem.machine.launchNs;
    }
    done |= Set(1) << node;
    for (unsigned start : graph.starts())
      if (llvm::all_of(problem.awaits, [&](std::pair<unsigned, unsigned> it) {
            return it.second != start || contains(done, it.first);
          }))
        state.endNs[start] = 0;
    return state;
  }

  /// The stream and each lane still have to do what is missing.
  int64_t getLeastEnd(const State &state, Set done) const {
    int64_t streamNs = state.streamNs;
    std::vector<int64_t> laneNs = state.laneNs;
    for (unsigned node = 0; node != graph.size(); ++node) {
      const ScheduleNode &info = graph[node];
      if (contains(done, node))
        continue;
      if (info.kind == NodeKind::Start)
        laneNs[info.lane] += info.cost;
      else
        streamNs += info.cost;
    }
    for (int64_t ns : laneNs)
      streamNs = std::max(streamNs, ns);
    return streamNs;
  }

  const SchedulingProblem &problem;
  const ScheduleGraph &graph;
};

} // namespace

std::optional<int64_t>
test::findLeastMakespanExhaustively(const SchedulingProblem &problem,
                                    std::optional<int64_t> knownNs) {
  Rules rules(problem);
  unsigned size = problem.graph.size();
  State begin;
  for (unsigned start : problem.graph.starts())
    begin.laneNs.resize(
        std::max<size_t>(begin.laneNs.size(), problem.graph[start].lane + 1));
  begin.endNs.resize(size);
  std::map<Set, std::set<State>> layer = {{0, {begin}}};
  for (unsigned count = 0; count != size; ++count) {
    std::map<Set, std::set<State>> next;
    for (const auto &[done, states] : layer)
      for (unsigned node = 0; node != size; ++node) {
        if (!rules.mayFollow(done, node) || !rules.fits(done, node))
          continue;
        Set set = done | Set(1) << node;
        std::set<State> &reached = next[set];
        for (const State &state : states) {
          State after = rules.run(state, done, node);
          if (!knownNs || rules.getLeastEnd(after, set) < *knownNs)
            reached.insert(std::move(after));
        }
      }
    layer = std::move(next);
  }
  std::optional<int64_t> least = knownNs;
  for (const auto &[done, states] : layer)
    for (const State &state : states) {
      int64_t endNs = rules.getLeastEnd(state, done);
      least = std::min(least.value_or(endNs), endNs);
    }
  return least;
}

std::optional<int64_t>
test::findLeastPeakExhaustively(const SchedulingProblem &problem) {
  Rules rules(problem);
  unsigned size = problem.graph.size();
  std::map<Set, int64_t> layer = {{0, problem.liveBytes}};
  for (unsigned count = 0; count != size; ++count) {
    std::map<Set, int64_t> next;
    for (auto [done, before] : layer)
      for (unsigned node = 0; node != size; ++node) {
        if (!rules.mayFollow(done, node))
          continue;
        int64_t peak = std::max(before, rules.getBytes(done, node));
        auto [it, isNew] = next.try_emplace(done | Set(1) << node, peak);
        it->second = std::min(it->second, peak);
      }
    layer = std::move(next);
  }
  if (layer.empty())
    return std::nullopt;
  return layer.begin()->second;
}
