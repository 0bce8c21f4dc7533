//===- ReductionLoops.cpp - Reductions that stay in registers -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Combiners.h"
#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Conversion/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

namespace braid {
#define GEN_PASS_DEF_CONVERTREDUCTIONSTOLOOPSPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;

namespace {

/// The number of partial results. The order of terms depends on it, and on
/// nothing that a machine or the memory of operands decides.
constexpr int64_t kPartials = 16;

/// The bits of partial results of maxima for each of kPartials lanes. A maximum
/// that orders zeros by their signs takes six instructions, each of which waits
/// for the one before, so several run side by side. For f64 twice as many are
/// slower than one.
constexpr int64_t kMaximaBits = 128;

/// Emits the loops of one reduction.
class ReductionLoops {
public:
  ReductionLoops(linalg::GenericOp op, ArrayRef<Operation *> combiners)
      : op(op), combiners(combiners), last(op.getNumLoops() - 1), rewriter(op) {
  }

  void emit();

private:
  bool canUseVectors();
  int64_t getNumGroups();
  SmallVector<Value> combineAll(ValueRange outer, SmallVector<Value> values);
  SmallVector<Value> reducePartials(ValueRange outer, int64_t end,
                                    SmallVector<Value> values);
  SmallVector<Value> loop(int64_t begin, Value end, int64_t lanes,
                          ValueRange outer, ValueRange values);
  SmallVector<Value> combine(ValueRange position, ValueRange values,
                             int64_t lanes);
  Value getInput(OpOperand &operand, ValueRange position, int64_t lanes);
  Value getIndex(unsigned dim, ValueRange position, int64_t lanes);
  SmallVector<Value> getPlace(AffineMap map, ValueRange position);
  Value spread(Value scalar, int64_t lanes);
  Value apply(Operation *combiner, Value left, Value right);
  Value getConstant(int64_t value) {
    return arith::ConstantIndexOp::create(rewriter, op.getLoc(), value);
  }

  linalg::GenericOp op;
  ArrayRef<Operation *> combiners;
  const unsigned last;
  IRRewriter rewriter;
  SmallVector<Value> sizes; ///< Of all loops.
};

/// True for numbers that memory holds as vectors do.
bool isPlainNumber(Type type) {
  return type.isF32() || type.isF64() || type.isBF16() || type.isF16() ||
         type.isInteger(8) || type.isInteger(32) || type.isInteger(64);
}

} // namespace

/// True if no result depends on the innermost loop, and only ops of the body
/// itself on the numbers of iterations.
static bool hasInnermostReduction(linalg::GenericOp op) {
  unsigned count = op.getNumLoops();
  return op.hasPureBufferSemantics() && count > 0 &&
         linalg::isReductionIterator(op.getIteratorTypesArray().back()) &&
         llvm::none_of(
             op.getDpsInitsMutable(),
             [&](OpOperand &init) {
               return op.getMatchingIndexingMap(&init).isFunctionOfDim(count -
                                                                       1);
             }) &&
         !op.getBody()
              ->walk([&](linalg::IndexOp index) {
                return index->getBlock() == op.getBody()
                           ? WalkResult::advance()
                           : WalkResult::interrupt();
              })
              .wasInterrupted();
}

/// The type of `lanes` numbers of `type`.
static Type getLanesType(Type type, int64_t lanes) {
  return lanes == 1 ? type : VectorType::get(lanes, type);
}

bool ReductionLoops::canUseVectors() {
  if (op.getStaticLoopRanges()[last] < kPartials)
    return false;
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto buffer = dyn_cast<MemRefType>(input->get().getType());
    AffineMap map = op.getMatchingIndexingMap(input);
    if (buffer && map.isFunctionOfDim(last) &&
        (!isPlainNumber(buffer.getElementType()) ||
         !braid::isAdjacent(buffer, map, last)))
      return false;
  }
  auto areScalars = [](TypeRange types) {
    return llvm::all_of(types, [](Type type) {
      return isPlainNumber(type) || type.isIndex() || type.isInteger(1);
    });
  };
  return areScalars(op.getBody()->getArgumentTypes()) &&
         llvm::all_of(
             op.getBody()->without_terminator(), [&](Operation &inner) {
               return (isa<linalg::IndexOp, arith::ConstantOp>(inner) ||
                       OpTrait::hasElementwiseMappableTraits(&inner)) &&
                      areScalars(inner.getOperandTypes()) &&
                      areScalars(inner.getResultTypes());
             });
}

Value ReductionLoops::spread(Value scalar, int64_t lanes) {
  if (lanes == 1)
    return scalar;
  return vector::BroadcastOp::create(
      rewriter, op.getLoc(), getLanesType(scalar.getType(), lanes), scalar);
}

