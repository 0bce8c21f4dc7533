//===- FuseEpilogues.cpp - Fuse elementwise ops into matmuls --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementFunction.h"
#include "MatmulMatch.h"

#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Conversion/Passes.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Support/IR/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace braid {
#define GEN_PASS_DEF_FUSEEPILOGUESPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

namespace {

/// An elementwise op that the library can fuse into a matmul.
struct Epilogue {
  ElementFunction function;
  /// A row that is added first; null if there is none.
  Value bias;
  Type resultType;
};

bool isFusableType(Type type) {
  return type.isF16() || type.isBF16() || type.isF32();
}

/// True if `value` is defined before `op`.
bool isDefinedBefore(Value value, Operation *op) {
  Operation *definition = value.getDefiningOp();
  if (!definition)
    return true;
  Operation *ancestor = op->getBlock()->findAncestorOpInBlock(*definition);
  return !ancestor || ancestor->isBeforeInBlock(op);
}

/// The epilogue that `op`, the only user of `matmul`, computes; nothing if the
/// library does not support it.
std::optional<Epilogue> matchEpilogue(linalg::GenericOp op,
                                      linalg::LinalgOp matmul) {
  if (!op.hasPureTensorSemantics() || op->getNumResults() != 1 ||
      op.getNumParallelLoops() != op.getNumLoops() ||
      op->getBlock() != matmul->getBlock() ||
      op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity())
    return std::nullopt;
  Value result = matmul->getResult(0);
  Epilogue epilogue;
  BlockArgument x, b;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    BlockArgument argument = op.getMatchingBlockArgument(input);
    if (input->get() == result) {
      if (x || !map.isIdentity())
        return std::nullopt;
      x = argument;
      continue;
    }
    // One element for each column.
    unsigned columns = op.getNumLoops() - 1;
    if (b || map != AffineMap::get(op.getNumLoops(), 0,
                                   getAffineDimExpr(columns, op.getContext())))
      return std::nullopt;
    b = argument;
    epilogue.bias = input->get();
  }
  if (!x || (b && !isDefinedBefore(epilogue.bias, matmul)))
    return std::nullopt;
  std::optional<ElementFunction> function =
      matchElementFunction(*op.getBody(), x, b);
  epilogue.resultType = op->getResultTypes()[0];
  Type element = getElementTypeOrSelf(epilogue.resultType);
  if (!function || !isFusableType(element) ||
      (b && getElementTypeOrSelf(epilogue.bias.getType()) != element))
    return std::nullopt;
  epilogue.function = *function;
  return epilogue;
}

/// True if `matmul` is known to have no elements or nothing to sum; with
/// `isSum` also if the running program may find nothing to sum. The library
/// adds no bias to nothing.
bool mayBeEmpty(linalg::LinalgOp matmul, bool isSum) {
  for (auto [size, kind] : llvm::zip_equal(matmul.getStaticLoopRanges(),
                                           matmul.getIteratorTypesArray()))
    if (size == 0 || (isSum && ShapedType::isDynamic(size) &&
                      kind == utils::IteratorType::reduction))
      return true;
  return false;
}

/// A matmul with `epilogue`'s bias and result type.
linalg::GenericOp createMatmul(OpBuilder &builder, linalg::LinalgOp matmul,
                               const MatmulMatch &match,
                               const Epilogue &epilogue, Value init) {
  Location loc = matmul.getLoc();
  SmallVector<AffineMap> maps = matmul.getIndexingMapsArray();
  SmallVector<Value> inputs(matmul.getDpsInputs());
  if (epilogue.bias) {
    inputs.push_back(epilogue.bias);
    maps.insert(maps.begin() + 2,
                AffineMap::get(matmul.getNumLoops(), 0,
                               builder.getAffineDimExpr(match.n)));
  }
  Type type = getElementTypeOrSelf(epilogue.resultType);
  return linalg::GenericOp::create(
      builder, loc, epilogue.resultType, inputs, init, maps,
      matmul.getIteratorTypesArray(),
      [&](OpBuilder &builder, Location loc, ValueRange arguments) {
        Value a = convertScalarToDtype(builder, loc, arguments[0], type,
                                       /*isUnsignedCast=*/false);
        Value b = convertScalarToDtype(builder, loc, arguments[1], type,
                                       /*isUnsignedCast=*/false);
        Value sum = arguments.back();
        if (epilogue.bias) {
          // The sums start from the bias.
          Value k = linalg::IndexOp::create(builder, loc, match.k);
          Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
          Value isFirst = arith::CmpIOp::create(
              builder, loc, arith::CmpIPredicate::eq, k, zero);
          sum =
              arith::SelectOp::create(builder, loc, isFirst, arguments[2], sum);
        }
        Value value = arith::MulFOp::create(builder, loc, a, b);
        value = arith::AddFOp::create(builder, loc, sum, value);
        linalg::YieldOp::create(builder, loc, value);
      });
}

