//===- DistributeLoop.cpp - Loops of their own for parts of one -----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A recurrent network multiplies each input by the same weights, and adds to
// the gradients of these in each iteration. Only what passes a state on needs
// the order of the iterations. Loop distribution gives the rest loops whose
// iterations may become one: Kennedy and McKinley, "Loop Distribution with
// Arbitrary Control Flow" (Supercomputing 1990).
//
//===----------------------------------------------------------------------===//

#include "Iterations.h"

#include "Analysis/Memory/TypeSize.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Support/IR/Operations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

//===----------------------------------------------------------------------===//
// What may leave the loop
//===----------------------------------------------------------------------===//

/// The values that `op` reads, also in its regions.
static llvm::SetVector<Value> getReadValues(Operation *op) {
  llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), values);
  return values;
}

namespace {

/// The ops of the body of a loop by what the iterations need them for.
class LoopParts {
public:
  explicit LoopParts(scf::ForOp loop);

  /// What needs no earlier iteration but is needed by the state, with the
  /// matmuls of it that read the same weights in all iterations.
  llvm::SetVector<Operation *> getFront();
  /// What no later iteration needs, from such matmuls and from the terms of
  /// sums over the iterations on.
  llvm::SetVector<Operation *> getBack();

  /// True if `op` is cheaper to compute again than to keep: it gives the same
  /// in all iterations, or takes the part of it that the iteration has.
  bool isRepeatable(Operation *op) const {
    return repeatable.contains(op) || invariant.contains(op);
  }
  /// The place among the carried values of the one that `op` adds to or inserts
  /// into, if the loop does nothing else with that value.
  std::optional<unsigned> getCarried(Operation *op) const {
    const auto *it = updates.find(op);
    return it == updates.end() ? std::nullopt : std::optional(it->second);
  }

private:
  std::optional<unsigned> findUpdate(Operation *op);
  bool isInvariant(Value value);
  bool readsSameWeights(Operation *op);

  scf::ForOp loop;
  llvm::MapVector<Operation *, unsigned> updates;
  llvm::DenseSet<Operation *> invariant, repeatable;
  /// What depends on the state of an earlier iteration, and what a state
  /// depends on.
  llvm::DenseSet<Operation *> dependent, needed;
};

} // namespace

/// The op of the body of `loop` in which `user` is, or which it is.
static Operation *getOpOfBody(scf::ForOp loop, Operation *user) {
  return loop.getBody()->findAncestorOpInBlock(*user);
}

/// True if `op` adds to what `carried` holds, and does nothing else with it.
static bool addsTo(linalg::LinalgOp op, Value carried) {
  if (op->getNumResults() != 1)
    return false;
  Operation *sum =
      op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  unsigned numTerms = 0;
  // An elementwise op may overwrite what it reads: that is no use of its own.
  for (OpOperand &operand : op->getOpOperands()) {
    if (operand.get() != carried || !op.payloadUsesValueFromOperand(&operand))
      continue;
    Value argument = op.getMatchingBlockArgument(&operand);
    if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(sum) ||
        !argument.hasOneUse() || *argument.user_begin() != sum)
      return false;
    ++numTerms;
  }
  return numTerms == 1;
}

/// The place of the carried value that `op` updates, and that nothing else in
/// the loop reads.
std::optional<unsigned> LoopParts::findUpdate(Operation *op) {
  if (op->getNumResults() != 1 || !op->getResult(0).hasOneUse())
    return std::nullopt;
  OpOperand &use = *op->getResult(0).use_begin();
  if (use.getOwner() != loop.getBody()->getTerminator())
    return std::nullopt;
  BlockArgument carried = loop.getRegionIterArg(use.getOperandNumber());
  if (!llvm::all_of(carried.getUsers(),
                    [&](Operation *user) { return user == op; }))
    return std::nullopt;
  auto insert = dyn_cast<tensor::InsertSliceOp>(op);
  auto sum = dyn_cast<linalg::LinalgOp>(op);
  bool isUpdate = insert ? insert.getDest() == carried && carried.hasOneUse()
                         : sum && addsTo(sum, carried);
  return isUpdate ? std::optional(use.getOperandNumber()) : std::nullopt;
}

