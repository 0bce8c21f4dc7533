//===- SplitReductions.cpp - Reductions in two steps ----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../LinalgToBraidRT/MatmulMatch.h"
#include "BufferAddress.h"
#include "KernelBody.h"
#include "Kernels.h"
#include "Reduction.h"

#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Conversion/Passes.h"
#include "braid/Support/RowLength.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

#include <limits>

namespace braid {
#define GEN_PASS_DEF_SPLITREDUCTIONSPASS
#include "braid/Conversion/Passes.h.inc"
} // namespace braid

using namespace mlir;
using namespace braid::kernels;

/// The numbers of blocks that keep a large GPU busy, and that a split aims at.
static constexpr int64_t kManyRows = 512, kManyColumnBlocks = 264;
static constexpr int64_t kWantedRows = 1024, kWantedColumnBlocks = 512;
/// The least number of contiguous bytes that a block reads, and the number that
/// is best.
static constexpr int64_t kMinReadBytes = 64, kReadBytes = 128;
/// A reduction of fewer elements is not split, unless a block reduces at least
/// so many elements of one row, for longer than a second kernel takes.
static constexpr int64_t kManyIterations = braid::kLeastSplitElements,
                         kLongRow = 1 << 15;
/// The least number of elements for each result of the first step: what a block
/// reads at once, or what a few threads of a block read of a column.
static constexpr int64_t kMinElements = 4096, kMinColumnElements = 64;
/// Reductions of fewer elements for each result are not split if their rows are
/// more than one loop.
static constexpr int64_t kMinRowElements = 128;

/// The number of iterations of a loop over `size` elements for each result of
/// the first step: a divisor of `size` that gives about `results` results with
/// at least `least` iterations each; 0 if there is none.
static int64_t choosePart(int64_t size, int64_t results, int64_t least) {
  for (int64_t parts = std::min(results, size / least); parts > 1; --parts)
    if (size % parts == 0)
      return size / parts;
  return 0;
}

namespace {

/// What reduces the elements of a result: a block or warp, to which they are
/// adjacent, the threads of a block, which has adjacent results, or a group of
/// threads, whatever the strides.
enum class Shape { Rows, Columns, Groups };

} // namespace

/// The input of `nest` with the most elements, which takes most of the time; of
/// several, one whose elements are reduced.
static const Access &getLargestInput(const LoopNest &nest) {
  auto getSize = [&](const Access &access) {
    int64_t numElements = 1;
    bool isReduced = false;
    for (auto [size, isReduction, stride] :
         llvm::zip(nest.sizes, nest.isReduction, access.strides)) {
      numElements *= stride == 0 ? 1 : size;
      isReduced |= isReduction && stride != 0;
    }
    return std::make_pair(numElements, isReduced);
  };
  return *llvm::max_element(nest.inputs,
                            [&](const Access &access, const Access &other) {
                              return getSize(access) < getSize(other);
                            });
}

/// True if adjacent elements of the largest input belong to one result.
static bool hasRows(const LoopNest &nest) {
  return llvm::none_of(
      llvm::zip(nest.isReduction, getLargestInput(nest).strides),
      [](auto loop) {
        auto [isReduction, stride] = loop;
        return !isReduction && stride == 1;
      });
}

/// True if only the loop itself, and no larger expression, uses `loop`.
static bool isUsedAlone(linalg::LinalgOp op, unsigned loop) {
  AffineExpr alone = getAffineDimExpr(loop, op.getContext());
  for (OpOperand *operand : op.getDpsInputOperands())
    for (AffineExpr expr : op.getMatchingIndexingMap(operand).getResults())
      if (expr != alone && expr.isFunctionOfDim(loop))
        return false;
  return true;
}

/// The first of the innermost loops of reductions that all accesses see as one
/// loop, the row of a kernel; none if the elements of a row are not adjacent.
/// The loop `shortened` has `length` iterations.
static std::optional<unsigned> findRowLoop(linalg::LinalgOp op,
                                           const LoopNest &nest,
                                           unsigned shortened = 0,
                                           int64_t length = 0) {
  auto iterators = op.getIteratorTypesArray();
  std::optional<unsigned> row;
  for (unsigned dimension = iterators.size(); dimension-- > 0;) {
    int loop = nest.dimensions[dimension].loop;
    if (iterators[dimension] != utils::IteratorType::reduction || loop < 0 ||
        (length == 1 && dimension == shortened))
      continue;
    auto isPartOfRow = [&](const Access *access) {
      int64_t stride = access->strides[loop];
      if (!row)
        return stride == 0 || stride == 1;
      int inner = nest.dimensions[*row].loop;
      return stride == access->strides[inner] * nest.sizes[inner];
    };
    if (!llvm::all_of(nest.getAccesses(), isPartOfRow))
      break;
    row = dimension;
  }
  return row;
}

