//===- PlaceControlFlowBuffers.cpp - Control flow that passes on nothing --===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BufferFlow.h"

#include "../Support/Buffers.h"
#include "../Support/Choices.h"
#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Conversion/Passes.h"
#include "braid/Dialect/Library/IR/Library.h"
#include "braid/Support/IR/Remarks.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/MapVector.h"

namespace braid {
#define GEN_PASS_DEF_PLACECONTROLFLOWBUFFERSPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid;

/// The most bytes that an iteration copies to fixed places: a GPU copies so
/// many in the time in which a host reads a condition and enqueues the next
/// iteration (15 us on an H200).
static constexpr int64_t kMostCopiedBytes = int64_t(16) << 20;

/// The most ops of an iteration, which the runtime records together.
static constexpr int64_t kMostRecordedOps = 4096;

/// About the number of kernels of a sort.
static constexpr int64_t kSortOps = 32;

namespace {

/// Counts the ops of an iteration that the GPU runs. None if an op does
/// something else than to enqueue the same work in each iteration.
class OpCounter {
public:
  /// `placed`: loops and choices of the GPU; `decisive`: the loads that decide
  /// them, which no host makes.
  OpCounter(const llvm::SmallPtrSetImpl<Operation *> &placed,
            const llvm::SmallPtrSetImpl<Operation *> &decisive)
      : placed(placed), decisive(decisive) {}

  std::optional<int64_t> count(Region &region) const;

private:
  std::optional<int64_t> count(Operation *op) const;
  std::optional<int64_t> countRegions(Operation *op, int64_t times) const;

  const llvm::SmallPtrSetImpl<Operation *> &placed;
  const llvm::SmallPtrSetImpl<Operation *> &decisive;
};

std::optional<int64_t> OpCounter::count(Region &region) const {
  int64_t total = 0;
  for (Block &block : region)
    for (Operation &op : block) {
      std::optional<int64_t> number = count(&op);
      if (!number || total + *number > kMostRecordedOps)
        return std::nullopt;
      total += *number;
    }
  return total;
}

std::optional<int64_t> OpCounter::countRegions(Operation *op,
                                               int64_t times) const {
  int64_t total = 0;
  for (Region &region : op->getRegions()) {
    std::optional<int64_t> number = count(region);
    if (!number || (*number && times > kMostRecordedOps / *number))
      return std::nullopt;
    total += *number * times;
  }
  return total;
}

std::optional<int64_t> OpCounter::count(Operation *op) const {
  auto isStatic = [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return !shaped || shaped.hasStaticShape();
  };
  if (!llvm::all_of(op->getOperandTypes(), isStatic) ||
      !llvm::all_of(op->getResultTypes(), isStatic))
    return std::nullopt;
  if (isa<memref::CopyOp>(op))
    return 1;
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return structured.hasPureBufferSemantics() ? std::optional<int64_t>(1)
                                               : std::nullopt;
  if (isa<library::AttentionOp, library::AttentionBackwardOp,
          library::ConvolutionOp>(op))
    return 1;
  if (auto call = dyn_cast<library::CallOp>(op))
    return call.getRoutine() == "sort" ? std::optional<int64_t>(kSortOps)
                                       : std::nullopt;
  if (decisive.contains(op) || isa<memref::AllocOp>(op) ||
      op->hasTrait<OpTrait::IsTerminator>())
    return 0;
  if (isa<scf::IfOp, scf::IndexSwitchOp>(op) || placed.contains(op))
    return countRegions(op, 1);
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    std::optional<llvm::APInt> trips = loop.getStaticTripCount();
    if (!trips || trips->ugt(kMostRecordedOps))
      return std::nullopt;
    return countRegions(op, trips->getSExtValue());
  }
  return op->getNumRegions() == 0 && isPure(op) ? std::optional<int64_t>(0)
                                                : std::nullopt;
}

/// What `value` is before casts.
Value skipCasts(Value value) {
  while (auto cast = value.getDefiningOp<memref::CastOp>())
    value = cast.getSource();
  return value;
}

/// The allocation that `value` shows as a whole; null if it is none.
memref::AllocOp getAllocation(Value value) {
  return skipCasts(value).getDefiningOp<memref::AllocOp>();
}

/// Has ops below `root` use buffers without casts that hide their layouts.
void foldCasts(Operation *root) {
  root->walk([](Operation *op) {
    if (isa<linalg::LinalgOp, memref::CopyOp, memref::LoadOp>(op))
      (void)memref::foldMemRefCast(op);
  });
}

/// A loop whose condition a GPU computes.
class WhileLoop {
public:
  explicit WhileLoop(scf::WhileOp loop) : loop(loop) {}

