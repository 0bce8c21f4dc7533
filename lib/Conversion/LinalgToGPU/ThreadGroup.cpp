//===- ThreadGroup.cpp - Threads that share a reduction -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadGroup.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace braid::kernels;

void ThreadGroup::setThreads(int64_t number) {
  threads = number;
  groupsOfBlock = threads <= kWarpSize ? kBlockSize / threads : 1;
}

void ThreadGroup::addWorkgroupTypes(KernelBuilder &builder,
                                    ArrayRef<Combiner> combiners,
                                    SmallVectorImpl<Type> &types) const {
  if (threads > kWarpSize)
    for (const Combiner &combiner : combiners)
      types.push_back(
          builder.getWorkgroupType(threads / kWarpSize, combiner.type));
}

void ThreadGroup::emitPlace(KernelBuilder &builder, int64_t groups) {
  group = builder.blockId();
  thread = builder.threadId();
  if (groupsOfBlock == 1)
    return;
  group = builder.add(builder.multiply(group, groupsOfBlock),
                      builder.divide(thread, threads));
  thread = threads == 1 ? builder.constantIndex(0)
                        : builder.remainder(thread, threads);
  if (groups % groupsOfBlock == 0)
    return;
  // Shuffles need whole warps, so threads beyond the last group do what it
  // does, too.
  isGroup = builder.isLess(group, groups);
  group = arith::MinUIOp::create(builder.b, group,
                                 builder.constantIndex(groups - 1));
}

Value ThreadGroup::isStoring(KernelBuilder &builder) const {
  return threads > 1 ? builder.both(isGroup, builder.isLess(thread, 1))
                     : isGroup;
}

Value ThreadGroup::combine(KernelBuilder &builder, const Combiner &combiner,
                           Value value, unsigned memory) const {
  ImplicitLocOpBuilder &b = builder.b;
  value = combiner.combineThreads(b, value, std::min(threads, kWarpSize));
  if (threads <= kWarpSize)
    return value;
  // Each warp stores its value; then every thread combines the values of all
  // warps.
  Value shared = builder.getWorkgroupMemory(memory);
  int64_t warps = threads / kWarpSize;
  Value lane = builder.remainder(thread, kWarpSize);
  builder.emitIf(builder.isLess(lane, 1), [&] {
    memref::StoreOp::create(b, value, shared,
                            builder.toIndex(builder.divide(thread, kWarpSize)));
  });
  gpu::BarrierOp::create(b);
  value = memref::LoadOp::create(
      b, shared, builder.toIndex(builder.remainder(lane, warps)));
  return combiner.combineThreads(b, value, warps);
}

SmallVector<Value> braid::kernels::takeInTurns(
    KernelBuilder &builder, int64_t count, Value first, int64_t step,
    int64_t unroll, SmallVector<Value> accumulators,
    function_ref<SmallVector<Value>(ArrayRef<Value>, Value, SmallVector<Value>)>
        takeIn) {
  ImplicitLocOpBuilder &b = builder.b;
  auto emitLoop = [&](int64_t from, int64_t to, int64_t unroll) {
    if (from >= to)
      return;
    auto loop = scf::ForOp::create(
        b, builder.constantIndex(from), builder.constantIndex(to),
        builder.constantIndex(step * unroll), accumulators);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value begin = builder.add(loop.getInductionVar(), first);
    SmallVector<Value> items;
    for (int64_t each = 0; each < unroll; ++each)
      items.push_back(builder.addConstant(begin, each * step));
    scf::YieldOp::create(
        b,
        takeIn(items, Value(), SmallVector<Value>(loop.getRegionIterArgs())));
    accumulators.assign(loop.result_begin(), loop.result_end());
  };
  int64_t unrolled = count / (step * unroll) * step * unroll;
  int64_t whole = count / step * step;
  emitLoop(0, unrolled, unroll);
  emitLoop(unrolled, whole, 1);
  if (whole == count)
    return accumulators;
  Value item = builder.addConstant(first, whole);
  return takeIn({item}, builder.isLess(item, count), std::move(accumulators));
}
