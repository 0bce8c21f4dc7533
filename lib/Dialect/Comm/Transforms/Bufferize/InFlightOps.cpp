//===- InFlightOps.cpp - Bufferization of starts and waits ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The model of operations in flight for One-Shot Bufferize:
//
// - A start that may run in place reads and writes its source, whose buffer the
//   tensor in flight takes. One-Shot decides whether that is possible; where it
//   is not, the start gets a second buffer, and nothing is copied.
// - Every other start reads its sources and writes its destinations.
// - A wait *reads* the tensor in flight and the sources that the operation
//   reads. It must not write them: as the last write before the uses of its
//   value, the wait would hide conflicting writes between start and wait.
//
//===----------------------------------------------------------------------===//

#include "InFlight.h"

#include "braid/Dialect/Comm/IR/ContiguousBuffers.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/Bufferize.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Utils/Utils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace braid::comm;
using namespace braid::comm::inflight;

#include "InFlightDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "InFlightTypes.cpp.inc"

#define GET_OP_CLASSES
#include "InFlightOps.cpp.inc"

void InFlightDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "InFlightTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "InFlightOps.cpp.inc"
      >();
}

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

//===----------------------------------------------------------------------===//
// StartOp: analysis
//===----------------------------------------------------------------------===//

void StartOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), CommunicatorResource::get());
  effects.emplace_back(MemoryEffects::Write::get(),
                       CommunicatorResource::get());
}

/// True if a wait of token `index` of `op` keeps the contents of its source.
static bool isSourceKept(StartOp op, unsigned index) {
  Value source = op.getSources()[index];
  return llvm::any_of(op.getTokens()[index].getUsers(), [&](Operation *user) {
    auto wait = dyn_cast<inflight::WaitOp>(user);
    return wait && llvm::is_contained(wait.getKept(), source);
  });
}

/// The position of `operand` among the sources; none if it is no source.
static std::optional<unsigned> getSourceIndex(StartOp op, OpOperand &operand) {
  unsigned number = operand.getOperandNumber();
  return number < op.getSources().size() ? std::optional<unsigned>(number)
                                         : std::nullopt;
}

/// The position of `operand` among the destinations; none for other operands.
static std::optional<unsigned> getDestinationIndex(StartOp op,
                                                   OpOperand &operand) {
  unsigned number = operand.getOperandNumber();
  unsigned begin = op.getSources().size();
  if (number < begin || number >= begin + op.getDestinations().size())
    return std::nullopt;
  return number - begin;
}

/// True if value number `index` takes the buffer of its source.
static bool isTied(StartOp op, unsigned index) {
  return index < op.getInFlight().size() && op.isInPlace(index);
}

bool StartOp::bufferizesToMemoryRead(OpOperand &operand,
                                     const AnalysisState &) {
  return !getDestinationIndex(*this, operand);
}

bool StartOp::bufferizesToMemoryWrite(OpOperand &operand,
                                      const AnalysisState &) {
  if (std::optional<unsigned> source = getSourceIndex(*this, operand))
    return isTied(*this, *source);
  return getDestinationIndex(*this, operand).has_value();
}

AliasingValueList StartOp::getAliasingValues(OpOperand &operand,
                                             const AnalysisState &) {
  if (std::optional<unsigned> source = getSourceIndex(*this, operand)) {
    if (isTied(*this, *source))
      return {{getInFlight()[*source], BufferRelation::Equivalent}};
    return {};
  }
  std::optional<unsigned> destination = getDestinationIndex(*this, operand);
  if (!destination)
    return {};
  for (auto [value, number] :
       llvm::zip_equal(getInFlight(), getDestinationOf()))
    if (number == static_cast<int64_t>(*destination))
      return {{value, BufferRelation::Equivalent}};
  return {};
}

