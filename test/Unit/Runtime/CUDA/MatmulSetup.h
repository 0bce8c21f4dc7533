//===- MatmulSetup.h - Matmuls beside a reference ---------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_UNITTESTS_RUNTIME_CUDA_MATMULSETUP_H
#define BRAID_UNITTESTS_RUNTIME_CUDA_MATMULSETUP_H

#include "Setup.h"

/// C = A B of contiguous matrices of one type.
braid::rt::Matmul matmulOf(int32_t dtype, int64_t m, int64_t n, int64_t k);

/// A matmul of row-major matrices on the device beside one with loops, on
/// small numbers, which are exact in every type, as are their matmuls' sums.
struct Comparison {
  braid::rt::Matmul p;
  bool hasBias = false;

  void run(braid::rt::CudaDevice &device);
};

#endif // BRAID_UNITTESTS_RUNTIME_CUDA_MATMULSETUP_H
