//===- UpdateLists.cpp - Updates of each window of a scatter --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "UpdateLists.h"

#include "TensorOps.h"

#include "braid/Dialect/Library/IR/Library.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace braid;
using namespace braid::library;

static Value constantOf(ImplicitLocOpBuilder &at, Type kind, int64_t value) {
  return arith::ConstantOp::create(at, at.getIntegerAttr(kind, value));
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

/// For each batch and each of `numRows` rows, the first or the last update that
/// `isWanted`, a condition on the row (of type index), on the number of the
/// update (of type i32), on `rowInputs` and on the index of the update; if
/// there is none, `none`.
static Value findUpdates(ImplicitLocOpBuilder &b, Value indices,
                         int64_t numRows, bool findLast, int64_t none,
                         ArrayRef<AffineMap> rowMaps, ValueRange rowInputs,
                         ElementBody isWanted) {
  Type number = b.getI32Type();
  SmallVector<int64_t> sizes(cast<ShapedType>(indices.getType()).getShape());
  auto numDims = static_cast<unsigned>(sizes.size() + 1);
  sizes.back() = numRows;
  Value init = linalg::FillOp::create(
                   b, constantOf(b, number, none),
                   tensor::EmptyOp::create(b, sizes, number).getResult())
                   .getResult(0);
  SmallVector<AffineExpr> ofUpdate;
  for (unsigned dim = 0; dim + 2 < numDims; ++dim)
    ofUpdate.push_back(b.getAffineDimExpr(dim));
  ofUpdate.push_back(b.getAffineDimExpr(numDims - 1));
  SmallVector<AffineMap> maps(rowMaps);
  maps.push_back(AffineMap::get(numDims, 0, ofUpdate, b.getContext()));
  maps.push_back(b.getMultiDimIdentityMap(numDims).getMajorSubMap(numDims - 1));
  SmallVector<Value> inputs(rowInputs);
  inputs.push_back(indices);
  SmallVector<utils::IteratorType> loops(numDims,
                                         utils::IteratorType::parallel);
  loops.back() = utils::IteratorType::reduction;
  return createGeneric(
      b, b.getLoc(), init, inputs, maps, loops,
      [&](ImplicitLocOpBuilder &at, ValueRange arguments) -> Value {
        Value row = linalg::IndexOp::create(at, numDims - 2);
        Value update = arith::IndexCastOp::create(
            at, number, linalg::IndexOp::create(at, numDims - 1));
        SmallVector<Value> given{row, update};
        llvm::append_range(given, arguments.drop_back());
        Value found = arith::SelectOp::create(at, isWanted(at, given), update,
                                              constantOf(at, number, none));
        if (findLast)
          return arith::MaxSIOp::create(at, arguments.back(), found);
        return arith::MinSIOp::create(at, arguments.back(), found);
      });
}

static Value findOfWindows(ImplicitLocOpBuilder &b, Value indices,
                           int64_t numWindows, bool findLast, int64_t none) {
  Type index = getElementTypeOrSelf(indices.getType());
  return findUpdates(
      b, indices, numWindows, findLast, none, {}, {},
      [&](ImplicitLocOpBuilder &at, ValueRange arguments) -> Value {
        Value window = arith::IndexCastOp::create(at, index, arguments[0]);
        return arith::CmpIOp::create(at, arith::CmpIPredicate::eq, arguments[2],
                                     window);
      });
}

static int64_t countUpdates(Value indices) {
  return cast<ShapedType>(indices.getType()).getShape().back();
}

Value braid::library::findFirstUpdates(ImplicitLocOpBuilder &b, Value indices,
                                       int64_t numWindows) {
  return findOfWindows(b, indices, numWindows, /*findLast=*/false,
                       /*none=*/countUpdates(indices));
}

Value braid::library::findLastUpdates(ImplicitLocOpBuilder &b, Value indices,
                                      int64_t numWindows) {
  return findOfWindows(b, indices, numWindows, /*findLast=*/true, /*none=*/-1);
}

Value braid::library::findNextUpdates(ImplicitLocOpBuilder &b, Value indices) {
  int64_t numUpdates = countUpdates(indices);
  auto rank =
      static_cast<unsigned>(cast<ShapedType>(indices.getType()).getRank());
  return findUpdates(
      b, indices, numUpdates, /*findLast=*/false, /*none=*/numUpdates,
      b.getMultiDimIdentityMap(rank + 1).getMajorSubMap(rank), indices,
      [&](ImplicitLocOpBuilder &at, ValueRange arguments) -> Value {
        Value row =
            arith::IndexCastOp::create(at, b.getI32Type(), arguments[0]);
        Value isLater = arith::CmpIOp::create(at, arith::CmpIPredicate::sgt,
                                              arguments[1], row);
        Value isSame = arith::CmpIOp::create(at, arith::CmpIPredicate::eq,
                                             arguments[2], arguments[3]);
        return arith::AndIOp::create(at, isLater, isSame);
      });
}

//===----------------------------------------------------------------------===//
// Sorts
//===----------------------------------------------------------------------===//

Value braid::library::getWindowOf(ImplicitLocOpBuilder &at, Value element) {
  return arith::ShRUIOp::create(at, element,
                                constantOf(at, element.getType(), 32));
}

Value braid::library::getUpdateOf(ImplicitLocOpBuilder &at, Value element) {
  return arith::TruncIOp::create(at, at.getI32Type(), element);
}

/// Computes a tensor of `sizes` by elements, of the inputs at the same place.
static Value compute(ImplicitLocOpBuilder &b, ArrayRef<int64_t> sizes,
                     Type element, ValueRange inputs, ElementBody body) {
  auto rank = static_cast<unsigned>(sizes.size());
  SmallVector<AffineMap> maps(inputs.size() + 1,
                              b.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  return createGeneric(b, b.getLoc(),
                       tensor::EmptyOp::create(b, sizes, element), inputs, maps,
                       loops, body);
}

Value braid::library::sortUpdates(ImplicitLocOpBuilder &b, Value indices,
                                  int64_t numWindows) {
  auto type = cast<RankedTensorType>(indices.getType());
  Type index = type.getElementType(), number = b.getI64Type();
  Value unsorted = compute(
      b, type.getShape(), number, indices,
      [&](ImplicitLocOpBuilder &at, ValueRange arguments) -> Value {
        Value window = arguments[0];
        if (index != number)
          window = arith::ExtSIOp::create(at, number, window);
        // A negative index is a large unsigned number.
        window = arith::MinUIOp::create(at, window,
                                        constantOf(at, number, numWindows));
        Value update = arith::IndexCastOp::create(
            at, number, linalg::IndexOp::create(at, type.getRank() - 1));
        return arith::OrIOp::create(
            at, arith::ShLIOp::create(at, window, constantOf(at, number, 32)),
            update);
      });
  return CallOp::create(b, unsorted.getType(), "sort", /*flags=*/"",
                        /*dimensions=*/0, ValueRange(), unsorted)
      .getResult(0);
}

/// The element at `place` (an i32) of the batch of `positions`.
static Value extractAt(ImplicitLocOpBuilder &at, Value sorted,
                       SmallVector<Value> positions, Value place) {
  positions.back() = arith::IndexCastOp::create(at, at.getIndexType(), place);
  return tensor::ExtractOp::create(at, sorted, positions);
}

/// The place of the first element of the batch of `positions` whose window is
/// `bound` or a later one, by a binary search.
static Value search(ImplicitLocOpBuilder &at, Value sorted,
                    ArrayRef<Value> positions, Value bound) {
  Type place = at.getI32Type();
  return scf::WhileOp::create(
             at, TypeRange{place, place},
             ValueRange{constantOf(at, place, 0),
                        constantOf(at, place, countUpdates(sorted))},
             [&](OpBuilder &nested, Location loc, ValueRange range) {
               Value isOpen = arith::CmpIOp::create(
                   nested, loc, arith::CmpIPredicate::slt, range[0], range[1]);
               scf::ConditionOp::create(nested, loc, isOpen, range);
             },
             [&](OpBuilder &nested, Location loc, ValueRange range) {
               ImplicitLocOpBuilder inner(loc, nested);
               Value one = constantOf(inner, place, 1);
               Value middle = arith::ShRUIOp::create(
                   inner, arith::AddIOp::create(inner, range[0], range[1]),
                   one);
               Value window = getWindowOf(
                   inner, extractAt(inner, sorted,
                                    SmallVector<Value>(positions), middle));
               Value isBefore = arith::CmpIOp::create(
                   inner, arith::CmpIPredicate::slt, window, bound);
               Value behind = arith::AddIOp::create(inner, middle, one);
               Value begin =
                   arith::SelectOp::create(inner, isBefore, behind, range[0]);
               Value end =
                   arith::SelectOp::create(inner, isBefore, range[1], middle);
               scf::YieldOp::create(inner, ValueRange{begin, end});
             })
      .getResult(0);
}

Value braid::library::findFirstInSorted(ImplicitLocOpBuilder &b, Value sorted,
                                        int64_t numWindows) {
  SmallVector<int64_t> sizes(cast<ShapedType>(sorted.getType()).getShape());
  sizes.back() = numWindows;
  return compute(
      b, sizes, b.getI32Type(), {}, [&](ImplicitLocOpBuilder &at, ValueRange) {
        SmallVector<Value> positions;
        for (size_t dim = 0; dim < sizes.size(); ++dim)
          positions.push_back(linalg::IndexOp::create(at, dim));
        Value window =
            arith::IndexCastOp::create(at, at.getI64Type(), positions.back());
        return search(at, sorted, positions, window);
      });
}
