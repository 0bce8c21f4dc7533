//===- Structured.cpp - Bodies that run for each element ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace braid;
using namespace braid::interpreter;
using namespace mlir;

/// The indices of element number `number` of an array of `sizes`.
static SmallVector<int64_t> getIndicesOf(int64_t number,
                                         ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> indices(sizes.size());
  for (size_t i = sizes.size(); i-- != 0;) {
    indices[i] = number % sizes[i];
    number /= sizes[i];
  }
  return indices;
}

/// True if all ops of `block` fold scalars.
static bool isScalarBody(Block &block) {
  return llvm::all_of(block.without_terminator(), [](Operation &op) {
    bool isScalar =
        llvm::none_of(op.getOperandTypes(), llvm::IsaPred<ShapedType>) &&
        op.getNumOperands() != 0;
    return op.getNumRegions() == 0 && (isScalar || isa<linalg::IndexOp>(op) ||
                                       op.hasTrait<OpTrait::ConstantLike>());
  });
}

/// Folds the ops of a body on scalars.
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
    else if (!computeScalars(&op, in, out))
      return false;
    for (auto [value, attribute] : llvm::zip_equal(op.getResults(), out))
      scalars[value] = attribute;
  }
  for (Value value : block.getTerminator()->getOperands())
    yielded.push_back(lookup(value));
  return true;
}

bool Machine::computeLinalg(unsigned rank, linalg::LinalgOp op) {
  Operation *operation = op;
  Values operands = getAll(rank, operation->getOperands());
  SmallVector<int64_t> sizes;
  for (const RuntimeValue &value : operands)
    llvm::append_range(sizes, value.sizes);
  AffineMap loops = op.getShapesToLoopsMap();
  if (!loops || loops.getNumDims() != sizes.size())
    return unsupported(op);
  SmallVector<int64_t> ranges = loops.compose(sizes);
  if (!isSmall(ranges))
    return tooLarge(op);
  // Outputs that are tensors are new values.
  for (OpOperand &init : op.getDpsInitsMutable())
    if (isa<TensorType>(init.get().getType()))
      operands[init.getOperandNumber()] =
          clone(operands[init.getOperandNumber()]);
  Block *block = op.getBlock();
  bool isScalar = isScalarBody(*block);
  int64_t count = ShapedType::getNumElements(ranges);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (int64_t number = 0; number != count; ++number) {
    SmallVector<int64_t> indices = getIndicesOf(number, ranges);
    llvm::DenseMap<Value, Attribute> scalars;
    Values arguments;
    for (auto [index, value] : llvm::enumerate(operands)) {
      BlockArgument argument = block->getArgument(index);
      Attribute &scalar = scalars[argument];
      if (!value.memory) {
        scalar = value.scalar;
      } else if (!argument.use_empty() ||
                 op.isDpsInput(&operation->getOpOperand(index))) {
        SmallVector<int64_t> place = maps[index].compose(indices);
        if (!read(op, value, value.getPosition(ArrayRef<int64_t>(place)),
                  scalar))
          return false;
      }
      arguments.emplace_back().scalar = scalar;
    }
    SmallVector<Attribute> yielded;
    if (isScalar) {
      if (!computeBody(rank, *block, scalars, indices, yielded))
        return false;
    } else {
      Values results;
      llvm::SaveAndRestore restore(bodyIndices, ArrayRef<int64_t>(indices));
      if (!runBody(rank, op, *block->getParent(), arguments, results))
        return false;
      for (const RuntimeValue &value : results)
        yielded.push_back(value.scalar);
    }
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

bool Machine::computeGenerate(unsigned rank, Operation *op) {
  auto generate = cast<tensor::GenerateOp>(op);
  SmallVector<int64_t> sizes =
      getSizes(rank, generate.getType(), generate.getDynamicExtents());
  if (hasFailed() || !isSmall(sizes))
    return tooLarge(op);
  Elements elements;
  for (int64_t i = 0, e = ShapedType::getNumElements(sizes); i != e; ++i) {
    Values arguments, results;
    for (int64_t index : getIndicesOf(i, sizes))
      arguments.emplace_back().scalar =
          IntegerAttr::get(IndexType::get(op->getContext()), index);
    if (!runBody(rank, op, generate.getBody(), arguments, results))
      return false;
    elements.push_back(results.front().scalar);
  }
  get(rank, generate.getResult()) = makeElements(sizes, std::move(elements));
  return true;
}
