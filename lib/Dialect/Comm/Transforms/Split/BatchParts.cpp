//===- BatchParts.cpp - Blocks in parts of a batch ------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BatchParts.h"
#include "Dialect/Comm/Transforms/Chunks/Slices.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Support/IR/Operations.h"
#include "braid/Support/MatmulAttributes.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"

#include <map>
#include <numeric>

using namespace mlir;
using namespace braid;
using namespace braid::comm;

SmallVector<Chunk> braid::comm::divideBatch(int64_t size, int64_t unit,
                                            ArrayRef<int64_t> shares) {
  constexpr int64_t tile = 128;
  int64_t count = static_cast<int64_t>(shares.size());
  int64_t step = size / count >= tile ? std::lcm(unit, tile) : unit;
  if (size / step < count)
    step = unit;
  double total = std::accumulate(shares.begin(), shares.end(), 0.0), sum = 0;
  SmallVector<Chunk> parts;
  int64_t begin = 0;
  for (auto [number, share] : llvm::enumerate(shares)) {
    sum += static_cast<double>(share);
    int64_t left = count - static_cast<int64_t>(number) - 1;
    int64_t end =
        std::llround(static_cast<double>(size / step) * (sum / total)) * step;
    // A small share has one unit nevertheless.
    end = left == 0 ? size : std::clamp(end, begin + unit, size - left * unit);
    parts.push_back(
        {static_cast<int64_t>(number), begin, end - begin, size, count});
    begin = end;
  }
  return parts;
}

namespace {
class BatchSplitter {
public:
  BatchSplitter(RewriterBase &rewriter, const BatchPropagation &batch,
                ArrayRef<Chunk> parts)
      : rewriter(rewriter), batch(batch), parts(parts) {}

  void split(Operation *op, const SplitOp &split);
  void join(OpResult value);

private:
  Value getPart(ValueDim value, const Chunk &part);
  Value getSlice(ValueDim value, const Chunk &part);
  Operation *createPart(Operation *op, const SplitOp &split, const Chunk &part);

  /// The place of `part` in a run of `size` elements.
  static int64_t getOffset(const Chunk &part, int64_t size) {
    return part.offset * size / part.whole;
  }
  /// The elements of `part` of `size` elements in `runs` runs.
  static int64_t getSize(const Chunk &part, int64_t size, int64_t runs) {
    return part.size * (size / runs) / part.whole * runs;
  }
  static RankedTensorType getPartType(RankedTensorType type, int64_t dim,
                                      int64_t runs, const Chunk &part) {
    return withSize(type, dim, getSize(part, type.getDimSize(dim), runs));
  }

  RewriterBase &rewriter;
  const BatchPropagation &batch;
  ArrayRef<Chunk> parts;
  /// The parts of results so far; of a sum the sums so far.
  llvm::DenseMap<Value, SmallVector<Value>> values;
  std::map<std::tuple<void *, int64_t, int64_t, int64_t>, Value> slices;
};
} // namespace

/// The groups of dimensions after dimension `dim` of a tensor of `rank`
/// dimensions is divided into two.
static SmallVector<ReassociationIndices> getGroups(int64_t rank, int64_t dim) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t i = 0; i != rank; ++i) {
    groups.push_back({i < dim + 1 ? i : i + 1});
    if (i == dim)
      groups.back().push_back(i + 1);
  }
  return groups;
}

Value braid::comm::separateRuns(OpBuilder &builder, Value value, int64_t dim,
                                int64_t runs) {
  auto type = cast<RankedTensorType>(value.getType());
  if (runs == 1)
    return value;
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] /= runs;
  shape.insert(shape.begin() + dim, runs);
  return tensor::ExpandShapeOp::create(builder, value.getLoc(),
                                       type.clone(shape), value,
                                       getGroups(type.getRank(), dim));
}

Value braid::comm::joinRuns(OpBuilder &builder, Value value, int64_t dim,
                            int64_t runs) {
  if (runs == 1)
    return value;
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank() - 1;
  return tensor::CollapseShapeOp::create(builder, value.getLoc(), value,
                                         getGroups(rank, dim));
}

void braid::comm::updateSizes(Operation *op, const SplitOp &split,
                              function_ref<int64_t(int64_t, int64_t)> getSize) {
  auto getSizes = [&](ArrayRef<int64_t> sizes, int64_t dim, int64_t runs) {
    SmallVector<int64_t> changed(sizes);
    changed[dim] = getSize(changed[dim], runs);
    return changed;
  };
  const SplitAxis &axis = split.axis;
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    slice.setStaticSizes(
        getSizes(slice.getStaticSizes(), *axis.operands[0], split.operandRuns));
  else if (auto insertion = dyn_cast<tensor::InsertSliceOp>(op))
    insertion.setStaticSizes(getSizes(insertion.getStaticSizes(),
                                      *axis.operands[1], split.operandRuns));
  else if (auto expansion = dyn_cast<tensor::ExpandShapeOp>(op))
    expansion.setStaticOutputShape(getSizes(
        expansion.getStaticOutputShape(), *axis.results[0], split.resultRuns));
}

