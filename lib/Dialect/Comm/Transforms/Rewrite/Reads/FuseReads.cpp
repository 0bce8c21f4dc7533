//===- FuseReads.cpp - Compute what is read, where it is read -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseReads.h"

#include "Dialect/Comm/Transforms/FusionCost.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Support/ReadAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace braid;

static constexpr int64_t kIndexBits = 64;

bool braid::comm::isComputedAnywhere(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op->getNumResults() != 1 ||
      !op->getDiscardableAttrs().empty() ||
      op.getNumParallelLoops() != op.getNumLoops() ||
      !op.getIndexingMapsArray().back().isIdentity() ||
      op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)))
    return false;
  for (OpOperand *input : op.getDpsInputOperands())
    if (!llvm::all_of(op.getMatchingIndexingMap(input).getResults(),
                      llvm::IsaPred<AffineDimExpr, AffineConstantExpr>))
      return false;
  return llvm::all_of(op.getBody()->without_terminator(), [](Operation &inner) {
    return isMemoryEffectFree(&inner) &&
           (inner.getNumRegions() == 0 || isa<scf::IfOp>(inner));
  });
}

/// True if an element of the result costs no more than to read the element: the
/// body moves one element of no other size, or none.
static bool isReadLike(linalg::GenericOp op) {
  int64_t bits = 0, weight = 0;
  auto add = [&](Type type) {
    bits += type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : kIndexBits;
  };
  for (OpOperand *input : op.getDpsInputOperands())
    if (isa<RankedTensorType>(input->get().getType()) &&
        op.payloadUsesValueFromOperand(input))
      add(getElementTypeOrSelf(input->get().getType()));
  op.getBody()->walk([&](Operation *inner) {
    if (auto read = dyn_cast<tensor::ExtractOp>(inner))
      add(read.getType());
    else if (!isa<scf::IfOp>(inner) &&
             !inner->hasTrait<OpTrait::IsTerminator>())
      weight += comm::getWeight(inner);
  });
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  return weight <= comm::kFewOperations && type.isIntOrFloat() &&
         bits <= type.getIntOrFloatBitWidth();
}

/// The linalg op whose body reads an element with `read`, if it has a constant
/// number of iterations.
static linalg::LinalgOp getReader(Operation *read) {
  auto extract = dyn_cast<tensor::ExtractOp>(read);
  auto reader =
      extract ? extract->getParentOfType<linalg::LinalgOp>() : nullptr;
  return reader && reader.hasPureTensorSemantics() &&
                 !ShapedType::isDynamicShape(reader.getStaticLoopRanges())
             ? reader
             : linalg::LinalgOp();
}

/// The most elements that `read` reads, in all iterations of its reader; none
/// if it stands in a loop.
static std::optional<uint64_t> countReads(tensor::ExtractOp read) {
  // Each update of a scatter is in one list.
  if (read->hasAttr(kReadsOnceAttrName))
    return read.getTensor().getType().getNumElements();
  linalg::LinalgOp reader = getReader(read);
  for (Operation *parent = read->getParentOp(); parent != reader;
       parent = parent->getParentOp())
    if (!isa<scf::IfOp>(parent))
      return std::nullopt;
  return ShapedType::getNumElements(reader.getStaticLoopRanges());
}

/// True if all users of `op` are reads in bodies.
static bool isReadAlone(Operation *op) {
  return !op->use_empty() && llvm::all_of(op->getUsers(), [](Operation *user) {
    return getReader(user) != nullptr;
  });
}

Value braid::comm::computeElement(
    RewriterBase &rewriter, Location loc, linalg::GenericOp producer,
    ArrayRef<Value> places,
    llvm::function_ref<Value(Value, ArrayRef<Value>)> read, IRMapping mapping) {
  for (OpOperand *input : producer.getDpsInputOperands()) {
    if (!producer.payloadUsesValueFromOperand(input))
      continue;
    Value element = mapping.lookupOrDefault(input->get());
    if (isa<RankedTensorType>(element.getType())) {
      SmallVector<Value> indices;
      for (AffineExpr expression :
           producer.getMatchingIndexingMap(input).getResults()) {
        auto dim = dyn_cast<AffineDimExpr>(expression);
        indices.push_back(
            dim ? places[dim.getPosition()]
                : Value(arith::ConstantIndexOp::create(
                      rewriter, loc,
                      cast<AffineConstantExpr>(expression).getValue())));
      }
      element = read(element, indices);
    }
    mapping.map(producer.getMatchingBlockArgument(input), element);
  }
  for (Operation &op : producer.getBody()->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(op))
      mapping.map(index.getResult(), places[index.getDim()]);
    else
      rewriter.clone(op, mapping);
  }
  return mapping.lookupOrDefault(
      producer.getBody()->getTerminator()->getOperand(0));
}

