//===- DependenceTracker.cpp - Edges from accesses ------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DependenceTracker.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <iterator>

using namespace braid;

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
