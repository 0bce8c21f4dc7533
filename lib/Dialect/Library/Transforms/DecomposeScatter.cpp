//===- DecomposeScatter.cpp - Scatters as loops or kernels ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Dialect/Library/Transforms/Decompose.h"

#include "TensorOps.h"
#include "UpdateLists.h"

#include "braid/Support/ReadAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace braid;
using namespace braid::library;

/// So many updates of each batch need no lists: each element of the result
/// compares all indices itself.
static constexpr int64_t kFewUpdates = 4;
/// A GPU sorts the updates in less time than it compares more pairs of indices:
/// an H200 compares so many in 25 us.
static constexpr uint64_t kMostComparisons = uint64_t(1) << 26;

namespace {

/// Builds the ops in front of one scatter on tensors.
class ScatterBuilder {
public:
  ScatterBuilder(RewriterBase &rewriter, ScatterOp op)
      : b(op.getLoc(), rewriter), op(op), indices(op.getIndices()),
        updates(op.getUpdates()), output(op.getOutput()),
        type(cast<RankedTensorType>(output.getType())),
        indexType(cast<RankedTensorType>(indices.getType()).getElementType()),
        batchDims(op.getBatchDims()), indexedDims(op.getIndexedDims()),
        windowDims(op.getWindowDims()), numUpdates(op.getNumUpdates()),
        numWindows(op.getNumWindows()), element(type.getElementType()),
        accumulated(getAccumulatedType()) {
    for (int64_t dim : batchDims)
      batchSizes.push_back(type.getDimSize(dim));
  }

  bool isEmpty() const { return numUpdates == 0 || type.getNumElements() == 0; }
  /// A loop over the updates, of scalars if `mayUseScalars` and if windows are.
  Value loop(bool mayUseScalars);
  Value link();

private:
  using Conversion = Value (ScatterBuilder::*)(ImplicitLocOpBuilder &, Value);

  Value constant(ImplicitLocOpBuilder &at, Type kind, int64_t value) {
    return arith::ConstantOp::create(at, at.getIntegerAttr(kind, value));
  }

  /// The type of an element between two updates: f32 if the updates of small
  /// floats are added or multiplied, so that the result rounds once.
  Type getAccumulatedType();
  /// The new element of `element`, of the accumulated type, and `update`, by
  /// the region of the op.
  Value combine(ImplicitLocOpBuilder &at, Value element, Value update);
  /// Converts an element to the accumulated type, and back.
  Value widen(ImplicitLocOpBuilder &at, Value value);
  Value narrow(ImplicitLocOpBuilder &at, Value value);

  AffineMap getMap(unsigned numDims, ArrayRef<AffineExpr> results) {
    return AffineMap::get(numDims, 0, results, b.getContext());
  }

  //===--- Loop -----------------------------------------------------------===//

  /// The elements of `array` after `convert`, in `init`.
  Value convertArray(Value array, Value init, Conversion convert);
  Value loopOverBatch(unsigned number, Value array,
                      SmallVector<Value> &positions);
  Value updateWindow(Value array, ArrayRef<Value> positions);

  //===--- Lists ----------------------------------------------------------===//

  bool isSorted();
  Value expandWindows(Value found);
  /// An index of the type of indices for each element of the result: the number
  /// of its window.
  Value getWindow(ImplicitLocOpBuilder &at);
  SmallVector<AffineExpr> getBatchExprs(ArrayRef<int64_t> dims) {
    return llvm::map_to_vector(
        dims, [&](int64_t dim) { return b.getAffineDimExpr(dim); });
  }
  /// Computes each element of the result of its old value, of `inputs` and of
  /// the indices of loops.
  Value computeElements(ValueRange inputs, ArrayRef<AffineMap> maps,
                        ElementBody body);
  /// The position of update `number` (an i32) of the current batch.
  SmallVector<Value> getPositions(ImplicitLocOpBuilder &at, Value number,
                                  ArrayRef<Value> places) {
    SmallVector<Value> positions = llvm::map_to_vector(
        batchDims, [&](int64_t dim) { return places[dim]; });
    positions.push_back(
        arith::IndexCastOp::create(at, at.getIndexType(), number));
    return positions;
  }
  /// The element of `list` for update `number` (an i32) of the current batch.
  Value extractOf(ImplicitLocOpBuilder &at, Value list, Value number,
                  ArrayRef<Value> places) {
    return tensor::ExtractOp::create(at, list,
                                     getPositions(at, number, places));
  }
  /// The element of update `number` (an i32) that belongs to the current
  /// element of the result.
  Value extractUpdate(ImplicitLocOpBuilder &at, Value number,
                      ArrayRef<Value> places);
  Value linkFew();
  Value takeLast();
  Value followLists();

