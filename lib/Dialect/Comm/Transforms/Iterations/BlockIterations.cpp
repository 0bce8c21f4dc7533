//===- BlockIterations.cpp - Iterations over blocks of rows ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockIterations.h"

#include "Dialect/Comm/Transforms/RowStacks.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Support/IR/Operations.h"
#include "braid/Support/MatmulAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

/// The offset of a slice is computed for each of so many iterations.
static constexpr int64_t kMostIterations = 1024;
/// So many ops in a row that are equal in all iterations get larger dimensions.
static constexpr unsigned kMostEqualOps = 16;

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

std::pair<int64_t, bool>
braid::comm::getTaken(const llvm::SmallBitVector &dropped, int64_t dim) {
  int64_t before = 0;
  for (int64_t other = 0; other != dim; ++other)
    before += !dropped.test(other);
  return {before, dropped.test(dim)};
}

std::optional<std::pair<int64_t, int64_t>>
BlockIterations::evaluate(Value offset) {
  auto [it, isNew] = offsets.try_emplace(offset);
  if (!isNew)
    return it->second;
  int64_t first = 0, distance = 0;
  for (int64_t number = 0; number != numIterations; ++number) {
    std::optional<int64_t> value = evaluateIn(loop, offset, number);
    if (!value)
      return std::nullopt;
    if (number == 0)
      first = *value;
    if (number == 1)
      distance = *value - first;
    if (*value != first + number * distance)
      return std::nullopt;
  }
  offsets[offset] = {first, distance};
  return offsets[offset];
}

std::optional<BlockSlice>
BlockIterations::findSlice(OffsetSizeAndStrideOpInterface slice,
                           RankedTensorType whole) {
  std::optional<int64_t> dim;
  for (auto [number, offset] : llvm::enumerate(slice.getMixedOffsets()))
    if (auto value = dyn_cast<Value>(offset);
        value && is(value, Role::Number)) {
      if (dim)
        return std::nullopt;
      dim = number;
    }
  if (!dim || !whole.hasStaticShape() ||
      ShapedType::isDynamicShape(slice.getStaticSizes()) ||
      slice.getStaticStride(*dim) != 1)
    return std::nullopt;
  auto found = evaluate(cast<Value>(slice.getMixedOffsets()[*dim]));
  int64_t size = slice.getStaticSize(*dim);
  if (!found || size == 0 || std::abs(found->second) != size)
    return std::nullopt;
  auto [first, distance] = *found;
  if (descends.value_or(distance < 0) != distance < 0)
    return std::nullopt;
  descends = distance < 0;
  if (*descends)
    first += (numIterations - 1) * distance;
  if (first < 0 || first + numIterations * size > whole.getDimSize(*dim))
    return std::nullopt;
  return BlockSlice{*dim, size, first};
}

bool BlockIterations::updatesBlock(Value carried, const BlockSlice &slice) {
  Update &update = updates[getRole(carried).number];
  if (update.isSum || !(update.slice.value_or(slice) == slice))
    return false;
  update.slice = slice;
  return true;
}

bool BlockIterations::addsTo(Value carried) {
  Update &update = updates[getRole(carried).number];
  update.isSum = true;
  return !update.slice;
}

bool BlockIterations::visitExtract(tensor::ExtractSliceOp slice) {
  std::optional<BlockSlice> found = findSlice(slice, slice.getSourceType());
  auto [dim, isDropped] = found ? getTaken(slice.getDroppedDims(), found->dim)
                                : std::pair<int64_t, bool>(0, false);
  // Without its own dimension a block is in the next one.
  if (!found || dim == slice.getType().getRank() ||
      (isDropped && slice.getDroppedDims().test(found->dim + 1)))
    return false;
  Value source = slice.getSource();
  slices.insert({slice, *found});
  roles[slice.getResult()] = {Role::Block, {dim}};
  if (is(source, Role::Equal))
    return true;
  if (!is(source, Role::Carried) || !updatesBlock(source, *found))
    return false;
  auto insert = source.getDefiningOp<tensor::InsertSliceOp>();
  if (!insert)
    return isa<BlockArgument>(source);
  if (insert.getSourceType() != slice.getType() ||
      !is(insert.getSource(), Role::Block) ||
      !insert.isSameAs(slice,
                       [](OpFoldResult a, OpFoldResult b) { return a == b; }))
    return false;
  inserted[slice] = insert.getSource();
  roles[slice.getResult()] = getRole(insert.getSource());
  return true;
}

