//===- CommVerifiers.cpp - Verifiers of single ops that need no group -----===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommVerifiers.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace braid::comm;

//===----------------------------------------------------------------------===//
// AllReduceOp, ReduceOp, ReduceScatterOp
//===----------------------------------------------------------------------===//

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
      return emitOpError()
             << "has an empty list of ranks, expected at least one rank";
    for (int64_t rank : list) {
      // The upper bound keeps every rank a 32-bit integer of the runtime.
      if (rank < 0 || rank > std::numeric_limits<int32_t>::max())
        return emitOpError()
               << "has rank " << rank << ", expected a number from 0 to "
               << std::numeric_limits<int32_t>::max();
      if (!seen.insert(rank).second)
        return emitOpError() << "names rank " << rank
                             << " twice, expected every rank at most once";
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// PermuteOp, SendOp, RecvOp
//===----------------------------------------------------------------------===//

LogicalResult PermuteOp::verify() {
  // Users write any integer; a DenseSet keeps the largest ones for itself.
  llvm::SmallSet<int64_t, 8> sources, targets;
  for (auto pair : getPairs().getAsRange<DenseI64ArrayAttr>()) {
    if (pair.size() != 2)
      return emitOpError() << "has a pair of " << pair.size()
                           << " members, expected a source and a target";
    if (pair[0] < 0 || pair[1] < 0)
      return emitOpError() << "has pair [" << pair[0] << ", " << pair[1]
                           << "], expected indices that are not negative";
    if (!sources.insert(pair[0]).second)
      return emitOpError() << "has member " << pair[0]
                           << " as the source of two pairs, expected one";
    if (!targets.insert(pair[1]).second)
      return emitOpError() << "has member " << pair[1]
                           << " as the target of two pairs, expected one";
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
                             << ", expected an index that is not negative";
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

/// Adds `size`, which is of `list`, to `sum`.
static LogicalResult addSize(Operation *op, const Twine &list, int64_t size,
                             int64_t &sum) {
  if (size < 0)
    return op->emitOpError() << "has size " << size << " in " << list
                             << ", expected one that is not negative";
  if (llvm::AddOverflow(sum, size, sum))
    return op->emitOpError()
           << "has sizes in " << list << " that add up to more than "
           << std::numeric_limits<int64_t>::max();
  return success();
}

/// Every size that is not constant has a value.
static LogicalResult verifySizeOperands(Operation *op, StringRef list,
                                        std::optional<ArrayRef<int64_t>> sizes,
                                        ValueRange values) {
  size_t expected =
      sizes ? llvm::count_if(*sizes, ShapedType::isDynamic) : size_t(0);
  if (values.size() == expected)
    return success();
  return op->emitOpError() << "has " << values.size() << " index values for "
                           << list << ", expected " << expected
                           << ", one for each size that is not constant";
}

/// Verifies a list of sizes against dimension 0, of size `dimSize`, of what it
/// splits.
static LogicalResult verifySplitList(Operation *op, StringRef list,
                                     ArrayRef<int64_t> sizes, int64_t dimSize) {
  int64_t sum = 0;
  for (int64_t size : sizes)
    if (ShapedType::isStatic(size) && failed(addSize(op, list, size, sum)))
      return failure();
  if (llvm::any_of(sizes, ShapedType::isDynamic))
    return success();
  // Every rank runs this text: constants that differ cannot fit their columns.
  if (!llvm::all_equal(sizes))
    return op->emitOpError()
           << "has " << list << " [" << sizes
           << "], expected equal constants as every member runs the same text; "
              "a matrix or index values may differ";
  if (!isCompatibleSize(sum, dimSize))
    return op->emitOpError()
           << "has " << list << " [" << sizes << "] of sum " << sum
           << ", expected " << dimSize << ", the size along dim 0";
  return success();
}

/// Verifies a matrix of splits from a dimension 0 of size `sourceSize` to one
/// of size `valueSize`.
static LogicalResult verifySplitMatrix(AllToAllOp op, int64_t sourceSize,
                                       int64_t valueSize) {
  ArrayAttr matrix = op.getSplitMatrixAttr();
  size_t members = matrix.size();
  SmallVector<int64_t> received(members, 0);
  for (auto [row, attribute] : llvm::enumerate(matrix)) {
    ArrayRef<int64_t> sizes = cast<DenseI64ArrayAttr>(attribute).asArrayRef();
    if (sizes.size() != members)
      return op.emitOpError() << "has row " << row << " of " << sizes.size()
                              << " sizes in its split matrix, expected "
                              << members << ", as many as there are rows";
    int64_t sent = 0;
    for (auto [column, size] : llvm::enumerate(sizes))
      if (failed(addSize(op, "its split matrix", size, sent)) ||
          failed(addSize(op, "its split matrix", size, received[column])))
        return failure();
    if (!isCompatibleSize(sent, sourceSize))
      return op.emitOpError() << "has row " << row << " of sum " << sent
                              << " in its split matrix, expected " << sourceSize
                              << ", the size along dim 0 of its source";
  }
  for (auto [column, sum] : llvm::enumerate(received))
    if (!isCompatibleSize(sum, valueSize))
      return op.emitOpError() << "has column " << column << " of sum " << sum
                              << " in its split matrix, expected " << valueSize
                              << ", the size along dim 0 of its result";
  return success();
}

LogicalResult AllToAllOp::verify() {
  auto start = cast<AsyncStartOpInterface>(getOperation());
  if (failed(verifySizeOperands(*this, "send sizes", getStaticSendSizes(),
                                getSendSizes())) ||
      failed(verifySizeOperands(*this, "receive sizes", getStaticReceiveSizes(),
                                getReceiveSizes())))
    return failure();
  if (static_cast<bool>(getStaticSendSizes()) !=
      static_cast<bool>(getStaticReceiveSizes()))
    return emitOpError() << "has "
                         << (getStaticSendSizes() ? "send" : "receive")
                         << " sizes alone, expected both of 'splits [...] into "
                            "[...]'";
  if (!hasSplits()) {
    for (size_t i = 0, e = getInputs().size(); i < e; ++i) {
      auto [source, value] = getSourceAndValueTypes(start, i);
      if (failed(verifyCompatibleShape(source, value)))
        return emitOpError()
               << "has source type " << source << " and result type " << value
               << ", expected the same shape as its parts are equal";
    }
    return success();
  }
  if (getInputs().size() != 1)
    return emitOpError() << "has splits and " << getInputs().size()
                         << " operands, expected one";
  auto [source, value] = getSourceAndValueTypes(start, 0);
  int64_t sourceSize = source.getDimSize(0), valueSize = value.getDimSize(0);
  if (getSplitMatrix()) {
    if (getStaticSendSizes())
      return emitOpError()
             << "has a split matrix and split sizes, expected one of them";
    return verifySplitMatrix(*this, sourceSize, valueSize);
  }
  if (getStaticSendSizes()->size() != getStaticReceiveSizes()->size())
    return emitOpError() << "has " << getStaticSendSizes()->size()
                         << " send sizes and "
                         << getStaticReceiveSizes()->size()
                         << " receive sizes, expected as many";
  if (failed(verifySplitList(*this, "send sizes", *getStaticSendSizes(),
                             sourceSize)) ||
      failed(verifySplitList(*this, "receive sizes", *getStaticReceiveSizes(),
                             valueSize)))
    return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// WaitOp
//===----------------------------------------------------------------------===//

/// Verifies that `wait` names the buffers that the operation of its token has
/// in flight; one token of a coalesced launch stands for its own operand's
/// buffers, and may name those of the others too.
static LogicalResult verifyBuffersInFlight(WaitOp wait,
                                           AsyncStartOpInterface start) {
  llvm::SmallSetVector<Value, 4> writes, reads;
  for (Value destination : start.getDestinations())
    if (isa<MemRefType>(destination.getType()))
      writes.insert(destination);
  for (Value source : start.getSources())
    if (isa<MemRefType>(source.getType()) && !writes.contains(source))
      reads.insert(source);

  auto emit = [&]() {
    InFlightDiagnostic diagnostic = wait.emitOpError();
    diagnostic.attachNote(start->getLoc()) << "the start is here";
    return diagnostic;
  };
  for (auto [index, buffer] : llvm::enumerate(wait.getWrites()))
    if (!writes.contains(buffer))
      return emit() << "has buffer #" << index
                    << " in 'writes', expected one that its start writes";
  for (auto [index, buffer] : llvm::enumerate(wait.getReads()))
    if (!reads.contains(buffer))
      return emit() << "has buffer #" << index
                    << " in 'reads', expected one that its start only reads";

  auto verifyNamed = [&](MutableArrayRef<OpOperand> operands, StringRef role,
                         const llvm::SmallSetVector<Value, 4> &inFlight,
                         OperandRange named,
                         StringRef clause) -> LogicalResult {
    bool isCoalesced = start.getTokens().size() > 1;
    size_t own = cast<OpResult>(wait.getToken()).getResultNumber();
    for (auto [index, operand] : llvm::enumerate(operands))
      if ((!isCoalesced || index == own) && inFlight.contains(operand.get()) &&
          !llvm::is_contained(named, operand.get()))
        return emit() << "does not name " << role << " #" << index
                      << " of its start, expected it in '" << clause
                      << "' as it is in flight until here";
    return success();
  };
  if (failed(verifyNamed(start.getDestinationOperands(), "destination", writes,
                         wait.getWrites(), "writes")) ||
      failed(verifyNamed(start.getSourceOperands(), "source", reads,
                         wait.getReads(), "reads")))
    return failure();
  return success();
}

LogicalResult WaitOp::verify() {
  if (failed(verifyPlace(*this)))
    return failure();
  // That the value is the token's is verified by type inference.
  if (getValue() && !(getReads().empty() && getWrites().empty()))
    return emitOpError() << "names buffers, expected none for a token with a "
                            "value";
  AsyncStartOpInterface start = getStart();
  return start ? verifyBuffersInFlight(*this, start) : success();
}