SmallVector<Value> ReductionLoops::getPlace(AffineMap map,
                                            ValueRange position) {
  SmallVector<Value> place;
  for (AffineExpr result : map.getResults())
    place.push_back(rewriter.createOrFold<affine::AffineApplyOp>(
        op.getLoc(), AffineMap::get(map.getNumDims(), 0, result), position));
  return place;
}

Value ReductionLoops::getInput(OpOperand &operand, ValueRange position,
                               int64_t lanes) {
  Value value = operand.get();
  auto buffer = dyn_cast<MemRefType>(value.getType());
  if (!buffer)
    return spread(value, lanes);
  AffineMap map = op.getMatchingIndexingMap(&operand);
  SmallVector<Value> place = getPlace(map, position);
  if (lanes > 1 && map.isFunctionOfDim(last))
    return vector::LoadOp::create(
        rewriter, op.getLoc(), VectorType::get(lanes, buffer.getElementType()),
        value, place);
  return spread(memref::LoadOp::create(rewriter, op.getLoc(), value, place),
                lanes);
}

Value ReductionLoops::getIndex(unsigned dim, ValueRange position,
                               int64_t lanes) {
  Value index = spread(position[dim], lanes);
  if (lanes == 1 || dim != last)
    return index;
  Value steps =
      arith::ConstantOp::create(rewriter, op.getLoc(),
                                rewriter.getIndexVectorAttr(llvm::to_vector(
                                    llvm::seq<int64_t>(0, lanes))));
  return arith::AddIOp::create(rewriter, op.getLoc(), index, steps);
}

/// Combines `values` with the terms of `lanes` iterations from `position` on.
SmallVector<Value> ReductionLoops::combine(ValueRange position,
                                           ValueRange values, int64_t lanes) {
  IRMapping mapping;
  for (OpOperand *input : op.getDpsInputOperands())
    mapping.map(op.getMatchingBlockArgument(input),
                getInput(*input, position, lanes));
  mapping.map(op.getRegionOutputArgs(), values);
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      mapping.map(index.getResult(), getIndex(index.getDim(), position, lanes));
      continue;
    }
    if (isa<arith::ConstantOp>(inner)) {
      Operation *constant = rewriter.clone(inner);
      mapping.map(inner.getResult(0), spread(constant->getResult(0), lanes));
      continue;
    }
    // A body may read values of the function.
    for (Value operand : inner.getOperands())
      if (!mapping.contains(operand) &&
          operand.getParentBlock() != op.getBody())
        mapping.map(operand, spread(operand, lanes));
    Operation *clone = rewriter.clone(inner, mapping);
    for (OpResult result : clone->getResults())
      result.setType(getLanesType(result.getType(), lanes));
  }
  SmallVector<Value> results;
  for (Value value : op.getBody()->getTerminator()->getOperands())
    results.push_back(mapping.lookup(value));
  return results;
}

/// Combines `values`, one group of them or several, with the terms from `begin`
/// to `end`, `lanes` for each group at a time.
SmallVector<Value> ReductionLoops::loop(int64_t begin, Value end, int64_t lanes,
                                        ValueRange outer, ValueRange values) {
  const int64_t count = combiners.size(), groups = values.size() / count;
  auto created = scf::ForOp::create(
      rewriter, op.getLoc(), getConstant(begin), end,
      getConstant(lanes * groups), values,
      [&](OpBuilder &builder, Location loc, Value index, ValueRange partials) {
        OpBuilder::InsertionGuard guard(rewriter);
        rewriter.setInsertionPoint(builder.getInsertionBlock(),
                                   builder.getInsertionPoint());
        SmallVector<Value> results;
        for (int64_t group = 0; group < groups; ++group) {
          SmallVector<Value> position(outer);
          position.push_back(rewriter.createOrFold<affine::AffineApplyOp>(
              loc, rewriter.getAffineDimExpr(0) + group * lanes, index));
          llvm::append_range(
              results,
              combine(position, partials.slice(group * count, count), lanes));
        }
        scf::YieldOp::create(rewriter, loc, results);
      });
  return created.getResults();
}

Value ReductionLoops::apply(Operation *combiner, Value left, Value right) {
  OperationState state(combiner->getLoc(), combiner->getName());
  state.addOperands({left, right});
  state.addTypes(left.getType());
  return rewriter.create(state)->getResult(0);
}

/// The number of groups of kPartials partial results. Only the order of maxima
/// is free, as they do not round.
int64_t ReductionLoops::getNumGroups() {
  int64_t groups = kMaximaBits;
  for (Operation *combiner : combiners) {
    if (!isa<arith::MaximumFOp, arith::MinimumFOp>(combiner))
      return 1;
    Type type = combiner->getResult(0).getType();
    groups = std::min(groups, kMaximaBits / type.getIntOrFloatBitWidth());
  }
  return groups;
}

