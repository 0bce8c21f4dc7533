//===- LowerBound.h - What no order can go below ----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bounds from below on the makespan of every order that a problem allows, so
// that a schedule can say how far it is from the best one at most. Valid on
// machines with launch gaps and contention. It knows nothing of IR.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SCHEDULE_BOUNDS_LOWERBOUND_H
#define BRAID_SCHEDULE_BOUNDS_LOWERBOUND_H

#include "braid/Schedule/Model/SchedulingProblem.h"
#include "llvm/ADT/StringRef.h"

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

namespace braid {

/// Why no order can be faster; the simplest reasons first.
enum class LowerBoundKind : uint8_t {
  /// The longest chain of dependences.
  CriticalPath,
  /// All work of the compute stream, launch gaps included.
  Stream,
  /// All work of one lane.
  Lane,
  /// All bytes over one link.
  Link,
  /// All bytes of device memory.
  Memory,
  /// A chain of dependences, together with what a resource has to do before it
  /// or after it.
  Path,
  /// A part of the work of the stream, what has to come before all of it (head)
  /// and what has to come after all of it (tail).
  StreamHeadTail,
  LaneHeadTail,
  LinkHeadTail,
  MemoryHeadTail,
  /// The stream runs out of work, because what a lane can have brought by then,
  /// whatever its order, does not make enough of it available.
  Availability,
  /// Two chains take turns on the stream and on lanes, and whenever the stream
  /// has to wait for both, too little else is there to do.
  TwoJobs,
  /// Communication that runs beside compute slows it down, and what does not
  /// run beside compute is exposed: the cheapest mix.
  Contention,
  /// Of the body of a loop: a cycle of dependences through the next iteration.
  Cycle,
};
constexpr size_t numLowerBoundKinds = size_t(LowerBoundKind::Cycle) + 1;

/// What a report calls it: "critical path".
llvm::StringRef stringifyLowerBoundKind(LowerBoundKind kind);

/// A bound of every kind, in ns; 0 where there is nothing to say.
struct LowerBounds {
  std::array<int64_t, numLowerBoundKinds> ns = {};
  /// The lane and the link with the most to do; -1 if there is none.
  int32_t lane = -1;
  int32_t link = -1;

  int64_t get(LowerBoundKind kind) const { return ns[size_t(kind)]; }
  /// The best of them.
  int64_t best() const;
  /// The simplest kind that is as good as the best.
  LowerBoundKind bestKind() const;
};

/// The bounds that take more than sums over nodes. Each can be left out, to
/// measure what it is worth.
struct LowerBoundParts {
  /// Heads and tails that count what a resource does before them.
  bool refinedHeads = true;
  bool headTail = true;
  bool knapsack = true;
  bool twoJobs = true;
  /// The Lagrangian relaxation of contention.
  bool multipliers = true;
  /// Small graphs with contention: a search of all orders.
  bool states = true;
};

/// How much time bounds may take.
enum class LowerBoundEffort : uint8_t {
  /// The bounds that are found in one go.
  Quick,
  /// All bounds. Small budgets choose the multiplier of contention.
  Normal,
  /// All bounds with their whole budgets.
  Full
};

/// Finds lower bounds for all allowed orders of a problem. A caller may ask for
/// the quick bounds first, and for all bounds once an order is known: what both
/// need is computed once.
class LowerBoundFinder {
public:
  /// `problem` has to outlive this and may not change.
  explicit LowerBoundFinder(const SchedulingProblem &problem,
                            const LowerBoundParts &parts = {});
  ~LowerBoundFinder();

  /// See `computeLowerBounds`, which gives the same.
  LowerBounds find(int64_t knownNs = std::numeric_limits<int64_t>::max(),
                   LowerBoundEffort effort = LowerBoundEffort::Full);

private:
  class GraphBounds;

  int64_t findContentionBound(int64_t knownNs, LowerBoundEffort effort) const;

  const SchedulingProblem &problem;
  LowerBoundParts parts;
  std::unique_ptr<GraphBounds> graphBounds;
  std::optional<LowerBounds> quickBounds;
};

/// What no allowed order of `problem` can go below: its makespan in the
/// simulator, or its period if it is the body of a loop with operations in
/// flight across the back edge (`LoopSimulator.h`). Depends on no order, and on
/// that of the program only if the starts have to keep it. Limits on memory and
/// on operations in flight are not used. `knownNs` is what some order takes:
/// orders that take as long or longer are of no interest, which makes some
/// bounds faster, and those that it makes stronger stop there.
///
/// Takes time nearly linear in nodes and edges. docs/design/bounds.md has
/// the formulas and their sources.
LowerBounds
computeLowerBounds(const SchedulingProblem &problem,
                   int64_t knownNs = std::numeric_limits<int64_t>::max(),
                   LowerBoundEffort effort = LowerBoundEffort::Full,
                   const LowerBoundParts &parts = {});

/// The gap of a makespan above the lower bound: 0.05 is 5 %. None if the bound
/// is 0, which says nothing.
std::optional<double> getGap(int64_t makespanNs, int64_t lowerBoundNs);

} // namespace braid

#endif // BRAID_SCHEDULE_BOUNDS_LOWERBOUND_H
