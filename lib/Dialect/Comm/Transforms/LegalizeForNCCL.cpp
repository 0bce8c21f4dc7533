//===- LegalizeForNCCL.cpp - The comm-legalize-for-nccl pass --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <functional>

namespace braid::comm {
#define GEN_PASS_DEF_COMMLEGALIZEFORNCCLPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace mlir;
using namespace braid::comm;

namespace {

/// The largest group whose members gather all operands of a bitwise reduction.
/// A ring moves the operand once for each other member then, and 16 times for
/// bits that are reduced as bytes, however many members there are.
constexpr int64_t kMostGathered = 16;

bool isBitwise(std::optional<ReductionKind> reduction) {
  return reduction == ReductionKind::band || reduction == ReductionKind::bor ||
         reduction == ReductionKind::bxor;
}

RankedTensorType getTensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

//===----------------------------------------------------------------------===//
// Ops on whole tensors
//===----------------------------------------------------------------------===//

/// Computes each element of a tensor of `element` from that of `input`.
Value map(ImplicitLocOpBuilder &b, Value input, Type element,
          function_ref<Value(ImplicitLocOpBuilder &, Value)> body) {
  RankedTensorType type = getTensorType(input);
  Value empty = tensor::EmptyOp::create(
      b, tensor::getMixedSizes(b, b.getLoc(), input), element);
  AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, empty.getType(), input, empty,
             ArrayRef<AffineMap>{identity, identity}, iterators,
             [&](OpBuilder &builder, Location loc, ValueRange arguments) {
               ImplicitLocOpBuilder inner(loc, builder);
               linalg::YieldOp::create(inner, body(inner, arguments[0]));
             })
      .getResult(0);
}

/// The size of dimension `dim` of `input`.
OpFoldResult getSize(ImplicitLocOpBuilder &b, Value input, int64_t dim) {
  return tensor::getMixedSize(b, b.getLoc(), input, dim);
}

/// Splits dimension `dim` of `input` into `count` and the rest.
Value splitDim(ImplicitLocOpBuilder &b, Value input, int64_t dim,
               OpFoldResult count) {
  RankedTensorType type = getTensorType(input);
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, b.getLoc(), input);
  AffineExpr whole = b.getAffineSymbolExpr(0), parts = b.getAffineSymbolExpr(1);
  sizes[dim] = affine::makeComposedFoldedAffineApply(
      b, b.getLoc(), whole.floorDiv(parts), {sizes[dim], count});
  sizes.insert(sizes.begin() + dim, count);
  SmallVector<int64_t> shape;
  for (OpFoldResult size : sizes)
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  // A size that is known is not known to be a multiple of another.
  if (!type.isDynamicDim(dim) &&
      llvm::is_contained(ArrayRef(shape).slice(dim, 2), ShapedType::kDynamic)) {
    SmallVector<int64_t> unknown(type.getShape());
    unknown[dim] = ShapedType::kDynamic;
    input = tensor::CastOp::create(
        b, RankedTensorType::get(unknown, type.getElementType()), input);
  }
  SmallVector<ReassociationIndices> groups;
  for (int64_t index = 0, next = 0; index < type.getRank(); ++index) {
    groups.push_back({next++});
    if (index == dim)
      groups.back().push_back(next++);
  }
  return tensor::ExpandShapeOp::create(
      b, RankedTensorType::get(shape, type.getElementType()), input, groups,
      sizes);
}

/// Joins dimensions `dim` and `dim` + 1 of `input`.
Value joinDims(ImplicitLocOpBuilder &b, Value input, int64_t dim) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t index = 0; index < getTensorType(input).getRank(); ++index)
    if (index == dim + 1)
      groups.back().push_back(index);
    else
      groups.push_back({index});
  return tensor::CollapseShapeOp::create(b, input, groups);
}

/// Moves dimension `from` of `input` to place `to`.
Value moveDim(ImplicitLocOpBuilder &b, Value input, int64_t from, int64_t to) {
  RankedTensorType type = getTensorType(input);
  auto permutation = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  permutation.erase(permutation.begin() + from);
  permutation.insert(permutation.begin() + to, from);
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim : permutation)
    sizes.push_back(getSize(b, input, dim));
  Value empty = tensor::EmptyOp::create(b, sizes, type.getElementType());
  return linalg::TransposeOp::create(b, input, empty, permutation)
      ->getResult(0);
}

/// An empty tensor like one part of `input` along dimension 0.
Value createPartOf(ImplicitLocOpBuilder &b, Value input, Type element) {
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, b.getLoc(), input);
  return tensor::EmptyOp::create(b, ArrayRef(sizes).drop_front(), element);
}