bool LoopParts::isInvariant(Value value) {
  Operation *op = value.getDefiningOp();
  return loop.isDefinedOutsideOfLoop(value) || (op && invariant.contains(op));
}

LoopParts::LoopParts(scf::ForOp loop) : loop(loop) {
  Block *body = loop.getBody();
  for (Operation &op : body->without_terminator()) {
    if (std::optional<unsigned> update = findUpdate(&op))
      updates.insert({&op, *update});
    if (!isMemoryEffectFree(&op))
      continue;
    llvm::SetVector<Value> read = getReadValues(&op);
    if (llvm::all_of(read, [&](Value v) { return isInvariant(v); }))
      invariant.insert(&op);
    bool isCheap =
        isa<tensor::EmptyOp, linalg::FillOp, tensor::ExtractSliceOp,
            tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op) ||
        llvm::none_of(op.getResultTypes(), llvm::IsaPred<ShapedType>);
    if (isCheap && llvm::all_of(read, [&](Value v) {
          Operation *from = v.getDefiningOp();
          return v == loop.getInductionVar() ||
                 loop.isDefinedOutsideOfLoop(v) || (from && isRepeatable(from));
        }))
      repeatable.insert(&op);
  }

  // Values that are no such updates are the state. Who has effects is, too.
  llvm::DenseSet<Value> state;
  llvm::SmallBitVector updated(loop.getNumRegionIterArgs());
  for (auto &[op, number] : updates)
    updated.set(number);
  for (auto [number, carried] : llvm::enumerate(loop.getRegionIterArgs()))
    if (!updated.test(number))
      state.insert(carried);
  for (Operation &op : body->without_terminator())
    if (!isMemoryEffectFree(&op) ||
        llvm::any_of(getReadValues(&op), [&](Value value) {
          Operation *from = value.getDefiningOp();
          return state.contains(value) || (from && dependent.contains(from));
        }))
      dependent.insert(&op);
  for (Operation &op : llvm::reverse(body->without_terminator())) {
    bool isNeeded = !isMemoryEffectFree(&op);
    for (OpOperand &use : op.getUses())
      isNeeded |= use.getOwner() == body->getTerminator()
                      ? !updated.test(use.getOperandNumber())
                      : needed.contains(getOpOfBody(loop, use.getOwner()));
    if (isNeeded)
      needed.insert(&op);
  }
}

/// True if `op` is a matmul one of whose operands is the same in all
/// iterations.
bool LoopParts::readsSameWeights(Operation *op) {
  auto matmul = dyn_cast<linalg::LinalgOp>(op);
  if (!matmul || !linalg::isaContractionOpInterface(matmul) ||
      invariant.contains(op))
    return false;
  return llvm::any_of(matmul.getDpsInputs(),
                      [&](Value input) { return isInvariant(input); });
}

llvm::SetVector<Operation *> LoopParts::getFront() {
  llvm::SetVector<Operation *> found;
  for (Operation &op : loop.getBody()->without_terminator())
    if (needed.contains(&op) && !dependent.contains(&op) &&
        readsSameWeights(&op))
      found.insert(&op);
  for (size_t number = 0; number != found.size(); ++number)
    for (Value value : getReadValues(found[number]))
      if (Operation *from = value.getDefiningOp();
          from && from->getBlock() == loop.getBody() && !isRepeatable(from))
        found.insert(from);
  return found;
}

