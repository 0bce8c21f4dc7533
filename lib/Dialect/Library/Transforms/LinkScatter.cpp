//===- LinkScatter.cpp - Scatters as kernels ------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScatterBuilder.h"
#include "UpdateLists.h"

#include "braid/Support/ReadAttributes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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
/// A GPU follows a list in a microsecond for each update. It sorts more updates
/// in less time, and more of a window than this on average.
static constexpr int64_t kLongestList = 1024, kLongList = 32;
/// The fewest updates of which chunks are combined first.
static constexpr int64_t kFewestInChunks = 256;
/// The updates of a chunk, and those of more than `kManyUpdates`, so that few
/// chunks have the updates of a window that has most of them.
static constexpr int64_t kSmallChunk = 32, kLargeChunk = 128,
                         kManyUpdates = int64_t(1) << 16;

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

Value ScatterBuilder::getWindow(ImplicitLocOpBuilder &at, Type kind) {
  Value window;
  for (int64_t dim : indexedDims) {
    Value place = linalg::IndexOp::create(at, dim);
    if (!kind.isIndex())
      place = arith::IndexCastOp::create(at, kind, place);
    if (window)
      place = arith::AddIOp::create(
          at, place,
          arith::MulIOp::create(at, window,
                                constant(at, kind, type.getDimSize(dim))));
    window = place;
  }
  return window ? window : constant(at, kind, 0);
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
        Value element = widen(at, arguments[0]),
              window = getWindow(at, indexType);
        for (int64_t number = 0; number < numUpdates; ++number) {
          Value isWanted = arith::CmpIOp::create(
              at, arith::CmpIPredicate::eq, arguments[1 + 2 * number], window);
          Value changed = combine(at, element, arguments[2 + 2 * number]);
          element = arith::SelectOp::create(at, isWanted, changed, element);
        }
        return narrow(at, element);
      });
}

std::pair<Value, Value> ScatterBuilder::getRun(ImplicitLocOpBuilder &at,
                                               Value begins,
                                               ArrayRef<Value> places) {
  Value window = getWindow(at, at.getI32Type());
  Value following =
      arith::AddIOp::create(at, window, constant(at, at.getI32Type(), 1));
  return {extractOf(at, begins, window, places),
          extractOf(at, begins, following, places)};
}

Value ScatterBuilder::takeLast() {
  auto replace = [&](ImplicitLocOpBuilder &at, Value old, Value exists,
                     Value number) -> Value {
    Value update = extractUpdate(at, number, getPlaces(at, type.getRank()));
    return arith::SelectOp::create(at, exists, combine(at, old, update), old);
  };
  if (!isSorted()) {
    return computeElements(
        expandWindows(findLastUpdates(b, indices, numWindows)),
        getMapOfWindows(), [&](ImplicitLocOpBuilder &at, ValueRange arguments) {
          Value zero = constant(at, at.getI32Type(), 0), last = arguments[1];
          Value exists =
              arith::CmpIOp::create(at, arith::CmpIPredicate::sge, last, zero);
          return replace(at, arguments[0], exists,
                         arith::MaxSIOp::create(at, last, zero));
        });
  }
  Value sorted = sortUpdates(b, indices, numWindows);
  Value begins = findFirstInSorted(b, sorted, numWindows + 1);
  return computeElements(
      {}, {}, [&](ImplicitLocOpBuilder &at, ValueRange arguments) {
        SmallVector<Value> places = getPlaces(at, type.getRank());
        auto [begin, end] = getRun(at, begins, places);
        Value exists =
            arith::CmpIOp::create(at, arith::CmpIPredicate::slt, begin, end);
        // If there is no update, any place.
        Type place = end.getType();
        Value last = arith::MaxSIOp::create(
            at, arith::SubIOp::create(at, end, constant(at, place, 1)),
            constant(at, place, 0));
        Value number = getUpdateOf(at, extractOf(at, sorted, last, places));
        return replace(at, arguments[0], exists, number);
      });
}

Value ScatterBuilder::combineUpdate(ImplicitLocOpBuilder &at, Value value,
                                    Value number, ArrayRef<Value> places) {
  Value update = extractUpdate(at, number, places);
  // Each update is in the list of one window.
  update.getDefiningOp()->setAttr(kReadsOnceAttrName, at.getUnitAttr());
  return combine(at, value, update);
}

Value ScatterBuilder::combineSorted(ImplicitLocOpBuilder &at, Value value,
                                    Value sorted, Value place,
                                    ArrayRef<Value> places) {
  Value key = extractOf(at, sorted, place, places);
  return combineUpdate(at, value, getUpdateOf(at, key), places);
}

