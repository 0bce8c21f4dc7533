//===- BeamSearch.cpp - Several orders side by side -----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BeamSearch.h"

#include "ListScheduler.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <random>
#include <utility>

using namespace braid;

/// So many ready nodes are looked at, so that each step takes constant time.
static constexpr size_t maxLooked = 16;
/// So many states of one set of nodes are kept.
static constexpr size_t maxStatesOfSet = 4;

BeamSearch::BeamSearch(const FlatProblem &flat)
    : flat(flat), limits(flat), nearestNs(getNearestStarts(flat)),
      startAhead(getStartsAhead(flat, nearestNs)), hashes(flat.size()) {
  tails.tails = getTails(flat);
  std::mt19937_64 engine(flat.size());
  for (uint64_t &hash : hashes)
    hash = engine();
  for (int64_t cost : flat.cost)
    meanNs += cost;
  meanNs /= std::max(flat.size(), 1u);
}

uint64_t BeamSearch::getStepsPerWidth() const {
  return uint64_t(flat.size()) * (20 + flat.size() / 1024);
}

/// The state before the first node, and what values of states need to know.
void BeamSearch::prepare() {
  priorities.tails = guide.priorities.vec();
  for (Chains *chains : {&tails, &priorities}) {
    chains->endTails.assign(flat.size(), 0);
    for (unsigned node = 0, end = flat.size(); node != end; ++node)
      for (unsigned waiter : flat.awaiters[node])
        chains->endTails[node] =
            std::max(chains->endTails[node], chains->tails[waiter]);
  }
  if (current.empty())
    current.resize(1);
  State &root = current.front();
  root = {};
  root.placed.assign(flat.size() / 64 + 1, 0);
  root.liveBytes = flat.liveBytes;
  root.lanes.resize(flat.numLanes);
  laneTailNs.assign(flat.numLanes, never);
  for (unsigned node = 0, end = flat.size(); node != end; ++node) {
    if (int32_t lane = flat.lane[node]; lane >= 0) {
      laneTailNs[lane] = std::min(laneTailNs[lane], tails.endTails[node]);
      root.lanes[lane].leftNs += flat.cost[node];
    } else {
      root.streamLeftNs += flat.cost[node];
    }
    if (flat.predecessors[node].empty())
      addReady(root, node);
  }
  numStates = 1;
  traces.assign(1, {0, 0});
}

void BeamSearch::addReady(State &state, unsigned node) const {
  auto isBefore = [&](unsigned a, unsigned b) {
    return std::pair(guide.priorities[b], a) <
           std::pair(guide.priorities[a], b);
  };
  auto insert = [&](auto &nodes) {
    nodes.insert(llvm::upper_bound(nodes, node, isBefore), node);
  };
  if (flat.isStart(node))
    insert(state.lanes[flat.lane[node]].ready);
  else if (flat.cost[node] == 0 || !flat.awaited[node].empty())
    insert(state.pending);
  else
    insert(state.compute);
}

/// When all that `node` awaits has ended, as far as that is in flight.
int64_t BeamSearch::getRelease(const State &state, unsigned node) const {
  int64_t releaseNs = 0;
  for (unsigned start : flat.awaited[node])
    for (auto [other, endNs] : state.inFlight)
      if (other == start)
        releaseNs = std::max(releaseNs, endNs);
  return releaseNs;
}

/// True if `node` is ready once `placed` is.
bool BeamSearch::isReadyWith(const State &state, unsigned node,
                             unsigned placed) const {
  return llvm::all_of(flat.predecessors[node], [&](unsigned predecessor) {
    return predecessor == placed || state.has(predecessor);
  });
}

bool BeamSearch::fits(const State &state, unsigned node) const {
  if (flat.isStart(node) && flat.maxInFlight != 0 &&
      llvm::count_if(state.inFlight, [&](const auto &entry) {
        return flat.lane[entry.first] == flat.lane[node];
      }) >= flat.maxInFlight)
    return false;
  if (!flat.hasMemoryLimit())
    return true;
  limits.enter(node, state.liveBytes,
               [&](unsigned user) { return state.has(user); });
  return limits.getNeededBytes(node) <= flat.maxMemory;
}

