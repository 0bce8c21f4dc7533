//===- CommSymbolUses.cpp - Verifiers that need the group -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommVerifiers.h"

using namespace mlir;
using namespace braid::comm;

/// Looks `group` up and reports what stands there instead of a group.
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

/// Every index within the group that `op` names is one of every communicator's
/// members.
static LogicalResult verifyMember(Operation *op, StringRef name, int64_t index,
                                  GroupOp group) {
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

/// The size that all communicators of `group` share; reports lists that differ,
/// because results would differ in type from rank to rank. None for `all`.
static FailureOr<std::optional<int64_t>> getSharedSize(Operation *op,
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
  CollectiveKind kind = collective.getCollectiveKind();
  bool isJoin =
      kind == CollectiveKind::all_gather || kind == CollectiveKind::gather;
  bool isSplit =
      kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::scatter;
  if (!isJoin && !isSplit)
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

/// What any collective says of its group.
static LogicalResult verifyCollectiveUses(CollectiveOpInterface collective,
                                          SymbolTableCollection &symbolTables,
                                          GroupOp &group) {
  group = verifyGroup(collective, collective.getGroupAttr(), symbolTables);
  if (!group)
    return failure();
  if (std::optional<int64_t> root = collective.getRootIndex())
    if (failed(verifyMember(collective, "root", *root, group)))
      return failure();
  return verifyGroupSizes(collective, group);
}

#define BRAID_COLLECTIVE_USES(OpTy)                                            \
  LogicalResult OpTy::verifySymbolUses(SymbolTableCollection &symbolTables) {  \
    GroupOp group;                                                             \
    return verifyCollectiveUses(cast<CollectiveOpInterface>(getOperation()),   \
                                symbolTables, group);                          \
  }

BRAID_COLLECTIVE_USES(AllReduceOp)
BRAID_COLLECTIVE_USES(ReduceOp)
BRAID_COLLECTIVE_USES(BroadcastOp)
BRAID_COLLECTIVE_USES(AllGatherOp)
BRAID_COLLECTIVE_USES(ReduceScatterOp)
BRAID_COLLECTIVE_USES(GatherOp)
BRAID_COLLECTIVE_USES(ScatterOp)
BRAID_COLLECTIVE_USES(BarrierOp)
#undef BRAID_COLLECTIVE_USES

LogicalResult
AllToAllOp::verifySymbolUses(SymbolTableCollection &symbolTables) {
  GroupOp group;
  if (failed(verifyCollectiveUses(cast<CollectiveOpInterface>(getOperation()),
                                  symbolTables, group)))
    return failure();
  if (!hasSplits()) {
    // Every communicator cuts the operands into as many parts as it has
    // members.
    for (ArrayRef<int64_t> list : group.getRankLists())
      for (auto [index, input] : llvm::enumerate(getInputs())) {
        int64_t size = cast<ShapedType>(input.getType()).getDimSize(0);
        if (ShapedType::isStatic(size) &&
            size % static_cast<int64_t>(list.size()) != 0)
          return emitOpError()
                 << "has source #" << index << " of size " << size
                 << " along dim 0, expected a multiple of " << list.size()
                 << " for the " << list.size() << " members of group '"
                 << group.getSymName() << "'";
      }
    return success();
  }
  FailureOr<std::optional<int64_t>> members = getSharedSize(*this, group);
  if (failed(members))
    return failure();
  int64_t found = getSplitMatrix() ? getSplitMatrixAttr().size()
                                   : getStaticSendSizes()->size();
  if (!*members || found == **members)
    return success();
  return emitOpError() << "has " << found
                       << (getSplitMatrix() ? " rows in its split matrix"
                                            : " send sizes")
                       << ", expected " << **members
                       << ", one for each member of group '"
                       << group.getSymName() << "'";
}

LogicalResult PermuteOp::verifySymbolUses(SymbolTableCollection &symbolTables) {
  GroupOp group;
  if (failed(verifyCollectiveUses(cast<CollectiveOpInterface>(getOperation()),
                                  symbolTables, group)))
    return failure();
  for (auto pair : getPairs().getAsRange<DenseI64ArrayAttr>())
    for (int64_t member : pair.asArrayRef())
      if (failed(verifyMember(*this, "member", member, group)))
        return failure();
  return success();
}

/// Verifies a constant peer. In a group of one it could only be the rank
/// itself.
static LogicalResult verifyPeerUses(CollectiveOpInterface collective,
                                    std::optional<int64_t> peer,
                                    SymbolTableCollection &symbolTables) {
  GroupOp group;
  if (failed(verifyCollectiveUses(collective, symbolTables, group)))
    return failure();
  if (group.getMinimumSize() == 1)
    return collective->emitOpError() << "is on group '" << group.getSymName()
                                     << "', which has a communicator of one "
                                        "rank, expected another member "
                                        "as the peer";
  return peer ? verifyMember(collective, "peer", *peer, group) : success();
}

LogicalResult SendOp::verifySymbolUses(SymbolTableCollection &symbolTables) {
  return verifyPeerUses(cast<CollectiveOpInterface>(getOperation()),
                        getStaticPeer(), symbolTables);
}

LogicalResult RecvOp::verifySymbolUses(SymbolTableCollection &symbolTables) {
  return verifyPeerUses(cast<CollectiveOpInterface>(getOperation()),
                        getStaticPeer(), symbolTables);
}

LogicalResult RankOp::verifySymbolUses(SymbolTableCollection &symbolTables) {
  return success(verifyGroup(*this, getGroupAttr(), symbolTables));
}

LogicalResult SizeOp::verifySymbolUses(SymbolTableCollection &symbolTables) {
  return success(verifyGroup(*this, getGroupAttr(), symbolTables));
}
