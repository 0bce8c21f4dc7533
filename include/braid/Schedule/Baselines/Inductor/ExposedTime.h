//===- ExposedTime.h - How much of an operation is exposed ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SCHEDULE_BASELINES_INDUCTOR_EXPOSEDTIME_H
#define BRAID_SCHEDULE_BASELINES_INDUCTOR_EXPOSEDTIME_H

#include "braid/Schedule/Baselines/Inductor/MovableOrder.h"
#include "braid/Schedule/Model/ProblemLists.h"

namespace braid {

/// How long an operation takes, and the compute that runs beside it; ns.
struct Exposure {
  double commNs = 0;
  double compNs = 0;
  /// The node where that compute ends; none for the end of the order.
  unsigned stop = MovableOrder::none;

  /// Less than 0 if there is more compute than it needs.
  double getExposedNs() const { return commNs - compNs; }
};

/// The exposed time of operations as PyTorch Inductor's passes see it: an
/// operation is hidden by all compute from its start to the first node that
/// awaits it, or that awaits a later operation of its lane, because that one
/// runs after it. What else shares the lane or the stream is not looked at.
class ExposedTime {
public:
  /// `order`: a legal order of `problem`, which has to outlive this. Costs are
  /// multiplied by `commMult` for starts and `computeMult` for other nodes.
  ExposedTime(const SchedulingProblem &problem, llvm::ArrayRef<unsigned> order,
              double commMult, double computeMult);

  /// The duration of a node, or of the operation that it starts, in whole ns.
  double getRuntime(unsigned node) const { return runtime[node]; }
  bool isStart(unsigned node) const {
    return problem.graph[node].kind == NodeKind::Start;
  }
  /// The nodes that await `start`.
  llvm::ArrayRef<unsigned> getAwaiters(unsigned start) const {
    return awaits.awaiters[start];
  }

  /// The place of `node` in the order given to the constructor, and the compute
  /// before it.
  unsigned getPosition(unsigned node) const { return position[node]; }
  double getComputeBefore(unsigned node) const {
    return computeBefore[position[node]];
  }
  /// The exposure of `start` in that order; constant time.
  Exposure getInitialExposure(unsigned start) const;

  /// The exposure of `start` in `order`, by walking through it from `start`;
  /// adds the nodes passed to `numSteps`.
  Exposure measure(unsigned start, const MovableOrder &order,
                   uint64_t &numSteps);

private:
  const SchedulingProblem &problem;
  AwaitLists awaits;
  std::vector<double> runtime;
  std::vector<unsigned> initialOrder, position;
  /// By position; one more than there are nodes.
  std::vector<double> computeBefore;
  /// Of each start: the position where it ends to be hidden.
  std::vector<unsigned> initialStop;
  /// The walk in which each start was passed.
  std::vector<unsigned> passedIn;
  unsigned walk = 0;
};

} // namespace braid

#endif // BRAID_SCHEDULE_BASELINES_INDUCTOR_EXPOSEDTIME_H
