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

SchedulingProblem test::makeSmallProblem(uint64_t seed, unsigned maxNodes) {
  return makeSmallProblem(static_cast<SmallShape>(seed % numSmallShapes), seed,
                          maxNodes);
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
/// Writes one training step, op by op as `transformer_steps.py` does; times are
/// those of a large model on a recent GPU.
class StepWriter {
public:
  explicit StepWriter(const StepOptions &options)
      : options(options), engine(options.seed + 1) {}

  SchedulingProblem write();

private:
  /// Times of the matrices: query, key and value; projection; up; down. Then
  /// attention itself, and everything pointwise.
  static constexpr int64_t qkvNs = 30'000, projectionNs = 10'000, upNs = 40'000,
                           downNs = 40'000, attentionNs = 10'000,
                           pointwiseNs = 2'000;
  /// Half of a layer, which communication is compared with.
  static constexpr int64_t halfNs = 65'000;
  static constexpr int64_t activationBytes = 32 << 20, weightBytes = 96 << 20;

  int64_t vary(int64_t costNs) {
    int64_t range = costNs * options.variationPercent / 100;
    return range == 0 ? costNs
                      : costNs - range + int64_t(engine() % (2 * range + 1));
  }
  unsigned compute(int64_t costNs, llvm::ArrayRef<unsigned> inputs,
                   int64_t bytes = activationBytes) {
    return writer.compute(vary(costNs), inputs, bytes);
  }
  /// A collective that takes as long as its part of `hiddenNs` of compute.
  unsigned collective(unsigned lane, int64_t hiddenNs,
                      llvm::ArrayRef<unsigned> inputs,
                      int64_t bytes = activationBytes) {
    int64_t costNs = hiddenNs * options.communicationPercent / 100;
    return writer.collective(lane, vary(costNs), inputs, bytes);
  }
  bool is(Parallelism parallelism) const {
    return options.parallelism == parallelism;
  }

  /// The whole weights of a layer, if they have to be gathered.
  std::vector<unsigned> gather();
  /// What the split matrices are multiplied with, and the sum of what they
  /// give; tokens on their way to experts and back.
  unsigned enter(unsigned value);
  unsigned leave(unsigned value);
  unsigned exchange(unsigned value);
  /// A matmul with the weights of a layer.
  unsigned multiply(int64_t costNs, unsigned value,
                    llvm::ArrayRef<unsigned> weights);
  void reduce(unsigned layer, std::vector<unsigned> gradients);

  struct Saved {
    unsigned a, b, c, e, f, g;
  };
  unsigned writeForward(unsigned x, Saved &saved);
  unsigned writeBackward(unsigned layer, unsigned gradient, const Saved &saved);
  void writeMicroBatch();
  void writePipeline();

  StepOptions options;
  std::mt19937_64 engine;
  ProblemWriter writer;
  /// The gradients of each layer, summed up over micro-batches so far; they are
  /// reduced with the last.
  std::vector<std::vector<unsigned>> sums;
  std::vector<std::vector<unsigned>> reduced;
  bool isLast = false;
};
} // namespace

std::vector<unsigned> StepWriter::gather() {
  if (!is(Parallelism::FullySharded) && !is(Parallelism::HybridSharded))
    return {};
  return {collective(0, 2 * halfNs, {}, weightBytes)};
}

unsigned StepWriter::enter(unsigned value) {
  return is(Parallelism::SequenceParallel) ? collective(0, halfNs / 2, value)
                                           : value;
}

unsigned StepWriter::leave(unsigned value) {
  if (is(Parallelism::TensorParallel))
    return collective(0, halfNs, value);
  if (is(Parallelism::SequenceParallel))
    return collective(0, halfNs / 2, value);
  return value;
}

unsigned StepWriter::exchange(unsigned value) {
  return is(Parallelism::MixtureOfExperts) ? collective(0, halfNs, value)
                                           : value;
}

unsigned StepWriter::multiply(int64_t costNs, unsigned value,
                              llvm::ArrayRef<unsigned> weights) {
  std::vector<unsigned> inputs = {value};
  llvm::append_range(inputs, weights);
  return compute(costNs, inputs);
}

