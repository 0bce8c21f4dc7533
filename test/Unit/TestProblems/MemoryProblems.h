//===- MemoryProblems.h - Problems with memory, for tests -------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TEST_UNIT_TESTPROBLEMS_MEMORYPROBLEMS_H
#define BRAID_TEST_UNIT_TESTPROBLEMS_MEMORYPROBLEMS_H

#include "GraphTestUtils.h"

#include "braid/Schedule/Baselines/Inductor/IterativeOverlap.h"
#include "braid/Schedule/Baselines/ListSchedule.h"

namespace braid::test {

/// A problem whose nodes have names.
struct NamedProblem {
  SchedulingProblem problem;
  std::vector<std::string> names;

  std::string print(llvm::ArrayRef<unsigned> order) const;
  unsigned get(llvm::StringRef name) const;
};

/// Parses a program in the notation of `parseGraph`, where a node awaits the
/// starts that it uses. `buffers` names the users of each buffer after its
/// bytes, as in `100 mm1 ar w, 8! x`; with `!` the buffer outlives the block.
NamedProblem parseProblem(llvm::StringRef program,
                          llvm::StringRef buffers = "");

/// The graph of `makeRandomGraph`, with buffers, some of them shared by nodes
/// that do not depend on each other, and compute that awaits something.
SchedulingProblem makeMemoryProblem(uint64_t seed,
                                    const RandomGraphOptions &options);

/// The rules of `listSchedule`, `simpleOverlap`, `reorderPreservingPeakMemory`
/// and `sinkWaitsIterative` word by word: what an order means is worked out
/// again at each step. The step limit is left out.
ScheduleOrder listScheduleNaively(const SchedulingProblem &problem,
                                  const ListScheduleOptions &options);
ScheduleOrder simpleOverlapNaively(const SchedulingProblem &problem);
IterativeResult reorderIterativelyNaively(const SchedulingProblem &problem,
                                          const IterativeOptions &options);
IterativeResult sinkIterativelyNaively(const SchedulingProblem &problem,
                                       const IterativeOptions &options);

} // namespace braid::test

#endif // BRAID_TEST_UNIT_TESTPROBLEMS_MEMORYPROBLEMS_H
