//===- TwoJobBound.cpp - Akers' bound of two jobs -------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TwoJobBound.h"

#include "braid/Support/Units.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <array>
#include <limits>

using namespace braid;
using namespace llvm;

namespace {

/// A job of a chain.
struct ChainJob {
  int64_t work;
  int32_t resource;
};

struct Chain {
  std::vector<ChainJob> jobs;
  /// By the number of jobs that have ended: the work of the stream outside of
  /// the chains that can begin from then on.
  std::vector<int64_t> released;
};

/// What the stream has done on the way to a point: how long it stood idle, and
/// the work outside of the chains that it could do now.
struct Past {
  int64_t idle;
  int64_t stock;
};
using Pasts = SmallVector<Past, 2>;

/// The progress of a chain: jobs that have ended, and the part that is done of
/// the next.
struct Progress {
  size_t jobs = 0;
  int64_t done = 0;
};

class TwoJobs {
public:
  TwoJobs(const PrecedenceDag &dag) { findChains(dag); }

  int64_t getIdle(int64_t mostIdle, size_t maxPoints);

private:
  static constexpr unsigned none = ~0u;
  static constexpr size_t maxJobs = 4'000;

  void findChains(const PrecedenceDag &dag);
  /// The longest path through vertices that are not `taken`.
  static std::vector<unsigned> findLongestPath(const PrecedenceDag &dag,
                                               const std::vector<bool> &taken);
  bool communicates(const Chain &chain) const {
    return llvm::any_of(chain.jobs,
                        [](const ChainJob &job) { return job.resource >= 0; });
  }

  /// Adds a past to a point where both chains are between two jobs.
  void add(std::array<size_t, 2> point, const Pasts &pasts);
  /// Follows the diagonal from a point to where it meets a rectangle.
  void follow(std::array<size_t, 2> point, Pasts pasts);
  /// Advances one chain alone until it has ended `numJobs` jobs.
  void goOnAlone(unsigned chain, Progress progress, size_t numJobs,
                 Pasts &pasts) const;
  /// Nothing of the chains runs on the stream for `ns`.
  static void leaveFree(Pasts &pasts, int64_t ns);
  static void release(Pasts &pasts, int64_t work);

  std::array<Chain, 2> chains;
  /// Of all finished paths.
  int64_t leastIdle = 0;
  /// By jobs of the first and of the second chain.
  std::vector<std::vector<Pasts>> points;
};

} // namespace

std::vector<unsigned> TwoJobs::findLongestPath(const PrecedenceDag &dag,
                                               const std::vector<bool> &taken) {
  std::vector<int64_t> ends(dag.size(), 0);
  std::vector<unsigned> before(dag.size(), none);
  unsigned last = none;
  for (unsigned vertex = 0; vertex != dag.size(); ++vertex) {
    if (taken[vertex])
      continue;
    for (unsigned predecessor : dag.predecessors(vertex))
      if (!taken[predecessor] && ends[predecessor] > ends[vertex]) {
        ends[vertex] = ends[predecessor];
        before[vertex] = predecessor;
      }
    ends[vertex] = addNs(ends[vertex], dag.work[vertex]);
    if (!dag.isOpen[vertex] && (last == none || ends[vertex] > ends[last]))
      last = vertex;
  }
  std::vector<unsigned> path;
  for (; last != none; last = before[last])
    path.push_back(last);
  std::reverse(path.begin(), path.end());
  return path;
}