llvm::SetVector<Operation *> LoopParts::getBack() {
  Block *body = loop.getBody();
  // Whose results reach nothing but sums over the iterations.
  llvm::DenseSet<Operation *> isTerm;
  for (Operation &op : llvm::reverse(body->without_terminator())) {
    bool isFound = !needed.contains(&op) && !op.use_empty();
    if (getCarried(&op))
      isFound = !isa<tensor::InsertSliceOp>(op);
    else
      for (Operation *user : op.getUsers())
        isFound &= isTerm.contains(getOpOfBody(loop, user));
    if (isFound)
      isTerm.insert(&op);
  }
  llvm::SetVector<Operation *> found;
  for (Operation &op : body->without_terminator()) {
    auto sum = dyn_cast<linalg::LinalgOp>(op);
    bool begins = !needed.contains(&op) && !invariant.contains(&op) &&
                  (readsSameWeights(&op) || (sum && isTerm.contains(&op) &&
                                             sum.getNumReductionLoops() > 0));
    if (begins || llvm::any_of(getReadValues(&op), [&](Value value) {
          Operation *from = value.getDefiningOp();
          return from && found.contains(from);
        }))
      found.insert(&op);
  }
  return found;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {

/// Moves ops of a loop to another one.
class LoopDistributor {
public:
  LoopDistributor(RewriterBase &rewriter, scf::ForOp loop, int64_t mostBytes,
                  function_ref<bool(scf::ForOp)> accepts)
      : rewriter(rewriter), loop(loop), parts(loop), mostBytes(mostBytes),
        accepts(accepts) {}

  /// Moves what the loop waits for to a loop in front of it. With `descends`
  /// later iterations have earlier rows of stacks, as in gradients of loops.
  /// False if the new loop is refused.
  bool moveToFront(bool descends);
  /// Moves what no iteration waits for to a loop behind it.
  bool moveToBack(bool descends);

private:
  /// What `ops` read of the rest of the body, which has to be kept; none if
  /// that is too much, or no tensors of known sizes.
  std::optional<SmallVector<Value>>
  findKept(const llvm::SetVector<Operation *> &ops);
  bool fits(ArrayRef<Value> kept);
  Value createStack(Value row);
  /// The row of stacks of iteration `number`.
  Value getRow(Value number, bool descends);
  Value insertRow(Value row, Value stack, Value number);
  Value extractRow(Value stack, Type type, Value number);
  /// Clones `ops`, and what they repeat, in the order of the loop.
  void cloneOps(const llvm::SetVector<Operation *> &ops, IRMapping &mapping);

  RewriterBase &rewriter;
  scf::ForOp loop;
  LoopParts parts;
  int64_t mostBytes;
  function_ref<bool(scf::ForOp)> accepts;
};

} // namespace

bool LoopDistributor::fits(ArrayRef<Value> kept) {
  int64_t bytes = 0;
  for (Value value : kept) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !type.hasStaticShape() || type.getRank() == 0)
      return false;
    bytes += static_cast<int64_t>(getTypeBytes(type, SizeDefaults()));
  }
  return bytes <= mostBytes / *getStaticTripCount(loop);
}

std::optional<SmallVector<Value>>
LoopDistributor::findKept(const llvm::SetVector<Operation *> &ops) {
  llvm::SetVector<Value> kept;
  for (Operation *op : ops)
    for (Value value : getReadValues(op)) {
      Operation *from = value.getDefiningOp();
      auto carried = dyn_cast<BlockArgument>(value);
      if (loop.isDefinedOutsideOfLoop(value) ||
          value == loop.getInductionVar() ||
          (from && (ops.contains(from) || parts.isRepeatable(from))) ||
          (carried && parts.getCarried(op) == carried.getArgNumber() - 1))
        continue;
      kept.insert(value);
    }
  if (!fits(kept.getArrayRef()))
    return std::nullopt;
  return kept.takeVector();
}

Value LoopDistributor::createStack(Value row) {
  auto type = cast<RankedTensorType>(row.getType());
  SmallVector<int64_t> shape{*getStaticTripCount(loop)};
  llvm::append_range(shape, type.getShape());
  return tensor::EmptyOp::create(rewriter, loop.getLoc(), shape,
                                 type.getElementType());
}

Value LoopDistributor::getRow(Value number, bool descends) {
  if (!descends)
    return number;
  Value last = arith::ConstantIndexOp::create(rewriter, loop.getLoc(),
                                              *getStaticTripCount(loop) - 1);
  return arith::SubIOp::create(rewriter, loop.getLoc(), last, number);
}

