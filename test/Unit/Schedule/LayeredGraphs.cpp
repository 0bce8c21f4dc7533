//===- LayeredGraphs.cpp - Scheduling problems by generators --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayeredGraphs.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>

using namespace braid;
using namespace braid::test;

//===----------------------------------------------------------------------===//
// Writing problems
//===----------------------------------------------------------------------===//

unsigned ProblemWriter::add(const ScheduleNode &node,
                            llvm::ArrayRef<unsigned> inputs) {
  unsigned index = problem.graph.addNode(node);
  for (unsigned input : inputs) {
    edges.emplace_back(input, index);
    problem.buffers[bufferOf[input]].users.push_back(index);
  }
  return index;
}

unsigned ProblemWriter::compute(int64_t costNs, llvm::ArrayRef<unsigned> inputs,
                                int64_t bytes, bool escapes) {
  ScheduleNode node;
  node.cost = costNs;
  node.bytes = bytes;
  unsigned index = add(node, inputs);
  bufferOf.push_back(problem.buffers.size());
  heldBy.emplace_back();
  problem.buffers.push_back({bytes, escapes, {index}});
  return index;
}

unsigned ProblemWriter::start(unsigned lane, int64_t costNs,
                              llvm::ArrayRef<unsigned> inputs, int64_t bytes) {
  ScheduleNode node;
  node.kind = NodeKind::Start;
  node.lane = lane;
  node.cost = costNs;
  node.bytes = bytes;
  unsigned index = add(node, inputs);
  std::vector<unsigned> held;
  for (unsigned input : inputs)
    held.push_back(bufferOf[input]);
  bufferOf.push_back(problem.buffers.size());
  heldBy.push_back(std::move(held));
  problem.buffers.push_back({bytes, false, {index}});
  return index;
}

unsigned ProblemWriter::wait(unsigned start, bool escapes) {
  ScheduleNode node;
  node.kind = NodeKind::Wait;
  unsigned index = problem.graph.addNode(node);
  edges.emplace_back(start, index);
  problem.awaits.emplace_back(index, start);
  for (unsigned buffer : heldBy[start])
    problem.buffers[buffer].users.push_back(index);
  GraphBuffer &result = problem.buffers[bufferOf[start]];
  result.users.push_back(index);
  result.escapes |= escapes;
  bufferOf.push_back(bufferOf[start]);
  heldBy.emplace_back();
  return index;
}

SchedulingProblem ProblemWriter::finish() {
  for (auto [from, to] : edges)
    problem.graph.addEdge(from, to);
  problem.graph.finalize();
  return std::move(problem);
}

//===----------------------------------------------------------------------===//
// Small problems
//===----------------------------------------------------------------------===//

const char *test::stringifySmallShape(SmallShape shape) {
  switch (shape) {
  case SmallShape::Random:
    return "random";
  case SmallShape::Chains:
    return "chains";
  case SmallShape::FanOut:
    return "fan-out";
  case SmallShape::FullySharded:
    return "fully sharded";
  case SmallShape::DataParallel:
    return "data parallel";
  case SmallShape::TensorParallel:
    return "tensor parallel";
  case SmallShape::MixtureOfExperts:
    return "mixture of experts";
  }
  llvm_unreachable("unknown shape");
}

namespace {
/// Writes one small problem with random costs and sizes.
class SmallWriter {
public:
  SmallWriter(uint64_t seed, unsigned maxNodes)
      : engine(seed * 7919 + 13), maxNodes(maxNodes) {}

  SchedulingProblem write(SmallShape shape);

private:
  uint64_t below(uint64_t bound) { return engine() % bound; }
  int64_t cost() { return 1 + below(40); }
  int64_t bytes() { return 1 + below(20); }
  bool hasRoom(unsigned count) const {
    return writer.size() + count <= maxNodes;
  }
  unsigned compute(llvm::ArrayRef<unsigned> inputs) {
    return writer.compute(cost(), inputs, bytes());
  }
  unsigned collective(unsigned lane, llvm::ArrayRef<unsigned> inputs) {
    return writer.collective(lane, 2 * cost(), inputs, bytes());
  }

  void writeRandom();
  void writeChains();
  void writeFanOut();
  void writeFullySharded();
  void writeDataParallel();
  void writeTensorParallel(bool withExperts);

