//===- SearchParts.h - The parts of a search --------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_SEARCH_SEARCHPARTS_H
#define BRAID_LIB_SCHEDULE_SEARCH_SEARCHPARTS_H

#include "braid/Schedule/Search/SearchTypes.h"

namespace braid {

/// The options of a search whose parts can be left out, so that benchmarks and
/// tests see what each part is worth.
struct SearchParts : SearchOptions {
  SearchParts() = default;
  SearchParts(const SearchOptions &options) : SearchOptions(options) {}

  /// Critical-path list schedules by several rules.
  bool useListRules = true;
  /// Changes of the best list rule, as long as they find shorter orders.
  bool useTunedLists = true;
  /// Beam search, for graphs that are too large for the exact search.
  bool useBeam = true;
  /// Exact search, for graphs of at most `maxExactNodes`.
  bool useExact = true;
  /// Exact or nearly exact search of windows of the best order.
  bool useWindows = true;
  /// Moves of single nodes along the critical path.
  bool useMoves = true;
  /// Moves of a few neighbours where ops slow each other down.
  bool useContentionMoves = true;
  /// Moves of single nodes in the body of a loop.
  bool useInsertionMoves = true;
  /// Where ops slow each other down: searches of problems in which contention
  /// is relaxed to multipliers.
  bool useMultipliers = true;
  /// Where none of the passes keeps the limit on memory: greedy orders, a depth
  /// first order, and windows around the peak.
  bool useLeastMemoryLists = true;
  bool useDepthFirst = true;
  bool usePeakWindows = true;
  LowerBoundParts boundParts;
};

/// `searchSchedule` with these parts alone.
SearchResult searchWithParts(const SchedulingProblem &problem,
                             const SearchParts &parts = {});
/// Would leave nothing out.
SearchResult searchSchedule(const SchedulingProblem &problem,
                            const SearchParts &parts) = delete;

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_SEARCH_SEARCHPARTS_H