/// A tensor of the shape of `like` without contents.
static Value createUninitialized(RewriterBase &rewriter, Location loc,
                                 Value like) {
  return AllocTensorOp::create(
      rewriter, loc, cast<RankedTensorType>(like.getType()),
      tensor::createDynamicDimValues(rewriter, loc, like));
}

LogicalResult StartOp::resolveConflicts(RewriterBase &rewriter,
                                        const AnalysisState &analysis,
                                        const BufferizationState &) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(*this);
  SmallVector<Value> sources(getSources()), destinations(getDestinations());
  SmallVector<int64_t> destinationOf(getDestinationOf());
  bool changed = false;
  for (OpOperand &operand : getDestinationsMutable()) {
    if (analysis.isInPlace(operand))
      continue;
    destinations[*getDestinationIndex(*this, operand)] =
        createUninitialized(rewriter, getLoc(), operand.get());
    changed = true;
  }
  for (OpOperand &operand : getSourcesMutable()) {
    if (analysis.isInPlace(operand))
      continue;
    unsigned index = *getSourceIndex(*this, operand);
    changed = true;
    if (isTied(*this, index) && isSourceKept(*this, index)) {
      // The wait keeps writes away from the source: a second buffer will do.
      destinationOf[index] = destinations.size();
      destinations.push_back(
          createUninitialized(rewriter, getLoc(), operand.get()));
      continue;
    }
    auto type = cast<RankedTensorType>(operand.get().getType());
    sources[index] = AllocTensorOp::create(rewriter, getLoc(), type,
                                           ValueRange(), operand.get());
  }
  if (!changed)
    return success();
  rewriter.modifyOpInPlace(*this, [&] {
    getSourcesMutable().assign(sources);
    getDestinationsMutable().assign(destinations);
    setDestinationOf(destinationOf);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// StartOp: bufferization
//===----------------------------------------------------------------------===//

/// Makes the waits of token `index` name `buffer` instead of the buffer of the
/// source.
static void keepPackedSource(RewriterBase &rewriter, StartOp op, unsigned index,
                             Value buffer) {
  Value source = op.getSources()[index];
  Value packed;
  for (Operation *user :
       llvm::make_early_inc_range(op.getTokens()[index].getUsers())) {
    auto wait = dyn_cast<inflight::WaitOp>(user);
    if (!wait)
      continue;
    for (OpOperand &kept : wait.getKeptMutable()) {
      if (kept.get() != source)
        continue;
      if (!packed)
        packed = ToTensorOp::create(rewriter, op.getLoc(), source.getType(),
                                    buffer, /*restrict=*/true);
      rewriter.modifyOpInPlace(wait, [&] { kept.set(packed); });
    }
  }
}

LogicalResult StartOp::bufferize(RewriterBase &rewriter,
                                 const BufferizationOptions &options,
                                 BufferizationState &state) {
  Location loc = getLoc();
  SmallVector<Value> operands;
  for (auto [index, source] : llvm::enumerate(getSources())) {
    FailureOr<Value> buffer = getBuffer(rewriter, source, options, state);
    if (failed(buffer))
      return failure();
    FailureOr<Value> contiguous =
        getContiguous(rewriter, loc, *buffer, options, /*copy=*/true);
    if (failed(contiguous))
      return failure();
    if (*contiguous != *buffer)
      keepPackedSource(rewriter, *this, index, *contiguous);
    operands.push_back(*contiguous);
  }
  unsigned sourceCount = operands.size();
  for (auto [value, number] : llvm::enumerate(getDestinationOf())) {
    if (number < 0) {
      operands.push_back(operands[value]);
      continue;
    }
    FailureOr<Value> buffer =
        getBuffer(rewriter, getDestinations()[number], options, state);
    if (failed(buffer))
      return failure();
    buffer = getContiguous(rewriter, loc, *buffer, options, /*copy=*/false);
    if (failed(buffer))
      return failure();
    operands.push_back(*buffer);
  }
  unsigned destinationCount = operands.size() - sourceCount;
  llvm::append_range(operands, getOthers());

  OperationState opState(loc, getStartName());
  for (int64_t position : getOperandOrder())
    opState.operands.push_back(operands[position]);
  // Tokens keep the type of this dialect until all are bufferized, because the
  // types of blocks and branches have to match at any time.
  opState.addTypes(getTokens().getTypes());
  opState.addAttributes(getStartAttrs().getValue());
  Operation *op = rewriter.create(opState);

  SmallVector<Value> results(op->getResults());
  ArrayRef<Value> buffers(operands);
  llvm::append_range(results, buffers.slice(sourceCount, destinationCount));
  replaceOpWithBufferizedValues(rewriter, *this, results);
  return success();
}

//===----------------------------------------------------------------------===//
// WaitOp
//===----------------------------------------------------------------------===//

void inflight::WaitOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Free::get(), &getTokenMutable(),
                       RequestResource::get());
}