void BeamSearch::enter(const State &state, Chains &chains) const {
  chains.longest = chains.second = flat.size();
  auto add = [&](unsigned node) {
    auto isLonger = [&](unsigned other) {
      return other == flat.size() || chains.tails[node] > chains.tails[other];
    };
    if (isLonger(chains.longest))
      chains.second = std::exchange(chains.longest, node);
    else if (isLonger(chains.second))
      chains.second = node;
  };
  for (unsigned node : state.pending)
    add(node);
  for (size_t i = 0, end = std::min(state.compute.size(), maxLooked); i != end;
       ++i)
    add(state.compute[i]);
  chains.inFlightNs = 0;
  for (auto [start, endNs] : state.inFlight)
    chains.inFlightNs =
        std::max(chains.inFlightNs, endNs + chains.endTails[start]);
}

/// The latest end of any chain after `node`, with which the stream comes to
/// `streamNs`.
int64_t BeamSearch::getEnd(const State &state, unsigned node, int64_t streamNs,
                           const Chains &chains) const {
  int64_t endNs = chains.inFlightNs;
  unsigned longest = chains.longest == node ? chains.second : chains.longest;
  if (longest != flat.size())
    endNs = std::max(endNs, streamNs + chains.tails[longest]);
  for (auto [index, lane] : llvm::enumerate(state.lanes)) {
    int64_t freeNs = std::max(lane.freeNs, streamNs);
    if (flat.lane[node] == int32_t(index)) {
      freeNs += flat.cost[node];
      endNs = std::max(endNs, freeNs + chains.endTails[node]);
    }
    // The first start that is left.
    for (unsigned start : lane.ready)
      if (start != node) {
        endNs = std::max(endNs, freeNs + chains.tails[start]);
        break;
      }
  }
  for (unsigned successor : flat.successors[node])
    if (isReadyWith(state, successor, node))
      endNs = std::max(endNs, streamNs + chains.tails[successor]);
  return endNs;
}

/// Adds the state that comes of `node` after the state `parent`.
void BeamSearch::addCandidate(unsigned parent, unsigned node) {
  const State &state = current[parent];
  ++steps;
  int64_t streamNs = state.streamNs, streamLeftNs = state.streamLeftNs;
  if (!flat.isStart(node)) {
    streamNs = std::max(streamNs, getRelease(state, node)) + flat.cost[node];
    streamLeftNs -= flat.cost[node];
  }
  int64_t boundNs = streamNs + streamLeftNs;
  if (guide.countsTails)
    boundNs = std::max(boundNs, getEnd(state, node, streamNs, tails));
  for (auto [index, lane] : llvm::enumerate(state.lanes))
    if (lane.leftNs != 0)
      boundNs = std::max(boundNs, std::max(lane.freeNs, streamNs) +
                                      lane.leftNs + laneTailNs[index]);
  int64_t expectedNs = getEnd(state, node, streamNs, priorities);
  candidates.push_back({parent, node, boundNs + expectedNs / guide.divisor,
                        state.hash ^ hashes[node]});
}

/// True if `lane` may stand still while the stream does `next`, the number of
/// nodes if it awaits `released`, until `releaseNs`: because one of both leads
/// to a start soon after.
bool BeamSearch::mayHold(const State &state, unsigned lane, unsigned next,
                         int64_t releaseNs, unsigned released) const {
  int64_t limitNs = std::max(state.streamNs, state.lanes[lane].freeNs) + meanNs;
  auto leadsThere = [&](unsigned node, int64_t fromNs) {
    unsigned start = node == flat.size() ? node : startAhead[node];
    return start != flat.size() && flat.lane[start] == int32_t(lane) &&
           fromNs - nearestNs[node] <= limitNs;
  };
  return leadsThere(next, state.streamNs) || leadsThere(released, releaseNs);
}

