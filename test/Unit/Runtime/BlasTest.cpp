//===- BlasTest.cpp - Matrix multiplication ---------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"
#include "Host/BlasKernels.h"
#include "Reference.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>
#include <complex>
#include <cstdlib>
#include <dlfcn.h>

using namespace braid::test;
using braid::rt::chooseBlasKernels;
using testing::HasSubstr;

using Complex = std::complex<double>;

static Complex at(const Buffer &buffer, int64_t index) {
  bool complex = buffer.dtype == BRAID_RT_COMPLEX_F32 ||
                 buffer.dtype == BRAID_RT_COMPLEX_F64;
  return {decode(buffer, index), complex ? decode(buffer, index, 1) : 0.0};
}

namespace {
struct Shape {
  int64_t batch, m, n, k;
};
} // namespace

/// Compares a matmul with the sums written out.
static void check(int32_t dtype, bool transposeA, bool transposeB, Shape shape,
                  double beta) {
  int64_t batch = shape.batch, m = shape.m, n = shape.n, k = shape.k;
  // Leading dimensions are larger than the rows, and B is shared.
  int64_t lda = (transposeA ? m : k) + 2, ldb = (transposeB ? k : n) + 3,
          ldc = n + 1;
  int64_t rowsA = transposeA ? k : m, rowsB = transposeB ? n : k;
  Buffer a(dtype, {batch * rowsA * lda}), b(dtype, {rowsB * ldb}),
      c(dtype, {batch * m * ldc});
  a.fill(1);
  b.fill(2);
  c.fill(3);
  Buffer before = c;
  World &world = sharedWorld(1);
  ASSERT_TRUE(world.run([&](int32_t) {
    braid_rt_batch_matmul(dtype, transposeA, transposeB, batch, m, n, k,
                          a.data.data(), lda, rowsA * lda, b.data.data(), ldb,
                          0, beta, c.data.data(), ldc, m * ldc, nullptr);
  })) << world.error(0);
  bool single = dtype == BRAID_RT_F32 || dtype == BRAID_RT_COMPLEX_F32;
  double tolerance = single ? 1e-4 : 1e-12;
  for (int64_t p = 0; p < batch; ++p)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < ldc; ++j) {
        int64_t position = (p * m + i) * ldc + j;
        Complex expected = at(before, position);
        if (j < n) {
          expected = beta == 0.0 ? Complex(0) : expected * beta;
          for (int64_t l = 0; l < k; ++l)
            expected += at(a, p * rowsA * lda +
                                  (transposeA ? l * lda + i : i * lda + l)) *
                        at(b, transposeB ? j * ldb + l : l * ldb + j);
        }
        ASSERT_LE(std::abs(at(c, position) - expected), tolerance)
            << braid_rt_dtype_name(dtype) << " " << m << "x" << n << "x" << k
            << (transposeA ? " A^T" : "") << (transposeB ? " B^T" : "")
            << " beta " << beta << " at " << i << ", " << j;
      }
}

TEST(Blas, ProductsOfAllTypesTransposedAndNotWithAndWithoutBeta) {
  for (int32_t dtype :
       {BRAID_RT_F32, BRAID_RT_F64, BRAID_RT_COMPLEX_F32, BRAID_RT_COMPLEX_F64})
    for (bool transposeA : {false, true})
      for (bool transposeB : {false, true})
        for (double beta : {0.0, 1.0, 0.5})
          for (Shape shape :
               {Shape{1, 7, 5, 9}, Shape{3, 4, 6, 2}, Shape{2, 1, 8, 5},
                Shape{2, 6, 1, 5}, Shape{1, 1, 1, 4}, Shape{2, 3, 4, 0}})
            check(dtype, transposeA, transposeB, shape, beta);
}

TEST(Blas, BlocksOfALargeProductHaveTheirPlaces) {
  for (bool transposed : {false, true})
    check(BRAID_RT_F32, transposed, transposed, {1, 290, 270, 103}, 0.5);
  check(BRAID_RT_F32, false, false, {1500, 14, 14, 14}, 1.0);
}

TEST(Blas, SameBitsForEveryNumberOfThreads) {
  Buffer a(BRAID_RT_F32, {2, 400, 300}), b(BRAID_RT_F32, {2, 300, 500});
  a.fill(5);
  b.fill(6);
  std::vector<Buffer> results(4, Buffer(BRAID_RT_F32, {2, 400, 500}));
  for (int32_t threads = 1; threads <= 4; ++threads) {
    World world(2,
                [&](braid_rt_config &config) { config.blasThreads = threads; });
    ASSERT_TRUE(world.run([&](int32_t rank) {
      std::vector<float> own(2 * 400 * 500);
      float *c =
          rank == 0
              ? reinterpret_cast<float *>(results[threads - 1].data.data())
              : own.data();
      for (int32_t i = 0; i < 4; ++i)
        braid_rt_batch_matmul(BRAID_RT_F32, 0, 0, 2, 400, 500, 300,
                              a.data.data(), 300, 400 * 300, b.data.data(), 500,
                              300 * 500, 0.0, c, 500, 400 * 500, nullptr);
    }));
  }
  for (const Buffer &result : results)
    EXPECT_TRUE(result.data == results[0].data);
}

