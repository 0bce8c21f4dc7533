//===- ResourceHeadroom.h - Room beside matmuls -----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_PLANNING_RESOURCEHEADROOM_H
#define BRAID_LIB_SCHEDULE_PLANNING_RESOURCEHEADROOM_H

#include "ChoiceSimulator.h"

#include "llvm/ADT/BitVector.h"

namespace braid {

/// True if, in any order, all matmuls leave room for the kernels on few
/// multiprocessors that `choice` gives to collectives. Without room the two
/// slow each other down by more than the model predicts: a symmetric kernel on
/// 4 blocks took 1.7 times as long beside matmuls on all multiprocessors of an
/// H200, and 1.2 times beside matmuls on 128 of 132; a matmul took 1.43 times
/// as long beside a kernel on 8. Copy engines begin with a kernel of a few
/// blocks. In a replayed graph, a matmul that awaits one gather begins before
/// the next gather, which then waits for the matmul's end: 1.94 ms instead of
/// 1.61 for eight layers.
bool leavesHeadroom(const MachineModel &machine,
                    llvm::ArrayRef<OpClass> opClasses,
                    llvm::ArrayRef<unsigned> choice);

/// Which operations may run beside an op in some order of a problem: all but
/// those that it waits for and those that wait for it.
class ConcurrentOps {
public:
  /// O(nodes and edges * starts / 64). In the body of a loop operations may be
  /// in flight from one iteration to the next, so that all may run beside all;
  /// so it is said of problems for which the table would take too long.
  explicit ConcurrentOps(const SchedulingProblem &problem);

  /// True if some operation may run beside `node`.
  bool hasAny(unsigned node) const;
  /// True if each matmul leaves room (`leavesHeadroom`) for the kernels that
  /// may run beside it.
  bool leavesHeadroom(llvm::ArrayRef<OpClass> opClasses,
                      llvm::ArrayRef<unsigned> choice) const;

private:
  const SchedulingProblem &problem;
  /// The places of starts among those of the graph, by node.
  std::vector<unsigned> numbers;
  /// By node, the starts that never run beside it; empty if that is not known.
  std::vector<llvm::BitVector> apart;
};

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_PLANNING_RESOURCEHEADROOM_H
