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
/// The elements of a buffer from `begin` up to `end`.
struct Elements {
  int64_t begin, end;

  bool overlaps(const Elements &other) const {
    return begin < other.end && other.begin < end;
  }
};
} // namespace

/// The elements of its source that `view` names, if they are known and stand
/// one after the other.
static std::optional<Elements> getElements(memref::SubViewOp view) {
  MemRefType type = view.getType();
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (!memref::isStaticShapeAndContiguousRowMajor(type) ||
      failed(type.getStridesAndOffset(strides, offset)) ||
      ShapedType::isDynamic(offset))
    return std::nullopt;
  return Elements{offset, offset + type.getNumElements()};
}

/// Whether all users of `value` are behind `copy` in its block.
static bool isUsedBehind(Value value, memref::CopyOp copy) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    Operation *ancestor = copy->getBlock()->findAncestorOpInBlock(*user);
    return ancestor && copy->isBeforeInBlock(ancestor);
  });
}

/// Whether nothing but `copy` accesses these elements of `target` before the
/// copy ends.
static bool isFreeUntil(memref::CopyOp copy, memref::AllocOp target,
                        const Elements &elements) {
  return llvm::all_of(target->getUsers(), [&](Operation *user) {
    auto view = dyn_cast<memref::SubViewOp>(user);
    if (!view) {
      Operation *ancestor = copy->getBlock()->findAncestorOpInBlock(*user);
      return ancestor && copy->isBeforeInBlock(ancestor);
    }
    if (view.getResult() == copy.getTarget())
      return true;
    std::optional<Elements> others = getElements(view);
    return (others && !others->overlaps(elements)) ||
           isUsedBehind(view.getResult(), copy);
  });
}

/// Whether `user` takes a buffer of any place in a larger one.
static bool takesAnyPlace(Operation *user) {
  return isa<linalg::LinalgOp, AsyncStartOpInterface, WaitOp, memref::CopyOp>(
      user);
}

/// Makes the destination of `copy` its source.
static void place(memref::CopyOp copy) {
  auto source = copy.getSource().getDefiningOp<memref::AllocOp>();
  auto view = copy.getTarget().getDefiningOp<memref::SubViewOp>();
  if (!source || !view || !view->hasOneUse() ||
      !inflight::isDeadAfter(source, copy))
    return;
  auto target = view.getSource().getDefiningOp<memref::AllocOp>();
  std::optional<Elements> elements = getElements(view);
  if (!target || !elements || target->getBlock() != copy->getBlock() ||
      target->getNumOperands() != 0 ||
      view.getType().getShape() != source.getType().getShape() ||
      !memref::isStaticShapeAndContiguousRowMajor(target.getType()) ||
      !llvm::all_of(source->getUsers(), takesAnyPlace) ||
      !isFreeUntil(copy, target, *elements))
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
