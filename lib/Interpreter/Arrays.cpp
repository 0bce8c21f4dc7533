//===- Arrays.cpp - The elements of tensors and buffers -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
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

RuntimeValue Machine::clone(const RuntimeValue &value) {
  Elements elements;
  for (int64_t i = 0, e = value.getNumElements(); i != e; ++i)
    elements.push_back(value.memory->elements[value.getPosition(i)]);
  return makeElements(value.sizes, std::move(elements));
}

SmallVector<int64_t> Machine::getIndices(unsigned rank, ValueRange indices) {
  return llvm::map_to_vector(
      indices, [&](Value index) { return getIndex(rank, index); });
}

SmallVector<int64_t> Machine::getSizes(unsigned rank, ShapedType type,
                                       ValueRange dynamic) {
  SmallVector<int64_t> sizes(type.getShape());
  for (int64_t &size : sizes)
    if (ShapedType::isDynamic(size)) {
      size = getIndex(rank, dynamic.front());
      dynamic = dynamic.drop_front();
    }
  return sizes;
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
// Buffers and tensors
//===----------------------------------------------------------------------===//

bool Machine::allocate(unsigned rank, Operation *op, ArrayRef<int64_t> sizes) {
  if (!isSmall(sizes))
    return tooLarge(op);
  get(rank, op->getResult(0)) = makeElements(
      sizes, std::vector<Attribute>(ShapedType::getNumElements(sizes)));
  return true;
}

bool Machine::computeMemory(unsigned rank, Operation *op) {
  if (isa<memref::AllocOp, memref::AllocaOp, bufferization::AllocTensorOp>(
          op)) {
    if (auto tensor = dyn_cast<bufferization::AllocTensorOp>(op);
        tensor && tensor.getCopy()) {
      RuntimeValue copied = clone(get(rank, tensor.getCopy()));
      get(rank, tensor.getResult()) = copied;
      return true;
    }
    auto type = cast<ShapedType>(op->getResult(0).getType());
    return allocate(rank, op, getSizes(rank, type, op->getOperands()));
  }
  if (isa<memref::DeallocOp, bufferization::DeallocTensorOp>(op)) {
    if (!isa<memref::DeallocOp>(op))
      return true;
    Memory &memory = *get(rank, op->getOperand(0)).memory;
    auto isUsed = [](unsigned count) { return count != 0; };
    if (memory.isFreed || llvm::any_of(memory.readers, isUsed) ||
        llvm::any_of(memory.writers, isUsed))
      return fail(InterpreterFailure::Buffer, op,
                  "frees what an operation in flight uses, or what is freed");
    memory.isFreed = true;
    return true;
  }
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    const RuntimeValue buffer = get(rank, load.getMemRef());
    SmallVector<int64_t> indices = getIndices(rank, load.getIndices());
    Attribute element;
    if (!read(op, buffer, buffer.getPosition(ArrayRef<int64_t>(indices)),
              element))
      return false;
    get(rank, load.getResult()).scalar = element;
    return true;
  }
  if (auto store = dyn_cast<memref::StoreOp>(op)) {
    const RuntimeValue buffer = get(rank, store.getMemRef());
    SmallVector<int64_t> indices = getIndices(rank, store.getIndices());
    return write(op, buffer, buffer.getPosition(ArrayRef<int64_t>(indices)),
                 get(rank, store.getValueToStore()).scalar);
  }
  if (auto copyOp = dyn_cast<memref::CopyOp>(op))
    return copy(op, get(rank, copyOp.getSource()),
                get(rank, copyOp.getTarget()));
  // A tensor as a buffer, and a buffer as a tensor, have elements of their own.
  if (isa<bufferization::ToBufferOp, bufferization::ToTensorOp,
          bufferization::CloneOp>(op)) {
    RuntimeValue source = get(rank, op->getOperand(0));
    RuntimeValue value = makeElements(
        source.sizes, std::vector<Attribute>(source.getNumElements()));
    if (!copy(op, source, value))
      return false;
    get(rank, op->getResult(0)) = value;
    return true;
  }
  if (auto materialize =
          dyn_cast<bufferization::MaterializeInDestinationOp>(op)) {
    RuntimeValue source = get(rank, materialize.getSource());
    if (op->getNumResults() == 0)
      return copy(op, source, get(rank, materialize.getDest()));
    get(rank, op->getResult(0)) = source;
    return true;
  }
  if (isa<memref::GetGlobalOp>(op))
    return computeGlobal(rank, op);
  if (isa<memref::DimOp, memref::RankOp>(op))
    return computeDim(rank, op);
  return computeView(rank, op);
}

bool Machine::computeTensor(unsigned rank, Operation *op) {
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return allocate(rank, op,
                    getSizes(rank, empty.getType(), empty.getDynamicSizes()));
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    SmallVector<int64_t> indices = getIndices(rank, extract.getIndices());
    const RuntimeValue source = get(rank, extract.getTensor());
    Attribute element;
    if (!read(op, source, source.getPosition(ArrayRef<int64_t>(indices)),
              element))
      return false;
    get(rank, extract.getResult()).scalar = element;
    return true;
  }
  if (auto insert = dyn_cast<tensor::InsertOp>(op)) {
    RuntimeValue result = clone(get(rank, insert.getDest()));
    SmallVector<int64_t> indices = getIndices(rank, insert.getIndices());
    if (!write(op, result, result.getPosition(ArrayRef<int64_t>(indices)),
               get(rank, insert.getScalar()).scalar))
      return false;
    get(rank, insert.getResult()) = result;
    return true;
  }
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    RuntimeValue result;
    if (!insertSlice(rank, insert, get(rank, insert.getSource()),
                     get(rank, insert.getDest()), insert.getDroppedDims(),
                     result))
      return false;
    get(rank, insert.getResult()) = result;
    return true;
  }
  if (auto create = dyn_cast<tensor::FromElementsOp>(op)) {
    SmallVector<Attribute> elements = getScalars(rank, create.getElements());
    get(rank, create.getResult()) = makeElements(
        create.getType().getShape(), {elements.begin(), elements.end()});
    return true;
  }
  if (auto splat = dyn_cast<tensor::SplatOp>(op)) {
    SmallVector<int64_t> sizes =
        getSizes(rank, splat.getType(), splat.getDynamicSizes());
    if (hasFailed() || !isSmall(sizes))
      return tooLarge(op);
    get(rank, splat.getResult()) =
        makeElements(sizes, Elements(ShapedType::getNumElements(sizes),
                                     get(rank, splat.getInput()).scalar));
    return true;
  }
  if (isa<tensor::GenerateOp>(op))
    return computeGenerate(rank, op);
  if (isa<tensor::DimOp, tensor::RankOp>(op))
    return computeDim(rank, op);
  // Elements of a tensor are never written: views need no copy.
  return computeView(rank, op);
}
