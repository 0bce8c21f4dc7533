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

using namespace mlir;
using namespace braid::kernels;

/// A launch is a small part of the time of an op that moves more bytes.
static constexpr int64_t kMostBytes = int64_t(48) << 20;

namespace {

/// The place of a buffer in the memory of its root.
struct Place {
  Value root;
  int64_t offset;
};

} // namespace

/// The place of `buffer`; none if it is not a constant distance from its root.
static std::optional<Place> getPlace(Value buffer) {
  Value root = getRoot(buffer);
  for (Value value = buffer; value != root;) {
    Operation *view = value.getDefiningOp();
    if (!isa<memref::SubViewOp, memref::CastOp, memref::CollapseShapeOp,
             memref::ExpandShapeOp>(view))
      return std::nullopt;
    value = view->getOperand(0);
  }
  auto type = dyn_cast<MemRefType>(buffer.getType());
  auto rootType = dyn_cast<MemRefType>(root.getType());
  SmallVector<int64_t> strides, rootStrides;
  int64_t offset = 0, rootOffset = 0;
  if (!type || !rootType || !rootType.hasStaticShape() ||
      failed(type.getStridesAndOffset(strides, offset)) ||
      failed(rootType.getStridesAndOffset(rootStrides, rootOffset)) ||
      ShapedType::isDynamic(offset) || ShapedType::isDynamic(rootOffset))
    return std::nullopt;
  return Place{root, offset - rootOffset};
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
    if (!place || !type.hasStaticShape() ||
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
  auto isNearer = [](int64_t a, int64_t b) {
    return std::abs(a) < std::abs(b);
  };
  for (unsigned loop = 0; loop < nest.getNumLoops(); ++loop)
    if (access.strides[loop] == 1 &&
        isNearer(*llvm::min_element(written, isNearer), written[loop]))
      return true;
  return false;
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
    access->buffer = place->root;
    access->base += place->offset;
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
/// of the axis, `others` are the strides and sizes of the other loops.
static int64_t findDistance(int64_t stride, int64_t size, int64_t base,
                            ArrayRef<std::pair<int64_t, int64_t>> others) {
  if (stride <= 0 || base < 0)
    return 0;
  int64_t period = stride * size, below = base % period;
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
  return findDistance(access.strides[loop], nest.sizes[loop], access.base,
                      others);
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
  return findDistance(stride, nest.sizes[loop], read.base, others);
}
