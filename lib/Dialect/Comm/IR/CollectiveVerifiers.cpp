//===- CollectiveVerifiers.cpp - Verifier of the collective interface -----===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommVerifiers.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace braid::comm;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

/// True for the element types that ranks can exchange.
static bool isTransferable(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type))
    return complex.getElementType().isF32() || complex.getElementType().isF64();
  return type.isF16() || type.isBF16() || type.isF32() || type.isF64() ||
         isa<Float8E4M3FNType, Float8E5M2Type>(type) ||
         type.isSignlessInteger(1) || type.isSignlessInteger(8) ||
         type.isSignlessInteger(16) || type.isSignlessInteger(32) ||
         type.isSignlessInteger(64);
}

/// True if `reduction` is defined on elements of type `type`.
static bool isDefined(ReductionKind reduction, Type type) {
  switch (reduction) {
  case ReductionKind::sum:
  case ReductionKind::avg:
  case ReductionKind::premul_sum:
    return !type.isInteger(1);
  case ReductionKind::product:
    return !type.isInteger(1) && !isa<ComplexType>(type);
  case ReductionKind::min:
  case ReductionKind::max:
    return !isa<ComplexType>(type);
  case ReductionKind::band:
  case ReductionKind::bor:
  case ReductionKind::bxor:
    return isa<IntegerType>(type);
  }
  llvm_unreachable("unknown reduction");
}

//===----------------------------------------------------------------------===//
// Operands and tokens
//===----------------------------------------------------------------------===//

bool braid::comm::isContiguous(MemRefType type) {
  if (type.getLayout().isIdentity())
    return true;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return false;
  int64_t expected = 1;
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    int64_t size = type.getDimSize(dim);
    // The stride of a dimension of one element says nothing.
    if (size == 1)
      continue;
    if (ShapedType::isDynamic(expected) || strides[dim] != expected)
      return false;
    expected =
        ShapedType::isDynamic(size) ? ShapedType::kDynamic : expected * size;
  }
  return true;
}

/// Verifies the element type of `type`, the type of what `role` and `index`
/// name.
static LogicalResult verifyElementType(Operation *op, Type type, StringRef role,
                                       size_t index) {
  Type elementType = cast<ShapedType>(type).getElementType();
  if (isTransferable(elementType))
    return success();
  return op->emitOpError()
         << "has " << role << " #" << index << " with elements of type "
         << elementType
         << ", expected one of i1, i8, i16, i32, i64, f16, bf16, f32, f64, "
            "f8E4M3FN, f8E5M2, complex<f32>, complex<f64>";
}

static LogicalResult verifyOperands(Operation *op,
                                    MutableArrayRef<OpOperand> operands,
                                    bool isBufferForm, StringRef role) {
  for (auto [index, operand] : llvm::enumerate(operands)) {
    Type type = operand.get().getType();
    auto memref = dyn_cast<MemRefType>(type);
    if (static_cast<bool>(memref) != isBufferForm)
      return op->emitOpError()
             << "has " << role << " #" << index << " of type " << type
             << ", expected a " << (isBufferForm ? "memref" : "ranked tensor")
             << " as its other operands";
    if (failed(verifyElementType(op, type, role, index)))
      return failure();
    if (memref && !isContiguous(memref))
      return op->emitOpError()
             << "has " << role << " #" << index << " of type " << type
             << ", expected a contiguous row-major buffer";
  }
  return success();
}

/// A buffer that is written in flight belongs to one operand; only that
/// operand's source may be the same buffer, where the operation can run in
/// place.
static LogicalResult verifyDistinctBuffers(AsyncStartOpInterface start) {
  Operation *op = start;
  llvm::SmallDenseMap<Value, size_t> owners;
  for (auto [index, destination] :
       llvm::enumerate(start.getDestinationOperands())) {
    auto [owner, isNew] = owners.try_emplace(destination.get(), index);
    if (!isNew)
      return op->emitOpError()
             << "has one buffer as destinations #" << owner->second << " and #"
             << index << ", expected a buffer for each";
  }
  for (auto [index, source] : llvm::enumerate(start.getSourceOperands())) {
    auto owner = owners.find(source.get());
    if (owner == owners.end())
      continue;
    if (owner->second != index)
      return op->emitOpError()
             << "has one buffer as source #" << index << " and destination #"
             << owner->second << ", expected a buffer for each";
    if (!start.canRunInPlace())
      return op->emitOpError()
             << "has one buffer as source #" << index << " and destination #"
             << index << ", expected two as it cannot run in place";
  }
  return success();
}

