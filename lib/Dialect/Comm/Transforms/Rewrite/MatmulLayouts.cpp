//===- MatmulLayouts.cpp - Layouts of the matrices of matmuls -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatmulLayouts.h"

#include "braid/Support/MatmulAttributes.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace braid::comm;

SmallVector<int64_t> Matrix::getExchange(unsigned rank) const {
  auto range = [](unsigned begin, unsigned end) {
    return llvm::seq<int64_t>(begin, end);
  };
  SmallVector<int64_t> permutation = llvm::to_vector(range(0, numBatch));
  llvm::append_range(permutation, range(numBatch + numRows, rank));
  llvm::append_range(permutation, range(numBatch, numBatch + numRows));
  return permutation;
}

/// `groups` in the order of a matrix with rows and columns exchanged, for its
/// tensor.
static SmallVector<ReassociationIndices>
exchangeGroups(SmallVector<ReassociationIndices> groups) {
  std::swap(groups[groups.size() - 2], groups.back());
  int64_t dimension = 0;
  for (ReassociationIndices &group : groups)
    for (int64_t &entry : group)
      entry = dimension++;
  return groups;
}

/// The matrix of an operand of a matmul, whose dimensions are `groups` of those
/// of its tensor.
static std::optional<Matrix>
matchOperand(OpOperand &operand, Operation *reshape,
             ArrayRef<ReassociationIndices> groups = {}) {
  auto matmul = dyn_cast<linalg::LinalgOp>(operand.getOwner());
  if (!matmul || !matmul.hasPureTensorSemantics() ||
      matmul.getNumDpsInputs() != 2 || matmul.getNumDpsInits() != 1 ||
      !linalg::isaContractionOpInterface(matmul))
    return std::nullopt;
  // Libraries multiply these, and f8 in one layout alone.
  for (Value value : matmul->getOperands()) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !type.hasStaticShape() ||
        !isa<FloatType>(type.getElementType()) ||
        type.getElementTypeBitWidth() < 16)
      return std::nullopt;
  }
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(matmul);
  if (failed(dims) || dims->m.size() != 1 || dims->n.size() != 1 ||
      dims->k.size() != 1 || dims->batch.size() > 1)
    return std::nullopt;
  unsigned numBatch = dims->batch.size();
  AffineMap map = matmul.getMatchingIndexingMap(&operand);
  if (map.getNumResults() != numBatch + 2 ||
      (numBatch == 1 && map.getDimPosition(0) != dims->batch.front()))
    return std::nullopt;
  auto getSize = [&](unsigned dimension) -> unsigned {
    return groups.empty() ? 1 : groups[dimension].size();
  };
  return Matrix{matmul, operand.getOperandNumber(), reshape,
                numBatch == 1 ? getSize(0) : 0, getSize(numBatch)};
}

std::optional<Matrix> braid::comm::findWrittenMatrix(OpResult value) {
  Operation *reshape = nullptr;
  SmallVector<ReassociationIndices> groups;
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(value.getOwner())) {
    value = dyn_cast<OpResult>(expand.getSrc());
    if (!value || !value.hasOneUse())
      return std::nullopt;
    groups = expand.getReassociationIndices();
    reshape = expand;
  }
  auto matmul = dyn_cast<linalg::LinalgOp>(value.getOwner());
  if (!matmul || !matmul.hasPureTensorSemantics())
    return std::nullopt;
  OpOperand *init = matmul.getDpsInitOperand(value.getResultNumber());
  if (!matmul->hasAttr(kOverwritesAttrName) &&
      !init->get().getDefiningOp<linalg::FillOp>())
    return std::nullopt;
  return matchOperand(*init, reshape, groups);
}

