//===- RankTrace.cpp - What one rank communicates on one path -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankTrace.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <algorithm>

using namespace braid;
using namespace mlir;

SmallVector<int64_t> braid::getMembers(comm::GroupOp group, int64_t rank,
                                       int64_t numRanks) {
  if (group.isAll())
    return llvm::to_vector(llvm::seq<int64_t>(0, numRanks));
  for (ArrayRef<int64_t> list : group.getRankLists())
    if (llvm::is_contained(list, rank))
      return SmallVector<int64_t>(list);
  return {};
}

std::string braid::describeSequence(const RankTrace &trace, int64_t rank,
                                    unsigned position) {
  std::string text = "rank " + std::to_string(rank) + " starts ";
  if (trace.operations.empty())
    return text + "nothing";
  constexpr unsigned around = 4;
  unsigned begin = position > around ? position - around : 0;
  unsigned end =
      std::min<unsigned>(trace.operations.size(), position + around + 1);
  if (begin != 0)
    text += "..., ";
  for (unsigned i = begin; i < end; ++i) {
    const StartedOperation &operation = trace.operations[i];
    if (i != begin)
      text += ", ";
    comm::CollectiveOpInterface op = operation.op;
    text += comm::stringifyCollectiveKind(op.getCollectiveKind());
    comm::GroupOp group = operation.group;
    text += (" on '" + group.getSymName() + "'").str();
    if (operation.peer)
      text += " with " + std::to_string(*operation.peer);
  }
  if (end != trace.operations.size())
    text += ", ...";
  return text;
}