/// Makes `fused` what `matmul` and `consumer`, an elementwise op, compute;
/// `result` has its shape.
void replaceBoth(linalg::LinalgOp matmul, linalg::GenericOp consumer,
                 Operation *fused, Operation *result) {
  fused->setLoc(FusedLoc::get(matmul->getContext(),
                              {matmul.getLoc(), consumer.getLoc()}));
  comm::mergeAttributes(matmul, consumer, fused);
  // The epilogue costs nothing, so the matmul keeps its cost.
  for (StringRef name : {comm::CommDialect::kCostAttrName,
                         comm::CommDialect::kMultiprocessorsAttrName})
    if (Attribute ofMatmul = matmul->getAttr(name))
      fused->setAttr(name, ofMatmul);
  consumer->replaceAllUsesWith(result);
  consumer->erase();
  for (Operation *reshape : llvm::make_early_inc_range(matmul->getUsers()))
    reshape->erase();
  matmul->erase();
}

void fuse(linalg::LinalgOp matmul, const MatmulMatch &match,
          linalg::GenericOp consumer, const Epilogue &epilogue) {
  OpBuilder builder(matmul);
  Operation *fused;
  Type type = getElementTypeOrSelf(epilogue.resultType);
  Value init = matmul.getDpsInits()[0];
  if (!epilogue.bias && getElementTypeOrSelf(init.getType()) == type) {
    fused = builder.clone(*matmul);
  } else {
    if (getElementTypeOrSelf(init.getType()) != type)
      init = tensor::EmptyOp::create(
          builder, matmul.getLoc(),
          tensor::getMixedSizes(builder, matmul.getLoc(), init), type);
    fused = createMatmul(builder, matmul, match, epilogue, init);
    fused->setAttr(kOverwritesAttrName, builder.getUnitAttr());
    if (Attribute precision = matmul->getAttr(kPrecisionAttrName))
      fused->setAttr(kPrecisionAttrName, precision);
    if (epilogue.bias)
      fused->setAttr(kBiasAttrName, builder.getUnitAttr());
  }
  if (epilogue.function != ElementFunction::identity)
    fused->setAttr(
        kEpilogueAttrName,
        builder.getStringAttr(
            epilogue.function == ElementFunction::relu ? "relu" : "gelu"));
  replaceBoth(matmul, consumer, fused, fused);
}

/// What `op` adds to `added`, the result of a reduction, if that is a tensor
/// that an scf.for carries, the loop yields the sum in its place, and nothing
/// else uses it: then its buffer can take the sum. Null otherwise.
Value findAccumulator(linalg::GenericOp op, Value added) {
  if (!op.hasPureTensorSemantics() || op->getNumResults() != 1 ||
      op.getNumDpsInputs() != 2 || op.getNumReductionLoops() != 0 ||
      !op->hasOneUse() || op->getBlock() != added.getParentBlock() ||
      !llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isIdentity(); }))
    return {};
  Block *body = op.getBody();
  auto sum =
      body->getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  auto isSumOf = [&](unsigned left, unsigned right) {
    return sum && sum.getLhs() == body->getArgument(left) &&
           sum.getRhs() == body->getArgument(right);
  };
  if (!isSumOf(0, 1) && !isSumOf(1, 0))
    return {};
  bool isFirst = op.getInputs()[0] == added;
  auto carried = dyn_cast<BlockArgument>(op.getInputs()[isFirst ? 1 : 0]);
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  if (!carried || !carried.hasOneUse() || !loop ||
      carried.getOwner() != loop.getBody() ||
      carried.getType() != added.getType())
    return {};
  OpOperand *yielded = loop.getTiedLoopYieldedValue(carried);
  return yielded && yielded->get() == op->getResult(0) ? carried : Value();
}

/// True if `op` sums elements from zero, in any order.
bool isPlainSum(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op->getNumResults() != 1 ||
      op.getNumReductionLoops() == 0 || !op->getDiscardableAttrs().empty())
    return false;
  auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  auto sum = op.getBody()
                 ->getTerminator()
                 ->getOperand(0)
                 .getDefiningOp<arith::AddFOp>();
  BlockArgument before = op.getRegionOutputArgs()[0];
  return fill && matchPattern(fill.getInputs()[0], m_PosZeroFloat()) && sum &&
         before.hasOneUse() && *before.user_begin() == sum;
}

