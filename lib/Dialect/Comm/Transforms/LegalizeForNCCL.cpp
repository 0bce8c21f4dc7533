//===- LegalizeForNCCL.cpp - The comm-legalize-for-nccl pass --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
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

/// Splits dimension `dim` of `input` into `count` and the rest.
Value splitDim(ImplicitLocOpBuilder &b, Value input, int64_t dim,
               int64_t count) {
  RankedTensorType type = getTensorType(input);
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] /= count;
  shape.insert(shape.begin() + dim, count);
  SmallVector<ReassociationIndices> groups;
  for (int64_t index = 0, next = 0; index < type.getRank(); ++index) {
    groups.push_back({next++});
    if (index == dim)
      groups.back().push_back(next++);
  }
  return tensor::ExpandShapeOp::create(
      b, RankedTensorType::get(shape, type.getElementType()), input, groups);
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
  SmallVector<int64_t> shape;
  for (int64_t dim : permutation)
    shape.push_back(type.getDimSize(dim));
  Value empty = tensor::EmptyOp::create(b, shape, type.getElementType());
  return linalg::TransposeOp::create(b, input, empty, permutation)
      ->getResult(0);
}

/// The bits of `input` as bytes, those of each number along a new dimension 0.
Value unpackBits(ImplicitLocOpBuilder &b, Value input) {
  RankedTensorType type = getTensorType(input);
  Type element = type.getElementType(), byte = b.getI8Type();
  unsigned width = type.getElementTypeBitWidth();
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin(), width);
  Value empty = tensor::EmptyOp::create(b, shape, byte);
  AffineMap all = b.getMultiDimIdentityMap(shape.size());
  SmallVector<utils::IteratorType> iterators(shape.size(),
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
  Value empty =
      tensor::EmptyOp::create(b, type.getShape().drop_front(), element);
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
  Value empty =
      tensor::EmptyOp::create(b, type.getShape().drop_front(), element);
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
  void prepare(Value &source, Finish &finish, Type result);
  void prepareElements(Value &source, Finish &finish);
  void gatherBits(Value &source, Finish &finish, Type result);
  void reduceUnpackedBits(Value &source, Finish &finish);
  void replace(ArrayRef<Value> sources, ArrayRef<Finish> finishes);
  Operation *createStart(ArrayRef<Value> sources, ArrayRef<Type> results);
  int64_t getDim() {
    CollectiveKind kind = op.getCollectiveKind();
    return kind == CollectiveKind::all_gather ||
                   kind == CollectiveKind::reduce_scatter
               ? op.getSplitDim()
               : 0;
  }

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
  if (getDim() != 0)
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
  if (getDim() == 0 && !isBitwise(reduction))
    return success();
  for (unsigned index = 0; index < start.getTokens().size(); ++index)
    if (!getTensorType(start.getSources()[index]).hasStaticShape() ||
        !cast<RankedTensorType>(start.getInFlightType(index)).hasStaticShape())
      return expect("its shapes are static");
  return success();
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
void Legalizer::gatherBits(Value &source, Finish &finish, Type result) {
  ReductionKind kind = *reduction;
  RankedTensorType type = getTensorType(source);
  CollectiveKind original = op.getCollectiveKind();
  if (original == CollectiveKind::reduce_scatter) {
    // Each member gets the parts that it has to combine.
    int64_t count =
        type.getNumElements() /
        std::max<int64_t>(1, cast<RankedTensorType>(result).getNumElements());
    newKind = CollectiveKind::all_to_all;
    finish = [=](ImplicitLocOpBuilder &b, Value value) {
      return reduceBits(b, splitDim(b, value, 0, count), kind);
    };
    return;
  }
  std::optional<int64_t> size =
      lookupGroup(op, op.getGroupAttr()).getStaticSize();
  if (!size || *size > kMostGathered)
    return reduceUnpackedBits(source, finish);
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin(), 1);
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    groups.push_back({dim + 1});
  if (!groups.empty())
    groups.front().insert(groups.front().begin(), 0);
  Value own = source;
  source = tensor::ExpandShapeOp::create(
      b, RankedTensorType::get(shape, type.getElementType()), source, groups);
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
  bool isWidened = element.isInteger(16);
  if (isAverage)
    newReduction = ReductionKind::sum;
  if (isWidened)
    source = map(b, source, b.getI32Type(),
                 [](ImplicitLocOpBuilder &b, Value value) -> Value {
                   return arith::ExtSIOp::create(b, b.getI32Type(), value);
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
          b, integer, SizeOp::create(b, b.getIndexType(), group));
    return map(b, value, element,
               [&](ImplicitLocOpBuilder &b, Value value) -> Value {
                 if (isWidened)
                   value = arith::TruncIOp::create(b, integer, value);
                 if (isAverage)
                   value = arith::DivSIOp::create(b, value, size);
                 return value;
               });
  };
}

/// Makes `source` what the new start takes, and `finish` what turns its value
/// into one of the op's.
void Legalizer::prepare(Value &source, Finish &finish, Type result) {
  int64_t dim = getDim();
  if (op.getCollectiveKind() == CollectiveKind::all_gather) {
    auto type = cast<RankedTensorType>(result);
    int64_t count = type.getDimSize(dim) /
                    std::max<int64_t>(1, getTensorType(source).getDimSize(dim));
    finish = [=](ImplicitLocOpBuilder &b, Value value) {
      Value parts = splitDim(b, value, 0, count);
      return joinDims(b, moveDim(b, parts, 0, dim), dim);
    };
    return;
  }
  if (dim != 0) {
    int64_t count =
        getTensorType(source).getDimSize(dim) /
        std::max<int64_t>(1, cast<RankedTensorType>(result).getDimSize(dim));
    source =
        joinDims(b, moveDim(b, splitDim(b, source, dim, count), dim, 0), 0);
  }
  if (isBitwise(reduction))
    return gatherBits(source, finish, result);
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

void Legalizer::replace(ArrayRef<Value> sources, ArrayRef<Finish> finishes) {
  SmallVector<Type> results;
  for (auto [index, source] : llvm::enumerate(sources)) {
    RankedTensorType type = getTensorType(source);
    auto original = cast<RankedTensorType>(start.getInFlightType(index));
    SmallVector<int64_t> shape(type.getShape());
    if (newKind == CollectiveKind::all_gather)
      shape[0] *= getDim() == 0 && isBitwise(reduction)
                      ? *lookupGroup(op, op.getGroupAttr()).getStaticSize()
                      : original.getNumElements() /
                            std::max<int64_t>(1, type.getNumElements());
    else if (newKind == CollectiveKind::reduce_scatter)
      shape = llvm::to_vector(original.getShape());
    results.push_back(RankedTensorType::get(shape, type.getElementType()));
  }
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
      wait.getValue().replaceAllUsesWith(finish ? finish(after, value) : value);
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
    prepare(source, finishes[index], start.getInFlightType(index));
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