/// True if `operand` is the tensor in flight.
static bool isInFlight(inflight::WaitOp op, OpOperand &operand) {
  return op.getInFlight() && operand.getOperandNumber() == 1;
}

bool inflight::WaitOp::bufferizesToMemoryRead(OpOperand &,
                                              const AnalysisState &) {
  return true;
}

bool inflight::WaitOp::bufferizesToMemoryWrite(OpOperand &,
                                               const AnalysisState &) {
  return false;
}

bool inflight::WaitOp::mustBufferizeInPlace(OpOperand &operand,
                                            const AnalysisState &) {
  return isInFlight(*this, operand);
}

AliasingValueList inflight::WaitOp::getAliasingValues(OpOperand &operand,
                                                      const AnalysisState &) {
  if (isInFlight(*this, operand))
    return {{getValue(), BufferRelation::Equivalent}};
  return {};
}

bool inflight::WaitOp::isNotConflicting(OpOperand *read, OpOperand *write,
                                        const AnalysisState &) {
  // The wait reads the contents of a source that the start has read. A write by
  // the operation itself is no conflict.
  auto start = dyn_cast<StartOp>(write->getOwner());
  if (!start || read->getOwner() != getOperation() || isInFlight(*this, *read))
    return false;
  auto token = dyn_cast<OpResult>(getToken());
  return token && token.getOwner() == start &&
         write->getOperandNumber() == token.getResultNumber() &&
         write->get() == read->get();
}

/// True if `a` and `b` are one buffer: the same value, or buffers of one tensor
/// that is still to be bufferized.
static bool isSameBuffer(Value a, Value b) {
  auto bufferA = a.getDefiningOp<ToBufferOp>();
  auto bufferB = b.getDefiningOp<ToBufferOp>();
  return a == b ||
         (bufferA && bufferB && bufferA.getTensor() == bufferB.getTensor());
}

LogicalResult inflight::WaitOp::bufferize(RewriterBase &rewriter,
                                          const BufferizationOptions &options,
                                          BufferizationState &state) {
  SmallVector<Value> reads, writes;
  if (getInFlight()) {
    FailureOr<Value> buffer =
        getBuffer(rewriter, getInFlight(), options, state);
    if (failed(buffer))
      return failure();
    writes.push_back(*buffer);
  }
  for (Value kept : getKept()) {
    FailureOr<Value> buffer = getBuffer(rewriter, kept, options, state);
    if (failed(buffer))
      return failure();
    auto isBuffer = [&](Value other) { return isSameBuffer(*buffer, other); };
    if (llvm::none_of(writes, isBuffer) && llvm::none_of(reads, isBuffer))
      reads.push_back(*buffer);
  }
  auto wait = braid::comm::WaitOp::create(rewriter, getLoc(), TypeRange(),
                                          getToken(), reads, writes);
  wait->setDiscardableAttrs((*this)->getDiscardableAttrDictionary());
  replaceOpWithBufferizedValues(rewriter, *this, writes);
  return success();
}
