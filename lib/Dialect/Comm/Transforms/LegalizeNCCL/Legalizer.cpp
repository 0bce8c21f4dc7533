//===- Legalizer.cpp - Replaces one start that NCCL lacks -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Legalizer.h"
#include "NCCLElements.h"
#include "TensorRewrites.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace braid::comm;

namespace {

/// The size of the largest group whose members gather all operands of a bitwise
/// reduction. Gathering moves the operand once for each other member. Reducing
/// the bits as bytes moves 16 times the bytes of the operand in any group.
constexpr int64_t kMostGathered = 16;

} // namespace

bool braid::comm::isBitwise(std::optional<ReductionKind> reduction) {
  return reduction == ReductionKind::band || reduction == ReductionKind::bor ||
         reduction == ReductionKind::bxor;
}

bool Legalizer::isLegal() {
  if (op.getSplitDim() != 0)
    return false;
  if (!reduction)
    return true;
  if (isBitwise(reduction))
    return false;
  // Starts on buffers keep the NaNs and 8-bit floats of NCCL.
  return llvm::none_of(start.getSources(), [&](Value source) {
    return NCCLElements::get(getElementTypeOrSelf(source.getType()), *reduction,
                             /*exact=*/!start.isBufferForm());
  });
}

/// Checks the preconditions of all rewrites.
LogicalResult Legalizer::check() {
  auto expect = [&](const Twine &expected) {
    return op->emitOpError()
           << "is not supported by NCCL, expected " << expected
           << " so that other collectives can replace it";
  };
  if (start.isBufferForm())
    return expect("tensors");
  if (reduction == ReductionKind::avg) {
    auto isInteger = [](Value source) {
      return isa<IntegerType>(getElementTypeOrSelf(source.getType()));
    };
    if (!llvm::all_of(start.getSources(), isInteger) &&
        llvm::any_of(start.getSources(), isInteger))
      return expect("integers and floats in different starts");
  }
  return success();
}

/// The number of members of the op's group, if the group or the op's shapes
/// give the number.
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

/// The number of members of `group`, which is `size` if that is known.
static OpFoldResult getGroupSize(ImplicitLocOpBuilder &b,
                                 FlatSymbolRefAttr group,
                                 std::optional<int64_t> size) {
  if (size)
    return b.getIndexAttr(*size);
  return SizeOp::create(b, b.getIndexType(), group).getResult();
}

/// The root, if only the root gets the result of the reduction.
std::optional<int64_t> Legalizer::getRootThatReduces() {
  return op.getCollectiveKind() == CollectiveKind::reduce ? op.getRootIndex()
                                                          : std::nullopt;
}

/// `reduced` on the root and `own`, the operand, on other members; `reduced` on
/// all members if there is no root.
static Value selectAtRoot(ImplicitLocOpBuilder &b, FlatSymbolRefAttr group,
                          std::optional<int64_t> root, Value reduced,
                          Value own) {
  if (!root)
    return reduced;
  Value rank = RankOp::create(b, b.getIndexType(), group);
  Value rootIndex = arith::ConstantIndexOp::create(b, *root);
  Value isRoot =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rank, rootIndex);
  return arith::SelectOp::create(b, isRoot, reduced, own);
}

/// Reduces the bits as bytes, for a group of any size.
void Legalizer::reduceUnpackedBits(Value &source, Finish &finish) {
  // The lowest bit of a sum is correct even if the sum overflows.
  newReduction = reduction == ReductionKind::band  ? ReductionKind::min
                 : reduction == ReductionKind::bor ? ReductionKind::max
                                                   : ReductionKind::sum;
  auto element = cast<IntegerType>(getTensorType(source).getElementType());
  source = unpackBits(b, source);
  finish = [=](ImplicitLocOpBuilder &b, Value value) {
    return packBits(b, value, element);
  };
}

/// Gathers the operands of all members and reduces them after the wait.
void Legalizer::gatherBits(Value &source, Finish &finish) {
  ReductionKind kind = *reduction;
  RankedTensorType type = getTensorType(source);
  CollectiveKind original = op.getCollectiveKind();
  FlatSymbolRefAttr group = op.getGroupAttr();
  std::optional<int64_t> size = getConstantGroupSize();
  if (original == CollectiveKind::reduce_scatter) {
    // Each member receives the parts that it reduces.
    newKind = CollectiveKind::all_to_all;
    finish = [=](ImplicitLocOpBuilder &b, Value value) {
      OpFoldResult count = getGroupSize(b, group, size);
      return reduceBits(b, splitDim(b, value, 0, count), kind);
    };
    return;
  }
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
  std::optional<int64_t> root = getRootThatReduces();
  usesOperands |= root.has_value();
  finish = [=](ImplicitLocOpBuilder &b, Value value) {
    return selectAtRoot(b, group, root, reduceBits(b, value, kind), own);
  };
}

