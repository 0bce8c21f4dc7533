//===- ScalarReads.cpp - Compute integers that are read from tensors ------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Comm/Transforms/Rewrite/Rewrites.h"

#include "Dialect/Comm/Transforms/RowStacks.h"
#include "FuseReads.h"

#include "braid/Support/IR/Operations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

/// The most ops that replace a read.
static constexpr uint64_t kMostOps = 64;
static constexpr uint64_t kTooManyOps = kMostOps + 1;

namespace {

/// A result of a loop whose iterations replace one row each: the one of number
/// n replaces row `first + n`, or `first - n` if `descends`.
struct RowStack {
  scf::ForOp loop;
  /// What an iteration inserts: an element, or a tensor without the dimensions
  /// `dropped` of the stack.
  Value row;
  llvm::SmallBitVector dropped;
  /// Has the rows that no iteration replaces.
  Value init;
  int64_t first, count, numRows;
  bool descends;

  bool isReplaced() const { return count == numRows; }
};

/// Computes integers where a program reads them. A value is a scalar, or stands
/// for an element of a tensor.
class ScalarReader {
public:
  explicit ScalarReader(RewriterBase &rewriter) : rewriter(rewriter) {}

  /// Replaces `read` if its element follows from scalars; true if so.
  bool replace(tensor::ExtractOp read);
  /// Lets `read`, of a row that an iteration has sliced from a tensor which is
  /// there, read that tensor; true if so.
  bool readThroughStack(tensor::ExtractSliceOp read);

private:
  /// The number of ops that compute `value` from scalars that are there; more
  /// than `kMostOps` if it takes more, or if `value` does not follow from them.
  uint64_t countOps(Value value);
  uint64_t countAllOps(ValueRange values);
  uint64_t countOpsOfElement(Value tensor);
  uint64_t countOpsOfGeneric(linalg::GenericOp op);
  uint64_t countOpsOfStack(OpResult stack);

  /// `value`, at `places` of a tensor. `countOps` gave at most `kMostOps`.
  /// `scalars` has what stands for scalars in bodies of loops.
  Value compute(Value value, ArrayRef<Value> places, IRMapping &scalars);
  Value computeScalar(Value scalar, IRMapping &scalars);
  Value computeElement(Value tensor, ArrayRef<Value> places,
                       IRMapping &scalars);
  Value computeInStack(OpResult result, ArrayRef<Value> places,
                       IRMapping &scalars);
  /// Lets `scalars` have the induction variable of the iteration that replaces
  /// the row at `place`. Gives whether one does; null if each row is replaced.
  Value enterIteration(const RowStack &stack, Value place, IRMapping &scalars);

  /// True if ops at the read may use `value`, which something that they use is
  /// computed from.
  bool isThere(Value value) {
    return value.getParentRegion()->isAncestor(region);
  }
  const std::optional<RowStack> &findStack(OpResult result);

  RewriterBase &rewriter;
  /// Of the read.
  Region *region = nullptr;
  std::optional<ImplicitLocOpBuilder> b;
  DenseMap<std::pair<Value, Region *>, uint64_t> counts;
  DenseMap<Value, std::optional<RowStack>> stacks;
};

} // namespace

//===----------------------------------------------------------------------===//
// Stacks that loops write
//===----------------------------------------------------------------------===//

/// The result of a loop as a stack, but for what the iterations replace.
static std::optional<RowStack> findInsertedRow(OpResult result, Value &place) {
  auto loop = dyn_cast<scf::ForOp>(result.getOwner());
  auto type = cast<RankedTensorType>(result.getType());
  if (!loop || type.getRank() == 0)
    return std::nullopt;
  RowStack stack;
  stack.loop = loop;
  stack.init = loop.getInitArgs()[result.getResultNumber()];
  stack.numRows = type.getDimSize(0);
  int64_t count = braid::getStaticTripCount(loop).value_or(0);
  stack.count = count <= kMostRows ? count : 0;
  BlockArgument carried = loop.getTiedLoopRegionIterArg(result);
  Value total = loop.getYieldedValues()[result.getResultNumber()];
  if (auto slice = total.getDefiningOp<tensor::InsertSliceOp>()) {
    if (slice.getDest() != carried || !isRow(slice, slice.getDestType()))
      return std::nullopt;
    stack.row = slice.getSource();
    stack.dropped = slice.getDroppedDims();
    place = dyn_cast<Value>(slice.getMixedOffsets().front());
  } else if (auto insert = total.getDefiningOp<tensor::InsertOp>()) {
    if (insert.getDest() != carried || insert.getIndices().size() != 1)
      return std::nullopt;
    stack.row = insert.getScalar();
    stack.dropped.resize(1, true);
    place = insert.getIndices().front();
  }
  return place ? std::optional(stack) : std::nullopt;
}

