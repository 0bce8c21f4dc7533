//===- ExpandDynamicShapes.cpp - Views with several dynamic sizes ---------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace braid {
#define GEN_PASS_DEF_EXPANDDYNAMICSHAPESPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;

/// True if `op` splits one dimension into several of dynamic size.
static bool hasUnknownSplit(memref::ExpandShapeOp op) {
  return llvm::any_of(op.getReassociationIndices(),
                      [&](const ReassociationIndices &group) {
                        return llvm::count_if(group, [&](int64_t dim) {
                                 return op.getResultType().isDynamicDim(dim);
                               }) > 1;
                      });
}

/// Replaces `op` by a memref.reinterpret_cast with computed strides.
static void convertShape(memref::ExpandShapeOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  MemRefType type = op.getResultType();
  auto source = memref::ExtractStridedMetadataOp::create(b, loc, op.getSrc());
  SmallVector<OpFoldResult> sizes = getMixedValues(
      op.getStaticOutputShape(), op.getOutputShape(), b.getContext());
  auto [knownStrides, knownOffset] = type.getStridesAndOffset();
  SmallVector<OpFoldResult> strides(type.getRank());
  for (auto [dim, group] : llvm::enumerate(op.getReassociationIndices())) {
    Value stride = source.getStrides()[dim];
    for (int64_t part : llvm::reverse(group)) {
      strides[part] = ShapedType::isDynamic(knownStrides[part])
                          ? OpFoldResult(stride)
                          : b.getIndexAttr(knownStrides[part]);
      stride = arith::MulIOp::create(
          b, loc, stride, getValueOrCreateConstantIndexOp(b, loc, sizes[part]));
    }
  }
  OpFoldResult offset = ShapedType::isDynamic(knownOffset)
                            ? OpFoldResult(source.getOffset())
                            : b.getIndexAttr(knownOffset);
  Value view = memref::ReinterpretCastOp::create(
      b, loc, type, source.getBaseBuffer(), offset, sizes, strides);
  op.replaceAllUsesWith(view);
  op.erase();
}

namespace {
struct ExpandDynamicShapesPass
    : public braid::StructuralPass<
          braid::impl::ExpandDynamicShapesPassBase<ExpandDynamicShapesPass>> {
  LogicalResult transform() override {
    SmallVector<memref::ExpandShapeOp> ops;
    getOperation().walk([&](memref::ExpandShapeOp op) {
      if (hasUnknownSplit(op))
        ops.push_back(op);
    });
    llvm::for_each(ops, convertShape);
    return success();
  }
};
} // namespace
