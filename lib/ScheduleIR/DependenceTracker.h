//===- DependenceTracker.h - Edges from accesses ---------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULEIR_DEPENDENCETRACKER_H
#define BRAID_LIB_SCHEDULEIR_DEPENDENCETRACKER_H

#include "Analysis/BufferRange.h"
#include "braid/Schedule/Model/ScheduleGraph.h"

#include "mlir/Support/TypeID.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <map>
#include <optional>

namespace braid {

/// Adds the edges that accesses to memory call for: a write stays where it is
/// relative to every access to the same bytes. Nodes report their accesses in
/// program order. Near-linear: only what was not yet overwritten is kept.
class DependenceTracker {
public:
  explicit DependenceTracker(ScheduleGraph &graph) : graph(graph) {}

  /// `node` reads or writes `range`.
  void access(unsigned node, const BufferRange &range, bool isWrite);
  /// `node` reads or writes memory that may be any.
  void accessAnything(unsigned node, bool isWrite);
  /// `node` reads or writes `resource`, which is no memory.
  void accessResource(unsigned node, mlir::TypeID resource, bool isWrite);

private:
  using Nodes = llvm::SmallVector<unsigned, 2>;
  /// What happened last to the bytes from the segment's key to its end.
  struct Segment {
    int64_t end = 0;
    std::optional<unsigned> writer;
    Nodes readers;
  };
  using Segments = std::map<int64_t, Segment>;

  void read(unsigned node, Segments &segments, int64_t begin, int64_t end);
  void write(unsigned node, Segments &segments, int64_t begin, int64_t end);
  /// True if `maxPending` segments or more begin within the range.
  static bool coversMany(const Segments &segments, int64_t begin, int64_t end);
  /// Makes `position` a border if it lies within a segment.
  static void splitAt(Segments &segments, int64_t position);
  void addEdges(const Nodes &from, unsigned to) {
    for (unsigned node : from)
      graph.addEdge(node, to);
  }

  /// Reads of anything conflict with writes of something, one edge for each
  /// pair. Once so many are pending, the next read of anything counts as a
  /// write, after which nothing is pending; and so does a read of a buffer of
  /// which so many pieces were accessed one by one. So the edges stay linear.
  static constexpr size_t maxPending = 64;

  ScheduleGraph &graph;
  llvm::DenseMap<unsigned, Segments> buffers;
  /// The last write of anything, and what came after it.
  std::optional<unsigned> lastWriter;
  Nodes accessesSince, writersSince, readersOfAnythingSince;
  llvm::DenseMap<mlir::TypeID, Segment> resources;
};

} // namespace braid

#endif // BRAID_LIB_SCHEDULEIR_DEPENDENCETRACKER_H
