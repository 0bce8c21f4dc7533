//===- MatmulTypes.h - Element types of matmuls -----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_DEVICE_MATMULTYPES_H
#define BRAID_RUNTIME_CUDA_DEVICE_MATMULTYPES_H

#include "CUDA/API/Blas.h"
#include "Engine/Device.h"

#include <array>
#include <string>

namespace braid::rt::cuda {

/// The types of the library for matmuls of an element type.
struct Arithmetic {
  int32_t dtype;
  DataType type;
  ComputeType compute;
  DataType scale;
  std::array<int32_t, 4> results; ///< Types of C, -1 after the last one.
};

/// The arithmetic of an element type; nullptr without matmuls of this type.
const Arithmetic *findArithmetic(int32_t dtype);

/// Throws an Error that names the types unless the library supports the
/// matmul.
const Arithmetic &checkTypes(const Matmul &matmul);

/// True if the library may round the operands to TF32: the matmul says so, or
/// all matmuls of f32 may (`isAllowed`).
bool isTF32(const Matmul &matmul, bool isAllowed);

/// `bf16 matrices of 4096 x 128 and 128 x 64 (transposed B, gelu, bias)`.
std::string describeMatmul(const Matmul &matmul);
/// `matmul 64x32x16 bf16`, with the batch in front where there is one.
std::string nameMatmul(const Matmul &matmul);

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_DEVICE_MATMULTYPES_H
