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
#include "Core/Operation.h"

#include <cstdint>

namespace braid::rt::cuda {

/// An element type of the dialect's as elements of one of NCCL's.
struct ElementType {
  nccl::DataType type;
  int64_t factor; ///< How many of NCCL's one of the dialect's is.
};

/// For data that only move: any type.
ElementType movedType(int32_t dtype);

/// For data that are reduced; after checkSupported.
ElementType reducedType(int32_t dtype);

/// The operator of a reduction but premul_sum; after checkSupported.
nccl::ReductionOp reductionOp(int32_t reduction);

/// Throws an Error that names what NCCL lacks where it lacks something that the
/// operation needs: a dimension, a reduction, an element type.
void checkSupported(const Operation &operation, int64_t groupSize);

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_COMMUNICATION_MAPPING_H
