//===- Compute.cpp - Ops that compute -------------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;
using namespace braid::interpreter;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

bool Machine::read(Operation *op, const RuntimeValue &value, int64_t position,
                   Attribute &element) {
  if (!value.memory)
    return unsupported(op);
  const Memory &memory = *value.memory;
  if (position < 0 || position >= static_cast<int64_t>(memory.elements.size()))
    return fail(InterpreterFailure::Unsupported, op, "reads out of bounds");
  if (memory.isFreed)
    return fail(InterpreterFailure::Buffer, op, "reads a buffer that is freed");
  if (memory.writers[position] != 0)
    return fail(InterpreterFailure::Buffer, op,
                "reads what an operation in flight writes");
  element = memory.elements[position];
  return true;
}

bool Machine::write(Operation *op, const RuntimeValue &value, int64_t position,
                    Attribute element) {
  if (!value.memory)
    return unsupported(op);
  Memory &memory = *value.memory;
  if (position < 0 || position >= static_cast<int64_t>(memory.elements.size()))
    return fail(InterpreterFailure::Unsupported, op, "writes out of bounds");
  if (memory.isFreed)
    return fail(InterpreterFailure::Buffer, op,
                "writes a buffer that is freed");
  if (memory.writers[position] != 0 || memory.readers[position] != 0)
    return fail(InterpreterFailure::Buffer, op,
                "writes what an operation in flight uses");
  memory.elements[position] = element;
  return true;
}

bool Machine::copy(Operation *op, const RuntimeValue &from,
                   const RuntimeValue &to) {
  std::vector<Attribute> elements(from.getNumElements());
  for (auto [index, element] : llvm::enumerate(elements))
    if (!read(op, from, from.getPosition(index), element))
      return false;
  for (auto [index, element] : llvm::enumerate(elements))
    if (!write(op, to, to.getPosition(index), element))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

/// Folds `op`, whose operands are `in`.
bool Machine::computeScalars(Operation *op, ArrayRef<Attribute> in,
                             SmallVectorImpl<Attribute> &out) {
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    auto condition = dyn_cast_if_present<IntegerAttr>(in[0]);
    if (!condition)
      return unsupported(op);
    out.push_back(in[condition.getValue().isZero() ? 2 : 1]);
    return true;
  }
  SmallVector<OpFoldResult> results;
  if (llvm::is_contained(in, Attribute()) || failed(op->fold(in, results)) ||
      results.size() != op->getNumResults())
    return unsupported(op);
  for (OpFoldResult folded : results) {
    auto attribute = dyn_cast<Attribute>(folded);
    if (!attribute)
      for (auto [operand, constant] : llvm::zip_equal(op->getOperands(), in))
        if (operand == cast<Value>(folded))
          attribute = constant;
    if (!attribute)
      return unsupported(op);
    out.push_back(attribute);
  }
  return true;
}

/// Ops on scalars, and ops that treat all elements of tensors alike.
bool Machine::computeElements(unsigned rank, Operation *op) {
  if (auto select = dyn_cast<arith::SelectOp>(op);
      select && !isa<ShapedType>(select.getCondition().getType())) {
    get(rank, select.getResult()) = get(
        rank, getIndex(rank, select.getCondition()) ? select.getTrueValue()
                                                    : select.getFalseValue());
    return true;
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!dense) {
      get(rank, constant.getResult()).scalar = constant.getValue();
      return true;
    }
    if (!isSmall(dense.getType().getShape()))
      return unsupported(op);
    auto values = dense.getValues<Attribute>();
    get(rank, constant.getResult()) = makeElements(
        dense.getType().getShape(), {values.begin(), values.end()});
    return true;
  }
  Values operands = getAll(rank, op->getOperands());
  auto *shaped = llvm::find_if(
      operands, [](const RuntimeValue &value) { return value.memory; });
  int64_t count = shaped == operands.end() ? 1 : shaped->getNumElements();
  if (shaped != operands.end() && !op->hasTrait<OpTrait::Elementwise>())
    return unsupported(op);
  std::vector<std::vector<Attribute>> results(op->getNumResults());
  for (int64_t i = 0; i != count; ++i) {
    SmallVector<Attribute> in, out;
    for (const RuntimeValue &value : operands)
      in.push_back(value.memory ? value.memory->elements[value.getPosition(i)]
                                : value.scalar);
    if (!computeScalars(op, in, out))
      return false;
    for (auto [elements, element] : llvm::zip_equal(results, out))
      elements.push_back(element);
  }
  for (auto [value, elements] : llvm::zip_equal(op->getResults(), results))
    if (shaped == operands.end())
      get(rank, value).scalar = elements.front();
    else
      get(rank, value) = makeElements(shaped->sizes, std::move(elements));
  return true;
}