struct FuseEpiloguesPass
    : public braid::StructuralPass<
          braid::impl::FuseEpiloguesPassBase<FuseEpiloguesPass>> {
  LogicalResult transform() override {
    SmallVector<linalg::LinalgOp> matmuls;
    SmallVector<linalg::GenericOp> sums;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (op.hasPureTensorSemantics() && op->hasAttr(kOverwritesAttrName) &&
          !op->hasAttr(kEpilogueAttrName))
        matmuls.push_back(op);
      else if (auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
               generic && isPlainSum(generic))
        sums.push_back(generic);
    });
    int64_t numFused = 0;
    for (linalg::LinalgOp matmul : matmuls)
      numFused += fuseInto(matmul);
    for (linalg::GenericOp sum : sums)
      numFused += accumulate(sum);
    emitCountRemark(getOperation(), getArgument(), "fused-epilogues", numFused);
    return success();
  }

private:
  /// Lets `sum` start from what is added to it, if a loop carries that, and
  /// returns true then.
  bool accumulate(linalg::GenericOp sum) {
    if (!sum->hasOneUse())
      return false;
    auto consumer = dyn_cast<linalg::GenericOp>(*sum->user_begin());
    auto reduction = cast<linalg::LinalgOp>(sum.getOperation());
    Value accumulator =
        consumer ? findAccumulator(consumer, sum.getResult(0)) : Value();
    if (!accumulator)
      return false;
    OpBuilder builder(sum);
    auto fused = cast<linalg::GenericOp>(builder.clone(*sum));
    fused.getDpsInitsMutable()[0].set(accumulator);
    replaceBoth(reduction, consumer, fused, fused);
    return true;
  }

  /// Lets `matmul` add to what a loop carries, also through a reshape, and
  /// returns true then.
  bool addToCarried(linalg::LinalgOp matmul) {
    auto expand = dyn_cast<tensor::ExpandShapeOp>(*matmul->user_begin());
    Value added = expand ? Value(expand.getResult()) : matmul->getResult(0);
    if (!matmul->hasOneUse() || !added.hasOneUse() ||
        mayBeEmpty(matmul, /*isSum=*/true))
      return false;
    auto consumer = dyn_cast<linalg::GenericOp>(*added.user_begin());
    Value accumulator = consumer ? findAccumulator(consumer, added) : Value();
    if (!accumulator || (expand && !expand.getResultType().hasStaticShape()))
      return false;
    OpBuilder builder(matmul);
    auto fused = cast<linalg::LinalgOp>(builder.clone(*matmul));
    Operation *result = fused;
    if (expand) {
      result = builder.clone(*expand);
      result->setOperand(0, fused->getResult(0));
      builder.setInsertionPoint(fused);
      accumulator = tensor::CollapseShapeOp::create(
          builder, expand.getLoc(), expand.getSrcType(), accumulator,
          expand.getReassociationIndices());
    }
    fused->removeAttr(kOverwritesAttrName);
    fused.getDpsInitsMutable()[0].set(accumulator);
    replaceBoth(matmul, consumer, fused, result);
    return true;
  }

  /// Returns true if an elementwise op became part of `matmul`.
  bool fuseInto(linalg::LinalgOp matmul) {
    std::optional<MatmulMatch> match = matchMatmul(matmul);
    if (!match || match->hasBias || matmul->use_empty() ||
        !isFusableType(getElementTypeOrSelf(matmul.getDpsInits()[0].getType())))
      return false;
    if (addToCarried(matmul))
      return true;
    auto consumer = dyn_cast<linalg::GenericOp>(*matmul->user_begin());
    if (!consumer || !llvm::all_of(matmul->getUsers(), [&](Operation *user) {
          return user == consumer;
        }))
      return false;
    std::optional<Epilogue> epilogue = matchEpilogue(consumer, matmul);
    if (!epilogue || mayBeEmpty(matmul, /*isSum=*/epilogue->bias != nullptr))
      return false;
    Type input = getElementTypeOrSelf(matmul.getDpsInputs()[0].getType());
    if (!hasDeviceLibraryTypes(input,
                               getElementTypeOrSelf(epilogue->resultType)))
      return false;
    fuse(matmul, *match, consumer, *epilogue);
    return true;
  }
};

} // namespace