/// Combines `values` with the terms up to `end`, a multiple of kPartials, in
/// kPartials sums that are added in pairs, or in several times as many maxima.
SmallVector<Value> ReductionLoops::reducePartials(ValueRange outer, int64_t end,
                                                  SmallVector<Value> values) {
  Location loc = op.getLoc();
  SmallVector<Value> partials;
  for (Operation *combiner : combiners)
    partials.push_back(
        spread(arith::ConstantOp::create(rewriter, loc,
                                         *arith::getNeutralElement(combiner)),
               kPartials));
  const int64_t groups = getNumGroups(), step = groups * kPartials;
  int64_t done = groups > 1 ? end / step * step : 0;
  if (done > 0) {
    const size_t count = combiners.size();
    SmallVector<Value> all;
    for (int64_t group = 0; group < groups; ++group)
      llvm::append_range(all, partials);
    all = loop(0, getConstant(done), kPartials, outer, all);
    partials.assign(all.begin(), all.begin() + count);
    for (size_t i = count; i < all.size(); ++i)
      partials[i % count] =
          apply(combiners[i % count], partials[i % count], all[i]);
  }
  if (done < end)
    partials = loop(done, getConstant(end), kPartials, outer, partials);
  for (auto [value, partial, combiner] :
       llvm::zip_equal(values, partials, combiners)) {
    for (int64_t half = kPartials / 2; half > 0; half /= 2)
      partial = apply(combiner,
                      vector::ShuffleOp::create(
                          rewriter, loc, partial, partial,
                          llvm::to_vector(llvm::seq<int64_t>(0, half))),
                      vector::ShuffleOp::create(
                          rewriter, loc, partial, partial,
                          llvm::to_vector(llvm::seq<int64_t>(half, 2 * half))));
    value = apply(combiner, value,
                  vector::ExtractOp::create(rewriter, loc, partial, 0));
  }
  return values;
}

SmallVector<Value> ReductionLoops::combineAll(ValueRange outer,
                                              SmallVector<Value> values) {
  int64_t size = op.getStaticLoopRanges()[last], done = 0;
  if (canUseVectors()) {
    // No order is left to LLVM.
    for (Operation *combiner : combiners)
      if (auto flags = dyn_cast<arith::ArithFastMathInterface>(combiner))
        combiner->setAttr(flags.getFastMathAttrName(),
                          arith::FastMathFlagsAttr::get(
                              op.getContext(), arith::FastMathFlags::none));
    done = size / kPartials * kPartials;
    values = reducePartials(outer, done, values);
  }
  if (done == size)
    return values;
  return loop(done, sizes[last], 1, outer, values);
}

void ReductionLoops::emit() {
  Location loc = op.getLoc();
  auto generic = cast<linalg::LinalgOp>(op.getOperation());
  for (Range range : generic.createLoopRanges(rewriter, loc))
    sizes.push_back(getValueOrCreateConstantIndexOp(rewriter, loc, range.size));
  SmallVector<Value> begins(last, getConstant(0)), steps(last, getConstant(1));
  scf::buildLoopNest(
      rewriter, loc, begins, ValueRange(sizes).drop_back(), steps,
      [&](OpBuilder &builder, Location, ValueRange outer) {
        OpBuilder::InsertionGuard guard(rewriter);
        rewriter.setInsertionPoint(builder.getInsertionBlock(),
                                   builder.getInsertionPoint());
        // No result depends on the innermost loop.
        SmallVector<Value> position(outer);
        position.push_back(getConstant(0));
        SmallVector<SmallVector<Value>> places;
        SmallVector<Value> values;
        for (OpOperand &init : op.getDpsInitsMutable()) {
          places.push_back(
              getPlace(op.getMatchingIndexingMap(&init), position));
          values.push_back(
              memref::LoadOp::create(rewriter, loc, init.get(), places.back()));
        }
        values = combineAll(outer, values);
        for (auto [value, init, place] :
             llvm::zip_equal(values, op.getDpsInits(), places))
          memref::StoreOp::create(rewriter, loc, value, init, place);
      });
  rewriter.eraseOp(op);
}

namespace {

struct ConvertReductionsToLoopsPass
    : public braid::StructuralPass<
          braid::impl::ConvertReductionsToLoopsPassBase<
              ConvertReductionsToLoopsPass>> {
  LogicalResult transform() override {
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    for (linalg::GenericOp op : ops) {
      if (!hasInnermostReduction(op))
        continue;
      SmallVector<Operation *> combiners = braid::getCombiners(op);
      if (!combiners.empty())
        ReductionLoops(op, combiners).emit();
    }
    return success();
  }
};

} // namespace