  std::mt19937_64 engine;
  unsigned maxNodes;
  ProblemWriter writer;
};
} // namespace

void SmallWriter::writeRandom() {
  std::vector<unsigned> values;
  std::vector<unsigned> inFlight;
  auto pick = [&](unsigned most) {
    std::vector<unsigned> inputs;
    if (!values.empty())
      for (uint64_t i = 0, count = below(most + 1); i != count; ++i)
        if (unsigned value = values[below(values.size())];
            !llvm::is_contained(inputs, value))
          inputs.push_back(value);
    return inputs;
  };
  while (hasRoom(1 + inFlight.size())) {
    uint64_t kind = below(4);
    if (kind == 0 && hasRoom(2 + inFlight.size())) {
      inFlight.push_back(writer.start(below(2), 2 * cost(), pick(1), bytes()));
    } else if (kind == 1 && !inFlight.empty()) {
      size_t which = below(inFlight.size());
      values.push_back(writer.wait(inFlight[which]));
      inFlight.erase(inFlight.begin() + which);
    } else {
      values.push_back(compute(pick(2)));
    }
  }
  for (unsigned start : inFlight)
    writer.wait(start);
}

void SmallWriter::writeChains() {
  unsigned numChains = 2 + below(2);
  std::vector<unsigned> last;
  for (unsigned i = 0; i != numChains; ++i)
    last.push_back(compute({}));
  while (hasRoom(3))
    for (unsigned &value : last) {
      if (hasRoom(2) && below(2))
        value = collective(below(2), value);
      else if (hasRoom(1))
        value = compute(value);
    }
}

void SmallWriter::writeFanOut() {
  unsigned root = compute({});
  std::vector<unsigned> leaves;
  while (hasRoom(4)) {
    unsigned value = below(3) ? collective(below(2), root) : compute(root);
    leaves.push_back(below(2) ? compute(value) : value);
  }
  compute(leaves);
}

void SmallWriter::writeFullySharded() {
  unsigned value = compute({});
  while (hasRoom(4)) {
    unsigned weight = collective(0, {});
    value = compute({value, weight});
    if (hasRoom(4) && below(2))
      collective(0, compute({value}));
  }
  if (hasRoom(1))
    compute(value);
}

void SmallWriter::writeDataParallel() {
  unsigned gradient = compute({});
  std::vector<unsigned> reduced;
  while (hasRoom(5)) {
    reduced.push_back(collective(0, compute(gradient)));
    gradient = compute(gradient);
  }
  if (hasRoom(1))
    compute(reduced);
}

void SmallWriter::writeTensorParallel(bool withExperts) {
  // Two micro-batches, one after the other.
  unsigned half = maxNodes / 2;
  for (unsigned batch = 0; batch != 2; ++batch) {
    unsigned value = compute({});
    while (writer.size() + 3 <= (batch + 1) * half) {
      if (withExperts && writer.size() + 5 <= (batch + 1) * half) {
        unsigned tokens = collective(0, value);
        value = collective(below(2), compute(tokens));
      } else {
        value = compute(collective(0, value));
      }
    }
  }
}

SchedulingProblem SmallWriter::write(SmallShape shape) {
  switch (shape) {
  case SmallShape::Random:
    writeRandom();
    break;
  case SmallShape::Chains:
    writeChains();
    break;
  case SmallShape::FanOut:
    writeFanOut();
    break;
  case SmallShape::FullySharded:
    writeFullySharded();
    break;
  case SmallShape::DataParallel:
    writeDataParallel();
    break;
  case SmallShape::TensorParallel:
    writeTensorParallel(/*withExperts=*/false);
    break;
  case SmallShape::MixtureOfExperts:
    writeTensorParallel(/*withExperts=*/true);
    break;
  }
  return writer.finish();
}

SchedulingProblem test::makeSmallProblem(SmallShape shape, uint64_t seed,
                                         unsigned maxNodes) {
  return SmallWriter(seed * numSmallShapes + unsigned(shape), maxNodes)
      .write(shape);
}

//===----------------------------------------------------------------------===//
// Training steps
//===----------------------------------------------------------------------===//

