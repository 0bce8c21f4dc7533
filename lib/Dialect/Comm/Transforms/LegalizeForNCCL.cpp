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
  LogicalResult prepare(Value &source, Finish &finish, Type result);
  void prepareElements(Value &source, Finish &finish);
  LogicalResult gatherBits(Value &source, Finish &finish, Type result);
  void replace(ArrayRef<Value> sources, ArrayRef<Finish> finishes);
  Operation *createStart(ArrayRef<Value> sources, ArrayRef<Type> results);

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
  if (op.getSplitDim() == 0 && !isBitwise(reduction))
    return success();
  for (unsigned index = 0; index < start.getTokens().size(); ++index)
    if (!getTensorType(start.getSources()[index]).hasStaticShape() ||
        !cast<RankedTensorType>(start.getInFlightType(index)).hasStaticShape())
      return expect("its shapes are static");
  return success();
}

/// Gathers the operands of all members, to be combined after the wait.
LogicalResult Legalizer::gatherBits(Value &source, Finish &finish,
                                    Type result) {
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
    return success();
  }
  GroupOp group = lookupGroup(op, op.getGroupAttr());
  if (!group.getStaticSize())
    return op->emitOpError()
           << "with " << stringifyReductionKind(kind)
           << " is none that NCCL has, and can be computed by an all_gather "
              "only where the size of its group is known, unlike that of @"
           << group.getSymName();
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
  return success();
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
LogicalResult Legalizer::prepare(Value &source, Finish &finish, Type result) {
  int64_t dim = op.getSplitDim();
  if (op.getCollectiveKind() == CollectiveKind::all_gather) {
    auto type = cast<RankedTensorType>(result);
    int64_t count = type.getDimSize(dim) /
                    std::max<int64_t>(1, getTensorType(source).getDimSize(dim));
    finish = [=](ImplicitLocOpBuilder &b, Value value) {
      Value parts = splitDim(b, value, 0, count);
      return joinDims(b, moveDim(b, parts, 0, dim), dim);
    };
    return success();
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
  return success();
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
      shape[0] *= op.getSplitDim() == 0 && isBitwise(reduction)
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
    if (failed(prepare(source, finishes[index], start.getInFlightType(index))))
      return failure();
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
