//===- Investigation.cpp - Why an operation does not end ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Status.h"

#include <algorithm>
#include <set>

using namespace braid::rt;
using namespace braid::rt::cuda;

/// The rank's open operation that meets `operation`, where it has one.
static const OpenOperation *findOpen(const RankStatus &status,
                                     const OpenOperation &operation) {
  for (const OpenOperation &other : status.open)
    if (other.meeting == operation.meeting &&
        other.sequence == operation.sequence)
      return &other;
  return nullptr;
}

/// Whether another member has started its side.
static bool hasStarted(const RankStatus &member,
                       const OpenOperation &operation) {
  auto counter = member.started.find(operation.otherQueue);
  return counter != member.started.end() &&
         counter->second >= operation.sequence;
}

static Failure failureOf(const OpenOperation &operation) {
  Failure failure;
  failure.members = operation.members;
  failure.meeting = operation.meeting;
  failure.sequence = operation.sequence;
  return failure;
}

//===----------------------------------------------------------------------===//
// Disagreement and departure
//===----------------------------------------------------------------------===//

static Failure disagreement(const OpenOperation &a, int32_t rankOfA,
                            const OpenOperation &b, int32_t rankOfB,
                            const std::string &more = "") {
  // The lower rank first, whoever has found it.
  bool swap = rankOfB < rankOfA && more.empty();
  Failure failure = failureOf(a);
  failure.text = (swap ? describeDisagreement(a.describeMeeting(), rankOfB,
                                              b.text, rankOfA, a.text)
                       : describeDisagreement(a.describeMeeting(), rankOfA,
                                              a.text, rankOfB, b.text)) +
                 more;
  return failure;
}

/// What members of an all_to_all expect from each other.
static std::optional<Failure> findSplits(const Statuses &statuses,
                                         const OpenOperation &operation) {
  size_t size = operation.members.size();
  std::vector<const OpenOperation *> all;
  for (int32_t member : operation.members) {
    auto status = statuses.find(member);
    const OpenOperation *open = status == statuses.end()
                                    ? nullptr
                                    : findOpen(status->second, operation);
    if (!open || open->sent.size() != size || open->expected.size() != size)
      return std::nullopt;
    all.push_back(open);
  }
  for (size_t i = 0; i < size; ++i)
    for (size_t j = 0; j < size; ++j)
      if (all[i]->sent[j] != all[j]->expected[i])
        return disagreement(
            *all[i], operation.members[i], *all[j], operation.members[j],
            describeSplitDisagreement(operation.members[i], all[i]->sent[j],
                                      operation.members[j],
                                      all[j]->expected[i]));
  return std::nullopt;
}

std::optional<Failure>
braid::rt::cuda::compareMembers(const Statuses &statuses,
                                const OpenOperation &operation, int32_t rank,
                                int32_t member) {
  auto found = statuses.find(member);
  if (member == rank || found == statuses.end())
    return std::nullopt;
  const RankStatus &other = found->second;
  if (const OpenOperation *open = findOpen(other, operation)) {
    if (open->fingerprint != operation.fingerprint)
      return disagreement(operation, rank, *open, member);
    return std::nullopt;
  }
  if (other.failed || other.ended < operation.invocation ||
      hasStarted(other, operation))
    return std::nullopt;
  Failure failure = failureOf(operation);
  failure.text = describeDeparted(member, operation.describeMeeting()) + "; " +
                 describeWaiting({rank}, operation.text);
  return failure;
}

static std::optional<Failure> findProblemOf(const Statuses &statuses,
                                            int32_t rank,
                                            const OpenOperation &operation) {
  for (int32_t member : operation.members)
    if (std::optional<Failure> problem =
            compareMembers(statuses, operation, rank, member))
      return problem;
  return operation.sent.empty() ? std::nullopt
                                : findSplits(statuses, operation);
}

