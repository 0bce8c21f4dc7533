//===- WidenSums.cpp - Sums of small floats in f32 ------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatmulMatch.h"

#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace braid {
#define GEN_PASS_DEF_WIDENSUMSPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;

/// The op that adds or multiplies the elements of result `number` of `op`,
/// which are small floats; null if the op combines them in another way.
static Operation *getSum(linalg::LinalgOp op, unsigned number) {
  Block &body = *op.getBlock();
  Value old = body.getArgument(op.getNumDpsInputs() + number);
  Operation *sum = body.getTerminator()->getOperand(number).getDefiningOp();
  bool isSum = isa<FloatType>(old.getType()) &&
               old.getType().getIntOrFloatBitWidth() < 32 &&
               isa_and_nonnull<arith::AddFOp, arith::MulFOp, arith::MaximumFOp,
                               arith::MinimumFOp>(sum) &&
               sum->hasOneUse() && old.hasOneUse() && *old.user_begin() == sum;
  return isSum ? sum : nullptr;
}

namespace {

/// Widens the sums of one op.
class SumWidener {
public:
  SumWidener(RewriterBase &rewriter, linalg::GenericOp op)
      : rewriter(rewriter), op(op), b(op.getLoc(), rewriter),
        wide(b.getF32Type()) {}

  void run();

private:
  Value widen(Value value);
  void widenBody(unsigned number);
  /// An array of f32 of the sizes of `like`.
  Value createArray(Value like);
  /// Writes the elements of `from`, as those of `to` are, to `to`.
  Value convert(Value from, Value to);

  RewriterBase &rewriter;
  linalg::GenericOp op;
  ImplicitLocOpBuilder b;
  Type wide;
};

} // namespace

/// A product of small floats that only the sum reads is exact in f32.
Value SumWidener::widen(Value value) {
  auto product = value.getDefiningOp<arith::MulFOp>();
  if (!product || !product->hasOneUse() || product->getBlock() != op.getBody())
    return arith::ExtFOp::create(b, wide, value);
  Value lhs = arith::ExtFOp::create(b, wide, product.getLhs());
  Value rhs = product.getLhs() == product.getRhs()
                  ? lhs
                  : arith::ExtFOp::create(b, wide, product.getRhs());
  return arith::MulFOp::create(b, lhs, rhs);
}

void SumWidener::widenBody(unsigned number) {
  Operation *sum = getSum(op, number);
  BlockArgument old = op.getRegionOutputArgs()[number];
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(sum);
  SmallVector<Value> operands;
  for (Value operand : sum->getOperands())
    operands.push_back(operand == old ? operand : widen(operand));
  old.setType(wide);
  OperationState state(sum->getLoc(), sum->getName(), operands, wide,
                       sum->getAttrs());
  Value result = b.create(state)->getResult(0);
  op.getBody()->getTerminator()->setOperand(number, result);
  // A product that is wide now has no use.
  SmallVector<Value> before(sum->getOperands());
  rewriter.eraseOp(sum);
  for (Value value : before)
    if (auto product = value.getDefiningOp<arith::MulFOp>();
        product && product->use_empty())
      rewriter.eraseOp(product);
}

Value SumWidener::createArray(Value like) {
  if (isa<TensorType>(like.getType()))
    return tensor::EmptyOp::create(
        b, tensor::getMixedSizes(b, b.getLoc(), like), wide);
  return memref::AllocOp::create(
      b, memref::getMixedSizes(b, b.getLoc(), like), wide,
      cast<MemRefType>(like.getType()).getMemorySpace());
}

Value SumWidener::convert(Value from, Value to) {
  int64_t rank = cast<ShapedType>(to.getType()).getRank();
  auto identity = b.getMultiDimIdentityMap(rank);
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  SmallVector<Type> types;
  if (isa<TensorType>(to.getType()))
    types.push_back(to.getType());
  Type element = getElementTypeOrSelf(to);
  auto generic = linalg::GenericOp::create(
      b, types, from, to, {identity, identity}, loops,
      [&](OpBuilder &nested, Location loc, ValueRange arguments) {
        Value value = arguments[0];
        if (element == wide)
          value = arith::ExtFOp::create(nested, loc, element, value);
        else
          value = arith::TruncFOp::create(nested, loc, element, value);
        linalg::YieldOp::create(nested, loc, value);
      });
  return types.empty() ? to : generic.getResult(0);
}

void SumWidener::run() {
  b.setInsertionPoint(op);
  bool overwrites = op->hasAttr(braid::kOverwritesAttrName);
  SmallVector<Value> inits(op.getDpsInits());
  for (auto [number, init] : llvm::enumerate(inits)) {
    if (!getSum(op, number))
      continue;
    b.setInsertionPoint(op);
    Value array = createArray(init);
    if (!overwrites)
      array = convert(init, array);
    widenBody(number);
    op.getDpsInitsMutable()[number].set(array);
    b.setInsertionPointAfter(op);
    if (op.hasPureBufferSemantics()) {
      convert(array, init);
      continue;
    }
    OpResult result = op->getResult(number);
    result.setType(cast<RankedTensorType>(array.getType()));
    Value narrow = convert(result, init);
    rewriter.replaceAllUsesExcept(result, narrow, narrow.getDefiningOp());
  }
}

namespace {

struct WidenSumsPass : public braid::StructuralPass<
                           braid::impl::WidenSumsPassBase<WidenSumsPass>> {
  LogicalResult transform() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) {
      bool isReduction =
          op.getNumReductionLoops() > 0 && op->getNumRegions() == 1 &&
          op->getRegion(0).hasOneBlock() &&
          (op.hasPureTensorSemantics() || op.hasPureBufferSemantics());
      if (isReduction &&
          llvm::any_of(llvm::seq<unsigned>(0, op.getNumDpsInits()),
                       [&](unsigned number) { return getSum(op, number); }))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops) {
      rewriter.setInsertionPoint(op);
      FailureOr<linalg::GenericOp> generic =
          isa<linalg::GenericOp>(op)
              ? cast<linalg::GenericOp>(op.getOperation())
              : linalg::generalizeNamedOp(rewriter, op);
      if (succeeded(generic))
        SumWidener(rewriter, *generic).run();
    }
    return success();
  }
};

} // namespace
