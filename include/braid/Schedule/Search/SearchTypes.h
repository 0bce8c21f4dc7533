//===- SearchTypes.h - Options and results of a search ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SCHEDULE_SEARCH_SEARCHTYPES_H
#define BRAID_SCHEDULE_SEARCH_SEARCHTYPES_H

#include "braid/Schedule/Bounds/LowerBound.h"
#include "braid/Schedule/Model/SchedulingProblem.h"
#include "braid/Schedule/Search/SearchEffort.h"

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace braid {

/// The progress of a running search for other threads. The search writes it.
struct SearchProgress {
  std::atomic<uint64_t> steps{0};
  std::atomic<uint64_t> maxSteps{0};
  /// The makespan of the best order so far; 0 before there is one.
  std::atomic<int64_t> makespanNs{0};
  std::atomic<int64_t> lowerBoundNs{0};
};

/// What a search may do. The result depends on the problem and on these alone,
/// never on time or on the machine that searches.
struct SearchOptions {
  /// The most steps: nodes placed or examined, over all schedules that the
  /// search tries. The known passes and one list schedule are always tried. 0:
  /// as `getStepLimit` says.
  uint64_t maxSteps = 0;
  SearchEffort effort = SearchEffort::Default;
  /// The seed of the random choices.
  uint64_t seed = 0;
  /// By what share of its makespan the search has to shorten the order of a
  /// pass to replace it. Of several such orders, the one with the lowest peak
  /// memory stays. A search finds orders that are shorter by less than what the
  /// model knows of the machine, and such orders were longer on the machine.
  double minGain = 0;

  /// Whether the search starts from what the other passes make of the problem.
  /// Otherwise the result may be worse than what one of them gives, but never
  /// than the program's order.
  bool usePasses = true;
  /// The bounds that the search looks for.
  LowerBoundEffort boundEffort = LowerBoundEffort::Full;

  /// Receives the progress of the search; may be null.
  SearchProgress *progress = nullptr;
  /// Once another thread sets this, the search ends soon with the best order so
  /// far. Nothing else makes a result depend on time.
  const std::atomic<bool> *stop = nullptr;

  bool isStopped() const {
    return stop && stop->load(std::memory_order_relaxed);
  }
};

/// Why no order was found that keeps `maxMemory`.
struct MemoryExcess {
  /// Bytes above the limit of the best order that was found, at its worst node.
  int64_t bytes = 0;
  /// No order can have a lower peak than this.
  int64_t leastPeakBytes = 0;
  /// True if no legal order keeps the limit; otherwise the search may just have
  /// missed one.
  bool proven = false;
  /// The node of the best order found at which most bytes live, and the buffers
  /// of the problem that do, the largest first.
  unsigned node = 0;
  std::vector<unsigned> buffers;
};

/// How the result was found.
struct SearchStatistics {
  /// Steps taken; at most `maxSteps` but for the last schedule that was tried.
  uint64_t steps = 0;
  /// Orders that were simulated from beginning to end.
  uint64_t ordersTried = 0;
  /// Windows searched, and those that gave something better.
  uint64_t windowsTried = 0, windowsImproved = 0;
  /// Moves tried, and those that were made.
  uint64_t movesTried = 0, movesMade = 0;
};

/// What a search has found.
struct SearchResult {
  /// Legal, and within all limits unless `excess` is set, or the program's
  /// order had to come back (see `searchSchedule`).
  ScheduleOrder order;
  /// Of `order`: the makespan; of the body of a loop the steady period.
  int64_t makespanNs = 0;
  /// No legal order is shorter.
  int64_t lowerBoundNs = 0;
  int64_t peakBytes = 0;
  /// Proven to be as short as any legal order within all limits.
  bool optimal = false;
  /// Which part of the search, or which pass, gave `order`.
  std::string method;
  /// Set if no order was found within `maxMemory`; `order` is then the one with
  /// the lowest peak, and must not be applied.
  std::optional<MemoryExcess> excess;
  SearchStatistics statistics;
};

} // namespace braid

#endif // BRAID_SCHEDULE_SEARCH_SEARCHTYPES_H