static std::optional<RowStack> findRowStack(OpResult result) {
  Value place;
  std::optional<RowStack> stack = findInsertedRow(result, place);
  if (!stack || stack->count == 0)
    return std::nullopt;
  for (int64_t number = 0; number != stack->count; ++number) {
    std::optional<int64_t> at = evaluateIn(stack->loop, place, number);
    if (!at || *at < 0 || *at >= stack->numRows)
      return std::nullopt;
    if (number == 0)
      stack->first = *at;
    if (number <= 1)
      stack->descends = *at < stack->first;
    if (*at != stack->first + (stack->descends ? -number : number))
      return std::nullopt;
  }
  return stack;
}

const std::optional<RowStack> &ScalarReader::findStack(OpResult result) {
  auto it = stacks.find(result);
  if (it == stacks.end())
    it = stacks.try_emplace(result, findRowStack(result)).first;
  return it->second;
}

uint64_t ScalarReader::countOpsOfStack(OpResult result) {
  const std::optional<RowStack> stack = findStack(result);
  if (!stack)
    return kTooManyOps;
  // The induction variable, and the choice of a row.
  uint64_t count = 4 + countOps(stack->row);
  return stack->isReplaced() ? count : 3 + count + countOps(stack->init);
}

Value ScalarReader::enterIteration(const RowStack &stack, Value place,
                                   IRMapping &scalars) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(*b, value);
  };
  Value number = place, isReplaced;
  if (stack.descends)
    number = arith::SubIOp::create(*b, constant(stack.first), number);
  else if (stack.first != 0)
    number = arith::SubIOp::create(*b, number, constant(stack.first));
  if (!stack.isReplaced()) {
    // Of other rows, the first iteration: no division by what none divides by.
    isReplaced = arith::CmpIOp::create(*b, arith::CmpIPredicate::ult, number,
                                       constant(stack.count));
    number = arith::SelectOp::create(*b, isReplaced, number, constant(0));
  }
  scf::ForOp loop = stack.loop;
  int64_t step = *getConstantIntValue(loop.getStep());
  int64_t lower = *getConstantIntValue(loop.getLowerBound());
  if (step != 1)
    number = arith::MulIOp::create(*b, number, constant(step));
  if (lower != 0)
    number = arith::AddIOp::create(*b, number, constant(lower));
  Type type = loop.getInductionVar().getType();
  if (!type.isIndex())
    number = arith::IndexCastOp::create(*b, type, number);
  scalars.map(loop.getInductionVar(), number);
  return isReplaced;
}

Value ScalarReader::computeInStack(OpResult result, ArrayRef<Value> places,
                                   IRMapping &scalars) {
  const RowStack stack = *findStack(result);
  IRMapping ofIteration = scalars;
  Value isReplaced = enterIteration(stack, places.front(), ofIteration);
  SmallVector<Value> inRow;
  for (auto [dim, place] : llvm::enumerate(places))
    if (!stack.dropped.test(dim))
      inRow.push_back(
          dim == 0 ? arith::ConstantIndexOp::create(*b, 0).getResult() : place);
  Value element = compute(stack.row, inRow, ofIteration);
  if (!isReplaced)
    return element;
  return arith::SelectOp::create(*b, isReplaced, element,
                                 compute(stack.init, places, scalars));
}

