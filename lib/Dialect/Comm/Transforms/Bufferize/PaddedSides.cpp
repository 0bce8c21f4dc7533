//===- PaddedSides.cpp - Pads on sides of a tensor ------------------------===//
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
/// A side that a pad adds.
struct Side {
  int64_t dim, size;
  bool isLow;
};
} // namespace

/// The bytes from which on several fills take less time on a GPU than a fill of
/// the whole: 1 us at the bandwidth of an H200.
static constexpr int64_t leastBytesOfManySides = int64_t(4) << 20;

/// The sides of `pad`, if it has known sizes and there are few for its bytes.
static SmallVector<Side> getSides(tensor::PadOp pad) {
  ArrayRef<int64_t> low = pad.getStaticLow(), high = pad.getStaticHigh();
  RankedTensorType type = pad.getResultType();
  if (!type.hasStaticShape() || !pad.getSourceType().hasStaticShape() ||
      ShapedType::isDynamicShape(low) || ShapedType::isDynamicShape(high) ||
      pad.getSourceType().getNumElements() == 0 ||
      llvm::any_of(llvm::concat<const int64_t>(low, high),
                   [](int64_t size) { return size < 0; }))
    return {};
  SmallVector<Side> sides;
  for (int64_t dim = 0; dim != type.getRank(); ++dim)
    for (auto [isLow, size] :
         {std::pair(true, low[dim]), std::pair(false, high[dim])})
      if (size != 0)
        sides.push_back({dim, size, isLow});
  auto bits = static_cast<int64_t>(
      DataLayout::closest(pad).getTypeSizeInBits(type.getElementType()));
  if (sides.size() > 1 &&
      type.getNumElements() / 8 * bits < leastBytesOfManySides)
    return {};
  return sides;
}

/// Each side has the corners that it shares with sides of later dimensions.
static void fillSides(RewriterBase &rewriter, tensor::PadOp pad,
                      ArrayRef<Side> sides) {
  rewriter.setInsertionPoint(pad);
  ImplicitLocOpBuilder b(pad.getLoc(), rewriter);
  RankedTensorType type = pad.getResultType(), source = pad.getSourceType();
  ArrayRef<int64_t> low = pad.getStaticLow();
  SmallVector<OpFoldResult> ones(type.getRank(), b.getIndexAttr(1));
  Value whole =
      tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
  for (const Side &side : sides) {
    SmallVector<int64_t> place(type.getRank(), 0), shape(type.getShape());
    for (int64_t dim = 0; dim != side.dim; ++dim) {
      place[dim] = low[dim];
      shape[dim] = source.getDimSize(dim);
    }
    place[side.dim] =
        side.isLow ? 0 : low[side.dim] + source.getDimSize(side.dim);
    shape[side.dim] = side.size;
    SmallVector<OpFoldResult> offsets =
                                  getAsIndexOpFoldResult(b.getContext(), place),
                              sizes =
                                  getAsIndexOpFoldResult(b.getContext(), shape);
    Value part = tensor::ExtractSliceOp::create(b, whole, offsets, sizes, ones);
    part = linalg::FillOp::create(b, pad.getConstantPaddingValue(), part)
               .getResult(0);
    whole = tensor::InsertSliceOp::create(b, part, whole, offsets, sizes, ones);
  }
  rewriter.replaceOpWithNewOp<tensor::InsertSliceOp>(
      pad, pad.getSource(), whole, getAsIndexOpFoldResult(b.getContext(), low),
      getAsIndexOpFoldResult(b.getContext(), source.getShape()), ones);
}

void inflight::fillPaddedSides(ModuleOp module) {
  SmallVector<tensor::PadOp> pads;
  module.walk([&](tensor::PadOp pad) { pads.push_back(pad); });
  IRRewriter rewriter(module.getContext());
  for (tensor::PadOp pad : pads)
    if (SmallVector<Side> sides = getSides(pad);
        !sides.empty() && pad.getConstantPaddingValue())
      fillSides(rewriter, pad, sides);
}