void StepWriter::reduce(unsigned layer, std::vector<unsigned> gradients) {
  if (!sums[layer].empty())
    for (auto [sum, gradient] : llvm::zip_equal(sums[layer], gradients))
      gradient = compute(pointwiseNs, {sum, gradient}, weightBytes / 4);
  sums[layer] = gradients;
  if (!isLast)
    return;
  switch (options.parallelism) {
  case Parallelism::FullySharded:
    gradients = {collective(0, 2 * halfNs, gradients, weightBytes / 8)};
    break;
  case Parallelism::DataParallel:
    gradients = {collective(0, 4 * halfNs, gradients, weightBytes)};
    break;
  case Parallelism::HybridSharded:
    gradients = {collective(0, 2 * halfNs, gradients, weightBytes / 8)};
    gradients = {collective(1, 4 * halfNs, gradients, weightBytes / 8)};
    break;
  default:
    break;
  }
  reduced.push_back(gradients);
}

unsigned StepWriter::writeForward(unsigned x, Saved &saved) {
  std::vector<unsigned> weights = gather();
  saved.a = enter(x);
  saved.b = multiply(qkvNs, saved.a, weights);
  saved.c = compute(attentionNs, saved.b);
  unsigned y = leave(multiply(projectionNs, saved.c, weights));
  y = compute(pointwiseNs, {x, y});
  saved.e = exchange(enter(y));
  saved.f = multiply(upNs, saved.e, weights);
  saved.g = compute(pointwiseNs, saved.f);
  unsigned h = leave(exchange(multiply(downNs, saved.g, weights)));
  return compute(pointwiseNs, {y, h});
}

unsigned StepWriter::writeBackward(unsigned layer, unsigned gradient,
                                   const Saved &saved) {
  std::vector<unsigned> weights = gather();
  int64_t bytes = weightBytes / 4;
  unsigned into = exchange(enter(gradient));
  unsigned dG = multiply(downNs, into, weights);
  unsigned dDown = compute(downNs, {saved.g, into}, bytes);
  unsigned dF = compute(pointwiseNs, {dG, saved.f});
  unsigned dE = multiply(upNs, dF, weights);
  unsigned dUp = compute(upNs, {saved.e, dF}, bytes);
  unsigned dY = leave(exchange(dE));
  dY = compute(pointwiseNs, {gradient, dY});
  into = enter(dY);
  unsigned dC = multiply(projectionNs, into, weights);
  unsigned dProjection = compute(projectionNs, {saved.c, into}, bytes);
  unsigned dB = compute(2 * attentionNs, {dC, saved.b});
  unsigned dA = multiply(qkvNs, dB, weights);
  unsigned dQkv = compute(qkvNs, {saved.a, dB}, bytes);
  unsigned dX = leave(dA);
  reduce(layer, {dQkv, dProjection, dUp, dDown});
  return compute(pointwiseNs, {dY, dX});
}

