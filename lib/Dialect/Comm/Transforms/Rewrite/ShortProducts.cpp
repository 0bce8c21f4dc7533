//===- ShortProducts.cpp - Matmuls that kernels compute -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShortProducts.h"

#include "FusionCost.h"
#include "braid/Support/MatmulAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
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
/// The bytes that a large GPU moves in the time of a launch.
static constexpr int64_t kBytesOfLaunch = int64_t(8) << 20;

/// True if `op` has no attributes but those that say how a library computes it.
static bool isPlain(linalg::LinalgOp op) {
  return llvm::all_of(op->getDiscardableAttrs(), [](NamedAttribute attribute) {
    return attribute.getName() == kOverwritesAttrName ||
           attribute.getName() == kPrecisionAttrName;
  });
}

bool braid::comm::isShortProduct(linalg::LinalgOp op, int64_t opsPerByte) {
  if (opsPerByte <= 0 || op.getNumReductionLoops() == 0 ||
      !op.hasPureTensorSemantics() || !isPlain(op) ||
      !linalg::isaContractionOpInterface(op) ||
      !llvm::all_of(op->getOperandTypes(), [](Type type) {
        return getElementTypeOrSelf(type).isIntOrFloat();
      }))
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

/// Replaces the matmul `op` if a linalg.generic can begin with what `op` adds
/// to.
static void generalize(RewriterBase &rewriter, linalg::LinalgOp op) {
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
  if (overwrites) {
    Value empty = tensor::EmptyOp::create(rewriter, loc, type.getShape(), sum);
    Value zero = arith::ConstantOp::create(rewriter, loc, sum,
                                           rewriter.getZeroAttr(sum));
    init = linalg::FillOp::create(rewriter, loc, zero, empty).getResult(0);
  }
  auto product = linalg::GenericOp::create(
      rewriter, loc, init.getType(), op.getDpsInputs(), init,
      op.getIndexingMapsArray(), op.getIteratorTypesArray(),
      [&](OpBuilder &b, Location loc, ValueRange arguments) {
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
    result = arith::TruncFOp::create(rewriter, loc, type, result);
  rewriter.replaceOp(op, result);
}

void braid::comm::generalizeShortProducts(RewriterBase &rewriter,
                                          Operation *root, int64_t opsPerByte) {
  SmallVector<linalg::LinalgOp> products;
  root->walk([&](linalg::LinalgOp op) {
    if (isShortProduct(op, opsPerByte))
      products.push_back(op);
  });
  for (linalg::LinalgOp op : products)
    generalize(rewriter, op);
}