bool Machine::compute(unsigned rank, Operation *op) {
  if (isa<comm::RankOp, comm::SizeOp>(op)) {
    comm::GroupOp group = comm::lookupGroup(
        op, op->getAttrOfType<FlatSymbolRefAttr>("group"), symbolTables);
    int64_t size =
        group.isAll() ? ranks.size() : group.getStaticSize().value_or(0);
    int64_t index = group.isAll() ? rank : -1;
    for (ArrayRef<int64_t> list : group.getRankLists())
      if (auto *found = llvm::find(list, rank); found != list.end()) {
        index = found - list.begin();
        size = list.size();
      }
    get(rank, op->getResult(0)).scalar = IntegerAttr::get(
        op->getResult(0).getType(), isa<comm::RankOp>(op) ? index : size);
    return true;
  }
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return computeLinalg(rank, linalgOp);
  if (isa_and_present<memref::MemRefDialect,
                      bufferization::BufferizationDialect>(op->getDialect()))
    return computeMemory(rank, op);
  if (isa_and_present<tensor::TensorDialect>(op->getDialect()))
    return computeTensor(rank, op);
  if (op->getNumRegions() == 0)
    return computeElements(rank, op);
  return unsupported(op);
}

//===----------------------------------------------------------------------===//
// Buffers and tensors
//===----------------------------------------------------------------------===//

bool Machine::allocate(unsigned rank, Operation *op, ArrayRef<int64_t> sizes) {
  if (!isSmall(sizes))
    return unsupported(op);
  get(rank, op->getResult(0)) = makeElements(
      sizes, std::vector<Attribute>(ShapedType::getNumElements(sizes)));
  return true;
}

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
  int64_t dim = getIndex(rank, op->getOperand(1));
  if (dim < 0 || dim >= static_cast<int64_t>(source.sizes.size()))
    return unsupported(op);
  get(rank, op->getResult(0)).scalar =
      IntegerAttr::get(op->getResult(0).getType(), source.sizes[dim]);
  return true;
}

