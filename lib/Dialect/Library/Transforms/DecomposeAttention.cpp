//===- DecomposeAttention.cpp - Attention as products and sums ------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Dialect/Library/Transforms/Decompose.h"

#include "TensorOps.h"
#include "braid/Dialect/Comm/IR/ReorderedSums.h"
#include "braid/Dialect/Library/IR/Library.h"
#include "braid/Support/MatmulAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace braid;
using namespace braid::library;

namespace {

// Positions of the dimensions of scores: batch, head of the keys, head within
// its group, query, key. Where there are no keys, the last one is the depth.
enum Dim : unsigned { Batch, KeyHead, Group, Query, Key, NumDims };

/// Builds the ops in front of one op of attention. Products are batches of
/// matrices: all queries of a group of heads are the rows of one matrix, so
/// that keys and values are not repeated, and the sums over a group are part of
/// the products.
class Decomposer {
public:
  Decomposer(OpBuilder &builder, Operation *op, AttentionShape shape,
             bool headsFirst, Type element)
      : builder(builder), loc(op->getLoc()), shape(shape),
        headsFirst(headsFirst), element(element),
        exact(element.isF64() ? element : builder.getF32Type()),
        reorderedSums(op->getAttr(comm::kReorderedSumsAttrName)),
        precision(op->getAttr(kPrecisionAttrName)) {}

  void decompose(AttentionOp op, SmallVectorImpl<Value> &results);
  void decompose(AttentionBackwardOp op, SmallVectorImpl<Value> &results);

private:
  //===--- Shapes ---------------------------------------------------------===//

  int64_t group() const { return shape.heads / shape.keyHeads; }
  int64_t matrices() const { return shape.batch * shape.keyHeads; }
  int64_t rows() const { return group() * shape.queries; }

  Value empty(ArrayRef<int64_t> sizes, Type type) {
    return tensor::EmptyOp::create(builder, loc, sizes, type);
  }

  Value filled(ArrayRef<int64_t> sizes, Attribute value) {
    Value scalar =
        arith::ConstantOp::create(builder, loc, cast<TypedAttr>(value));
    return linalg::FillOp::create(builder, loc, scalar,
                                  empty(sizes, scalar.getType()))
        .getResult(0);
  }

  Value expand(Value value, ArrayRef<int64_t> sizes,
               ArrayRef<ReassociationIndices> groups) {
    auto type =
        RankedTensorType::get(sizes, getElementTypeOrSelf(value.getType()));
    return tensor::ExpandShapeOp::create(builder, loc, type, value, groups);
  }

  Value collapse(Value value, ArrayRef<ReassociationIndices> groups) {
    if (static_cast<int64_t>(groups.size()) ==
        cast<RankedTensorType>(value.getType()).getRank())
      return value;
    return tensor::CollapseShapeOp::create(builder, loc, value, groups);
  }

  /// Exchanges the dimensions of positions and heads, into `init`, unless the
  /// heads come first anyway.
  Value exchange(Value value, Value init = Value()) {
    if (headsFirst)
      return value;
    if (!init) {
      ArrayRef<int64_t> sizes =
          cast<RankedTensorType>(value.getType()).getShape();
      init = empty({sizes[0], sizes[2], sizes[1], sizes[3]},
                   getElementTypeOrSelf(value.getType()));
    }
    return linalg::TransposeOp::create(builder, loc, value, init,
                                       ArrayRef<int64_t>{0, 2, 1, 3})
        ->getResult(0);
  }

  /// Queries, or what has their shape, as batch x key head x group x query x
  /// depth.
  Value toGroups(Value value, int64_t depth) {
    return expand(exchange(value),
                  {shape.batch, shape.keyHeads, group(), shape.queries, depth},
                  {{0}, {1, 2}, {3}, {4}});
  }

  /// Values with all five dimensions as matrices.
  Value toMatrices(Value value) {
    return collapse(value, {{0, 1}, {2, 3}, {4}});
  }

  Value toScores(Value matrices) {
    return expand(
        matrices,
        {shape.batch, shape.keyHeads, group(), shape.queries, shape.keys},
        {{0, 1}, {2, 3}, {4}});
  }

  Value keyMatrices(Value value) {
    return collapse(exchange(value), {{0, 1}, {2}, {3}});
  }