  ImplicitLocOpBuilder b;
  ScatterOp op;
  Value indices, updates, output;
  RankedTensorType type;
  Type indexType;
  ArrayRef<int64_t> batchDims, indexedDims;
  SmallVector<int64_t> windowDims, batchSizes;
  int64_t numUpdates, numWindows;
  Type element, accumulated;
  bool useScalars = false;
};

} // namespace

Type ScatterBuilder::getAccumulatedType() {
  Block &body = op.getCombine().front();
  Operation &first = body.front();
  bool isSum = isa<arith::AddFOp, arith::MulFOp>(first) &&
               first.getNextNode() == body.getTerminator() &&
               body.getTerminator()->getOperand(0) == first.getResult(0) &&
               llvm::all_of(body.getArguments(), [&](Value argument) {
                 return llvm::is_contained(first.getOperands(), argument);
               });
  return isSum && element.getIntOrFloatBitWidth() < 32 ? b.getF32Type()
                                                       : element;
}

Value ScatterBuilder::widen(ImplicitLocOpBuilder &at, Value value) {
  return accumulated == element ? value
                                : arith::ExtFOp::create(at, accumulated, value);
}

Value ScatterBuilder::narrow(ImplicitLocOpBuilder &at, Value value) {
  return accumulated == element ? value
                                : arith::TruncFOp::create(at, element, value);
}

Value ScatterBuilder::combine(ImplicitLocOpBuilder &at, Value element,
                              Value update) {
  Block &body = op.getCombine().front();
  IRMapping mapping;
  if (accumulated != this->element) {
    SmallVector<Value> operands{element, widen(at, update)};
    if (body.front().getOperand(0) != body.getArgument(0))
      std::swap(operands[0], operands[1]);
    OperationState state(at.getLoc(), body.front().getName(), operands,
                         accumulated, body.front().getAttrs());
    return at.create(state)->getResult(0);
  }
  mapping.map(body.getArguments(), ValueRange{element, update});
  for (Operation &each : body.without_terminator())
    at.clone(each, mapping);
  return mapping.lookupOrDefault(body.getTerminator()->getOperand(0));
}

//===----------------------------------------------------------------------===//
// Loop
//===----------------------------------------------------------------------===//

Value ScatterBuilder::updateWindow(Value array, ArrayRef<Value> positions) {
  Value index = arith::IndexCastOp::create(
      b, b.getIndexType(), tensor::ExtractOp::create(b, indices, positions));
  // A negative index is a large unsigned number.
  Value isInside =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, index,
                            constant(b, b.getIndexType(), numWindows));
  auto ifInside = scf::IfOp::create(b, TypeRange(array.getType()), isInside,
                                    /*addThenBlock=*/true,
                                    /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(ifInside.elseBlock());
  scf::YieldOp::create(b, array);
  b.setInsertionPointToStart(ifInside.thenBlock());

  int64_t rank = type.getRank();
  SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)), sizes,
      strides(rank, b.getIndexAttr(1));
  SmallVector<int64_t> windowSizes;
  for (int64_t dim = 0; dim < rank; ++dim) {
    bool isWindow = llvm::is_contained(windowDims, dim);
    if (isWindow)
      windowSizes.push_back(type.getDimSize(dim));
    sizes.push_back(b.getIndexAttr(isWindow ? type.getDimSize(dim) : 1));
  }
  for (auto [dim, position] : llvm::zip(batchDims, positions))
    offsets[dim] = position;
  Value rest = index;
  for (int64_t dim : llvm::reverse(indexedDims)) {
    if (dim == indexedDims.front()) {
      offsets[dim] = rest;
      break;
    }
    Value size = constant(b, b.getIndexType(), type.getDimSize(dim));
    offsets[dim] = Value(arith::RemUIOp::create(b, rest, size));
    rest = arith::DivUIOp::create(b, rest, size);
  }
  if (useScalars) {
    // A scalar needs no buffer of its own.
    SmallVector<Value> places =
        getValueOrCreateConstantIndexOp(b, b.getLoc(), offsets);
    Value old = tensor::ExtractOp::create(b, array, places);
    Value update = tensor::ExtractOp::create(b, updates, positions);
    Value result =
        tensor::InsertOp::create(b, combine(b, old, update), array, places);
    scf::YieldOp::create(b, result);
    return ifInside.getResult(0);
  }
  Value window = tensor::ExtractSliceOp::create(
      b, RankedTensorType::get(windowSizes, accumulated), array, offsets, sizes,
      strides);
  int64_t updateRank = positions.size() + windowSizes.size();
  SmallVector<OpFoldResult> updateOffsets(updateRank, b.getIndexAttr(0)),
      updateSizes(positions.size(), b.getIndexAttr(1)),
      updateStrides(updateRank, b.getIndexAttr(1));
  llvm::copy(positions, updateOffsets.begin());
  for (int64_t size : windowSizes)
    updateSizes.push_back(b.getIndexAttr(size));
  Value update = tensor::ExtractSliceOp::create(
      b, RankedTensorType::get(windowSizes, element), updates, updateOffsets,
      updateSizes, updateStrides);
  Value changed =
      createElementwise(b, b.getLoc(), window, update,
                        [&](ImplicitLocOpBuilder &at, ValueRange arguments) {
                          return combine(at, arguments[1], arguments[0]);
                        });
  Value result =
      tensor::InsertSliceOp::create(b, changed, array, offsets, sizes, strides);
  scf::YieldOp::create(b, result);
  return ifInside.getResult(0);
}

