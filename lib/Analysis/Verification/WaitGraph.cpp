//===- WaitGraph.cpp - Which rank waits for whom --------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramChecks.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace braid;
using namespace mlir;

namespace {

class WaitSimulation {
public:
  WaitSimulation(ArrayRef<const RankTrace *> traces,
                 const CollectiveMatching &matching, bool sharesLanes)
      : traces(traces), matching(matching), sharesLanes(sharesLanes) {}

  /// Returns false if ranks wait for each other.
  bool run();
  void report(Findings &findings) const;

private:
  /// Operations that run one after the other; messages of one batch run at
  /// once.
  struct Lane {
    std::vector<std::pair<unsigned, unsigned>> queue; // operation, batch
    size_t firstOpen = 0;
    unsigned batch = 0;
  };
  struct Rank {
    size_t nextEvent = 0;
    std::vector<unsigned> laneOf;
    std::vector<bool> isStarted;
    std::vector<Lane> lanes;
  };

  void assignLanes();
  bool advance(unsigned rank);
  bool mayRun(CollectiveMatching::Member member);
  bool isOpen(unsigned rank, unsigned operation) const {
    return !hasEnded[matching.getMatch(rank, operation)];
  }
  bool endMatches(unsigned rank);
  bool isDone(unsigned rank) const {
    return ranks[rank].nextEvent == traces[rank]->events.size();
  }
  /// A rank that keeps the operation that `rank` waits for from ending, and the
  /// operation that it has not come to.
  CollectiveMatching::Member findMissing(unsigned rank) const;
  /// An open operation before `operation` of `rank` in the lane of one of those
  /// that it meets; itself if there is none.
  CollectiveMatching::Member findBefore(unsigned rank,
                                        unsigned operation) const;

  ArrayRef<const RankTrace *> traces;
  const CollectiveMatching &matching;
  bool sharesLanes;
  std::vector<Rank> ranks;
  std::vector<bool> hasEnded;
};

} // namespace

void WaitSimulation::assignLanes() {
  ranks.resize(traces.size());
  hasEnded.assign(matching.getMatches().size(), false);
  for (auto [rank, state] : llvm::enumerate(ranks)) {
    std::map<std::tuple<const void *, const void *, bool>, unsigned> numbers;
    for (const StartedOperation &operation : traces[rank]->operations) {
      comm::GroupOp group = operation.group;
      std::tuple<const void *, const void *, bool> key = {
          group.getAsOpaquePointer(), operation.lane.getAsOpaquePointer(),
          operation.peer.has_value()};
      if (sharesLanes && !operation.peer)
        key = {nullptr, nullptr, false};
      auto [it, isNew] = numbers.try_emplace(key, state.lanes.size());
      if (isNew)
        state.lanes.emplace_back();
      state.laneOf.push_back(it->second);
    }
    state.isStarted.assign(traces[rank]->operations.size(), false);
  }
}

/// True if nothing before the operation in its lane keeps it from running.
bool WaitSimulation::mayRun(CollectiveMatching::Member member) {
  Rank &rank = ranks[member.rank];
  if (!rank.isStarted[member.operation])
    return false;
  Lane &lane = rank.lanes[rank.laneOf[member.operation]];
  while (lane.firstOpen != lane.queue.size() &&
         !isOpen(member.rank, lane.queue[lane.firstOpen].first))
    ++lane.firstOpen;
  if (lane.firstOpen == lane.queue.size())
    return true;
  auto [first, batch] = lane.queue[lane.firstOpen];
  if (first == member.operation)
    return true;
  if (!traces[member.rank]->operations[member.operation].peer)
    return false;
  // The messages of the oldest open batch run together.
  return llvm::any_of(ArrayRef(lane.queue).drop_front(lane.firstOpen),
                      [&, oldest = batch](const auto &entry) {
                        return entry.first == member.operation &&
                               entry.second == oldest;
                      });
}

/// Ends what the open operations of `rank` allow; returns true if one ended.
bool WaitSimulation::endMatches(unsigned rank) {
  bool hasChanged = false;
  for (Lane &lane : ranks[rank].lanes)
    for (size_t i = lane.firstOpen; i < lane.queue.size(); ++i) {
      auto [operation, batch] = lane.queue[i];
      if (!isOpen(rank, operation))
        continue;
      if (batch != lane.queue[lane.firstOpen].second &&
          isOpen(rank, lane.queue[lane.firstOpen].first))
        break;
      unsigned match = matching.getMatch(rank, operation);
      if (llvm::all_of(matching.getMatches()[match],
                       [&](CollectiveMatching::Member member) {
                         return mayRun(member);
                       })) {
        hasEnded[match] = true;
        hasChanged = true;
      } else if (!traces[rank]->operations[operation].peer) {
        break;
      }
    }
  return hasChanged;
}

/// Lets `rank` run until it has to wait; returns true if it got anywhere.
bool WaitSimulation::advance(unsigned number) {
  Rank &rank = ranks[number];
  const RankTrace &trace = *traces[number];
  bool hasChanged = false;
  while (!isDone(number)) {
    const RankTrace::Event &event = trace.events[rank.nextEvent];
    Lane &lane = rank.lanes[rank.laneOf[event.operation]];
    if (!event.wait) {
      rank.isStarted[event.operation] = true;
      lane.queue.emplace_back(event.operation, lane.batch);
      if (!trace.operations[event.operation].peer)
        ++lane.batch;
    } else {
      ++lane.batch;
      while (isOpen(number, event.operation) && endMatches(number))
        hasChanged = true;
      if (isOpen(number, event.operation))
        break;
    }
    hasChanged = true;
    ++rank.nextEvent;
  }
  while (endMatches(number))
    hasChanged = true;
  return hasChanged;
}