/// The place of row `number` of a stack of tensors of `type`.
static std::array<SmallVector<OpFoldResult>, 3>
getRowPlace(RewriterBase &rewriter, RankedTensorType type, Value number) {
  SmallVector<OpFoldResult> offsets(type.getRank() + 1,
                                    rewriter.getIndexAttr(0));
  SmallVector<OpFoldResult> sizes{rewriter.getIndexAttr(1)};
  for (int64_t size : type.getShape())
    sizes.push_back(rewriter.getIndexAttr(size));
  offsets[0] = number;
  return {offsets, sizes,
          SmallVector<OpFoldResult>(sizes.size(), rewriter.getIndexAttr(1))};
}

Value LoopDistributor::insertRow(Value row, Value stack, Value number) {
  auto [offsets, sizes, strides] =
      getRowPlace(rewriter, cast<RankedTensorType>(row.getType()), number);
  return tensor::InsertSliceOp::create(rewriter, row.getLoc(), row, stack,
                                       offsets, sizes, strides);
}

Value LoopDistributor::extractRow(Value stack, Type type, Value number) {
  auto row = cast<RankedTensorType>(type);
  auto [offsets, sizes, strides] = getRowPlace(rewriter, row, number);
  return tensor::ExtractSliceOp::create(rewriter, stack.getLoc(), row, stack,
                                        offsets, sizes, strides);
}

void LoopDistributor::cloneOps(const llvm::SetVector<Operation *> &ops,
                               IRMapping &mapping) {
  llvm::SetVector<Operation *> all = ops;
  for (size_t number = 0; number != all.size(); ++number)
    for (Value value : getReadValues(all[number]))
      if (Operation *from = value.getDefiningOp();
          from && parts.isRepeatable(from) && !mapping.contains(value))
        all.insert(from);
  for (Operation &op : loop.getBody()->without_terminator())
    if (all.contains(&op))
      rewriter.clone(op, mapping);
}

bool LoopDistributor::moveToFront(bool descends) {
  llvm::SetVector<Operation *> ops = parts.getFront();
  std::optional<SmallVector<Value>> read = findKept(ops);
  if (ops.empty() || !read || !read->empty())
    return true;
  llvm::SetVector<Value> kept;
  for (Operation *op : ops)
    for (OpOperand &use : op->getUses())
      if (!ops.contains(getOpOfBody(loop, use.getOwner())))
        kept.insert(use.get());
  if (!fits(kept.getArrayRef()))
    return true;

  rewriter.setInsertionPoint(loop);
  SmallVector<Value> stacks;
  for (Value value : kept)
    stacks.push_back(createStack(value));
  auto front = scf::ForOp::create(
      rewriter, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(),
      loop.getStep(), stacks,
      [&](OpBuilder &, Location loc, Value number, ValueRange rows) {
        IRMapping mapping;
        mapping.map(loop.getInductionVar(), number);
        cloneOps(ops, mapping);
        SmallVector<Value> results;
        Value row = getRow(number, descends);
        for (auto [value, stack] : llvm::zip_equal(kept, rows))
          results.push_back(insertRow(mapping.lookup(value), stack, row));
        scf::YieldOp::create(rewriter, loc, results);
      });
  if (!accepts(front)) {
    rewriter.eraseOp(front);
    return false;
  }
  rewriter.setInsertionPointToStart(loop.getBody());
  Value row = getRow(loop.getInductionVar(), descends);
  for (auto [value, stack] : llvm::zip_equal(kept, front.getResults()))
    rewriter.replaceAllUsesWith(value, extractRow(stack, value.getType(), row));
  eraseDead(rewriter, ops);
  return true;
}

