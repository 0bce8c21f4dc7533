//===- ProblemLists.cpp - Awaits and buffers by node ----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/Model/ProblemLists.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace braid;

using Pairs = std::vector<std::pair<unsigned, unsigned>>;

FlatLists::FlatLists(unsigned size,
                     llvm::ArrayRef<std::pair<unsigned, unsigned>> entries)
    : begin(size + 1, 0), values(entries.size()) {
  for (auto [index, value] : entries)
    ++begin[index + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<unsigned> cursor(begin.begin(), begin.end());
  for (auto [index, value] : entries)
    values[cursor[index]++] = value;
}

AwaitLists::AwaitLists(const SchedulingProblem &problem)
    : awaited(problem.graph.size(), problem.awaits) {
  Pairs swapped;
  swapped.reserve(problem.awaits.size());
  for (auto [node, start] : problem.awaits)
    swapped.emplace_back(start, node);
  awaiters = FlatLists(problem.graph.size(), swapped);
}

BufferLists::BufferLists(const SchedulingProblem &problem) {
  Pairs users, buffers;
  std::vector<unsigned> seen(problem.graph.size(), ~0u);
  for (auto [index, buffer] : llvm::enumerate(problem.buffers))
    for (unsigned user : buffer.users) {
      if (seen[user] == index)
        continue;
      seen[user] = index;
      users.emplace_back(index, user);
      buffers.emplace_back(user, index);
    }
  buffersOf = FlatLists(problem.graph.size(), buffers);
  usersOf = FlatLists(problem.buffers.size(), users);
}
