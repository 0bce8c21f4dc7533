//===- Float8Matmuls.cpp - Matmuls of 8-bit floats for libraries ----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rewrites.h"

#include "braid/Support/IR/Operations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

/// The library of a Hopper GPU multiplies matrices of 8-bit floats whose sizes
/// are multiples of this.
static constexpr int64_t kSizeUnit = 16;

namespace {

/// A matmul of 8-bit floats of static sizes.
struct Float8Matmul {
  linalg::LinalgOp op;
  /// The loop over the sum.
  AffineExpr sum;
  /// The library multiplies the elements as they are, along adjacent ones.
  bool hasLibraryKernel;

  /// True if the elements along the sum are adjacent in `input`.
  bool isAlongSum(OpOperand *input) const {
    linalg::LinalgOp matmul = op;
    return matmul.getMatchingIndexingMap(input).getResults().back() == sum;
  }
};

} // namespace

static std::optional<Float8Matmul> match(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || !linalg::isaContractionOpInterface(op) ||
      ShapedType::isDynamicShape(op.getStaticLoopRanges()))
    return std::nullopt;
  bool hasLibraryKernel = true;
  for (Value input : op.getDpsInputs()) {
    Type element = getElementTypeOrSelf(input);
    if (!isa<Float8E4M3FNType, Float8E5M2Type>(element))
      return std::nullopt;
    hasLibraryKernel &= isa<Float8E4M3FNType>(element);
  }
  Type result = getElementTypeOrSelf(op.getDpsInits()[0]);
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(op);
  if (!isa<Float16Type, BFloat16Type, Float32Type>(result) || failed(dims) ||
      dims->m.size() != 1 || dims->n.size() != 1 || dims->k.size() != 1 ||
      dims->batch.size() > 1)
    return std::nullopt;
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  for (unsigned loop : {dims->m[0], dims->n[0], dims->k[0]})
    hasLibraryKernel &= sizes[loop] % kSizeUnit == 0;
  Float8Matmul matmul{op, getAffineDimExpr(dims->k[0], op.getContext()),
                      hasLibraryKernel};
  // A batch stays outside of both matrices.
  for (OpOperand *input : op.getDpsInputOperands()) {
    ArrayRef<AffineExpr> results =
        op.getMatchingIndexingMap(input).getResults();
    matmul.hasLibraryKernel &=
        matmul.isAlongSum(input) || results[results.size() - 2] == matmul.sum;
  }
  return matmul;
}

/// Replaces `tensor` by a copy of elements of type `element`, whose last two
/// dimensions are exchanged if `isTransposed`.
static Value copy(RewriterBase &rewriter, Location loc, Value tensor,
                  Type element, bool isTransposed) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<int64_t> shape(type.getShape());
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  if (isTransposed) {
    std::swap(shape[shape.size() - 2], shape.back());
    std::swap(order[order.size() - 2], order.back());
  }
  return createParallel(
      rewriter, loc, tensor::EmptyOp::create(rewriter, loc, shape, element),
      tensor, AffineMap::getPermutationMap(order, rewriter.getContext()),
      [&](ImplicitLocOpBuilder &builder, ValueRange elements) {
        return convertScalarToDtype(builder, builder.getLoc(), elements[0],
                                    element, /*isUnsignedCast=*/false);
      });
}

static void rewrite(RewriterBase &rewriter, const Float8Matmul &matmul) {
  linalg::LinalgOp op = matmul.op;
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  Type result = getElementTypeOrSelf(op.getDpsInits()[0]);
  // All elements of 8 bits are exact in both.
  Type wide = result.isF16() ? result : rewriter.getBF16Type();
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (auto [index, input] : llvm::enumerate(op.getDpsInputOperands())) {
    bool isTransposed = matmul.hasLibraryKernel && !matmul.isAlongSum(input);
    if (matmul.hasLibraryKernel && !isTransposed) {
      inputs.push_back(input->get());
      continue;
    }
    Type element = getElementTypeOrSelf(input->get());
    inputs.push_back(copy(rewriter, loc, input->get(),
                          matmul.hasLibraryKernel ? element : wide,
                          isTransposed));
    if (!isTransposed)
      continue;
    SmallVector<AffineExpr> results(maps[index].getResults());
    std::swap(results[results.size() - 2], results.back());
    maps[index] = AffineMap::get(maps[index].getNumDims(), 0, results,
                                 rewriter.getContext());
  }
  auto replacement = linalg::GenericOp::create(
      rewriter, loc, op->getResultTypes(), inputs, op.getDpsInits(), maps,
      op.getIteratorTypesArray(),
      [&](OpBuilder &builder, Location loc, ValueRange elements) {
        Value factors[2];
        for (unsigned index : {0, 1})
          factors[index] =
              convertScalarToDtype(builder, loc, elements[index], result,
                                   /*isUnsignedCast=*/false);
        Value product =
            arith::MulFOp::create(builder, loc, factors[0], factors[1]);
        Value sum = arith::AddFOp::create(builder, loc, elements[2], product);
        linalg::YieldOp::create(builder, loc, sum);
      });
  replacement->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.replaceOp(op, replacement);
}

void braid::comm::arrangeFloat8Matmuls(RewriterBase &rewriter,
                                       Operation *root) {
  SmallVector<Float8Matmul> matmuls;
  root->walk([&](linalg::LinalgOp op) {
    std::optional<Float8Matmul> matmul = match(op);
    auto isAlongSum = [&](OpOperand *input) {
      return matmul->isAlongSum(input);
    };
    if (matmul && !(matmul->hasLibraryKernel &&
                    llvm::all_of(op.getDpsInputOperands(), isAlongSum)))
      matmuls.push_back(*matmul);
  });
  for (const Float8Matmul &matmul : matmuls)
    rewrite(rewriter, matmul);
}
