//===- ScalarReads.cpp - Compute numbers that are read from tensors -------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Comm/Transforms/Rewrite/Rewrites.h"

#include "Dialect/Comm/Transforms/RowStacks.h"
#include "FuseReads.h"
#include "ScalarReader.h"

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

static constexpr uint64_t kTooManyOps = kMostOpsOfRead + 1;
/// The most tensors between a read and a scalar.
static constexpr uint64_t kMostDepth = 64;

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
  enter(*read->getParentRegion());
  // Nobody else may need a larger tensor so long.
  if (!slice || !stack->isReplaced() || !isThere(slice.getSource()) ||
      slice.getType() != read.getType() || !slice.getSizes().empty() ||
      !slice.getStrides().empty() || !slice.getSourceType().hasStaticShape() ||
      slice.getSourceType().getNumElements() >
          read.getSourceType().getNumElements() ||
      countAllOps(slice.getOffsets()) > kMostOpsOfRead)
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

/// True if a host has numbers of `type`.
static bool isNumberOfHost(Type type) {
  return type.isIntOrIndex() || type.isF32() || type.isF64();
}

/// True if a host computes the bits that a GPU does.
static bool isExactOnHost(Operation &op) {
  auto areIntegers = [](TypeRange types) {
    return llvm::all_of(types, [](Type type) { return type.isIntOrIndex(); });
  };
  if (areIntegers(op.getOperandTypes()) && areIntegers(op.getResultTypes()))
    return true;
  // Integers of other floats depend on the machine.
  return llvm::all_of(op.getOperandTypes(), isNumberOfHost) &&
         llvm::all_of(op.getResultTypes(), isNumberOfHost) &&
         isa<arith::ConstantOp, arith::BitcastOp, arith::CmpFOp, arith::AddFOp,
             arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp,
             arith::SelectOp, arith::SIToFPOp, arith::UIToFPOp,
             arith::MinimumFOp, arith::MaximumFOp>(op);
}

static bool isSplatOfFloats(ElementsAttr table) {
  return table.isSplat() && isa<FloatType>(table.getElementType());
}

uint64_t ScalarReader::countAllOps(ValueRange values) {
  uint64_t count = 0;
  for (Value value : values)
    if (count <= kMostOpsOfRead)
      count += countOps(value);
  return std::min(count, kTooManyOps);
}

uint64_t ScalarReader::countOps(Value value) {
  if (isa<RankedTensorType>(value.getType()))
    return countOpsOfTensor(value);
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

uint64_t ScalarReader::countOpsOfTensor(Value tensor) {
  if (assumed.contains(tensor) && isThere(tensor)) {
    met.insert(tensor);
    return 1;
  }
  auto it = counts.find({tensor, region});
  if (it == counts.end()) {
    if (depth == kMostDepth) {
      isTruncated = true;
      return kTooManyOps;
    }
    llvm::SetVector<Value> before = std::exchange(met, {});
    ++depth;
    uint64_t ops = std::min(countOpsOfElement(tensor), kTooManyOps);
    --depth;
    Count count{ops, std::exchange(met, std::move(before))};
    if (isTruncated)
      return kTooManyOps;
    it = counts.try_emplace({tensor, region}, std::move(count)).first;
  }
  met.insert_range(it->second.assumed);
  return it->second.ops;
}

uint64_t ScalarReader::countOpsOfGeneric(linalg::GenericOp op) {
  if (!isComputedAnywhere(op))
    return kTooManyOps;
  uint64_t count = 0;
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (isa<tensor::ExtractOp>(inner) || inner.getNumRegions() != 0 ||
        !isExactOnHost(inner))
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
  if (!type.hasStaticShape() || !isNumberOfHost(type.getElementType()) ||
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
        auto table = cast<ElementsAttr>(op.getValue());
        if (isSplatOfFloats(table))
          return uint64_t(1);
        return countOpsOfTable(table).value_or(kTooManyOps);
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
  // Many ops may read what has no places.
  if (!places.empty())
    return computeElementAnew(tensor, places, scalars);
  if (Value known = scalars.lookupOrNull(tensor))
    return known;
  Value element = computeElementAnew(tensor, places, scalars);
  scalars.map(tensor, element);
  return element;
}

Value ScalarReader::computeElementAnew(Value tensor, ArrayRef<Value> places,
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
        auto table = cast<ElementsAttr>(op.getValue());
        if (isSplatOfFloats(table))
          return arith::ConstantOp::create(
              *b, cast<TypedAttr>(table.getSplatValue<Attribute>()));
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

std::optional<llvm::SetVector<Value>> ScalarReader::findAssumed(Value tensor,
                                                                Region &at) {
  enter(at);
  if (countOps(tensor) > kMostOpsOfRead)
    return std::nullopt;
  return met;
}

bool ScalarReader::replace(tensor::ExtractOp read) {
  enter(*read->getParentRegion());
  if (countOps(read.getTensor()) > kMostOpsOfRead)
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

void braid::comm::computeScalarReads(
    RewriterBase &rewriter, Operation *root,
    llvm::function_ref<bool(tensor::ExtractOp)> mayReplace) {
  ScalarReader reader(rewriter);
  SmallVector<tensor::ExtractOp> reads;
  root->walk([&](tensor::ExtractOp read) {
    if (!read->getParentOfType<linalg::LinalgOp>() && mayReplace(read))
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
