//===- TransposedOperands.cpp - Copies that matmuls read faster -----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rewrites.h"

#include "Dialect/Comm/Transforms/FusionCost.h"
#include "MatmulLayouts.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Support/IR/Operations.h"
#include "braid/Support/MatmulAttributes.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace braid;
using namespace braid::comm;

/// The tensor cores of a Hopper GPU read TF32 along the sum only; a library's
/// other kernels take 1.5 times as long (an H200: 250 beside 390 TFLOP/s). A
/// large GPU moves a byte in the time in which so many operations save that.
static constexpr int64_t kOperationsOfByte = 280;

/// The operand of `op` that a copy should transpose, or null.
static OpOperand *findSlowOperand(linalg::LinalgOp op) {
  auto precision = op->getAttrOfType<StringAttr>(kPrecisionAttrName);
  if (!precision || precision.getValue() != "tf32")
    return nullptr;
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims(op);
  if (failed(dims) || dims->k.size() != 1)
    return nullptr;
  OpOperand *smaller = nullptr;
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (findReadMatrices(*input).empty() ||
        op.getMatchingIndexingMap(input).getResults().back() ==
            getAffineDimExpr(dims->k.front(), op.getContext()))
      return nullptr;
    // Parts of what a collective gives may be multiplied before the rest.
    if (!input->get().getDefiningOp<WaitOp>() &&
        (!smaller ||
         getBytes(input->get().getType()) < getBytes(smaller->get().getType())))
      smaller = input;
  }
  int64_t operations = 2;
  for (int64_t size : op.getStaticLoopRanges())
    if (llvm::MulOverflow(operations, size, operations))
      return nullptr;
  bool isWorthIt =
      smaller && operations / kOperationsOfByte >
                     2 * getBytes(smaller->get().getType()) + kBytesOfLaunch;
  return isWorthIt ? smaller : nullptr;
}

/// `tensor` with its last two dimensions exchanged, at the insertion point.
static Value transpose(RewriterBase &rewriter, Location loc, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  unsigned rank = type.getRank();
  SmallVector<int64_t> shape(type.getShape());
  std::swap(shape[rank - 2], shape[rank - 1]);
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  std::swap(order[rank - 2], order[rank - 1]);
  Value empty =
      tensor::EmptyOp::create(rewriter, loc, shape, type.getElementType());
  return createParallel(
      rewriter, loc, empty, tensor,
      AffineMap::getPermutationMap(order, rewriter.getContext()),
      [](ImplicitLocOpBuilder &, ValueRange elements) { return elements[0]; });
}

int64_t braid::comm::transposeOperands(RewriterBase &rewriter,
                                       Operation *root) {
  SmallVector<linalg::LinalgOp> matmuls;
  root->walk([&](linalg::LinalgOp op) {
    if (linalg::isaContractionOpInterface(op))
      matmuls.push_back(op);
  });
  // Copies that later matmuls of the block read, too.
  DenseMap<std::pair<Value, Block *>, Value> copies;
  for (linalg::LinalgOp matmul : matmuls) {
    OpOperand *operand = findSlowOperand(matmul);
    if (!operand)
      continue;
    Value &copy = copies[{operand->get(), matmul->getBlock()}];
    if (!copy) {
      rewriter.setInsertionPoint(matmul);
      copy = transpose(rewriter, matmul.getLoc(), operand->get());
    }
    SmallVector<Matrix> matrices = findReadMatrices(*operand);
    rewriter.modifyOpInPlace(matmul, [&] { operand->set(copy); });
    exchangeRowsAndColumns(rewriter, matrices);
  }
  return copies.size();
}
