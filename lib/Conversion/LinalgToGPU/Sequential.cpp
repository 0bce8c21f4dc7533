//===- Sequential.cpp - Kernels that run reductions in order --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBody.h"
#include "Kernels.h"
#include "Reduction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace braid::kernels;

namespace {

/// Emits loops over the reductions of an op, in its order, around its body.
class SequentialKernel {
public:
  SequentialKernel(KernelModule &kernels, Operation *op, LoopNest &nest)
      : nest(nest), combiners(matchCombiners(nest)),
        builder(kernels, op, "sequential"), b(builder.b) {}

  void emit();

private:
  /// Emits the loops from number `number` of `reductions` on, and returns their
  /// results.
  SmallVector<Value> emitLoops(unsigned number, ValueRange values);
  SmallVector<Value> emitIteration(ValueRange values);

  LoopNest &nest;
  /// Sums of small floats have f32 in between, as in other kernels.
  std::optional<SmallVector<Combiner>> combiners;
  KernelBuilder builder;
  ImplicitLocOpBuilder &b;
  SmallVector<unsigned> reductions;
  SmallVector<Value> indices;
};

SmallVector<Value> SequentialKernel::emitIteration(ValueRange values) {
  IRMapping mapping;
  builder.mapCaptured(nest, mapping);
  for (auto [access, value] : llvm::zip(nest.outputs, values))
    if (access.argument)
      mapping.map(access.argument, value);
  for (Access &access : nest.inputs)
    if (!access.argument.use_empty())
      mapping.map(access.argument,
                  builder.load(builder.getMemory(access.buffer),
                               builder.getAddress(access, indices), 1));
  SmallVector<Value> asked =
      builder.getAskedIndices(nest, indices, /*lanes=*/1, /*vectorLoop=*/0);
  if (!combiners)
    return emitBody(b, *nest.body, mapping, /*lanes=*/1, asked);
  SmallVector<Value> combined;
  for (auto [combiner, value, element] : llvm::zip(
           *combiners, values,
           emitElements(b, nest, *combiners, mapping, /*lanes=*/1, asked)))
    combined.push_back(combiner.combine(b, value, element));
  return combined;
}

SmallVector<Value> SequentialKernel::emitLoops(unsigned number,
                                               ValueRange values) {
  if (number == reductions.size())
    return emitIteration(values);
  unsigned loop = reductions[number];
  auto counted = scf::ForOp::create(b, builder.constantIndex(0),
                                    builder.constantIndex(nest.sizes[loop]),
                                    builder.constantIndex(1), values);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(counted.getBody());
  indices[loop] = counted.getInductionVar();
  scf::YieldOp::create(b, emitLoops(number + 1, counted.getRegionIterArgs()));
  return SmallVector<Value>(counted.getResults());
}

void SequentialKernel::emit() {
  nest.collapse();
  builder.addOperands(nest);
  builder.setIndexType(nest);
  builder.start(kBlockSize);
  SmallVector<unsigned> parallel;
  SmallVector<int64_t> sizes;
  int64_t threads = 1;
  for (unsigned loop = 0; loop < nest.getNumLoops(); ++loop) {
    if (nest.isReduction[loop]) {
      reductions.push_back(loop);
      continue;
    }
    parallel.push_back(loop);
    sizes.push_back(nest.sizes[loop]);
    threads *= nest.sizes[loop];
  }
  Value thread = builder.add(builder.multiply(builder.blockId(), kBlockSize),
                             builder.threadId());
  auto isActive = scf::IfOp::create(b, builder.isLess(thread, threads));
  b.setInsertionPointToStart(isActive.thenBlock());
  indices.assign(nest.getNumLoops(), Value());
  for (auto [loop, index] :
       llvm::zip(parallel, builder.delinearize(thread, sizes)))
    indices[loop] = index;
  SmallVector<Value> values, addresses;
  for (auto [output, access] : llvm::enumerate(nest.outputs)) {
    addresses.push_back(builder.getAddress(access, indices));
    Value initial = builder.getInitial(nest, output, indices);
    values.push_back(combiners ? (*combiners)[output].widen(b, initial)
                               : initial);
  }
  values = emitLoops(0, values);
  if (combiners)
    for (auto [combiner, value] : llvm::zip(*combiners, values))
      value = combiner.narrow(b, value);
  for (auto [access, address, value] :
       llvm::zip(nest.outputs, addresses, values))
    builder.store(value, builder.getMemory(access.buffer), address);
  builder.launch(llvm::divideCeil(threads, kBlockSize));
}

} // namespace

void braid::kernels::emitSequential(KernelModule &kernels, Operation *op,
                                    LoopNest nest) {
  SequentialKernel(kernels, op, nest).emit();
}
