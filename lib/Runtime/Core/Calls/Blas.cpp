//===- Blas.cpp - Matrix multiplication -------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid-rt/Blas.h"
#include "Core/Context.h"

using namespace braid::rt;

void braid::rt::checkMatmul(const Matmul &p) {
  for (int64_t value : {p.batch, p.m, p.n, p.k, p.lda, p.ldb, p.ldc})
    if (value < 0)
      throw Error("matmul: a size or leading dimension is " +
                  std::to_string(value) + ", expected at least 0");
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

void braid_rt_fused_matmul(int32_t dtype, int32_t transposeA,
                           int32_t transposeB, int64_t batch, int64_t m,
                           int64_t n, int64_t k, const void *a, int64_t lda,
                           int64_t strideA, const void *b, int64_t ldb,
                           int64_t strideB, double beta, void *c, int64_t ldc,
                           int64_t strideC,
                           const braid_rt_matmul_options *options,
                           const braid_rt_site *site) {
  leaveOnError([&](Context &context) {
    Matmul matmul = {dtype,
                     transposeA != 0,
                     transposeB != 0,
                     batch,
                     m,
                     n,
                     k,
                     lda,
                     ldb,
                     beta,
                     ldc,
                     strideA,
                     strideB,
                     strideC,
                     *options};
    context.atSite(site, [&]() {
      checkMatmul(matmul);
      if (batch != 0 && m != 0 && n != 0 &&
          !context.skips(BRAID_RT_SKIP_COMPUTE))
        context.device.multiply(matmul, a, b, c);
    });
  });
}

void braid_rt_batch_matmul(int32_t dtype, int32_t transposeA,
                           int32_t transposeB, int64_t batch, int64_t m,
                           int64_t n, int64_t k, const void *a, int64_t lda,
                           int64_t strideA, const void *b, int64_t ldb,
                           int64_t strideB, double beta, void *c, int64_t ldc,
                           int64_t strideC, const braid_rt_site *site) {
  braid_rt_matmul_options options = {dtype, BRAID_RT_EPILOGUE_NONE, 0, 0,
                                     nullptr};
  braid_rt_fused_matmul(dtype, transposeA, transposeB, batch, m, n, k, a, lda,
                        strideA, b, ldb, strideB, beta, c, ldc, strideC,
                        &options, site);
}

void braid_rt_matmul(int32_t dtype, int32_t transposeA, int32_t transposeB,
                     int64_t m, int64_t n, int64_t k, const void *a,
                     int64_t lda, const void *b, int64_t ldb, double beta,
                     void *c, int64_t ldc, const braid_rt_site *site) {
  braid_rt_batch_matmul(dtype, transposeA, transposeB, 1, m, n, k, a, lda, 0, b,
                        ldb, 0, beta, c, ldc, 0, site);
}
