//===- MarkOverwritingMatmuls.cpp - Matmuls that start from zeros ---------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatmulMatch.h"
#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Conversion/Passes.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace braid {
#define GEN_PASS_DEF_MARKOVERWRITINGMATMULSPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

namespace {

/// True if every element of `value` is +0.
bool isZero(Value value) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    value = fill.getInputs()[0];
  if (auto constant = value.getDefiningOp<complex::ConstantOp>())
    return llvm::all_of(constant.getValue(), [](Attribute part) {
      auto number = dyn_cast<FloatAttr>(part);
      return number && number.getValue().isPosZero();
    });
  return matchPattern(value, m_PosZeroFloat());
}

struct MarkOverwritingMatmulsPass
    : public braid::StructuralPass<braid::impl::MarkOverwritingMatmulsPassBase<
          MarkOverwritingMatmulsPass>> {
  using StructuralPass::StructuralPass;

  LogicalResult transform() override {
    bool isCUDA = target == KernelTarget::CUDA;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (!op.hasPureTensorSemantics() || !matchMatmul(op) ||
          !(isCUDA ? hasDeviceLibraryTypes(op) : hasLibraryTypes(op)) ||
          !isZero(op.getDpsInits()[0]))
        return;
      // Canonicalization erases matmuls of nothing, whose result is the fill.
      if (llvm::is_contained(op.getStaticLoopRanges(), 0))
        return;
      Value init = op.getDpsInits()[0];
      OpBuilder builder(op);
      Value empty = tensor::EmptyOp::create(
          builder, op.getLoc(),
          tensor::getMixedSizes(builder, op.getLoc(), init),
          getElementTypeOrSelf(init.getType()));
      if (empty.getType() != init.getType())
        empty =
            tensor::CastOp::create(builder, op.getLoc(), init.getType(), empty);
      op.getDpsInitsMutable()[0].set(empty);
      op->setAttr(kOverwritesAttrName, builder.getUnitAttr());
      if (Operation *fill = init.getDefiningOp(); fill && fill->use_empty())
        fill->erase();
    });
    return success();
  }
};

} // namespace
