//===- PermuteOp.cpp - Transfers between pairs of members -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommVerifiers.h"

#include "braid/Dialect/Comm/IR/CollectiveMethods.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace braid::comm;

LogicalResult PermuteOp::verify() {
  // A DenseSet reserves the largest integers, which users may write.
  llvm::SmallSet<int64_t, 8> sources, targets;
  for (auto pair : getPairs().getAsRange<DenseI64ArrayAttr>()) {
    // C25
    if (pair.size() != 2)
      return emitOpError() << "has a pair of " << pair.size()
                           << " members, expected a source and a target";
    if (pair[0] < 0 || pair[1] < 0)
      return emitOpError() << "has pair [" << pair[0] << ", " << pair[1]
                           << "], expected indices that are not negative";
    // C26
    if (!sources.insert(pair[0]).second)
      return emitOpError() << "has member " << pair[0]
                           << " as the source of two pairs, expected one";
    if (!targets.insert(pair[1]).second)
      return emitOpError() << "has member " << pair[1]
                           << " as the target of two pairs, expected one";
  }
  return success();
}

LogicalResult PermuteOp::verifyMembers(GroupOp &group) {
  // C25
  for (auto pair : getPairs().getAsRange<DenseI64ArrayAttr>())
    for (int64_t member : pair.asArrayRef())
      if (failed(verifyMember(*this, "member", member, group)))
        return failure();
  return success();
}

SmallVector<CallArgument> PermuteOp::getCallArguments() {
  SmallVector<OpFoldResult> members;
  for (auto pair : getPairs().getAsRange<DenseI64ArrayAttr>())
    llvm::append_range(members,
                       getAsIndexOpFoldResult(getContext(), pair.asArrayRef()));
  return {CallArgument::getNumber(
              Builder(getContext()).getIndexAttr(getPairs().size())),
          CallArgument::getList(members)};
}