/// Adds what may come after the state `parent`.
void BeamSearch::expand(unsigned parent) {
  const State &state = current[parent];
  if (guide.countsTails)
    enter(state, tails);
  enter(state, priorities);
  steps += 2;

  // What takes no time and holds nothing up comes first.
  unsigned released = flat.size();
  int64_t releaseNs = never;
  Choice chosen;
  for (unsigned node : state.pending) {
    int64_t ns = getRelease(state, node);
    if (ns > state.streamNs) {
      if (ns < releaseNs && fits(state, node)) {
        releaseNs = ns;
        released = node;
      }
    } else if (fits(state, node)) {
      if (flat.cost[node] == 0) {
        addCandidate(parent, node);
        return;
      }
      choose(node, chosen);
    }
  }
  chooseCompute(state, releaseNs, chosen);
  int64_t lastNs = addStreamCandidates(parent, chosen, released, releaseNs);
  addLaneCandidates(parent, lastNs);
}

void BeamSearch::choose(unsigned node, Choice &chosen) const {
  if (node != flat.size() && !llvm::is_contained(chosen, node))
    chosen.push_back(node);
}

/// Chooses among the ready compute. The next operation ends at `releaseNs`.
void BeamSearch::chooseCompute(const State &state, int64_t releaseNs,
                               Choice &chosen) const {
  const unsigned none = flat.size();
  unsigned nearest = none, longest = none, fitting = none;
  size_t numFitting = 0;
  for (size_t i = 0, end = std::min(state.compute.size(), maxLooked); i != end;
       ++i) {
    unsigned node = state.compute[i];
    if (!fits(state, node))
      continue;
    if (++numFitting <= 2)
      choose(node, chosen);
    if (nearest == none || nearestNs[node] > nearestNs[nearest])
      nearest = node;
    if (longest == none || tails.tails[node] > tails.tails[longest])
      longest = node;
    if (releaseNs != never && state.streamNs + flat.cost[node] <= releaseNs &&
        (fitting == none || flat.cost[node] > flat.cost[fitting]))
      fitting = node;
  }
  choose(nearest, chosen);
  choose(longest, chosen);
  choose(fitting, chosen);
}

/// Adds the nodes `chosen` on the stream, and `released`, whose operation ends
/// at `releaseNs`. Returns when the last of them ends.
int64_t BeamSearch::addStreamCandidates(unsigned parent, Choice &chosen,
                                        unsigned released, int64_t releaseNs) {
  const State &state = current[parent];
  const unsigned none = flat.size();
  if (released != none)
    chosen.push_back(released);
  int64_t lastNs = chosen.empty() ? never : state.streamNs;
  for (unsigned node : chosen) {
    bool stall = node == released;
    int64_t untilNs = stall ? releaseNs : state.streamNs + flat.cost[node];
    lastNs = std::max(lastNs, untilNs);
    bool allowed = true;
    for (unsigned lane = 0; lane != flat.numLanes; ++lane)
      if (!state.lanes[lane].ready.empty() &&
          state.lanes[lane].freeNs < untilNs &&
          fits(state, state.lanes[lane].ready.front()))
        allowed &= mayHold(state, lane, stall ? none : node,
                           std::max(releaseNs, untilNs), released);
    if (allowed)
      addCandidate(parent, node);
  }

  return lastNs;
}

/// Adds starts on lanes that are free before `lastNs`.
void BeamSearch::addLaneCandidates(unsigned parent, int64_t lastNs) {
  const State &state = current[parent];
  for (const Lane &lane : state.lanes) {
    if (lane.ready.empty() || lane.freeNs >= lastNs)
      continue;
    Choice chosen;
    choose(lane.ready.front(), chosen);
    choose(*llvm::min_element(lane.ready), chosen);
    auto isShorter = [&](unsigned a, unsigned b) {
      return tails.tails[a] < tails.tails[b];
    };
    choose(*llvm::max_element(lane.ready, isShorter), chosen);
    for (unsigned start : chosen)
      if (fits(state, start))
        addCandidate(parent, start);
  }
}

