//===- Blas.cpp - Matrix multiplication by OpenBLAS -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid-rt/Blas.h"
#include "Core/Blas.h"
#include "Core/Context.h"

#include <algorithm>
#include <cblas.h>
#include <climits>
#include <cstdlib>
#include <mutex>
#include <thread>

using namespace braid::rt;

void braid::rt::configureBlas(const braid_rt_config &config) {
  int threads = config.blasThreads;
  // Who sets the library's own variable knows what they want.
  if (threads == 0 && std::getenv("OPENBLAS_NUM_THREADS"))
    return;
  if (threads == 0)
    threads = config.ranks > 1 ? 1
                               : static_cast<int>(std::max(
                                     1U, std::thread::hardware_concurrency()));
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  if (openblas_get_num_threads() != threads)
    openblas_set_num_threads(threads);
}

namespace {
struct Product {
  int32_t dtype;
  bool transposeA, transposeB;
  int64_t m, n, k, lda, ldb;
  double beta;
  int64_t ldc;
};
} // namespace

static void checkProduct(const Product &p) {
  if (p.dtype != BRAID_RT_F32 && p.dtype != BRAID_RT_F64 &&
      p.dtype != BRAID_RT_COMPLEX_F32 && p.dtype != BRAID_RT_COMPLEX_F64) {
    const char *name = braid_rt_dtype_name(p.dtype);
    throw Error(std::string("matmul of ") +
                (name ? name : std::to_string(p.dtype)) +
                ", expected f32, f64, complex<f32> or complex<f64>");
  }
  for (int64_t value : {p.m, p.n, p.k, p.lda, p.ldb, p.ldc})
    if (value < 0 || value > INT_MAX)
      throw Error("matmul: a size or leading dimension is " +
                  std::to_string(value) + ", expected 0 to 2147483647");
  struct {
    const char *name;
    int64_t leading, row;
  } operands[] = {{"A", p.lda, p.transposeA ? p.m : p.k},
                  {"B", p.ldb, p.transposeB ? p.k : p.n},
                  {"C", p.ldc, p.n}};
  for (const auto &operand : operands)
    if (operand.leading < operand.row)
      throw Error(std::string("matmul: the leading dimension of ") +
                  operand.name + " is " + std::to_string(operand.leading) +
                  ", less than its row of " + std::to_string(operand.row));
}

/// C = beta C for a product without a middle dimension.
template <typename T> static void scaleResult(const Product &p, T *c) {
  for (int64_t i = 0; i < p.m; ++i)
    for (int64_t j = 0; j < p.n; ++j)
      c[i * p.ldc + j] = p.beta == 0.0 ? T(0) : T(c[i * p.ldc + j] * p.beta);
}

/// One product. A matrix times one column or one row times a matrix is the
/// library's gemv, which is bound by memory where gemm would pack first.
static void multiply(const Product &p, const void *a, const void *b, void *c) {
  int m = static_cast<int>(p.m), n = static_cast<int>(p.n),
      k = static_cast<int>(p.k);
  // The library wants leading dimensions of at least 1.
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

void braid_rt_batch_matmul(int32_t dtype, int32_t transposeA,
                           int32_t transposeB, int64_t batch, int64_t m,
                           int64_t n, int64_t k, const void *a, int64_t lda,
                           int64_t strideA, const void *b, int64_t ldb,
                           int64_t strideB, double beta, void *c, int64_t ldc,
                           int64_t strideC, const braid_rt_site *site) {
  leaveOnError([&](Context &context) {
    Product product = {
        dtype, transposeA != 0, transposeB != 0, m, n, k, lda, ldb, beta, ldc};
    try {
      checkProduct(product);
    } catch (const Error &error) {
      throw Error(messagePrefix(site ? *site : braid_rt_site{}, context.rank) +
                  error.what());
    }
    if (m == 0 || n == 0)
      return;
    int64_t size = braid_rt_dtype_size(dtype);
    for (int64_t i = 0; i < batch; ++i)
      multiply(product, static_cast<const char *>(a) + i * strideA * size,
               static_cast<const char *>(b) + i * strideB * size,
               static_cast<char *>(c) + i * strideC * size);
  });
}

void braid_rt_matmul(int32_t dtype, int32_t transposeA, int32_t transposeB,
                     int64_t m, int64_t n, int64_t k, const void *a,
                     int64_t lda, const void *b, int64_t ldb, double beta,
                     void *c, int64_t ldc, const braid_rt_site *site) {
  braid_rt_batch_matmul(dtype, transposeA, transposeB, 1, m, n, k, a, lda, 0, b,
                        ldb, 0, beta, c, ldc, 0, site);
}
