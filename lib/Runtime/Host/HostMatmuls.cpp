//===- HostMatmuls.cpp - Matmuls of the host by OpenBLAS ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Base/Error.h"
#include "Host/HostDevice.h"

#include <algorithm>
#include <cblas.h>
#include <climits>
#include <mutex>

using namespace braid::rt;

void braid::rt::setBlasThreads(int32_t threads) {
  // The setting applies to the whole process.
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  if (openblas_get_num_threads() != threads)
    openblas_set_num_threads(threads);
}

template <typename T> static void scaleResult(const Matmul &p, T *c) {
  for (int64_t i = 0; i < p.m; ++i)
    for (int64_t j = 0; j < p.n; ++j)
      c[i * p.ldc + j] = p.beta == 0.0 ? T(0) : T(c[i * p.ldc + j] * p.beta);
}

/// One matmul. A matrix times a column, or a row times a matrix, calls gemv,
/// which reads the matrix once; gemm would first pack it.
static void multiply(const Matmul &p, const void *a, const void *b, void *c) {
  int m = static_cast<int>(p.m), n = static_cast<int>(p.n),
      k = static_cast<int>(p.k);
  // The library requires leading dimensions of at least 1.
  int lda = static_cast<int>(std::max<int64_t>(1, p.lda)),
      ldb = static_cast<int>(std::max<int64_t>(1, p.ldb)),
      ldc = static_cast<int>(std::max<int64_t>(1, p.ldc));
  CBLAS_TRANSPOSE ta = p.transposeA ? CblasTrans : CblasNoTrans;
  CBLAS_TRANSPOSE tb = p.transposeB ? CblasTrans : CblasNoTrans;
  switch (p.dtype) {
  case BRAID_RT_F32: {
    const auto *x = static_cast<const float *>(a);
    const auto *y = static_cast<const float *>(b);
    auto *z = static_cast<float *>(c);
    auto beta = static_cast<float>(p.beta);
    if (k == 0)
      return scaleResult(p, z);
    if (n == 1)
      return cblas_sgemv(CblasRowMajor, ta, p.transposeA ? k : m,
                         p.transposeA ? m : k, 1.0F, x, lda, y,
                         p.transposeB ? 1 : ldb, beta, z, ldc);
    if (m == 1)
      return cblas_sgemv(CblasRowMajor,
                         p.transposeB ? CblasNoTrans : CblasTrans,
                         p.transposeB ? n : k, p.transposeB ? k : n, 1.0F, y,
                         ldb, x, p.transposeA ? lda : 1, beta, z, 1);
    return cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, 1.0F, x, lda, y, ldb,
                       beta, z, ldc);
  }
  case BRAID_RT_F64: {
    const auto *x = static_cast<const double *>(a);
    const auto *y = static_cast<const double *>(b);
    auto *z = static_cast<double *>(c);
    if (k == 0)
      return scaleResult(p, z);
    if (n == 1)
      return cblas_dgemv(CblasRowMajor, ta, p.transposeA ? k : m,
                         p.transposeA ? m : k, 1.0, x, lda, y,
                         p.transposeB ? 1 : ldb, p.beta, z, ldc);
    if (m == 1)
      return cblas_dgemv(CblasRowMajor,
                         p.transposeB ? CblasNoTrans : CblasTrans,
                         p.transposeB ? n : k, p.transposeB ? k : n, 1.0, y,
                         ldb, x, p.transposeA ? lda : 1, p.beta, z, 1);
    return cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, 1.0, x, lda, y, ldb,
                       p.beta, z, ldc);
  }
  case BRAID_RT_COMPLEX_F32: {
    const float one[] = {1.0F, 0.0F};
    const float beta[] = {static_cast<float>(p.beta), 0.0F};
    return cblas_cgemm(CblasRowMajor, ta, tb, m, n, k, one, a, lda, b, ldb,
                       beta, c, ldc);
  }
  default: {
    const double one[] = {1.0, 0.0};
    const double beta[] = {p.beta, 0.0};
    return cblas_zgemm(CblasRowMajor, ta, tb, m, n, k, one, a, lda, b, ldb,
                       beta, c, ldc);
  }
  }
}