bool LoopDistributor::moveToBack(bool descends) {
  llvm::SetVector<Operation *> ops = parts.getBack();
  std::optional<SmallVector<Value>> kept = findKept(ops);
  if (ops.empty() || !kept || kept->empty())
    return true;
  // The values that `ops` update, with their places.
  llvm::MapVector<unsigned, Operation *> updates;
  for (Operation *op : ops)
    if (std::optional<unsigned> number = parts.getCarried(op))
      updates[*number] = op;

  rewriter.setInsertionPointAfter(loop);
  SmallVector<Value> stacks, inits;
  for (Value value : *kept)
    stacks.push_back(createStack(value));
  for (auto &[number, op] : updates)
    inits.push_back(loop.getInitArgs()[number]);
  auto back = scf::ForOp::create(
      rewriter, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(),
      loop.getStep(), inits,
      [&](OpBuilder &, Location loc, Value number, ValueRange carried) {
        IRMapping mapping;
        mapping.map(loop.getInductionVar(), number);
        for (auto [update, value] : llvm::zip_equal(updates, carried))
          mapping.map(loop.getRegionIterArg(update.first), value);
        Value row = getRow(number, descends);
        for (auto [value, stack] : llvm::zip_equal(*kept, stacks))
          mapping.map(value, extractRow(stack, value.getType(), row));
        cloneOps(ops, mapping);
        SmallVector<Value> results;
        for (auto &[place, op] : updates)
          results.push_back(mapping.lookup(op->getResult(0)));
        scf::YieldOp::create(rewriter, loc, results);
      });
  if (!accepts(back)) {
    rewriter.eraseOp(back);
    return false;
  }
  for (auto [update, result] : llvm::zip_equal(updates, back.getResults())) {
    auto [number, op] = update;
    rewriter.replaceAllUsesWith(loop.getResult(number), result);
    rewriter.replaceAllUsesWith(op->getResult(0),
                                loop.getRegionIterArg(number));
  }
  rewriter.setInsertionPoint(loop);
  SmallVector<Value> first;
  for (Value value : *kept)
    first.push_back(createStack(value));
  FailureOr<LoopLikeOpInterface> extended = loop.replaceWithAdditionalYields(
      rewriter, first, /*replaceInitOperandUsesInLoop=*/false,
      [&](OpBuilder &, Location, ArrayRef<BlockArgument> rows) {
        auto inner = cast<scf::ForOp>(rows.front().getOwner()->getParentOp());
        SmallVector<Value> results;
        Value row = getRow(inner.getInductionVar(), descends);
        for (auto [value, stack] : llvm::zip_equal(*kept, rows))
          results.push_back(insertRow(value, stack, row));
        return results;
      });
  loop = cast<scf::ForOp>(*extended);
  for (auto [stack, result] :
       llvm::zip_equal(stacks, loop.getResults().take_back(stacks.size())))
    rewriter.replaceOp(stack.getDefiningOp(), result);
  eraseDead(rewriter, ops);
  return true;
}

void braid::comm::distributeLoop(RewriterBase &rewriter, scf::ForOp loop,
                                 int64_t mostBytes,
                                 function_ref<bool(scf::ForOp)> accepts) {
  OpBuilder::InsertionGuard guard(rewriter);
  // What leaves the loop hides no collective of it any longer.
  bool communicates = loop.walk([](Operation *op) {
                            return isa<CommDialect>(op->getDialect())
                                       ? WalkResult::interrupt()
                                       : WalkResult::advance();
                          })
                          .wasInterrupted();
  if (communicates)
    return;
  // Rows of stacks are counted by the induction variable.
  if (getStaticTripCount(loop).value_or(0) < 2 ||
      getConstantIntValue(loop.getLowerBound()) != 0 ||
      getConstantIntValue(loop.getStep()) != 1)
    return;
  // A loop that reads stacks of the program in another order is refused.
  LoopDistributor front(rewriter, loop, mostBytes, accepts);
  if (!front.moveToFront(/*descends=*/false))
    front.moveToFront(/*descends=*/true);
  LoopDistributor back(rewriter, loop, mostBytes, accepts);
  if (!back.moveToBack(/*descends=*/false))
    back.moveToBack(/*descends=*/true);
}