/// What `value` is a copy of, or `value`.
static Value getCopied(Value value) {
  auto copy = value.getDefiningOp<linalg::GenericOp>();
  bool isCopy = copy && copy.getNumDpsInputs() == 1 &&
                copy->getNumResults() == 1 && isComputedAnywhere(copy) &&
                copy.getIndexingMapsArray().front().isIdentity() &&
                copy.getBody()->getTerminator()->getOperand(0) ==
                    copy.getBody()->getArgument(0);
  return isCopy ? copy.getInputs().front() : value;
}

bool ScalarReader::readThroughStack(tensor::ExtractSliceOp read) {
  auto result = dyn_cast<OpResult>(read.getSource());
  if (!result || !isRow(read, read.getSourceType()))
    return false;
  const std::optional<RowStack> stack = findStack(result);
  auto slice =
      stack ? getCopied(stack->row).getDefiningOp<tensor::ExtractSliceOp>()
            : tensor::ExtractSliceOp();
  region = read->getParentRegion();
  // Nobody else may need a larger tensor so long.
  if (!slice || !stack->isReplaced() || !isThere(slice.getSource()) ||
      slice.getType() != read.getType() || !slice.getSizes().empty() ||
      !slice.getStrides().empty() || !slice.getSourceType().hasStaticShape() ||
      slice.getSourceType().getNumElements() >
          read.getSourceType().getNumElements() ||
      countAllOps(slice.getOffsets()) > kMostOps)
    return false;
  rewriter.setInsertionPoint(read);
  b.emplace(read.getLoc(), rewriter);
  IRMapping scalars;
  enterIteration(*stack,
                 getValueOrCreateConstantIndexOp(
                     *b, b->getLoc(), read.getMixedOffsets().front()),
                 scalars);
  SmallVector<OpFoldResult> offsets = slice.getMixedOffsets();
  for (OpFoldResult &offset : offsets)
    if (auto value = dyn_cast<Value>(offset))
      offset = computeScalar(value, scalars);
  rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(
      read, read.getType(), slice.getSource(), offsets, slice.getMixedSizes(),
      slice.getMixedStrides());
  return true;
}

//===----------------------------------------------------------------------===//
// Other values
//===----------------------------------------------------------------------===//

uint64_t ScalarReader::countAllOps(ValueRange values) {
  uint64_t count = 0;
  for (Value value : values)
    if (count <= kMostOps)
      count += countOps(value);
  return std::min(count, kTooManyOps);
}

uint64_t ScalarReader::countOps(Value value) {
  if (isa<RankedTensorType>(value.getType())) {
    auto it = counts.find({value, region});
    if (it != counts.end())
      return it->second;
    uint64_t count = std::min(countOpsOfElement(value), kTooManyOps);
    counts[{value, region}] = count;
    return count;
  }
  if (isThere(value))
    return 0;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && argument == loop.getInductionVar() ? 0 : kTooManyOps;
  }
  Operation *op = value.getDefiningOp();
  if (auto read = dyn_cast<tensor::ExtractOp>(op))
    return countAllOps(read.getOperands());
  auto isInteger = [](Type type) { return type.isIntOrIndex(); };
  if (!isMemoryEffectFree(op) || op->getNumRegions() != 0 ||
      !llvm::all_of(op->getOperandTypes(), isInteger) ||
      !llvm::all_of(op->getResultTypes(), isInteger))
    return kTooManyOps;
  return 1 + countAllOps(op->getOperands());
}

uint64_t ScalarReader::countOpsOfGeneric(linalg::GenericOp op) {
  if (!isComputedAnywhere(op))
    return kTooManyOps;
  uint64_t count = 0;
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (isa<tensor::ExtractOp>(inner) || inner.getNumRegions() != 0 ||
        !llvm::all_of(inner.getResultTypes(),
                      [](Type type) { return type.isIntOrIndex(); }))
      return kTooManyOps;
    ++count;
  }
  llvm::SetVector<Value> read;
  getUsedValuesDefinedAbove(op->getRegions(), read);
  for (OpOperand *input : op.getDpsInputOperands())
    if (op.payloadUsesValueFromOperand(input))
      read.insert(input->get());
  return count + countAllOps(read.getArrayRef());
}

