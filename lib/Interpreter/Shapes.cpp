//===- Shapes.cpp - Views of tensors and buffers --------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;
using namespace braid::interpreter;
using namespace mlir;

bool Machine::isInBounds(const RuntimeValue &value) {
  if (!isSmall(value.sizes))
    return false;
  int64_t size = value.memory->elements.size();
  for (int64_t i = 0, e = value.getNumElements(); i != e; ++i)
    if (int64_t position = value.getPosition(i);
        position < 0 || position >= size)
      return false;
  return true;
}

bool Machine::computeDim(unsigned rank, Operation *op) {
  const RuntimeValue source = get(rank, op->getOperand(0));
  if (op->getNumOperands() == 1) {
    get(rank, op->getResult(0)).scalar =
        IntegerAttr::get(op->getResult(0).getType(), source.sizes.size());
    return true;
  }
  int64_t dim = getIndex(rank, op->getOperand(1));
  if (dim < 0 || dim >= static_cast<int64_t>(source.sizes.size()))
    return unsupported(op);
  get(rank, op->getResult(0)).scalar =
      IntegerAttr::get(op->getResult(0).getType(), source.sizes[dim]);
  return true;
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

bool Machine::getSlice(unsigned rank, OffsetSizeAndStrideOpInterface slice,
                       const RuntimeValue &source,
                       const llvm::SmallBitVector &droppedDims,
                       RuntimeValue &view) {
  view = source;
  view.sizes.clear();
  view.strides.clear();
  for (auto [i, offset, size, stride] :
       llvm::enumerate(slice.getMixedOffsets(), slice.getMixedSizes(),
                       slice.getMixedStrides())) {
    view.offset += getIndex(rank, offset) * source.strides[i];
    if (droppedDims.test(i))
      continue;
    view.sizes.push_back(getIndex(rank, size));
    view.strides.push_back(source.strides[i] * getIndex(rank, stride));
  }
  if (!isInBounds(view))
    return fail(InterpreterFailure::Unsupported, slice, "is out of bounds");
  return true;
}

bool Machine::insertSlice(unsigned rank, OffsetSizeAndStrideOpInterface slice,
                          const RuntimeValue &part, const RuntimeValue &into,
                          const llvm::SmallBitVector &droppedDims,
                          RuntimeValue &result) {
  result = clone(into);
  RuntimeValue view;
  if (!getSlice(rank, slice, result, droppedDims, view))
    return false;
  if (view.sizes != part.sizes)
    return fail(InterpreterFailure::Unsupported, slice, "is out of bounds");
  return copy(slice, part, view);
}

/// A view of a buffer, or a part of a tensor.
bool Machine::computeSlice(unsigned rank, Operation *op) {
  auto subview = dyn_cast<memref::SubViewOp>(op);
  RuntimeValue view;
  if (!getSlice(rank, cast<OffsetSizeAndStrideOpInterface>(op),
                get(rank, op->getOperand(0)),
                subview ? subview.getDroppedDims()
                        : cast<tensor::ExtractSliceOp>(op).getDroppedDims(),
                view))
    return false;
  get(rank, op->getResult(0)) = view;
  return true;
}

//===----------------------------------------------------------------------===//
// Other shapes of the same elements
//===----------------------------------------------------------------------===//

/// `source` with the dims of each group of `groups` joined; false if their
/// elements are not in one row.
static bool collapse(const RuntimeValue &source,
                     ArrayRef<ReassociationIndices> groups,
                     RuntimeValue &view) {
  view = source;
  view.sizes.clear();
  view.strides.clear();
  for (const ReassociationIndices &group : groups) {
    int64_t size = 1, stride = 1;
    bool isFirst = true;
    for (int64_t dim : llvm::reverse(group)) {
      if (source.sizes[dim] == 1)
        continue;
      if (isFirst)
        stride = source.strides[dim];
      else if (source.strides[dim] != size * stride)
        return false;
      isFirst = false;
      size *= source.sizes[dim];
    }
    view.sizes.push_back(size);
    view.strides.push_back(stride);
  }
  return true;
}

/// `source` with `sizes`, where group number i of `groups` divides dim i.
static void expand(const RuntimeValue &source,
                   ArrayRef<ReassociationIndices> groups,
                   ArrayRef<int64_t> sizes, RuntimeValue &view) {
  view = source;
  view.sizes.assign(sizes.begin(), sizes.end());
  view.strides.assign(sizes.size(), 1);
  for (auto [dim, group] : llvm::enumerate(groups)) {
    int64_t stride = source.strides[dim];
    for (int64_t inner : llvm::reverse(group)) {
      view.strides[inner] = stride;
      stride *= sizes[inner];
    }
  }
}

/// Ops that give the elements of their operand other dimensions.
bool Machine::computeReshape(unsigned rank, Operation *op) {
  RuntimeValue source = get(rank, op->getOperand(0)), view;
  auto setExpanded = [&](auto expandOp) {
    SmallVector<int64_t> sizes;
    for (OpFoldResult size : expandOp.getMixedOutputShape())
      sizes.push_back(getIndex(rank, size));
    // Dims are one row where the operand has one element alone.
    expand(source, expandOp.getReassociationIndices(), sizes, view);
    return view.getNumElements() == source.getNumElements();
  };
  auto setCollapsed = [&](auto collapseOp) {
    SmallVector<ReassociationIndices> groups =
        collapseOp.getReassociationIndices();
    if (collapse(source, groups, view))
      return true;
    return isa<TensorType>(op->getOperand(0).getType()) &&
           collapse(clone(source), groups, view);
  };
  bool isRight = false;
  if (auto expandOp = dyn_cast<tensor::ExpandShapeOp>(op)) {
    isRight = setExpanded(expandOp);
  } else if (auto expandOp = dyn_cast<memref::ExpandShapeOp>(op)) {
    isRight = setExpanded(expandOp);
  } else if (auto collapseOp = dyn_cast<tensor::CollapseShapeOp>(op)) {
    isRight = setCollapsed(collapseOp);
  } else if (auto collapseOp = dyn_cast<memref::CollapseShapeOp>(op)) {
    isRight = setCollapsed(collapseOp);
  } else {
    // The sizes are in a tensor or buffer.
    SmallVector<int64_t> sizes;
    const RuntimeValue shape = get(rank, op->getOperand(1));
    for (int64_t i = 0, e = shape.getNumElements(); i != e; ++i) {
      Attribute size;
      if (!read(op, shape, shape.getPosition(i), size))
        return false;
      auto number = dyn_cast_if_present<IntegerAttr>(size);
      sizes.push_back(number ? number.getInt() : -1);
    }
    isRight = isSmall(sizes) &&
              ShapedType::getNumElements(sizes) == source.getNumElements();
    if (isRight && isa<TensorType>(op->getOperand(0).getType()))
      source = clone(source);
    RuntimeValue row;
    ReassociationIndices all =
        llvm::to_vector<2>(llvm::seq<int64_t>(0, source.sizes.size()));
    isRight = isRight && collapse(source, all, row);
    if (isRight)
      expand(row,
             ReassociationIndices(
                 llvm::to_vector<2>(llvm::seq<int64_t>(0, sizes.size()))),
             sizes, view);
  }
  if (hasFailed() || !isRight)
    return unsupported(op);
  get(rank, op->getResult(0)) = view;
  return true;
}

/// The buffer of a global, one for each rank.
bool Machine::computeGlobal(unsigned rank, Operation *op) {
  auto global = symbolTables.lookupNearestSymbolFrom<memref::GlobalOp>(
      op, cast<memref::GetGlobalOp>(op).getNameAttr());
  auto [it, isNew] =
      globals.try_emplace({rank, global.getAsOpaquePointer()}, RuntimeValue());
  if (isNew) {
    ArrayRef<int64_t> sizes = global.getType().getShape();
    if (!isSmall(sizes))
      return tooLarge(op);
    Elements elements(ShapedType::getNumElements(sizes));
    if (auto initial = dyn_cast_if_present<ElementsAttr>(
            global.getInitialValue().value_or(Attribute()))) {
      auto values = initial.tryGetValues<Attribute>();
      if (!values)
        return unsupported(op);
      elements.assign(values->begin(), values->end());
    }
    it->second = makeElements(sizes, std::move(elements));
  }
  get(rank, op->getResult(0)) = it->second;
  return true;
}

/// Ops that name elements of their operand anew.
bool Machine::computeView(unsigned rank, Operation *op) {
  if (isa<memref::SubViewOp, tensor::ExtractSliceOp>(op))
    return computeSlice(rank, op);
  if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::ReshapeOp,
          memref::ExpandShapeOp, memref::CollapseShapeOp, memref::ReshapeOp>(
          op))
    return computeReshape(rank, op);
  if (auto transpose = dyn_cast<memref::TransposeOp>(op)) {
    RuntimeValue source = get(rank, transpose.getIn()), view = source;
    for (auto [i, expr] :
         llvm::enumerate(transpose.getPermutation().getResults())) {
      unsigned dim = cast<AffineDimExpr>(expr).getPosition();
      view.sizes[i] = source.sizes[dim];
      view.strides[i] = source.strides[dim];
    }
    get(rank, op->getResult(0)) = view;
    return true;
  }
  if (auto reinterpret = dyn_cast<memref::ReinterpretCastOp>(op)) {
    RuntimeValue view = get(rank, reinterpret.getSource());
    view.offset = getIndex(rank, reinterpret.getMixedOffsets().front());
    view.sizes.clear();
    view.strides.clear();
    for (auto [size, stride] : llvm::zip_equal(reinterpret.getMixedSizes(),
                                               reinterpret.getMixedStrides())) {
      view.sizes.push_back(getIndex(rank, size));
      view.strides.push_back(getIndex(rank, stride));
    }
    if (!isInBounds(view))
      return fail(InterpreterFailure::Unsupported, op, "is out of bounds");
    get(rank, reinterpret.getResult()) = view;
    return true;
  }
  if (auto metadata = dyn_cast<memref::ExtractStridedMetadataOp>(op)) {
    RuntimeValue source = get(rank, metadata.getSource());
    auto number = [&](int64_t value) {
      RuntimeValue result;
      result.scalar = IntegerAttr::get(IndexType::get(op->getContext()), value);
      return result;
    };
    Values results = {source, number(source.offset)};
    results.front().offset = 0;
    results.front().sizes.clear();
    results.front().strides.clear();
    for (int64_t size : source.sizes)
      results.push_back(number(size));
    for (int64_t stride : source.strides)
      results.push_back(number(stride));
    bind(rank, op->getResults(), results);
    return true;
  }
  // Casts, and ops that only say something of a buffer.
  if (op->getNumOperands() != 0 && op->getNumResults() == 1 &&
      (isa<CastOpInterface>(op) || isa<ViewLikeOpInterface>(op)) &&
      !isa<memref::ViewOp>(op)) {
    RuntimeValue source = get(rank, op->getOperand(0));
    get(rank, op->getResult(0)) = source;
    return true;
  }
  return unsupported(op);
}
