//===- PartCandidate.cpp - Ops that may be in a run of parts --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PartCandidate.h"

#include "../../LinalgToBraidRT/MatmulMatch.h"
#include "../BufferAddress.h"
#include "../KernelBuilder.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <numeric>

using namespace mlir;
using namespace braid::kernels;

/// A launch is a small part of the time of an op that moves more bytes.
static constexpr int64_t kMostBytes = int64_t(48) << 20;

namespace {

/// The place of a buffer in the memory of its root: `offset` elements from the
/// first one, and a multiple of `unit` that only the run of the program tells.
struct Place {
  Value root;
  int64_t offset = 0, unit = 0;
};

} // namespace

/// The place of `buffer`; none if it is not known.
static std::optional<Place> getPlace(Value buffer) {
  Place place{getRoot(buffer)};
  for (Value value = buffer; value != place.root;) {
    Operation *view = value.getDefiningOp();
    if (!isa<memref::SubViewOp, memref::CastOp, memref::CollapseShapeOp,
             memref::ExpandShapeOp>(view))
      return std::nullopt;
    value = view->getOperand(0);
    auto part = dyn_cast<memref::SubViewOp>(view);
    if (!part)
      continue;
    auto [strides, _] = part.getSourceType().getStridesAndOffset();
    for (auto [step, stride] : llvm::zip(part.getMixedOffsets(), strides)) {
      if (ShapedType::isDynamic(stride))
        return std::nullopt;
      if (std::optional<int64_t> constant = getConstantIntValue(step))
        place.offset += *constant * stride;
      else
        place.unit = std::gcd(place.unit, stride);
    }
  }
  auto rootType = dyn_cast<MemRefType>(place.root.getType());
  if (!rootType || !rootType.hasStaticShape() || !rootType.isStrided() ||
      ShapedType::isDynamic(rootType.getStridesAndOffset().second))
    return std::nullopt;
  return place;
}

/// The reads of `body` from buffers from outside; none if one is not known.
static std::optional<SmallVector<CapturedRead>>
getCapturedReads(const LoopNest &nest) {
  SmallVector<CapturedRead> reads;
  for (Value buffer : getCaptured(*nest.body)) {
    auto type = dyn_cast<MemRefType>(buffer.getType());
    if (!type)
      continue;
    std::optional<Place> place = getPlace(buffer);
    auto [strides, offset] = type.getStridesAndOffset();
    if (!place || place->unit != 0 || !type.hasStaticShape() ||
        llvm::any_of(strides, ShapedType::isDynamic))
      return std::nullopt;
    for (OpOperand &use : buffer.getUses()) {
      // The op that stands for a copy is in no region.
      Region *region = use.getOwner()->getParentRegion();
      if (!region || !nest.body->getParent()->isAncestor(region))
        continue;
      auto load = dyn_cast<memref::LoadOp>(use.getOwner());
      if (!load)
        return std::nullopt;
      CapturedRead read{place->root,
                        place->offset,
                        strides,
                        SmallVector<int64_t>(type.getShape()),
                        {}};
      for (Value index : load.getIndices()) {
        auto loop = index.getDefiningOp<linalg::IndexOp>();
        read.loops.push_back(loop ? nest.dimensions[loop.getDim()].loop : -1);
      }
      reads.push_back(std::move(read));
    }
  }
  return reads;
}

/// True if a kernel reads `access` best with tiles in shared memory: elements
/// that are adjacent in memory are not the nearest ones that `nest` writes.
static bool isTransposed(const Access &access, const LoopNest &nest) {
  ArrayRef<int64_t> written = nest.outputs.front().strides;
  const int64_t *nearest = llvm::min_element(
      written, [](int64_t a, int64_t b) { return std::abs(a) < std::abs(b); });
  // Adjacent threads may also read the same element.
  return nearest != written.end() &&
         access.getStride(nearest - written.begin()) > 1 &&
         llvm::is_contained(access.strides, 1);
}

/// True if the kernel of a reduction or a matmul may take in `fill`.
static bool isTakenIn(linalg::FillOp fill) {
  return llvm::any_of(fill.output().getUsers(), [](Operation *user) {
    auto other = dyn_cast<linalg::LinalgOp>(user);
    return other && other.getNumReductionLoops() > 0;
  });
}