/// Throws an Error unless the library supports the types.
static void checkLibrary(const Matmul &p) {
  if (p.dtype != BRAID_RT_F32 && p.dtype != BRAID_RT_F64 &&
      p.dtype != BRAID_RT_COMPLEX_F32 && p.dtype != BRAID_RT_COMPLEX_F64) {
    const char *name = braid_rt_dtype_name(p.dtype);
    throw Error(std::string("matmul of ") +
                (name ? name : std::to_string(p.dtype)) +
                ", expected f32, f64, complex<f32> or complex<f64>");
  }
  if (p.options.resultDtype != p.dtype ||
      p.options.epilogue != BRAID_RT_EPILOGUE_NONE || p.options.bias)
    throw Error("matmul with a bias, an epilogue or a result of another type, "
                "which the host's library does not have");
  for (int64_t value : {p.m, p.n, p.k, p.lda, p.ldb, p.ldc})
    if (value > INT_MAX)
      throw Error("matmul: a size or leading dimension is " +
                  std::to_string(value) + ", expected 0 to 2147483647");
}

namespace {
/// The blocks of results that one call of the library computes, and how many
/// calls a part of the work has.
struct BlockSize {
  int64_t rows, columns, perPart;
};
} // namespace

/// Depends on the sizes alone, as the bits of results may depend on blocks.
static BlockSize chooseBlock(const Matmul &p) {
  // A core takes 80 us for this many terms, a thread some 20 us to wake up.
  constexpr double leastTerms = 4e6;
  // Each block packs its rows and columns once more.
  constexpr int64_t leastSide = 128, leastSideOfMany = 512;
  constexpr int64_t few = 8, most = 256;
  BlockSize block = {p.m, p.n, 1};
  auto terms = [&]() {
    return static_cast<double>(block.rows) * block.columns *
           std::max<int64_t>(1, p.k);
  };
  for (int64_t blocks = p.batch; terms() >= 2 * leastTerms && blocks < most;
       blocks *= 2) {
    int64_t &side = block.rows >= block.columns ? block.rows : block.columns;
    if (side < 2 * (blocks < few ? leastSide : leastSideOfMany))
      break;
    side = divideUp(side, 128) * 64;
  }
  if (p.batch > 1)
    block.perPart = static_cast<int64_t>(std::max(1.0, leastTerms / terms()));
  return block;
}

void HostDevice::multiply(const Matmul &matmul, const void *a, const void *b,
                          void *c) {
  checkLibrary(matmul);
  int64_t size = braid_rt_dtype_size(matmul.dtype);
  BlockSize block = chooseBlock(matmul);
  int64_t rowBlocks = divideUp(matmul.m, block.rows),
          blocks = rowBlocks * divideUp(matmul.n, block.columns),
          count = blocks * matmul.batch;
  runParts(divideUp(count, block.perPart), [&](int64_t part) {
    int64_t end = std::min(count, (part + 1) * block.perPart);
    for (int64_t i = part * block.perPart; i < end; ++i) {
      int64_t index = i / blocks, row = i % blocks % rowBlocks * block.rows,
              column = i % blocks / rowBlocks * block.columns;
      Matmul one = matmul;
      one.m = std::min(block.rows, matmul.m - row);
      one.n = std::min(block.columns, matmul.n - column);
      ::multiply(
          one,
          static_cast<const char *>(a) +
              (index * one.strideA + row * (one.transposeA ? 1 : one.lda)) *
                  size,
          static_cast<const char *>(b) +
              (index * one.strideB + column * (one.transposeB ? one.ldb : 1)) *
                  size,
          static_cast<char *>(c) +
              (index * one.strideC + row * one.ldc + column) * size);
    }
  });
}
