//===- Investigation.cpp - Causes of operations that do not end -----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Diagnosis/Status.h"

#include <algorithm>
#include <iterator>

using namespace braid::rt;

/// The rank's open operation that matches `operation`, if any.
static const OpenOperation *findOpen(const RankStatus &status,
                                     const OpenOperation &operation) {
  for (const OpenOperation &other : status.open)
    if (other.match == operation.match && other.sequence == operation.sequence)
      return &other;
  return nullptr;
}

/// True if another member has started its side.
static bool hasStarted(const RankStatus &member,
                       const OpenOperation &operation) {
  auto counter = member.started.find(operation.otherQueue);
  return counter != member.started.end() &&
         counter->second >= operation.sequence;
}

/// The members that have started the operation: `rank`, which does not need a
/// status, and those whose status says so.
static std::string describePresent(const Statuses &statuses,
                                   const OpenOperation &operation,
                                   int32_t rank) {
  std::vector<int32_t> present;
  for (int32_t member : operation.members) {
    auto found = statuses.find(member);
    if (member == rank ||
        (found != statuses.end() && (findOpen(found->second, operation) ||
                                     hasStarted(found->second, operation))))
      present.push_back(member);
  }
  return describeWaiting(present, operation.text);
}

static Failure failureOf(const OpenOperation &operation) {
  Failure failure;
  failure.members = operation.members;
  failure.match = operation.match;
  failure.sequence = operation.sequence;
  return failure;
}

//===----------------------------------------------------------------------===//
// Disagreement and departure
//===----------------------------------------------------------------------===//

static Failure makeDisagreement(const OpenOperation &a, int32_t rankOfA,
                                const OpenOperation &b, int32_t rankOfB,
                                const std::string &more = "") {
  // Names the lower rank first, so that all ranks report the same text.
  bool swap = rankOfB < rankOfA && more.empty();
  Failure failure = failureOf(a);
  failure.text = (swap ? describeDisagreement(a.describeMatch(), rankOfB,
                                              b.text, rankOfA, a.text)
                       : describeDisagreement(a.describeMatch(), rankOfA,
                                              a.text, rankOfB, b.text)) +
                 more;
  return failure;
}

/// The first disagreement in the splits of an all_to_all.
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
        return makeDisagreement(
            *all[i], operation.members[i], *all[j], operation.members[j],
            describeSplitDisagreement(operation.members[i], all[i]->sent[j],
                                      operation.members[j],
                                      all[j]->expected[i]));
  return std::nullopt;
}