bool WaitSimulation::run() {
  assignLanes();
  for (bool hasChanged = true; hasChanged;) {
    hasChanged = false;
    for (unsigned rank = 0; rank != ranks.size(); ++rank)
      hasChanged |= advance(rank);
  }
  for (unsigned rank = 0; rank != ranks.size(); ++rank)
    if (!isDone(rank))
      return false;
  return true;
}

CollectiveMatching::Member WaitSimulation::findMissing(unsigned rank) const {
  // The operation that is waited for, or the oldest one before it in a lane.
  unsigned awaited = traces[rank]->events[ranks[rank].nextEvent].operation;
  std::vector<CollectiveMatching::Member> pending = {{rank, awaited}};
  std::vector<CollectiveMatching::Member> seen;
  while (!pending.empty()) {
    CollectiveMatching::Member next = pending.back();
    pending.pop_back();
    if (llvm::any_of(seen, [&](CollectiveMatching::Member member) {
          return member.rank == next.rank && member.operation == next.operation;
        }))
      continue;
    seen.push_back(next);
    const Rank &state = ranks[next.rank];
    if (!state.isStarted[next.operation]) {
      if (next.rank != rank)
        return next;
      continue;
    }
    unsigned match = matching.getMatch(next.rank, next.operation);
    for (CollectiveMatching::Member member : matching.getMatches()[match])
      pending.push_back(member);
    const Lane &lane = state.lanes[state.laneOf[next.operation]];
    for (auto [operation, batch] : lane.queue) {
      if (operation == next.operation)
        break;
      if (isOpen(next.rank, operation))
        pending.push_back({next.rank, operation});
    }
  }
  return {rank, awaited};
}

CollectiveMatching::Member
WaitSimulation::findBefore(unsigned rank, unsigned operation) const {
  unsigned match = matching.getMatch(rank, operation);
  for (CollectiveMatching::Member member : matching.getMatches()[match]) {
    const Rank &state = ranks[member.rank];
    for (auto [earlier, batch] :
         state.lanes[state.laneOf[member.operation]].queue) {
      if (earlier == member.operation)
        break;
      if (isOpen(member.rank, earlier))
        return {member.rank, earlier};
    }
  }
  return {rank, operation};
}

static std::string describe(const StartedOperation &operation) {
  comm::GroupOp group = operation.group;
  Operation *op = operation.op;
  return ("'" + op->getName().getStringRef() + "' on group '" +
          group.getSymName() + "'")
      .str();
}

void WaitSimulation::report(Findings &findings) const {
  unsigned rank = 0;
  while (isDone(rank))
    ++rank;
  const RankTrace::Event &event = traces[rank]->events[ranks[rank].nextEvent];
  const StartedOperation &awaited = traces[rank]->operations[event.operation];
  CollectiveMatching::Member missing = findMissing(rank);
  Finding finding = {event.wait, {}};
  std::string who = "rank " + std::to_string(rank);
  std::string other = "rank " + std::to_string(missing.rank);
  finding.notes.push_back(
      {awaited.op.getLoc(), who + " starts " + describe(awaited) + " here"});
  if (missing.rank == rank) {
    // All have started; lanes have their operations in different orders.
    CollectiveMatching::Member before = findBefore(rank, event.operation);
    const StartedOperation &first =
        traces[before.rank]->operations[before.operation];
    other = "rank " + std::to_string(before.rank);
    finding.text = "blocks " + who + " forever: in the lane of " + other + " " +
                   describe(first) + " comes before " + describe(awaited) +
                   ", expected one order of the operations of a lane on all "
                   "ranks";
    finding.notes.push_back(
        {first.op.getLoc(), other + " starts " + describe(first) + " here"});
    finding.notes.push_back(
        {event.wait->getLoc(),
         describeSequence(*traces[rank], rank, event.operation)});
    finding.notes.push_back({event.wait->getLoc(),
                             describeSequence(*traces[before.rank], before.rank,
                                              before.operation)});
  } else {
    const StartedOperation &needed =
        traces[missing.rank]->operations[missing.operation];
    const RankTrace::Event &blocked =
        traces[missing.rank]->events[ranks[missing.rank].nextEvent];
    finding.text = "blocks " + who + " forever: " + describe(awaited) +
                   " needs " + other + " to start " + describe(needed) +
                   ", expected that start before the wait at which " + other +
                   " blocks";
    finding.notes.push_back({blocked.wait->getLoc(), other + " blocks here"});
    finding.notes.push_back(
        {needed.op.getLoc(), other + " does not come to this start"});
    finding.notes.push_back(
        {event.wait->getLoc(),
         describeSequence(*traces[rank], rank, event.operation)});
    finding.notes.push_back(
        {event.wait->getLoc(),
         describeSequence(*traces[missing.rank], missing.rank,
                          missing.operation)});
  }
  findings.add(std::move(finding));
}

bool braid::checkWaits(ArrayRef<const RankTrace *> traces,
                       const CollectiveMatching &matching, bool sharesLanes,
                       Findings &findings) {
  WaitSimulation simulation(traces, matching, sharesLanes);
  if (simulation.run())
    return true;
  simulation.report(findings);
  return false;
}
