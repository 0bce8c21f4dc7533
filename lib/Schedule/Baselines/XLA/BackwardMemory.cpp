//===- BackwardMemory.cpp - What lives, from the end back -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BackwardMemory.h"

#include "braid/Support/Units.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;

BackwardMemory::BackwardMemory(const SchedulingProblem &problem)
    : buffers(problem.buffers), lists(problem),
      transientBytes(problem.graph.size(), 0), live(problem.liveBytes) {
  for (auto [index, buffer] : llvm::enumerate(buffers)) {
    missing.push_back(lists.usersOf[index].size());
    if (buffer.escapes)
      live = addNs(live, buffer.bytes);
  }
  for (auto [node, bytes] : problem.transientBytes)
    transientBytes[node] = bytes;
  peak = live;
}

std::pair<int64_t, int64_t> BackwardMemory::getEffect(unsigned node) const {
  int64_t most = live, after = 0;
  for (unsigned index : lists.buffersOf[node]) {
    const GraphBuffer &buffer = buffers[index];
    if (!buffer.escapes && missing[index] == lists.usersOf[index].size())
      most = addNs(most, buffer.bytes);
    if (missing[index] == 1)
      after = addNs(after, buffer.bytes);
  }
  return {subtractNs(most, after) - live, addNs(most, transientBytes[node])};
}

void BackwardMemory::place(unsigned node) {
  auto [added, most] = getEffect(node);
  live += added;
  peak = std::max(peak, most);
  for (unsigned index : lists.buffersOf[node])
    --missing[index];
}