  /// The load of the condition; null if the condition is something else, or if
  /// the loop carries other values than buffers of static sizes.
  memref::LoadOp findCondition();
  /// Has each iteration leave what it carries in the same buffers. Returns
  /// false, with nothing changed, if that copies too much.
  bool place(RewriterBase &rewriter);
  scf::WhileOp getOp() const { return loop; }

private:
  /// The names that the loop-carried value `number` has in the body.
  SmallVector<Value> getNames(unsigned number);
  /// The values that iterations write where they have read the values.
  std::optional<llvm::SmallMapVector<Operation *, unsigned, 4>> findInPlace();
  /// Whether that is possible for `allocation`, which the loop passes on as the
  /// value `number`.
  bool canWriteInPlace(memref::AllocOp allocation, unsigned number);
  Value findInitial(RewriterBase &rewriter, Value initial);
  /// Replaces the loop by one that carries nothing: the region of the condition
  /// reads `arguments`, the body and the ops behind the loop `passed`.
  void dropCarried(RewriterBase &rewriter, ValueRange arguments,
                   ValueRange passed);

  scf::WhileOp loop;
};

/// The type of a buffer of its own for values of `type`.
static MemRefType getContiguous(MemRefType type) {
  return MemRefType::get(type.getShape(), type.getElementType(),
                         MemRefLayoutAttrInterface(), type.getMemorySpace());
}

/// True if a fixed buffer can hold values of `type`.
static bool isPlaceable(Type type) {
  auto buffer = dyn_cast<MemRefType>(type);
  return buffer && buffer.hasStaticShape() && getTotalBytes(buffer) &&
         memref::CastOp::areCastCompatible(getContiguous(buffer), type);
}

memref::LoadOp WhileLoop::findCondition() {
  Block *before = loop.getBeforeBody();
  scf::ConditionOp condition = loop.getConditionOp();
  memref::LoadOp load = findOnlyLoad(condition.getCondition());
  if (!load || load->getBlock() != before)
    return {};
  // The body sees what the region of the condition passes on.
  auto isVisible = [&](Value value) {
    return value.getParentBlock() != before || isa<BlockArgument>(value) ||
           value.getDefiningOp<memref::AllocOp>();
  };
  if (!llvm::all_of(loop->getOperandTypes(), isPlaceable) ||
      !llvm::all_of(condition.getArgs(), isVisible))
    return {};
  return load;
}

SmallVector<Value> WhileLoop::getNames(unsigned number) {
  SmallVector<Value> names;
  Value argument = loop.getBeforeArguments()[number];
  for (auto [passed, name] :
       llvm::zip(loop.getConditionOp().getArgs(), loop.getAfterArguments()))
    if (passed == argument)
      names.push_back(name);
  return names;
}

/// The op of `block` that is `op` or has it in a region.
static Operation *findIn(Block *block, Operation *op) {
  return block->findAncestorOpInBlock(*op);
}

/// True if `view` shows all elements of `whole` in their order.
static bool showsAll(Value view, Value whole) {
  auto type = cast<MemRefType>(view.getType());
  auto wholeType = cast<MemRefType>(whole.getType());
  return type.hasStaticShape() && type.getLayout().isIdentity() &&
         type.getNumElements() == wholeType.getNumElements() &&
         type.getElementType() == wholeType.getElementType();
}

bool WhileLoop::canWriteInPlace(memref::AllocOp allocation, unsigned number) {
  Block *body = loop.getAfterBody();
  if (allocation->getBlock() != body ||
      !allocation.getType().getLayout().isIdentity())
    return false;
  auto isNext = [&](OpOperand &use) { return isCarried(use, loop); };
  // The first op that uses the allocation writes it as a whole.
  llvm::SetVector<Value> names = getAliases(allocation.getResult(), isNext);
  Operation *first = nullptr;
  for (Value name : names)
    for (Operation *user : name.getUsers()) {
      Operation *ancestor = findIn(body, user);
      if (!ancestor)
        return false;
      if (!isa<ViewLikeOpInterface>(ancestor) &&
          (!first || ancestor->isBeforeInBlock(first)))
        first = ancestor;
    }
  auto writer = dyn_cast_or_null<linalg::LinalgOp>(first);
  if (!writer)
    return false;
  OpOperand *output = nullptr;
  for (OpOperand &init : writer.getDpsInitsMutable())
    if (names.contains(init.get()))
      output = &init;
  if (!output || !showsAll(output->get(), allocation))
    return false;
  AffineMap map = writer.getMatchingIndexingMap(output);
  if (!map.isPermutation())
    return false;
  // No op behind uses what the previous iteration has left, and the writer
  // reads each element before it writes the element.
  for (Value name : getAliases(getNames(number), isNext))
    for (OpOperand &use : name.getUses()) {
      Operation *user = findIn(body, use.getOwner());
      if (!user)
        return false;
      if (user->isBeforeInBlock(writer) || isa<ViewLikeOpInterface>(user))
        continue;
      if (user != writer || use.getOwner() != writer ||
          !writer.isDpsInput(&use) || !showsAll(use.get(), allocation) ||
          use.get().getType() != output->get().getType() ||
          writer.getMatchingIndexingMap(&use) != map)
        return false;
    }
  return true;
}

/// The buffer that holds what the loop begins with: `initial` itself if only
/// the loop needs it from then on.
Value WhileLoop::findInitial(RewriterBase &rewriter, Value initial) {
  Block *block = loop->getBlock();
  auto allocation = initial.getDefiningOp<memref::AllocOp>();
  bool isOwn = allocation && allocation->getBlock() == block &&
               allocation.getType().getLayout().isIdentity();
  if (isOwn)
    for (OpOperand &use : initial.getUses()) {
      Operation *user = findIn(block, use.getOwner());
      isOwn &= use.getOwner() == loop
                   ? llvm::count(loop.getInits(), initial) == 1
                   : user && user->isBeforeInBlock(loop) &&
                         use.getOwner()->getNumResults() == 0;
    }
  if (isOwn)
    return initial;
  rewriter.setInsertionPoint(loop);
  auto type = getContiguous(cast<MemRefType>(initial.getType()));
  Value buffer = memref::AllocOp::create(rewriter, loop.getLoc(), type);
  memref::CopyOp::create(rewriter, loop.getLoc(), initial, buffer);
  return buffer;
}

std::optional<llvm::SmallMapVector<Operation *, unsigned, 4>>
WhileLoop::findInPlace() {
  llvm::SmallMapVector<Operation *, unsigned, 4> inPlace;
  int64_t copied = 0;
  for (auto [number, value] : llvm::enumerate(loop.getYieldOp().getResults())) {
    if (llvm::is_contained(getNames(number), value))
      continue;
    memref::AllocOp allocation = getAllocation(value);
    if (allocation && !inPlace.contains(allocation) &&
        canWriteInPlace(allocation, number))
      inPlace[allocation] = number;
    else
      copied += *getTotalBytes(cast<MemRefType>(value.getType()));
    if (copied > kMostCopiedBytes)
      return std::nullopt;
  }
  return inPlace;
}

bool WhileLoop::place(RewriterBase &rewriter) {
  auto inPlace = findInPlace();
  if (!inPlace)
    return false;
  SmallVector<Value> buffers, arguments, next, passed;
  for (auto [initial, argument] :
       llvm::zip(loop.getInits(), loop.getBeforeArguments())) {
    buffers.push_back(findInitial(rewriter, initial));
    rewriter.setInsertionPoint(loop);
    arguments.push_back(buffers.back().getType() == argument.getType()
                            ? buffers.back()
                            : memref::CastOp::create(rewriter, loop.getLoc(),
                                                     argument.getType(),
                                                     buffers.back()));
  }
  for (Value value : loop.getConditionOp().getArgs()) {
    auto argument = dyn_cast<BlockArgument>(value);
    bool isOwn = value.getParentBlock() == loop.getBeforeBody();
    // The body does not see what the region of the condition allocates.
    if (isOwn && !argument)
      rewriter.moveOpBefore(value.getDefiningOp(), loop);
    passed.push_back(isOwn && argument ? arguments[argument.getArgNumber()]
                                       : value);
  }
  for (Value value : loop.getYieldOp().getResults()) {
    auto argument = dyn_cast<BlockArgument>(value);
    next.push_back(argument && argument.getOwner() == loop.getAfterBody()
                       ? passed[argument.getArgNumber()]
                       : value);
  }
  dropCarried(rewriter, arguments, passed);

  for (auto [allocation, number] : *inPlace) {
    llvm::replace(next, Value(allocation->getResult(0)), buffers[number]);
    rewriter.replaceOp(allocation, buffers[number]);
  }
  // Copy what may be in the place of another value first.
  rewriter.setInsertionPoint(loop.getYieldOp());
  auto isInPlace = [&](size_t number) {
    return skipCasts(next[number]) == buffers[number];
  };
  llvm::SetVector<Value> places = getAliases(buffers);
  for (auto [number, value] : llvm::enumerate(next))
    if (!isInPlace(number) && places.contains(value))
      value = createCopy(rewriter, loop.getLoc(), value);
  for (auto [number, value] : llvm::enumerate(next))
    if (!isInPlace(number))
      memref::CopyOp::create(rewriter, loop.getLoc(), value, buffers[number]);
  return true;
}

void WhileLoop::dropCarried(RewriterBase &rewriter, ValueRange arguments,
                            ValueRange passed) {
  rewriter.setInsertionPoint(loop);
  auto replacement =
      scf::WhileOp::create(rewriter, loop.getLoc(), TypeRange(), ValueRange());
  replacement->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  replacement.getBefore().takeBody(loop.getBefore());
  replacement.getAfter().takeBody(loop.getAfter());
  auto replaceArguments = [&](Block *block, ValueRange values) {
    for (auto [argument, value] : llvm::zip(block->getArguments(), values))
      rewriter.replaceAllUsesWith(argument, value);
    block->eraseArguments(0, block->getNumArguments());
  };
  replacement.getConditionOp().getArgsMutable().clear();
  replacement.getYieldOp()->setOperands({});
  replaceArguments(replacement.getBeforeBody(), arguments);
  replaceArguments(replacement.getAfterBody(), passed);
  rewriter.replaceOp(loop, passed);
  loop = replacement;
}

/// A choice by a number that a GPU computes.
class Choice {
public:
  explicit Choice(Operation *op) : op(op) {}