bool braid::comm::fuseIntoReads(RewriterBase &rewriter,
                                linalg::GenericOp producer) {
  if (!isReadAlone(producer) || !isComputedAnywhere(producer))
    return false;
  auto type = cast<RankedTensorType>(producer->getResult(0).getType());
  if (!type.hasStaticShape())
    return false;
  if (!isReadLike(producer)) {
    uint64_t elements = 0;
    // Marked reads of one op read each element once, all of them together.
    llvm::SmallPtrSet<Operation *, 4> counted;
    for (Operation *user : producer->getUsers()) {
      if (user->hasAttr(kReadsOnceAttrName) &&
          !counted.insert(getReader(user)).second)
        continue;
      std::optional<uint64_t> reads = countReads(cast<tensor::ExtractOp>(user));
      if (!reads)
        return false;
      elements = llvm::SaturatingAdd<uint64_t>(elements, *reads);
    }
    if (elements > static_cast<uint64_t>(type.getNumElements()))
      return false;
  }
  for (Operation *user : llvm::make_early_inc_range(producer->getUsers())) {
    linalg::LinalgOp reader = getReader(user);
    reader->setLoc(rewriter.getFusedLoc({producer.getLoc(), reader.getLoc()}));
    auto read = cast<tensor::ExtractOp>(user);
    rewriter.setInsertionPoint(read);
    SmallVector<Value> places(read.getIndices());
    rewriter.replaceOp(
        read, computeElement(rewriter, read.getLoc(), producer, places,
                             [&](Value tensor, ArrayRef<Value> indices) {
                               return tensor::ExtractOp::create(rewriter,
                                                                read.getLoc(),
                                                                tensor, indices)
                                   .getResult();
                             }));
  }
  rewriter.eraseOp(producer);
  return true;
}

bool braid::comm::movesOnlyUnits(RankedTensorType expanded,
                                 ArrayRef<ReassociationIndices> groups) {
  return llvm::all_of(groups, [&](const ReassociationIndices &group) {
    return llvm::count_if(group, [&](int64_t dim) {
             return expanded.getDimSize(dim) != 1;
           }) <= 1;
  });
}

SmallVector<Value> braid::comm::getPlacesInSource(tensor::ExpandShapeOp expand,
                                                  ArrayRef<Value> places) {
  SmallVector<Value> inSource;
  for (const ReassociationIndices &group : expand.getReassociationIndices()) {
    const auto *dim = llvm::find_if(group, [&](int64_t dim) {
      return expand.getResultType().getDimSize(dim) != 1;
    });
    inSource.push_back(places[dim == group.end() ? group.front() : *dim]);
  }
  return inSource;
}

Value braid::comm::readInside(ImplicitLocOpBuilder &b, Value isInside,
                              Value tensor, ArrayRef<Value> places,
                              Value outside, bool readsOnce) {
  auto branch = scf::IfOp::create(
      b, isInside,
      [&](OpBuilder &nested, Location loc) {
        auto element = tensor::ExtractOp::create(nested, loc, tensor, places);
        if (readsOnce)
          element->setAttr(kReadsOnceAttrName, nested.getUnitAttr());
        scf::YieldOp::create(nested, loc, element.getResult());
      },
      [&](OpBuilder &nested, Location loc) {
        scf::YieldOp::create(nested, loc, outside);
      });
  return branch.getResult(0);
}

/// True if the owner of `input` may read elements of it in its body.
static bool mayReadInBody(OpOperand &input) {
  auto op = dyn_cast<linalg::GenericOp>(input.getOwner());
  return op && op.hasPureTensorSemantics() && op.isDpsInput(&input) &&
         op.getNumParallelLoops() == op.getNumLoops() &&
         llvm::all_of(op.getMatchingIndexingMap(&input).getResults(),
                      llvm::IsaPred<AffineDimExpr>);
}