/// Converts the elements of `source` to a type that NCCL reduces, and the
/// elements of the result back.
void Legalizer::prepareElements(Value &source, Finish &finish) {
  Type element = getTensorType(source).getElementType();
  std::optional<NCCLElements> converted =
      reduction ? NCCLElements::get(element, *reduction, /*exact=*/true)
                : std::nullopt;
  if (!converted)
    return;
  Value own = source;
  Value scale =
      *reduction == ReductionKind::premul_sum ? op->getOperand(0) : Value();
  if (converted->changesOperands())
    source = map(b, source, converted->getType(),
                 [&](ImplicitLocOpBuilder &b, Value value) {
                   return converted->convert(b, value, scale);
                 });
  newReduction = converted->getReduction();
  newScale = converted->convertScale(b, scale);
  FlatSymbolRefAttr group = op.getGroupAttr();
  std::optional<int64_t> root = getRootThatReduces();
  usesOperands |= root && !converted->keepsOperands();
  finish = [=](ImplicitLocOpBuilder &b, Value value) {
    Value size;
    if (converted->isAverage())
      size = arith::IndexCastOp::create(
          b, converted->getType(), SizeOp::create(b, b.getIndexType(), group));
    Value result =
        map(b, value, element, [&](ImplicitLocOpBuilder &b, Value value) {
          return converted->restore(b, value, size);
        });
    return converted->keepsOperands()
               ? result
               : selectAtRoot(b, group, root, result, own);
  };
}

/// Replaces `source` by the operand of the new start, and sets `finish`, which
/// computes the value of the op from the value of the new start.
void Legalizer::prepare(Value &source, Finish &finish) {
  int64_t dim = op.getSplitDim();
  if (op.getCollectiveKind() == CollectiveKind::all_gather) {
    FlatSymbolRefAttr group = op.getGroupAttr();
    std::optional<int64_t> size = getConstantGroupSize();
    finish = [=, part = source](ImplicitLocOpBuilder &b, Value value) -> Value {
      // Nothing is as long as all of its parts, whatever their number is.
      RankedTensorType type = getTensorType(part);
      if (type.getDimSize(dim) == 0)
        return tensor::EmptyOp::create(
            b, tensor::getMixedSizes(b, b.getLoc(), part),
            type.getElementType());
      Value parts = splitDim(b, value, 0, getGroupSize(b, group, size));
      return joinDims(b, moveDim(b, parts, 0, dim), dim);
    };
    return;
  }
  if (dim != 0) {
    Value parts =
        splitDim(b, source, dim,
                 getGroupSize(b, op.getGroupAttr(), getConstantGroupSize()));
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

/// The type of the value of the new start for the operand `source`. `original`
/// is the type of the op's value.
FailureOr<RankedTensorType>
Legalizer::getResultType(Value source, RankedTensorType original) {
  RankedTensorType type = getTensorType(source);
  SmallVector<int64_t> shape(type.getShape());
  if (newKind == CollectiveKind::reduce_scatter) {
    shape = llvm::to_vector(original.getShape());
  } else if (newKind == CollectiveKind::all_gather) {
    std::optional<int64_t> size = getConstantGroupSize();
    if (!size)
      shape[0] = ShapedType::kDynamic;
    else if (!ShapedType::isDynamic(shape[0]) &&
             llvm::MulOverflow(shape[0], *size, shape[0]))
      return op->emitOpError() << "gathers " << type << " from " << *size
                               << " ranks along dim 0 for NCCL, expected a "
                                  "size below 2^63";
  }
  return RankedTensorType::get(shape, type.getElementType());
}

FailureOr<Replacement> Legalizer::replace() {
  if (failed(check()))
    return failure();
  newKind = op.getCollectiveKind();
  newReduction = reduction;
  if (reduction == ReductionKind::premul_sum)
    newScale = op->getOperand(0);
  // On i1, `band` is `min` and `bor` is `max`.
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
  SmallVector<Type> results;
  for (auto [index, source] : llvm::enumerate(sources)) {
    FailureOr<RankedTensorType> result = getResultType(
        source, cast<RankedTensorType>(start.getInFlightType(index)));
    if (failed(result))
      return failure();
    results.push_back(*result);
  }
  Operation *replacement = createStart(sources, results);
  replacement->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  return Replacement{replacement, std::move(finishes), usesOperands};
}