std::optional<Failure> braid::rt::cuda::findProblem(const Statuses &statuses) {
  for (const auto &[rank, status] : statuses)
    for (const OpenOperation &operation : status.open)
      if (std::optional<Failure> problem =
              findProblemOf(statuses, rank, operation))
        return problem;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Deadlock
//===----------------------------------------------------------------------===//

namespace {
/// Lets operations end that can, until none can any more.
class Simulation {
public:
  explicit Simulation(const Statuses &statuses) : statuses(statuses) {
    for (const auto &[rank, status] : statuses)
      for (const OpenOperation &operation : status.open)
        lanes[{rank, operation.lane}].push_back(&operation);
  }

  /// The first operation of each rank that never ends.
  std::map<int32_t, const OpenOperation *> run() {
    while (step())
      ;
    std::map<int32_t, const OpenOperation *> stuck;
    for (const auto &[key, queue] : lanes)
      if (!queue.empty())
        stuck.emplace(key.first, queue.front());
    return stuck;
  }

private:
  using Queue = std::vector<const OpenOperation *>;

  /// Whether the operation is among those at the front that were issued
  /// together.
  static bool isInFront(const Queue &queue, const OpenOperation *operation) {
    for (const OpenOperation *front : queue) {
      if (front->issue != queue.front()->issue)
        return false;
      if (front == operation)
        return true;
    }
    return false;
  }

  bool isReady(int32_t member, const OpenOperation &operation) {
    auto status = statuses.find(member);
    if (status == statuses.end())
      return false;
    const OpenOperation *own = findOpen(status->second, operation);
    // It is over where it has been started and is not open any more.
    if (!own)
      return hasStarted(status->second, operation);
    return ended.count(own) || isInFront(lanes[{member, own->lane}], own);
  }

  bool step() {
    bool progress = false;
    for (auto &[key, queue] : lanes) {
      for (const OpenOperation *operation : Queue(queue)) {
        if (ended.count(operation) || !isInFront(queue, operation))
          continue;
        bool ready = true;
        for (int32_t member : operation->members)
          ready &= member == key.first || isReady(member, *operation);
        if (!ready)
          continue;
        ended.insert(operation);
        progress = true;
      }
      // What was issued together leaves the lane together.
      while (!queue.empty()) {
        int64_t issue = queue.front()->issue;
        auto last = std::find_if(queue.begin(), queue.end(),
                                 [&](const OpenOperation *operation) {
                                   return operation->issue != issue;
                                 });
        if (!std::all_of(queue.begin(), last,
                         [&](const OpenOperation *operation) {
                           return ended.count(operation) > 0;
                         }))
          break;
        queue.erase(queue.begin(), last);
      }
    }
    return progress;
  }

  const Statuses &statuses;
  /// By rank and lane.
  std::map<std::pair<int32_t, uint64_t>, Queue> lanes;
  std::set<const OpenOperation *> ended;
};
} // namespace

std::optional<Failure> braid::rt::cuda::findDeadlock(const Statuses &statuses,
                                                     int32_t worldSize) {
  if (statuses.size() != static_cast<size_t>(worldSize))
    return std::nullopt;
  for (const auto &entry : statuses)
    if (!entry.second.blocked || entry.second.open.empty())
      return std::nullopt;
  std::map<int32_t, const OpenOperation *> stuck = Simulation(statuses).run();
  if (stuck.size() != statuses.size())
    return std::nullopt;
  std::map<int32_t, std::string> operations;
  Failure failure;
  for (const auto &[rank, operation] : stuck) {
    operations[rank] = operation->text;
    failure.members.push_back(rank);
  }
  failure.text = describeDeadlock(operations, worldSize);
  return failure;
}

//===----------------------------------------------------------------------===//
// Timeout
//===----------------------------------------------------------------------===//

Failure braid::rt::cuda::describeTimedOut(const Statuses &statuses,
                                          const OpenOperation &late,
                                          int64_t timeoutNs) {
  std::vector<int32_t> present, missing, silent;
  std::string whereabouts;
  for (int32_t member : late.members) {
    auto found = statuses.find(member);
    if (found == statuses.end()) {
      silent.push_back(member);
      continue;
    }
    const RankStatus &status = found->second;
    const OpenOperation *own = findOpen(status, late);
    if (own || hasStarted(status, late)) {
      present.push_back(member);
      continue;
    }
    missing.push_back(member);
    if (status.blocked && !status.open.empty())
      whereabouts += "; " + describeWaiting({member}, status.open[0].text);
  }
  Failure failure = failureOf(late);
  failure.text = describeTimeout(timeoutNs);
  if (!missing.empty())
    failure.text +=
        describeMissing(missing, late.describeMeeting()) + whereabouts + "; ";
  if (!silent.empty())
    failure.text += listRanks(silent) + (silent.size() == 1 ? " does" : " do") +
                    " not answer; ";
  failure.text += describeWaiting(present, late.text);
  if (missing.empty() && silent.empty())
    failure.text += ", which all have started and which does not end";
  return failure;
}
