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
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

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
static LogicalResult place(memref::CopyOp copy) {
  auto source = copy.getSource().getDefiningOp<memref::AllocOp>();
  auto view = copy.getTarget().getDefiningOp<memref::SubViewOp>();
  if (!source || !view || !view->hasOneUse() ||
      !inflight::isDeadAfter(source, copy))
    return failure();
  auto target = view.getSource().getDefiningOp<memref::AllocOp>();
  std::optional<Part> part = getPart(view);
  if (!target || !part || target->getBlock() != copy->getBlock() ||
      target->getNumOperands() != 0 ||
      view.getType().getShape() != source.getType().getShape() ||
      !memref::isStaticShapeAndContiguousRowMajor(target.getType()) ||
      !isFreeUntil(copy, target, *part))
    return failure();
  bool isContiguous =
      memref::isStaticShapeAndContiguousRowMajor(view.getType());
  if (!llvm::all_of(source->getUsers(), [&](Operation *user) {
        return takesAnyPlace(user, isContiguous);
      }))
    return failure();
  if (source->isBeforeInBlock(target))
    target->moveBefore(source);
  view->moveBefore(source);
  copy->erase();
  source.replaceAllUsesWith(view.getResult());
  source->erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Copies into buffers that loops carry
//===----------------------------------------------------------------------===//

/// The most ops between the first use of a source and its copy.
static constexpr int64_t kMostOpsBetween = 1000;

/// The values that name the memory of `buffer`, if an scf.for carries it: its
/// argument, and what this begins with, also of the loops around. One-Shot
/// gives what a loop carries besides another buffer.
static llvm::SmallDenseSet<Value, 4> getCarriedNames(Value buffer) {
  llvm::SmallDenseSet<Value, 4> names;
  while (true) {
    Value root = memref::skipViewLikeOps(cast<MemrefValue>(buffer));
    auto argument = dyn_cast<BlockArgument>(root);
    auto loop = argument
                    ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())
                    : scf::ForOp();
    OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
    if (!init && names.empty())
      return names;
    names.insert(root);
    if (!init)
      return names;
    buffer = init->get();
  }
}