  /// Matrices of queries in the layout of the op.
  Value fromMatrices(Value value, int64_t depth, Value init) {
    Value groups = expand(
        value, {shape.batch, shape.keyHeads, group(), shape.queries, depth},
        {{0, 1}, {2, 3}, {4}});
    return exchange(collapse(groups, {{0}, {1, 2}, {3}, {4}}), init);
  }

  /// Matrices of keys in the layout of the op.
  Value fromKeyMatrices(Value value, int64_t depth, Value init) {
    return exchange(expand(value,
                           {shape.batch, shape.keyHeads, shape.keys, depth},
                           {{0, 1}, {2}, {3}}),
                    init);
  }

  /// Batch x head x query as batch x key head x group x query, or back.
  Value toRows(Value value) {
    return expand(value, {shape.batch, shape.keyHeads, group(), shape.queries},
                  {{0}, {1, 2}, {3}});
  }
  Value fromRows(Value value) { return collapse(value, {{0}, {1, 2}, {3}}); }

  //===--- Structured ops -------------------------------------------------===//

  AffineMap select(ArrayRef<unsigned> dims, unsigned numDims = NumDims) {
    SmallVector<AffineExpr> results;
    for (unsigned dim : dims)
      results.push_back(builder.getAffineDimExpr(dim));
    return AffineMap::get(numDims, 0, results, builder.getContext());
  }

  /// Computes each element of a result of `sizes` and `type`.
  Value map(ArrayRef<int64_t> sizes, Type type, ValueRange inputs,
            ArrayRef<AffineMap> inputMaps, ElementBody body) {
    return createParallel(builder, loc, empty(sizes, type), inputs, inputMaps,
                          body);
  }

  /// Combines what `body` gives of the elements of `inputs`, all of the same
  /// rank, over the dimensions that are not in `kept`.
  Value reduce(ArrayRef<unsigned> kept, Attribute neutral, ValueRange inputs,
               ElementBody body) {
    ArrayRef<int64_t> all =
        cast<RankedTensorType>(inputs[0].getType()).getShape();
    auto rank = static_cast<unsigned>(all.size());
    SmallVector<int64_t> sizes;
    SmallVector<utils::IteratorType> loops(rank,
                                           utils::IteratorType::reduction);
    for (unsigned dim : kept) {
      sizes.push_back(all[dim]);
      loops[dim] = utils::IteratorType::parallel;
    }
    SmallVector<AffineMap> maps(inputs.size(),
                                builder.getMultiDimIdentityMap(rank));
    maps.push_back(select(kept, rank));
    return createGeneric(builder, loc, filled(sizes, neutral), inputs, maps,
                         loops, body);
  }

  /// A batch of products of matrices, summed and kept in `exact`.
  template <typename MatmulLike = linalg::BatchMatmulOp>
  Value multiply(Value a, Value b, int64_t numRows, int64_t numColumns) {
    Value zero =
        filled({matrices(), numRows, numColumns}, builder.getZeroAttr(exact));
    auto product = MatmulLike::create(builder, loc, zero.getType(),
                                      ValueRange{a, b}, ValueRange(zero));
    if (reorderedSums)
      product->setAttr(comm::kReorderedSumsAttrName, reorderedSums);
    if (precision)
      product->setAttr(kPrecisionAttrName, precision);
    return product->getResult(0);
  }

  Value convert(ImplicitLocOpBuilder &at, Value value, Type type) {
    unsigned from = value.getType().getIntOrFloatBitWidth();
    unsigned to = type.getIntOrFloatBitWidth();
    if (value.getType() == type)
      return value;
    if (from < to)
      return arith::ExtFOp::create(at, type, value);
    if (from > to)
      return arith::TruncFOp::create(at, type, value);
    // Between bf16 and f16.
    Value wide = arith::ExtFOp::create(at, at.getF32Type(), value);
    return arith::TruncFOp::create(at, type, wide);
  }

  /// The elements of `value`, rounded to `type`.
  Value round(Value value, Type type) {
    auto shaped = cast<RankedTensorType>(value.getType());
    if (shaped.getElementType() == type)
      return value;
    return map(shaped.getShape(), type, value,
               builder.getMultiDimIdentityMap(shaped.getRank()),
               [&](ImplicitLocOpBuilder &at, ValueRange arguments) {
                 return convert(at, arguments[0], type);
               });
  }