TEST(Blas, EmptyResultIsNoError) {
  World &world = sharedWorld(1);
  EXPECT_TRUE(world.run([](int32_t) {
    braid_rt_matmul(BRAID_RT_F32, 0, 0, 0, 4, 4, nullptr, 4, nullptr, 4, 0.0,
                    nullptr, 4, nullptr);
  }));
}

TEST(Blas, BetaZeroDoesNotReadTheResult) {
  float a[] = {1, 2, 3, 4}, b[] = {1, 0, 0, 1}, c[4];
  std::fill(c, c + 4, NAN);
  World &world = sharedWorld(1);
  ASSERT_TRUE(world.run([&](int32_t) {
    braid_rt_matmul(BRAID_RT_F32, 0, 0, 2, 2, 2, a, 2, b, 2, 0.0, c, 2,
                    nullptr);
  }));
  EXPECT_THAT(c, testing::ElementsAre(1, 2, 3, 4));
}

TEST(Blas, SameBitsOnEveryRank) {
  Buffer a(BRAID_RT_F32, {64, 300}), b(BRAID_RT_F32, {300, 50});
  a.fill(5);
  b.fill(6);
  std::vector<Buffer> results(4, Buffer(BRAID_RT_F32, {64, 50}));
  World &world = sharedWorld(4);
  ASSERT_TRUE(world.run([&](int32_t rank) {
    braid_rt_matmul(BRAID_RT_F32, 0, 0, 64, 50, 300, a.data.data(), 300,
                    b.data.data(), 50, 0.0, results[rank].data.data(), 50,
                    nullptr);
  }));
  for (const Buffer &result : results)
    EXPECT_TRUE(result.data == results[0].data);
}

TEST(Blas, BadArgumentsAreErrorsWithTheSite) {
  World &world = sharedWorld(1);
  EXPECT_FALSE(world.run([](int32_t) {
    braid_rt_site site = siteAt(6);
    braid_rt_matmul(BRAID_RT_BF16, 0, 0, 2, 2, 2, nullptr, 2, nullptr, 2, 0.0,
                    nullptr, 2, &site);
  }));
  EXPECT_EQ(world.error(0),
            "prog.mlir:6:3: rank 0: matmul of bf16, expected f32, f64, "
            "complex<f32> or complex<f64>");
  EXPECT_FALSE(world.run([](int32_t) {
    braid_rt_matmul(BRAID_RT_F32, 0, 1, 2, 3, 4, nullptr, 4, nullptr, 3, 0.0,
                    nullptr, 3, nullptr);
  }));
  EXPECT_THAT(world.error(0),
              HasSubstr("the leading dimension of B is 3, less than its row of "
                        "4"));
  EXPECT_FALSE(world.run([](int32_t) {
    braid_rt_matmul(BRAID_RT_F32, 0, 0, int64_t(1) << 31, 1, 1, nullptr, 1,
                    nullptr, 1, 0.0, nullptr, 1, nullptr);
  }));
  EXPECT_THAT(world.error(0), HasSubstr("2147483648"));
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

TEST(BlasKernels, Avx512) {
  for (const char *core : {"Prescott", "Haswell", "Zen"})
    EXPECT_STREQ(chooseBlasKernels(core, {true, true}), "SkylakeX") << core;
  for (const char *core : {"SkylakeX", "Cooperlake", "SapphireRapids"})
    EXPECT_EQ(chooseBlasKernels(core, {true, true}), nullptr) << core;
}

TEST(BlasKernels, Avx2) {
  EXPECT_STREQ(chooseBlasKernels("Prescott", {true, false}), "Haswell");
  for (const char *core : {"Haswell", "Zen"})
    EXPECT_EQ(chooseBlasKernels(core, {true, false}), nullptr) << core;
}

TEST(BlasKernels, NoVectors) {
  EXPECT_EQ(chooseBlasKernels("Prescott", {false, false}), nullptr);
}

#if defined(__x86_64__)
// After the runtime is loaded no kernels are faster.
TEST(BlasKernels, OfThisProcess) {
  auto *getCore = reinterpret_cast<char *(*)()>(
      dlsym(RTLD_DEFAULT, "openblas_get_corename"));
  if (!getCore || !dlsym(RTLD_DEFAULT, "gotoblas_dynamic_init") ||
      std::getenv("OPENBLAS_CORETYPE"))
    GTEST_SKIP() << "OpenBLAS is out of sight, has one kind of kernels, or "
                    "was told which to take";
  bool hasAVX512 =
      __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
      __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  EXPECT_EQ(chooseBlasKernels(getCore(), {false, hasAVX512}), nullptr)
      << getCore();
}
#endif
