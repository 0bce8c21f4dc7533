//===- CommSymbolUses.cpp - Verifiers that need the group -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CollectiveMethods.h"
#include "CommVerifiers.h"

using namespace mlir;
using namespace braid::comm;

/// Looks up `group`. Emits an error if the symbol is not that of a group.
static GroupOp verifyGroup(Operation *op, FlatSymbolRefAttr group,
                           SymbolTableCollection &symbolTables) {
  Operation *symbol = symbolTables.lookupNearestSymbolFrom(op, group);
  if (!symbol) {
    op->emitOpError() << "uses unknown group '" << group.getValue()
                      << "', expected a comm.group in the nearest symbol table";
    return {};
  }
  auto groupOp = dyn_cast<GroupOp>(symbol);
  if (!groupOp) {
    InFlightDiagnostic diagnostic =
        op->emitOpError() << "uses '" << group.getValue()
                          << "' as a group, expected a comm.group, found '"
                          << symbol->getName() << "'";
    diagnostic.attachNote(symbol->getLoc()) << "the symbol is here";
  }
  return groupOp;
}

LogicalResult braid::comm::verifyMember(Operation *op, StringRef name,
                                        int64_t index, GroupOp group) {
  std::optional<int64_t> size = group.getMinimumSize();
  if (index >= 0 && (!size || index < *size))
    return success();
  InFlightDiagnostic diagnostic = op->emitOpError();
  diagnostic << "has " << name << " " << index << ", expected an index within ";
  diagnostic << "group '" << group.getSymName() << "'";
  if (size)
    diagnostic << ", from 0 to " << *size - 1;
  return diagnostic;
}

FailureOr<std::optional<int64_t>> braid::comm::getSharedSize(Operation *op,
                                                             GroupOp group) {
  std::optional<int64_t> size = group.getStaticSize();
  if (!size && !group.isAll())
    return op->emitOpError()
           << "has a shape that depends on the size of group '"
           << group.getSymName() << "', expected lists of equal lengths there";
  return size;
}

/// `whole` is `part` times as many as the group has members, along `splitDim`.
static LogicalResult verifyWholeAndPart(Operation *op, ShapedType whole,
                                        ShapedType part, int64_t splitDim,
                                        std::optional<int64_t> members,
                                        GroupOp group) {
  if (!members)
    return success();
  int64_t wholeSize = whole.getDimSize(splitDim);
  int64_t partSize = part.getRank() == 0 ? 1 : part.getDimSize(splitDim);
  if (ShapedType::isDynamic(wholeSize) || ShapedType::isDynamic(partSize))
    return success();
  if (int64_t product;
      !llvm::MulOverflow(partSize, *members, product) && wholeSize == product)
    return success();
  return op->emitOpError() << "has a whole of type " << whole
                           << " and a part of type " << part << ", expected "
                           << *members << " times the part along dim "
                           << splitDim << " for the " << *members
                           << " members of group '" << group.getSymName()
                           << "'";
}

static LogicalResult verifyGroupSizes(CollectiveOpInterface collective,
                                      GroupOp group) {
  Operation *op = collective;
  auto start = cast<AsyncStartOpInterface>(op);
  braid_rt_shape shape = collective.getCollectiveTraits().shape;
  bool isJoin = shape == BRAID_RT_SHAPE_JOIN;
  if (!isJoin && shape != BRAID_RT_SHAPE_SPLIT)
    return success();
  FailureOr<std::optional<int64_t>> members = getSharedSize(op, group);
  if (failed(members))
    return failure();
  for (size_t i = 0, e = start.getSourceOperands().size(); i < e; ++i) {
    auto [source, value] = getSourceAndValueTypes(start, i);
    if (failed(verifyWholeAndPart(op, isJoin ? value : source,
                                  isJoin ? source : value,
                                  collective.getSplitDim(), *members, group)))
      return failure();
  }
  return success();
}

LogicalResult
braid::comm::verifyCollectiveUses(CollectiveOpInterface collective,
                                  SymbolTableCollection &symbolTables) {
  GroupOp group =
      verifyGroup(collective, collective.getGroupAttr(), symbolTables);
  if (!group)
    return failure();
  if (std::optional<int64_t> root = collective.getRootIndex())
    if (failed(verifyMember(collective, "root", *root, group)))
      return failure();
  if (failed(verifyGroupSizes(collective, group)))
    return failure();
  return collective.verifyMembers(group);
}

LogicalResult RankOp::verifySymbolUses(SymbolTableCollection &symbolTables) {
  return success(verifyGroup(*this, getGroupAttr(), symbolTables));
}

LogicalResult SizeOp::verifySymbolUses(SymbolTableCollection &symbolTables) {
  return success(verifyGroup(*this, getGroupAttr(), symbolTables));
}
