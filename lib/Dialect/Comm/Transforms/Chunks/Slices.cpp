//===- Slices.cpp - Slices along one dimension ----------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Slices.h"
#include "ChunkedMatmul.h"
#include "braid/Dialect/Comm/IR/Comm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace {
/// The range of a slice with the sizes of `type`, which begins at `offset`
/// along dimension `dim`.
struct SliceRange {
  SliceRange(OpBuilder &builder, RankedTensorType type, int64_t dim,
             OpFoldResult offset)
      : offsets(type.getRank(), builder.getIndexAttr(0)),
        sizes(getAsIndexOpFoldResult(builder.getContext(), type.getShape())),
        strides(type.getRank(), builder.getIndexAttr(1)) {
    offsets[dim] = offset;
  }
  SmallVector<OpFoldResult> offsets, sizes, strides;
};
} // namespace

Value braid::comm::extractAlong(OpBuilder &builder, Value from, int64_t dim,
                                OpFoldResult offset, int64_t size) {
  RankedTensorType type =
      withSize(cast<RankedTensorType>(from.getType()), dim, size);
  SliceRange range(builder, type, dim, offset);
  return tensor::ExtractSliceOp::create(builder, from.getLoc(), type, from,
                                        range.offsets, range.sizes,
                                        range.strides);
}

tensor::InsertSliceOp braid::comm::insertAlong(OpBuilder &builder, Location loc,
                                               Value piece, Value into,
                                               int64_t dim,
                                               OpFoldResult offset) {
  SliceRange range(builder, cast<RankedTensorType>(piece.getType()), dim,
                   offset);
  return tensor::InsertSliceOp::create(builder, loc, piece, into, range.offsets,
                                       range.sizes, range.strides);
}

Value braid::comm::resizeUniform(OpBuilder &builder, Value value,
                                 RankedTensorType type) {
  Location loc = value.getLoc();
  if (value.getDefiningOp<tensor::EmptyOp>())
    return tensor::EmptyOp::create(builder, loc, type.getShape(),
                                   type.getElementType(), type.getEncoding());
  if (auto fill = value.getDefiningOp<linalg::FillOp>()) {
    Value empty =
        tensor::EmptyOp::create(builder, loc, type.getShape(),
                                type.getElementType(), type.getEncoding());
    return linalg::FillOp::create(builder, loc, fill.value(), empty)
        .getResult(0);
  }
  SplatElementsAttr splat;
  if (matchPattern(value, m_Constant(&splat)))
    return arith::ConstantOp::create(builder, loc, splat.resizeSplat(type));
  return {};
}

/// The operand of the op that computes `value`, or of the fill before it, which
/// the result takes the place of, if nothing else has it; else null.
static OpOperand *getFreshPlace(Value value) {
  auto op = value.getDefiningOp<DestinationStyleOpInterface>();
  if (!op)
    return nullptr;
  OpOperand *place = op.getTiedOpOperand(cast<OpResult>(value));
  if (auto fill = place->get().getDefiningOp<linalg::FillOp>();
      fill && fill->hasOneUse())
    place = &fill.getOutputsMutable()[0];
  auto empty = place->get().getDefiningOp<tensor::EmptyOp>();
  return empty && empty->hasOneUse() ? place : nullptr;
}

Value braid::comm::joinParts(RewriterBase &rewriter, RankedTensorType type,
                             int64_t dim, ArrayRef<Value> parts,
                             function_ref<OpFoldResult(size_t)> getOffset) {
  Location loc = parts.front().getLoc();
  Operation *first = parts.front().getDefiningOp();
  if (OpOperand *place = getFreshPlace(parts.front()))
    first = place->get().getDefiningOp();
  rewriter.setInsertionPoint(first);
  Value whole =
      tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                              type.getElementType(), type.getEncoding());
  for (auto [number, part] : llvm::enumerate(parts)) {
    OpOperand *place = getFreshPlace(part);
    if (place) {
      Operation *empty = place->get().getDefiningOp();
      rewriter.setInsertionPoint(empty);
      rewriter.replaceOp(
          empty,
          extractAlong(rewriter, whole, dim, getOffset(number),
                       cast<RankedTensorType>(part.getType()).getDimSize(dim)));
    }
    rewriter.setInsertionPointAfterValue(part);
    auto insert =
        insertAlong(rewriter, loc, part, whole, dim, getOffset(number));
    // The rows of a collective, too, arrive in their place.
    if (place || (dim == 0 && part.getDefiningOp<WaitOp>()))
      insert->setAttr(CommDialect::kCostAttrName,
                      rewriter.getI64IntegerAttr(0));
    whole = insert;
  }
  return whole;
}