/// The kind of kernel that reduces the elements of `op`.
static Shape getShape(linalg::LinalgOp op, const LoopNest &nest) {
  if (!isElementwise(*nest.body))
    return Shape::Groups;
  if (hasRows(nest) && findRowLoop(op, nest))
    return Shape::Rows;
  return findColumnLoop(nest) ? Shape::Columns : Shape::Groups;
}

/// The number of parts such that the first step has enough results for all
/// multiprocessors; 1 if the op, which has `results` results, `columns` of them
/// adjacent, has enough.
static int64_t getWantedParts(const LoopNest &nest, Shape shape,
                              int64_t results, int64_t columns) {
  if (shape != Shape::Columns)
    return results >= kManyRows ? 1 : llvm::divideCeil(kWantedRows, results);
  // A block computes several adjacent results.
  int64_t bytes = columns * getByteSize(getLargestInput(nest).elementType);
  auto countBlocks = [&](int64_t bytesOfBlock) {
    return results / columns * llvm::divideCeil(bytes, bytesOfBlock);
  };
  if (countBlocks(kMinReadBytes) >= kManyColumnBlocks)
    return 1;
  return llvm::divideCeil(kWantedColumnBlocks, countBlocks(kReadBytes));
}

/// True if all loops of reductions behind the loop of `split` and within its
/// parts are one loop for all accesses.
static bool hasWholeRows(linalg::LinalgOp op, const LoopNest &nest,
                         const Split &split) {
  std::optional<unsigned> row = findRowLoop(op, nest, split.loop, split.part);
  auto iterators = op.getIteratorTypesArray();
  unsigned begin = split.loop + (split.part == 1);
  for (unsigned loop = begin; row && loop < *row; ++loop)
    if (iterators[loop] == utils::IteratorType::reduction &&
        nest.dimensions[loop].loop >= 0)
      return false;
  return true;
}

/// True if the reductions of `op` may run in any order.
static bool mayChangeOrder(linalg::LinalgOp op, const LoopNest &nest) {
  return !nest.inputs.empty() && !op->hasAttr(braid::kOverwritesAttrName) &&
         matchCombiners(nest);
}

static SmallVector<unsigned> getReductions(linalg::LinalgOp op) {
  SmallVector<unsigned> reductions;
  op.getReductionDims(reductions);
  return reductions;
}

