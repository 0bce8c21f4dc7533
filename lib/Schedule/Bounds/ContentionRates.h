//===- ContentionRates.h - Rates of ops beside lanes ------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which operations of lanes may run beside which op of the stream, and at which
// rates both can run then at most.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_BOUNDS_CONTENTIONRATES_H
#define BRAID_LIB_SCHEDULE_BOUNDS_CONTENTIONRATES_H

#include "KernelOverlap.h"
#include "PrecedenceDag.h"
#include "Schedule/Model/Contention.h"
#include "braid/Schedule/Model/SchedulingProblem.h"

#include <vector>

namespace braid {

/// Operations of one lane that ask for about the same.
struct Kind {
  unsigned lane = 0;
  /// What each of them asks for at least, and of the link at most.
  int64_t multiprocessors = 0;
  /// Where multiprocessors are queued for: those that have to be free, and that
  /// persistent kernels lose.
  int64_t needed = 0, taken = 0;
  double memoryDemand = 0;
  double leastLinkDemand = 0, mostLinkDemand = 0;
  /// The demands that interfere differently with compute, one of each engine.
  llvm::SmallVector<const ResourceDemand *, 2> engines;
  /// False if nothing is known of one of them.
  bool isKnown = true;
  int64_t workNs = 0;
  /// What a ns beside the op that it slows down most costs.
  double mostMultiplier = 0;
  /// What it costs at least.
  double leastMultiplier = 1;
};

/// Operations that may run at once: at most one kind of each lane.
struct KindSet {
  llvm::SmallVector<unsigned, 4> kinds;
  /// The highest rate that each of them can have beside compute that uses no
  /// memory.
  llvm::SmallVector<double, 4> rates;
  /// What all of them take at least.
  int64_t multiprocessors = 0;
  double memoryDemand = 0;
  /// The kinds as bits.
  uint32_t mask = 0;
  /// Where multiprocessors are queued for: what a persistent kernel has at most
  /// beside them if it begins after them, and what it may have if they begin
  /// after it.
  int64_t leftToLater = 0, leftToEarlier = 0;
};

class ContentionRates {
protected:
  /// `problem` has to outlive this, and has demands.
  explicit ContentionRates(const SchedulingProblem &problem);

  /// True if the operations of `set` may all run beside `node`.
  bool isBeside(const KindSet &set, unsigned node) const {
    return (set.mask & ~beside[node]) == 0;
  }
  /// True if `set` leaves too little to `node` for both to run at any time.
  bool isTaken(const KindSet &set, unsigned node) const {
    return !getOverlaps(node).empty() &&
           getMostBlocks(problem.demands[node], machine) >
               std::max(set.leftToLater, set.leftToEarlier);
  }
  llvm::ArrayRef<KernelOverlap> getOverlaps(unsigned node) const {
    auto [begin, end] = overlapsOf[node];
    return llvm::ArrayRef(overlaps).slice(begin, end - begin);
  }
  /// Of a body that may be faster, nothing but its least time is known.
  bool isKnown(unsigned node) const {
    return costs[node] == problem.graph[node].cost;
  }

  static constexpr unsigned none = ~0u;

  const SchedulingProblem &problem;
  const MachineModel &machine;
  std::vector<Kind> kinds;
  /// By node: of starts their kind.
  std::vector<unsigned> kindOf;
  std::vector<KindSet> sets;
  unsigned numLanes = 0;
  /// False if there are operations without a kind.
  bool allHaveKinds = true;
  /// What all lanes together hold at most, and what each asks of its link.
  int64_t mostHeld = 0;
  std::vector<double> mostLinkOf;
  /// By node of the stream whose rates are known: where its rates begin.
  std::vector<unsigned> rateIndex;
  /// By op and set: 1 / q above, and how much slower memory makes operations
  /// that use it, divided by q.
  std::vector<double> slowdown, progress;
  /// By op and set: the highest rate of operations beside the op, but for
  /// memory, times the op's slowdown.
  std::vector<double> progressBeside;
  /// By node of the stream: the kinds that may run beside it, as bits.
  std::vector<uint32_t> beside;
  PrecedenceDag dag;
  /// By node: of starts what their launch takes at least.
  std::vector<int64_t> launchNs;
  /// By node of the stream whose blocks may keep operations waiting: where its
  /// overlaps begin.
  std::vector<std::pair<unsigned, unsigned>> overlapsOf;
  std::vector<KernelOverlap> overlaps;
  /// By node: what it takes at least.
  std::vector<int64_t> costs;
  std::vector<bool> isBody;

private:
  void findKinds();
  void findKindsOf(unsigned lane, llvm::ArrayRef<unsigned> starts,
                   unsigned maxKinds);
  void findSets();
  void findBeside();
  void findRates();
  void findRatesOf(unsigned node);
  /// What compute of `costNs` and the operations of `set` do to each other at
  /// least.
  Interference getLeastInterference(int64_t costNs,
                                    const ResourceDemand &demand,
                                    const KindSet &set) const;
};

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_BOUNDS_CONTENTIONRATES_H
