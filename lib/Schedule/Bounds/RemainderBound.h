//===- RemainderBound.h - What is left at least -----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What orders that begin alike need at least from then on, on a machine whose
// ops slow each other down. The clock of LagrangianRelaxation.h starts now: of
// the multipliers those of what is left count, and of the relaxed problem the
// work that is left of the stream and of each lane, and the longest chain.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_BOUNDS_REMAINDERBOUND_H
#define BRAID_LIB_SCHEDULE_BOUNDS_REMAINDERBOUND_H

#include "Schedule/Model/FlatProblem.h"
#include "Schedule/Simulation/ContentionSimulator.h"

#include <vector>

namespace braid {

class RemainderBound {
public:
  /// `flat` has to outlive this.
  explicit RemainderBound(const FlatProblem &flat);

  /// False if nothing is known.
  explicit operator bool() const { return !relaxations.empty(); }
  /// The sums over all nodes that `get` needs of those that are left.
  std::vector<double> getSums() const;
  /// Takes `node`, which was issued, from `sums`.
  void remove(unsigned node, llvm::MutableArrayRef<double> sums) const;
  /// Nanoseconds from now until all nodes but those in `issued`, by bit, and
  /// all that is in flight on `machine` have ended.
  double get(llvm::ArrayRef<uint64_t> issued, llvm::ArrayRef<double> sums,
             const ContentionMachine &machine) const;

private:
  /// By node, in ns.
  struct Relaxation {
    std::vector<double> multipliers, work, tails;
    /// Nodes by the time from their begin to the end of all, descending.
    std::vector<std::pair<double, unsigned>> chains;
  };

  const FlatProblem &flat;
  std::vector<Relaxation> relaxations;
  /// What rounding may hide.
  double roundedNs;
  std::vector<int64_t> costs;
  /// Of each relaxation: the multipliers, the work of the stream, and that of
  /// each lane.
  size_t numSums;
};

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_BOUNDS_REMAINDERBOUND_H
