//===- DependenceTracker.h - Edges of accesses and waits --------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULEIR_DEPENDENCETRACKER_H
#define BRAID_LIB_SCHEDULEIR_DEPENDENCETRACKER_H

#include "Analysis/Memory/BlockEffects.h"
#include "braid/Analysis/Memory/OpEffects.h"
#include "braid/Analysis/Tokens/RankUniformity.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Schedule/Model/ScheduleGraph.h"

#include "mlir/IR/Attributes.h"
#include "mlir/Support/TypeID.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVector.h"

#include <map>
#include <optional>

namespace braid {

/// Adds the edges between accesses to memory: a write keeps its order relative
/// to every access to the same bytes. Nodes report their accesses in program
/// order. The tracker keeps only bytes that are not overwritten, so the time is
/// nearly linear.
class DependenceTracker {
public:
  explicit DependenceTracker(ScheduleGraph &graph) : graph(graph) {}

  /// `node` reads or writes memory.
  void access(unsigned node, const BlockEffects::Access &access);
  /// `node` reads or writes `resource`, which is no memory.
  void accessResource(unsigned node, mlir::TypeID resource, bool isWrite);

private:
  using Nodes = llvm::SmallVector<unsigned, 2>;
  /// The last accesses to the bytes from the segment's key to its end.
  struct Segment {
    int64_t end = 0;
    std::optional<unsigned> writer;
    Nodes readers;
  };
  using Segments = std::map<int64_t, Segment>;

  /// `node` reads or writes unknown memory.
  void accessAnything(unsigned node, bool isWrite);
  void read(unsigned node, Segments &segments, int64_t begin, int64_t end);
  void write(unsigned node, Segments &segments, int64_t begin, int64_t end);
  /// True if `maxPending` segments or more begin within the range.
  static bool coversMany(const Segments &segments, int64_t begin, int64_t end);
  /// Splits a segment that contains `position` at `position`.
  static void splitAt(Segments &segments, int64_t position);
  void addEdges(const Nodes &from, unsigned to) {
    for (unsigned node : from)
      graph.addEdge(node, to);
  }

  /// Reads of unknown memory conflict with all writes, with one edge for each
  /// pair. If this many accesses are pending, the next read of unknown memory
  /// counts as a write, after which no access is pending. A read of a buffer
  /// with this many separately accessed segments also counts as a write. So the
  /// number of edges stays linear.
  static constexpr size_t maxPending = 64;

  ScheduleGraph &graph;
  llvm::DenseMap<unsigned, Segments> buffers;
  /// The last write of unknown memory, and the accesses after it.
  std::optional<unsigned> lastWriter;
  Nodes accessesSince, writersSince, readersOfAnythingSince;
  llvm::DenseMap<mlir::TypeID, Segment> resources;
};

/// Adds the edges that keep waits after starts which other ranks may need: a
/// rank that waits earlier than the program says may block before it starts
/// what another rank waits for.
///
/// - Where ranks may take different paths, each wait stays after all starts
///   before it. Starts keep their order there.
/// - In one text, each wait stays after the messages before it, and each wait
///   for a message after all starts before it: two ranks may exchange messages
///   in different ops of the text.
///
/// A kernel on a side stream needs no other rank. Nodes report in program
/// order.
class WaitOrderTracker {
public:
  WaitOrderTracker(ScheduleGraph &graph, mlir::Block &block,
                   RankUniformity &uniformity)
      : graph(graph), block(block), uniformity(uniformity) {}

  /// `node` starts a collective, or a message of `messageLane`.
  void addStart(unsigned node, mlir::Operation *op,
                mlir::Attribute messageLane);
  /// `node` starts operations inside. It is ordered against all starts.
  void addNestedStart(unsigned node, bool hasMessage);
  /// All later nodes follow all earlier ones.
  void addBarrier();
  /// `node` is `wait`.
  void addWait(unsigned node, comm::WaitOp wait);

private:
  bool areRanksDivergent();

  /// So many starts without an edge from one to the other keep each wait for a
  /// message in its place; more are kept by the next such wait alone, which the
  /// later ones then follow. So the number of edges stays linear.
  static constexpr size_t maxPending = 64;

  ScheduleGraph &graph;
  mlir::Block &block;
  RankUniformity &uniformity;
  /// True if ranks may reach the block in different programs or by different
  /// calls; unknown before a wait needs it.
  std::optional<bool> isDivergent;

  /// The last start.
  std::optional<unsigned> last;
  mlir::Operation *lastOp = nullptr;
  /// The last message of each lane, which keeps its order, and the last op with
  /// messages inside.
  llvm::MapVector<mlir::Attribute, unsigned> messages;
  std::optional<unsigned> nestedMessage;
  /// The starts that are no messages, and what follows the earlier ones.
  llvm::SmallVector<unsigned> others;
  std::optional<unsigned> afterOthers;
};

} // namespace braid

#endif // BRAID_LIB_SCHEDULEIR_DEPENDENCETRACKER_H