/// The bits of `input` as bytes, those of each number along a new dimension 0.
Value unpackBits(ImplicitLocOpBuilder &b, Value input) {
  RankedTensorType type = getTensorType(input);
  Type element = type.getElementType(), byte = b.getI8Type();
  unsigned width = type.getElementTypeBitWidth();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, b.getLoc(), input);
  sizes.insert(sizes.begin(), b.getIndexAttr(width));
  Value empty = tensor::EmptyOp::create(b, sizes, byte);
  AffineMap all = b.getMultiDimIdentityMap(sizes.size());
  SmallVector<utils::IteratorType> iterators(sizes.size(),
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, empty.getType(), input, empty,
             ArrayRef<AffineMap>{all.dropResult(0), all}, iterators,
             [&](OpBuilder &builder, Location loc, ValueRange arguments) {
               ImplicitLocOpBuilder inner(loc, builder);
               Value place = linalg::IndexOp::create(inner, 0);
               place = arith::IndexCastOp::create(inner, element, place);
               Value bit = arith::ShRUIOp::create(inner, arguments[0], place);
               if (width > 1)
                 bit = arith::TruncIOp::create(inner, inner.getI1Type(), bit);
               bit = arith::ExtUIOp::create(inner, byte, bit);
               linalg::YieldOp::create(inner, bit);
             })
      .getResult(0);
}

/// Makes numbers of `element` of the lowest bits of the bytes along dimension 0
/// of `input`.
Value packBits(ImplicitLocOpBuilder &b, Value input, IntegerType element) {
  RankedTensorType type = getTensorType(input);
  Value zero = arith::ConstantOp::create(b, b.getIntegerAttr(element, 0));
  Value empty = createPartOf(b, input, element);
  Value init = linalg::FillOp::create(b, zero, empty).getResult(0);
  AffineMap all = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  iterators.front() = utils::IteratorType::reduction;
  return linalg::GenericOp::create(
             b, init.getType(), input, init,
             ArrayRef<AffineMap>{all, all.dropResult(0)}, iterators,
             [&](OpBuilder &builder, Location loc, ValueRange arguments) {
               ImplicitLocOpBuilder inner(loc, builder);
               Value bit = arith::TruncIOp::create(inner, inner.getI1Type(),
                                                   arguments[0]);
               if (element.getWidth() > 1)
                 bit = arith::ExtUIOp::create(inner, element, bit);
               Value place = linalg::IndexOp::create(inner, 0);
               place = arith::IndexCastOp::create(inner, element, place);
               bit = arith::ShLIOp::create(inner, bit, place);
               linalg::YieldOp::create(inner, Value(arith::OrIOp::create(
                                                  inner, arguments[1], bit)));
             })
      .getResult(0);
}

/// Combines the parts of `input` along dimension 0 bit by bit.
Value reduceBits(ImplicitLocOpBuilder &b, Value input, ReductionKind kind) {
  RankedTensorType type = getTensorType(input);
  auto element = cast<IntegerType>(type.getElementType());
  APInt neutral = kind == ReductionKind::band
                      ? APInt::getAllOnes(element.getWidth())
                      : APInt::getZero(element.getWidth());
  Value zero = arith::ConstantOp::create(b, b.getIntegerAttr(element, neutral));
  Value empty = createPartOf(b, input, element);
  Value init = linalg::FillOp::create(b, zero, empty).getResult(0);
  return linalg::ReduceOp::create(
             b, input, init, ArrayRef<int64_t>{0},
             [&](OpBuilder &builder, Location loc, ValueRange arguments) {
               Value x = arguments[1], y = arguments[0], result;
               if (kind == ReductionKind::band)
                 result = arith::AndIOp::create(builder, loc, x, y);
               else if (kind == ReductionKind::bor)
                 result = arith::OrIOp::create(builder, loc, x, y);
               else
                 result = arith::XOrIOp::create(builder, loc, x, y);
               linalg::YieldOp::create(builder, loc, result);
             })
      ->getResult(0);
}

//===----------------------------------------------------------------------===//
// One start
//===----------------------------------------------------------------------===//

/// What is left to do with a value after its wait.
using Finish = std::function<Value(ImplicitLocOpBuilder &, Value)>;

class Legalizer {
public:
  explicit Legalizer(CollectiveOpInterface op)
      : op(op), start(cast<AsyncStartOpInterface>(op.getOperation())),
        b(op.getLoc(), op), reduction(op.getReductionKind()) {}