void BeamSearch::place(State &state, unsigned node) {
  steps += 4 + state.placed.size() / 16;
  auto remove = [&](auto &nodes) { nodes.erase(llvm::find(nodes, node)); };
  if (int32_t lane = flat.lane[node]; lane >= 0) {
    Lane &now = state.lanes[lane];
    remove(now.ready);
    now.freeNs = std::max(now.freeNs, state.streamNs) + flat.cost[node];
    now.leftNs -= flat.cost[node];
    state.inFlight.emplace_back(node, now.freeNs);
  } else {
    remove(flat.cost[node] == 0 || !flat.awaited[node].empty() ? state.pending
                                                               : state.compute);
    state.streamNs =
        std::max(state.streamNs, getRelease(state, node)) + flat.cost[node];
    state.streamLeftNs -= flat.cost[node];
    if (!flat.awaited[node].empty())
      llvm::erase_if(state.inFlight, [&](const auto &entry) {
        return llvm::is_contained(flat.awaited[node], entry.first);
      });
  }
  if (flat.hasMemoryLimit()) {
    limits.enter(node, state.liveBytes,
                 [&](unsigned user) { return state.has(user); });
    state.liveBytes += limits.getAddedBytes(node);
  }
  state.placed[node / 64] |= uint64_t(1) << node % 64;
  state.hash ^= hashes[node];
  for (unsigned successor : flat.successors[node])
    if (isReadyWith(state, successor, node))
      addReady(state, successor);
  traces.emplace_back(state.trace, node);
  state.trace = traces.size() - 1;
}

/// True if `state`, with the same nodes, is nowhere earlier than `other`.
bool BeamSearch::isDominated(const State &state, const State &other) const {
  if (other.streamNs > state.streamNs)
    return false;
  for (auto [lane, otherLane] : llvm::zip_equal(state.lanes, other.lanes))
    if (otherLane.freeNs > std::max(lane.freeNs, state.streamNs))
      return false;
  return llvm::all_of(other.inFlight, [&](const auto &entry) {
    return entry.second <= state.streamNs ||
           llvm::any_of(state.inFlight, [&](const auto &same) {
             return same.first == entry.first && same.second >= entry.second;
           });
  });
}

/// Builds the best `width` candidates; returns how many there are.
unsigned BeamSearch::select(unsigned width) {
  llvm::sort(candidates, [](const Candidate &a, const Candidate &b) {
    return std::tie(a.value, a.parent, a.node) <
           std::tie(b.value, b.parent, b.node);
  });
  statesOfSet.clear();
  unsigned count = 0;
  for (const Candidate &candidate : candidates) {
    if (count == width)
      break;
    llvm::SmallVector<unsigned, 4> &same = statesOfSet[candidate.hash];
    if (same.size() == maxStatesOfSet)
      continue;
    if (count == next.size())
      next.emplace_back();
    State &state = next[count];
    state = current[candidate.parent];
    place(state, candidate.node);
    if (llvm::any_of(same, [&](unsigned other) {
          return isDominated(state, next[other]);
        })) {
      traces.pop_back();
      continue;
    }
    same.push_back(count++);
  }
  return count;
}

bool BeamSearch::search(const BeamGuide &newGuide, unsigned width,
                        ScheduleOrder &order) {
  guide = newGuide;
  prepare();
  for (unsigned placed = 0, end = flat.size(); placed != end; ++placed) {
    candidates.clear();
    for (unsigned state = 0; state != numStates; ++state)
      expand(state);
    numStates = select(width);
    std::swap(current, next);
    if (numStates == 0)
      return false;
  }
  order.clear();
  for (unsigned trace = current.front().trace; trace != 0;
       trace = traces[trace].first)
    order.push_back(traces[trace].second);
  std::reverse(order.begin(), order.end());
  return true;
}