/// The inputs of ops that `value` or a slice of it is, with the offsets of the
/// slice; none if an op has another use for it.
static std::optional<SmallVector<std::pair<OpOperand *, ArrayRef<int64_t>>>>
findInputs(Value value, ArrayRef<int64_t> offsets = {}) {
  SmallVector<std::pair<OpOperand *, ArrayRef<int64_t>>> inputs;
  for (OpOperand &use : value.getUses()) {
    if (mayReadInBody(use)) {
      inputs.emplace_back(&use, offsets);
      continue;
    }
    auto slice = dyn_cast<tensor::ExtractSliceOp>(use.getOwner());
    if (!slice || !offsets.empty() || slice->getNumOperands() != 1 ||
        !slice.hasUnitStride() ||
        slice.getType().getRank() != slice.getSourceType().getRank())
      return std::nullopt;
    auto ofSlice = findInputs(slice, slice.getStaticOffsets());
    if (!ofSlice)
      return std::nullopt;
    llvm::append_range(inputs, *ofSlice);
  }
  return inputs;
}

/// Replaces what the owner of `input` gets of it by what `read` computes of the
/// places.
static void readInBody(
    RewriterBase &rewriter, OpOperand &input,
    llvm::function_ref<Value(ImplicitLocOpBuilder &, ArrayRef<Value>)> read) {
  auto op = cast<linalg::GenericOp>(input.getOwner());
  unsigned number = input.getOperandNumber();
  AffineMap map = op.getMatchingIndexingMap(&input);
  SmallVector<Value> inputs(op.getInputs());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  inputs.erase(inputs.begin() + number);
  maps.erase(maps.begin() + number);
  rewriter.setInsertionPoint(op);
  auto without = linalg::GenericOp::create(
      rewriter, op.getLoc(), op->getResultTypes(), inputs, op.getOutputs(),
      maps, op.getIteratorTypesArray());
  without->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.inlineRegionBefore(op.getRegion(), without.getRegion(),
                              without.getRegion().end());
  BlockArgument argument = without.getBody()->getArgument(number);
  if (!argument.use_empty()) {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    b.setInsertionPointToStart(without.getBody());
    SmallVector<Value> places;
    for (AffineExpr loop : map.getResults())
      places.push_back(
          linalg::IndexOp::create(b, cast<AffineDimExpr>(loop).getPosition()));
    rewriter.replaceAllUsesWith(argument, read(b, places));
  }
  without.getBody()->eraseArgument(number);
  rewriter.replaceOp(op, without);
}

bool braid::comm::readThroughInsert(RewriterBase &rewriter,
                                    tensor::InsertSliceOp insert) {
  auto fill = insert.getDest().getDefiningOp<linalg::FillOp>();
  ArrayRef<int64_t> offsets = insert.getStaticOffsets(),
                    strides = insert.getStaticStrides(),
                    sizes = insert.getSourceType().getShape(),
                    shape = insert.getType().getShape();
  // Elements that are adjacent stay so.
  if (!fill || insert->use_empty() || insert->getNumOperands() != 2 ||
      !insert.getSourceType().hasStaticShape() ||
      sizes.size() != shape.size() || sizes.empty() ||
      sizes.back() != shape.back() ||
      llvm::all_of(strides, [](int64_t stride) { return stride == 1; }))
    return false;
  // An op that reads several slices is another op for each of them.
  while (true) {
    auto found = findInputs(insert);
    if (!found)
      return false;
    if (found->empty())
      break;
    ArrayRef<int64_t> sliceOffsets = found->front().second;
    readInBody(
        rewriter, *found->front().first,
        [&](ImplicitLocOpBuilder &b, ArrayRef<Value> places) {
          SmallVector<Value> inner;
          Value isInside;
          auto require = [&](arith::CmpIPredicate predicate, Value place,
                             int64_t bound) {
            Value fits = arith::CmpIOp::create(
                b, predicate, place, arith::ConstantIndexOp::create(b, bound));
            isInside =
                isInside ? arith::AndIOp::create(b, isInside, fits) : fits;
          };
          for (auto [dim, place] : llvm::enumerate(places)) {
            // A place before the first one is a large unsigned number.
            Value from = place;
            int64_t shift =
                offsets[dim] - (sliceOffsets.empty() ? 0 : sliceOffsets[dim]);
            if (shift != 0)
              from = arith::SubIOp::create(
                  b, place, arith::ConstantIndexOp::create(b, shift));
            if (strides[dim] != 1) {
              Value stride = arith::ConstantIndexOp::create(b, strides[dim]);
              require(arith::CmpIPredicate::eq,
                      arith::RemUIOp::create(b, from, stride), 0);
              from = arith::DivUIOp::create(b, from, stride);
            }
            if (sizes[dim] != shape[dim])
              require(arith::CmpIPredicate::ult, from, sizes[dim]);
            inner.push_back(from);
          }
          return readInside(b, isInside, insert.getSource(), inner,
                            fill.value());
        });
  }
  for (Operation *slice : llvm::make_early_inc_range(insert->getUsers()))
    rewriter.eraseOp(slice);
  rewriter.eraseOp(insert);
  return true;
}

