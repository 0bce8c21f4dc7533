//===- PaddedSides.cpp - Pads on one side of a tensor ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InFlight.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace braid::comm;

namespace {
/// The side that a pad adds.
struct Side {
  int64_t dim, size;
  bool isLow;
};
} // namespace

/// The side of `pad`, if it has known sizes and no other sides.
static std::optional<Side> getOnlySide(tensor::PadOp pad) {
  ArrayRef<int64_t> low = pad.getStaticLow(), high = pad.getStaticHigh();
  if (!pad.getResultType().hasStaticShape() ||
      !pad.getSourceType().hasStaticShape() ||
      ShapedType::isDynamicShape(low) || ShapedType::isDynamicShape(high) ||
      pad.getSourceType().getNumElements() == 0)
    return std::nullopt;
  std::optional<Side> side;
  for (auto [isLow, sizes] : {std::pair(true, low), std::pair(false, high)})
    for (auto [dim, size] : llvm::enumerate(sizes)) {
      if (size == 0)
        continue;
      if (size < 0 || side)
        return std::nullopt;
      side = Side{static_cast<int64_t>(dim), size, isLow};
    }
  return side;
}

static void fillSide(RewriterBase &rewriter, tensor::PadOp pad,
                     const Side &side) {
  ImplicitLocOpBuilder b(pad.getLoc(), rewriter);
  b.setInsertionPoint(pad);
  RankedTensorType type = pad.getResultType(), source = pad.getSourceType();
  SmallVector<int64_t> shape(type.getShape());
  shape[side.dim] = side.size;
  SmallVector<OpFoldResult> zeros(type.getRank(), b.getIndexAttr(0)),
      ones(type.getRank(), b.getIndexAttr(1)), place(zeros), inner(zeros);
  (side.isLow ? inner : place)[side.dim] =
      b.getIndexAttr(side.isLow ? side.size : source.getDimSize(side.dim));
  SmallVector<OpFoldResult> sizes =
                                getAsIndexOpFoldResult(b.getContext(), shape),
                            innerSizes = getAsIndexOpFoldResult(
                                b.getContext(), source.getShape());
  Value whole =
      tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
  Value part = tensor::ExtractSliceOp::create(b, whole, place, sizes, ones);
  part = linalg::FillOp::create(b, pad.getConstantPaddingValue(), part)
             .getResult(0);
  whole = tensor::InsertSliceOp::create(b, part, whole, place, sizes, ones);
  rewriter.replaceOp(pad,
                     tensor::InsertSliceOp::create(b, pad.getSource(), whole,
                                                   inner, innerSizes, ones));
}

void inflight::fillPaddedSides(ModuleOp module) {
  SmallVector<tensor::PadOp> pads;
  module.walk([&](tensor::PadOp pad) { pads.push_back(pad); });
  IRRewriter rewriter(module.getContext());
  for (tensor::PadOp pad : pads)
    if (std::optional<Side> side = getOnlySide(pad);
        side && pad.getConstantPaddingValue())
      fillSide(rewriter, pad, *side);
}