static int64_t getNumResults(linalg::LinalgOp op) {
  int64_t results = 1;
  for (auto [size, kind] :
       llvm::zip(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
    if (kind == utils::IteratorType::parallel)
      results *= size;
  return results;
}

/// The number of the innermost loops of reductions of `op` over short rows,
/// which columns of a kernel take in better: rows of other results are adjacent
/// to them, and most of the reduction is outside. A kernel for rows would leave
/// nearly as many results as it reads elements.
static unsigned countLoopsOfShortRows(linalg::LinalgOp op,
                                      const LoopNest &nest) {
  if (nest.usesIndices || nest.getNumIterations() < kManyIterations ||
      !mayChangeOrder(op, nest) || getShape(op, nest) != Shape::Rows)
    return 0;
  auto iterators = op.getIteratorTypesArray();
  int64_t length = 1;
  unsigned count = 0, inner = 0;
  SmallVector<bool> isOfRow(nest.getNumLoops(), false);
  for (unsigned dimension = *findRowLoop(op, nest);
       dimension < op.getNumLoops(); ++dimension) {
    if (iterators[dimension] != utils::IteratorType::reduction)
      continue;
    if (!isUsedAlone(op, dimension))
      return 0;
    ++count;
    if (int loop = nest.dimensions[dimension].loop; loop >= 0) {
      inner = loop;
      length *= nest.sizes[loop];
      isOfRow[loop] = true;
    }
  }
  int64_t bytes = length * getByteSize(getLargestInput(nest).elementType);
  if (bytes > kReadBytes ||
      nest.getNumIterations() < kMinColumnElements * getNumResults(op) * length)
    return 0;
  // What the columns read of each of their rows.
  auto isOfColumns = [&](const Access &access, unsigned next) {
    bool isShared = llvm::none_of(
        llvm::seq<unsigned>(0, nest.getNumLoops()), [&](unsigned loop) {
          return nest.isReduction[loop] && !isOfRow[loop] &&
                 access.strides[loop] != 0;
        });
    return isShared || access.strides[next] == access.strides[inner] * length;
  };
  for (unsigned next = 0; next < nest.getNumLoops(); ++next)
    if (!nest.isReduction[next] && bytes * nest.sizes[next] >= kReadBytes &&
        llvm::all_of(nest.inputs, [&](const Access &access) {
          return isOfColumns(access, next);
        }))
      return count;
  return 0;
}

/// Sets the loops of `split` such that the first step has enough results for
/// all multiprocessors, if `op` has not and can be split. The first
/// `wholeLoops` loops of reductions are loops of the first step in any case,
/// which has `results` results without other loops.
static void chooseParts(linalg::LinalgOp op, const LoopNest &nest, Shape shape,
                        int64_t results, unsigned wholeLoops, Split &split) {
  auto iterators = op.getIteratorTypesArray();
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  // The first step has adjacent results of other rows, too.
  int64_t columns = wholeLoops > 0 ? results : countAdjacentColumns(nest);
  int64_t wanted = getWantedParts(nest, shape, results, columns);
  int64_t leastElements =
      shape == Shape::Columns ? kMinColumnElements : kMinElements;
  // The elements of each result within one iteration of a loop.
  int64_t elements = nest.getNumIterations() / results;
  // The first loop of a reduction has the largest stride: `orderReductions`.
  for (unsigned loop = 0; loop < sizes.size() && (wanted > 1 || wholeLoops > 0);
       ++loop) {
    if (iterators[loop] != utils::IteratorType::reduction)
      continue;
    if (wholeLoops > 0) {
      split.loop = loop;
      split.size = sizes[loop];
      split.part = 1;
      --wholeLoops;
      continue;
    }
    elements /= sizes[loop];
    int64_t least = llvm::divideCeil(leastElements, elements);
    int64_t part = choosePart(sizes[loop], wanted, least);
    if (part == 0 && sizes[loop] == 1)
      continue;
    if (part == 0 || !isUsedAlone(op, loop))
      break;
    split.loop = loop;
    split.size = sizes[loop];
    split.part = part;
    // The next loop is split, too, if the parts of this one are too few.
    wanted /= split.size / part;
    if (part != 1)
      break;
  }
}

/// Makes loops over parts of all reductions around the rows of `op`.
static void splitBeforeRow(linalg::LinalgOp op, const LoopNest &nest,
                           Split &split) {
  auto iterators = op.getIteratorTypesArray();
  for (unsigned loop = *findRowLoop(op, nest); loop-- > 0;) {
    if (iterators[loop] != utils::IteratorType::reduction ||
        nest.dimensions[loop].loop < 0)
      continue;
    if (isUsedAlone(op, loop)) {
      split.loop = loop;
      split.size = op.getStaticLoopRanges()[loop];
      split.part = 1;
    }
    return;
  }
}

/// How the reduction of `op` is split into two, the first of which has enough
/// results for all multiprocessors, or rows that are one loop; none if `op` has
/// both or cannot be split. The first `shortRows` loops of reductions are over
/// short rows.
static std::optional<Split> findSplit(linalg::LinalgOp op, const LoopNest &nest,
                                      unsigned shortRows) {
  if (!mayChangeOrder(op, nest) || nest.getNumIterations() == 0)
    return std::nullopt;
  Split split{0, 0, 0, *matchCombiners(nest)};
  int64_t results = getNumResults(op);
  if (shortRows > 0) {
    SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    SmallVector<unsigned> reductions = getReductions(op);
    for (unsigned loop : ArrayRef(reductions).take_front(shortRows))
      results *= sizes[loop];
    chooseParts(op, nest, Shape::Columns, results, shortRows, split);
    return split;
  }
  Shape shape = getShape(op, nest);
  bool hasManyElements = nest.getNumIterations() >= kMinRowElements * results;
  int64_t least = shape == Shape::Columns
                      ? kManyIterations
                      : std::min(kManyIterations, kLongRow * results);
  if (nest.getNumIterations() >= least)
    chooseParts(op, nest, shape, results, /*wholeLoops=*/0, split);
  // A kernel for rows takes rows that are one loop.
  if (shape == Shape::Rows && hasManyElements && !hasWholeRows(op, nest, split))
    splitBeforeRow(op, nest, split);
  if (split.part == 0)
    return std::nullopt;
  return split;
}

/// The input of `nest` along whose memory a kernel reduces: the largest one, or
/// one whose rows are adjacent where those of others are columns.
static const Access &getLeadingInput(const LoopNest &nest) {
  std::optional<unsigned> columns = findColumnLoop(nest);
  const Access *strided = columns ? findStridedInput(nest, *columns) : nullptr;
  return strided ? *strided : getLargestInput(nest);
}

/// Puts the loops of reductions of `op` in the order `ordered`; returns false
/// if they have another one.
static bool setOrder(RewriterBase &rewriter, linalg::LinalgOp op,
                     ArrayRef<unsigned> ordered) {
  SmallVector<unsigned> places = getReductions(op);
  if (ordered == ArrayRef(places))
    return true;
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic)
    return false;
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, op.getNumLoops()));
  for (auto [place, loop] : llvm::zip(places, ordered))
    order[place] = loop;
  rewriter.setInsertionPoint(op);
  // Changes the op in place.
  return succeeded(linalg::interchangeGenericOp(rewriter, generic, order));
}

