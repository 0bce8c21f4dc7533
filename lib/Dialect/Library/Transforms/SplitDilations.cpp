//===- SplitDilations.cpp - Convolutions without gaps in the input --------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SplitDilations.h"

#include "Dialect/Library/IR/Operands.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace braid;
using namespace braid::library;

namespace {

/// In a spatial dimension the places of the output with the same remainder, and
/// the taps that find an element of the input there.
struct Phase {
  int64_t remainder, places;
  int64_t firstTap, taps;
  int64_t low, high; ///< Padding of the input without gaps.
};

} // namespace

static Phase getPhase(const ConvolutionDim &dim, int64_t remainder) {
  int64_t step = dim.lhsDilation, distance = dim.low - remainder;
  Phase phase;
  phase.remainder = remainder;
  phase.places = llvm::divideCeilSigned(dim.outputs - remainder, step);
  phase.firstTap = llvm::mod(distance, step);
  phase.taps = llvm::divideCeilSigned(dim.taps - phase.firstTap, step);
  phase.low = (distance - phase.firstTap) / step;
  phase.high = phase.places + phase.taps - 1 - phase.low - dim.inputs;
  return phase;
}

/// The phases of all dimensions together; those without places are left out,
/// and those without taps, whose results are zeros.
static SmallVector<SmallVector<Phase, 3>> getPhases(ConvolutionShape &shape) {
  SmallVector<SmallVector<Phase, 3>> all = {{}};
  for (const ConvolutionDim &dim : shape.spatial) {
    SmallVector<SmallVector<Phase, 3>> longer;
    for (ArrayRef<Phase> phases : all)
      for (int64_t i = 0; i < dim.lhsDilation; ++i)
        if (Phase next = getPhase(dim, i); next.places > 0 && next.taps > 0)
          longer.emplace_back(phases).push_back(next);
    all = std::move(longer);
  }
  return all;
}

SmallVector<ConvolutionOp> library::splitDilations(RewriterBase &rewriter,
                                                   ConvolutionOp op) {
  ConvolutionShape shape = op.getShape();
  auto isDilated = [](const ConvolutionDim &dim) {
    return dim.lhsDilation > 1;
  };
  auto canSplit = [&](const ConvolutionDim &dim) {
    return !isDilated(dim) || (dim.stride == 1 && dim.rhsDilation == 1);
  };
  if (llvm::none_of(shape.spatial, isDilated) ||
      !llvm::all_of(shape.spatial, canSplit))
    return {op};
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  MLIRContext *context = op.getContext();
  auto type = cast<RankedTensorType>(op.getOutput().getType());
  Value whole = tensor::EmptyOp::create(rewriter, loc, type.getShape(),
                                        type.getElementType());
  Value zero = arith::ConstantOp::create(
      rewriter, loc, rewriter.getZeroAttr(type.getElementType()));
  whole = linalg::FillOp::create(rewriter, loc, zero, whole).getResult(0);
  auto attributes = [&](ArrayRef<int64_t> values) {
    return getAsIndexOpFoldResult(context, values);
  };
  SmallVector<ConvolutionOp> parts;
  for (ArrayRef<Phase> phases : getPhases(shape)) {
    SmallVector<int64_t> kernelSizes(getSizes(op.getKernel())),
        sizes(type.getShape()), padding;
    SmallVector<int64_t> kernelFrom(kernelSizes.size(), 0),
        kernelSteps(kernelSizes.size(), 1), from(sizes.size(), 0),
        steps(sizes.size(), 1);
    for (auto [dim, phase] : llvm::zip_equal(shape.spatial, phases)) {
      int64_t step = dim.lhsDilation,
              lastTap = phase.firstTap + step * (phase.taps - 1);
      kernelFrom[dim.kernel] =
          dim.isReversed ? dim.taps - 1 - lastTap : phase.firstTap;
      kernelSizes[dim.kernel] = phase.taps;
      from[dim.output] = phase.remainder;
      sizes[dim.output] = phase.places;
      kernelSteps[dim.kernel] = steps[dim.output] = step;
      padding.append({phase.low, phase.high});
    }
    Value kernel = tensor::ExtractSliceOp::create(
        rewriter, loc, op.getKernel(), attributes(kernelFrom),
        attributes(kernelSizes), attributes(kernelSteps));
    Value empty =
        tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType());
    auto part = cast<ConvolutionOp>(rewriter.clone(*op));
    part->setOperands({op.getInput(), kernel, empty});
    part->getResult(0).setType(empty.getType());
    part.removeLhsDilationAttr();
    part.setPadding(padding);
    whole = tensor::InsertSliceOp::create(rewriter, loc, part->getResult(0),
                                          whole, attributes(from),
                                          attributes(sizes), attributes(steps));
    parts.push_back(part);
  }
  rewriter.replaceOp(op, whole);
  return parts;
}
