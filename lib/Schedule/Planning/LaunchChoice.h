//===- LaunchChoice.h - Which launches pay ----------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_PLANNING_LAUNCHCHOICE_H
#define BRAID_LIB_SCHEDULE_PLANNING_LAUNCHCHOICE_H

#include "LaunchGroups.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/LogicalResult.h"

namespace braid {

/// What a program takes with launches, in the best order that was found.
struct LaunchPrediction {
  int64_t makespanNs = 0;
  /// The time of all collectives, each alone with its launch.
  int64_t collectiveNs = 0;
  /// The most bytes that live at once.
  int64_t peakBytes = 0;
};

/// What a search for launches may do.
struct LaunchChoiceOptions {
  /// The fraction by which launches have to shorten the program.
  double minGain = 0;
  /// The most predictions.
  size_t maxTrials = 0;
};

/// The most predictions for a program of `numOps`.
size_t getMostLaunchTrials(size_t numOps);

/// Chooses the launches of `items`, first of all keys together, then of each
/// key alone: the bytes at which a launch is full come from a ladder, once of
/// each key those that hold two operations of its mean size. Launches
/// may be chosen if the makespan that `predict` gives for them is shorter than
/// without launches by the least gain, or if it is no longer, they take no more
/// memory, and the collectives themselves take less time. Of those whose
/// makespan is the shortest, but for less than the least gain, those with the
/// least time of collectives are the best. The best ones are predicted once
/// more, finally, and may then be longer than the program by less than the
/// least gain, and longer than the shortest ones by one percent. `limits` gives
/// the number of keys, and what does not depend on bytes; `predict` gets
/// launches and whether the prediction is final. Fails where `predict` fails.
llvm::FailureOr<LaunchGroups> chooseLaunches(
    const ScheduleGraph &graph, llvm::ArrayRef<LaunchItem> items,
    const LaunchLimits &limits, const LaunchChoiceOptions &options,
    llvm::function_ref<llvm::FailureOr<LaunchPrediction>(const LaunchGroups &,
                                                         bool)>
        predict);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_PLANNING_LAUNCHCHOICE_H
