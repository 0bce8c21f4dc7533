//===- ScheduleGraph.h - What may be reordered in a block -------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The graph that scheduling algorithms work on. It knows nothing of IR: nodes
// are numbers in program order, and an order is a permutation of them.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SCHEDULE_MODEL_SCHEDULEGRAPH_H
#define BRAID_SCHEDULE_MODEL_SCHEDULEGRAPH_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace braid {

/// What a node is to the algorithms.
enum class NodeKind : uint8_t {
  /// Work on the compute stream, free to move within its edges.
  Compute,
  /// Starts an operation that runs beside the compute stream.
  Start,
  /// Holds the compute stream until an operation has ended.
  Wait,
  /// Side effects that are unknown, or that are no accesses to buffers, or
  /// communication inside. Its edges say what it is ordered against; it is
  /// never used to fill a gap.
  Opaque
};

/// The name of a kind in lower case, for messages.
llvm::StringRef stringifyNodeKind(NodeKind kind);

/// One schedulable unit.
struct ScheduleNode {
  NodeKind kind = NodeKind::Compute;
  /// A send or a receive.
  bool pointToPoint = false;
  /// Of a start: what orders it with others; operations of one lane run one
  /// after the other. Lanes are numbered in the order of their first starts.
  /// -1 for nodes that are no starts.
  int32_t lane = -1;
  /// Estimated duration in ns, at least 0. Of a start: of the operation that it
  /// starts. Waits have none.
  int64_t cost = 0;
  /// Bytes of the tensors that the node computes, or that its tokens stand for,
  /// and of the allocations that it is the first to use; dynamic sizes count as
  /// 1.
  int64_t bytes = 0;
};

/// A permutation of the nodes of a graph.
using ScheduleOrder = std::vector<unsigned>;

/// A directed acyclic graph whose nodes are numbered in program order: every
/// edge leads from a lower to a higher number, so that the program order is an
/// order of the graph. Immutable once `finalize` was called.
class ScheduleGraph {
public:
  /// Makes room for so many nodes, and for edges as most programs have them.
  void reserve(size_t numNodes);

  /// Appends a node and returns its number.
  unsigned addNode(const ScheduleNode &node);

  /// Says that `to` has to stay after `from`; `from` must be the lower number.
  /// The same edge may be added several times. `from == to` is ignored.
  void addEdge(unsigned from, unsigned to);

  /// Changes the nanoseconds that a node takes.
  void setCost(unsigned node, int64_t costNs) { nodes[node].cost = costNs; }

  /// Puts the operation of `start` on another lane.
  void setLane(unsigned start, int32_t lane) { nodes[start].lane = lane; }

  /// Ends the construction: linear in nodes and edges, as long as the edges of
  /// a node were mostly added in ascending order. To be called once.
  void finalize();

  unsigned size() const { return nodes.size(); }
  const ScheduleNode &operator[](unsigned index) const { return nodes[index]; }

  /// The nodes that have to stay before `index`, in program order.
  llvm::ArrayRef<unsigned> predecessors(unsigned index) const {
    return slice(predecessorList, predecessorBegin, index);
  }
  /// The nodes that have to stay after `index`, in program order.
  llvm::ArrayRef<unsigned> successors(unsigned index) const {
    return slice(successorList, successorBegin, index);
  }
  /// True if `to` was said to stay after `from`; takes the logarithm of the
  /// number of `from`'s successors.
  bool hasEdge(unsigned from, unsigned to) const;

  /// The starts, in program order.
  llvm::ArrayRef<unsigned> starts() const { return startList; }

  /// Number of distinct edges.
  size_t numEdges() const { return successorList.size(); }

private:
  static llvm::ArrayRef<unsigned> slice(const std::vector<unsigned> &list,
                                        const std::vector<unsigned> &begin,
                                        unsigned index) {
    return llvm::ArrayRef<unsigned>(list).slice(begin[index], begin[index + 1] -
                                                                  begin[index]);
  }

  std::vector<ScheduleNode> nodes;
  /// Edges as they were added; empty once finalized.
  std::vector<std::pair<unsigned, unsigned>> pending;
  std::vector<unsigned> predecessorList, successorList;
  std::vector<unsigned> predecessorBegin, successorBegin;
  std::vector<unsigned> startList;
};

/// The order in which the graph was built.
ScheduleOrder getProgramOrder(const ScheduleGraph &graph);

/// True if `order` is the program order.
bool isProgramOrder(llvm::ArrayRef<unsigned> order);

/// True if `order` names every node once and respects every edge. Otherwise
/// `reason`, if given, gets a sentence that names the nodes at fault.
bool isLegalOrder(const ScheduleGraph &graph, llvm::ArrayRef<unsigned> order,
                  std::string *reason = nullptr);

/// `order`, a legal one, with every wait just before the first node that has to
/// follow it, or at the end; several waits at one place stand as in `order`,
/// and nothing else moves. Linear in nodes and edges; idempotent.
ScheduleOrder sinkWaitsIn(const ScheduleGraph &graph,
                          llvm::ArrayRef<unsigned> order);

/// The same of the program order: `sink_waits` of PyTorch Inductor.
ScheduleOrder sinkWaits(const ScheduleGraph &graph);

/// True if the starts stand in `order` as they stand in the program.
bool keepsOrderOfStarts(const ScheduleGraph &graph,
                        llvm::ArrayRef<unsigned> order);

} // namespace braid

#endif // BRAID_SCHEDULE_MODEL_SCHEDULEGRAPH_H
