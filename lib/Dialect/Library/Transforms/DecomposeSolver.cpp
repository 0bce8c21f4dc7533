//===- DecomposeSolver.cpp - Linear algebra that cuSOLVER lacks -----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorOps.h"

#include "braid/Dialect/Library/Transforms/Decompose.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace braid;

/// The op on tensors, in front of whose users the builder is then.
static library::CallOp startSolver(RewriterBase &rewriter, library::CallOp op) {
  rewriter.setInsertionPoint(op);
  return cast<library::CallOp>(library::moveToTensors(
      rewriter, cast<DestinationStyleOpInterface>(op.getOperation())));
}

/// The complex conjugate; of a real number, itself.
static Value conjugate(OpBuilder &builder, Location loc, Value value) {
  return isa<ComplexType>(value.getType())
             ? complex::ConjOp::create(builder, loc, value)
             : value;
}

/// `value` with its last two dimensions exchanged.
static Value transposeMatrices(OpBuilder &builder, Location loc, Value value) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, value);
  auto order = llvm::to_vector(
      llvm::seq<int64_t>(0, static_cast<int64_t>(sizes.size())));
  std::swap(order.back(), order.end()[-2]);
  std::swap(sizes.back(), sizes.end()[-2]);
  Value empty = tensor::EmptyOp::create(builder, loc, sizes,
                                        getElementTypeOrSelf(value.getType()));
  return linalg::TransposeOp::create(builder, loc, value, empty, order)
      ->getResult(0);
}

/// The part of `value` from its first element on, with `sizes`.
static Value takeFirst(OpBuilder &builder, Location loc, Value value,
                       ArrayRef<int64_t> sizes) {
  if (cast<RankedTensorType>(value.getType()).getShape() == sizes)
    return value;
  SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0)),
      strides(sizes.size(), builder.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(
      builder, loc, value, offsets,
      getAsIndexOpFoldResult(builder.getContext(), sizes), strides);
}

//===----------------------------------------------------------------------===//
// Reflectors
//===----------------------------------------------------------------------===//

bool library::isBatchOfReflectors(CallOp op) {
  if (op.getRoutine() != "orgqr")
    return false;
  auto matrices = cast<ShapedType>(op.getOutputs().front().getType());
  auto scales = cast<ShapedType>(op.getInputs().front().getType());
  return matrices.hasStaticShape() && scales.hasStaticShape() &&
         scales.getNumElements() != 0 &&
         ShapedType::getNumElements(matrices.getShape().drop_back(2)) > 1;
}

namespace {

/// Builds the ops that stand for a batch of reflectors. A matrix of m rows and
/// n columns is `batch x n x m`.
class ReflectorBuilder {
public:
  ReflectorBuilder(OpBuilder &builder, Location loc, Type element)
      : builder(builder), loc(loc), element(element) {}

  Value empty(ArrayRef<int64_t> sizes) {
    return tensor::EmptyOp::create(builder, loc, sizes, element);
  }

  Value number(ImplicitLocOpBuilder &at, double value) {
    if (auto type = dyn_cast<ComplexType>(element)) {
      auto part = [&](double one) {
        return at.getFloatAttr(type.getElementType(), one);
      };
      return complex::ConstantOp::create(
          at, element, at.getArrayAttr({part(value), part(0)}));
    }
    return arith::ConstantOp::create(at, at.getFloatAttr(element, value));
  }

  /// Whether a column and a row of the result compare so.
  Value compare(ImplicitLocOpBuilder &at, arith::CmpIPredicate predicate) {
    Value column = linalg::IndexOp::create(at, 1);
    Value row = linalg::IndexOp::create(at, 2);
    return arith::CmpIOp::create(at, predicate, row, column);
  }

  /// The vectors, of which `matrices` have the elements below the diagonal.
  Value getVectors(Value matrices, ArrayRef<int64_t> sizes) {
    return createElementwise(
        builder, loc, empty(sizes), matrices,
        [&](ImplicitLocOpBuilder &at, ValueRange elements) -> Value {
          Value isOne = compare(at, arith::CmpIPredicate::eq);
          Value isZero = compare(at, arith::CmpIPredicate::slt);
          Value lower =
              arith::SelectOp::create(at, isOne, number(at, 1), elements[0]);
          return arith::SelectOp::create(at, isZero, number(at, 0), lower);
        });
  }

  /// The conjugate vectors times their scales.
  Value scale(Value vectors, Value scales, ArrayRef<int64_t> sizes) {
    AffineMap identity = builder.getMultiDimIdentityMap(3);
    AffineMap ofScales = identity.dropResult(2);
    return createParallel(
        builder, loc, empty(sizes), {vectors, scales}, {identity, ofScales},
        [&](ImplicitLocOpBuilder &at, ValueRange elements) -> Value {
          Value vector = conjugate(at, loc, elements[0]);
          if (isa<ComplexType>(element))
            return complex::MulOp::create(at, vector, elements[1]);
          return arith::MulFOp::create(at, vector, elements[1]);
        });
  }

  template <typename MatmulLike>
  Value multiply(Value a, Value b, ArrayRef<int64_t> sizes) {
    ImplicitLocOpBuilder at(loc, builder);
    Value zero =
        linalg::FillOp::create(at, number(at, 0), empty(sizes)).getResult(0);
    return MatmulLike::create(builder, loc, TypeRange(zero.getType()),
                              ValueRange{a, b}, ValueRange(zero))
        ->getResult(0);
  }

