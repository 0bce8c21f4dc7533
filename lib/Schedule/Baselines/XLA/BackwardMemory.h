//===- BackwardMemory.h - What lives, from the end back ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_BASELINES_XLA_BACKWARDMEMORY_H
#define BRAID_LIB_SCHEDULE_BASELINES_XLA_BACKWARDMEMORY_H

#include "braid/Schedule/Model/ProblemLists.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace braid {

/// Follows the bytes that live while an order is laid down from its end to its
/// beginning: a buffer comes to life with the first of its users that is placed
/// and dies with the last.
class BackwardMemory {
public:
  explicit BackwardMemory(const SchedulingProblem &problem);

  /// The bytes that live before what is placed, and the most that live anywhere
  /// in it.
  int64_t getLive() const { return live; }
  int64_t getPeak() const { return peak; }

  /// The bytes that `node` would add, and the most that would live while it
  /// runs. Takes time linear in its buffers.
  std::pair<int64_t, int64_t> getEffect(unsigned node) const;
  void place(unsigned node);

private:
  const std::vector<GraphBuffer> &buffers;
  BufferLists lists;
  std::vector<int64_t> transientBytes;
  /// The users of each buffer that are not placed.
  std::vector<unsigned> missing;
  int64_t live, peak;
};

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_BASELINES_XLA_BACKWARDMEMORY_H