/// The part of a value that all parts share, or of an argument of the block.
Value BatchSplitter::getSlice(ValueDim found, const Chunk &part) {
  auto [value, dim, runs] = found;
  RankedTensorType partType =
      getPartType(cast<RankedTensorType>(value.getType()), dim, runs, part);
  // An empty tensor of its own can become the place of a part.
  if (value.getDefiningOp<tensor::EmptyOp>())
    return resizeUniform(rewriter, value, partType);
  Value &slice = slices[{value.getAsOpaquePointer(), dim, runs, part.number}];
  if (slice)
    return slice;
  if (Value uniform = resizeUniform(rewriter, value, partType))
    return slice = uniform;
  Value whole = separateRuns(rewriter, value, dim, runs);
  auto type = cast<RankedTensorType>(whole.getType());
  int64_t cut = runs == 1 ? dim : dim + 1;
  int64_t size = type.getDimSize(cut);
  Value taken = extractAlong(rewriter, whole, cut,
                             rewriter.getIndexAttr(getOffset(part, size)),
                             getSize(part, size, /*runs=*/1));
  return slice = joinRuns(rewriter, taken, dim, runs);
}

Value BatchSplitter::getPart(ValueDim value, const Chunk &part) {
  auto it = values.find(value.value);
  return it == values.end() ? getSlice(value, part) : it->second[part.number];
}

Operation *BatchSplitter::createPart(Operation *op, const SplitOp &split,
                                     const Chunk &part) {
  const SplitAxis &axis = split.axis;
  SmallVector<Value> operands(op->getOperands());
  for (auto [value, dim] : llvm::zip_equal(operands, axis.operands))
    if (dim)
      value = getPart({value, *dim, split.operandRuns}, part);
  Operation *copy = rewriter.clone(*op);
  copy->setOperands(operands);
  for (OpResult result : copy->getResults()) {
    std::optional<int64_t> dim = axis.results[result.getResultNumber()];
    if (dim) {
      Type type =
          getPartType(getSplitType(result), *dim, split.resultRuns, part);
      result.setType(isa<TokenType>(result.getType()) ? TokenType::get(type)
                                                      : type);
    } else if (part.number != 0) {
      auto sum = cast<DestinationStyleOpInterface>(copy);
      sum.getTiedOpOperand(result)->set(
          values[op->getResult(result.getResultNumber())].back());
      copy->removeAttr(kOverwritesAttrName);
    }
  }
  updateSizes(copy, split, [&](int64_t size, int64_t runs) {
    return getSize(part, size, runs);
  });
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(copy);
      linalgOp && linalgOp.hasIndexSemantics() && part.offset != 0) {
    SmallVector<OpFoldResult> offsets(linalgOp.getNumLoops(),
                                      rewriter.getIndexAttr(0));
    int64_t whole =
        cast<linalg::LinalgOp>(op).getStaticLoopRanges()[*axis.loop];
    offsets[*axis.loop] = rewriter.getIndexAttr(getOffset(part, whole));
    linalg::offsetIndices(rewriter, linalgOp, offsets);
  }
  describeChunk(rewriter, copy, part);
  return copy;
}

void BatchSplitter::split(Operation *op, const SplitOp &split) {
  rewriter.setInsertionPoint(op);
  for (const Chunk &part : parts) {
    Operation *copy = createPart(op, split, part);
    for (auto [whole, value] :
         llvm::zip_equal(op->getResults(), copy->getResults()))
      values[whole].push_back(value);
  }
  for (OpResult result : op->getResults())
    if (!split.axis.results[result.getResultNumber()])
      rewriter.replaceAllUsesWith(result, values[result].back());
}

/// Puts the parts of `value` together where an op needs the whole.
void BatchSplitter::join(OpResult value) {
  auto needsWhole = [&](OpOperand &use) {
    return !batch.getOps().contains(use.getOwner());
  };
  std::optional<ValueDim> found = batch.getDim(value);
  if (!found || llvm::none_of(value.getUses(), needsWhole))
    return;
  int64_t dim = found->dim, runs = found->runs;
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<Value> pieces;
  for (Value part : values[value]) {
    rewriter.setInsertionPointAfterValue(part);
    pieces.push_back(separateRuns(rewriter, part, dim, runs));
  }
  int64_t cut = runs == 1 ? dim : dim + 1, size = type.getDimSize(dim) / runs;
  SmallVector<int64_t> shape(type.getShape());
  if (runs != 1) {
    shape[dim] = size;
    shape.insert(shape.begin() + dim, runs);
  }
  auto getPlace = [&](size_t number) -> OpFoldResult {
    return rewriter.getIndexAttr(getOffset(parts[number], size));
  };
  Value whole = joinRuns(
      rewriter, joinParts(rewriter, type.clone(shape), cut, pieces, getPlace),
      dim, runs);
  rewriter.replaceUsesWithIf(value, whole, needsWhole);
}

void braid::comm::splitBatch(RewriterBase &rewriter,
                             const BatchPropagation &batch,
                             ArrayRef<Chunk> parts) {
  OpBuilder::InsertionGuard guard(rewriter);
  BatchSplitter splitter(rewriter, batch, parts);
  for (const auto &[op, split] : batch.getOps())
    splitter.split(op, split);
  for (const auto &entry : batch.getOps())
    for (OpResult result : entry.first->getResults())
      splitter.join(result);
  // Fills and empty tensors of which only parts are left go, too.
  llvm::SetVector<Operation *> producers;
  for (const auto &entry : llvm::reverse(batch.getOps())) {
    for (Value operand : entry.first->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        producers.insert(producer);
    producers.remove(entry.first);
    rewriter.eraseOp(entry.first);
  }
  eraseDead(rewriter, std::move(producers));
}
