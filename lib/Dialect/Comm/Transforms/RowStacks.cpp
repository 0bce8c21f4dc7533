//===- RowStacks.cpp - Tensors that loops fill row by row -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowStacks.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace braid::comm;

bool braid::comm::isRow(OffsetSizeAndStrideOpInterface slice,
                        RankedTensorType whole) {
  if (!whole.hasStaticShape() || whole.getNumElements() == 0 ||
      whole.getRank() == 0 ||
      !llvm::all_of(slice.getMixedStrides(), isOneInteger) ||
      !llvm::all_of(ArrayRef(slice.getMixedOffsets()).drop_front(),
                    isZeroInteger))
    return false;
  for (auto [dim, size] : llvm::enumerate(slice.getMixedSizes()))
    if (getConstantIntValue(size) != (dim == 0 ? 1 : whole.getDimSize(dim)))
      return false;
  return true;
}

/// Folds `value`, and what it is computed from in one block, to a constant.
static Attribute foldConstant(Value value, DenseMap<Value, Attribute> &known) {
  auto [it, isNew] = known.try_emplace(value);
  Operation *op = value.getDefiningOp();
  if (!isNew || !op)
    return it->second;
  if (op->getNumRegions() != 0 || op->getNumResults() != 1)
    return {};
  SmallVector<Attribute> operands =
      llvm::map_to_vector(op->getOperands(), [&](Value operand) {
        return foldConstant(operand, known);
      });
  // With some constants a fold may change the op, for this iteration alone.
  if (!llvm::all_of(operands, [](Attribute operand) { return operand; }))
    return {};
  SmallVector<OpFoldResult> results;
  if (failed(op->fold(operands, results)) || results.size() != 1)
    return {};
  auto constant = dyn_cast<Attribute>(results.front());
  if (!constant)
    constant = foldConstant(cast<Value>(results.front()), known);
  known[value] = constant;
  return constant;
}

std::optional<int64_t> braid::comm::evaluateIn(scf::ForOp loop, Value index,
                                               int64_t number) {
  Value variable = loop.getInductionVar();
  DenseMap<Value, Attribute> known;
  known[variable] = IntegerAttr::get(
      variable.getType(), *getConstantIntValue(loop.getLowerBound()) +
                              number * *getConstantIntValue(loop.getStep()));
  auto constant = dyn_cast_or_null<IntegerAttr>(foldConstant(index, known));
  return constant ? std::optional(constant.getInt()) : std::nullopt;
}
