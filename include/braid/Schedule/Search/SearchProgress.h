//===- SearchProgress.h - Progress of a search ------------------*- C++ -*-===//
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

/// The progress of a running search for other threads. The search writes it.
struct SearchProgress {
  std::atomic<uint64_t> steps{0};
  std::atomic<uint64_t> maxSteps{0};
  /// The makespan of the best order so far; 0 before there is one.
  std::atomic<int64_t> makespanNs{0};
  std::atomic<int64_t> lowerBoundNs{0};
};

} // namespace braid

#endif // BRAID_SCHEDULE_SEARCH_SEARCHPROGRESS_H