Value ScatterBuilder::followLists() {
  Value first = findFirstUpdates(b, indices, numWindows);
  Value next = findNextUpdates(b, indices);
  Type kinds[] = {b.getI32Type(), accumulated};
  return computeElements(
      expandWindows(first), getMapOfWindows(),
      [&](ImplicitLocOpBuilder &at, ValueRange arguments) -> Value {
        SmallVector<Value> places = getPlaces(at, type.getRank());
        Value end = constant(at, kinds[0], numUpdates);
        auto list = scf::WhileOp::create(
            at, TypeRange(kinds),
            ValueRange{arguments[1], widen(at, arguments[0])},
            [&](OpBuilder &nested, Location loc, ValueRange carried) {
              Value isUpdate = arith::CmpIOp::create(
                  nested, loc, arith::CmpIPredicate::slt, carried[0], end);
              scf::ConditionOp::create(nested, loc, isUpdate, carried);
            },
            [&](OpBuilder &nested, Location loc, ValueRange carried) {
              ImplicitLocOpBuilder inner(loc, nested);
              Value following = extractOf(inner, next, carried[0], places);
              Value element =
                  combineUpdate(inner, carried[1], carried[0], places);
              scf::YieldOp::create(inner, ValueRange{following, element});
            });
        return narrow(at, list.getResult(1));
      });
}

//===----------------------------------------------------------------------===//
// Runs of sorted updates
//===----------------------------------------------------------------------===//

/// The places whose loads a thread has under way at once.
static constexpr int64_t kPlacesAtOnce = 4;

/// Combines a value with what is at a place (an i32) of a list.
using CombineAt =
    llvm::function_ref<Value(ImplicitLocOpBuilder &, Value place, Value value)>;

static Value numberOf(ImplicitLocOpBuilder &at, int64_t value) {
  return arith::ConstantOp::create(at, at.getI32IntegerAttr(value));
}

/// A loop over the places from `begin` to `end` in steps of `step` places.
static ValueRange loopOverPlaces(ImplicitLocOpBuilder &at, Value begin,
                                 Value end, Value value, int64_t step,
                                 CombineAt combine) {
  return scf::WhileOp::create(
             at, TypeRange{begin.getType(), value.getType()},
             ValueRange{begin, value},
             [&](OpBuilder &nested, Location loc, ValueRange carried) {
               Value isPlace = arith::CmpIOp::create(
                   nested, loc, arith::CmpIPredicate::slt, carried[0], end);
               scf::ConditionOp::create(nested, loc, isPlace, carried);
             },
             [&](OpBuilder &nested, Location loc, ValueRange carried) {
               ImplicitLocOpBuilder inner(loc, nested);
               Value place = carried[0], combined = carried[1];
               for (int64_t number = 0; number < step; ++number) {
                 combined = combine(inner, place, combined);
                 place =
                     arith::AddIOp::create(inner, place, numberOf(inner, 1));
               }
               scf::YieldOp::create(inner, ValueRange{place, combined});
             })
      .getResults();
}

/// Combines `value` with what is at the places from `begin` to `end` (i32), in
/// their order. What does not depend on the value, such as loads, is done for
/// several places at once.
static Value combineRun(ImplicitLocOpBuilder &at, Value begin, Value end,
                        Value value, CombineAt combine) {
  Value rest = arith::AndIOp::create(at, arith::SubIOp::create(at, end, begin),
                                     numberOf(at, kPlacesAtOnce - 1));
  ValueRange most =
      loopOverPlaces(at, begin, arith::SubIOp::create(at, end, rest), value,
                     kPlacesAtOnce, combine);
  return loopOverPlaces(at, most[0], end, most[1], 1, combine)[1];
}

/// The same for an associative combination: `combineChunk` combines with all
/// `places` of a chunk, whose number it gets, for the chunks between `begin`
/// and `end`. The other places come first.
static Value combineRunOfChunks(ImplicitLocOpBuilder &at, int64_t places,
                                Value begin, Value end, Value value,
                                CombineAt combine, CombineAt combineChunk) {
  Value size = numberOf(at, places);
  // The first chunk that begins in the run, and the first that does not end
  // there.
  Value firstChunk = arith::DivUIOp::create(
      at, arith::AddIOp::create(at, begin, numberOf(at, places - 1)), size);
  Value endChunk = arith::MaxSIOp::create(
      at, arith::DivUIOp::create(at, end, size), firstChunk);
  // Places before the chunks and places behind them, or all of them.
  Value inChunks = arith::MulIOp::create(
      at, arith::SubIOp::create(at, endChunk, firstChunk), size);
  Value chunksBegin = arith::MulIOp::create(at, firstChunk, size);
  Value combined = combineRun(
      at, begin, arith::SubIOp::create(at, end, inChunks), value,
      [&](ImplicitLocOpBuilder &inner, Value place, Value carried) {
        Value isBefore = arith::CmpIOp::create(inner, arith::CmpIPredicate::slt,
                                               place, chunksBegin);
        Value behind = arith::AddIOp::create(inner, place, inChunks);
        return combine(inner,
                       arith::SelectOp::create(inner, isBefore, place, behind),
                       carried);
      });
  return combineRun(at, firstChunk, endChunk, combined, combineChunk);
}

