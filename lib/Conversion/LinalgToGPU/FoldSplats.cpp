//===- FoldSplats.cpp - Fold constants with equal elements ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Conversion/Passes.h"
#include "braid/Support/MatmulAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace braid {
#define GEN_PASS_DEF_FOLDSPLATSPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;

namespace {

/// Smaller constants stay data of the program, because filling them in each
/// invocation costs more than their memory.
constexpr int64_t kLargeElements = 16384;

bool isLarge(arith::ConstantOp constant) {
  auto elements = dyn_cast<SplatElementsAttr>(constant.getValue());
  return elements && elements.getNumElements() >= kLargeElements &&
         isa<RankedTensorType>(elements.getType());
}

/// A constant with the element of `elements`.
Value createElement(OpBuilder &builder, Location loc,
                    SplatElementsAttr elements) {
  Type type = elements.getElementType();
  if (!isa<ComplexType>(type))
    return arith::ConstantOp::create(
        builder, loc, cast<TypedAttr>(elements.getSplatValue<Attribute>()));
  return complex::ConstantOp::create(builder, loc, type,
                                     elements.getSplatValue<ArrayAttr>());
}

/// The constant that all elements of `value` are; null if there is none.
arith::ConstantOp getElement(Value value) {
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    return constant;
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    return fill.value().getDefiningOp<arith::ConstantOp>();
  auto generic = value.getDefiningOp<linalg::GenericOp>();
  return generic && generic.hasPureTensorSemantics() &&
                 generic.getNumReductionLoops() == 0
             ? generic.getBody()
                   ->getTerminator()
                   ->getOperand(cast<OpResult>(value).getResultNumber())
                   .getDefiningOp<arith::ConstantOp>()
             : arith::ConstantOp();
}

/// Replaces inputs of `generic` that are scalars, or tensors with equal
/// constant elements, by constants in the body.
void foldInputs(linalg::GenericOp generic) {
  // A library reads tensors.
  if (generic->hasAttr(braid::kOverwritesAttrName))
    return;
  SmallVector<Value> inputs(generic.getInputs());
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  Block *body = generic.getBody();
  OpBuilder builder(body, body->begin());
  for (int64_t index = static_cast<int64_t>(inputs.size()) - 1; index >= 0;
       --index) {
    arith::ConstantOp constant = getElement(inputs[index]);
    if (!constant)
      continue;
    auto elements = dyn_cast<SplatElementsAttr>(constant.getValue());
    if (!elements && isa<ShapedType>(constant.getType()))
      continue;
    // Another operand must give the size of each loop.
    SmallVector<AffineMap> others(maps);
    others.erase(others.begin() + index);
    if (!inversePermutation(concatAffineMaps(others, generic.getContext())))
      continue;
    BlockArgument argument = body->getArgument(index);
    if (!argument.use_empty())
      argument.replaceAllUsesWith(
          elements ? createElement(builder, constant.getLoc(), elements)
                   : builder.clone(*constant)->getResult(0));
    body->eraseArgument(index);
    inputs.erase(inputs.begin() + index);
    maps = std::move(others);
  }
  if (inputs.size() == generic.getInputs().size())
    return;
  generic.getInputsMutable().assign(inputs);
  generic.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
  // What other ops read may be a constant now.
  for (Operation &op : llvm::make_early_inc_range(body->without_terminator())) {
    builder.setInsertionPoint(&op);
    SmallVector<Value> results;
    if (matchPattern(&op, m_Constant()) ||
        failed(builder.tryFold(&op, results)) || results.empty())
      continue;
    op.replaceAllUsesWith(results);
    op.erase();
  }
}

struct FoldSplatsPass : public braid::StructuralPass<
                            braid::impl::FoldSplatsPassBase<FoldSplatsPass>> {
  LogicalResult transform() override {
    SmallVector<linalg::GenericOp> generics;
    getOperation().walk([&](linalg::GenericOp generic) {
      if (generic.hasPureTensorSemantics())
        generics.push_back(generic);
    });
    llvm::for_each(generics, foldInputs);
    // Exponents are constants now.
    RewritePatternSet patterns(&getContext());
    populateMathAlgebraicSimplificationPatterns(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));

    SmallVector<arith::ConstantOp> constants;
    getOperation().walk([&](arith::ConstantOp constant) {
      if (isLarge(constant))
        constants.push_back(constant);
    });
    for (arith::ConstantOp constant : constants) {
      for (OpOperand &use : llvm::make_early_inc_range(constant->getUses()))
        use.set(fill(use.getOwner(), constant));
      constant.erase();
    }
    return success();
  }

private:
  static Value fill(Operation *user, arith::ConstantOp constant) {
    auto elements = cast<SplatElementsAttr>(constant.getValue());
    auto type = cast<RankedTensorType>(elements.getType());
    OpBuilder builder(user);
    Location loc = constant.getLoc();
    Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                          type.getElementType());
    return linalg::FillOp::create(builder, loc,
                                  createElement(builder, loc, elements), empty)
        .getResult(0);
  }
};

} // namespace
