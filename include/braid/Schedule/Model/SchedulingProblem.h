//===- SchedulingProblem.h - What a schedule is judged by -------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A graph together with all that the simulation of an order of it needs,
// and the limits that an order has to keep. It knows nothing of IR.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SCHEDULE_MODEL_SCHEDULINGPROBLEM_H
#define BRAID_SCHEDULE_MODEL_SCHEDULINGPROBLEM_H

#include "braid/Schedule/Model/Machine.h"
#include "braid/Schedule/Model/ScheduleGraph.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace braid {

/// Memory whose lifetime depends on the order: it is allocated before the first
/// of its users in an order and freed after the last.
struct GraphBuffer {
  int64_t bytes = 0;
  /// It outlives the block.
  bool escapes = false;
  /// The nodes that hold or access it, in program order; at least one.
  llvm::SmallVector<unsigned, 4> users;
};

/// An operation in flight across the back edge of a loop: `waiter` awaits, in
/// each iteration but the first, what `start` has started in the one before.
struct CarriedAwait {
  unsigned waiter;
  unsigned start;
};

/// A graph to be ordered.
struct SchedulingProblem {
  ScheduleGraph graph;

  /// The machine that it runs on.
  MachineModel machine;
  /// What each node takes of it; empty on machines without contention.
  std::vector<ResourceDemand> demands;

  /// For nodes that stand for a body: (node, nanoseconds that no order of the
  /// body can go below). Ascending nodes. Other nodes take their cost.
  std::vector<std::pair<unsigned, int64_t>> leastNs;
  /// (node, bytes that live during the node alone). Ascending nodes.
  std::vector<std::pair<unsigned, int64_t>> transientBytes;

  /// (node, start): the node holds the stream until the start's operation has
  /// ended. Nodes are waits, and compute that awaits something inside of
  /// itself. Ascending, without repetition; each is an edge of the graph, too.
  std::vector<std::pair<unsigned, unsigned>> awaits;
  /// Of the body of a loop.
  std::vector<CarriedAwait> carriedAwaits;

  std::vector<GraphBuffer> buffers;
  /// Bytes that live throughout: arguments.
  int64_t liveBytes = 0;

  /// The starts have to keep the order of the program.
  bool keepOrderOfStarts = false;
  /// The most bytes that may live at once, `liveBytes` included.
  std::optional<int64_t> maxMemory;
  /// The most operations of one lane that may be in flight (started and not
  /// awaited) at once; 0 for no limit.
  unsigned maxInFlight = 0;

  /// Of a node with a body: a lower bound for all orders of the body.
  std::optional<int64_t> getLeastNs(unsigned node) const;
  /// The starts that `node` awaits.
  llvm::SmallVector<unsigned, 2> getAwaitedStarts(unsigned node) const;

  /// The input contract, on which all algorithms rely. The first broken
  /// property is the error, which begins with its name:
  ///  - costs, bytes: none is negative, and waits cost nothing;
  ///  - lanes: starts, and no other nodes, have a lane;
  ///  - demands: none, or one for each node;
  ///  - least times, transient bytes: of ascending nodes, none negative;
  ///  - awaits: ascending pairs of a node that is no start and a start, each
  ///    of them an edge;
  ///  - carried awaits: of nodes and starts;
  ///  - buffers: of at least one user, ascending, with no negative bytes;
  ///  - live bytes, memory limit: not negative.
  /// The graph has to be finalized.
  llvm::Error check() const;

  /// The result contract: whether `order` is a schedule of this problem. The
  /// first broken property is the error, which begins with its name:
  ///  - edges: `order` names each node once and keeps all edges;
  ///  - order of starts: as in the program, if `keepOrderOfStarts`;
  ///  - operations in flight: at most `maxInFlight` on each lane;
  ///  - memory limit: at most `maxMemory` at each node, if `keepsMaxMemory`.
  llvm::Error verify(llvm::ArrayRef<unsigned> order,
                     bool keepsMaxMemory = true) const;
};

/// The buffers that live while the node at `position` of `order` runs, the
/// largest first, to explain a peak. O(users of buffers).
std::vector<unsigned> getLiveBuffers(const SchedulingProblem &problem,
                                     llvm::ArrayRef<unsigned> order,
                                     unsigned position);

/// True if `verify` finds nothing in `order` but a peak above `maxMemory`.
/// Otherwise `reason`, if given, gets the error.
bool isAllowedOrder(const SchedulingProblem &problem,
                    llvm::ArrayRef<unsigned> order,
                    std::string *reason = nullptr);

} // namespace braid

#endif // BRAID_SCHEDULE_MODEL_SCHEDULINGPROBLEM_H