/// The instructions that read an element inside a padding.
static constexpr int64_t kWeightOfPaddedRead = 8;

/// True if elementwise ops that read `inputs`, which `pad` or slices of it are,
/// read the source instead in less time than the padding takes.
static bool
isWorthReading(tensor::PadOp pad,
               ArrayRef<std::pair<OpOperand *, ArrayRef<int64_t>>> inputs,
               int64_t opsPerByte) {
  int64_t elements = 0;
  for (auto [input, offsets] : inputs) {
    auto op = cast<linalg::LinalgOp>(input->getOwner());
    SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    // Adjacent iterations read adjacent elements.
    if (ShapedType::isDynamicShape(sizes) ||
        !op.getMatchingIndexingMap(input).isIdentity())
      return false;
    elements += ShapedType::getNumElements(sizes);
  }
  return elements * kWeightOfPaddedRead <=
         opsPerByte *
             (2 * comm::getBytes(pad.getResultType()) + comm::kBytesOfLaunch);
}

/// What `pad` has at `places`, by a read of the source that needs no branch,
/// which would divide vectors.
static Value readPadded(ImplicitLocOpBuilder &b, tensor::PadOp pad,
                        ArrayRef<Value> places, ArrayRef<int64_t> sizes,
                        ArrayRef<int64_t> offsets) {
  SmallVector<Value> inner;
  Value isInside;
  for (auto [dim, place] : llvm::enumerate(places)) {
    int64_t shift =
        pad.getStaticLow()[dim] - (offsets.empty() ? 0 : offsets[dim]);
    int64_t size = pad.getSourceType().getDimSize(dim);
    Value from = place;
    if (shift != 0)
      from = arith::SubIOp::create(b, place,
                                   arith::ConstantIndexOp::create(b, shift));
    if (shift > 0 || sizes[dim] - shift > size) {
      // An index before the source is a large unsigned number.
      Value fits =
          arith::CmpIOp::create(b, arith::CmpIPredicate::ult, from,
                                arith::ConstantIndexOp::create(b, size));
      isInside = isInside ? arith::AndIOp::create(b, isInside, fits) : fits;
      from = arith::MinUIOp::create(
          b, from, arith::ConstantIndexOp::create(b, size - 1));
    }
    inner.push_back(from);
  }
  Value element = tensor::ExtractOp::create(b, pad.getSource(), inner);
  if (!isInside)
    return element;
  return arith::SelectOp::create(b, isInside, element,
                                 pad.getConstantPaddingValue());
}