SmallVector<Matrix> braid::comm::findReadMatrices(OpOperand &use) {
  auto isInput = [](OpOperand &operand) {
    auto op = dyn_cast<linalg::LinalgOp>(operand.getOwner());
    return op && op.isDpsInput(&operand);
  };
  SmallVector<Matrix> matrices;
  auto add = [&](OpOperand &operand, Operation *reshape,
                 ArrayRef<ReassociationIndices> groups = {}) {
    std::optional<Matrix> matrix;
    if (isInput(operand))
      matrix = matchOperand(operand, reshape, groups);
    if (matrix)
      matrices.push_back(*matrix);
    return matrix.has_value();
  };
  auto collapse = dyn_cast<tensor::CollapseShapeOp>(use.getOwner());
  if (!collapse) {
    add(use, nullptr);
    return matrices;
  }
  SmallVector<ReassociationIndices> groups = collapse.getReassociationIndices();
  for (OpOperand &operand : collapse->getUses())
    if (!add(operand, collapse, groups))
      return {};
  return matrices;
}

/// `matmul` with rows and columns of `matrices`, which are its own, exchanged.
static void exchange(RewriterBase &rewriter, linalg::LinalgOp matmul,
                     ArrayRef<Matrix> matrices) {
  rewriter.setInsertionPoint(matmul);
  Location loc = matmul.getLoc();
  SmallVector<AffineMap> maps = matmul.getIndexingMapsArray();
  SmallVector<Value> inputs(matmul.getDpsInputs());
  Value init = matmul.getDpsInits()[0];
  std::optional<Matrix> written;
  for (const Matrix &matrix : matrices) {
    AffineMap &map = maps[matrix.operand];
    SmallVector<AffineExpr> results(map.getResults());
    std::swap(results[results.size() - 2], results.back());
    map = AffineMap::get(map.getNumDims(), 0, results, matmul.getContext());
    if (matrix.operand < inputs.size()) {
      if (auto collapse =
              dyn_cast_or_null<tensor::CollapseShapeOp>(matrix.reshape))
        inputs[matrix.operand] = tensor::CollapseShapeOp::create(
            rewriter, collapse.getLoc(), collapse.getSrc(),
            exchangeGroups(collapse.getReassociationIndices()));
      continue;
    }
    written = matrix;
    auto type = cast<RankedTensorType>(init.getType());
    SmallVector<int64_t> shape(type.getShape());
    std::swap(shape[shape.size() - 2], shape.back());
    auto fill = init.getDefiningOp<linalg::FillOp>();
    init = tensor::EmptyOp::create(rewriter, loc, shape, type.getElementType());
    if (fill && !matmul->hasAttr(braid::kOverwritesAttrName))
      init = linalg::FillOp::create(rewriter, loc, fill.getInputs(), init)
                 .getResult(0);
  }
  auto replacement = linalg::GenericOp::create(
      rewriter, loc, init.getType(), inputs, init, maps,
      matmul.getIteratorTypesArray(),
      [&](OpBuilder &builder, Location, ValueRange arguments) {
        IRMapping mapping;
        mapping.map(matmul.getBlock()->getArguments(), arguments);
        for (Operation &op : *matmul.getBlock())
          builder.clone(op, mapping);
      });
  replacement->setDiscardableAttrs(matmul->getDiscardableAttrDictionary());
  Value result = replacement.getResult(0);
  if (!written || !written->reshape) {
    rewriter.replaceOp(matmul, result);
    return;
  }
  auto expand = cast<tensor::ExpandShapeOp>(written->reshape);
  rewriter.setInsertionPoint(expand);
  rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(
      expand, expand.getResultType(), result,
      exchangeGroups(expand.getReassociationIndices()));
  rewriter.eraseOp(matmul);
}

void braid::comm::exchangeRowsAndColumns(RewriterBase &rewriter,
                                         ArrayRef<Matrix> matrices) {
  llvm::MapVector<Operation *, SmallVector<Matrix>> byMatmul;
  llvm::SmallSetVector<Operation *, 4> collapses;
  for (const Matrix &matrix : matrices) {
    byMatmul[matrix.matmul].push_back(matrix);
    if (isa_and_nonnull<tensor::CollapseShapeOp>(matrix.reshape))
      collapses.insert(matrix.reshape);
  }
  for (auto &[matmul, ofMatmul] : byMatmul)
    exchange(rewriter, cast<linalg::LinalgOp>(matmul), ofMatmul);
  for (Operation *collapse : collapses)
    rewriter.eraseOp(collapse);
}