std::unique_ptr<PartCandidate> braid::kernels::matchPart(RewriterBase &rewriter,
                                                         Operation *op) {
  OwningOpRef<linalg::GenericOp> generic;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    auto isStatic = [](Value buffer) {
      auto type = dyn_cast<MemRefType>(buffer.getType());
      return type && type.hasStaticShape() && type.isStrided();
    };
    if (!isStatic(copy.getSource()) || !isStatic(copy.getTarget()))
      return nullptr;
    rewriter.setInsertionPoint(op);
    generic = linalg::makeMemRefCopyOp(rewriter, op->getLoc(), copy.getSource(),
                                       copy.getTarget());
    (*generic)->remove();
    structured = cast<linalg::LinalgOp>((*generic).getOperation());
  }
  if (!structured || !structured.hasPureBufferSemantics() ||
      structured.getNumReductionLoops() > 0 || op->getNumRegions() > 1 ||
      op->hasAttr(braid::kOverwritesAttrName))
    return nullptr;
  if (auto fill = dyn_cast<linalg::FillOp>(op); fill && isTakenIn(fill))
    return nullptr;
  // No two iterations write the same element.
  for (OpOperand &output : structured.getDpsInitsMutable())
    if (!structured.getMatchingIndexingMap(&output).isPermutation())
      return nullptr;
  std::optional<LoopNest> nest = getLoopNest(structured);
  if (!nest || nest->getNumIterations() == 0 || nest->outputs.empty())
    return nullptr;
  auto result = std::make_unique<PartCandidate>(
      PartCandidate{op, std::move(generic), std::move(*nest), {}});
  for (Access *access : result->nest.getAccesses()) {
    std::optional<Place> place = getPlace(access->buffer);
    if (!place || isTransposed(*access, result->nest))
      return nullptr;
    // The kernel gets an offset that is not constant beside the buffer.
    if (place->unit == 0) {
      access->buffer = place->root;
      access->base += place->offset;
    }
    int64_t bytes = getByteSize(access->elementType);
    for (auto [size, stride] :
         llvm::zip_equal(result->nest.sizes, access->strides))
      bytes *= stride == 0 ? 1 : size;
    result->numBytes += bytes;
  }
  std::optional<SmallVector<CapturedRead>> captured =
      getCapturedReads(result->nest);
  if (!captured)
    return nullptr;
  result->captured = std::move(*captured);
  if (!result->captured.empty())
    result->numBytes *= 2;
  if (result->numBytes > kMostBytes)
    return nullptr;
  return result;
}

/// The distance of the elements whose indices along an axis of `size` differ by
/// one, if the address of an element tells the index: the index is the address
/// divided by the distance, modulo the size. Zero otherwise. `stride` is that
/// of the axis, `others` are the strides and sizes of the other loops. The
/// first address is `base` plus a multiple of `unit`.
static int64_t findDistance(int64_t stride, int64_t size, int64_t base,
                            int64_t unit,
                            ArrayRef<std::pair<int64_t, int64_t>> others) {
  int64_t period = stride * size;
  if (stride <= 0 || base < 0 || unit % period != 0)
    return 0;
  int64_t below = base % period;
  for (auto [other, iterations] : others) {
    if (other < 0)
      return 0;
    if (other % period != 0)
      below += other * (iterations - 1);
  }
  return below < stride ? stride : 0;
}

int64_t braid::kernels::getDistance(const Access &access, const LoopNest &nest,
                                    unsigned loop) {
  SmallVector<std::pair<int64_t, int64_t>> others;
  for (unsigned other = 0; other < nest.getNumLoops(); ++other)
    if (other != loop)
      others.emplace_back(access.strides[other], nest.sizes[other]);
  Place place = *getPlace(access.buffer);
  return findDistance(access.strides[loop], nest.sizes[loop],
                      access.base + place.offset, place.unit, others);
}

int64_t braid::kernels::getDistance(const CapturedRead &read,
                                    const LoopNest &nest, unsigned loop) {
  SmallVector<std::pair<int64_t, int64_t>> others;
  int64_t stride = 0;
  for (auto [dim, its] : llvm::enumerate(read.loops)) {
    if (its != static_cast<int>(loop))
      others.emplace_back(read.strides[dim], read.sizes[dim]);
    else if (stride != 0)
      return 0;
    else
      stride = read.strides[dim];
  }
  return findDistance(stride, nest.sizes[loop], read.base, /*unit=*/0, others);
}