  bool isLegal();
  LogicalResult legalize();

private:
  LogicalResult check();
  void prepare(Value &source, Finish &finish);
  void prepareElements(Value &source, Finish &finish);
  void gatherBits(Value &source, Finish &finish);
  void reduceUnpackedBits(Value &source, Finish &finish);
  void replace(ArrayRef<Value> sources, ArrayRef<Finish> finishes);
  Operation *createStart(ArrayRef<Value> sources, ArrayRef<Type> results);
  RankedTensorType getResultType(Value source, RankedTensorType original);
  std::optional<int64_t> getConstantGroupSize();
  OpFoldResult getGroupSize();

  CollectiveOpInterface op;
  AsyncStartOpInterface start;
  ImplicitLocOpBuilder b;
  std::optional<ReductionKind> reduction;
  /// The kind and reduction of the start that replaces the op.
  CollectiveKind newKind;
  std::optional<ReductionKind> newReduction;
  Value newScale;
};

bool Legalizer::isLegal() {
  if (op.getSplitDim() != 0)
    return false;
  if (!reduction)
    return true;
  if (isBitwise(reduction))
    return false;
  return llvm::all_of(start.getSources(), [&](Value source) {
    Type element = getElementTypeOrSelf(source.getType());
    if (isa<ComplexType>(element))
      return reduction != ReductionKind::premul_sum;
    return !element.isInteger(16) &&
           !(reduction == ReductionKind::avg && isa<IntegerType>(element));
  });
}

/// Checks what all rewrites ask for.
LogicalResult Legalizer::check() {
  auto expect = [&](const Twine &expected) {
    return op->emitOpError()
           << "is none that NCCL has, and can be computed by others only "
              "where "
           << expected;
  };
  if (start.isBufferForm())
    return expect("it is on tensors");
  for (Value token : start.getTokens())
    if (!llvm::all_of(token.getUsers(), llvm::IsaPred<WaitOp>))
      return expect("each of its tokens goes to waits alone, not to loops, "
                    "branches or calls");
  if (reduction == ReductionKind::avg) {
    auto isInteger = [](Value source) {
      return isa<IntegerType>(getElementTypeOrSelf(source.getType()));
    };
    if (!llvm::all_of(start.getSources(), isInteger) &&
        llvm::any_of(start.getSources(), isInteger))
      return expect("integers and other numbers are in starts of their own");
  }
  return success();
}

/// The number of members of the op's group, if the group or the op's shapes say
/// so.
std::optional<int64_t> Legalizer::getConstantGroupSize() {
  if (auto size = lookupGroup(op, op.getGroupAttr()).getStaticSize())
    return size;
  CollectiveKind kind = op.getCollectiveKind();
  bool gathers = kind == CollectiveKind::all_gather;
  if (!gathers && kind != CollectiveKind::reduce_scatter)
    return std::nullopt;
  int64_t whole =
      getTensorType(start.getSources()[0]).getDimSize(op.getSplitDim());
  int64_t part = cast<RankedTensorType>(start.getInFlightType(0))
                     .getDimSize(op.getSplitDim());
  if (gathers)
    std::swap(whole, part);
  if (ShapedType::isDynamic(whole) || ShapedType::isDynamic(part) || part == 0)
    return std::nullopt;
  return whole / part;
}

OpFoldResult Legalizer::getGroupSize() {
  if (std::optional<int64_t> size = getConstantGroupSize())
    return b.getIndexAttr(*size);
  return SizeOp::create(b, b.getIndexType(), op.getGroupAttr()).getResult();
}

/// Reduces the bits as bytes, whatever the size of the group is.
void Legalizer::reduceUnpackedBits(Value &source, Finish &finish) {
  // The lowest bit of a sum is right even where the sum overflows.
  newReduction = reduction == ReductionKind::band  ? ReductionKind::min
                 : reduction == ReductionKind::bor ? ReductionKind::max
                                                   : ReductionKind::sum;
  auto element = cast<IntegerType>(getTensorType(source).getElementType());
  source = unpackBits(b, source);
  finish = [=](ImplicitLocOpBuilder &b, Value value) {
    return packBits(b, value, element);
  };
}

