//===- MatmulMatch.cpp - Matmuls that the library supports ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatmulMatch.h"

#include "../Support/RuntimeCalls.h"
#include "braid-rt/Types.h"

using namespace mlir;
using namespace braid;

/// Matches `map` to a matrix of the loops `row` and `column` with the loop
/// `batch` around it. Sets `isTransposed` if the elements of a column are
/// adjacent, and `batchDim` to the dimension of the batch.
static bool matchMatrix(AffineMap map, std::optional<unsigned> batch,
                        unsigned row, unsigned column, bool &isTransposed,
                        unsigned &batchDim) {
  if (map.getNumResults() != (batch ? 3 : 2) || !map.isProjectedPermutation())
    return false;
  unsigned last = map.getDimPosition(map.getNumResults() - 1);
  isTransposed = last == row;
  if (last != row && last != column)
    return false;
  Builder builder(map.getContext());
  auto getDim = [&](unsigned loop) {
    return map.getResultPosition(builder.getAffineDimExpr(loop));
  };
  if (batch) {
    std::optional<unsigned> dim = getDim(*batch);
    if (!dim)
      return false;
    batchDim = *dim;
  }
  return getDim(row) && getDim(column);
}

std::optional<MatmulMatch> braid::matchMatmul(linalg::LinalgOp op) {
  // `braid-fuse-epilogues` adds the bias, as the third input.
  bool hasBias = op->hasAttr(kBiasAttrName);
  if (op.getNumDpsInits() != 1 || op.getNumDpsInputs() != (hasBias ? 3 : 2) ||
      (!hasBias && !linalg::isaContractionOpInterface(op)))
    return std::nullopt;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  FailureOr<linalg::ContractionDimensions> dims =
      linalg::inferContractionDims({maps[0], maps[1], maps.back()});
  if (failed(dims) || dims->m.size() != 1 || dims->n.size() != 1 ||
      dims->k.size() != 1 || dims->batch.size() > 1)
    return std::nullopt;
  MatmulMatch match;
  match.hasBias = hasBias;
  match.m = dims->m[0];
  match.n = dims->n[0];
  match.k = dims->k[0];
  if (!dims->batch.empty())
    match.batch = dims->batch[0];
  bool isTransposed = false;
  if (!matchMatrix(maps.back(), match.batch, match.m, match.n, isTransposed,
                   match.batchOfC))
    return std::nullopt;
  if (isTransposed) {
    std::swap(match.left, match.right);
    std::swap(match.m, match.n);
  }
  if (!matchMatrix(maps[match.left], match.batch, match.m, match.k,
                   match.transposedA, match.batchOfA) ||
      !matchMatrix(maps[match.right], match.batch, match.k, match.n,
                   match.transposedB, match.batchOfB))
    return std::nullopt;
  return match;
}

bool braid::hasLibraryTypes(linalg::LinalgOp op) {
  Type type = getElementTypeOrSelf(op.getDpsInits()[0].getType());
  for (Value operand : op->getOperands())
    if (getElementTypeOrSelf(operand.getType()) != type)
      return false;
  switch (getRuntimeDtype(type).value_or(BRAID_RT_DTYPE_COUNT)) {
  case BRAID_RT_F32:
  case BRAID_RT_F64:
  case BRAID_RT_COMPLEX_F32:
  case BRAID_RT_COMPLEX_F64:
    return true;
  default:
    return false;
  }
}

bool braid::hasDeviceLibraryTypes(linalg::LinalgOp op) {
  auto getElement = [](Value operand) {
    return getElementTypeOrSelf(operand.getType());
  };
  Type input = getElement(op.getDpsInputs()[0]);
  Type result = getElement(op.getDpsInits()[0]);
  return getElement(op.getDpsInputs()[1]) == input &&
         hasDeviceLibraryTypes(input, result);
}

bool braid::hasContiguousRows(linalg::LinalgOp op) {
  return llvm::all_of(op->getOperands(), [](Value buffer) {
    auto type = cast<MemRefType>(buffer.getType());
    SmallVector<int64_t> strides;
    int64_t offset;
    return succeeded(type.getStridesAndOffset(strides, offset)) &&
           strides.back() == 1;
  });
}

bool braid::isDeviceLibraryCall(linalg::LinalgOp op) {
  return matchMatmul(op) && hasContiguousRows(op) && hasDeviceLibraryTypes(op);
}

LogicalResult braid::checkPlain(linalg::LinalgOp op) {
  if (!op->hasAttr(kBiasAttrName) && !op->hasAttr(kEpilogueAttrName))
    return success();
  return op.emitOpError()
         << "has a bias or an epilogue, which only the library of a GPU has, "
            "expected operands whose rows are contiguous, and --target=cuda";
}

bool braid::hasDeviceLibraryTypes(Type input, Type result) {
  switch (getRuntimeDtype(input).value_or(BRAID_RT_DTYPE_COUNT)) {
  case BRAID_RT_F32:
  case BRAID_RT_F64:
  case BRAID_RT_COMPLEX_F32:
  case BRAID_RT_COMPLEX_F64:
    return result == input;
  case BRAID_RT_F16:
  case BRAID_RT_BF16:
    return result == input || result.isF32();
  case BRAID_RT_F8E4M3FN:
    return result.isF16() || result.isBF16() || result.isF32();
  default:
    return false;
  }
}
