//===- Mapping.h - Operations in NCCL's terms -------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_COMMUNICATION_MAPPING_H
#define BRAID_RUNTIME_CUDA_COMMUNICATION_MAPPING_H

#include "CUDA/API/NCCL.h"
#include "Operations/Operation.h"

#include <cstdint>

namespace braid::rt::cuda {

/// NCCL's element type for an element type of the dialect.
struct ElementType {
  nccl::DataType type;
  int64_t factor; ///< NCCL elements for each element of the dialect.
};

/// The type for data movement, for any element type.
ElementType movedType(int32_t dtype);

/// The type for reductions; only after checkSupported.
ElementType reducedType(int32_t dtype);

/// The operator of a reduction other than premul_sum; only after
/// checkSupported.
nccl::ReductionOp reductionOp(int32_t reduction);

/// Throws an Error if NCCL does not support the dimension, the reduction or the
/// element type of the operation.
void checkSupported(const Operation &operation, int64_t groupSize);

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_COMMUNICATION_MAPPING_H