/// Makes the operands of all members meet, to be combined after the wait.
void Legalizer::gatherBits(Value &source, Finish &finish) {
  ReductionKind kind = *reduction;
  RankedTensorType type = getTensorType(source);
  CollectiveKind original = op.getCollectiveKind();
  if (original == CollectiveKind::reduce_scatter) {
    // Each member gets the parts that it has to combine.
    OpFoldResult count = getGroupSize();
    newKind = CollectiveKind::all_to_all;
    finish = [=](ImplicitLocOpBuilder &b, Value value) {
      return reduceBits(b, splitDim(b, value, 0, count), kind);
    };
    return;
  }
  std::optional<int64_t> size = getConstantGroupSize();
  if (!size || *size > kMostGathered)
    return reduceUnpackedBits(source, finish);
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin(), 1);
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(b, b.getLoc(), source);
  sizes.insert(sizes.begin(), b.getIndexAttr(1));
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    groups.push_back({dim + 1});
  if (!groups.empty())
    groups.front().insert(groups.front().begin(), 0);
  Value own = source;
  source = tensor::ExpandShapeOp::create(
      b, RankedTensorType::get(shape, type.getElementType()), source, groups,
      sizes);
  newKind = CollectiveKind::all_gather;
  std::optional<int64_t> root =
      original == CollectiveKind::reduce ? op.getRootIndex() : std::nullopt;
  FlatSymbolRefAttr groupName = op.getGroupAttr();
  finish = [=](ImplicitLocOpBuilder &b, Value value) -> Value {
    Value reduced = reduceBits(b, value, kind);
    if (!root)
      return reduced;
    // A member that is not the root keeps its own operand.
    Value rank = RankOp::create(b, b.getIndexType(), groupName);
    Value rootIndex = arith::ConstantIndexOp::create(b, *root);
    Value isRoot =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rank, rootIndex);
    return arith::SelectOp::create(b, isRoot, reduced, own);
  };
}

/// Converts elements to a type that NCCL reduces, and back.
void Legalizer::prepareElements(Value &source, Finish &finish) {
  Type element = getTensorType(source).getElementType();
  auto integer = dyn_cast<IntegerType>(element);
  bool isAverage = integer && reduction == ReductionKind::avg;
  if (isAverage)
    newReduction = ReductionKind::sum;
  // An average sums in 64 bits. NCCL reduces no i16.
  IntegerType wide = isAverage               ? b.getI64Type()
                     : element.isInteger(16) ? b.getI32Type()
                                             : integer;
  bool isWidened = wide != integer;
  if (isWidened)
    source = map(b, source, wide,
                 [&](ImplicitLocOpBuilder &b, Value value) -> Value {
                   return arith::ExtSIOp::create(b, wide, value);
                 });
  if (isa<ComplexType>(element) && reduction == ReductionKind::premul_sum) {
    Value scale = op->getOperand(0);
    source = map(b, source, element,
                 [&](ImplicitLocOpBuilder &b, Value value) -> Value {
                   return complex::MulOp::create(b, scale, value);
                 });
    newReduction = ReductionKind::sum;
    newScale = Value();
    return;
  }
  if (!isAverage && !isWidened)
    return;
  FlatSymbolRefAttr group = op.getGroupAttr();
  finish = [=](ImplicitLocOpBuilder &b, Value value) {
    Value size;
    if (isAverage)
      size = arith::IndexCastOp::create(
          b, wide, SizeOp::create(b, b.getIndexType(), group));
    return map(b, value, element,
               [&](ImplicitLocOpBuilder &b, Value value) -> Value {
                 if (isAverage)
                   value = arith::DivSIOp::create(b, value, size);
                 if (isWidened)
                   value = arith::TruncIOp::create(b, integer, value);
                 return value;
               });
  };
}

/// Makes `source` what the new start takes, and `finish` what turns its value
/// into one of the op's.
void Legalizer::prepare(Value &source, Finish &finish) {
  int64_t dim = op.getSplitDim();
  if (op.getCollectiveKind() == CollectiveKind::all_gather) {
    OpFoldResult count = getGroupSize();
    finish = [=](ImplicitLocOpBuilder &b, Value value) {
      Value parts = splitDim(b, value, 0, count);
      return joinDims(b, moveDim(b, parts, 0, dim), dim);
    };
    return;
  }
  if (dim != 0) {
    Value parts = splitDim(b, source, dim, getGroupSize());
    source = joinDims(b, moveDim(b, parts, dim, 0), 0);
  }
  if (isBitwise(reduction))
    return gatherBits(source, finish);
  prepareElements(source, finish);
}

