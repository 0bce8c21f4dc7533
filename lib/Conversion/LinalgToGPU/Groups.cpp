//===- Groups.cpp - Kernels of reductions with any strides ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBody.h"
#include "Kernels.h"
#include "ThreadGroup.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace braid::kernels;

/// The number of threads that keep a large GPU busy.
static constexpr int64_t kBusyThreads = 1 << 18;
/// The number of iterations that a thread runs at once, and the most ops of a
/// body for which it does.
static constexpr int64_t kUnrolledIterations = 4, kMostUnrolledOps = 64;

namespace {

/// Emits the kernel of a reduction whose operands have any strides. The threads
/// of a group have the iterations `thread`, `thread + threads`, ... of one
/// result, and combine what they have in a fixed order.
class GroupKernel {
public:
  GroupKernel(KernelModule &kernels, Operation *op, LoopNest &nest,
              ArrayRef<Combiner> combiners)
      : nest(nest), combiners(combiners), builder(kernels, op, "groups"),
        b(builder.b) {}

  void emit();

private:
  void orderLoops();
  void chooseShape();
  ArrayRef<int64_t> getResultSizes() const {
    return ArrayRef(nest.sizes).take_front(numResultLoops);
  }
  ArrayRef<int64_t> getReductionSizes() const {
    return ArrayRef(nest.sizes).drop_front(numResultLoops);
  }
  SmallVector<Value> takeIn(ArrayRef<Value> iterations, Value isValid,
                            SmallVector<Value> accumulators);
  void emitResults(ArrayRef<Value> accumulators);

  LoopNest &nest;
  ArrayRef<Combiner> combiners;
  KernelBuilder builder;
  ImplicitLocOpBuilder &b;
  unsigned numResultLoops = 0;
  int64_t results = 1, iterations = 1, unroll = 1;
  ThreadGroup group;
  SmallVector<Value> resultIndices;
};

void GroupKernel::orderLoops() {
  SmallVector<unsigned> order;
  for (bool isReduction : {false, true})
    for (unsigned loop = 0; loop < nest.getNumLoops(); ++loop)
      if (nest.isReduction[loop] == isReduction)
        order.push_back(loop);
  nest.permute(order);
  nest.collapse();
  numResultLoops = llvm::count(nest.isReduction, false);
}

void GroupKernel::chooseShape() {
  results = llvm::product_of(getResultSizes());
  iterations = llvm::product_of(getReductionSizes());
  int64_t numOps = 0;
  bool hasLoop = false;
  nest.body->walk([&](Operation *op) {
    ++numOps;
    hasLoop |= isa<LoopLikeOpInterface>(op);
  });
  if (!hasLoop && numOps <= kMostUnrolledOps)
    unroll = kUnrolledIterations;
  int64_t useful = llvm::PowerOf2Ceil(llvm::divideCeil(iterations, unroll));
  int64_t wanted =
      llvm::bit_floor<uint64_t>(std::max<int64_t>(kBusyThreads / results, 1));
  group.setThreads(std::min({useful, wanted, kMaxThreads}));
}

/// Combines the elements of `iterations` with `accumulators`.
SmallVector<Value> GroupKernel::takeIn(ArrayRef<Value> iterations,
                                       Value isValid,
                                       SmallVector<Value> accumulators) {
  SmallVector<IRMapping> mappings(iterations.size());
  SmallVector<SmallVector<Value>> places;
  for (auto [iteration, mapping] : llvm::zip(iterations, mappings)) {
    // Do not read beyond the last iteration.
    Value readable = iteration;
    if (isValid)
      readable = arith::MinUIOp::create(
          b, iteration, builder.constantIndex(this->iterations - 1));
    SmallVector<Value> &indices = places.emplace_back(resultIndices);
    llvm::append_range(indices,
                       builder.delinearize(readable, getReductionSizes()));
    builder.mapCaptured(nest, mapping);
    for (Access &access : nest.inputs)
      if (!access.argument.use_empty())
        mapping.map(access.argument,
                    builder.load(builder.getMemory(access.buffer),
                                 builder.getAddress(access, indices), 1));
  }
  for (auto [indices, mapping] : llvm::zip(places, mappings))
    takeElements(b, nest, combiners, mapping, /*lanes=*/1,
                 builder.getAskedIndices(nest, indices, /*lanes=*/1,
                                         /*vectorLoop=*/0),
                 isValid, accumulators);
  return accumulators;
}

void GroupKernel::emitResults(ArrayRef<Value> accumulators) {
  SmallVector<Value> totals;
  for (auto [output, combiner] : llvm::enumerate(combiners))
    totals.push_back(
        group.combine(builder, combiner, accumulators[output], output));
  builder.emitIf(group.isStoring(builder), [&] {
    for (auto [output, access] : llvm::enumerate(nest.outputs)) {
      const Combiner &combiner = combiners[output];
      Value before =
          combiner.widen(b, builder.getInitial(nest, output, resultIndices));
      builder.store(
          combiner.narrow(b, combiner.combine(b, before, totals[output])),
          builder.getMemory(access.buffer),
          builder.getAddress(access, resultIndices));
    }
  });
}

void GroupKernel::emit() {
  orderLoops();
  chooseShape();
  builder.addOperands(nest);
  builder.setIndexType(nest);
  SmallVector<Type> types;
  group.addWorkgroupTypes(builder, combiners, types);
  builder.start(group.getBlockSize(), types);
  group.emitPlace(builder, results);
  resultIndices = builder.delinearize(group.group, getResultSizes());
  SmallVector<Value> accumulators =
      llvm::map_to_vector(combiners, [&](const Combiner &combiner) {
        return combiner.getNeutral(b, /*lanes=*/1);
      });
  emitResults(takeInTurns(
      builder, iterations, group.thread, group.threads, unroll,
      std::move(accumulators),
      [&](ArrayRef<Value> items, Value isValid, SmallVector<Value> values) {
        return takeIn(items, isValid, std::move(values));
      }));
  builder.launch(llvm::divideCeil(results, group.groupsOfBlock));
}

} // namespace

bool braid::kernels::emitGroups(KernelModule &kernels, Operation *op,
                                LoopNest nest) {
  std::optional<SmallVector<Combiner>> combiners = matchCombiners(nest);
  if (!combiners)
    return false;
  GroupKernel(kernels, op, nest, *combiners).emit();
  return true;
}
