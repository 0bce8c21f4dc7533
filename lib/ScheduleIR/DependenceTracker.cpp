//===- DependenceTracker.cpp - Edges of accesses and waits ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DependenceTracker.h"
#include "Analysis/Tokens/AwaitedTokens.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <iterator>

using namespace braid;
using namespace mlir;

void DependenceTracker::access(unsigned node,
                               const BlockEffects::Access &access) {
  auto [buffer, isWrite, begin, end] = access;
  if (access.isOfAnything())
    return accessAnything(node, isWrite);

  if (lastWriter)
    graph.addEdge(*lastWriter, node);
  accessesSince.push_back(node);
  Segments &segments = buffers[buffer];
  if (!isWrite && !coversMany(segments, begin, end))
    return read(node, segments, begin, end);
  addEdges(readersOfAnythingSince, node);
  writersSince.push_back(node);
  write(node, segments, begin, end);
}

bool DependenceTracker::coversMany(const Segments &segments, int64_t begin,
                                   int64_t end) {
  auto segment = segments.lower_bound(begin);
  for (size_t count = 0; count != maxPending; ++count, ++segment)
    if (segment == segments.end() || segment->first >= end)
      return false;
  return true;
}

void DependenceTracker::splitAt(Segments &segments, int64_t position) {
  auto next = segments.upper_bound(position);
  if (next == segments.begin())
    return;
  auto segment = std::prev(next);
  if (segment->first == position || segment->second.end <= position)
    return;
  Segment tail = segment->second;
  segment->second.end = position;
  segments.emplace_hint(next, position, std::move(tail));
}

void DependenceTracker::read(unsigned node, Segments &segments, int64_t begin,
                             int64_t end) {
  splitAt(segments, begin);
  splitAt(segments, end);
  auto segment = segments.lower_bound(begin);
  for (int64_t position = begin; position != end;) {
    if (segment == segments.end() || segment->first > position) {
      // No earlier op accesses these bytes.
      int64_t gapEnd =
          segment == segments.end() ? end : std::min(end, segment->first);
      segments.emplace_hint(segment, position,
                            Segment{gapEnd, std::nullopt, Nodes{node}});
      position = gapEnd;
      continue;
    }
    if (segment->second.writer)
      graph.addEdge(*segment->second.writer, node);
    if (segment->second.readers.empty() ||
        segment->second.readers.back() != node)
      segment->second.readers.push_back(node);
    position = segment->second.end;
    ++segment;
  }
}

void DependenceTracker::write(unsigned node, Segments &segments, int64_t begin,
                              int64_t end) {
  splitAt(segments, begin);
  splitAt(segments, end);
  auto first = segments.lower_bound(begin), last = segments.lower_bound(end);
  for (auto &[position, segment] : llvm::make_range(first, last)) {
    if (segment.writer)
      graph.addEdge(*segment.writer, node);
    addEdges(segment.readers, node);
  }
  segments.erase(first, last);
  segments.emplace_hint(last, begin, Segment{end, node, {}});
}

void DependenceTracker::accessAnything(unsigned node, bool isWrite) {
  if (lastWriter)
    graph.addEdge(*lastWriter, node);
  if (!isWrite && writersSince.size() < maxPending &&
      readersOfAnythingSince.size() < maxPending) {
    addEdges(writersSince, node);
    readersOfAnythingSince.push_back(node);
    accessesSince.push_back(node);
    return;
  }
  addEdges(accessesSince, node);
  lastWriter = node;
  accessesSince.clear();
  writersSince.clear();
  readersOfAnythingSince.clear();
  buffers.clear();
}

void DependenceTracker::accessResource(unsigned node, mlir::TypeID resource,
                                       bool isWrite) {
  Segment &state = resources[resource];
  if (state.writer)
    graph.addEdge(*state.writer, node);
  if (!isWrite) {
    state.readers.push_back(node);
    return;
  }
  addEdges(state.readers, node);
  state.readers.clear();
  state.writer = node;
}

void WaitOrderTracker::addStart(unsigned node, Operation *op,
                                Attribute messageLane) {
  last = node;
  lastOp = op;
  if (messageLane)
    messages[messageLane] = node;
  else
    others.push_back(node);
}

void WaitOrderTracker::addNestedStart(unsigned node, bool hasMessage) {
  last = node;
  lastOp = nullptr;
  if (hasMessage) {
    messages.clear();
    nestedMessage = node;
  }
  others.assign({node});
  afterOthers.reset();
}

void WaitOrderTracker::addBarrier() {
  last.reset();
  lastOp = nullptr;
  messages.clear();
  nestedMessage.reset();
  others.clear();
  afterOthers.reset();
}

bool WaitOrderTracker::areRanksDivergent() {
  if (!isDivergent)
    isDivergent = !uniformity.areReachedTogether(block);
  return *isDivergent;
}

void WaitOrderTracker::addWait(unsigned node, comm::WaitOp wait) {
  comm::AsyncStartOpInterface awaited = wait.getStart();
  if (!last || (awaited && !isa<comm::CollectiveOpInterface>(*awaited)))
    return;
  // The token says that the wait stands after its start.
  bool awaitsLast = awaited && awaited == lastOp;
  if (!awaitsLast && areRanksDivergent()) {
    graph.addEdge(*last, node);
    return;
  }
  if (nestedMessage)
    graph.addEdge(*nestedMessage, node);
  for (auto &[lane, message] : messages)
    graph.addEdge(message, node);
  if (!mayBeMessage(wait.getToken()))
    return;
  if (afterOthers)
    graph.addEdge(*afterOthers, node);
  for (unsigned start : others)
    graph.addEdge(start, node);
  if (others.size() < maxPending)
    return;
  others.clear();
  afterOthers = node;
}
