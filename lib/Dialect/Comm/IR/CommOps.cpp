//===- CommOps.cpp - Ops of the comm dialect ------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Dialect/Comm/IR/CollectiveMethods.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace braid::comm;

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

SmallVector<ArrayRef<int64_t>> GroupOp::getRankLists() {
  SmallVector<ArrayRef<int64_t>> lists;
  if (std::optional<ArrayAttr> ranks = getRanks())
    for (auto list : ranks->getAsRange<DenseI64ArrayAttr>())
      lists.push_back(list.asArrayRef());
  return lists;
}

std::optional<int64_t> GroupOp::getStaticSize() {
  SmallVector<ArrayRef<int64_t>> lists = getRankLists();
  if (lists.empty())
    return std::nullopt;
  for (ArrayRef<int64_t> list : lists)
    if (list.size() != lists.front().size())
      return std::nullopt;
  return lists.front().size();
}

std::optional<int64_t> GroupOp::getMinimumSize() {
  std::optional<int64_t> minimum;
  for (ArrayRef<int64_t> list : getRankLists())
    minimum = std::min<int64_t>(minimum.value_or(list.size()), list.size());
  return minimum;
}

bool GroupOp::mayContain(int64_t rank) {
  return isAll() || llvm::any_of(getRankLists(), [&](ArrayRef<int64_t> list) {
           return llvm::is_contained(list, rank);
         });
}

void RankOp::getAsmResultNames(function_ref<void(Value, StringRef)> setName) {
  setName(getResult(), "rank");
}

void SizeOp::getAsmResultNames(function_ref<void(Value, StringRef)> setName) {
  setName(getResult(), "size");
}

//===----------------------------------------------------------------------===//
// BarrierOp
//===----------------------------------------------------------------------===//

MutableArrayRef<OpOperand> BarrierOp::getSourceOperands() { return {}; }
MutableArrayRef<OpOperand> BarrierOp::getDestinationOperands() { return {}; }
void BarrierOp::setDestinations(ValueRange) {
  llvm_unreachable("a barrier has no value");
}
LogicalResult BarrierOp::reifyValueShape(OpBuilder &, unsigned,
                                         SmallVectorImpl<OpFoldResult> &) {
  return failure();
}

//===----------------------------------------------------------------------===//
// WaitOp
//===----------------------------------------------------------------------===//

AsyncStartOpInterface WaitOp::getStart() {
  Operation *op = getToken().getDefiningOp();
  return op ? getAsyncStart(op) : AsyncStartOpInterface();
}

LogicalResult WaitOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                       ValueRange operands, DictionaryAttr,
                                       OpaqueProperties, RegionRange,
                                       SmallVectorImpl<Type> &types) {
  auto token = operands.empty() ? TokenType()
                                : dyn_cast<TokenType>(operands[0].getType());
  if (!token)
    return failure();
  if (Type valueType = token.getValueType())
    types.push_back(valueType);
  return success();
}

LogicalResult WaitOp::reifyResultShapes(OpBuilder &builder,
                                        ReifiedRankedShapedTypeDims &shapes) {
  AsyncStartOpInterface start = getStart();
  if (!start || !getValue())
    return failure();
  return start.reifyValueShape(builder,
                               cast<OpResult>(getToken()).getResultNumber(),
                               shapes.emplace_back());
}