uint64_t ScalarReader::countOpsOfElement(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Operation *producer = tensor.getDefiningOp();
  if (!type.hasStaticShape() || !type.getElementType().isIntOrIndex() ||
      !producer)
    return kTooManyOps;
  return llvm::TypeSwitch<Operation *, uint64_t>(producer)
      .Case([&](linalg::GenericOp op) { return countOpsOfGeneric(op); })
      .Case([&](linalg::FillOp op) {
        return op.value().getType() == type.getElementType()
                   ? countOps(op.value())
                   : kTooManyOps;
      })
      .Case([&](arith::ConstantOp op) {
        return countOpsOfTable(cast<ElementsAttr>(op.getValue()))
            .value_or(kTooManyOps);
      })
      .Case([&](tensor::FromElementsOp op) {
        return op.getElements().size() == 1 ? countOps(op.getElements()[0])
                                            : kTooManyOps;
      })
      .Case([&](tensor::ExtractSliceOp op) {
        return 2 * op.getSourceType().getRank() +
               countAllOps(op->getOperands());
      })
      .Case([&](tensor::CollapseShapeOp op) {
        return movesOnlyUnits(op.getSrcType(), op.getReassociationIndices())
                   ? countOps(op.getSrc())
                   : kTooManyOps;
      })
      .Case([&](tensor::ExpandShapeOp op) {
        return movesOnlyUnits(op.getResultType(), op.getReassociationIndices())
                   ? countOps(op.getSrc())
                   : kTooManyOps;
      })
      .Case([&](scf::ForOp) { return countOpsOfStack(cast<OpResult>(tensor)); })
      .Default(kTooManyOps);
}

Value ScalarReader::compute(Value value, ArrayRef<Value> places,
                            IRMapping &scalars) {
  return isa<RankedTensorType>(value.getType())
             ? computeElement(value, places, scalars)
             : computeScalar(value, scalars);
}

Value ScalarReader::computeScalar(Value scalar, IRMapping &scalars) {
  if (isThere(scalar))
    return scalar;
  if (Value known = scalars.lookupOrNull(scalar))
    return known;
  Operation *op = scalar.getDefiningOp();
  if (auto read = dyn_cast<tensor::ExtractOp>(op)) {
    SmallVector<Value> places;
    for (Value index : read.getIndices())
      places.push_back(computeScalar(index, scalars));
    scalars.map(scalar, computeElement(read.getTensor(), places, scalars));
  } else {
    for (Value operand : op->getOperands())
      computeScalar(operand, scalars);
    rewriter.clone(*op, scalars);
  }
  return scalars.lookup(scalar);
}

Value ScalarReader::computeElement(Value tensor, ArrayRef<Value> places,
                                   IRMapping &scalars) {
  auto zero = [&]() -> Value { return arith::ConstantIndexOp::create(*b, 0); };
  return llvm::TypeSwitch<Operation *, Value>(tensor.getDefiningOp())
      .Case([&](linalg::GenericOp op) {
        llvm::SetVector<Value> read;
        getUsedValuesDefinedAbove(op->getRegions(), read);
        for (OpOperand *input : op.getDpsInputOperands())
          if (op.payloadUsesValueFromOperand(input))
            read.insert(input->get());
        for (Value value : read)
          if (!isa<RankedTensorType>(value.getType()))
            computeScalar(value, scalars);
        return braid::comm::computeElement(
            rewriter, b->getLoc(), op, places,
            [&](Value input, ArrayRef<Value> indices) {
              return computeElement(input, indices, scalars);
            },
            scalars);
      })
      .Case(
          [&](linalg::FillOp op) { return computeScalar(op.value(), scalars); })
      .Case([&](arith::ConstantOp op) -> Value {
        return readTable(cast<DenseIntElementsAttr>(op.getValue()), places, *b);
      })
      .Case([&](tensor::FromElementsOp op) {
        return computeScalar(op.getElements()[0], scalars);
      })
      .Case([&](tensor::ExtractSliceOp op) {
        llvm::SmallBitVector dropped = op.getDroppedDims();
        auto getIndex = [&](OpFoldResult index) {
          if (auto value = dyn_cast<Value>(index))
            return computeScalar(value, scalars);
          return getValueOrCreateConstantIndexOp(*b, b->getLoc(), index);
        };
        SmallVector<Value> indices;
        const Value *place = places.begin();
        for (auto [dim, offset, stride] :
             llvm::enumerate(op.getMixedOffsets(), op.getMixedStrides())) {
          Value index = getIndex(offset);
          if (!dropped.test(dim))
            index = arith::AddIOp::create(
                *b, index,
                arith::MulIOp::create(*b, *place++, getIndex(stride)));
          indices.push_back(index);
        }
        return computeElement(op.getSource(), indices, scalars);
      })
      .Case([&](tensor::CollapseShapeOp op) {
        SmallVector<Value> indices;
        for (auto [group, place] :
             llvm::zip_equal(op.getReassociationIndices(), places))
          for (int64_t dim : group)
            indices.push_back(op.getSrcType().getDimSize(dim) != 1 ? place
                                                                   : zero());
        // A tensor without dimensions has no groups.
        while (indices.size() < static_cast<size_t>(op.getSrcType().getRank()))
          indices.push_back(zero());
        return computeElement(op.getSrc(), indices, scalars);
      })
      .Case([&](tensor::ExpandShapeOp op) {
        return computeElement(op.getSrc(), getPlacesInSource(op, places),
                              scalars);
      })
      .Case([&](scf::ForOp) {
        return computeInStack(cast<OpResult>(tensor), places, scalars);
      });
}

