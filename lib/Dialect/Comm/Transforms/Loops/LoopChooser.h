//===- LoopChooser.h - Which starts leave their iteration -------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_LOOPCHOOSER_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_LOOPCHOOSER_H

#include "Dialect/Comm/Transforms/Chunks/RewriteJudge.h"
#include "LoopStarts.h"

namespace braid::comm {

/// A start, and what decides whether it moves.
struct Candidate {
  ShiftedStart start;
  /// The time of the operation alone.
  int64_t costNs;
};

/// The starts of a loop that leave their iteration, and what that is worth.
struct LoopChoice {
  llvm::SmallVector<Candidate> starts;
  /// The time of all iterations, and of the moved starts that run outside of
  /// them, as if nothing hid those.
  int64_t totalNs;
  int64_t peakBytes;
};

/// Chooses among the starts of one loop.
class LoopChooser {
public:
  using Predict = llvm::function_ref<llvm::FailureOr<BlockPrediction>(
      llvm::ArrayRef<Candidate>)>;

  /// For a loop of `numIterations`. Of `ahead`, hoisted or prefetched starts,
  /// and of `behind`, delayed ones, those come first that are worth most.
  LoopChooser(llvm::ArrayRef<Candidate> ahead, llvm::ArrayRef<Candidate> behind,
              int64_t numIterations, double minGain, size_t maxTrials,
              Predict predict)
      : ahead(ahead), behind(behind), numIterations(numIterations),
        minGain(minGain), maxTrials(maxTrials), predict(predict) {}

  /// Returns the starts to shift. Otherwise `getReason` says why there are
  /// none.
  llvm::FailureOr<llvm::SmallVector<Candidate>> choose();
  llvm::StringRef getReason() const { return reason; }

private:
  llvm::LogicalResult tryStarts(size_t numAhead, size_t numBehind);

  llvm::ArrayRef<Candidate> ahead, behind;
  int64_t numIterations;
  double minGain;
  size_t maxTrials, numTrials = 0;
  Predict predict;
  /// The times of the loop and of its body as they are.
  int64_t presentNs = 0, presentBodyNs = 0;
  std::optional<LoopChoice> best;
  llvm::StringRef reason;
};

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_LOOPCHOOSER_H
