//===- AssignLanes.cpp - The comm-assign-lanes pass -----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Analysis/Memory/TransparentOps.h"
#include "Analysis/Memory/TypeSize.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/MathExtras.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMASSIGNLANESPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace mlir;
using namespace braid::comm;

namespace {

/// The settings of a lane; attributes that are not set are null.
struct Lane {
  StringAttr name;
  Attribute ctas, transport;
  /// Bytes for copies of operands that are arguments of the program.
  int64_t staging = 0;
};

/// The bytes of the staging memory are aligned so.
constexpr uint64_t kStagingAlignment = 256;

/// True if `value` is an argument of the program, or a part of one.
bool isOfArgument(Value value) {
  while (Operation *view = value.getDefiningOp())
    if (value = braid::getViewSource(view); !value)
      return false;
  auto function = dyn_cast<FunctionOpInterface>(
      cast<BlockArgument>(value).getOwner()->getParentOp());
  return function && function.isPublic();
}

/// True if symmetric kernels or copy engines move the data of a lane.
bool needsKnownMemory(Attribute transport) {
  auto name = dyn_cast_or_null<StringAttr>(transport);
  return name && name != "default";
}

/// The bytes of the operands of `start` that are arguments of the program.
/// Their memory is the caller's: engines may be able to send only copies of it.
/// The result of a gather has a place for them; reductions need none.
int64_t getStaging(CollectiveOpInterface start) {
  if (start.getCollectiveKind() == CollectiveKind::all_gather ||
      start.getReductionKind())
    return 0;
  uint64_t staging = 0;
  for (Value operand : start->getOperands())
    if (auto type = dyn_cast<RankedTensorType>(operand.getType());
        type && type.hasStaticShape() && isOfArgument(operand))
      staging += llvm::alignTo(braid::getTypeBytes(type, SizeDefaults()),
                               kStagingAlignment);
  return staging;
}

class LaneTable {
public:
  LogicalResult add(GroupOp group);
  LogicalResult add(CollectiveOpInterface start, GroupOp group);
  /// Writes the lanes to their groups.
  void write();

private:
  static LogicalResult merge(Operation *op, StringRef field, Attribute value,
                             GroupOp group, const Lane &lane, Attribute &known);

  llvm::MapVector<GroupOp, llvm::MapVector<StringAttr, Lane>> lanes;
};

LogicalResult LaneTable::add(GroupOp group) {
  auto declared = group->getAttrOfType<ArrayAttr>(CommDialect::kLanesAttrName);
  if (!declared)
    return success();
  for (auto lane : declared.getAsRange<DictionaryAttr>()) {
    auto name = lane.getAs<StringAttr>("name");
    lanes[group][name] = {name, lane.get("ctas"), lane.get("transport")};
    if (auto staging = lane.getAs<IntegerAttr>("staging"))
      lanes[group][name].staging = staging.getInt();
  }
  return success();
}

/// Sets the field `field` of a lane to `value`, as `op` requires. Emits an
/// error if another op requires another value.
LogicalResult LaneTable::merge(Operation *op, StringRef field, Attribute value,
                               GroupOp group, const Lane &lane,
                               Attribute &known) {
  if (!value || value == known)
    return success();
  if (known)
    return op->emitOpError()
           << "has '" << field << "' " << value << " in lane " << lane.name
           << " of @" << group.getSymName() << ", expected " << known
           << ", as the lane has already";
  known = value;
  return success();
}

LogicalResult LaneTable::add(CollectiveOpInterface start, GroupOp group) {
  std::string name = getLaneName(start);
  if (name.empty())
    return success();
  auto nameAttr = StringAttr::get(start.getContext(), name);
  Lane &lane = lanes[group][nameAttr];
  lane.name = nameAttr;
  constexpr StringLiteral ctas = CommDialect::kCtasAttrName;
  constexpr StringLiteral transport = CommDialect::kTransportAttrName;
  if (failed(
          merge(start, ctas, start->getAttr(ctas), group, lane, lane.ctas)) ||
      failed(merge(start, transport, start->getAttr(transport), group, lane,
                   lane.transport)))
    return failure();
  lane.staging = std::max(lane.staging, getStaging(start));
  return success();
}

void LaneTable::write() {
  for (auto &[group, ofGroup] : lanes) {
    Builder builder(group.getContext());
    SmallVector<Attribute> list;
    for (auto &[name, lane] : ofGroup) {
      SmallVector<NamedAttribute> fields = {
          builder.getNamedAttr("name", lane.name)};
      if (lane.ctas)
        fields.push_back(builder.getNamedAttr("ctas", lane.ctas));
      if (lane.transport)
        fields.push_back(builder.getNamedAttr("transport", lane.transport));
      if (lane.staging && needsKnownMemory(lane.transport))
        fields.push_back(builder.getNamedAttr(
            "staging", builder.getI64IntegerAttr(lane.staging)));
      list.push_back(builder.getDictionaryAttr(fields));
    }
    group->setAttr(CommDialect::kLanesAttrName, builder.getArrayAttr(list));
  }
}

struct CommAssignLanesPass
    : public braid::comm::impl::CommAssignLanesPassBase<CommAssignLanesPass> {
  void runOnOperation() override {
    LaneTable table;
    SymbolTableCollection symbols;
    WalkResult result = getOperation().walk<WalkOrder::PreOrder>(
        [&](Operation *op) -> WalkResult {
          if (auto group = dyn_cast<GroupOp>(op))
            return table.add(group);
          if (auto start = dyn_cast<CollectiveOpInterface>(op))
            return table.add(start,
                             lookupGroup(op, start.getGroupAttr(), symbols));
          return WalkResult::advance();
        });
    if (result.wasInterrupted())
      return signalPassFailure();
    table.write();
  }
};

} // namespace