const char *test::stringifyParallelism(Parallelism parallelism) {
  switch (parallelism) {
  case Parallelism::FullySharded:
    return "fully sharded";
  case Parallelism::DataParallel:
    return "data parallel";
  case Parallelism::HybridSharded:
    return "sharded, replicated";
  case Parallelism::TensorParallel:
    return "tensor parallel";
  case Parallelism::SequenceParallel:
    return "sequence parallel";
  case Parallelism::MixtureOfExperts:
    return "mixture of experts";
  case Parallelism::Pipeline:
    return "pipeline";
  }
  llvm_unreachable("unknown parallelism");
}

namespace {
/// Writes one training step. A layer is attention and MLP; times are those of a
/// large model on a recent GPU, 100 us of compute a layer forward.
class StepWriter {
public:
  explicit StepWriter(const StepOptions &options)
      : options(options), engine(options.seed + 1) {}

  SchedulingProblem write();

private:
  static constexpr int64_t attentionNs = 40'000, mlpNs = 60'000;
  static constexpr int64_t activationBytes = 64 << 20, weightBytes = 96 << 20;

  int64_t vary(int64_t costNs) {
    int64_t range = costNs * options.variationPercent / 100;
    return range == 0 ? costNs
                      : costNs - range + int64_t(engine() % (2 * range + 1));
  }
  unsigned compute(int64_t costNs, llvm::ArrayRef<unsigned> inputs,
                   int64_t bytes = activationBytes) {
    return writer.compute(vary(costNs), inputs, bytes);
  }
  /// A collective that takes its part of the communication that `hiddenNs` of
  /// compute are meant to hide.
  unsigned collective(unsigned lane, int64_t hiddenNs,
                      llvm::ArrayRef<unsigned> inputs,
                      int64_t bytes = activationBytes) {
    int64_t costNs = hiddenNs * options.communicationPercent / 100;
    return writer.collective(lane, vary(costNs), inputs, bytes);
  }
  bool shardsWeights() const {
    return options.parallelism == Parallelism::FullySharded ||
           options.parallelism == Parallelism::HybridSharded;
  }

  /// One block of a layer forward; `costNs` of compute.
  unsigned writeBlock(unsigned value, int64_t costNs,
                      llvm::ArrayRef<unsigned> weight);
  void writeMicroBatch();
  void writeBackwardLayer(unsigned layer, unsigned &gradient,
                          llvm::ArrayRef<unsigned> saved);
  void reduceGradient(unsigned layer, unsigned attention, unsigned mlp);
  void writePipeline();

  StepOptions options;
  std::mt19937_64 engine;
  ProblemWriter writer;
  /// The gradient of each layer, summed up over micro-batches so far; the last
  /// micro-batch reduces it.
  std::vector<std::optional<unsigned>> gradients;
  std::vector<unsigned> reduced;
  bool isLast = false;
};
} // namespace

unsigned StepWriter::writeBlock(unsigned value, int64_t costNs,
                                llvm::ArrayRef<unsigned> weight) {
  std::vector<unsigned> inputs = {value};
  llvm::append_range(inputs, weight);
  switch (options.parallelism) {
  case Parallelism::TensorParallel:
    return collective(0, costNs, compute(costNs, inputs));
  case Parallelism::SequenceParallel:
    inputs.front() = collective(0, costNs / 2, value);
    return collective(0, costNs / 2, compute(costNs, inputs));
  case Parallelism::MixtureOfExperts:
    if (costNs != mlpNs && costNs != 2 * mlpNs)
      return compute(costNs, inputs);
    inputs.front() = collective(0, costNs / 2, value);
    return collective(0, costNs / 2, compute(costNs, inputs));
  default:
    return compute(costNs, inputs);
  }
}

