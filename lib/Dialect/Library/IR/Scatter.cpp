//===- Scatter.cpp - Updates at many indices ------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Operands.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace braid;
using namespace braid::library;

static int64_t getProduct(ArrayRef<int64_t> sizes, ArrayRef<int64_t> dims) {
  int64_t product = 1;
  for (int64_t dim : dims)
    product = llvm::SaturatingMultiply(static_cast<uint64_t>(product),
                                       static_cast<uint64_t>(sizes[dim]));
  return product;
}

int64_t ScatterOp::getNumUpdates() { return getSizes(getIndices()).back(); }

int64_t ScatterOp::getNumWindows() {
  return getProduct(getSizes(getOutput()), getIndexedDims());
}

int64_t ScatterOp::getNumBatches() {
  return getProduct(getSizes(getOutput()), getBatchDims());
}

SmallVector<int64_t> ScatterOp::getWindowDims() {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0, rank = getSizes(getOutput()).size(); dim < rank; ++dim)
    if (!llvm::is_contained(getBatchDims(), dim) &&
        !llvm::is_contained(getIndexedDims(), dim))
      dims.push_back(dim);
  return dims;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// Checks the attributes of `op` against the rank of its output.
static LogicalResult verifyDims(ScatterOp op) {
  int64_t rank = getSizes(op.getOutput()).size();
  SmallVector<int64_t> seen;
  for (ArrayRef<int64_t> dims : {op.getBatchDims(), op.getIndexedDims()})
    for (int64_t dim : dims) {
      if (dim < 0 || dim >= rank || llvm::is_contained(seen, dim))
        return op.emitOpError()
               << "has dimension " << dim
               << " in 'batch_dims' and 'indexed_dims', expected different "
                  "dimensions of the output, whose rank is "
               << rank;
      seen.push_back(dim);
    }
  return success();
}

/// Checks that input `number` of `op` has the sizes `sizes` and elements of
/// type `element`.
static LogicalResult verifyInput(ScatterOp op, unsigned number,
                                 ArrayRef<int64_t> sizes, Type element) {
  auto type = cast<ShapedType>(op.getInputs()[number].getType());
  if (type.getShape() == sizes && type.getElementType() == element)
    return success();
  InFlightDiagnostic diagnostic = op.emitOpError();
  diagnostic << "has input #" << number << " of type " << type << ", expected ";
  llvm::interleave(
      sizes, [&](int64_t size) { diagnostic << size; },
      [&] { diagnostic << "x"; });
  return diagnostic << " elements of type " << element
                    << ", by the types of output #0 and input #0";
}

LogicalResult ScatterOp::verify() {
  if (getInputs().size() != 2 || getOutputs().size() != 1)
    return emitOpError() << "has " << getInputs().size() << " inputs and "
                         << getOutputs().size()
                         << " outputs, expected indices and updates, and an "
                            "output";
  auto isBuffer = llvm::IsaPred<MemRefType>;
  if (!llvm::all_of(getOperandTypes(), isBuffer) &&
      llvm::any_of(getOperandTypes(), isBuffer))
    return emitOpError() << "has tensors and memrefs, expected either";
  for (OpOperand &operand : (*this)->getOpOperands())
    if (!cast<ShapedType>(operand.get().getType()).hasStaticShape())
      return emitOpError() << "has an operand of type "
                           << operand.get().getType()
                           << ", expected static sizes";
  if (failed(verifyDims(*this)))
    return failure();
  auto indices = cast<ShapedType>(getIndices().getType());
  if (!indices.getElementType().isInteger(32) &&
      !indices.getElementType().isInteger(64))
    return emitOpError() << "has input #0 of type " << indices
                         << ", expected elements of type i32 or i64";
  if (indices.getRank() == 0)
    return emitOpError() << "has input #0 of type " << indices
                         << ", expected the batch dimensions and one more";
  ArrayRef<int64_t> outputSizes = getSizes(getOutput());
  Type element = getElementTypeOrSelf(getOutput().getType());
  SmallVector<int64_t> sizes;
  for (int64_t dim : getBatchDims())
    sizes.push_back(outputSizes[dim]);
  sizes.push_back(getNumUpdates());
  if (failed(verifyInput(*this, 0, sizes, indices.getElementType())))
    return failure();
  for (int64_t dim : getWindowDims())
    sizes.push_back(outputSizes[dim]);
  if (failed(verifyInput(*this, 1, sizes, element)))
    return failure();

  Block &body = getCombine().front();
  if (body.getNumArguments() != 2 ||
      llvm::any_of(body.getArgumentTypes(),
                   [&](Type type) { return type != element; }))
    return emitOpError() << "has a region with arguments of types "
                         << body.getArgumentTypes() << ", expected 2 of type "
                         << element;
  auto yield = dyn_cast<YieldOp>(body.back());
  if (!yield || yield.getValue().getType() != element)
    return emitOpError() << "has a region that ends with '"
                         << body.back().getName()
                         << "', expected 'library.yield' of a value of type "
                         << element;
  for (Operation &op : body.without_terminator())
    if (!isPure(&op))
      return emitOpError() << "has '" << op.getName()
                           << "' in its region, expected ops without effects";
  return success();
}

//===----------------------------------------------------------------------===//
// Effects and costs
//===----------------------------------------------------------------------===//

void ScatterOp::getEffects(Effects &effects) {
  addEffects(*this, effects, [](OpOperand &) { return true; });
}

/// The number of elements, and of bytes, of `value`.
static std::pair<uint64_t, uint64_t> countElements(Value value) {
  auto type = cast<ShapedType>(value.getType());
  Type element = type.getElementType();
  uint64_t parts = 1, count = 1;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    element = complex.getElementType();
    parts = 2;
  }
  for (int64_t size : type.getShape())
    count = llvm::SaturatingMultiply(count, static_cast<uint64_t>(size));
  uint64_t bytes =
      parts * llvm::divideCeil(element.getIntOrFloatBitWidth(), 8u);
  return {count, llvm::SaturatingMultiply(count, bytes)};
}

comm::Work ScatterOp::getWork(const comm::SizeDefaults &) {
  comm::Work work;
  auto [count, bytes] = countElements(getUpdates());
  work.addBytes(countElements(getIndices()).second, 0);
  // The updates, and the windows that they change.
  work.addBytes(llvm::SaturatingMultiply<uint64_t>(bytes, 2), bytes);
  Type element = getElementTypeOrSelf(getUpdates().getType());
  if (auto complex = dyn_cast<ComplexType>(element))
    element = complex.getElementType();
  uint64_t numOps = getCombine().front().getOperations().size() - 1;
  work.addOperations(element, llvm::SaturatingMultiply(count, numOps));
  return work;
}
