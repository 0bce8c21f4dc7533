//===- SuccessionBound.cpp - One resource after another -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SuccessionBound.h"

#include "braid/Support/Units.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <limits>
#include <queue>

using namespace braid;
using namespace llvm;

namespace {

/// A job of the second resource.
struct Follower {
  int64_t work;
  /// What the first resource does before it and before others, and before it
  /// alone.
  int64_t shared, own;
};

class Succession {
public:
  Succession(const PrecedenceDag &dag, ArrayRef<unsigned> jobs)
      : dag(dag), jobs(jobs), reachedBy(dag.size(), ~0u),
        numFollowers(dag.size(), 0) {}

  /// Counts what comes before each job. False if that takes too long.
  bool findPredecessors(size_t &maxVisits);
  /// What `first` and the jobs take together, without tails; `first` begins at
  /// `head` or later.
  int64_t getBound(int32_t first, int64_t head, size_t &maxVisits);

private:
  /// Calls `visit` for all that comes before `job`.
  template <typename Visit>
  void forEachBefore(unsigned job, unsigned mark, Visit visit);

  const PrecedenceDag &dag;
  ArrayRef<unsigned> jobs;
  std::vector<unsigned> reachedBy;
  /// By vertex: how many of the jobs come after it.
  std::vector<unsigned> numFollowers;
  std::vector<unsigned> stack;
  unsigned lastMark = 0;
};

} // namespace

template <typename Visit>
void Succession::forEachBefore(unsigned job, unsigned mark, Visit visit) {
  stack.assign(1, job);
  while (!stack.empty()) {
    unsigned vertex = stack.back();
    stack.pop_back();
    for (unsigned predecessor : dag.predecessors(vertex)) {
      if (reachedBy[predecessor] == mark)
        continue;
      reachedBy[predecessor] = mark;
      visit(predecessor);
      stack.push_back(predecessor);
    }
  }
}

bool Succession::findPredecessors(size_t &maxVisits) {
  for (unsigned job : jobs) {
    size_t visits = 0;
    forEachBefore(job, lastMark++, [&](unsigned vertex) {
      ++visits;
      ++numFollowers[vertex];
    });
    if (visits >= maxVisits)
      return false;
    maxVisits -= visits;
  }
  return true;
}

int64_t Succession::getBound(int32_t first, int64_t head, size_t &maxVisits) {
  std::vector<Follower> followers;
  int64_t all = 0, least = std::numeric_limits<int64_t>::max();
  for (unsigned job : jobs) {
    Follower follower{dag.work[job], 0, 0};
    size_t visits = 0;
    forEachBefore(job, lastMark++, [&](unsigned vertex) {
      ++visits;
      if (dag.resource[vertex] != first)
        return;
      int64_t &sum = numFollowers[vertex] == 1 ? follower.own : follower.shared;
      sum = addNs(sum, dag.work[vertex]);
    });
    if (visits >= maxVisits)
      return 0;
    maxVisits -= visits;
    all = addNs(all, follower.work);
    least = std::min(least, follower.work);
    followers.push_back(follower);
  }
  constexpr int64_t tooLong = std::numeric_limits<int64_t>::max() / 4;
  if (all >= tooLong || head >= tooLong)
    return 0;
  for (const Follower &follower : followers)
    if (addNs(follower.own, follower.shared) >= tooLong)
      return 0;

  llvm::sort(followers, [](const Follower &a, const Follower &b) {
    return std::tuple(a.shared, a.own, a.work) <
           std::tuple(b.shared, b.own, b.work);
  });
  int64_t best = 0;
  for (size_t count = 1; count <= followers.size(); ++count) {
    if (maxVisits < followers.size())
      return best;
    maxVisits -= followers.size();
    // The `count - 1` least of those so far, the largest of them first.
    std::priority_queue<int64_t> chosen;
    int64_t sum = 0, lowest = std::numeric_limits<int64_t>::max();
    for (const Follower &follower : followers) {
      int64_t price = follower.own - follower.work;
      if (chosen.size() + 1 == count) {
        bool needsFirst = follower.shared != 0 || follower.own != 0;
        lowest = std::min(lowest, (needsFirst ? head : 0) + follower.shared +
                                      price + sum);
      }
      chosen.push(price);
      sum += price;
      if (chosen.size() == count) {
        sum -= chosen.top();
        chosen.pop();
      }
    }
    best = std::max(best, lowest + all + least);
  }
  return best;
}

int64_t braid::getSuccessionBound(const PrecedenceDag &dag,
                                  ArrayRef<int64_t> heads,
                                  ArrayRef<int64_t> tails, size_t maxVisits) {
  // By lane.
  std::vector<std::vector<unsigned>> jobs;
  for (unsigned vertex = 0; vertex != dag.size(); ++vertex) {
    int32_t lane = dag.resource[vertex];
    if (lane < 0 || dag.work[vertex] == 0 || heads[vertex] < 0 ||
        tails[vertex] < 0)
      continue;
    if (size_t(lane) >= jobs.size())
      jobs.resize(lane + 1);
    jobs[lane].push_back(vertex);
  }
  int64_t best = 0;
  for (auto [second, followers] : llvm::enumerate(jobs)) {
    if (followers.empty())
      continue;
    Succession succession(dag, followers);
    if (!succession.findPredecessors(maxVisits))
      return best;
    int64_t tail = std::numeric_limits<int64_t>::max();
    for (unsigned vertex : followers)
      tail = std::min(tail, tails[vertex]);
    for (auto [first, leaders] : llvm::enumerate(jobs)) {
      if (first == second || leaders.empty())
        continue;
      int64_t head = std::numeric_limits<int64_t>::max();
      for (unsigned vertex : leaders)
        head = std::min(head, heads[vertex]);
      int64_t bound = succession.getBound(first, head, maxVisits);
      if (bound > 0)
        best = std::max(best, addNs(bound, tail));
    }
  }
  return best;
}
