//===- LoopChooser.cpp - Which starts leave their iteration ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopChooser.h"

#include "braid/Support/Units.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

/// Predicts the loop with the first starts of both kinds moved. Keeps them if
/// the loop becomes shorter than it is, and than with the best ones so far or
/// as short with less memory.
LogicalResult LoopChooser::tryStarts(size_t numAhead, size_t numBehind) {
  SmallVector<Candidate> trial(ahead.take_front(numAhead));
  llvm::append_range(trial, behind.take_front(numBehind));
  if (trial.empty() || numTrials++ >= maxTrials)
    return success();
  FailureOr<BlockPrediction> found = predict(trial);
  if (failed(found))
    return failure();
  int64_t totalNs = multiplyNs(found->makespanNs, numIterations);
  for (const Candidate &candidate : trial)
    totalNs = addNs(totalNs, candidate.costNs);
  if (trial.front().start.shift == StartShift::Hoist) {
    // The first iteration may hide them, for another copy of the body.
    int64_t sharedNs = addNs(
        presentBodyNs,
        multiplyNs(found->makespanNs, std::max<int64_t>(0, numIterations - 1)));
    if (sharedNs < lessGain(totalNs, minGain)) {
      totalNs = sharedNs;
      for (Candidate &candidate : trial)
        candidate.start.shift = StartShift::Share;
    }
  }
  if (totalNs >= lessGain(presentNs, minGain))
    return success();
  if (best) {
    bool isShorter = totalNs < lessGain(best->totalNs, minGain);
    bool isAsShort = lessGain(totalNs, minGain) <= best->totalNs;
    if (!isShorter && !(isAsShort && found->peakBytes < best->peakBytes))
      return success();
  }
  best = LoopChoice{std::move(trial), totalNs, found->peakBytes};
  return success();
}

FailureOr<SmallVector<Candidate>> LoopChooser::choose() {
  FailureOr<BlockPrediction> present = predict({});
  if (failed(present))
    return failure();
  presentNs = multiplyNs(present->makespanNs, numIterations);
  presentBodyNs = present->makespanNs;
  bool hoists =
      !ahead.empty() && ahead.front().start.shift == StartShift::Hoist;
  // All that is left to hide are launches, which graphs make short.
  if (present->computeNs == 0 && !hoists) {
    reason = "nothing in the loop could run beside it";
    return SmallVector<Candidate>();
  }
  if (present->computeNs >= lessGain(present->makespanNs, minGain)) {
    reason = "nothing of the loop is exposed";
    return SmallVector<Candidate>();
  }
  size_t most = std::max(ahead.size(), behind.size());
  if (failed(tryStarts(ahead.size(), behind.size())))
    return failure();
  if (!ahead.empty() && !behind.empty() &&
      (failed(tryStarts(ahead.size(), 0)) ||
       failed(tryStarts(0, behind.size()))))
    return failure();
  // A few may suffice, and they need less memory.
  for (size_t part = 2; part <= most; part *= 2)
    if (failed(tryStarts(ahead.size() / part, 0)) ||
        (!behind.empty() &&
         failed(tryStarts(ahead.size() / part, behind.size() / part))))
      return failure();
  if (best)
    return std::move(best->starts);
  reason = "the loop becomes no shorter, or takes too much memory";
  return SmallVector<Candidate>();
}
