//===- ShortProducts.cpp - Matmuls that kernels compute -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rewrites.h"

#include "Dialect/Comm/Transforms/FusionCost.h"
#include "braid/Support/MatmulAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

/// A body adds up no more products.
static constexpr int64_t kMostTerms = 16;
/// Fewer results take the time of a launch in any case, and other passes know
/// matmuls.
static constexpr int64_t kFewestSums = 1024;
/// The rows of a matrix of which a library uses few of each tile.
static constexpr int64_t kFewRows = 8;

/// True if `op` has no attributes but those that say how a library computes it.
static bool isPlain(linalg::LinalgOp op) {
  return llvm::all_of(op->getDiscardableAttrs(), [](NamedAttribute attribute) {
    return attribute.getName() == kOverwritesAttrName ||
           attribute.getName() == kPrecisionAttrName;
  });
}

/// True if `op` is a matmul on tensors of numbers that a kernel may compute.
static bool isPlainMatmul(linalg::LinalgOp op) {
  return op.hasPureTensorSemantics() && isPlain(op) &&
         linalg::isaContractionOpInterface(op) &&
         llvm::all_of(op->getOperandTypes(), [](Type type) {
           return getElementTypeOrSelf(type).isIntOrFloat();
         });
}

bool braid::comm::isShortProduct(linalg::LinalgOp op, int64_t opsPerByte) {
  if (opsPerByte <= 0 || op.getNumReductionLoops() == 0 || !isPlainMatmul(op))
    return false;
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  if (ShapedType::isDynamicShape(sizes))
    return false;
  int64_t terms = 1, results = 1;
  int64_t weight = getWeight(op) + op.getNumDpsInputs() * kWeightOfRead;
  for (auto [size, kind] : llvm::zip_equal(sizes, op.getIteratorTypesArray())) {
    if (size == 0 || llvm::MulOverflow(weight, size, weight))
      return false;
    (kind == utils::IteratorType::reduction ? terms : results) *= size;
  }
  return terms <= kMostTerms && results >= kFewestSums &&
         weight / opsPerByte <= getMovedBytes(op) + kBytesOfLaunch;
}

/// True if `op` multiplies many pairs of matrices of few rows each, whose
/// elements are adjacent along the sums. A kernel that reduces rows reads each
/// row a few times from a cache.
static bool isNarrowProduct(linalg::LinalgOp op, int64_t opsPerByte) {
  if (opsPerByte <= 0 || op.getNumReductionLoops() != 1 || !isPlainMatmul(op))
    return false;
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(op);
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  if (failed(dims) || ShapedType::isDynamicShape(sizes) ||
      dims->m.size() != 1 || dims->n.size() != 1 || dims->k.size() != 1)
    return false;
  int64_t m = sizes[dims->m[0]], n = sizes[dims->n[0]], k = sizes[dims->k[0]];
  AffineExpr sum = getAffineDimExpr(dims->k[0], op.getContext());
  return m <= kFewRows && n <= kFewRows && k > kMostTerms && k % 2 == 0 &&
         ShapedType::getNumElements(sizes) / k >= kFewestSums &&
         llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
           return op.getMatchingIndexingMap(input).getResults().back() == sum;
         });
}

namespace {
/// The loops of a product and its operands.
struct ProductLoops {
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  SmallVector<utils::IteratorType> iterators;
};
} // namespace

/// The groups of dimensions of `map` that are left without its `unit` loops.
static SmallVector<ReassociationIndices>
getKeptGroups(AffineMap map, const llvm::SmallBitVector &unit) {
  SmallVector<ReassociationIndices> groups;
  bool isOpen = false;
  for (unsigned dim = 0; dim < map.getNumResults(); ++dim) {
    if (!isOpen)
      groups.emplace_back();
    groups.back().push_back(dim);
    isOpen = unit[map.getDimPosition(dim)];
  }
  if (isOpen && groups.size() > 1) {
    ReassociationIndices last = groups.pop_back_val();
    llvm::append_range(groups.back(), last);
  }
  return groups;
}

