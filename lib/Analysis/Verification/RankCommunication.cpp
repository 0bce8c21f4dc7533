//===- RankCommunication.cpp - One rank on one path: starts and waits -----===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankExecution.h"

#include "llvm/ADT/STLExtras.h"

using namespace braid;
using namespace mlir;

/// Adds to `trace` that the rank starts `collective`.
void RankExecution::startCollective(comm::CollectiveOpInterface collective,
                                    Frame &frame) {
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
  // Not every peer that could be chosen is one that callers give.
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
  for (Value source : sources)
    if (!llvm::is_contained(destinations, source))
      access(op, source, BufferAccessKind::Read, frame);
  for (Value destination : destinations)
    access(op, destination, BufferAccessKind::Write, frame);

  std::optional<unsigned> operation;
  if (auto collective = dyn_cast<comm::CollectiveOpInterface>(op)) {
    operation = trace.operations.size();
    startCollective(collective, frame);
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
      for (const BuffersInFlight::Buffer &buffer : writes)
        ++versions[buffer->root];
    } else {
      buffers.endUnknown(reads, writes, token.value.getLoc());
    }
    if (token.operation)
      trace.events.push_back({wait, *token.operation});
  }
  bindUnknown(wait, frame);
}