std::optional<Failure> braid::rt::compareMembers(const Statuses &statuses,
                                                 const OpenOperation &operation,
                                                 int32_t rank, int32_t member) {
  auto found = statuses.find(member);
  if (member == rank || found == statuses.end())
    return std::nullopt;
  const RankStatus &other = found->second;
  if (const OpenOperation *open = findOpen(other, operation)) {
    if (open->fingerprint != operation.fingerprint)
      return makeDisagreement(operation, rank, *open, member);
    return std::nullopt;
  }
  if (other.failed || other.ended < operation.invocation ||
      hasStarted(other, operation))
    return std::nullopt;
  Failure failure = failureOf(operation);
  failure.text = describeDeparted(member, operation.describeMatch()) + "; " +
                 describePresent(statuses, operation, rank);
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

std::optional<Failure> braid::rt::findProblem(const Statuses &statuses) {
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

std::vector<int32_t> braid::rt::findDeadlocked(WaitingRanks waiting) {
  // A rank may continue if none of the ranks that it needs waits.
  auto mayGoOn = [&](const std::vector<int32_t> &missing) {
    return std::none_of(missing.begin(), missing.end(),
                        [&](int32_t rank) { return waiting.count(rank) != 0; });
  };
  for (auto it = waiting.begin(); it != waiting.end();)
    if (mayGoOn(it->second)) {
      waiting.erase(it);
      it = waiting.begin();
    } else {
      ++it;
    }
  std::vector<int32_t> ranks;
  for (const auto &entry : waiting)
    ranks.push_back(entry.first);
  return ranks;
}

namespace {
/// The graph of waiting ranks and lanes. A lane is a rank's queue of operations
/// of one communicator, which waits while its first operations cannot end.
class WaitGraph {
public:
  WaitGraph(const Statuses &statuses, int32_t worldSize)
      : statuses(statuses), worldSize(worldSize) {
    for (const auto &[rank, status] : statuses)
      for (const OpenOperation &operation : status.open)
        lanes[{rank, operation.lane}].push_back(&operation);
    for (const auto &entry : lanes)
      waiting[nodeOf(entry.first)] = findMissing(entry.first, entry.second);
    for (const auto &[rank, status] : statuses)
      for (const OpenOperation &operation : status.open)
        if (operation.awaited)
          waiting[rank].push_back(nodeOf({rank, operation.lane}));
  }

  /// The ranks that wait forever, each with an awaited operation.
  std::map<int32_t, const OpenOperation *> findStuck() const {
    std::vector<int32_t> nodes = findDeadlocked(waiting);
    std::map<int32_t, const OpenOperation *> stuck;
    for (const auto &[rank, status] : statuses)
      for (const OpenOperation &operation : status.open)
        if (operation.awaited &&
            std::binary_search(nodes.begin(), nodes.end(),
                               nodeOf({rank, operation.lane})))
          stuck.emplace(rank, &operation);
    return stuck;
  }

private:
  /// The rank and the number of its lane.
  using LaneKey = std::pair<int32_t, uint64_t>;
  using Queue = std::vector<const OpenOperation *>;

  /// Lanes are numbered after the ranks.
  int32_t nodeOf(const LaneKey &key) const {
    return worldSize +
           static_cast<int32_t>(std::distance(lanes.begin(), lanes.find(key)));
  }

  /// True if the operation is at the front of its lane, or was issued together
  /// with the operation at the front.
  bool isInFront(int32_t rank, const OpenOperation &operation) const {
    const Queue &queue = lanes.at({rank, operation.lane});
    return operation.issue == queue.front()->issue;
  }

  std::vector<int32_t> findMissing(const LaneKey &key,
                                   const Queue &queue) const {
    std::vector<int32_t> missing;
    for (const OpenOperation *operation : queue) {
      if (!isInFront(key.first, *operation))
        break;
      for (int32_t member : operation->members) {
        auto status = statuses.find(member);
        if (member == key.first || status == statuses.end())
          continue;
        const OpenOperation *own = findOpen(status->second, *operation);
        if (!own && !hasStarted(status->second, *operation))
          missing.push_back(member);
        else if (own && !isInFront(member, *own))
          missing.push_back(nodeOf({member, own->lane}));
      }
    }
    return missing;
  }

  const Statuses &statuses;
  const int32_t worldSize;
  std::map<LaneKey, Queue> lanes;
  WaitingRanks waiting; ///< By rank or lane.
};
} // namespace

std::optional<Deadlock> braid::rt::findDeadlock(const Statuses &statuses,
                                                int32_t worldSize) {
  std::map<int32_t, std::string> operations;
  Deadlock deadlock;
  for (const auto &[rank, operation] :
       WaitGraph(statuses, worldSize).findStuck()) {
    operations[rank] = operation->text;
    deadlock.waits[rank] = statuses.at(rank).wait;
    deadlock.failure.members.push_back(rank);
  }
  if (operations.empty())
    return std::nullopt;
  deadlock.failure.text = describeDeadlock(operations, worldSize);
  return deadlock;
}

//===----------------------------------------------------------------------===//
// Timeout
//===----------------------------------------------------------------------===//

Failure braid::rt::describeTimedOut(const Statuses &statuses,
                                    const OpenOperation &late,
                                    int64_t timeoutNs) {
  std::vector<int32_t> missing, silent;
  std::string whereabouts;
  for (int32_t member : late.members) {
    auto found = statuses.find(member);
    if (found == statuses.end()) {
      silent.push_back(member);
      continue;
    }
    const RankStatus &status = found->second;
    if (findOpen(status, late) || hasStarted(status, late))
      continue;
    missing.push_back(member);
    if (status.wait && !status.open.empty())
      whereabouts += "; " + describeWaiting({member}, status.open[0].text);
  }
  Failure failure = failureOf(late);
  failure.text = describeTimeout(timeoutNs);
  if (!missing.empty())
    failure.text +=
        describeMissing(missing, late.describeMatch()) + whereabouts + "; ";
  if (!silent.empty())
    failure.text += listRanks(silent) + (silent.size() == 1 ? " does" : " do") +
                    " not answer; ";
  failure.text += describePresent(statuses, late, /*rank=*/-1);
  if (missing.empty() && silent.empty())
    failure.text += ", which all have started and which does not end";
  return failure;
}