/// Gives a narrow product the loops of a reduction of rows: none over one row,
/// and two for the sums where both matrices have several rows, which is no
/// matmul of a library.
static ProductLoops getReductionLoops(RewriterBase &rewriter,
                                      linalg::LinalgOp op,
                                      const ProductLoops &loops) {
  Location loc = op.getLoc();
  linalg::ContractionDimensions dims = *linalg::inferContractionDims(op);
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  llvm::SmallBitVector unit(sizes.size());
  for (unsigned loop : {dims.m[0], dims.n[0]})
    unit[loop] = sizes[loop] == 1;
  bool isSplit = unit.none();
  ProductLoops found;
  SmallVector<AffineExpr> renumbered(sizes.size());
  for (auto [loop, kind] : llvm::enumerate(loops.iterators))
    if (!unit[loop]) {
      renumbered[loop] = rewriter.getAffineDimExpr(found.iterators.size());
      found.iterators.push_back(kind);
    }
  AffineExpr inner = rewriter.getAffineDimExpr(found.iterators.size());
  if (isSplit)
    found.iterators.push_back(utils::IteratorType::reduction);
  for (auto [operand, map] : llvm::zip_equal(loops.operands, loops.maps)) {
    SmallVector<AffineExpr> exprs;
    for (AffineExpr expr : map.getResults())
      if (unsigned loop = cast<AffineDimExpr>(expr).getPosition(); !unit[loop])
        exprs.push_back(renumbered[loop]);
    SmallVector<ReassociationIndices> groups = getKeptGroups(map, unit);
    Value value = operand;
    if (groups.size() != map.getNumResults())
      value = tensor::CollapseShapeOp::create(rewriter, loc, value, groups);
    if (isSplit && map.isFunctionOfDim(dims.k[0])) {
      auto type = cast<RankedTensorType>(value.getType());
      SmallVector<int64_t> shape(type.getShape());
      groups.back().push_back(shape.size());
      shape.back() /= 2;
      shape.push_back(2);
      value = tensor::ExpandShapeOp::create(rewriter, loc, type.clone(shape),
                                            value, groups);
      exprs.push_back(inner);
    }
    found.operands.push_back(value);
    found.maps.push_back(AffineMap::get(found.iterators.size(), 0, exprs,
                                        rewriter.getContext()));
  }
  return found;
}

/// Replaces the matmul `op` if a linalg.generic can begin with what `op` adds
/// to.
static void generalize(RewriterBase &rewriter, linalg::LinalgOp op,
                       bool isNarrow) {
  Value init = op.getDpsInits()[0];
  auto type = cast<RankedTensorType>(init.getType());
  Type element = type.getElementType(), sum = element;
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32)
    sum = rewriter.getF32Type();
  bool overwrites = op->hasAttr(kOverwritesAttrName);
  if (sum != element && !overwrites)
    return;
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  ProductLoops loops = {llvm::to_vector(op->getOperands()),
                        op.getIndexingMapsArray(), op.getIteratorTypesArray()};
  if (isNarrow)
    loops = getReductionLoops(rewriter, op, loops);
  Value initial = loops.operands.pop_back_val();
  auto reduced = cast<RankedTensorType>(initial.getType());
  if (overwrites) {
    Value empty =
        tensor::EmptyOp::create(rewriter, loc, reduced.getShape(), sum);
    Value zero = arith::ConstantOp::create(rewriter, loc, sum,
                                           rewriter.getZeroAttr(sum));
    initial = linalg::FillOp::create(rewriter, loc, zero, empty).getResult(0);
  }
  auto product = linalg::GenericOp::create(
      rewriter, loc, initial.getType(), loops.operands, initial, loops.maps,
      loops.iterators, [&](OpBuilder &b, Location loc, ValueRange arguments) {
        if (sum == element) {
          IRMapping mapping;
          mapping.map(op.getBlock()->getArguments(), arguments);
          for (Operation &inner : *op.getBlock())
            b.clone(inner, mapping);
          return;
        }
        auto widen = [&](Value value) {
          return convertScalarToDtype(b, loc, value, sum,
                                      /*isUnsignedCast=*/false);
        };
        Value term = arith::MulFOp::create(b, loc, widen(arguments[0]),
                                           widen(arguments[1]));
        Value total = arith::AddFOp::create(b, loc, arguments[2], term);
        linalg::YieldOp::create(b, loc, total);
      });
  Value result = product.getResult(0);
  if (sum != element)
    result = arith::TruncFOp::create(rewriter, loc, reduced, result);
  if (reduced != type)
    result = tensor::ExpandShapeOp::create(
        rewriter, loc, type, result,
        *getReassociationIndicesForReshape(reduced, type));
  rewriter.replaceOp(op, result);
}