void StepWriter::reduceGradient(unsigned layer, unsigned attention,
                                unsigned mlp) {
  // Sums over micro-batches.
  if (options.numMicroBatches > 1) {
    std::vector<unsigned> inputs = {attention, mlp};
    if (gradients[layer])
      inputs.push_back(*gradients[layer]);
    gradients[layer] = compute(2'000, inputs, weightBytes);
    attention = mlp = *gradients[layer];
  }
  if (!isLast)
    return;
  std::vector<unsigned> inputs = {mlp};
  if (attention != mlp)
    inputs.push_back(attention);
  switch (options.parallelism) {
  case Parallelism::FullySharded:
    reduced.push_back(collective(0, 100'000, inputs, weightBytes / 8));
    break;
  case Parallelism::DataParallel:
    reduced.push_back(collective(0, 300'000, inputs, weightBytes));
    break;
  case Parallelism::HybridSharded: {
    unsigned shard = collective(0, 100'000, inputs, weightBytes / 8);
    reduced.push_back(collective(1, 250'000, shard, weightBytes / 8));
    break;
  }
  default:
    reduced.push_back(mlp);
  }
}

void StepWriter::writeBackwardLayer(unsigned layer, unsigned &gradient,
                                    llvm::ArrayRef<unsigned> saved) {
  std::vector<unsigned> weight;
  if (shardsWeights())
    weight.push_back(collective(0, 100'000, {}, weightBytes));
  // MLP, then attention; with respect to weights and to activations.
  unsigned ofMlp = compute(mlpNs, {gradient, saved[1]}, weightBytes / 2);
  gradient = writeBlock(gradient, mlpNs, weight);
  unsigned ofAttention =
      compute(attentionNs, {gradient, saved[0]}, weightBytes / 2);
  gradient = writeBlock(gradient, attentionNs, weight);
  reduceGradient(layer, ofAttention, ofMlp);
}

void StepWriter::writeMicroBatch() {
  std::vector<std::vector<unsigned>> saved;
  unsigned value = compute(20'000, {});
  for (unsigned layer = 0; layer != options.numLayers; ++layer) {
    std::vector<unsigned> weight;
    if (shardsWeights())
      weight.push_back(collective(0, 100'000, {}, weightBytes));
    unsigned before = value;
    unsigned middle = writeBlock(before, attentionNs, weight);
    value = writeBlock(middle, mlpNs, weight);
    saved.push_back({before, middle});
  }
  unsigned gradient = compute(50'000, value);
  for (unsigned layer = options.numLayers; layer-- != 0;)
    writeBackwardLayer(layer, gradient, saved[layer]);
}

void StepWriter::writePipeline() {
  // Each micro-batch comes from the stage before and goes to the next one; the
  // gradients come back in the same order.
  std::vector<unsigned> outputs;
  unsigned layers = std::max(options.numLayers / 8, 1u);
  for (unsigned batch = 0; batch != options.numMicroBatches; ++batch) {
    unsigned value = collective(0, layers * 50'000, {});
    for (unsigned layer = 0; layer != layers; ++layer)
      value = compute(attentionNs + mlpNs, value);
    collective(1, layers * 50'000, value);
    outputs.push_back(value);
  }
  for (unsigned batch = 0; batch != options.numMicroBatches; ++batch) {
    unsigned gradient = collective(2, layers * 50'000, {});
    for (unsigned layer = 0; layer != layers; ++layer) {
      compute(attentionNs + mlpNs, {gradient, outputs[batch]});
      gradient = compute(attentionNs + mlpNs, gradient);
    }
    collective(3, layers * 50'000, gradient);
  }
}

SchedulingProblem StepWriter::write() {
  if (options.parallelism == Parallelism::Pipeline) {
    writePipeline();
    return writer.finish();
  }
  gradients.resize(options.numLayers);
  for (unsigned batch = 0; batch != options.numMicroBatches; ++batch) {
    isLast = batch + 1 == options.numMicroBatches;
    writeMicroBatch();
  }
  // The optimizer, layer by layer in the order of the backward pass.
  for (unsigned gradient : reduced)
    writer.compute(vary(5'000), gradient, weightBytes / 8, /*escapes=*/true);
  return writer.finish();
}

SchedulingProblem test::makeTrainingStep(const StepOptions &options) {
  return StepWriter(options).write();
}

SchedulingProblem test::makeLongProgram(unsigned numNodes, uint64_t seed) {
  std::mt19937_64 engine(seed);
  ProblemWriter writer;
  std::vector<unsigned> values = {writer.compute(10, {}, 64)};
  auto pick = [&](size_t recent) {
    size_t count = std::min(recent, values.size());
    return values[values.size() - 1 - engine() % count];
  };
  while (writer.size() < numNodes) {
    if (writer.size() % 20 >= 18) {
      values.push_back(
          writer.collective(engine() % 3, engine() % 400, pick(4), 64));
      continue;
    }
    unsigned a = pick(50), b = pick(200);
    if (a == b)
      values.push_back(writer.compute(engine() % 40, a, 64));
    else
      values.push_back(writer.compute(engine() % 40, {a, b}, 64));
  }
  return writer.finish();
}