int64_t ScatterBuilder::getChunk() {
  return numUpdates > kManyUpdates ? kLargeChunk : kSmallChunk;
}

bool ScatterBuilder::hasLongLists() {
  return isSorted() || numUpdates > kLongestList ||
         (numUpdates >= kFewestInChunks && numUpdates / kLongList > numWindows);
}

Value ScatterBuilder::combineChunks(Value sorted) {
  SmallVector<int64_t> sizes(batchSizes);
  sizes.push_back(numUpdates / getChunk());
  for (int64_t dim : windowDims)
    sizes.push_back(type.getDimSize(dim));
  Value init = tensor::EmptyOp::create(b, sizes, accumulated);
  return createParallel(
      b, b.getLoc(), init, {}, {},
      [&](ImplicitLocOpBuilder &at, ValueRange) -> Value {
        // The places of the result: those of windows are unknown.
        SmallVector<Value> here = getPlaces(at, sizes.size()),
                           places(type.getRank());
        for (auto [number, dim] : llvm::enumerate(batchDims))
          places[dim] = here[number];
        for (auto [number, dim] : llvm::enumerate(windowDims))
          places[dim] = here[batchDims.size() + 1 + number];
        Type place = at.getI32Type();
        Value size = constant(at, place, getChunk()),
              one = constant(at, place, 1);
        Value begin = arith::MulIOp::create(
            at, arith::IndexCastOp::create(at, place, here[batchDims.size()]),
            size);
        Value end = arith::AddIOp::create(at, begin, size);
        Value first = extractOf(at, sorted, begin, places);
        Value last =
            extractOf(at, sorted, arith::SubIOp::create(at, end, one), places);
        Value window = getWindowOf(at, first);
        Value isOfOne = arith::CmpIOp::create(at, arith::CmpIPredicate::eq,
                                              window, getWindowOf(at, last));
        Value isWindow =
            arith::CmpIOp::create(at, arith::CmpIPredicate::ne, window,
                                  constant(at, window.getType(), numWindows));
        Value second = arith::AddIOp::create(at, begin, one);
        Value runEnd = arith::SelectOp::create(
            at, arith::AndIOp::create(at, isOfOne, isWindow), end, second);
        Value update = extractUpdate(at, getUpdateOf(at, first), places);
        return combineRun(
            at, second, runEnd, widen(at, update),
            [&](ImplicitLocOpBuilder &inner, Value place, Value value) {
              return combineSorted(inner, value, sorted, place, places);
            });
      });
}

Value ScatterBuilder::combineRuns() {
  Value sorted = sortUpdates(b, indices, numWindows);
  // The first update behind the last window ends its run.
  Value begins = findFirstInSorted(b, sorted, numWindows + 1), chunks;
  if (isAssociative() && numUpdates >= kFewestInChunks)
    chunks = combineChunks(sorted);
  return computeElements(
      {}, {}, [&](ImplicitLocOpBuilder &at, ValueRange arguments) -> Value {
        SmallVector<Value> places = getPlaces(at, type.getRank());
        auto [begin, end] = getRun(at, begins, places);
        auto combineNext = [&](ImplicitLocOpBuilder &inner, Value place,
                               Value value) {
          return combineSorted(inner, value, sorted, place, places);
        };
        Value old = widen(at, arguments[0]);
        Value all =
            chunks ? combineRunOfChunks(
                         at, getChunk(), begin, end, old, combineNext,
                         [&](ImplicitLocOpBuilder &inner, Value chunk,
                             Value value) {
                           SmallVector<Value> positions =
                               getPositions(inner, chunk, places);
                           for (int64_t dim : windowDims)
                             positions.push_back(places[dim]);
                           Value part = tensor::ExtractOp::create(inner, chunks,
                                                                  positions);
                           return combineAccumulated(inner, value, part);
                         })
                   : combineRun(at, begin, end, old, combineNext);
        return narrow(at, all);
      });
}

Value ScatterBuilder::link() {
  if (numUpdates <= kFewUpdates)
    return linkFew();
  // Without the old element, the last update alone counts.
  if (op.getCombine().getArgument(0).use_empty())
    return takeLast();
  return hasLongLists() ? combineRuns() : followLists();
}
