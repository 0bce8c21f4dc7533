//===- LayeredGraphs.h - Scheduling problems by generators ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Small random problems and the training steps of transformers, as tracers
// write them: every collective is awaited where it stands. For tests and
// benchmarks; needs no IR.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TEST_UNIT_TESTPROBLEMS_LAYEREDGRAPHS_H
#define BRAID_TEST_UNIT_TESTPROBLEMS_LAYEREDGRAPHS_H

#include "braid/Schedule/Model/SchedulingProblem.h"

#include <random>
#include <string>

namespace braid::test {

/// Writes a problem node by node. Values are the nodes that make them; each has
/// a buffer, which lives until its last user.
class ProblemWriter {
public:
  /// Work on the stream; returns its value.
  unsigned compute(int64_t costNs, llvm::ArrayRef<unsigned> inputs,
                   int64_t bytes, bool escapes = false);
  /// Starts a collective on `lane`; its inputs are held until it is awaited.
  unsigned start(unsigned lane, int64_t costNs, llvm::ArrayRef<unsigned> inputs,
                 int64_t bytes);
  /// Awaits it; returns its value.
  unsigned wait(unsigned start, bool escapes = false);
  /// Starts and awaits it at once.
  unsigned collective(unsigned lane, int64_t costNs,
                      llvm::ArrayRef<unsigned> inputs, int64_t bytes,
                      bool escapes = false) {
    return wait(start(lane, costNs, inputs, bytes), escapes);
  }
  /// The problem that was written.
  SchedulingProblem finish();

  unsigned size() const { return problem.graph.size(); }

private:
  unsigned add(const ScheduleNode &node, llvm::ArrayRef<unsigned> inputs);

  SchedulingProblem problem;
  std::vector<std::pair<unsigned, unsigned>> edges;
  /// Of each node: its buffer, and those that a start's wait has to hold.
  std::vector<unsigned> bufferOf;
  std::vector<std::vector<unsigned>> heldBy;
};

/// The shapes of small problems.
enum class SmallShape {
  Random,
  Chains,
  FanOut,
  FullySharded,
  DataParallel,
  TensorParallel,
  MixtureOfExperts
};
constexpr unsigned numSmallShapes = 7;
const char *stringifySmallShape(SmallShape shape);

/// A problem of at most `maxNodes` nodes that depends on `shape` and `seed`
/// alone.
SchedulingProblem makeSmallProblem(SmallShape shape, uint64_t seed,
                                   unsigned maxNodes = 16);

/// The same; the shape depends on `seed` as well.
SchedulingProblem makeSmallProblem(uint64_t seed, unsigned maxNodes);

/// How a transformer is trained.
enum class Parallelism {
  /// Weights are sharded: gathered before each layer in both directions,
  /// gradients are reduced and scattered after it.
  FullySharded,
  /// Gradients are reduced layer by layer in the backward pass.
  DataParallel,
  /// Sharded inside of a node and replicated across nodes, each on a
  /// communicator of its own: gradients are reduced and scattered, then reduced
  /// over the nodes.
  HybridSharded,
  /// Attention and MLP end in an all-reduce each, in both directions.
  TensorParallel,
  /// The same with all-gather and reduce-scatter around each of them.
  SequenceParallel,
  /// Tokens are dispatched to experts and combined in each layer.
  MixtureOfExperts,
  /// Activations come from and go to neighbours, all forward and then all
  /// backward, as one middle stage sees it.
  Pipeline
};
constexpr unsigned numParallelisms = 7;
const char *stringifyParallelism(Parallelism parallelism);

/// A training step.
struct StepOptions {
  Parallelism parallelism = Parallelism::FullySharded;
  unsigned numLayers = 64;
  /// Written one after the other.
  unsigned numMicroBatches = 1;
  /// What communication takes, in percent of the compute that it is meant to
  /// hide behind.
  unsigned communicationPercent = 60;
  /// Each cost is changed by up to so many percent, at random.
  unsigned variationPercent = 0;
  uint64_t seed = 0;
};
SchedulingProblem makeTrainingStep(const StepOptions &options);

/// Puts a training step on a GPU whose ops slow each other down: its compute
/// runs in waves of thread blocks of about 10 us or, if it is shorter, as fast
/// as its memory; operations hold some multiprocessors and take some of the
/// memory.
void shareGpu(SchedulingProblem &step);

/// How a measured GPU runs the communication of a step.
enum class MeasuredLanes {
  /// As NCCL does by itself, beside matmuls on all multiprocessors.
  Kernels,
  /// Kernels of few blocks, beside matmuls that leave room for them.
  FewBlocks,
  CopyEngines
};
constexpr unsigned numMeasuredLanes = 3;
const char *stringifyMeasuredLanes(MeasuredLanes lanes);

/// Puts a step on a GPU as the shipped profile of H100s has measured it: ops
/// queue for multiprocessors and interfere.
void shareMeasuredGpu(SchedulingProblem &step, MeasuredLanes lanes);

/// A long random program: one node in twenty starts a collective, on one of
/// three lanes, that is awaited where it stands; the others use recent values.
SchedulingProblem makeLongProgram(unsigned numNodes, uint64_t seed);

} // namespace braid::test

#endif // BRAID_TEST_UNIT_TESTPROBLEMS_LAYEREDGRAPHS_H