  Value number(ImplicitLocOpBuilder &at, double value) {
    return arith::ConstantOp::create(at, at.getFloatAttr(exact, value));
  }

  /// `value` where it is not `from`, else `to`.
  Value replace(ImplicitLocOpBuilder &at, Value value, double from, double to) {
    Value isFrom = arith::CmpFOp::create(at, arith::CmpFPredicate::OEQ, value,
                                         number(at, from));
    return arith::SelectOp::create(at, isFrom, number(at, to), value);
  }

  //===--- Parts of attention ---------------------------------------------===//

  SmallVector<int64_t> scoreSizes() const {
    return {shape.batch, shape.keyHeads, group(), shape.queries, shape.keys};
  }
  AffineMap ofScore() { return builder.getMultiDimIdentityMap(NumDims); }
  AffineMap ofRow() { return select({Batch, KeyHead, Group, Query}); }

  /// Drops the dimensions that all scores share, and divides heads into groups.
  /// Sets `map` to the dimensions of a score that index the result.
  Value dropShared(Value bias, AffineMap &map);

  /// scale * score + bias of one score; minus infinity for a key that its query
  /// does not read. `arguments` are the product and the bias.
  Value maskScore(ImplicitLocOpBuilder &at, ValueRange arguments);

  /// The scores of queries and keys, and the operands that give a score from
  /// them by `maskScore`.
  void startScores(Value queries, Value keys, Value bias,
                   SmallVectorImpl<Value> &operands,
                   SmallVectorImpl<AffineMap> &maps);

  /// The gradient of `bias` from that of scores.
  Value sumForBias(Value gradient, Value bias);

  OpBuilder &builder;
  Location loc;
  const AttentionShape shape;
  const bool headsFirst;
  const Type element, exact;
  const Attribute reorderedSums, precision;
  double scale = 1;
};

} // namespace

static constexpr double infinity = std::numeric_limits<double>::infinity();

static Value addUp(ImplicitLocOpBuilder &at, ValueRange arguments) {
  return arith::AddFOp::create(at, arguments[0], arguments[1]);
}

/// The dimensions of batch, head, query and key that `bias` has of its own,
/// those that all scores share with the next one that it has.
static SmallVector<ReassociationIndices>
findOwnDims(Value bias, const AttentionShape &shape,
            SmallVectorImpl<unsigned> &own) {
  ArrayRef<int64_t> sizes = cast<RankedTensorType>(bias.getType()).getShape();
  int64_t wholes[] = {shape.batch, shape.heads, shape.queries, shape.keys};
  SmallVector<ReassociationIndices> groups(1);
  for (unsigned dim = 0; dim < 4; ++dim) {
    groups.back().push_back(dim);
    if (sizes[dim] != wholes[dim])
      continue;
    own.push_back(dim);
    if (dim != 3)
      groups.emplace_back();
  }
  return groups;
}

/// The dimensions of scores that belong to `own` dimensions of a bias, and the
/// groups that divide heads.
static SmallVector<ReassociationIndices>
divideHeads(ArrayRef<unsigned> own, SmallVectorImpl<unsigned> &dims) {
  SmallVector<ReassociationIndices> groups;
  for (unsigned dim : own) {
    ReassociationIndices &indices = groups.emplace_back();
    auto add = [&](unsigned scoreDim) {
      indices.push_back(static_cast<int64_t>(dims.size()));
      dims.push_back(scoreDim);
    };
    if (dim == 1) {
      add(KeyHead);
      add(Group);
    } else {
      add(dim == 0 ? Batch : dim == 2 ? Query : Key);
    }
  }
  return groups;
}

Value Decomposer::dropShared(Value bias, AffineMap &map) {
  SmallVector<unsigned> own, dims;
  Value value = collapse(bias, findOwnDims(bias, shape, own));
  SmallVector<ReassociationIndices> groups = divideHeads(own, dims);
  map = select(dims);
  if (groups.size() == dims.size())
    return value;
  SmallVector<int64_t> sizes;
  for (unsigned dim : dims)
    sizes.push_back(scoreSizes()[dim]);
  return expand(value, sizes, groups);
}