void TwoJobs::findChains(const PrecedenceDag &dag) {
  std::vector<bool> taken(dag.size(), false);
  // By vertex and chain: how many jobs of it have to end before.
  std::array<std::vector<unsigned>, 2> needs;
  std::array<std::vector<unsigned>, 2> numbers;
  for (auto [index, chain] : llvm::enumerate(chains)) {
    numbers[index].assign(dag.size(), 0);
    for (unsigned vertex : findLongestPath(dag, taken)) {
      taken[vertex] = true;
      if (dag.work[vertex] == 0 ||
          dag.resource[vertex] == PrecedenceDag::onNothing)
        continue;
      chain.jobs.push_back({dag.work[vertex], dag.resource[vertex]});
      numbers[index][vertex] = chain.jobs.size();
    }
    chain.released.assign(chain.jobs.size() + 1, 0);
    if (!communicates(chain)) {
      chains[0].jobs.clear();
      return;
    }
    needs[index].assign(dag.size(), 0);
    for (unsigned vertex = 0; vertex != dag.size(); ++vertex)
      for (unsigned predecessor : dag.predecessors(vertex))
        needs[index][vertex] =
            std::max({needs[index][vertex], needs[index][predecessor],
                      numbers[index][predecessor]});
  }
  std::vector<int64_t> heads = dag.getLongestPaths();
  // The times of a chain that runs alone.
  std::array<std::vector<int64_t>, 2> times;
  for (auto [index, chain] : llvm::enumerate(chains)) {
    times[index].assign(chain.jobs.size() + 1, 0);
    for (unsigned vertex = 0; vertex != dag.size(); ++vertex)
      if (unsigned number = numbers[index][vertex])
        times[index][number] = addNs(heads[vertex], dag.work[vertex]);
  }
  for (unsigned vertex = 0; vertex != dag.size(); ++vertex) {
    if (taken[vertex] || dag.resource[vertex] != PrecedenceDag::onStream)
      continue;
    // Of two chains that it depends on, the one that comes later counts.
    unsigned first = needs[0][vertex], second = needs[1][vertex];
    unsigned later = times[1][second] > times[0][first] ? 1 : 0;
    int64_t &work = chains[later].released[later ? second : first];
    work = addNs(work, dag.work[vertex]);
  }
}

void TwoJobs::leaveFree(Pasts &pasts, int64_t ns) {
  for (Past &past : pasts) {
    int64_t filled = std::min(past.stock, ns);
    past.stock -= filled;
    past.idle += ns - filled;
  }
}

void TwoJobs::release(Pasts &pasts, int64_t work) {
  if (work != 0)
    for (Past &past : pasts)
      past.stock = addNs(past.stock, work);
}

void TwoJobs::add(std::array<size_t, 2> point, const Pasts &added) {
  // Of chains that are too long, the beginning counts.
  bool isTooFar = point[0] >= maxJobs || point[1] >= maxJobs;
  bool isAtEnd =
      point[0] == chains[0].jobs.size() && point[1] == chains[1].jobs.size();
  if (isTooFar || isAtEnd) {
    for (const Past &past : added)
      leastIdle = std::min(leastIdle, past.idle);
    return;
  }
  std::vector<Pasts> &row = points[point[0]];
  if (row.empty())
    row.resize(std::min(chains[1].jobs.size(), maxJobs) + 1);
  Pasts &pasts = row[point[1]];
  for (const Past &past : added) {
    if (past.idle >= leastIdle)
      continue;
    // More stock saves at most as much idle time.
    auto isNoBetter = [](const Past &a, const Past &b) {
      return a.idle - b.idle >= std::max<int64_t>(a.stock - b.stock, 0);
    };
    if (llvm::any_of(
            pasts, [&](const Past &other) { return isNoBetter(past, other); }))
      continue;
    llvm::erase_if(pasts,
                   [&](const Past &other) { return isNoBetter(other, past); });
    pasts.push_back(past);
  }
  // Too many: one that is as good as two of them.
  constexpr size_t maxPasts = 12;
  if (pasts.size() > maxPasts) {
    llvm::sort(pasts,
               [](const Past &a, const Past &b) { return a.idle < b.idle; });
    size_t closest = 0;
    for (size_t i = 0; i + 1 != pasts.size(); ++i)
      if (pasts[i + 1].idle - pasts[i].idle <
          pasts[closest + 1].idle - pasts[closest].idle)
        closest = i;
    pasts[closest].stock = pasts[closest + 1].stock;
    pasts.erase(pasts.begin() + closest + 1);
  }
}

void TwoJobs::goOnAlone(unsigned index, Progress progress, size_t numJobs,
                        Pasts &pasts) const {
  const Chain &chain = chains[index];
  while (progress.jobs != numJobs) {
    const ChainJob &job = chain.jobs[progress.jobs];
    if (job.resource != PrecedenceDag::onStream)
      leaveFree(pasts, job.work - progress.done);
    release(pasts, chain.released[++progress.jobs]);
    progress.done = 0;
  }
}

