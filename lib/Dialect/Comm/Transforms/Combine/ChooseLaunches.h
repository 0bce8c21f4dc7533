//===- ChooseLaunches.h - Which launches pay --------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_CHOOSELAUNCHES_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_CHOOSELAUNCHES_H

#include "Dialect/Comm/Transforms/Chunks/RewriteJudge.h"
#include "Schedule/Planning/LaunchGroups.h"

namespace braid::comm {

/// What a search for launches may do.
struct LaunchChoiceOptions {
  /// The fraction by which launches have to shorten the block.
  double minGain = 0;
  /// The most predictions.
  size_t maxTrials = 0;
};

/// The most predictions for a block of `numOps`.
size_t getMostLaunchTrials(size_t numOps);

/// Chooses the launches of `items`, first of all keys together, then of each
/// key alone: the bytes at which a launch is full come from a ladder. Launches
/// may be chosen if the makespan that `predict` gives for them is shorter than
/// without launches by the least gain, or if it is no longer, they take no more
/// memory, and the collectives themselves take less time. Of those whose
/// makespan is the shortest, but for less than the least gain, those with the
/// least time of collectives are the best. `limits` gives the number of keys,
/// and what does not depend on bytes. Fails where `predict` fails.
llvm::FailureOr<LaunchGroups> chooseLaunches(
    const ScheduleGraph &graph, llvm::ArrayRef<LaunchItem> items,
    const LaunchLimits &limits, const LaunchChoiceOptions &options,
    llvm::function_ref<llvm::FailureOr<BlockPrediction>(const LaunchGroups &)>
        predict);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_CHOOSELAUNCHES_H