/// Puts the loops of reductions whose order does not matter in the order of the
/// memory of the leading input, the one with adjacent elements last.
static void orderReductions(RewriterBase &rewriter, linalg::LinalgOp op) {
  if (op.getNumReductionLoops() < 2)
    return;
  std::optional<LoopNest> nest = getLoopNest(op);
  if (!nest || !mayChangeOrder(op, *nest))
    return;
  const Access &input = getLeadingInput(*nest);
  auto getStride = [&](unsigned dimension) {
    int loop = nest->dimensions[dimension].loop;
    int64_t stride = loop < 0 ? 0 : std::abs(input.strides[loop]);
    return stride == 0 ? std::numeric_limits<int64_t>::max() : stride;
  };
  SmallVector<unsigned> ordered = getReductions(op);
  llvm::sort(ordered, [&](unsigned a, unsigned b) {
    return std::make_pair(-getStride(a), a) < std::make_pair(-getStride(b), b);
  });
  setOrder(rewriter, op, ordered);
}

/// Splits the reduction of `op` if that makes it faster.
static void splitReduction(RewriterBase &rewriter, linalg::LinalgOp op) {
  std::optional<LoopNest> nest = getLoopNest(op);
  if (!nest)
    return;
  unsigned shortRows = countLoopsOfShortRows(op, *nest);
  if (shortRows > 0) {
    SmallVector<unsigned> ordered = getReductions(op);
    std::rotate(ordered.begin(), ordered.end() - shortRows, ordered.end());
    if (!setOrder(rewriter, op, ordered))
      shortRows = 0;
    nest = getLoopNest(op);
  }
  if (std::optional<Split> split = findSplit(op, *nest, shortRows)) {
    if (shortRows == 0)
      splitProducers(rewriter, op, *split);
    splitReduction(rewriter, createSteps(rewriter, op, *nest, *split));
  }
}

namespace {
struct SplitReductionsPass
    : public braid::StructuralPass<
          braid::impl::SplitReductionsPassBase<SplitReductionsPass>> {
  LogicalResult transform() override {
    IRRewriter rewriter(&getContext());
    // The fills of the results move to the second step.
    replaceCopiesOfFills(rewriter, getOperation());
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) {
      // Matmuls become calls of the library, or other kernels.
      if (op.hasPureBufferSemantics() && op.getNumReductionLoops() > 0 &&
          op->getNumRegions() == 1 && op->getRegion(0).hasOneBlock() &&
          !braid::matchMatmul(op))
        ops.push_back(op);
    });
    for (linalg::LinalgOp op : ops) {
      orderReductions(rewriter, op);
      splitReduction(rewriter, op);
    }
    return success();
  }
};
} // namespace