void TwoJobs::follow(std::array<size_t, 2> point, Pasts pasts) {
  std::array<Progress, 2> now = {Progress{point[0]}, Progress{point[1]}};
  // By chain: how far the other one was, and the pasts, when it ended its last
  // job.
  std::array<std::pair<Progress, Pasts>, 2> atBoundary = {
      std::pair(now[1], pasts), std::pair(now[0], pasts)};
  while (true) {
    // One chain has ended: the other advances job by job.
    for (unsigned ended : {0, 1}) {
      if (now[ended].jobs != chains[ended].jobs.size())
        continue;
      std::array<size_t, 2> next = {now[0].jobs, now[1].jobs};
      unsigned other = 1 - ended;
      if (next[other] != chains[other].jobs.size())
        goOnAlone(other, now[other], ++next[other], pasts);
      add(next, pasts);
      return;
    }
    const ChainJob &first = chains[0].jobs[now[0].jobs];
    const ChainJob &second = chains[1].jobs[now[1].jobs];
    if (first.resource == second.resource) {
      for (unsigned goes : {0, 1}) {
        // Its next job is the first on the resource; the other chain waits
        // where it has not begun its own.
        Pasts past = pasts;
        Progress from = now[goes];
        unsigned waits = 1 - goes;
        if (now[waits].done != 0) {
          from = atBoundary[waits].first;
          past = atBoundary[waits].second;
        }
        std::array<size_t, 2> next;
        next[goes] = now[goes].jobs + 1;
        next[waits] = now[waits].jobs;
        goOnAlone(goes, from, next[goes], past);
        add(next, past);
      }
      return;
    }
    std::array<const ChainJob *, 2> jobs = {&first, &second};
    int64_t step =
        std::min(first.work - now[0].done, second.work - now[1].done);
    if (first.resource != PrecedenceDag::onStream &&
        second.resource != PrecedenceDag::onStream)
      leaveFree(pasts, step);
    std::array<bool, 2> ended = {};
    for (unsigned index : {0, 1}) {
      now[index].done += step;
      if (now[index].done != jobs[index]->work)
        continue;
      ended[index] = true;
      now[index] = {now[index].jobs + 1, 0};
      release(pasts, chains[index].released[now[index].jobs]);
    }
    for (unsigned index : {0, 1})
      if (ended[index])
        atBoundary[index] = {now[1 - index], pasts};
    if (ended[0] && ended[1]) {
      add({now[0].jobs, now[1].jobs}, pasts);
      return;
    }
  }
}

int64_t TwoJobs::getIdle(int64_t mostIdle, size_t maxPoints) {
  if (chains[0].jobs.empty() || mostIdle <= 0)
    return 0;
  leastIdle = mostIdle;
  points.resize(chains[0].jobs.size() + 1);
  add({0, 0}, {{0, addNs(chains[0].released[0], chains[1].released[0])}});
  size_t numFollowed = 0;
  for (size_t i = 0; i != points.size(); ++i) {
    for (size_t j = 0; j < points[i].size(); ++j) {
      if (points[i][j].empty())
        continue;
      if (++numFollowed > maxPoints) {
        // Every path that is not at its end comes through one of these points.
        for (const std::vector<Pasts> &row : points)
          for (const Pasts &pasts : row)
            for (const Past &past : pasts)
              leastIdle = std::min(leastIdle, past.idle);
        return leastIdle;
      }
      Pasts pasts = std::move(points[i][j]);
      points[i][j].clear();
      follow({i, j}, std::move(pasts));
    }
    std::vector<Pasts>().swap(points[i]);
  }
  return leastIdle;
}

int64_t braid::getTwoJobIdle(const PrecedenceDag &dag, int64_t mostIdle,
                             size_t maxPoints) {
  // Sums have to fit.
  constexpr int64_t tooLong = std::numeric_limits<int64_t>::max() / 4;
  int64_t sum = 0;
  for (int64_t work : dag.work)
    sum = addNs(sum, work);
  if (sum >= tooLong)
    return 0;
  return TwoJobs(dag).getIdle(mostIdle, maxPoints);
}