bool braid::comm::readThroughPad(RewriterBase &rewriter, tensor::PadOp pad,
                                 int64_t opsPerByte) {
  Value padding = pad.getConstantPaddingValue();
  if (!padding || !pad.getSourceType().hasStaticShape() ||
      !pad.getResultType().hasStaticShape() || pad.getNofold() ||
      pad.getSourceType().getNumElements() == 0)
    return false;
  if (!isReadAlone(pad)) {
    auto inputs = findInputs(pad);
    if (!inputs || !isWorthReading(pad, *inputs, opsPerByte))
      return false;
    // An op that reads several slices is another op for each of them.
    for (; !inputs->empty(); inputs = findInputs(pad)) {
      OpOperand *input = inputs->front().first;
      ArrayRef<int64_t> offsets = inputs->front().second;
      ArrayRef<int64_t> sizes =
          cast<RankedTensorType>(input->get().getType()).getShape();
      readInBody(rewriter, *input,
                 [&](ImplicitLocOpBuilder &b, ArrayRef<Value> places) {
                   return readPadded(b, pad, places, sizes, offsets);
                 });
    }
    for (Operation *slice : llvm::make_early_inc_range(pad->getUsers()))
      rewriter.eraseOp(slice);
    rewriter.eraseOp(pad);
    return true;
  }
  for (Operation *user : llvm::make_early_inc_range(pad->getUsers())) {
    auto read = cast<tensor::ExtractOp>(user);
    rewriter.setInsertionPoint(read);
    ImplicitLocOpBuilder b(read.getLoc(), rewriter);
    SmallVector<Value> places;
    Value isInside;
    for (auto [place, low, size, padded] : llvm::zip_equal(
             read.getIndices(), pad.getStaticLow(),
             pad.getSourceType().getShape(), pad.getResultType().getShape())) {
      Value inner = place;
      if (low != 0)
        inner = arith::SubIOp::create(b, inner,
                                      arith::ConstantIndexOp::create(b, low));
      places.push_back(inner);
      if (size == padded)
        continue;
      // An index before the source is a large unsigned number.
      Value fits =
          arith::CmpIOp::create(b, arith::CmpIPredicate::ult, inner,
                                arith::ConstantIndexOp::create(b, size));
      isInside = isInside ? arith::AndIOp::create(b, isInside, fits) : fits;
    }
    if (!isInside) {
      rewriter.replaceOpWithNewOp<tensor::ExtractOp>(read, pad.getSource(),
                                                     places);
      continue;
    }
    rewriter.replaceOp(
        read, readInside(b, isInside, pad.getSource(), places, padding));
  }
  rewriter.eraseOp(pad);
  return true;
}

void braid::comm::readThroughExpand(RewriterBase &rewriter,
                                    tensor::ExpandShapeOp expand) {
  if (!movesOnlyUnits(expand.getResultType(), expand.getReassociationIndices()))
    return;
  for (Operation *user : llvm::make_early_inc_range(expand->getUsers())) {
    if (!getReader(user))
      continue;
    auto read = cast<tensor::ExtractOp>(user);
    SmallVector<Value> places(read.getIndices());
    rewriter.modifyOpInPlace(read, [&] {
      read.getTensorMutable().set(expand.getSrc());
      read.getIndicesMutable().assign(getPlacesInSource(expand, places));
    });
  }
  if (expand->use_empty())
    rewriter.eraseOp(expand);
}

bool braid::comm::readThroughCollapse(RewriterBase &rewriter,
                                      tensor::CollapseShapeOp collapse) {
  auto source = collapse.getSrc().getDefiningOp<linalg::GenericOp>();
  RankedTensorType type = collapse.getSrcType();
  if (!source || !source->hasOneUse() || !isComputedAnywhere(source) ||
      !isReadAlone(collapse) || !type.hasStaticShape())
    return false;
  for (Operation *user : llvm::make_early_inc_range(collapse->getUsers())) {
    auto read = cast<tensor::ExtractOp>(user);
    rewriter.setInsertionPoint(read);
    ImplicitLocOpBuilder b(read.getLoc(), rewriter);
    SmallVector<Value> places(type.getRank());
    for (auto [group, place] :
         llvm::zip(collapse.getReassociationIndices(), read.getIndices())) {
      Value rest = place;
      for (int64_t dim : llvm::reverse(group)) {
        if (dim == group.front()) {
          places[dim] = rest;
          break;
        }
        Value size = arith::ConstantIndexOp::create(b, type.getDimSize(dim));
        places[dim] = arith::RemUIOp::create(b, rest, size);
        rest = arith::DivUIOp::create(b, rest, size);
      }
    }
    auto inner = tensor::ExtractOp::create(b, collapse.getSrc(), places);
    inner->setDiscardableAttrs(read->getDiscardableAttrDictionary());
    rewriter.replaceOp(read, inner);
  }
  rewriter.eraseOp(collapse);
  return true;
}
