//===- FFTW.h - The functions of FFTW ---------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_HOST_FOURIER_FFTW_H
#define BRAID_RUNTIME_HOST_FOURIER_FFTW_H

#include "Base/Library.h"

#include <complex>
#include <cstddef>

namespace braid::rt::fftw {

/// A dimension of a transform, in elements (fftw_iodim64).
struct Dimension {
  ptrdiff_t size, inStride, outStride;
};

struct PlanOpaque;
using Plan = PlanOpaque *;

// Flags and signs of fftw3.h.
constexpr unsigned destroyInput = 1U << 0;
constexpr unsigned estimate = 1U << 6;
constexpr int forward = -1, backward = 1;

/// FFTW for floats or doubles, loaded when a program transforms for the first
/// time. Only the functions `execute*` may run on several threads at once.
template <typename Real> struct Functions : private Library {
  using Complex = std::complex<Real>;

  /// Throws an Error if the library cannot be loaded.
  static const Functions &get();

  Plan (*planComplex)(int rank, const Dimension *sizes, int batchRank,
                      const Dimension *batch, Complex *in, Complex *out,
                      int sign, unsigned flags);
  Plan (*planToComplex)(int rank, const Dimension *sizes, int batchRank,
                        const Dimension *batch, Real *in, Complex *out,
                        unsigned flags);
  Plan (*planToReal)(int rank, const Dimension *sizes, int batchRank,
                     const Dimension *batch, Complex *in, Real *out,
                     unsigned flags);
  void (*execute)(Plan plan);
  void (*destroy)(Plan plan);

private:
  Functions();
};

} // namespace braid::rt::fftw

#endif // BRAID_RUNTIME_HOST_FOURIER_FFTW_H