bool BlockIterations::visitInsert(tensor::InsertSliceOp slice) {
  std::optional<BlockSlice> found = findSlice(slice, slice.getDestType());
  if (!found || !is(slice.getDest(), Role::Carried) ||
      !updatesBlock(slice.getDest(), *found))
    return false;
  slices.insert({slice, *found});
  roles[slice.getResult()] = getRole(slice.getDest());
  auto [dim, isDropped] = getTaken(slice.getDroppedDims(), found->dim);
  Role source = getRole(slice.getSource());
  if (source.kind == Role::Equal)
    return !isDropped && canWiden(slice.getSource(), {dim}, kMostEqualOps);
  if (source.kind != Role::Block || source.block.runs != 1)
    return false;
  // A row of blocks may have them in its next dimension.
  return isDropped ? source.block.dim == dim
                   : source.block.dim == dim ||
                         (found->size == 1 && source.block.dim == dim + 1);
}

//===----------------------------------------------------------------------===//
// Ops on blocks
//===----------------------------------------------------------------------===//

/// True if `op` adds something that depends on its inputs alone to each init.
static bool addsToInits(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  for (auto [argument, yielded] : llvm::zip_equal(
           op.getRegionOutputArgs(), body->getTerminator()->getOperands())) {
    Operation *sum = yielded.getDefiningOp();
    if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(sum) ||
        !argument.hasOneUse() || *argument.user_begin() != sum ||
        !yielded.hasOneUse())
      return false;
  }
  return true;
}

/// True if `op` computes with the number of an iteration of its loop `number`,
/// or of any if that is none.
static bool readsIndex(linalg::LinalgOp op,
                       std::optional<unsigned> number = std::nullopt) {
  return op.getBlock()
      ->walk([&](linalg::IndexOp index) {
        return !number || index.getDim() == *number ? WalkResult::interrupt()
                                                    : WalkResult::advance();
      })
      .wasInterrupted();
}

/// True if `op` adds sums over the block to zeros, or to what the loop carries.
bool BlockIterations::addsUp(linalg::LinalgOp op) {
  if (op->hasAttr(kBiasAttrName) || op->hasAttr(kEpilogueAttrName) ||
      !addsToInits(op))
    return false;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    OpResult result = op.getTiedOpResult(&init);
    if (is(init.get(), Role::Carried)) {
      if (op->hasAttr(kOverwritesAttrName) || !addsTo(init.get()))
        return false;
      roles[result] = getRole(init.get());
      continue;
    }
    auto fill = init.get().getDefiningOp<linalg::FillOp>();
    if (!op->hasAttr(kOverwritesAttrName) &&
        (!fill || !(matchPattern(fill.value(), m_Zero()) ||
                    matchPattern(fill.value(), m_AnyZeroFloat()))))
      return false;
    roles[result] = {Role::Term};
  }
  return true;
}