Value ScatterBuilder::loopOverBatch(unsigned number, Value array,
                                    SmallVector<Value> &positions) {
  if (number > batchSizes.size())
    return updateWindow(array, positions);
  int64_t size = number < batchSizes.size() ? batchSizes[number] : numUpdates;
  Type index = b.getIndexType();
  auto loop =
      scf::ForOp::create(b, constant(b, index, 0), constant(b, index, size),
                         constant(b, index, 1), array);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  positions.push_back(loop.getInductionVar());
  scf::YieldOp::create(
      b, loopOverBatch(number + 1, loop.getRegionIterArg(0), positions));
  return loop.getResult(0);
}

Value ScatterBuilder::convertArray(Value array, Value init,
                                   Conversion convert) {
  return createElementwise(b, b.getLoc(), init, array,
                           [&](ImplicitLocOpBuilder &at, ValueRange arguments) {
                             return (this->*convert)(at, arguments[0]);
                           });
}

Value ScatterBuilder::loop(bool mayUseScalars) {
  useScalars = mayUseScalars && windowDims.empty();
  SmallVector<Value> positions;
  if (accumulated == element)
    return loopOverBatch(0, output, positions);
  Value wide = tensor::EmptyOp::create(b, type.getShape(), accumulated);
  wide = convertArray(output, wide, &ScatterBuilder::widen);
  wide = loopOverBatch(0, wide, positions);
  return convertArray(wide, output, &ScatterBuilder::narrow);
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

/// True if lists come from a sort instead of comparisons of all updates with
/// each other and with all windows.
bool ScatterBuilder::isSorted() {
  auto count = static_cast<uint64_t>(numUpdates);
  uint64_t others =
      llvm::SaturatingAdd(count, static_cast<uint64_t>(numWindows));
  return llvm::SaturatingMultiply(llvm::SaturatingMultiply(count, others),
                                  static_cast<uint64_t>(op.getNumBatches())) >
         kMostComparisons;
}

/// Gives `found`, with a dimension for all windows, the indexed dimensions.
Value ScatterBuilder::expandWindows(Value found) {
  SmallVector<int64_t> sizes(batchSizes);
  SmallVector<ReassociationIndices> groups;
  for (size_t dim = 0; dim < batchSizes.size(); ++dim)
    groups.push_back({static_cast<int64_t>(dim)});
  if (indexedDims.size() == 1)
    return found;
  if (indexedDims.empty()) {
    if (groups.empty())
      return tensor::CollapseShapeOp::create(
          b, RankedTensorType::get({}, b.getI32Type()), found, groups);
    groups.back().push_back(static_cast<int64_t>(batchSizes.size()));
    return tensor::CollapseShapeOp::create(b, found, groups);
  }
  ReassociationIndices &last = groups.emplace_back();
  for (int64_t dim : indexedDims) {
    last.push_back(static_cast<int64_t>(sizes.size()));
    sizes.push_back(type.getDimSize(dim));
  }
  return tensor::ExpandShapeOp::create(
      b, RankedTensorType::get(sizes, b.getI32Type()), found, groups);
}

Value ScatterBuilder::computeElements(ValueRange inputs,
                                      ArrayRef<AffineMap> maps,
                                      ElementBody body) {
  auto identity = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<Value> all{output};
  llvm::append_range(all, inputs);
  SmallVector<AffineMap> allMaps{identity};
  llvm::append_range(allMaps, maps);
  allMaps.push_back(identity);
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  Value init =
      tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
  return createGeneric(b, b.getLoc(), init, all, allMaps, loops, body);
}

Value ScatterBuilder::getWindow(ImplicitLocOpBuilder &at) {
  Value window;
  for (int64_t dim : indexedDims) {
    Value place = arith::IndexCastOp::create(at, indexType,
                                             linalg::IndexOp::create(at, dim));
    if (window)
      place = arith::AddIOp::create(
          at, place,
          arith::MulIOp::create(at, window,
                                constant(at, indexType, type.getDimSize(dim))));
    window = place;
  }
  return window ? window : constant(at, indexType, 0);
}

Value ScatterBuilder::extractUpdate(ImplicitLocOpBuilder &at, Value number,
                                    ArrayRef<Value> places) {
  SmallVector<Value> positions = getPositions(at, number, places);
  for (int64_t dim : windowDims)
    positions.push_back(places[dim]);
  return tensor::ExtractOp::create(at, updates, positions);
}

/// The index of each loop of the op whose body `at` builds.
static SmallVector<Value> getPlaces(ImplicitLocOpBuilder &at, int64_t rank) {
  SmallVector<Value> places;
  for (int64_t dim = 0; dim < rank; ++dim)
    places.push_back(linalg::IndexOp::create(at, dim));
  return places;
}

Value ScatterBuilder::linkFew() {
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  auto rank = static_cast<unsigned>(type.getRank());
  for (int64_t number = 0; number < numUpdates; ++number) {
    SmallVector<AffineExpr> ofUpdate = getBatchExprs(batchDims);
    ofUpdate.push_back(b.getAffineConstantExpr(number));
    inputs.push_back(indices);
    maps.push_back(getMap(rank, ofUpdate));
    llvm::append_range(ofUpdate, getBatchExprs(windowDims));
    inputs.push_back(updates);
    maps.push_back(getMap(rank, ofUpdate));
  }
  return computeElements(
      inputs, maps, [&](ImplicitLocOpBuilder &at, ValueRange arguments) {
        Value element = widen(at, arguments[0]), window = getWindow(at);
        for (int64_t number = 0; number < numUpdates; ++number) {
          Value isWanted = arith::CmpIOp::create(
              at, arith::CmpIPredicate::eq, arguments[1 + 2 * number], window);
          Value changed = combine(at, element, arguments[2 + 2 * number]);
          element = arith::SelectOp::create(at, isWanted, changed, element);
        }
        return narrow(at, element);
      });
}

Value ScatterBuilder::takeLast() {
  Value last = expandWindows(
      isSorted()
          ? findLastInSorted(b, sortUpdates(b, indices, numWindows), numWindows)
          : findLastUpdates(b, indices, numWindows));
  SmallVector<AffineExpr> ofWindow = getBatchExprs(batchDims);
  llvm::append_range(ofWindow, getBatchExprs(indexedDims));
  return computeElements(
      last, getMap(type.getRank(), ofWindow),
      [&](ImplicitLocOpBuilder &at, ValueRange arguments) -> Value {
        Value zero = constant(at, at.getI32Type(), 0);
        Value number = arith::MaxSIOp::create(at, arguments[1], zero);
        Value update = extractUpdate(at, number, getPlaces(at, type.getRank()));
        Value exists = arith::CmpIOp::create(at, arith::CmpIPredicate::sge,
                                             arguments[1], zero);
        return arith::SelectOp::create(
            at, exists, combine(at, arguments[0], update), arguments[0]);
      });
}

Value ScatterBuilder::followLists() {
  Value sorted, next, first;
  if (isSorted()) {
    sorted = sortUpdates(b, indices, numWindows);
    first = findFirstInSorted(b, sorted, numWindows);
  } else {
    first = findFirstUpdates(b, indices, numWindows);
    next = findNextUpdates(b, indices);
  }
  SmallVector<AffineExpr> ofWindow = getBatchExprs(batchDims);
  llvm::append_range(ofWindow, getBatchExprs(indexedDims));
  Type kinds[] = {b.getI32Type(), accumulated};
  return computeElements(
      expandWindows(first), getMap(type.getRank(), ofWindow),
      [&](ImplicitLocOpBuilder &at, ValueRange arguments) -> Value {
        SmallVector<Value> places = getPlaces(at, type.getRank());
        Value end = constant(at, kinds[0], numUpdates), window;
        if (sorted)
          window = arith::IndexCastOp::create(
              at, at.getI64Type(),
              arith::IndexCastOp::create(at, at.getIndexType(), getWindow(at)));
        auto list = scf::WhileOp::create(
            at, TypeRange(kinds),
            ValueRange{arguments[1], widen(at, arguments[0])},
            [&](OpBuilder &nested, Location loc, ValueRange carried) {
              ImplicitLocOpBuilder inner(loc, nested);
              Value isUpdate = arith::CmpIOp::create(
                  inner, arith::CmpIPredicate::slt, carried[0], end);
              if (sorted) {
                // The last element may be read once more.
                Value place = arith::MinSIOp::create(
                    inner, carried[0],
                    constant(inner, kinds[0], numUpdates - 1));
                Value isOfWindow = arith::CmpIOp::create(
                    inner, arith::CmpIPredicate::eq,
                    getWindowOf(inner, extractOf(inner, sorted, place, places)),
                    window);
                isUpdate = arith::AndIOp::create(inner, isUpdate, isOfWindow);
              }
              scf::ConditionOp::create(inner, isUpdate, carried);
            },
            [&](OpBuilder &nested, Location loc, ValueRange carried) {
              ImplicitLocOpBuilder inner(loc, nested);
              // What follows in the list: the next update of the window, or the
              // next place.
              Value number = carried[0], following;
              if (sorted) {
                number = getUpdateOf(
                    inner, extractOf(inner, sorted, carried[0], places));
                following = arith::AddIOp::create(inner, carried[0],
                                                  constant(inner, kinds[0], 1));
              } else {
                following = extractOf(inner, next, carried[0], places);
              }
              Value update = extractUpdate(inner, number, places);
              // Each update is in the list of one window.
              update.getDefiningOp()->setAttr(kReadsOnceAttrName,
                                              inner.getUnitAttr());
              Value element = combine(inner, carried[1], update);
              scf::YieldOp::create(inner, ValueRange{following, element});
            });
        return narrow(at, list.getResult(1));
      });
}

Value ScatterBuilder::link() {
  if (numUpdates <= kFewUpdates)
    return linkFew();
  // Without the old element, the last update alone counts.
  if (op.getCombine().getArgument(0).use_empty())
    return takeLast();
  return followLists();
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

bool braid::library::canLinkScatter(ScatterOp op) {
  constexpr int64_t most = int64_t(1) << 30;
  return isa<TensorType>(op.getOutput().getType()) &&
         op.getNumUpdates() < most && op.getNumWindows() < most;
}

/// The same op on tensors, for an op on buffers.
static ScatterOp moveScatterToTensors(RewriterBase &rewriter, ScatterOp op) {
  if (!isa<MemRefType>(op.getOutput().getType()))
    return op;
  Location loc = op.getLoc();
  SmallVector<Value> tensors;
  for (Value buffer : op.getOperands())
    tensors.push_back(bufferization::ToTensorOp::create(
        rewriter, loc, memref::getTensorTypeFromMemRefType(buffer.getType()),
        buffer, /*restrict=*/true));
  ArrayRef<Value> all(tensors);
  auto onTensors = ScatterOp::create(
      rewriter, loc, tensors.back().getType(), op.getBatchDimsAttr(),
      op.getIndexedDimsAttr(), all.take_front(2), all.drop_front(2));
  onTensors->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  onTensors.getCombine().takeBody(op.getCombine());
  auto copy = bufferization::MaterializeInDestinationOp::create(
      rewriter, loc, onTensors.getResult(0), op.getOutput());
  copy.setWritable(true);
  rewriter.eraseOp(op);
  rewriter.setInsertionPoint(onTensors);
  return onTensors;
}

void braid::library::loopOverScatter(RewriterBase &rewriter, ScatterOp given,
                                     bool mayUseScalars) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(given);
  ScatterOp op = moveScatterToTensors(rewriter, given);
  ScatterBuilder builder(rewriter, op);
  rewriter.replaceOp(op, builder.isEmpty() ? op.getOutput()
                                           : builder.loop(mayUseScalars));
}

void braid::library::linkScatter(RewriterBase &rewriter, ScatterOp op) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  ScatterBuilder builder(rewriter, op);
  rewriter.replaceOp(op, builder.isEmpty() ? op.getOutput() : builder.link());
}