bool Machine::computeMemory(unsigned rank, Operation *op) {
  if (isa<memref::AllocOp, memref::AllocaOp>(op)) {
    auto type = cast<MemRefType>(op->getResult(0).getType());
    SmallVector<int64_t> sizes;
    unsigned numDynamic = 0;
    for (int64_t size : type.getShape())
      sizes.push_back(ShapedType::isDynamic(size)
                          ? getIndex(rank, op->getOperand(numDynamic++))
                          : size);
    return allocate(rank, op, sizes);
  }
  if (auto free = dyn_cast<memref::DeallocOp>(op)) {
    RuntimeValue &value = get(rank, free.getMemref());
    auto isUsed = [](unsigned count) { return count != 0; };
    if (value.memory->isFreed || llvm::any_of(value.memory->readers, isUsed) ||
        llvm::any_of(value.memory->writers, isUsed))
      return fail(InterpreterFailure::Buffer, op,
                  "frees what an operation in flight uses, or what is freed");
    value.memory->isFreed = true;
    return true;
  }
  if (isa<memref::LoadOp, memref::StoreOp>(op)) {
    auto load = dyn_cast<memref::LoadOp>(op);
    auto store = dyn_cast<memref::StoreOp>(op);
    RuntimeValue buffer =
        get(rank, load ? load.getMemRef() : store.getMemRef());
    SmallVector<int64_t> indices;
    for (Value index : load ? load.getIndices() : store.getIndices())
      indices.push_back(getIndex(rank, index));
    int64_t position = buffer.getPosition(ArrayRef<int64_t>(indices));
    if (store)
      return write(op, buffer, position,
                   get(rank, store.getValueToStore()).scalar);
    Attribute element;
    if (!read(op, buffer, position, element))
      return false;
    get(rank, load.getResult()).scalar = element;
    return true;
  }
  if (auto copyOp = dyn_cast<memref::CopyOp>(op))
    return copy(op, get(rank, copyOp.getSource()),
                get(rank, copyOp.getTarget()));
  if (isa<memref::SubViewOp>(op))
    return computeSlice(rank, op);
  if (isa<memref::CastOp>(op)) {
    RuntimeValue source = get(rank, op->getOperand(0));
    get(rank, op->getResult(0)) = source;
    return true;
  }
  // A tensor as a buffer, and a buffer as a tensor, have elements of their own.
  if (isa<bufferization::ToBufferOp, bufferization::ToTensorOp>(op)) {
    RuntimeValue source = get(rank, op->getOperand(0));
    RuntimeValue value = makeElements(
        source.sizes, std::vector<Attribute>(source.getNumElements()));
    if (!copy(op, source, value))
      return false;
    get(rank, op->getResult(0)) = value;
    return true;
  }
  if (isa<memref::DimOp>(op))
    return computeDim(rank, op);
  return unsupported(op);
}

/// A view of a buffer, or a copy of a part of a tensor.
bool Machine::computeSlice(unsigned rank, Operation *op) {
  auto slice = cast<OffsetSizeAndStrideOpInterface>(op);
  auto subview = dyn_cast<memref::SubViewOp>(op);
  llvm::SmallBitVector dropped =
      subview ? subview.getDroppedDims()
              : cast<tensor::ExtractSliceOp>(op).getDroppedDims();
  RuntimeValue source = get(rank, op->getOperand(0));
  RuntimeValue view = source;
  view.sizes.clear();
  view.strides.clear();
  for (auto [i, offset, size, stride] :
       llvm::enumerate(slice.getMixedOffsets(), slice.getMixedSizes(),
                       slice.getMixedStrides())) {
    view.offset += getIndex(rank, offset) * source.strides[i];
    if (dropped.test(i))
      continue;
    view.sizes.push_back(getIndex(rank, size));
    view.strides.push_back(source.strides[i] * getIndex(rank, stride));
  }
  if (!isInBounds(view))
    return fail(InterpreterFailure::Unsupported, op, "is out of bounds");
  get(rank, op->getResult(0)) = view;
  return true;
}

bool Machine::computeTensor(unsigned rank, Operation *op) {
  if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
    SmallVector<int64_t> sizes;
    for (OpFoldResult size : empty.getMixedSizes())
      sizes.push_back(getIndex(rank, size));
    return allocate(rank, op, sizes);
  }
  // Nobody writes the elements of a tensor: views need no copy.
  if (isa<tensor::ExtractSliceOp>(op))
    return computeSlice(rank, op);
  if (isa<tensor::CastOp>(op)) {
    RuntimeValue source = get(rank, op->getOperand(0));
    get(rank, op->getResult(0)) = source;
    return true;
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    SmallVector<int64_t> indices;
    for (Value index : extract.getIndices())
      indices.push_back(getIndex(rank, index));
    const RuntimeValue source = get(rank, extract.getTensor());
    Attribute element;
    if (!read(op, source, source.getPosition(ArrayRef<int64_t>(indices)),
              element))
      return false;
    get(rank, extract.getResult()).scalar = element;
    return true;
  }
  if (isa<tensor::DimOp>(op))
    return computeDim(rank, op);
  return unsupported(op);
}

