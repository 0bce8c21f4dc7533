//===- ExposureReasons.h - Why communication is exposed ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SCHEDULE_SIMULATION_EXPOSUREREASONS_H
#define BRAID_SCHEDULE_SIMULATION_EXPOSUREREASONS_H

#include "braid/Schedule/Model/SchedulingProblem.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>

namespace braid {

/// Why an operation is exposed in an order. "Idle" compute is compute that
/// hides no communication for at least half of its time; it is independent of
/// an operation if neither has to follow the other.
///
/// The first that holds is the reason:
enum class ExposureKind : uint8_t {
  /// Idle independent compute can be moved beside it, with what has to move
  /// along, and the order as a whole gets faster by `gainNs`.
  NotMoved,
  /// The same would exceed `maxMemory` by `excessBytes`.
  MemoryLimit,
  /// The same would have more operations in flight than `maxInFlight`.
  InFlightLimit,
  /// The same would change an order of starts that has to stay; or idle compute
  /// is kept apart from it by nothing but an opaque op, which is named instead.
  OrderConstraint,
  /// At least half of what is exposed is time that it has waited, at the head
  /// of its lane, for multiprocessors that another op held.
  MultiprocessorsHeld,
  /// At least half of what is exposed is time that it has spent behind another
  /// operation on its lane.
  LaneBusy,
  /// There is independent compute, but moving it gains nothing, and the
  /// operation was started as soon as what it depends on had ended.
  DependencyChain,
  /// All compute has to come before it or after it, or hides other
  /// communication; or to move it is no gain.
  NoIndependentCompute,
};

/// What reports call it: "not-moved".
llvm::StringRef stringifyExposureKind(ExposureKind kind);

struct ExposureReason {
  unsigned start;
  int64_t exposedNs;
  ExposureKind kind;
  /// The node that the reason is about: compute that could be moved (NotMoved,
  /// MemoryLimit, InFlightLimit), the start or opaque op that stands in between
  /// (OrderConstraint), the op that held most multiprocessors
  /// (MultiprocessorsHeld), the operation before it on its lane (LaneBusy),
  /// what it had to wait for (DependencyChain); none for NoIndependentCompute.
  std::optional<unsigned> node;
  /// The gain of moving `node`.
  int64_t gainNs = 0;
  int64_t excessBytes = 0;
};

/// The reason of each start with exposed time in `order`, an allowed order of
/// `problem`, in the sequence of the order.
///
/// For each, it looks at the 512 nodes before the start and after what awaits
/// it, and tries the 16 nearest pieces of compute there, the most exposed
/// starts first, until it has simulated some 10 million nodes in all; what it
/// has not tried counts as no gain. So it takes time nearly linear in the
/// graph.
std::vector<ExposureReason> getExposureReasons(const SchedulingProblem &problem,
                                               llvm::ArrayRef<unsigned> order);

/// A sentence without a full stop: "had to wait for @f", where `getName` says
/// what a node is called.
std::string
describeExposureReason(const ExposureReason &reason,
                       llvm::function_ref<std::string(unsigned)> getName);

} // namespace braid

#endif // BRAID_SCHEDULE_SIMULATION_EXPOSUREREASONS_H
