//===- Elementwise.cpp - Kernels without reductions -----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferAddress.h"
#include "KernelBody.h"
#include "Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace braid::kernels;

namespace {

/// Emits the kernel of an op without reduction loops.
class ElementwiseKernel {
public:
  ElementwiseKernel(KernelModule &kernels, Operation *op, LoopNest &nest)
      : nest(nest), builder(kernels, op, "elementwise"), b(builder.b) {}

  void emit();

private:
  void chooseLanes();
  /// Computes vectors of `lanes` elements at the iterations `linear`.
  void emitElements(ArrayRef<Value> linear, int64_t lanes);
  LoopNest &nest;
  KernelBuilder builder;
  ImplicitLocOpBuilder &b;
  /// Elements of a vector; vectors of a thread.
  int64_t lanes = 1, unroll = 1;
  /// Elements after the last whole vector.
  int64_t rest = 0;
};

void ElementwiseKernel::chooseLanes() {
  unsigned inner = nest.getNumLoops() - 1;
  if (nest.getNumLoops() == 0)
    return;
  int64_t widest = 0, narrowest = kAccessBytes;
  for (Access *access : nest.getAccesses()) {
    bool isOutput =
        access >= nest.outputs.begin() && access < nest.outputs.end();
    int64_t stride = access->getStride(inner);
    if (stride == 0 && !isOutput)
      continue;
    int64_t size = getByteSize(access->elementType);
    if (stride != 1 || !VectorType::isValidElementType(access->elementType))
      return;
    widest = std::max(widest, size);
    narrowest = std::min(narrowest, size);
  }
  if (widest == 0)
    return;
  lanes = getVectorLanes(nest, inner, kAccessBytes / widest);
  for (Access *access : nest.getAccesses())
    if (access->getStride(inner) != 0 && !access->elementType.isInteger(1))
      lanes = getAlignedLanes(*access, nest, inner, lanes);
  // A row with a remainder misaligns the next row, unless there is only one
  // row.
  int64_t size = nest.sizes[inner];
  while (lanes > 1 && (nest.getNumLoops() > 1 || size < lanes) &&
         size % lanes != 0)
    lanes /= 2;
  rest = size % lanes;
  // Narrow operands need several vectors to have the same bytes in flight.
  int64_t vectors = nest.getNumIterations() / lanes;
  unroll = std::min<int64_t>(widest / narrowest, 4);
  while (rest != 0 || vectors % (kBlockSize * unroll) != 0)
    if (unroll > 1)
      unroll /= 2;
    else
      break;
}

void ElementwiseKernel::emitElements(ArrayRef<Value> linear, int64_t lanes) {
  SmallVector<int64_t> sizes = nest.sizes;
  if (!sizes.empty())
    sizes.back() /= lanes;
  SmallVector<Point> points;
  for (Value vector : linear) {
    SmallVector<Value> indices = builder.delinearize(vector, sizes);
    if (lanes > 1)
      indices.back() = builder.multiply(indices.back(), lanes);
    points.push_back({&nest, std::move(indices)});
  }
  emitPoints(builder, points, lanes, nest.getNumLoops() - 1);
}

void ElementwiseKernel::emit() {
  nest.orderByMemory();
  chooseLanes();
  builder.addOperands(nest);
  builder.setIndexType(nest);
  builder.start(kBlockSize);
  int64_t vectors = (nest.getNumIterations() - rest) / lanes;
  int64_t threads = llvm::divideCeil(vectors, unroll) + rest;
  int64_t blocks = llvm::divideCeil(threads, kBlockSize);

  Value first =
      builder.add(builder.multiply(builder.blockId(), kBlockSize * unroll),
                  builder.threadId());
  SmallVector<Value> parts;
  for (int64_t part = 0; part < unroll; ++part)
    parts.push_back(builder.addConstant(first, part * kBlockSize));
  bool isWhole = rest == 0 && blocks * kBlockSize * unroll == vectors;
  builder.emitIf(isWhole ? Value() : builder.isLess(first, vectors),
                 [&] { emitElements(parts, lanes); });
  if (rest != 0) {
    // The threads after the last vector compute the remaining elements.
    Value isBehind = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, first,
                                           builder.constantIndex(vectors));
    Value element = builder.addConstant(first, vectors * lanes - vectors);
    builder.emitIf(
        builder.both(isBehind,
                     builder.isLess(element, nest.getNumIterations())),
        [&] { emitElements({element}, 1); });
  }
  builder.launch(blocks);
}

} // namespace

void braid::kernels::emitElementwise(KernelModule &kernels, Operation *op,
                                     LoopNest nest) {
  ElementwiseKernel(kernels, op, nest).emit();
}
