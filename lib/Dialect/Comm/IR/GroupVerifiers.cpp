//===- GroupVerifiers.cpp - Verifiers that need the group -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommVerifiers.h"

#include "braid/Dialect/Comm/IR/CollectiveMethods.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace braid::comm;

LogicalResult braid::comm::verifyGroup(Operation *op, FlatSymbolRefAttr group,
                                       Operation *symbol) {
  // C1
  if (!symbol)
    return op->emitOpError()
           << "uses unknown group '" << group.getValue()
           << "', expected a comm.group in the nearest symbol table";
  if (isa<GroupOp>(symbol))
    return success();
  InFlightDiagnostic diagnostic =
      op->emitOpError() << "uses '" << group.getValue()
                        << "' as a group, expected a comm.group, found '"
                        << symbol->getName() << "'";
  diagnostic.attachNote(symbol->getLoc()) << "the symbol is here";
  return diagnostic;
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

/// Verifies C10: `whole` is `part` times as many as the group has members,
/// along `splitDim`.
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

/// Verifies C15: `collective` answers what its row in the table of collectives
/// asks for.
static LogicalResult verifyAnswers(CollectiveOpInterface collective) {
  Operation *op = collective;
  const CollectiveTraits &traits = collective.getCollectiveTraits();
  auto expect = [&](StringRef method, bool isGiven,
                    bool isExpected) -> LogicalResult {
    if (isGiven == isExpected)
      return success();
    return op->emitOpError()
           << "is a collective of kind '" << traits.name << "' and its '"
           << method << "' gives " << (isGiven ? "a value" : "none")
           << ", expected " << (isExpected ? "one" : "none");
  };
  if (failed(expect("getReductionKind",
                    collective.getReductionKind().has_value(),
                    traits.flow == BRAID_RT_FLOW_REDUCE)) ||
      failed(expect("getRootIndex", collective.getRootIndex().has_value(),
                    traits.hasRoot)))
    return failure();
  if (isMemoryEffectFree(op))
    return op->emitOpError()
           << "has no memory effects, expected effects on its communicator, as "
              "passes erase and merge ops without effects";
  return success();
}

/// True unless the verifier of `group` is about to report its lists.
static bool hasReadableLists(GroupOp group) {
  return !group.getRanks() ||
         llvm::all_of(*group.getRanks(), [](Attribute list) {
           auto ranks = dyn_cast<DenseI64ArrayAttr>(list);
           return ranks && !ranks.empty();
         });
}

LogicalResult braid::comm::verifyCollectiveMembers(Operation *op) {
  auto collective = cast<CollectiveOpInterface>(op);
  GroupOp group = lookupGroup(op, collective.getGroupAttr());
  if (!hasReadableLists(group))
    return success();
  // C11
  if (std::optional<int64_t> root = collective.getRootIndex())
    if (failed(verifyMember(op, "root", *root, group)))
      return failure();
  if (failed(verifyGroupSizes(collective, group)) ||
      failed(collective.verifyMembers(group)))
    return failure();
  // The ops of the dialect answer for themselves.
  if (isa_and_nonnull<CommDialect>(op->getDialect()))
    return success();
  if (failed(verifyAnswers(collective)))
    return failure();
  return verifyCall(collective, group);
}

LogicalResult RankOp::verifySymbolUses(SymbolTableCollection &symbolTables) {
  return verifyGroup(
      *this, getGroupAttr(),
      symbolTables.lookupNearestSymbolFrom(*this, getGroupAttr()));
}

LogicalResult SizeOp::verifySymbolUses(SymbolTableCollection &symbolTables) {
  return verifyGroup(
      *this, getGroupAttr(),
      symbolTables.lookupNearestSymbolFrom(*this, getGroupAttr()));
}