void StepWriter::writeMicroBatch() {
  std::vector<Saved> saved(options.numLayers);
  unsigned value = compute(20'000, {});
  for (Saved &layer : saved)
    value = writeForward(value, layer);
  unsigned gradient = compute(50'000, value);
  for (unsigned layer = options.numLayers; layer-- != 0;)
    gradient = writeBackward(layer, gradient, saved[layer]);
}

void StepWriter::writePipeline() {
  // Each micro-batch comes from the stage before and goes to the next one; the
  // gradients come back in the same order.
  unsigned layers = std::max(options.numLayers / 8, 1u);
  sums.resize(layers);
  std::vector<std::vector<Saved>> saved(options.numMicroBatches);
  for (std::vector<Saved> &batch : saved) {
    unsigned value = collective(0, halfNs, {});
    batch.resize(layers);
    for (Saved &layer : batch)
      value = writeForward(value, layer);
    collective(1, halfNs, value);
  }
  for (const std::vector<Saved> &batch : saved) {
    unsigned gradient = collective(2, halfNs, {});
    for (unsigned layer = layers; layer-- != 0;)
      gradient = writeBackward(layer, gradient, batch[layer]);
    collective(3, halfNs, gradient);
  }
}

SchedulingProblem StepWriter::write() {
  if (is(Parallelism::Pipeline)) {
    writePipeline();
    return writer.finish();
  }
  sums.resize(options.numLayers);
  for (unsigned batch = 0; batch != options.numMicroBatches; ++batch) {
    isLast = batch + 1 == options.numMicroBatches;
    writeMicroBatch();
  }
  // The optimizer, layer by layer in the order of the backward pass.
  for (const std::vector<unsigned> &gradients : reduced)
    writer.compute(vary(5'000), gradients, weightBytes / 8, /*escapes=*/true);
  return writer.finish();
}

SchedulingProblem test::makeTrainingStep(const StepOptions &options) {
  return StepWriter(options).write();
}

void test::shareGpu(SchedulingProblem &step) {
  // Bytes per ns, of which each takes a part.
  constexpr int64_t bandwidth = 3'000, ofPointwise = 2'700, ofMatrices = 500,
                    ofOperations = 800;
  constexpr int64_t waveNs = 10'000;
  step.machine.multiprocessors = 132;
  step.machine.memoryBandwidth = bandwidth;
  step.demands.assign(step.graph.size(), {});
  for (auto [node, demand] : llvm::enumerate(step.demands)) {
    int64_t costNs = step.graph[node].cost;
    int64_t waves = (costNs + waveNs / 2) / waveNs;
    if (step.graph[node].kind == NodeKind::Start) {
      demand.multiprocessors = 24;
      demand.memoryBytes = ofOperations * costNs;
    } else if (waves == 0) {
      demand.arithmeticNs = costNs / 10;
      demand.memoryBytes = ofPointwise * costNs;
    } else {
      demand.arithmeticNs = costNs;
      demand.tiles = waves * step.machine.multiprocessors;
      demand.memoryBytes = ofMatrices * costNs;
    }
  }
}

const char *test::stringifyMeasuredLanes(MeasuredLanes lanes) {
  switch (lanes) {
  case MeasuredLanes::Kernels:
    return "kernels";
  case MeasuredLanes::FewBlocks:
    return "few blocks";
  case MeasuredLanes::CopyEngines:
    return "copy engines";
  }
  llvm_unreachable("unknown lanes");
}

void test::shareMeasuredGpu(SchedulingProblem &step, MeasuredLanes lanes) {
  shareGpu(step);
  MachineModel &machine = step.machine;
  machine.multiprocessorModel = MultiprocessorModel::Queued;
  machine.memoryBandwidth = 0;
  machine.launchNs = 1'958;
  machine.laneLaunchNs = 7'376;
  machine.processorGroups = 8;
  machine.copyMultiprocessors = 8;
  machine.takenFromPairs = {{4, 8}, {8, 8}, {16, 24}, {24, 24}};
  constexpr Interference matmul[] = {{1.031, 1.237},
                                     {1.06, 1.35},
                                     {1.023, 1.254}},
                         elementwise[] = {
                             {1.161, 2.251}, {1.24, 1.524}, {1.08, 2.588}};
  for (size_t engine = 0; engine != std::size(matmul); ++engine) {
    machine.interference[size_t(ComputeClass::Matmul)][engine] = matmul[engine];
    machine.interference[size_t(ComputeClass::Elementwise)][engine] =
        elementwise[engine];
  }
  for (auto [node, demand] : llvm::enumerate(step.demands)) {
    if (step.graph[node].kind == NodeKind::Start) {
      bool isFew = lanes == MeasuredLanes::FewBlocks;
      demand.clusterSize = isFew ? 1 : 4;
      if (isFew)
        demand.multiprocessors = 8;
      else if (lanes == MeasuredLanes::CopyEngines)
        demand.multiprocessors = 0;
      // Gathers and scatters beside reductions.
      demand.isOneWay = step.graph[node].bytes % 3 != 0;
      demand.linkBytes = demand.memoryBytes;
      continue;
    }
    demand.isPersistent = demand.tiles > 0;
    if (lanes != MeasuredLanes::Kernels)
      demand.blocks = machine.multiprocessors - 8;
  }
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