Value Decomposer::sumForBias(Value gradient, Value bias) {
  auto type = cast<RankedTensorType>(bias.getType());
  SmallVector<unsigned> own, dims;
  SmallVector<ReassociationIndices> dropped = findOwnDims(bias, shape, own);
  SmallVector<ReassociationIndices> divided = divideHeads(own, dims);
  Value sum = gradient;
  if (dims.size() != NumDims)
    sum = reduce(dims, builder.getZeroAttr(exact), gradient, addUp);
  sum = collapse(round(sum, type.getElementType()), divided);
  if (dropped.size() == 4)
    return sum;
  return expand(sum, type.getShape(), dropped);
}

Value Decomposer::maskScore(ImplicitLocOpBuilder &at, ValueRange arguments) {
  Value score = arith::MulFOp::create(at, arguments[0], number(at, scale));
  if (arguments.size() > 1)
    score = arith::AddFOp::create(at, score, convert(at, arguments[1], exact));
  if (!shape.causal)
    return score;
  Value query = linalg::IndexOp::create(at, Query);
  Value key = linalg::IndexOp::create(at, Key);
  Value isRead =
      arith::CmpIOp::create(at, arith::CmpIPredicate::sle, key, query);
  if (shape.window > 0) {
    Value width = arith::ConstantIndexOp::create(at, shape.window);
    Value end = arith::AddIOp::create(at, key, width);
    Value isNear =
        arith::CmpIOp::create(at, arith::CmpIPredicate::sgt, end, query);
    isRead = arith::AndIOp::create(at, isRead, isNear);
  }
  return arith::SelectOp::create(at, isRead, score, number(at, -infinity));
}