/// True if `op`, which takes a block, is computed for several iterations along
/// the axis in `merged`.
bool BlockIterations::fits(Operation &op, BlockOp &merged) {
  const SplitAxis &axis = merged.axis;
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (linalgOp && readsIndex(linalgOp, axis.loop))
    return false;
  std::optional<int64_t> runs;
  for (auto [value, dim] : llvm::zip_equal(op.getOperands(), axis.operands)) {
    Role role = getRole(value);
    if (role.kind != Role::Block)
      continue;
    if (role.block.dim != dim ||
        runs.value_or(role.block.runs) != role.block.runs)
      return false;
    runs = role.block.runs;
  }
  int64_t joined = *runs * axis.joined;
  if (*runs % axis.multiple != 0 || joined % axis.divided != 0)
    return false;
  merged.operandRuns = *runs;
  merged.resultRuns = joined / axis.divided;
  bool sums = llvm::is_contained(axis.results, std::nullopt);
  for (OpOperand &operand : op.getOpOperands()) {
    Value value = operand.get();
    std::optional<int64_t> dim = axis.operands[operand.getOperandNumber()];
    bool isFit = is(value, Role::Block);
    if (is(value, Role::Carried))
      isFit = sums && linalgOp && linalgOp.isDpsInit(&operand);
    else if (is(value, Role::Equal))
      isFit =
          !dim || canWiden(value, {*dim, merged.operandRuns}, kMostEqualOps);
    if (!isFit)
      return false;
  }
  if (sums)
    return linalgOp && addsUp(linalgOp);
  for (auto [result, dim] : llvm::zip_equal(op.getResults(), axis.results)) {
    if (cast<RankedTensorType>(result.getType()).getDimSize(*dim) %
            merged.resultRuns !=
        0)
      return false;
    roles[result] = {Role::Block, {*dim, merged.resultRuns}};
  }
  return true;
}

/// True if all tensors of `op` have static shapes.
static bool hasStaticShapes(Operation *op) {
  auto isStatic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !tensor || tensor.hasStaticShape();
  };
  return llvm::all_of(op->getOperandTypes(), isStatic) &&
         llvm::all_of(op->getResultTypes(), isStatic);
}

/// True if `op` stays the same op with larger dimensions.
static bool canGrow(Operation *op) {
  return isa<linalg::LinalgOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
             tensor::ExtractSliceOp>(op) &&
         hasStaticShapes(op) && !op->hasAttr(CommDialect::kCostAttrName);
}

bool BlockIterations::visitBlockOp(Operation &op) {
  if (!canGrow(&op))
    return false;
  for (SplitAxis &axis : getSplitAxes(&op)) {
    BlockOp merged{axis};
    if (fits(op, merged)) {
      blockOps.insert({&op, std::move(merged)});
      return true;
    }
  }
  return false;
}

bool braid::comm::hasEqualElements(Value value) {
  SplatElementsAttr splat;
  return value.getDefiningOp<tensor::EmptyOp>() ||
         value.getDefiningOp<linalg::FillOp>() ||
         matchPattern(value, m_Constant(&splat));
}

std::optional<BlockOp>
BlockIterations::findEqualAxis(Value value, BlockDim block, unsigned mostOps) {
  auto result = dyn_cast<OpResult>(value);
  if (!result || mostOps == 0 || !canGrow(result.getOwner()))
    return std::nullopt;
  Operation *op = result.getOwner();
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  for (SplitAxis &axis : getSplitAxes(op)) {
    int64_t runs = block.runs * axis.divided;
    if (axis.results[result.getResultNumber()] != block.dim ||
        llvm::is_contained(axis.results, std::nullopt) ||
        runs % axis.joined != 0 ||
        (linalgOp && readsIndex(linalgOp, axis.loop)))
      continue;
    BlockOp merged{axis, runs / axis.joined, block.runs};
    if (llvm::all_of(llvm::zip_equal(op->getOperands(), merged.axis.operands),
                     [&](const auto &pair) {
                       auto [operand, dim] = pair;
                       return !dim ||
                              canWiden(operand, {*dim, merged.operandRuns},
                                       mostOps - 1);
                     }))
      return merged;
  }
  return std::nullopt;
}

std::optional<BlockOp> BlockIterations::findEqualAxis(Value value,
                                                      BlockDim block) {
  return findEqualAxis(value, block, kMostEqualOps);
}

