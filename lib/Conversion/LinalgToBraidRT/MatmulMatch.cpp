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

/// True if the results of `map` are the loops `dims`, in this order.
static bool isProjection(AffineMap map, ArrayRef<unsigned> dims) {
  if (map.getNumResults() != dims.size())
    return false;
  for (auto [expression, dim] : llvm::zip_equal(map.getResults(), dims)) {
    auto dimExpression = dyn_cast<AffineDimExpr>(expression);
    if (!dimExpression || dimExpression.getPosition() != dim)
      return false;
  }
  return true;
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
  SmallVector<unsigned> prefix;
  if (!dims->batch.empty())
    prefix.push_back(*(match.batch = dims->batch[0]));

  auto isMatrix = [&](AffineMap map, unsigned row, unsigned column) {
    SmallVector<unsigned> expected(prefix);
    expected.append({row, column});
    return isProjection(map, expected);
  };
  match.transposedA = isMatrix(maps[0], match.k, match.m);
  match.transposedB = isMatrix(maps[1], match.n, match.k);
  if ((!match.transposedA && !isMatrix(maps[0], match.m, match.k)) ||
      (!match.transposedB && !isMatrix(maps[1], match.k, match.n)) ||
      !isMatrix(maps.back(), match.m, match.n))
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