//===----------------------------------------------------------------------===//
// Linear algebra
//===----------------------------------------------------------------------===//

/// Runs the body of a linalg op on scalars.
bool Machine::computeBody(unsigned rank, Block &block,
                          llvm::DenseMap<Value, Attribute> &scalars,
                          ArrayRef<int64_t> indices,
                          SmallVectorImpl<Attribute> &yielded) {
  auto lookup = [&](Value value) {
    auto it = scalars.find(value);
    return it != scalars.end() ? it->second : get(rank, value).scalar;
  };
  for (Operation &op : block.without_terminator()) {
    SmallVector<Attribute> in, out;
    for (Value operand : op.getOperands())
      in.push_back(lookup(operand));
    if (auto index = dyn_cast<linalg::IndexOp>(op))
      out.push_back(IntegerAttr::get(index.getType(), indices[index.getDim()]));
    else if (op.getNumRegions() != 0 || !computeScalars(&op, in, out))
      return unsupported(&op);
    for (auto [value, attribute] : llvm::zip_equal(op.getResults(), out))
      scalars[value] = attribute;
  }
  for (Value value : block.getTerminator()->getOperands())
    yielded.push_back(lookup(value));
  return true;
}

bool Machine::computeLinalg(unsigned rank, linalg::LinalgOp op) {
  Operation *operation = op;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  Values operands = getAll(rank, operation->getOperands());
  if (!isSmall(ranges))
    return unsupported(op);
  // Outputs that are tensors are new values.
  for (OpOperand &init : op.getDpsInitsMutable()) {
    RuntimeValue &value = operands[init.getOperandNumber()];
    if (!isa<TensorType>(init.get().getType()))
      continue;
    std::vector<Attribute> elements;
    for (int64_t i = 0, e = value.getNumElements(); i != e; ++i)
      elements.push_back(value.memory->elements[value.getPosition(i)]);
    value = makeElements(value.sizes, std::move(elements));
  }
  Block *block = op.getBlock();
  int64_t count = ShapedType::getNumElements(ranges);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (int64_t number = 0; number != count; ++number) {
    SmallVector<int64_t> indices(ranges.size());
    int64_t rest = number;
    for (size_t i = ranges.size(); i-- != 0;) {
      indices[i] = rest % ranges[i];
      rest /= ranges[i];
    }
    llvm::DenseMap<Value, Attribute> scalars;
    for (auto [index, value] : llvm::enumerate(operands)) {
      BlockArgument argument = block->getArgument(index);
      if (!value.memory) {
        scalars[argument] = value.scalar;
      } else if (!argument.use_empty() ||
                 op.isDpsInput(&operation->getOpOperand(index))) {
        SmallVector<int64_t> place = maps[index].compose(indices);
        if (!read(op, value, value.getPosition(ArrayRef<int64_t>(place)),
                  scalars[argument]))
          return false;
      }
    }
    SmallVector<Attribute> yielded;
    if (!computeBody(rank, *block, scalars, indices, yielded))
      return false;
    for (auto [init, attribute] :
         llvm::zip_equal(op.getDpsInitsMutable(), yielded)) {
      const RuntimeValue &value = operands[init.getOperandNumber()];
      SmallVector<int64_t> place =
          maps[init.getOperandNumber()].compose(indices);
      if (!write(op, value, value.getPosition(ArrayRef<int64_t>(place)),
                 attribute))
        return false;
    }
  }
  for (auto [resultValue, init] :
       llvm::zip(operation->getResults(), op.getDpsInitsMutable()))
    get(rank, resultValue) = operands[init.getOperandNumber()];
  return true;
}
