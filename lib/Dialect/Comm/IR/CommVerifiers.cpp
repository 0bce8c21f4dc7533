//===- CommVerifiers.cpp - Verifiers that need no group -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Dialect/Comm/IR/Comm.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
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

static LogicalResult verifyOperand(Operation *op, OpOperand &operand,
                                   bool isBufferForm, StringRef role,
                                   size_t index) {
  Type type = operand.get().getType();
  auto name = [&]() -> std::string {
    return (Twine(role) + " #" + Twine(index)).str();
  };
  if (isa<BaseMemRefType>(type) != isBufferForm)
    return op->emitOpError()
           << "has " << name() << " of type " << type << ", expected "
           << (isBufferForm ? "a memref" : "a ranked tensor")
           << " as its other operands";
  Type elementType = cast<ShapedType>(type).getElementType();
  if (!isTransferable(elementType))
    return op->emitOpError()
           << "has " << name() << " with elements of type " << elementType
           << ", expected one of i1, i8, i16, i32, i64, f16, bf16, f32, f64, "
              "f8E4M3FN, f8E5M2, complex<f32>, complex<f64>";
  if (isa<UnrankedMemRefType>(type))
    return op->emitOpError()
           << "has " << name() << " of type " << type << ", expected a rank";
  if (auto memref = dyn_cast<MemRefType>(type); memref && !isContiguous(memref))
    return op->emitOpError() << "has " << name() << " of type " << type
                             << ", expected a contiguous row-major buffer";
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

  for (auto [index, source] : llvm::enumerate(sources))
    if (failed(verifyOperand(op, source, isBufferForm, "source", index)))
      return failure();
  for (auto [index, destination] : llvm::enumerate(destinations))
    if (failed(
            verifyOperand(op, destination, isBufferForm, "destination", index)))
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
               << "has a token of " << valueType
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
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static bool isCompatibleSize(int64_t lhs, int64_t rhs) {
  return ShapedType::isDynamic(lhs) || ShapedType::isDynamic(rhs) || lhs == rhs;
}

/// The type of the source and of the value (or destination) number `index`.
static std::pair<ShapedType, ShapedType>
getSourceAndValueTypes(AsyncStartOpInterface start, size_t index) {
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
  if (splitDim < 0 || splitDim >= std::max<int64_t>(whole.getRank(), 1))
    return op->emitOpError() << "has dim " << splitDim << ", expected one of "
                             << whole << ", from 0 to " << whole.getRank() - 1;
  if (part.getRank() == 0 && whole.getRank() == 1)
    return success();
  if (part.getRank() != whole.getRank() || whole.getRank() == 0)
    return emit() << "the same rank, at least 1";
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
    if (!isDefined(*reduction, type))
      return op->emitOpError()
             << "reduction '" << stringifyReductionKind(*reduction)
             << "' is not defined for elements of type " << type;
  }
  return success();
}

/// Verifies that `scale` is there for `premul_sum` alone, of the type of all
/// elements of `inputs`.
static LogicalResult verifyScale(Operation *op, ReductionKind reduction,
                                 Value scale, ValueRange inputs) {
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
  for (Value input : inputs) {
    Type type = cast<ShapedType>(input.getType()).getElementType();
    if (scale.getType() != type)
      return op->emitOpError()
             << "has a scale of type " << scale.getType() << ", expected "
             << type << ", the type of its operands' elements";
  }
  return success();
}

/// Collectives run once on each rank: not in a parallel loop, not in a kernel.
static LogicalResult verifyPlace(Operation *op) {
  for (Operation *parent = op->getParentOp();
       parent && !isa<FunctionOpInterface>(parent);
       parent = parent->getParentOp()) {
    if (parent->hasTrait<OpTrait::HasParallelRegion>() ||
        isa<linalg::LinalgOp, gpu::LaunchOp, ComputeOp>(parent)) {
      InFlightDiagnostic diagnostic =
          op->emitOpError() << "is inside '" << parent->getName()
                            << "', expected a place that a rank runs once, "
                               "outside parallel loops and kernels";
      diagnostic.attachNote(parent->getLoc()) << "the enclosing op is here";
      return diagnostic;
    }
  }
  if (auto kernel = op->getParentOfType<gpu::GPUModuleOp>())
    return op->emitOpError() << "is inside 'gpu.module', expected a place that "
                                "a rank runs once, outside parallel loops and "
                                "kernels";
  return success();
}

LogicalResult braid::comm::verifyCollective(Operation *op) {
  auto collective = cast<CollectiveOpInterface>(op);
  if (failed(verifyForm(collective)) || failed(verifyReduction(collective)) ||
      failed(verifyShapes(collective)) || failed(verifyPlace(op)))
    return failure();
  return success();
}

