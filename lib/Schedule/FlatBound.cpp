//===- FlatBound.cpp - What no order can go below -------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FlatBound.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <queue>

using namespace braid;

namespace {
/// A piece of work on one machine.
struct Job {
  int64_t headNs, costNs, tailNs;
};
} // namespace

/// The end of the best preemptive schedule of `jobs` on one machine.
static int64_t scheduleOneMachine(std::vector<Job> &jobs) {
  llvm::sort(jobs, [](const Job &a, const Job &b) {
    return std::tuple(a.headNs, a.tailNs, a.costNs) <
           std::tuple(b.headNs, b.tailNs, b.costNs);
  });
  // (tail, work left).
  std::priority_queue<std::pair<int64_t, int64_t>> ready;
  int64_t nowNs = 0, endNs = 0;
  size_t next = 0;
  while (next != jobs.size() || !ready.empty()) {
    if (ready.empty())
      nowNs = std::max(nowNs, jobs[next].headNs);
    for (; next != jobs.size() && jobs[next].headNs <= nowNs; ++next)
      ready.emplace(jobs[next].tailNs, jobs[next].costNs);
    auto [tailNs, leftNs] = ready.top();
    ready.pop();
    int64_t runNs = leftNs;
    if (next != jobs.size())
      runNs = std::min(runNs, jobs[next].headNs - nowNs);
    nowNs += runNs;
    if (runNs != leftNs)
      ready.emplace(tailNs, leftNs - runNs);
    else
      endNs = std::max(endNs, nowNs + tailNs);
  }
  return endNs;
}

int64_t braid::getLowerBound(const FlatProblem &flat,
                             llvm::ArrayRef<int64_t> tails) {
  unsigned size = flat.size();
  std::vector<int64_t> heads(size, 0);
  std::vector<std::vector<Job>> jobs(flat.numLanes + 1);
  int64_t longest = 0;
  for (unsigned node = 0; node != size; ++node) {
    for (unsigned predecessor : flat.predecessors[node])
      heads[node] = std::max(
          heads[node],
          heads[predecessor] +
              (flat.isStart(predecessor) ? 0 : flat.cost[predecessor]));
    for (unsigned start : flat.awaited[node])
      heads[node] = std::max(heads[node], heads[start] + flat.cost[start]);
    longest = std::max(longest, heads[node] + tails[node]);
    if (flat.cost[node] == 0)
      continue;
    int64_t afterNs = 0;
    for (unsigned next :
         flat.isStart(node) ? flat.awaiters[node] : flat.successors[node])
      afterNs = std::max(afterNs, tails[next]);
    jobs[flat.lane[node] + 1].push_back(
        {heads[node], flat.cost[node], afterNs});
  }
  for (std::vector<Job> &machine : jobs)
    longest = std::max(longest, scheduleOneMachine(machine));
  return longest;
}