void Decomposer::startScores(Value queries, Value keys, Value bias,
                             SmallVectorImpl<Value> &operands,
                             SmallVectorImpl<AffineMap> &maps) {
  operands.push_back(toScores(multiply<linalg::BatchMatmulTransposeBOp>(
      queries, keys, rows(), shape.keys)));
  maps.push_back(ofScore());
  if (bias)
    operands.push_back(dropShared(bias, maps.emplace_back()));
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

void Decomposer::decompose(AttentionOp op, SmallVectorImpl<Value> &results) {
  scale = op.getScale();
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  startScores(toMatrices(toGroups(op.getQueries(), shape.depth)),
              keyMatrices(op.getKeys()), op.getBias(), operands, maps);
  Value scores = map(scoreSizes(), exact, operands, maps,
                     [&](ImplicitLocOpBuilder &at, ValueRange arguments) {
                       return maskScore(at, arguments.drop_back());
                     });
  unsigned row[] = {Batch, KeyHead, Group, Query};
  Value most =
      reduce(row, builder.getFloatAttr(exact, -infinity), scores,
             [](ImplicitLocOpBuilder &at, ValueRange arguments) -> Value {
               return arith::MaximumFOp::create(at, arguments[0], arguments[1]);
             });
  Value powers =
      map(scoreSizes(), exact, {scores, most}, {ofScore(), ofRow()},
          [&](ImplicitLocOpBuilder &at, ValueRange arguments) -> Value {
            // A row without keys has no largest score.
            Value base = replace(at, arguments[1], -infinity, 0);
            Value less = arith::SubFOp::create(at, arguments[0], base);
            return math::ExpOp::create(at, less);
          });
  Value sums = reduce(row, builder.getZeroAttr(exact), powers, addUp);
  Value weights =
      map(scoreSizes(), element, {powers, sums}, {ofScore(), ofRow()},
          [&](ImplicitLocOpBuilder &at, ValueRange arguments) -> Value {
            Value sum = replace(at, arguments[1], 0, 1);
            Value weight = arith::DivFOp::create(at, arguments[0], sum);
            return convert(at, weight, element);
          });
  Value product = multiply(toMatrices(weights), keyMatrices(op.getValues()),
                           rows(), shape.valueDepth);
  results.push_back(fromMatrices(round(product, element), shape.valueDepth,
                                 op.getOutputs()[0]));
  AffineMap all = builder.getMultiDimIdentityMap(4);
  results.push_back(fromRows(map(
      ArrayRef<int64_t>(scoreSizes()).drop_back(), exact, {most, sums},
      {all, all}, [&](ImplicitLocOpBuilder &at, ValueRange arguments) -> Value {
        Value sum = replace(at, arguments[1], 0, 1);
        Value log = math::LogOp::create(at, sum);
        return arith::AddFOp::create(at, log, arguments[0]);
      })));
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

void Decomposer::decompose(AttentionBackwardOp op,
                           SmallVectorImpl<Value> &results) {
  scale = op.getScale();
  Value queries = toMatrices(toGroups(op.getQueries(), shape.depth));
  Value keys = keyMatrices(op.getKeys());
  Value outs = toGroups(op.getOut(), shape.valueDepth);
  Value gradients = toGroups(op.getOutGradient(), shape.valueDepth);
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  startScores(queries, keys, op.getBias(), operands, maps);
  operands.push_back(toRows(op.getLogSums()));
  maps.push_back(ofRow());
  Value weights =
      map(scoreSizes(), exact, operands, maps,
          [&](ImplicitLocOpBuilder &at, ValueRange arguments) -> Value {
            ValueRange inputs = arguments.drop_back();
            Value score = maskScore(at, inputs.drop_back());
            // A row without keys has weights of 0.
            Value base = replace(at, inputs.back(), -infinity, 0);
            Value less = arith::SubFOp::create(at, score, base);
            return math::ExpOp::create(at, less);
          });
  unsigned row[] = {Batch, KeyHead, Group, Query};
  Value shares = reduce(row, builder.getZeroAttr(exact), {gradients, outs},
                        [&](ImplicitLocOpBuilder &at, ValueRange arguments) {
                          Value a = convert(at, arguments[0], exact);
                          Value b = convert(at, arguments[1], exact);
                          Value product = arith::MulFOp::create(at, a, b);
                          return addUp(at, {product, arguments[2]});
                        });
  Value gradientRows = toMatrices(gradients);
  Value weightGradients = toScores(multiply<linalg::BatchMatmulTransposeBOp>(
      gradientRows, keyMatrices(op.getValues()), rows(), shape.keys));
  Value scoreGradients =
      map(scoreSizes(), exact, {weights, weightGradients, shares},
          {ofScore(), ofScore(), ofRow()},
          [&](ImplicitLocOpBuilder &at, ValueRange arguments) -> Value {
            Value less = arith::SubFOp::create(at, arguments[1], arguments[2]);
            return arith::MulFOp::create(at, arguments[0], less);
          });
  Value scaled = toMatrices(
      map(scoreSizes(), element, scoreGradients, ofScore(),
          [&](ImplicitLocOpBuilder &at, ValueRange arguments) -> Value {
            Value product =
                arith::MulFOp::create(at, arguments[0], number(at, scale));
            return convert(at, product, element);
          }));
  Value queryGradients = multiply(scaled, keys, rows(), shape.depth);
  Value keyGradients = multiply<linalg::BatchMatmulTransposeAOp>(
      scaled, queries, shape.keys, shape.depth);
  Value valueGradients = multiply<linalg::BatchMatmulTransposeAOp>(
      toMatrices(round(weights, element)), gradientRows, shape.keys,
      shape.valueDepth);
  results.push_back(fromMatrices(round(queryGradients, element), shape.depth,
                                 op.getOutputs()[0]));
  results.push_back(fromKeyMatrices(round(keyGradients, element), shape.depth,
                                    op.getOutputs()[1]));
  results.push_back(fromKeyMatrices(round(valueGradients, element),
                                    shape.valueDepth, op.getOutputs()[2]));
  if (op.hasBiasGradient())
    results.push_back(sumForBias(scoreGradients, op.getBias()));
}

bool braid::library::isAttention(Operation *op) {
  return isa<AttentionOp, AttentionBackwardOp>(op);
}

template <typename AttentionLike>
static void decompose(RewriterBase &rewriter, AttentionLike given) {
  auto op = cast<AttentionLike>(moveToTensors(rewriter, given));
  SmallVector<Value> results;
  Decomposer(rewriter, op, op.getShape(), op.isHeadsFirst(),
             getElementTypeOrSelf(op.getQueries().getType()))
      .decompose(op, results);
  rewriter.replaceOp(op, results);
}

void braid::library::decomposeAttention(RewriterBase &rewriter, Operation *op) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  if (auto attention = dyn_cast<AttentionOp>(op))
    return decompose(rewriter, attention);
  decompose(rewriter, cast<AttentionBackwardOp>(op));
}
