//===- RandomOps.cpp - Random collectives on overlapping groups -----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomOps.h"

using namespace braid::test;

static constexpr int32_t ranks = 4;

static int64_t valueOf(size_t op, int32_t rank, int64_t position) {
  return 1000 * static_cast<int64_t>(op) + 10 * rank + position % 7;
}

/// The members of the rank's list.
static std::vector<int32_t> membersOf(int group, int32_t rank) {
  if (group == 0)
    return {0, 1, 2, 3};
  if (group == 1)
    return rank < 2 ? std::vector<int32_t>{0, 1} : std::vector<int32_t>{2, 3};
  return rank % 2 ? std::vector<int32_t>{1, 3} : std::vector<int32_t>{0, 2};
}

std::vector<RandomOp> braid::test::randomOps(std::mt19937 &random) {
  std::vector<RandomOp> ops(20);
  for (size_t i = 0; i < ops.size(); ++i) {
    RandomOp &op = ops[i];
    op.group = static_cast<int>(random() % 3);
    op.kind = static_cast<int>(random() % 3);
    // Small ones are done on the spot, large ones by many.
    op.size = static_cast<int64_t>(random() % (random() % 4 ? 100 : 40000));
    op.waitAfter = static_cast<int>(i + random() % 6);
    for (int32_t rank = 0; rank < ranks; ++rank) {
      size_t factor = op.kind == 1 ? membersOf(op.group, rank).size() : 1;
      op.sources.emplace_back(op.size);
      op.results.emplace_back(static_cast<size_t>(op.size) * factor, -1);
      for (int64_t p = 0; p < op.size; ++p)
        op.sources[rank][p] = valueOf(i, rank, p);
    }
  }
  return ops;
}

void *braid::test::startOp(RandomOp &op, const braid_rt_group *group,
                           int32_t rank) {
  int64_t sizes[] = {op.size};
  auto resultSize = static_cast<int64_t>(op.results[rank].size());
  braid_rt_view from = {op.sources[rank].data(), sizes, BRAID_RT_I64, 1};
  braid_rt_view to = {op.results[rank].data(), &resultSize, BRAID_RT_I64, 1};
  if (op.kind == 1)
    return braid_rt_all_gather(group, 1, &from, &to, 0, nullptr);
  if (op.kind == 2)
    return braid_rt_reduce(group, 1, &from, &to, BRAID_RT_SUM, nullptr, 0,
                           nullptr);
  return braid_rt_all_reduce(group, 1, &from, &to, BRAID_RT_SUM, nullptr,
                             nullptr);
}

int64_t braid::test::countWrong(const RandomOp &op, size_t number,
                                int32_t rank) {
  std::vector<int32_t> members = membersOf(op.group, rank);
  int64_t wrong = 0;
  for (size_t i = 0; i < op.results[rank].size(); ++i) {
    auto position = static_cast<int64_t>(i);
    int64_t expected = 0;
    if (op.kind == 1)
      expected = valueOf(number, members[i / op.size], position % op.size);
    else if (op.kind == 2 && rank != members[0])
      expected = valueOf(number, rank, position);
    else
      for (int32_t member : members)
        expected += valueOf(number, member, position);
    wrong += op.results[rank][i] != expected;
  }
  return wrong;
}