  /// Has each case leave its results in the same buffers. Returns false, with
  /// nothing changed, if that is impossible or copies too much.
  bool place(RewriterBase &rewriter);
  Operation *getOp() const { return op; }

private:
  bool canPlace();
  /// The buffer of the case for a value that it yields; null if it has none.
  static memref::AllocOp findOwn(OpOperand &yielded);
  void dropResults(RewriterBase &rewriter, ValueRange results);

  Operation *op;
};

memref::AllocOp Choice::findOwn(OpOperand &yielded) {
  memref::AllocOp allocation = getAllocation(yielded.get());
  bool isOwn =
      allocation && allocation->getBlock() == yielded.getOwner()->getBlock() &&
      allocation.getType().getLayout().isIdentity() &&
      llvm::count_if(yielded.getOwner()->getOperands(), [&](Value other) {
        return getAllocation(other) == allocation;
      }) == 1;
  return isOwn ? allocation : memref::AllocOp();
}

bool Choice::canPlace() {
  if (!llvm::all_of(op->getResultTypes(), isPlaceable))
    return false;
  for (Region *region : getCases(op)) {
    int64_t copied = 0;
    if (!region->empty())
      for (OpOperand &yielded :
           region->front().getTerminator()->getOpOperands())
        if (!findOwn(yielded))
          copied += *getTotalBytes(cast<MemRefType>(yielded.get().getType()));
    if (copied > kMostCopiedBytes)
      return false;
  }
  return true;
}

bool Choice::place(RewriterBase &rewriter) {
  if (!canPlace())
    return false;
  Location loc = op->getLoc();
  SmallVector<Value> buffers, results;
  rewriter.setInsertionPoint(op);
  for (Type type : op->getResultTypes()) {
    auto contiguous = getContiguous(cast<MemRefType>(type));
    buffers.push_back(memref::AllocOp::create(rewriter, loc, contiguous));
    results.push_back(
        type == contiguous
            ? buffers.back()
            : memref::CastOp::create(rewriter, loc, type, buffers.back()));
  }
  for (Region *region : getCases(op)) {
    if (region->empty())
      continue;
    Operation *yield = region->front().getTerminator();
    rewriter.setInsertionPoint(yield);
    for (auto [operand, buffer] : llvm::zip(yield->getOpOperands(), buffers))
      if (memref::AllocOp own = findOwn(operand))
        rewriter.replaceOp(own, buffer);
      else
        memref::CopyOp::create(rewriter, loc, operand.get(), buffer);
    yield->setOperands({});
  }
  dropResults(rewriter, results);
  return true;
}

void Choice::dropResults(RewriterBase &rewriter, ValueRange results) {
  rewriter.setInsertionPoint(op);
  Operation *replacement;
  if (auto branch = dyn_cast<scf::IfOp>(op))
    replacement = scf::IfOp::create(rewriter, op->getLoc(), TypeRange(),
                                    branch.getCondition(),
                                    /*addThenBlock=*/false,
                                    /*addElseBlock=*/false);
  else
    replacement =
        scf::IndexSwitchOp::create(rewriter, op->getLoc(), TypeRange(),
                                   cast<scf::IndexSwitchOp>(op).getArg(),
                                   cast<scf::IndexSwitchOp>(op).getCases(),
                                   cast<scf::IndexSwitchOp>(op).getNumCases());
  replacement->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  for (auto [from, to] :
       llvm::zip_equal(op->getRegions(), replacement->getRegions()))
    to.takeBody(from);
  rewriter.replaceOp(op, results);
  op = replacement;
}

struct PlaceControlFlowBuffersPass
    : public braid::StructuralPass<braid::impl::PlaceControlFlowBuffersPassBase<
          PlaceControlFlowBuffersPass>> {
  LogicalResult transform() override {
    IRRewriter rewriter(&getContext());
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<scf::WhileOp, scf::IfOp, scf::IndexSwitchOp>(op) &&
          !op->getParentOfType<linalg::LinalgOp>())
        ops.push_back(op);
    });
    foldCasts(getOperation());
    // Inner ops come first.
    for (Operation *op : ops) {
      Operation *done = isa<scf::WhileOp>(op)
                            ? place(rewriter, cast<scf::WhileOp>(op))
                            : place(rewriter, op);
      if (!done)
        continue;
      placed.insert(done);
      emitPassedRemark(done, getArgument(), "placed-buffers", [](auto &) {});
    }
    foldCasts(getOperation());
    return success();
  }

private:
  /// The op in place of the loop; null if the host decides.
  Operation *place(RewriterBase &rewriter, scf::WhileOp op) {
    WhileLoop loop(op);
    memref::LoadOp condition = loop.findCondition();
    if (!condition)
      return nullptr;
    decisive.insert(condition);
    OpCounter counter(placed, decisive);
    if (counter.count(op.getBefore()) && counter.count(op.getAfter()) &&
        loop.place(rewriter))
      return loop.getOp();
    decisive.erase(condition);
    return nullptr;
  }

  /// The same for a choice.
  Operation *place(RewriterBase &rewriter, Operation *op) {
    memref::LoadOp selector = findSelector(op);
    OpCounter counter(placed, decisive);
    Choice choice(op);
    if (!selector ||
        !llvm::all_of(op->getRegions(),
                      [&](Region &region) {
                        return counter.count(region).has_value();
                      }) ||
        !choice.place(rewriter))
      return nullptr;
    decisive.insert(selector);
    return choice.getOp();
  }

  /// The loops and choices of the GPU, and the loads that decide them, which no
  /// host makes.
  llvm::SmallPtrSet<Operation *, 8> placed, decisive;
};

} // namespace