LogicalResult AllReduceOp::verify() {
  return verifyScale(*this, getReduction(), getScale(), getInputs());
}
LogicalResult ReduceOp::verify() {
  return verifyScale(*this, getReduction(), getScale(), getInputs());
}
LogicalResult ReduceScatterOp::verify() {
  return verifyScale(*this, getReduction(), getScale(), getInputs());
}

//===----------------------------------------------------------------------===//
// GroupOp
//===----------------------------------------------------------------------===//

LogicalResult GroupOp::verify() {
  if (!getRanks())
    return success();
  SmallVector<ArrayRef<int64_t>> lists = getRankLists();
  if (lists.empty())
    return emitOpError() << "has no list of ranks, expected at least one, or "
                            "'all'";
  llvm::SmallDenseSet<int64_t> seen;
  for (ArrayRef<int64_t> list : lists) {
    if (list.empty())
      return emitOpError() << "has an empty list of ranks";
    for (int64_t rank : list) {
      // The upper bound keeps every rank a 32-bit integer of the runtime.
      if (rank < 0 || rank > std::numeric_limits<int32_t>::max())
        return emitOpError()
               << "has rank " << rank << ", expected a number from 0 to "
               << std::numeric_limits<int32_t>::max();
      if (!seen.insert(rank).second)
        return emitOpError() << "names rank " << rank << " twice";
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// PermuteOp, SendOp, RecvOp
//===----------------------------------------------------------------------===//

LogicalResult PermuteOp::verify() {
  llvm::SmallDenseSet<int64_t> sources, targets;
  for (auto pair : getPairs().getAsRange<DenseI64ArrayAttr>()) {
    if (pair.size() != 2)
      return emitOpError() << "has a pair of " << pair.size()
                           << " members, expected a source and a target";
    if (pair[0] < 0 || pair[1] < 0)
      return emitOpError() << "has pair [" << pair[0] << ", " << pair[1]
                           << "], expected indices within the group";
    if (!sources.insert(pair[0]).second)
      return emitOpError() << "has member " << pair[0]
                           << " as the source of two pairs";
    if (!targets.insert(pair[1]).second)
      return emitOpError() << "has member " << pair[1]
                           << " as the target of two pairs";
  }
  return success();
}

static LogicalResult verifyPeer(Operation *op, Value peer,
                                std::optional<int64_t> staticPeer) {
  if (static_cast<bool>(peer) == staticPeer.has_value())
    return op->emitOpError()
           << "has " << (peer ? "both a value and a constant" : "no")
           << " peer, expected one";
  if (staticPeer && *staticPeer < 0)
    return op->emitOpError() << "has peer " << *staticPeer
                             << ", expected an index within the group";
  return success();
}

LogicalResult SendOp::verify() {
  return verifyPeer(*this, getPeer(), getStaticPeer());
}

LogicalResult RecvOp::verify() {
  if (failed(verifyPeer(*this, getPeer(), getStaticPeer())))
    return failure();
  Type valueType = getToken().getType().getValueType();
  int64_t expected = valueType && !getOutput()
                         ? cast<RankedTensorType>(valueType).getNumDynamicDims()
                         : 0;
  if (static_cast<int64_t>(getSizes().size()) != expected)
    return emitOpError() << "has " << getSizes().size() << " sizes, expected "
                         << expected
                         << ", one for each dynamic dimension that it receives";
  return success();
}

//===----------------------------------------------------------------------===//
// AllToAllOp
//===----------------------------------------------------------------------===//

/// Verifies a list of sizes against dimension 0, of size `dimSize`, of what it
/// splits.
static LogicalResult verifySplitList(Operation *op, StringRef name,
                                     ArrayRef<int64_t> sizes, int64_t dimSize) {
  int64_t sum = 0;
  for (int64_t size : sizes) {
    if (ShapedType::isDynamic(size))
      return success();
    if (size < 0)
      return op->emitOpError() << "has " << name << " size " << size
                               << ", expected one that is not negative";
    sum += size;
  }
  // Every rank runs this text: constants that differ cannot fit their columns.
  if (!llvm::all_equal(sizes))
    return op->emitOpError()
           << "has " << name << " sizes [" << sizes
           << "], expected equal constants as every member runs the same text; "
              "a matrix or index values may differ";
  if (!isCompatibleSize(sum, dimSize))
    return op->emitOpError()
           << "has " << name << " sizes [" << sizes << "] of sum " << sum
           << ", expected " << dimSize << ", the size along dim 0";
  return success();
}

LogicalResult AllToAllOp::verify() {
  auto [source, value] =
      getSourceAndValueTypes(cast<AsyncStartOpInterface>(getOperation()), 0);
  if (!hasSplits()) {
    for (size_t i = 0, e = getInputs().size(); i < e; ++i) {
      auto [source, value] = getSourceAndValueTypes(
          cast<AsyncStartOpInterface>(getOperation()), i);
      if (failed(verifyCompatibleShape(source, value)))
        return emitOpError()
               << "has source type " << source << " and result type " << value
               << ", expected the same as its parts are equal";
    }
    return success();
  }
  if (getInputs().size() != 1)
    return emitOpError() << "has splits and " << getInputs().size()
                         << " operands, expected one";
  if (ArrayAttr matrix = getSplitMatrixAttr()) {
    if (getStaticSendSizes() || getStaticReceiveSizes())
      return emitOpError()
             << "has a split matrix and split sizes, expected one";
    size_t members = matrix.size();
    SmallVector<int64_t> received(members, 0);
    for (auto [row, attribute] : llvm::enumerate(matrix)) {
      ArrayRef<int64_t> sizes = cast<DenseI64ArrayAttr>(attribute).asArrayRef();
      if (sizes.size() != members)
        return emitOpError() << "has row " << row << " of " << sizes.size()
                             << " sizes in its split matrix, expected "
                             << members << ", one for each row";
      int64_t sent = 0;
      for (auto [column, size] : llvm::enumerate(sizes)) {
        if (size < 0)
          return emitOpError() << "has size " << size
                               << " in its split matrix, expected one that is "
                                  "not negative";
        sent += size;
        received[column] += size;
      }
      if (!isCompatibleSize(sent, source.getDimSize(0)))
        return emitOpError()
               << "has row " << row << " of sum " << sent
               << " in its split matrix, expected " << source.getDimSize(0)
               << ", the size along dim 0 of its source";
    }
    for (auto [column, sum] : llvm::enumerate(received))
      if (!isCompatibleSize(sum, value.getDimSize(0)))
        return emitOpError()
               << "has column " << column << " of sum " << sum
               << " in its split matrix, expected " << value.getDimSize(0)
               << ", the size along dim 0 of its result";
    return success();
  }
  if (!getStaticReceiveSizes() || !getStaticSendSizes())
    return emitOpError() << "has sizes to one side, expected both of 'splits "
                            "[...] into [...]'";
  if (getStaticSendSizes()->size() != getStaticReceiveSizes()->size())
    return emitOpError() << "has " << getStaticSendSizes()->size()
                         << " send sizes and "
                         << getStaticReceiveSizes()->size()
                         << " receive sizes, expected as many";
  if (failed(verifySplitList(*this, "send", *getStaticSendSizes(),
                             source.getDimSize(0))) ||
      failed(verifySplitList(*this, "receive", *getStaticReceiveSizes(),
                             value.getDimSize(0))))
    return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// WaitOp
//===----------------------------------------------------------------------===//

LogicalResult WaitOp::verify() {
  auto token = cast<TokenType>(getToken().getType());
  Type valueType = getValue() ? getValue().getType() : Type();
  if (valueType != token.getValueType()) {
    InFlightDiagnostic diagnostic = emitOpError() << "gives ";
    if (valueType)
      diagnostic << "a value of type " << valueType;
    else
      diagnostic << "no value";
    return diagnostic << ", expected that of its token of type "
                      << getToken().getType();
  }
  if (token.getValueType() && !(getReads().empty() && getWrites().empty()))
    return emitOpError() << "names buffers, expected none for a token with a "
                            "value";

  AsyncStartOpInterface start = getStart();
  if (!start || !start.isBufferForm())
    return success();
  // What the wait names is what the start has in flight, each buffer once.
  llvm::SmallSetVector<Value, 4> writes, reads;
  for (Value destination : start.getDestinations())
    writes.insert(destination);
  for (Value source : start.getSources())
    if (!writes.contains(source))
      reads.insert(source);
  auto verifyList =
      [&](StringRef clause, OperandRange found,
          const llvm::SmallSetVector<Value, 4> &expected) -> LogicalResult {
    llvm::SmallSetVector<Value, 4> named;
    named.insert(found.begin(), found.end());
    if (named.size() == expected.size() &&
        llvm::all_of(expected,
                     [&](Value value) { return named.contains(value); }))
      return success();
    InFlightDiagnostic diagnostic =
        emitOpError() << "names " << named.size() << " buffers in '" << clause
                      << "', expected the " << expected.size()
                      << " that its start has in flight there";
    diagnostic.attachNote(start->getLoc()) << "the start is here";
    return diagnostic;
  };
  // A wait of a coalesced launch may name its own operand's buffers alone.
  if (start.getTokens().size() > 1) {
    for (Value buffer : llvm::concat<Value>(SmallVector<Value>(getReads()),
                                            SmallVector<Value>(getWrites())))
      if (!writes.contains(buffer) && !reads.contains(buffer))
        return emitOpError()
               << "names a buffer that its start does not have in "
                  "flight";
    return success();
  }
  if (failed(verifyList("writes", getWrites(), writes)) ||
      failed(verifyList("reads", getReads(), reads)))
    return failure();
  return success();
}