/// Replaces `op`, which no library computes, by a reduction of the dimensions
/// that its operands join: it may read what computes them, or be a part of the
/// kernel that does.
static void generalizeInnerProduct(RewriterBase &rewriter, linalg::DotOp op) {
  Type element = getElementTypeOrSelf(op.getOutputs()[0].getType());
  if (!op.hasPureTensorSemantics() || op->hasAttr(kOverwritesAttrName) ||
      !element.isIntOrFloat() || element.getIntOrFloatBitWidth() < 32)
    return;
  tensor::CollapseShapeOp joined;
  for (Value input : op.getInputs())
    if (auto join = input.getDefiningOp<tensor::CollapseShapeOp>();
        join && join.getSrcType().hasStaticShape())
      joined = join;
  rewriter.setInsertionPoint(op);
  SmallVector<Value> inputs(op.getInputs());
  if (joined)
    for (Value &input : inputs) {
      auto join = input.getDefiningOp<tensor::CollapseShapeOp>();
      auto type = cast<RankedTensorType>(input.getType());
      auto split = RankedTensorType::get(joined.getSrcType().getShape(),
                                         type.getElementType());
      input = join && join.getSrcType() == split
                  ? join.getSrc()
                  : Value(tensor::ExpandShapeOp::create(
                        rewriter, op.getLoc(), split, input,
                        joined.getReassociationIndices()));
    }
  int64_t rank = cast<RankedTensorType>(inputs.front().getType()).getRank();
  AffineMap all = rewriter.getMultiDimIdentityMap(rank);
  auto sum = linalg::GenericOp::create(
      rewriter, op.getLoc(), op->getResultTypes(), inputs, op.getOutputs(),
      {all, all, AffineMap::get(rank, 0, rewriter.getContext())},
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::reduction));
  rewriter.inlineRegionBefore(op.getRegion(), sum.getRegion(),
                              sum.getRegion().end());
  rewriter.replaceOp(op, sum);
}

void braid::comm::generalizeShortProducts(RewriterBase &rewriter,
                                          Operation *root, int64_t opsPerByte) {
  SmallVector<linalg::LinalgOp> products, narrow;
  SmallVector<linalg::DotOp> inner;
  root->walk([&](linalg::LinalgOp op) {
    if (auto dot = dyn_cast<linalg::DotOp>(op.getOperation());
        dot && opsPerByte > 0)
      inner.push_back(dot);
    else if (isShortProduct(op, opsPerByte))
      products.push_back(op);
    else if (isNarrowProduct(op, opsPerByte))
      narrow.push_back(op);
  });
  for (linalg::LinalgOp op : products)
    generalize(rewriter, op, /*isNarrow=*/false);
  for (linalg::LinalgOp op : narrow)
    generalize(rewriter, op, /*isNarrow=*/true);
  for (linalg::DotOp op : inner)
    generalizeInnerProduct(rewriter, op);
}