bool ScalarReader::replace(tensor::ExtractOp read) {
  region = read->getParentRegion();
  if (countOps(read.getTensor()) > kMostOps)
    return false;
  rewriter.setInsertionPoint(read);
  b.emplace(read.getLoc(), rewriter);
  IRMapping scalars;
  SmallVector<Value> places(read.getIndices());
  rewriter.replaceOp(read, computeElement(read.getTensor(), places, scalars));
  return true;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Lets `loop` carry stacks that nobody reads as they are,
/// which canonicalization then erases.
static void dropUnreadStacks(RewriterBase &rewriter, scf::ForOp loop) {
  llvm::SetVector<Operation *> inserts;
  Operation *yield = loop.getBody()->getTerminator();
  for (OpResult result : loop.getResults()) {
    BlockArgument carried = loop.getTiedLoopRegionIterArg(result);
    unsigned number = result.getResultNumber();
    Operation *insert = yield->getOperand(number).getDefiningOp();
    if (!isa_and_present<tensor::InsertOp, tensor::InsertSliceOp>(insert) ||
        !result.use_empty() || !insert->hasOneUse() || !carried.hasOneUse() ||
        *carried.user_begin() != insert)
      continue;
    rewriter.modifyOpInPlace(yield,
                             [&] { yield->setOperand(number, carried); });
    inserts.insert(insert);
  }
  eraseDead(rewriter, std::move(inserts));
}

void braid::comm::computeScalarReads(RewriterBase &rewriter, Operation *root) {
  ScalarReader reader(rewriter);
  SmallVector<tensor::ExtractOp> reads;
  root->walk([&](tensor::ExtractOp read) {
    if (!read->getParentOfType<linalg::LinalgOp>())
      reads.push_back(read);
  });
  llvm::SetVector<Operation *> producers;
  // In order: places in stacks may be read before.
  for (tensor::ExtractOp read : reads) {
    Operation *producer = read.getTensor().getDefiningOp();
    if (reader.replace(read))
      producers.insert(producer);
  }
  if (producers.empty())
    return;
  eraseDead(rewriter, std::move(producers));
  root->walk([&](scf::ForOp loop) { dropUnreadStacks(rewriter, loop); });
  // Several stacks may have the same integers.
  DominanceInfo dominance;
  eliminateCommonSubExpressions(rewriter, dominance, root);
}

void braid::comm::readSlicesThroughStacks(RewriterBase &rewriter,
                                          Operation *root) {
  ScalarReader reader(rewriter);
  SmallVector<tensor::ExtractSliceOp> reads;
  root->walk([&](tensor::ExtractSliceOp read) { reads.push_back(read); });
  for (tensor::ExtractSliceOp read : reads)
    reader.readThroughStack(read);
  root->walk([&](scf::ForOp loop) { dropUnreadStacks(rewriter, loop); });
}
