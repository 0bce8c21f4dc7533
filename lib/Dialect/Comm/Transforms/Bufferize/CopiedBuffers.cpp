//===- CopiedBuffers.cpp - Buffers that are copied into larger ones -------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InFlight.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"

using namespace mlir;
using namespace braid::comm;

namespace {
/// The indices from `begin` up to `end` of each dimension of a buffer.
struct Part {
  SmallVector<int64_t> begin, end;

  bool overlaps(const Part &other) const {
    return llvm::all_of(llvm::seq<size_t>(0, begin.size()), [&](size_t dim) {
      return begin[dim] < other.end[dim] && other.begin[dim] < end[dim];
    });
  }
};
} // namespace

/// The part of its source that `view` names, if it is known and whole.
static std::optional<Part> getPart(memref::SubViewOp view) {
  ArrayRef<int64_t> offsets = view.getStaticOffsets(),
                    sizes = view.getStaticSizes();
  if (ShapedType::isDynamicShape(offsets) ||
      ShapedType::isDynamicShape(sizes) ||
      !llvm::all_of(view.getStaticStrides(),
                    [](int64_t stride) { return stride == 1; }))
    return std::nullopt;
  Part part{SmallVector<int64_t>(offsets), SmallVector<int64_t>(offsets)};
  for (auto [end, size] : llvm::zip_equal(part.end, sizes))
    end += size;
  return part;
}

/// Whether all users of `value` are behind `copy` in its block.
static bool isUsedBehind(Value value, memref::CopyOp copy) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    Operation *ancestor = copy->getBlock()->findAncestorOpInBlock(*user);
    return ancestor && copy->isBeforeInBlock(ancestor);
  });
}

/// Whether nothing but `copy` accesses `part` of `target` before the copy ends.
static bool isFreeUntil(memref::CopyOp copy, memref::AllocOp target,
                        const Part &part) {
  return llvm::all_of(target->getUsers(), [&](Operation *user) {
    auto view = dyn_cast<memref::SubViewOp>(user);
    if (!view) {
      Operation *ancestor = copy->getBlock()->findAncestorOpInBlock(*user);
      return ancestor && copy->isBeforeInBlock(ancestor);
    }
    if (view.getResult() == copy.getTarget())
      return true;
    std::optional<Part> others = getPart(view);
    return (others && !others->overlaps(part)) ||
           isUsedBehind(view.getResult(), copy);
  });
}

/// Whether `user` takes a buffer of any place in a larger one, whose elements
/// stand one after the other if `isContiguous`. Libraries want such matrices.
static bool takesAnyPlace(Operation *user, bool isContiguous) {
  auto structured = dyn_cast<linalg::LinalgOp>(user);
  if (!isContiguous)
    return isa<memref::CopyOp>(user) ||
           (structured && structured.getNumReductionLoops() == 0);
  return structured || isa<AsyncStartOpInterface, WaitOp, memref::CopyOp>(user);
}

/// Makes the destination of `copy` its source.
static void place(memref::CopyOp copy) {
  auto source = copy.getSource().getDefiningOp<memref::AllocOp>();
  auto view = copy.getTarget().getDefiningOp<memref::SubViewOp>();
  if (!source || !view || !view->hasOneUse() ||
      !inflight::isDeadAfter(source, copy))
    return;
  auto target = view.getSource().getDefiningOp<memref::AllocOp>();
  std::optional<Part> part = getPart(view);
  if (!target || !part || target->getBlock() != copy->getBlock() ||
      target->getNumOperands() != 0 ||
      view.getType().getShape() != source.getType().getShape() ||
      !memref::isStaticShapeAndContiguousRowMajor(target.getType()) ||
      !isFreeUntil(copy, target, *part))
    return;
  bool isContiguous =
      memref::isStaticShapeAndContiguousRowMajor(view.getType());
  if (!llvm::all_of(source->getUsers(), [&](Operation *user) {
        return takesAnyPlace(user, isContiguous);
      }))
    return;
  if (source->isBeforeInBlock(target))
    target->moveBefore(source);
  view->moveBefore(source);
  copy->erase();
  source.replaceAllUsesWith(view.getResult());
  source->erase();
}

void inflight::placeCopiedBuffers(ModuleOp module) {
  SmallVector<memref::CopyOp> copies;
  module.walk([&](memref::CopyOp copy) { copies.push_back(copy); });
  for (memref::CopyOp copy : copies)
    place(copy);
}