/// Whether an op from `begin` up to `end`, of one block, may access the memory
/// that `names` name.
static bool isAccessed(const llvm::SmallDenseSet<Value, 4> &names,
                       Operation *begin, Operation *end) {
  int64_t count = 0;
  for (Operation *op = begin; op != end; op = op->getNextNode()) {
    if (++count > kMostOpsBetween)
      return true;
    WalkResult result = op->walk([&](Operation *inner) {
      if (isa<ViewLikeOpInterface>(inner))
        return WalkResult::advance();
      for (Value operand : inner->getOperands())
        if (auto buffer = dyn_cast<MemrefValue>(operand);
            buffer && names.contains(memref::skipViewLikeOps(buffer)))
          return WalkResult::interrupt();
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return true;
  }
  return false;
}

/// Collects `op` and what it is computed from as far as they stand behind
/// `place` in its block; false if they cannot move before it.
static bool collectMovable(Operation *op, Operation *place,
                           llvm::SetVector<Operation *> &moved) {
  if (op->getBlock() != place->getBlock() || op->isBeforeInBlock(place) ||
      moved.contains(op))
    return true;
  if (op->getNumRegions() != 0 || !isMemoryEffectFree(op))
    return false;
  for (Value operand : op->getOperands())
    if (Operation *definition = operand.getDefiningOp();
        definition && !collectMovable(definition, place, moved))
      return false;
  moved.insert(op);
  return true;
}

/// Moves the target of `copy`, a part of a buffer that a loop carries, before
/// `place`; fails if this is not possible, or if an op between `place` and the
/// copy accesses the buffer.
static LogicalResult moveTarget(memref::CopyOp copy, memref::SubViewOp view,
                                Operation *place) {
  llvm::SmallDenseSet<Value, 4> names = getCarriedNames(view.getSource());
  llvm::SetVector<Operation *> moved;
  if (names.empty() || isAccessed(names, place, copy) ||
      !collectMovable(view, place, moved))
    return failure();
  for (Operation *op : moved)
    op->moveBefore(place);
  return success();
}

/// Makes the destination of `copy`, in a buffer that a loop carries, its
/// source, if nothing uses the source behind the copy.
static LogicalResult placeInCarried(memref::CopyOp copy, memref::AllocOp source,
                                    memref::SubViewOp view) {
  if (!inflight::isDeadAfter(source, copy) ||
      !memref::isStaticShapeAndContiguousRowMajor(view.getType()))
    return failure();
  Operation *first = copy;
  for (Operation *user : source->getUsers()) {
    if (!takesAnyPlace(user, /*isContiguous=*/true))
      return failure();
    Operation *ancestor = copy->getBlock()->findAncestorOpInBlock(*user);
    if (ancestor->isBeforeInBlock(first))
      first = ancestor;
  }
  if (failed(moveTarget(copy, view, first)))
    return failure();
  copy->erase();
  source.replaceAllUsesWith(view.getResult());
  source->erase();
  return success();
}

/// The last op before `copy` that writes its source, if it is an elementwise op
/// that computes all elements, and no op in between writes them.
static linalg::GenericOp findProducer(memref::CopyOp copy,
                                      memref::AllocOp source) {
  linalg::GenericOp producer;
  SmallVector<Operation *> users;
  for (Operation *user : source->getUsers()) {
    if (llvm::any_of(user->getResultTypes(), llvm::IsaPred<BaseMemRefType>))
      return {};
    Operation *ancestor = copy->getBlock()->findAncestorOpInBlock(*user);
    if (!ancestor || !ancestor->isBeforeInBlock(copy))
      continue;
    users.push_back(ancestor);
    auto generic = dyn_cast<linalg::GenericOp>(user);
    if (generic && user == ancestor &&
        llvm::is_contained(generic.getOutputs(), source.getResult()) &&
        (!producer || producer->isBeforeInBlock(generic)))
      producer = generic;
  }
  if (!producer || producer.getNumReductionLoops() != 0 ||
      !producer.hasPureBufferSemantics())
    return {};
  for (Operation *user : users) {
    auto structured = dyn_cast<linalg::LinalgOp>(user);
    bool reads = structured && !llvm::is_contained(structured.getDpsInits(),
                                                   source.getResult());
    if (producer->isBeforeInBlock(user) && !reads)
      return {};
  }
  return producer;
}

/// Lets the op that computes the source of `copy` write the destination, in a
/// buffer that a loop carries, too.
static void writeTwice(memref::CopyOp copy, memref::AllocOp source,
                       memref::SubViewOp view) {
  linalg::GenericOp producer = findProducer(copy, source);
  if (!producer)
    return;
  unsigned output = llvm::find(producer.getOutputs(), source.getResult()) -
                    producer.getOutputs().begin();
  OpOperand &init = producer.getOutputsMutable()[output];
  AffineMap map = producer.getMatchingIndexingMap(&init);
  if (!map.isPermutation() || failed(moveTarget(copy, view, producer)))
    return;
  OpBuilder builder(producer);
  SmallVector<Value> outputs(producer.getOutputs());
  outputs.push_back(view);
  SmallVector<AffineMap> maps = producer.getIndexingMapsArray();
  maps.push_back(map);
  auto both = linalg::GenericOp::create(builder, producer.getLoc(),
                                        producer.getInputs(), outputs, maps,
                                        producer.getIteratorTypesArray());
  both->setDiscardableAttrs(producer->getDiscardableAttrDictionary());
  both.getRegion().takeBody(producer.getRegion());
  Block *body = both.getBody();
  body->addArgument(source.getType().getElementType(), copy.getLoc());
  Operation *yield = body->getTerminator();
  yield->insertOperands(yield->getNumOperands(), yield->getOperand(output));
  producer->erase();
  copy->erase();
}

static void placeOfLoop(memref::CopyOp copy) {
  auto source = copy.getSource().getDefiningOp<memref::AllocOp>();
  auto view = copy.getTarget().getDefiningOp<memref::SubViewOp>();
  if (source && view && view->hasOneUse() &&
      source->getBlock() == copy->getBlock() &&
      view.getType().getShape() == source.getType().getShape() &&
      failed(placeInCarried(copy, source, view)))
    writeTwice(copy, source, view);
}

void inflight::placeCopiedBuffers(ModuleOp module) {
  SmallVector<memref::CopyOp> copies;
  module.walk([&](memref::CopyOp copy) { copies.push_back(copy); });
  for (memref::CopyOp copy : copies)
    if (failed(place(copy)))
      placeOfLoop(copy);
}
