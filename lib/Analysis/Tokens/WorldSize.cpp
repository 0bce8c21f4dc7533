//===- WorldSize.cpp - How many ranks a program is for --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Analysis/Tokens/WorldSize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include <algorithm>
#include <limits>

using namespace braid;
using namespace mlir;

/// The least number of ranks of a run that has `rank`.
static int64_t getNumRanks(int64_t rank) {
  return rank == std::numeric_limits<int64_t>::max() ? rank : rank + 1;
}

std::optional<int64_t>
braid::getImpliedMembers(comm::CollectiveOpInterface op) {
  braid_rt_shape shape = op.getCollectiveTraits().shape;
  auto start = cast<comm::AsyncStartOpInterface>(op.getOperation());
  bool isJoin = shape == BRAID_RT_SHAPE_JOIN;
  if ((!isJoin && shape != BRAID_RT_SHAPE_SPLIT) ||
      start.getSourceOperands().empty())
    return std::nullopt;
  SmallVector<Value> destinations = start.getDestinations();
  auto source = dyn_cast<ShapedType>(start.getSources().front().getType());
  auto value = dyn_cast_if_present<ShapedType>(
      destinations.empty() ? start.getInFlightType(0)
                           : destinations.front().getType());
  if (!source || !value || !source.hasStaticShape() || !value.hasStaticShape())
    return std::nullopt;
  int64_t whole = (isJoin ? value : source).getNumElements();
  int64_t part = (isJoin ? source : value).getNumElements();
  if (part == 0 || whole % part != 0)
    return std::nullopt;
  return whole / part;
}

/// The largest index within a group that `op` names.
static int64_t getLargestIndex(comm::CollectiveOpInterface op) {
  int64_t largest = op.getRootIndex().value_or(0);
  auto count = [&](ArrayRef<int64_t> numbers) {
    for (int64_t number : numbers)
      largest = std::max(largest, number);
  };
  if (auto send = dyn_cast<comm::SendOp>(op.getOperation()))
    count(send.getStaticPeer().value_or(0));
  if (auto receive = dyn_cast<comm::RecvOp>(op.getOperation()))
    count(receive.getStaticPeer().value_or(0));
  if (auto permute = dyn_cast<comm::PermuteOp>(op.getOperation()))
    for (DenseI64ArrayAttr pair :
         permute.getPairs().getAsRange<DenseI64ArrayAttr>())
      count(pair.asArrayRef());
  return largest;
}

WorldSize braid::getWorldSize(ModuleOp module, std::optional<int64_t> given,
                              SymbolTableCollection &symbolTables) {
  std::optional<int64_t> implied;
  // Every run has the ranks that groups list. Code that names other ranks, of a
  // group of all, may never run.
  int64_t listed = 1, named = 2;
  bool hasGroupOfAll = false;
  auto isOnAll = [&](Operation *op, FlatSymbolRefAttr name) {
    comm::GroupOp group = comm::lookupGroup(op, name, symbolTables);
    return group && group.isAll();
  };
  module->walk([&](Operation *op) {
    if (auto group = dyn_cast<comm::GroupOp>(op)) {
      hasGroupOfAll |= group.isAll();
      for (ArrayRef<int64_t> list : group.getRankLists())
        for (int64_t rank : list)
          listed = std::max(listed, getNumRanks(rank));
    } else if (auto collective = dyn_cast<comm::CollectiveOpInterface>(op)) {
      if (!isOnAll(op, collective.getGroupAttr()))
        return;
      if (!implied)
        implied = getImpliedMembers(collective);
      if (auto all = dyn_cast<comm::AllToAllOp>(op); all && !implied)
        if (size_t size = all.getSplitMatrix() ? all.getSplitMatrix()->size()
                                               : all.getMixedSendSizes().size())
          implied = size;
      named = std::max(named, getNumRanks(getLargestIndex(collective)));
    } else if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
      // A constant that the program compares its rank with.
      APInt number;
      auto rank = compare.getLhs().getDefiningOp<comm::RankOp>();
      if (rank && isOnAll(rank, rank.getGroupAttr()) &&
          matchPattern(compare.getRhs(), m_ConstantInt(&number)) &&
          number.sge(0) && number.getActiveBits() < 64)
        named = std::max(named, getNumRanks(number.getSExtValue()));
    }
  });
  WorldSize size;
  size.isKnown = given || implied || !hasGroupOfAll;
  size.numRanks = given          ? *given
                  : size.isKnown ? std::max(listed, implied.value_or(1))
                                 : std::max(listed, named);
  module->walk([&](comm::GroupOp group) {
    for (ArrayRef<int64_t> list : group.getRankLists())
      for (int64_t rank : list)
        if (rank >= size.numRanks) {
          size.outOfRange.emplace_back(group, rank);
          return;
        }
  });
  return size;
}
