//===- RankCommunication.cpp - One rank on one path: starts and waits -----===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankExecution.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

using namespace braid;
using namespace mlir;

/// The known sizes of `value`. A size that depends on the rank counts as known
/// where all ranks have the same.
SmallVector<std::optional<int64_t>> RankExecution::getSizes(Value value,
                                                            Frame &frame) {
  auto type = cast<ShapedType>(value.getType());
  SmallVector<std::optional<int64_t>> sizes;
  std::shared_ptr<const PathBuffer> buffer = get(value, frame).buffer;
  for (int64_t dim = 0, e = type.getRank(); dim != e; ++dim) {
    if (!type.isDynamicDim(dim))
      sizes.push_back(type.getDimSize(dim));
    else if (isa<RankedTensorType>(type))
      sizes.push_back(scalars.evaluateForAll(getSize(value, dim, frame)));
    else if (buffer && buffer->box &&
             buffer->box->dims.size() == static_cast<size_t>(e))
      sizes.push_back(buffer->box->dims[dim].size);
    else
      sizes.push_back(std::nullopt);
  }
  return sizes;
}

/// True if known values give an element of `input`. Does not evaluate the
/// element, on which the path would depend from then on.
static bool hasKnownElement(const PathValue &input) {
  PathChoices noChoices({}, {});
  ScalarEvaluator scalars(noChoices);
  if (input.scalar)
    return input.isOpen || scalars.evaluateNumber(input);
  if (input.uniform)
    return hasKnownElement(*input.uniform);
  return input.elements &&
         llvm::any_of(*input.elements, [&](const PathValue &element) {
           return element.isOpen || scalars.evaluateNumber(element);
         });
}

/// Adds to `trace` that the rank starts `collective`.
void RankExecution::startCollective(comm::CollectiveOpInterface collective,
                                    Values inputs, Frame &frame) {
  Operation *op = collective;
  StartedOperation operation;
  operation.op = collective;
  operation.group = query.getGroup(op, collective.getGroupAttr());
  operation.lane = StringAttr::get(op->getContext(), comm::getLaneName(op));
  if (collective.isPointToPoint()) {
    for (const comm::CallArgument &argument : collective.getCallArguments()) {
      OpFoldResult number = argument.numbers.front();
      if (auto constant = dyn_cast<Attribute>(number))
        operation.peer = cast<IntegerAttr>(constant).getInt();
      else
        operation.peer = scalars.evaluateKnown(get(cast<Value>(number), frame));
    }
  }
  auto getNumbers = [&](ArrayRef<OpFoldResult> values) {
    return llvm::map_to_vector(
        values, [&](OpFoldResult value) { return getKnown(value, frame); });
  };
  if (auto exchange = dyn_cast<comm::AllToAllOp>(op)) {
    operation.sendSizes = getNumbers(exchange.getMixedSendSizes());
    operation.receiveSizes = getNumbers(exchange.getMixedReceiveSizes());
  }
  auto start = cast<comm::AsyncStartOpInterface>(op);
  SmallVector<Value> sources = start.getSources();
  if (auto receive = dyn_cast<comm::RecvOp>(op);
      receive && !receive.getOutput())
    operation.sizes.push_back(getNumbers(
        getMixedValues(cast<ShapedType>(start.getInFlightType(0)).getShape(),
                       receive.getSizes(), op->getContext())));
  else
    for (Value value : sources.empty() ? start.getDestinations() : sources)
      operation.sizes.push_back(getSizes(value, frame));
  if (llvm::any_of(llvm::zip_equal(sources, inputs), [](auto pair) {
        auto [source, input] = pair;
        return input.uniform ||
               (isa<ShapedType>(source.getType()) &&
                hasKnownElements(source.getType()) &&
                (isa<RankedTensorType>(source.getType()) || input.elements));
      }))
    operation.inputs.append(inputs.begin(), inputs.end());
  // Members that get nothing from others get zeros.
  operation.tellsValues =
      !operation.inputs.empty() &&
      (collective.getCollectiveTraits().flow == BRAID_RT_FLOW_PAIRS ||
       (collective.getCollectiveTraits().flow == BRAID_RT_FLOW_GATHER &&
        collective.getRootIndex()) ||
       llvm::any_of(operation.inputs, hasKnownElement));
  // Callers may never give a peer that this analysis could choose.
  trace.hasUnknownPeer |= collective.isPointToPoint() && !operation.peer;
  trace.events.push_back(
      {/*wait=*/nullptr, static_cast<unsigned>(trace.operations.size())});
  trace.operations.push_back(operation);
}

