//===- Device.h - Where a rank computes -------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CORE_DEVICE_H
#define BRAID_RUNTIME_CORE_DEVICE_H

#include "Core/Memory.h"
#include "braid-rt/Types.h"

#include <cstddef>
#include <cstdint>

namespace braid::rt {

/// C = A B + beta C for row-major matrices, A of m x k, B of k x n, C of m x n,
/// each before the transposition.
struct MatrixProduct {
  int32_t dtype;
  bool transposeA, transposeB;
  int64_t m, n, k;
  int64_t lda, ldb; ///< Leading dimensions, in elements.
  double beta;
  int64_t ldc;
};

/// The memory and the compute stream of one rank. The rank's own thread calls
/// all functions.
class BRAID_RT_API Device {
public:
  virtual ~Device();

  /// The rank enters its program on the calling thread.
  virtual void beginInvocation() = 0;

  /// What compiled code allocates. In the order of the compute stream.
  virtual MemoryPool &memory() = 0;

  /// The stream that kernels are launched on; nullptr where the host computes.
  virtual void *computeStream() { return nullptr; }

  /// Returns when the compute stream has done all it was asked for.
  virtual void synchronize() {}

  /// Multiplies matrices, after checkProduct.
  virtual void multiply(const MatrixProduct &product, const void *a,
                        const void *b, void *c) = 0;
};

/// Throws an Error that names what is wrong with the types and sizes.
void checkProduct(const MatrixProduct &product);

} // namespace braid::rt

#endif // BRAID_RUNTIME_CORE_DEVICE_H