  /// The first columns of the identity without `product`.
  Value subtractFromIdentity(Value product, ArrayRef<int64_t> sizes) {
    return createElementwise(
        builder, loc, empty(sizes), product,
        [&](ImplicitLocOpBuilder &at, ValueRange elements) -> Value {
          Value one =
              arith::SelectOp::create(at, compare(at, arith::CmpIPredicate::eq),
                                      number(at, 1), number(at, 0));
          if (isa<ComplexType>(element))
            return complex::SubOp::create(at, one, elements[0]);
          return arith::SubFOp::create(at, one, elements[0]);
        });
  }

private:
  OpBuilder &builder;
  Location loc;
  Type element;
};

} // namespace

void library::accumulateReflectors(RewriterBase &rewriter, CallOp given) {
  CallOp op = startSolver(rewriter, given);
  Location loc = op.getLoc();
  Value matrices = op.getOutputs()[0], scales = op.getInputs()[0];
  auto type = cast<RankedTensorType>(matrices.getType());
  int64_t rank = type.getRank();
  SmallVector<ReassociationIndices> groups(3), ofScales(2);
  for (int64_t dim = 0; dim != rank - 2; ++dim) {
    groups[0].push_back(dim);
    ofScales[0].push_back(dim);
  }
  groups[1] = {rank - 2};
  groups[2] = {rank - 1};
  ofScales[1] = {rank - 2};
  if (rank != 3) {
    matrices = tensor::CollapseShapeOp::create(rewriter, loc, matrices, groups);
    scales = tensor::CollapseShapeOp::create(rewriter, loc, scales, ofScales);
  }
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(matrices.getType()).getShape();
  int64_t batch = shape[0], n = shape[1], m = shape[2],
          k = cast<RankedTensorType>(scales.getType()).getShape()[1];

  // The product is I - V (I + U)^-1 Y with Y = D V^H, D the scales and U what Y
  // V has above the diagonal.
  ReflectorBuilder reflectors(rewriter, loc, type.getElementType());
  Value v = reflectors.getVectors(
      takeFirst(rewriter, loc, matrices, {batch, k, m}), {batch, k, m});
  Value y = reflectors.scale(v, scales, {batch, k, m});
  Value u =
      reflectors.multiply<linalg::BatchMatmulTransposeBOp>(v, y, {batch, k, k});
  Value sides = transposeMatrices(rewriter, loc,
                                  takeFirst(rewriter, loc, y, {batch, k, n}));
  Value solved =
      CallOp::create(rewriter, loc, TypeRange(sides.getType()), "trsm", "LUNU",
                     0, ValueRange(u), ValueRange(sides))
          ->getResult(0);
  Value product =
      reflectors.multiply<linalg::BatchMatmulOp>(solved, v, {batch, n, m});
  Value result = reflectors.subtractFromIdentity(product, {batch, n, m});
  if (rank != 3)
    result = tensor::ExpandShapeOp::create(rewriter, loc, type, result, groups);
  rewriter.replaceOp(op, result);
}

//===----------------------------------------------------------------------===//
// Singular values
//===----------------------------------------------------------------------===//

bool library::givesTransposedVectors(CallOp op) {
  return op.getRoutine() == "gesdd" || op.getRoutine() == "gesvd";
}

void library::transposeRightVectors(RewriterBase &rewriter, CallOp given,
                                    int64_t mostTogether) {
  CallOp op = startSolver(rewriter, given);
  Location loc = op.getLoc();
  SmallVector<Value> outputs = op.getOutputs();
  auto type = cast<RankedTensorType>(outputs[0].getType());
  Type element = type.getElementType();
  auto matrices = type.getShape().drop_back(2);
  int64_t n = type.getDimSize(type.getRank() - 2),
          m = type.getDimSize(type.getRank() - 1);
  bool isTogether = type.hasStaticShape() &&
                    ShapedType::getNumElements(matrices) > 1 &&
                    std::max(m, n) <= mostTogether;
  bool isThin = op.getFlags() == "S" && isTogether;
  // What computes all matrices at once gives all vectors.
  auto makeSquare = [&](int64_t order) -> Value {
    SmallVector<int64_t> sizes = llvm::to_vector(matrices);
    sizes.append({order, order});
    return tensor::EmptyOp::create(rewriter, loc, sizes, element);
  };
  RankedTensorType left = cast<RankedTensorType>(outputs[2].getType()),
                   right = cast<RankedTensorType>(outputs[3].getType());
  if (isThin) {
    outputs[2] = makeSquare(m);
    outputs[3] = makeSquare(n);
  } else {
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, loc, outputs[3]);
    std::swap(sizes.back(), sizes.end()[-2]);
    outputs[3] = tensor::EmptyOp::create(rewriter, loc, sizes, element);
  }
  auto call =
      CallOp::create(rewriter, loc, TypeRange(ValueRange(outputs)), "gesvdj",
                     isThin ? "A" : op.getFlags(), 0, ValueRange(), outputs);
  SmallVector<Value> results = call->getResults();
  if (isThin) {
    SmallVector<int64_t> sizes = llvm::to_vector(right.getShape());
    std::swap(sizes.back(), sizes.end()[-2]);
    results[2] = takeFirst(rewriter, loc, results[2], left.getShape());
    results[3] = takeFirst(rewriter, loc, results[3], sizes);
  }
  results[3] = transposeMatrices(rewriter, loc, results[3]);
  if (isa<ComplexType>(element))
    results[3] = createElementwise(
        rewriter, loc,
        tensor::EmptyOp::create(
            rewriter, loc, tensor::getMixedSizes(rewriter, loc, results[3]),
            element),
        results[3], [&](ImplicitLocOpBuilder &at, ValueRange elements) {
          return conjugate(at, loc, elements[0]);
        });
  rewriter.replaceOp(op, results);
}
