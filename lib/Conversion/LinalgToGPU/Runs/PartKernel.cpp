//===- PartKernel.cpp - Kernels of ops on the same parts ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../KernelBody.h"
#include "PartRun.h"

#include "../BufferAddress.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace braid::kernels;

/// The threads of a block: several blocks share a multiprocessor, so that one
/// works while another waits at a barrier.
static constexpr int64_t kThreads = 512;
static constexpr int32_t kBlocksOfMultiprocessor = 3;

namespace {

/// How the threads of a block go through the iterations of an op.
struct Walk {
  /// Elements of a vector, and the loop along it.
  int64_t lanes = 1;
  unsigned vectorLoop = 0;
  /// The loops that are no axes, the one with adjacent elements last.
  SmallVector<unsigned> restLoops;
  int64_t restIterations = 1;
  /// True if adjacent threads have adjacent indices along the axes.
  bool isAlongAxes = false;

  bool operator==(const Walk &other) const {
    return lanes == other.lanes && vectorLoop == other.vectorLoop &&
           restLoops == other.restLoops &&
           restIterations == other.restIterations &&
           isAlongAxes == other.isAlongAxes;
  }
};

class PartKernel {
public:
  PartKernel(KernelModule &kernels, PartRun &run)
      : run(run), builder(kernels, run.ops.back().op,
                          run.isIndependent ? "independent" : "parts"),
        b(builder.b) {}

  void emit();

private:
  Walk chooseWalk(PartOp &op);
  /// Emits the loop of a thread over the iterations of `ops`, which have equal
  /// loops and need nothing of each other.
  void emitOps(MutableArrayRef<PartOp> ops, const Walk &walk);
  void emitIteration(MutableArrayRef<PartOp> ops, const Walk &walk,
                     Value iteration);
  void emitTogether();
  int64_t emitApart();
  void emitOfBlock(ArrayRef<int64_t> firstBlocks, unsigned begin, unsigned end);

