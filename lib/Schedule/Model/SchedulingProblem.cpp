//===- SchedulingProblem.cpp - What a schedule is judged by ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/Model/SchedulingProblem.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cassert>

using namespace braid;
using namespace llvm;

std::optional<int64_t> SchedulingProblem::getLeastNs(unsigned node) const {
  const auto *it = llvm::partition_point(
      ArrayRef(leastNs), [&](const auto &entry) { return entry.first < node; });
  if (it == ArrayRef(leastNs).end() || it->first != node)
    return std::nullopt;
  return it->second;
}

SmallVector<unsigned, 2>
SchedulingProblem::getAwaitedStarts(unsigned node) const {
  SmallVector<unsigned, 2> starts;
  for (auto it = llvm::lower_bound(awaits, std::pair(node, 0u));
       it != awaits.end() && it->first == node; ++it)
    starts.push_back(it->second);
  return starts;
}

std::vector<unsigned> braid::getLiveBuffers(const SchedulingProblem &problem,
                                            ArrayRef<unsigned> order,
                                            unsigned position) {
  std::vector<unsigned> positions(order.size());
  for (auto [index, node] : llvm::enumerate(order))
    positions[node] = index;
  std::vector<unsigned> live;
  for (auto [index, buffer] : llvm::enumerate(problem.buffers)) {
    unsigned first = order.size(), last = 0;
    for (unsigned user : buffer.users) {
      first = std::min(first, positions[user]);
      last = std::max(last, positions[user]);
    }
    if (buffer.bytes > 0 && first <= position &&
        (buffer.escapes || position <= last))
      live.push_back(index);
  }
  llvm::sort(live, [&](unsigned a, unsigned b) {
    return std::pair(-problem.buffers[a].bytes, a) <
           std::pair(-problem.buffers[b].bytes, b);
  });
  return live;
}