Operation *Legalizer::createStart(ArrayRef<Value> sources,
                                  ArrayRef<Type> results) {
  SmallVector<Type> tokens;
  for (Type type : results)
    tokens.push_back(TokenType::get(type));
  FlatSymbolRefAttr group = op.getGroupAttr();
  ValueRange inputs(sources), none;
  ReductionKindAttr kind =
      newReduction ? ReductionKindAttr::get(op.getContext(), *newReduction)
                   : ReductionKindAttr();
  switch (newKind) {
  case CollectiveKind::all_gather:
    return AllGatherOp::create(b, tokens, inputs, none, group,
                               b.getI64IntegerAttr(0));
  case CollectiveKind::all_to_all:
    return AllToAllOp::create(b, tokens, inputs, none, group, none, none,
                              nullptr, nullptr, nullptr);
  case CollectiveKind::reduce_scatter:
    return ReduceScatterOp::create(b, tokens, kind, newScale, inputs, none,
                                   group, b.getI64IntegerAttr(0));
  case CollectiveKind::reduce:
    return ReduceOp::create(b, tokens, kind, newScale, inputs, none, group,
                            b.getI64IntegerAttr(*op.getRootIndex()));
  default:
    return AllReduceOp::create(b, tokens, kind, newScale, inputs, none, group);
  }
}

/// The type of what the new start makes of `source`, where the op made
/// `original` of its operand.
RankedTensorType Legalizer::getResultType(Value source,
                                          RankedTensorType original) {
  RankedTensorType type = getTensorType(source);
  SmallVector<int64_t> shape(type.getShape());
  if (newKind == CollectiveKind::reduce_scatter) {
    shape = llvm::to_vector(original.getShape());
  } else if (newKind == CollectiveKind::all_gather) {
    std::optional<int64_t> size = getConstantGroupSize();
    shape[0] = size && !ShapedType::isDynamic(shape[0]) ? shape[0] * *size
                                                        : ShapedType::kDynamic;
  }
  return RankedTensorType::get(shape, type.getElementType());
}

void Legalizer::replace(ArrayRef<Value> sources, ArrayRef<Finish> finishes) {
  SmallVector<Type> results;
  for (auto [index, source] : llvm::enumerate(sources))
    results.push_back(getResultType(
        source, cast<RankedTensorType>(start.getInFlightType(index))));
  Operation *replacement = createStart(sources, results);
  replacement->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  for (auto [old, token, type, finish] : llvm::zip_equal(
           start.getTokens(), replacement->getResults(), results, finishes))
    for (Operation *user : llvm::make_early_inc_range(old.getUsers())) {
      auto wait = cast<WaitOp>(user);
      ImplicitLocOpBuilder after(wait.getLoc(), wait);
      auto renewed =
          WaitOp::create(after, type, token, ValueRange(), ValueRange());
      renewed->setDiscardableAttrs(wait->getDiscardableAttrDictionary());
      Value value = renewed.getValue();
      if (finish)
        value = finish(after, value);
      Type original = wait.getValue().getType();
      if (value.getType() != original)
        value = tensor::CastOp::create(after, original, value);
      wait.getValue().replaceAllUsesWith(value);
      wait.erase();
    }
  op->erase();
}

LogicalResult Legalizer::legalize() {
  if (failed(check()))
    return failure();
  newKind = op.getCollectiveKind();
  newReduction = reduction;
  if (reduction == ReductionKind::premul_sum)
    newScale = op->getOperand(0);
  // Elements of one bit are smallest, largest and sums of bytes.
  bool isBit = isBitwise(reduction) &&
               llvm::all_of(start.getSources(), [](Value source) {
                 return getElementTypeOrSelf(source.getType()).isInteger(1);
               });
  if (isBit && reduction != ReductionKind::bxor)
    newReduction = reduction = *reduction == ReductionKind::band
                                   ? ReductionKind::min
                                   : ReductionKind::max;
  SmallVector<Value> sources = start.getSources();
  SmallVector<Finish> finishes(sources.size());
  for (auto [index, source] : llvm::enumerate(sources))
    prepare(source, finishes[index]);
  if (reduction == ReductionKind::premul_sum && newScale &&
      newScale.getType().isInteger(16))
    newScale = arith::ExtSIOp::create(b, b.getI32Type(), newScale);
  replace(sources, finishes);
  return success();
}

struct CommLegalizeForNCCLPass
    : public braid::comm::impl::CommLegalizeForNCCLPassBase<
          CommLegalizeForNCCLPass> {
  void runOnOperation() override {
    SmallVector<CollectiveOpInterface> ops;
    getOperation().walk([&](CollectiveOpInterface op) { ops.push_back(op); });
    for (CollectiveOpInterface op : ops) {
      Legalizer legalizer(op);
      if (!legalizer.isLegal() && failed(legalizer.legalize()))
        return signalPassFailure();
    }
  }
};

} // namespace