void RankExecution::executeStart(comm::AsyncStartOpInterface start,
                                 Frame &frame) {
  Operation *op = start;
  SmallVector<Value> sources = start.getSources();
  SmallVector<Value> destinations = start.getDestinations();
  Values inputs;
  for (Value source : sources)
    inputs.push_back(getContents(source, frame));
  for (Value source : sources)
    if (!llvm::is_contained(destinations, source))
      access(op, source, BufferAccessKind::Read, frame);
  for (Value destination : destinations)
    access(op, destination, BufferAccessKind::Write, frame);

  std::optional<unsigned> operation;
  if (auto collective = dyn_cast<comm::CollectiveOpInterface>(op)) {
    operation = trace.operations.size();
    startCollective(collective, std::move(inputs), frame);
  }
  ResultRange results = start.getTokens();
  SmallVector<unsigned> numbers;
  for (auto [index, result] : llvm::enumerate(results)) {
    PathValue value;
    value.token = tokens.add(result, operation, index);
    value.id = llvm::hash_combine(op, countRun(op), index, 11);
    numbers.push_back(*value.token);
    frame[result] = value;
  }
  if (numbers.empty())
    return;

  // Each token has the buffers of its operand in flight.
  unsigned launch = numLaunches++;
  auto begin = [&](ArrayRef<Value> values, bool isWritten) {
    for (auto [index, value] : llvm::enumerate(values)) {
      std::shared_ptr<const PathBuffer> buffer = get(value, frame).buffer;
      if (buffer && (isWritten || !llvm::is_contained(destinations, value)))
        buffers.begin(launch, numbers[std::min(index, numbers.size() - 1)],
                      buffer, isWritten, op);
    }
  };
  begin(destinations, /*isWritten=*/true);
  begin(sources, /*isWritten=*/false);
  launchOf.resize(numbers.back() + 1);
  for (unsigned number : numbers)
    launchOf[number] = launch;
}

void RankExecution::executeWait(comm::WaitOp wait, Frame &frame) {
  const PathValue awaited = get(wait.getToken(), frame);
  if (awaited.token && tokens.await(*awaited.token, wait)) {
    const TokenUse::Token &token = tokens.get(*awaited.token);
    buffers.end(*awaited.token);
    SmallVector<BuffersInFlight::Buffer> reads, writes;
    for (Value value : wait.getReads())
      if (BuffersInFlight::Buffer buffer = get(value, frame).buffer)
        reads.push_back(std::move(buffer));
    for (Value value : wait.getWrites())
      if (BuffersInFlight::Buffer buffer = get(value, frame).buffer)
        writes.push_back(std::move(buffer));
    if (token.value.getDefiningOp() &&
        comm::getAsyncStart(token.value.getDefiningOp())) {
      // The wait of a coalesced launch may name buffers of other operands.
      for (const BuffersInFlight::Buffer &buffer :
           llvm::concat<BuffersInFlight::Buffer>(reads, writes))
        buffers.endBuffer(launchOf[*awaited.token], buffer);
      for (const BuffersInFlight::Buffer &buffer : writes) {
        ++versions[buffer->root];
        forgetContents(*buffer);
      }
    } else {
      buffers.endUnknown(reads, writes, token.value.getLoc());
    }
    if (token.operation) {
      trace.events.push_back({wait, *token.operation});
      bindUnknown(wait, frame);
      bindCollectiveValue(wait, *token.operation, token.index, frame);
      return;
    }
  }
  bindUnknown(wait, frame);
}

/// Gives the result of `wait`, or the buffer that it has written, the elements
/// that follow from the sources of the operation.
void RankExecution::bindCollectiveValue(comm::WaitOp wait, unsigned operation,
                                        unsigned index, Frame &frame) {
  const StartedOperation &started = trace.operations[operation];
  const std::vector<PathValue> *elements =
      values.get(rank, operation, index, started.op);
  // Ranks that have not been executed up to here may add elements.
  bool isOpen = !elements && started.tellsValues && !values.isClosed();
  if (Value value = wait.getValue()) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!hasKnownElements(value.getType()) && !mayBeUniform(value.getType()))
      return;
    if (!elements)
      frame[value].isOpen = isOpen;
    else if (!type ||
             type.getNumElements() == static_cast<int64_t>(elements->size()))
      frame[value] = makeTensor(value.getType(), *elements);
    else if (elements->size() == 1)
      frame[value] = makeUniform(type, elements->front());
    return;
  }
  auto start = cast<comm::AsyncStartOpInterface>(started.op.getOperation());
  SmallVector<Value> destinations = start.getDestinations();
  if (index >= destinations.size() || (!elements && !isOpen) ||
      !llvm::is_contained(wait.getWrites(), destinations[index]) ||
      !hasKnownElements(destinations[index].getType()))
    return;
  const std::shared_ptr<const PathBuffer> buffer =
      get(destinations[index], frame).buffer;
  if (!buffer)
    return;
  if (elements)
    return setContents(*buffer, *elements);
  PathValue unknown;
  unknown.id = llvm::hash_combine(wait.getOperation(), countRun(wait), 27);
  unknown.isOpen = true;
  setContents(*buffer, getElements(unknown, destinations[index]));
}
