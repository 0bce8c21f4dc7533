//===- Mapping.cpp - Operations in NCCL's terms ---------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Communication/Mapping.h"
#include "Base/Error.h"

using namespace braid::rt;
using namespace braid::rt::cuda;

ElementType braid::rt::cuda::movedType(int32_t dtype) {
  switch (dtype) {
  case BRAID_RT_I32:
    return {nccl::Int32, 1};
  case BRAID_RT_I64:
    return {nccl::Int64, 1};
  case BRAID_RT_F16:
    return {nccl::Float16, 1};
  case BRAID_RT_BF16:
    return {nccl::Bfloat16, 1};
  case BRAID_RT_F32:
    return {nccl::Float32, 1};
  case BRAID_RT_F64:
    return {nccl::Float64, 1};
  case BRAID_RT_COMPLEX_F32:
    return {nccl::Float32, 2};
  case BRAID_RT_COMPLEX_F64:
    return {nccl::Float64, 2};
  default:
    return {nccl::Uint8, braid_rt_dtype_size(dtype)};
  }
}

ElementType braid::rt::cuda::reducedType(int32_t dtype) {
  switch (dtype) {
  case BRAID_RT_I8:
    return {nccl::Int8, 1};
  case BRAID_RT_F8E4M3FN:
    return {nccl::Float8e4m3, 1};
  case BRAID_RT_F8E5M2:
    return {nccl::Float8e5m2, 1};
  default:
    return movedType(dtype);
  }
}

nccl::ReductionOp braid::rt::cuda::reductionOp(int32_t reduction) {
  switch (reduction) {
  case BRAID_RT_PRODUCT:
    return nccl::Prod;
  // On 0 and 1, `and` is the minimum and `or` the maximum.
  case BRAID_RT_MIN:
  case BRAID_RT_BAND:
    return nccl::Min;
  case BRAID_RT_MAX:
  case BRAID_RT_BOR:
    return nccl::Max;
  case BRAID_RT_AVG:
    return nccl::Avg;
  default:
    return nccl::Sum;
  }
}

static bool isComplex(int32_t dtype) {
  return dtype == BRAID_RT_COMPLEX_F32 || dtype == BRAID_RT_COMPLEX_F64;
}

static bool isInteger(int32_t dtype) {
  return dtype >= BRAID_RT_I8 && dtype <= BRAID_RT_I64;
}

/// True if NCCL supports the reduction for the element type. checkOperation has
/// refused combinations that the dialect lacks.
static bool hasReduction(int32_t reduction, int32_t dtype, int64_t groupSize) {
  bool isByteFloat = dtype == BRAID_RT_F8E4M3FN || dtype == BRAID_RT_F8E5M2;
  if (dtype == BRAID_RT_I16)
    return false;
  switch (reduction) {
  case BRAID_RT_BAND:
  case BRAID_RT_BOR:
    return dtype == BRAID_RT_I1;
  case BRAID_RT_BXOR:
    return false;
  case BRAID_RT_AVG:
    return !isInteger(dtype);
  case BRAID_RT_PREMUL_SUM:
    // In a group of one, NCCL does not scale 8-bit floats.
    return !isComplex(dtype) && (groupSize > 1 || !isByteFloat);
  default:
    return true;
  }
}

/// True if a rank's part along the dimension of the operation is contiguous:
/// all earlier dimensions have one element.
static bool isOutermost(const Operation &operation, const Sizes &sizes) {
  for (int64_t i = 0; i < operation.dim; ++i)
    if (sizes[static_cast<size_t>(i)] != 1)
      return false;
  return true;
}

void braid::rt::cuda::checkSupported(const Operation &operation,
                                     int64_t groupSize) {
  for (const Operand &operand : operation.operands) {
    if (operation.isReduction() &&
        !hasReduction(operation.reduction, operand.dtype, groupSize))
      throw Error(operation.signature() + ": NCCL has no " +
                  braid_rt_reduction_name(operation.reduction) + " of " +
                  braid_rt_dtype_name(operand.dtype) +
                  (groupSize == 1 ? " in a group of one rank"
                                  : "; a program compiled for the target cuda "
                                    "does without"));
    if (operation.dim > 0 && groupSize > 1 && operand.sourceBytes() > 0 &&
        !isOutermost(operation, operand.sourceSizes))
      throw Error(operation.signature() + ": NCCL joins and splits along "
                                          "dimension 0 alone; a program "
                                          "compiled for the target cuda "
                                          "transposes instead");
  }
}
