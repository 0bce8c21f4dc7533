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

/// What a block takes.
struct BlockPrediction {
  /// The makespan of the best order and plan that were found.
  int64_t makespanNs = 0;
  /// The time of all collectives, each alone with its launch.
  int64_t collectiveNs = 0;
  /// The most bytes that live at once.
  int64_t peakBytes = 0;
  /// The work of the compute stream, each op as it takes the least time: no
  /// rewrite of collectives makes the block shorter.
  int64_t computeNs = 0;
};

/// True if `found` is shorter than `present` by the fraction `minGain`, or
/// neither longer nor larger, with less time of collectives: what a collective
/// costs the streams around it is not in the makespan.
bool isBetter(const BlockPrediction &found, const BlockPrediction &present,
              double minGain);

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
/// may be chosen if what `predict` gives for them is better (`isBetter`) than
/// what it gives without launches. Of those whose
/// makespan is the shortest, but for less than the least gain, those with the
/// least time of collectives are the best. The best ones are predicted once
/// more, finally, and may then be longer than the program by less than the
/// least gain, and longer than the shortest ones by one percent. `limits` gives
/// the number of keys, and what does not depend on bytes; `predict` gets
/// launches and whether the prediction is final. Fails where `predict` fails.
llvm::FailureOr<LaunchGroups> chooseLaunches(
    const ScheduleGraph &graph, llvm::ArrayRef<LaunchItem> items,
    const LaunchLimits &limits, const LaunchChoiceOptions &options,
    llvm::function_ref<llvm::FailureOr<BlockPrediction>(const LaunchGroups &,
                                                        bool)>
        predict);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_PLANNING_LAUNCHCHOICE_H
