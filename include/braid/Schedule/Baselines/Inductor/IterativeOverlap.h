//===- IterativeOverlap.h - Overlap under a memory budget -------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two algorithms that move one start or wait after the other, swap by swap,
// with what it drags along, as long as memory stays within a budget, and that
// say of each what held it: `reorder_communication_preserving_peak_memory` and
// `sink_waits_iterative` of PyTorch Inductor.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SCHEDULE_BASELINES_INDUCTOR_ITERATIVEOVERLAP_H
#define BRAID_SCHEDULE_BASELINES_INDUCTOR_ITERATIVEOVERLAP_H

#include "braid/Schedule/Baselines/Inductor/ExposedTime.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace braid {

/// The defaults are those of PyTorch's `config_comms`.
struct IterativeOptions {
  /// Stop where an operation is hidden, and swap nothing that would expose more
  /// than it hides. Without it, costs decide nothing.
  bool useRuntimeEstimations = false;
  /// How far the peak memory may rise, as a fraction of that of the given
  /// order.
  double peakMemoryBudget = 0.2;
  /// Of `reorderPreservingPeakMemory`: a start may pass another one. PyTorch's
  /// default is true; without estimates that only turns their order around.
  bool reorderCollectives = false;
  /// A start may be dragged along.
  bool groupWithCollectives = false;
  /// Of `sinkWaitsIterative`: a wait may pass a start.
  bool swapWithCollectives = false;
  /// What estimates of operations and of compute are multiplied by.
  double commRuntimeMult = 2.0;
  double computeRuntimeMult = 1.0;
  /// An operation counts as hidden if the compute beside it exceeds its
  /// duration by this fraction.
  double extraOverlap = 0.5;
  /// True for nodes that are or may be matmuls, which are not dragged along
  /// without estimates. Empty if there are none.
  std::vector<bool> isMatmul;
};

/// Why a start or a wait did not move further.
struct LimitingFactor {
  enum Kind {
    /// It came to the end of the order.
    None,
    /// The neighbour is a start, and starts keep their order.
    CollectiveOrdering,
    /// `node` has to stay on that side, and may not be dragged along because it
    /// communicates, or because it may be a matmul.
    DataDependency,
    MatmulDependency,
    /// It is hidden.
    Unexposed,
    /// Passing `node` would expose the moved operation, with those of its
    /// group, for `newValue` ns instead of `oldValue`.
    ExposedGroup,
    /// Passing `node` would do so with the operation of `node`.
    ExposedCandidate,
    /// Passing `node` would raise the peak from `oldValue` to `newValue` bytes.
    PeakMemory,
    /// Too many operations would be in flight on a lane.
    InFlight,
    /// There were too many steps in all.
    StepLimit
  };
  Kind kind = None;
  unsigned node = MovableOrder::none;
  /// The node of the group at fault, if another than what moves.
  unsigned member = MovableOrder::none;
  double newValue = 0, oldValue = 0;
};

/// What became of one start, or of one wait.
struct MoveStatistics {
  unsigned node;
  double commNs = 0;
  /// The compute beside the operation, before and after the moves.
  double initialCompNs = 0, finalCompNs = 0;
  unsigned moves = 0;
  /// What it dragged along.
  llvm::SmallVector<unsigned, 2> grouped;
  LimitingFactor limit;
  /// The first compute beside the operation after the moves, whether there
  /// is more, and the node at which it ends.
  llvm::SmallVector<unsigned, 4> overlapped;
  bool hasMoreOverlapped = false;
  unsigned stop = MovableOrder::none;

  double getInitialExposedNs() const { return commNs - initialCompNs; }
  double getFinalExposedNs() const { return commNs - finalCompNs; }
};

struct IterativeResult {
  ScheduleOrder order;
  /// In the order in which they were moved.
  std::vector<MoveStatistics> statistics;
  /// The most bytes that live at once before and after.
  int64_t initialPeakBytes = 0, finalPeakBytes = 0;
};

/// Moves the starts of `order`, an allowed order of the problem, up, the first
/// start first. A node that a start needs is dragged along, if it may be;
/// another one is passed, if
///  - it is no start, or starts may pass each other;
///  - with estimates: what its compute hides of the operation is no less than
///    what it exposes of operations that dragged nodes await, and, if it is a
///    start itself, dragged compute exposes no more of its operation;
///  - at most the peak of `order` and the budget live at once.
/// With estimates, a start stays once it is hidden. To be run after waits were
/// sunk.
///
/// Takes time linear in the buffers and edges of what moves for each step, and
/// at most 100 steps (moves, dragged nodes, and nodes that were looked at to
/// know what is exposed) for each node; deterministic.
IterativeResult reorderPreservingPeakMemory(const SchedulingProblem &problem,
                                            llvm::ArrayRef<unsigned> order,
                                            const IterativeOptions &options);

/// The mirror image: moves waits down, the last wait first. A node that needs
/// the wait is dragged along, if it may be; another wait, or a node that awaits
/// something, never is.
IterativeResult sinkWaitsIterative(const SchedulingProblem &problem,
                                   llvm::ArrayRef<unsigned> order,
                                   const IterativeOptions &options);

/// Prints the table of PyTorch's passes, with times in us; `name` gives the
/// name of a node. `title` heads the first column.
void printStatistics(const IterativeResult &result, llvm::StringRef title,
                     llvm::function_ref<std::string(unsigned)> name,
                     llvm::raw_ostream &os);

} // namespace braid

#endif // BRAID_SCHEDULE_BASELINES_INDUCTOR_ITERATIVEOVERLAP_H
