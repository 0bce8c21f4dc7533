//===- SearchProgress.h - Looks into a running search -----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SCHEDULE_SEARCH_SEARCHPROGRESS_H
#define BRAID_SCHEDULE_SEARCH_SEARCHPROGRESS_H

#include <atomic>
#include <cstdint>

namespace braid {

/// What another thread sees of a running search. The search writes it.
struct SearchProgress {
  std::atomic<uint64_t> steps{0};
  std::atomic<uint64_t> maxSteps{0};
  /// The makespan of the best order so far; 0 before there is one.
  std::atomic<int64_t> makespanNs{0};
  std::atomic<int64_t> lowerBoundNs{0};
};

} // namespace braid

#endif // BRAID_SCHEDULE_SEARCH_SEARCHPROGRESS_H