  PartRun &run;
  KernelBuilder builder;
  ImplicitLocOpBuilder &b;
};

/// The loop along which the first output of `nest` has the nearest elements;
/// none if there is no loop.
std::optional<unsigned> getInnerLoop(const LoopNest &nest) {
  ArrayRef<int64_t> strides = nest.outputs.front().strides;
  if (strides.empty())
    return std::nullopt;
  const int64_t *nearest = llvm::min_element(
      strides, [](int64_t a, int64_t b) { return std::abs(a) < std::abs(b); });
  return nearest - strides.begin();
}

Walk PartKernel::chooseWalk(PartOp &op) {
  LoopNest &nest = op.nest;
  Walk walk;
  for (unsigned loop = 0; loop < nest.getNumLoops(); ++loop)
    if (!llvm::is_contained(op.axisLoops, loop)) {
      walk.restLoops.push_back(loop);
      walk.restIterations *= nest.sizes[loop];
    }
  ArrayRef<int64_t> strides = nest.outputs.front().strides;
  llvm::sort(walk.restLoops, [&](unsigned a, unsigned other) {
    return std::make_pair(-std::abs(strides[a]), a) <
           std::make_pair(-std::abs(strides[other]), other);
  });
  std::optional<unsigned> inner = getInnerLoop(nest);
  // Threads without adjacent elements still prefer those with indices of axes.
  walk.isAlongAxes =
      walk.restLoops.empty() || (!op.axisLoops.empty() && inner &&
                                 llvm::is_contained(op.axisLoops, *inner));
  if (!inner || !isVectorizable(*nest.body))
    return walk;
  int64_t limit = nest.sizes[*inner];
  if (walk.isAlongAxes) {
    if (op.axisLoops.empty() || op.axisLoops.back() != *inner)
      return walk;
    limit = std::gcd(limit, run.indicesOfBlock);
  }
  int64_t widest = 0;
  for (Access *access : nest.getAccesses()) {
    int64_t stride = access->getStride(*inner);
    if (stride == 0)
      continue;
    if (stride != 1 || !VectorType::isValidElementType(access->elementType))
      return walk;
    widest = std::max(widest, getByteSize(access->elementType));
  }
  for (Access &access : nest.outputs)
    if (access.getStride(*inner) != 1)
      return walk;
  walk.vectorLoop = *inner;
  walk.lanes = kAccessBytes / widest;
  for (Access *access : nest.getAccesses())
    if (access->getStride(*inner) != 0 && !access->elementType.isInteger(1))
      walk.lanes = getAlignedLanes(*access, nest, *inner, walk.lanes);
  while (walk.lanes > 1 && limit % walk.lanes != 0)
    walk.lanes /= 2;
  return walk;
}

void PartKernel::emitIteration(MutableArrayRef<PartOp> ops, const Walk &walk,
                               Value iteration) {
  LoopNest &first = ops.front().nest;
  int64_t indices = run.indicesOfBlock, rest = walk.restIterations;
  (walk.isAlongAxes ? indices : rest) /= walk.lanes;
  Value index, place = iteration;
  if (!run.isIndependent) {
    if (walk.isAlongAxes) {
      index =
          builder.multiply(builder.remainder(iteration, indices), walk.lanes);
      place = builder.divide(iteration, indices);
    } else {
      index = builder.divide(iteration, rest);
      place = builder.remainder(iteration, rest);
    }
    index = builder.add(builder.multiply(builder.blockId(), run.indicesOfBlock),
                        index);
  }
  SmallVector<Value> loops(first.getNumLoops());
  auto set = [&](Value linear, ArrayRef<unsigned> order, bool isVector) {
    SmallVector<int64_t> sizes;
    for (unsigned loop : order)
      sizes.push_back(first.sizes[loop]);
    if (isVector)
      sizes.back() /= walk.lanes;
    SmallVector<Value> found = builder.delinearize(linear, sizes);
    if (isVector)
      found.back() = builder.multiply(found.back(), walk.lanes);
    for (auto [loop, value] : llvm::zip_equal(order, found))
      loops[loop] = value;
  };
  bool isRestVector = !walk.isAlongAxes && walk.lanes > 1;
  set(index, ops.front().axisLoops, /*isVector=*/false);
  set(place, walk.restLoops, isRestVector);

  auto emit = [&] {
    SmallVector<Point> points;
    for (PartOp &op : ops)
      points.push_back({&op.nest, loops});
    emitPoints(builder, points, walk.lanes, walk.vectorLoop);
  };
  bool isWhole = run.numIndices % run.indicesOfBlock == 0;
  builder.emitIf(isWhole ? Value() : builder.isLess(index, run.numIndices),
                 emit);
}

void PartKernel::emitOps(MutableArrayRef<PartOp> ops, const Walk &walk) {
  int64_t iterations = run.indicesOfBlock * walk.restIterations / walk.lanes;
  Value thread = builder.threadId();
  if (iterations <= kThreads) {
    builder.emitIf(iterations == kThreads ? Value()
                                          : builder.isLess(thread, iterations),
                   [&] { emitIteration(ops, walk, thread); });
    return;
  }
  auto loop = scf::ForOp::create(b, thread, builder.constantIndex(iterations),
                                 builder.constantIndex(kThreads));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  emitIteration(ops, walk, loop.getInductionVar());
}

void PartKernel::emit() {
  SmallVector<const LoopNest *> nests;
  if (!run.isIndependent)
    builder.shareWrittenBuffers();
  for (PartOp &op : run.ops) {
    if (run.isIndependent)
      op.nest.orderByMemory();
    builder.addOperands(op.nest);
    nests.push_back(&op.nest);
  }
  builder.setIndexType(nests);
  if (run.isIndependent) {
    builder.start(kBlockSize);
    builder.launch(emitApart());
    return;
  }
  builder.start(kThreads);
  // All blocks of a usual run are there at once, also beside collectives.
  b.getInsertionBlock()->getParentOp()->setDiscardableAttr(
      NVVM::NVVMDialect::getMinctasmAttrName(),
      b.getI32IntegerAttr(kBlocksOfMultiprocessor));
  emitTogether();
  builder.launch(run.getNumBlocks());
}

/// Emits the ops one after another; each block computes its part of all.
void PartKernel::emitTogether() {
  MutableArrayRef<PartOp> ops = run.ops;
  while (!ops.empty()) {
    if (ops.front().needsBarrier)
      gpu::BarrierOp::create(b);
    Walk walk = chooseWalk(ops.front());
    unsigned count = 1;
    while (count < ops.size() && !ops[count].needsBarrier &&
           ops[count].nest.sizes == ops.front().nest.sizes &&
           ops[count].axisLoops == ops.front().axisLoops &&
           chooseWalk(ops[count]) == walk)
      ++count;
    emitOps(ops.take_front(count), walk);
    ops = ops.drop_front(count);
  }
}

/// Emits the ops, each for blocks of its own; returns the number of blocks.
int64_t PartKernel::emitApart() {
  SmallVector<int64_t> firstBlocks = {0};
  for (PartOp &op : run.ops)
    firstBlocks.push_back(
        firstBlocks.back() +
        llvm::divideCeil(op.nest.getNumIterations() / chooseWalk(op).lanes,
                         kBlockSize));
  emitOfBlock(firstBlocks, 0, run.ops.size());
  return firstBlocks.back();
}

/// Emits the ops from `begin` to `end`, one of which is that of the block. The
/// block searches for its op by halves.
void PartKernel::emitOfBlock(ArrayRef<int64_t> firstBlocks, unsigned begin,
                             unsigned end) {
  if (end - begin > 1) {
    unsigned middle = begin + (end - begin) / 2;
    auto half = scf::IfOp::create(
        b, builder.isLess(builder.blockId(), firstBlocks[middle]),
        /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(half.thenBlock());
    emitOfBlock(firstBlocks, begin, middle);
    b.setInsertionPointToStart(half.elseBlock());
    emitOfBlock(firstBlocks, middle, end);
    return;
  }
  PartOp &op = run.ops[begin];
  Walk walk = chooseWalk(op);
  Value block = builder.addConstant(builder.blockId(), -firstBlocks[begin]);
  Value iteration =
      builder.add(builder.multiply(block, kBlockSize), builder.threadId());
  int64_t iterations = walk.restIterations / walk.lanes;
  builder.emitIf(iterations % kBlockSize == 0
                     ? Value()
                     : builder.isLess(iteration, iterations),
                 [&] { emitIteration(op, walk, iteration); });
}

} // namespace

void braid::kernels::emitPartRun(KernelModule &kernels, RewriterBase &rewriter,
                                 PartRun &run) {
  PartKernel(kernels, run).emit();
  for (PartOp &op : run.ops)
    rewriter.eraseOp(op.op);
}