/// The collective's tensors and buffers are of one form, with as many
/// destinations and tokens as that form takes.
static LogicalResult verifyForm(CollectiveOpInterface collective) {
  Operation *op = collective;
  auto start = cast<AsyncStartOpInterface>(op);
  MutableArrayRef<OpOperand> sources = start.getSourceOperands();
  MutableArrayRef<OpOperand> destinations = start.getDestinationOperands();
  CollectiveKind kind = collective.getCollectiveKind();
  bool isBufferForm = start.isBufferForm();

  if (failed(verifyOperands(op, sources, isBufferForm, "source")) ||
      failed(verifyOperands(op, destinations, isBufferForm, "destination")))
    return failure();
  if (kind == CollectiveKind::barrier || kind == CollectiveKind::send)
    return success();

  size_t values = kind == CollectiveKind::recv ? 1 : sources.size();
  if (values == 0)
    return op->emitOpError() << "has no operand, expected at least one";
  size_t expected = isBufferForm || !destinations.empty() ? values : 0;
  if (destinations.size() != expected)
    return op->emitOpError()
           << "has " << destinations.size() << " destinations, expected "
           << expected << ", one for each source";
  if (start.getTokens().size() != values)
    return op->emitOpError()
           << "has " << start.getTokens().size() << " tokens, expected "
           << values << ", one for each operand";
  for (size_t index = 0; index < values; ++index) {
    Type valueType = start.getInFlightType(index);
    if (isBufferForm) {
      if (valueType)
        return op->emitOpError()
               << "has token #" << index << " of " << valueType
               << ", expected !comm.token as the operation works on buffers";
      continue;
    }
    if (!valueType)
      return op->emitOpError() << "has token #" << index
                               << " without a value, expected a token of a "
                                  "ranked tensor";
    if (!destinations.empty() &&
        destinations[index].get().getType() != valueType)
      return op->emitOpError()
             << "has token #" << index << " of " << valueType << ", expected "
             << destinations[index].get().getType()
             << ", the type of its destination";
    if (failed(verifyElementType(op, valueType, "value", index)))
      return failure();
  }
  return isBufferForm ? verifyDistinctBuffers(start) : success();
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

bool braid::comm::isCompatibleSize(int64_t lhs, int64_t rhs) {
  return ShapedType::isDynamic(lhs) || ShapedType::isDynamic(rhs) || lhs == rhs;
}

std::pair<ShapedType, ShapedType>
braid::comm::getSourceAndValueTypes(AsyncStartOpInterface start, size_t index) {
  auto source =
      cast<ShapedType>(start.getSourceOperands()[index].get().getType());
  MutableArrayRef<OpOperand> destinations = start.getDestinationOperands();
  Type value = destinations.empty() ? start.getInFlightType(index)
                                    : destinations[index].get().getType();
  return {source, cast<ShapedType>(value)};
}

/// The value has the shape of the source but for dimension `splitDim`, of which
/// one is a multiple of the other; a source (or value) of rank 0 is one element
/// along a dimension of its own.
static LogicalResult verifyJoinedShape(Operation *op, ShapedType part,
                                       ShapedType whole, StringRef partName,
                                       StringRef wholeName, int64_t splitDim) {
  auto emit = [&]() {
    return op->emitOpError()
           << "has " << partName << " type " << part << " and " << wholeName
           << " type " << whole << ", expected ";
  };
  if (whole.getRank() == 0)
    return emit() << "the " << wholeName << " to have a dimension";
  if (splitDim < 0 || splitDim >= whole.getRank())
    return op->emitOpError()
           << "has dim " << splitDim << ", expected one of the " << wholeName
           << " type " << whole << ", from 0 to " << whole.getRank() - 1;
  if (part.getRank() == 0 && whole.getRank() == 1)
    return success();
  if (part.getRank() != whole.getRank())
    return emit() << "the same rank";
  for (int64_t dim = 0; dim < whole.getRank(); ++dim) {
    int64_t partSize = part.getDimSize(dim), wholeSize = whole.getDimSize(dim);
    if (dim != splitDim && !isCompatibleSize(partSize, wholeSize))
      return emit() << "the same sizes but along dim " << splitDim;
    if (dim == splitDim && ShapedType::isStatic(partSize) &&
        ShapedType::isStatic(wholeSize) &&
        (partSize == 0 ? wholeSize != 0 : wholeSize % partSize != 0))
      return emit() << "the size of the " << wholeName << " along dim "
                    << splitDim << " to be a multiple of the " << partName
                    << "'s";
  }
  return success();
}

static LogicalResult verifyShapes(CollectiveOpInterface collective) {
  Operation *op = collective;
  auto start = cast<AsyncStartOpInterface>(op);
  CollectiveKind kind = collective.getCollectiveKind();
  if (kind == CollectiveKind::barrier || collective.isPointToPoint())
    return success();
  for (size_t i = 0, e = start.getSourceOperands().size(); i < e; ++i) {
    auto [source, value] = getSourceAndValueTypes(start, i);
    if (source.getElementType() != value.getElementType())
      return op->emitOpError()
             << "has source #" << i << " with elements of type "
             << source.getElementType()
             << " and its value with elements of type "
             << value.getElementType() << ", expected the same";
    LogicalResult verified = success();
    switch (kind) {
    case CollectiveKind::all_reduce:
    case CollectiveKind::reduce:
    case CollectiveKind::broadcast:
    case CollectiveKind::permute:
      // Tensors have one type; buffers may know a size that the other does not.
      if (isa<RankedTensorType>(source)
              ? Type(source) != Type(value)
              : failed(verifyCompatibleShape(source, value)))
        verified = op->emitOpError() << "has source #" << i << " of type "
                                     << source << " and its value of type "
                                     << value << ", expected the same shape";
      break;
    case CollectiveKind::all_gather:
    case CollectiveKind::gather:
      verified = verifyJoinedShape(op, source, value, "source", "result",
                                   collective.getSplitDim());
      break;
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::scatter:
      verified = verifyJoinedShape(op, value, source, "result", "source",
                                   collective.getSplitDim());
      break;
    case CollectiveKind::all_to_all:
      if (source.getRank() == 0 || source.getRank() != value.getRank() ||
          failed(verifyCompatibleShape(source.getShape().drop_front(),
                                       value.getShape().drop_front())))
        verified =
            op->emitOpError()
            << "has source type " << source << " and result type " << value
            << ", expected the same rank, at least 1, and the same sizes "
               "but along dim 0";
      break;
    case CollectiveKind::send:
    case CollectiveKind::recv:
    case CollectiveKind::barrier:
      break;
    }
    if (failed(verified))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Reductions and places
//===----------------------------------------------------------------------===//

static LogicalResult verifyReduction(CollectiveOpInterface collective) {
  Operation *op = collective;
  std::optional<ReductionKind> reduction = collective.getReductionKind();
  if (!reduction)
    return success();
  auto start = cast<AsyncStartOpInterface>(op);
  for (OpOperand &source : start.getSourceOperands()) {
    Type type = cast<ShapedType>(source.get().getType()).getElementType();
    if (isDefined(*reduction, type))
      continue;
    InFlightDiagnostic diagnostic =
        op->emitOpError() << "has reduction '"
                          << stringifyReductionKind(*reduction)
                          << "', which is not defined for elements of type "
                          << type << ", expected one of ";
    SmallVector<StringRef> defined;
    for (uint32_t kind = 0; kind <= getMaxEnumValForReductionKind(); ++kind)
      if (isDefined(static_cast<ReductionKind>(kind), type))
        defined.push_back(
            stringifyReductionKind(static_cast<ReductionKind>(kind)));
    llvm::interleaveComma(defined, diagnostic);
    return diagnostic;
  }
  return success();
}

Operation *braid::comm::getParallelOrKernelOp(Region *region) {
  Operation *parent = region ? region->getParentOp() : nullptr;
  for (; parent && !isa<FunctionOpInterface>(parent);
       parent = parent->getParentOp())
    if (parent->hasTrait<OpTrait::HasParallelRegion>() ||
        isa<affine::AffineParallelOp, linalg::LinalgOp, tensor::GenerateOp,
            gpu::LaunchOp, ComputeOp>(parent))
      return parent;
  return parent ? parent->getParentOfType<gpu::GPUModuleOp>() : nullptr;
}

LogicalResult braid::comm::verifyPlace(Operation *op) {
  Operation *parent = getParallelOrKernelOp(op->getParentRegion());
  if (!parent)
    return success();
  InFlightDiagnostic diagnostic =
      op->emitOpError() << "is inside '" << parent->getName()
                        << "', expected it outside parallel loops and kernels";
  diagnostic.attachNote(parent->getLoc()) << "the enclosing op is here";
  return diagnostic;
}

LogicalResult braid::comm::verifyCollective(Operation *op) {
  auto collective = cast<CollectiveOpInterface>(op);
  if (failed(verifyForm(collective)) || failed(verifyReduction(collective)) ||
      failed(verifyShapes(collective)) || failed(verifyPlace(op)))
    return failure();
  return success();
}