bool BlockIterations::canWiden(Value value, BlockDim block, unsigned mostOps) {
  if (hasEqualElements(value))
    return true;
  auto [it, isNew] = widenable.try_emplace(getBlockKey(value, block), false);
  if (isNew && findEqualAxis(value, block, mostOps))
    widenable[getBlockKey(value, block)] = true;
  return widenable[getBlockKey(value, block)];
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Visits an op of linalg that takes terms of sums or carried values.
bool BlockIterations::visitSumOf(linalg::LinalgOp op) {
  if (op->getNumResults() != 1 || readsIndex(op) || !hasStaticShapes(op))
    return false;
  SmallVector<OpOperand *> inputs = op.getDpsInputOperands();
  Block *body = op.getBlock();
  if (op.getNumReductionLoops() > 0)
    return inputs.size() == 1 && is(inputs[0]->get(), Role::Term) &&
           llvm::hasNItems(*body, 2) &&
           llvm::is_contained(body->front().getOperands(),
                              body->getArgument(0)) &&
           addsUp(op);
  Value yielded = body->getTerminator()->getOperand(0);
  OpResult result = op->getResult(0);
  if (auto argument = dyn_cast<BlockArgument>(yielded)) {
    OpOperand *operand = op.getMatchingOpOperand(argument);
    roles[result] = {Role::Term};
    return inputs.size() == 1 && operand == inputs[0] &&
           is(operand->get(), Role::Term);
  }
  if (!llvm::hasNItems(*body, 2) || inputs.size() != 2 ||
      !isa<arith::AddFOp, arith::AddIOp>(body->front()) ||
      body->front().getOperand(0) == body->front().getOperand(1) ||
      !llvm::all_of(body->front().getOperands(), [&](Value operand) {
        auto argument = dyn_cast<BlockArgument>(operand);
        return argument && argument.getArgNumber() < 2;
      }))
    return false;
  roles[result] = {Role::Term};
  for (auto [place, input] : llvm::enumerate(inputs)) {
    if (is(input->get(), Role::Term))
      continue;
    if (!is(input->get(), Role::Carried) ||
        !is(inputs[1 - place]->get(), Role::Term) ||
        op.getMatchingIndexingMap(input) !=
            op.getIndexingMapMatchingResult(result) ||
        !addsTo(input->get()))
      return false;
    roles[result] = getRole(input->get());
  }
  return true;
}

bool BlockIterations::visitSum(Operation &op) {
  if (op.hasAttr(CommDialect::kCostAttrName))
    return false;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return visitSumOf(linalgOp);
  if (!isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp,
           tensor::ExtractSliceOp>(op) ||
      !is(op.getOperand(0), Role::Term))
    return false;
  roles[op.getResult(0)] = {Role::Term};
  return true;
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

bool BlockIterations::visit(Operation &op) {
  if (!isMemoryEffectFree(&op) || isa<CommDialect>(op.getDialect()))
    return false;
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op.getRegions(), captured);
  if (!llvm::all_of(captured,
                    [&](Value value) { return is(value, Role::Equal); }))
    return false;
  auto takes = [&](Role::Kind kind) {
    return llvm::any_of(op.getOperands(),
                        [&](Value value) { return is(value, kind); });
  };
  bool takesNumber = takes(Role::Number), takesBlock = takes(Role::Block);
  bool updates = takes(Role::Term) || takes(Role::Carried);
  if (!takesNumber && !takesBlock && !updates)
    return true;
  if (takesNumber && !takesBlock && !updates &&
      llvm::none_of(op.getResultTypes(), llvm::IsaPred<ShapedType>)) {
    for (OpResult result : op.getResults())
      roles[result] = {Role::Number};
    return true;
  }
  if (takesNumber) {
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
      return visitExtract(slice);
    if (auto slice = dyn_cast<tensor::InsertSliceOp>(op))
      return visitInsert(slice);
    return false;
  }
  return takesBlock ? visitBlockOp(op) : visitSum(op);
}

bool BlockIterations::analyze() {
  numIterations = getStaticTripCount(loop).value_or(0);
  if (numIterations < 2 || numIterations > kMostIterations)
    return false;
  roles[loop.getInductionVar()] = {Role::Number};
  for (auto [number, argument] : llvm::enumerate(loop.getRegionIterArgs()))
    roles[argument] = {Role::Carried, {}, static_cast<unsigned>(number)};
  for (Operation &op : loop.getBody()->without_terminator())
    if (!isOpTriviallyDead(&op) && !visit(op))
      return false;
  return !blockOps.empty() &&
         llvm::all_of(
             llvm::enumerate(loop.getYieldedValues()), [&](const auto &pair) {
               Role role = getRole(pair.value());
               return role.kind == Role::Carried && role.number == pair.index();
             });
}
