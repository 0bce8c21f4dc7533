//===- CollectiveVerifiers.cpp - Verifier of the collective interface -----===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommVerifiers.h"

#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

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
#define BRAID_RT_REDUCTION(NAME, name, boolean, integer, real, complex)        \
  case ReductionKind::name:                                                    \
    if (type.isInteger(1))                                                     \
      return boolean;                                                          \
    if (isa<IntegerType>(type))                                                \
      return integer;                                                          \
    return isa<ComplexType>(type) ? complex : real;
#include "braid-rt/Reductions.def"
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
    // The stride of a dimension of size 1 has no meaning.
    if (size == 1)
      continue;
    if (ShapedType::isDynamic(expected) || strides[dim] != expected)
      return false;
    expected =
        ShapedType::isDynamic(size) ? ShapedType::kDynamic : expected * size;
  }
  return true;
}

/// Verifies the element type of `type`, the type of operand `index` among those
/// with the name `role`.
static LogicalResult verifyElementType(Operation *op, Type type, StringRef role,
                                       size_t index) {
  Type elementType = cast<ShapedType>(type).getElementType();
  // C3
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
    // C2
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

/// Verifies C6: each destination is the destination of one operand. Its source
/// may be the same buffer if the operation can run in place.
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

/// Verifies that all operands are of one form, with the number of destinations
/// and tokens of that form.
static LogicalResult verifyForm(CollectiveOpInterface collective) {
  Operation *op = collective;
  auto start = cast<AsyncStartOpInterface>(op);
  MutableArrayRef<OpOperand> sources = start.getSourceOperands();
  MutableArrayRef<OpOperand> destinations = start.getDestinationOperands();
  braid_rt_shape shape = collective.getCollectiveTraits().shape;
  bool isBufferForm = start.isBufferForm();

  if (failed(verifyOperands(op, sources, isBufferForm, "source")) ||
      failed(verifyOperands(op, destinations, isBufferForm, "destination")))
    return failure();
  if (shape == BRAID_RT_SHAPE_NONE || shape == BRAID_RT_SHAPE_SEND)
    return success();

  size_t values = shape == BRAID_RT_SHAPE_RECEIVE ? 1 : sources.size();
  // C4
  if (values == 0)
    return op->emitOpError() << "has no operand, expected at least one";
  size_t expected = isBufferForm || !destinations.empty() ? values : 0;
  if (destinations.size() != expected)
    return op->emitOpError()
           << "has " << destinations.size() << " destinations, expected "
           << expected << ", one for each source";
  // C5
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

/// Verifies C9: part and whole have the same sizes, except along `splitDim`,
/// where the size of the whole is a multiple of that of the part. A part of
/// rank 0 is one element along dimension 0.
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
  braid_rt_shape shape = collective.getCollectiveTraits().shape;
  // The shape on the other rank of a message is unknown.
  if (shape == BRAID_RT_SHAPE_NONE || collective.isPointToPoint())
    return success();
  for (size_t i = 0, e = start.getSourceOperands().size(); i < e; ++i) {
    auto [source, value] = getSourceAndValueTypes(start, i);
    // C7
    if (source.getElementType() != value.getElementType())
      return op->emitOpError()
             << "has source #" << i << " with elements of type "
             << source.getElementType()
             << " and its value with elements of type "
             << value.getElementType() << ", expected the same";
    LogicalResult verified = success();
    switch (shape) {
    case BRAID_RT_SHAPE_SAME:
      // C8. Two tensors have one type. Buffers may differ in what is static.
      if (isa<RankedTensorType>(source)
              ? Type(source) != Type(value)
              : failed(verifyCompatibleShape(source, value)))
        verified = op->emitOpError() << "has source #" << i << " of type "
                                     << source << " and its value of type "
                                     << value << ", expected the same shape";
      break;
    case BRAID_RT_SHAPE_JOIN:
      verified = verifyJoinedShape(op, source, value, "source", "result",
                                   collective.getSplitDim());
      break;
    case BRAID_RT_SHAPE_SPLIT:
      verified = verifyJoinedShape(op, value, source, "result", "source",
                                   collective.getSplitDim());
      break;
    case BRAID_RT_SHAPE_PARTS:
      // C19
      if (source.getRank() == 0 || source.getRank() != value.getRank() ||
          failed(verifyCompatibleShape(source.getShape().drop_front(),
                                       value.getShape().drop_front())))
        verified =
            op->emitOpError()
            << "has source type " << source << " and result type " << value
            << ", expected the same rank, at least 1, and the same sizes "
               "but along dim 0";
      break;
    case BRAID_RT_SHAPE_SEND:
    case BRAID_RT_SHAPE_RECEIVE:
    case BRAID_RT_SHAPE_NONE:
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

/// Verifies C13: a scale is there for `premul_sum` alone, of the type of the
/// operands' elements.
static LogicalResult verifyScale(CollectiveOpInterface collective,
                                 ReductionKind reduction) {
  Operation *op = collective;
  Value scale = collective.getScale();
  if (reduction != ReductionKind::premul_sum) {
    if (scale)
      return op->emitOpError()
             << "has a scale, which only reduction 'premul_sum' takes, but "
                "reduction '"
             << stringifyReductionKind(reduction) << "'";
    return success();
  }
  if (!scale)
    return op->emitOpError() << "has reduction 'premul_sum' without a scale, "
                                "expected 'premul_sum(%scale : type)'";
  auto start = cast<AsyncStartOpInterface>(op);
  for (OpOperand &source : start.getSourceOperands()) {
    Type type = cast<ShapedType>(source.get().getType()).getElementType();
    if (scale.getType() != type)
      return op->emitOpError()
             << "has a scale of type " << scale.getType() << ", expected "
             << type << ", the type of its operands' elements";
  }
  return success();
}

static LogicalResult verifyReduction(CollectiveOpInterface collective) {
  Operation *op = collective;
  std::optional<ReductionKind> reduction = collective.getReductionKind();
  if (!reduction)
    return success();
  auto start = cast<AsyncStartOpInterface>(op);
  for (OpOperand &source : start.getSourceOperands()) {
    Type type = cast<ShapedType>(source.get().getType()).getElementType();
    // C12
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
  while (parent && !parent->hasTrait<OpTrait::HasParallelRegion>() &&
         !isa<ParallelRegionOpInterface>(parent))
    parent = parent->getParentOp();
  return parent;
}

LogicalResult braid::comm::verifyPlace(Operation *op) {
  // C14
  Operation *parent = getParallelOrKernelOp(op->getParentRegion());
  if (!parent)
    return success();
  InFlightDiagnostic diagnostic =
      op->emitOpError() << "is inside '" << parent->getName()
                        << "', expected it outside parallel loops and kernels";
  diagnostic.attachNote(parent->getLoc()) << "the enclosing op is here";
  return diagnostic;
}

LogicalResult braid::comm::verifyAsyncStartTokens(Operation *op) {
  auto start = cast<AsyncStartOpInterface>(op);
  for (auto [index, token] : llvm::enumerate(start.getTokens()))
    if (!isa<TokenType>(token.getType()))
      return op->emitOpError() << "has token #" << index << " of type "
                               << token.getType() << ", expected !comm.token";
  return success();
}

LogicalResult braid::comm::verifyAsyncStartLane(Operation *op) {
  // C15
  auto start = cast<AsyncStartOpInterface>(op);
  if (start.getTokens().empty() || start.getLane())
    return success();
  return op->emitOpError() << "starts an operation and names no lane, expected "
                              "an attribute";
}

/// Verifies C1 and C15: there is a group, and a row in the table of
/// collectives.
static LogicalResult verifyKindAndGroup(CollectiveOpInterface collective) {
  auto kind = static_cast<int32_t>(collective.getCollectiveKind());
  if (!braid_rt_get_traits(kind))
    return collective->emitOpError()
           << "has number " << kind << " as the kind of the collective, "
           << "expected 0 to " << getMaxEnumValForCollectiveKind();
  FlatSymbolRefAttr group = collective.getGroupAttr();
  if (!group)
    return collective->emitOpError()
           << "names no group, expected the symbol of a comm.group";
  return verifyGroup(collective, group,
                     SymbolTable::lookupNearestSymbolFrom(collective, group));
}

LogicalResult braid::comm::verifyCollective(Operation *op) {
  auto collective = cast<CollectiveOpInterface>(op);
  if (failed(verifyKindAndGroup(collective)) ||
      failed(verifyForm(collective)) || failed(verifyReduction(collective)) ||
      failed(verifyShapes(collective)) || failed(verifyPlace(op)))
    return failure();
  std::optional<ReductionKind> reduction = collective.getReductionKind();
  return reduction ? verifyScale(collective, *reduction) : success();
}
