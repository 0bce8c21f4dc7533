//===- MatmulsTest.cpp - Matmuls with cuBLASLt ----------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatmulSetup.h"
#include "Reduce/SmallFloat.h"

using namespace braid::rt;
using testing::HasSubstr;

namespace {
class MatmulsTest : public CudaTest {
protected:
  /// What `multiply` says.
  std::string multiplyError(const Matmul &matmul) {
    std::vector<char> zeros(1 << 16);
    char *memory = upload(zeros);
    return errorOf([&] {
      device().multiply(matmul, memory, memory + 4096, memory + 8192);
    });
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

TEST_F(MatmulsTest, haveAllTypes) {
  for (int32_t dtype : {BRAID_RT_F16, BRAID_RT_BF16, BRAID_RT_F32, BRAID_RT_F64,
                        BRAID_RT_COMPLEX_F32, BRAID_RT_COMPLEX_F64}) {
    SCOPED_TRACE(braid_rt_dtype_name(dtype));
    Comparison{matmulOf(dtype, 5, 7, 3)}.run(device());
  }
}

TEST_F(MatmulsTest, haveEveryTransposition) {
  for (bool transposeA : {false, true})
    for (bool transposeB : {false, true})
      for (int32_t dtype : {BRAID_RT_F32, BRAID_RT_COMPLEX_F64}) {
        Matmul p = matmulOf(dtype, 5, 7, 3);
        p.transposeA = transposeA;
        p.transposeB = transposeB;
        p.lda = (transposeA ? p.m : p.k) + 2;
        p.ldb = (transposeB ? p.k : p.n) + 1;
        p.ldc = p.n + 3;
        Comparison{p}.run(device());
      }
}

TEST_F(MatmulsTest, addToTheirResult) {
  for (double beta : {1.0, 0.5}) {
    Matmul p = matmulOf(BRAID_RT_F64, 4, 3, 2);
    p.beta = beta;
    Comparison{p}.run(device());
    p = matmulOf(BRAID_RT_BF16, 4, 3, 2);
    p.beta = beta;
    Comparison{p}.run(device());
  }
}

TEST_F(MatmulsTest, ofBatches) {
  Matmul p = matmulOf(BRAID_RT_F32, 4, 3, 2);
  p.batch = 3;
  p.strideA = 8;
  p.strideB = 7;
  p.strideC = 12;
  Comparison{p}.run(device());
  p.strideB = 0;
  Comparison{p}.run(device());
  p.strideA = 0;
  Comparison{p}.run(device());
}

TEST_F(MatmulsTest, haveWiderResults) {
  for (int32_t dtype : {BRAID_RT_F16, BRAID_RT_BF16}) {
    Matmul p = matmulOf(dtype, 4, 3, 2);
    p.options.resultDtype = BRAID_RT_F32;
    Comparison{p}.run(device());
  }
}

TEST_F(MatmulsTest, haveEpiloguesAndBiases) {
  for (int32_t kind :
       {BRAID_RT_EPILOGUE_NONE, BRAID_RT_EPILOGUE_RELU, BRAID_RT_EPILOGUE_GELU})
    for (bool hasBias : {false, true})
      for (int32_t dtype : {BRAID_RT_F32, BRAID_RT_F16}) {
        Matmul p = matmulOf(dtype, 4, 6, 5);
        p.options.epilogue = kind;
        Comparison{p, hasBias}.run(device());
      }
}

TEST_F(MatmulsTest, ofVectors) {
  for (auto [m, n] : {std::pair<int64_t, int64_t>{1, 7}, {7, 1}, {1, 1}})
    for (bool transposed : {false, true}) {
      Matmul p = matmulOf(BRAID_RT_F32, m, n, 5);
      p.transposeA = p.transposeB = transposed;
      p.lda = transposed ? m : 5;
      p.ldb = transposed ? 5 : n;
      Comparison{p}.run(device());
    }
}

TEST_F(MatmulsTest, of8BitFloats) {
  for (int32_t result :
       {BRAID_RT_F32, BRAID_RT_F16, BRAID_RT_BF16, BRAID_RT_F8E4M3FN}) {
    Matmul p = matmulOf(BRAID_RT_F8E4M3FN, 16, 32, 48);
    p.transposeB = true;
    p.ldb = 48;
    p.options.resultDtype = result;
    Comparison{p}.run(device());
  }
}

TEST_F(MatmulsTest, withoutAMiddleDimension) {
  Matmul p = matmulOf(BRAID_RT_F32, 4, 3, 0);
  p.ldc = 5;
  p.batch = 2;
  p.strideC = 20;
  for (int32_t kind : {BRAID_RT_EPILOGUE_NONE, BRAID_RT_EPILOGUE_RELU,
                       BRAID_RT_EPILOGUE_GELU}) {
    p.options.epilogue = kind;
    Comparison{p}.run(device());
  }
  p.options.epilogue = BRAID_RT_EPILOGUE_NONE;
  p.beta = 1;
  Comparison{p}.run(device());
}

TEST_F(MatmulsTest, ofOperandsThatAreLittleAligned) {
  Matmul p = matmulOf(BRAID_RT_F16, 2, 2, 2);
  auto *memory = upload(std::vector<uint16_t>(64, floatToF16(1)));
  for (int64_t offset : {0, 1, 2, 8})
    device().multiply(p, memory + offset, memory + 16 + offset,
                      memory + 32 + offset);
  // All three operands have one alignment in each: 256, 2, 4 and 16 bytes,
  // but the second and the third one stand 32 and 64 bytes behind.
  EXPECT_EQ(fake_cublaslt_heuristic_calls(), 4);
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

TEST_F(MatmulsTest, areMadeOnce) {
  Matmul p = matmulOf(BRAID_RT_F32, 2, 2, 2);
  auto *memory = upload(std::vector<float>(1024));
  for (int i = 0; i < 3; ++i)
    device().multiply(p, memory, memory + 256, memory + 512);
  EXPECT_EQ(fake_cublaslt_heuristic_calls(), 1);
  p.m = 3;
  device().multiply(p, memory, memory + 256, memory + 512);
  EXPECT_EQ(fake_cublaslt_heuristic_calls(), 2);
}

TEST_F(MatmulsTest, mayChangeTheirBias) {
  Matmul p = matmulOf(BRAID_RT_F32, 1, 2, 1);
  auto *memory = upload(std::vector<float>(1024, 1.0F));
  auto *first = upload(std::vector<float>{10, 20});
  auto *second = upload(std::vector<float>{30, 40});
  for (const float *bias : {first, second, first}) {
    p.options.bias = bias;
    device().multiply(p, memory, memory + 256, memory + 512);
    EXPECT_EQ(download<float>(memory + 512, 1)[0], bias == first ? 11 : 31);
  }
  EXPECT_EQ(fake_cublaslt_heuristic_calls(), 1);
}

namespace {
class ReplacingHooks final : public cuda::DeviceHooks {
public:
  void replaces(const Replacement &replacement) override {
    all.push_back(replacement);
  }
  std::vector<Replacement> all;
};
} // namespace

TEST_F(MatmulsTest, useTheMultiprocessorsOfTheirOptions) {
  auto owned = std::make_unique<ReplacingHooks>();
  ReplacingHooks &replacing = *owned;
  hooks = std::move(owned);
  Matmul p = matmulOf(BRAID_RT_F32, 2, 2, 2);
  auto *memory = upload(std::vector<float>(1024));
  p.options.multiprocessors = 116;
  fake_cuda_clear_log();
  device().multiply(p, memory, memory + 256, memory + 512);
  EXPECT_THAT(fake_cuda_log(), HasSubstr("multiprocessors 116\n"));
  EXPECT_TRUE(replacing.all.empty());
  // More than the device has: those that it has.
  p.options.multiprocessors = 200;
  fake_cuda_clear_log();
  for (int i = 0; i < 2; ++i)
    device().multiply(p, memory, memory + 256, memory + 512);
  EXPECT_THAT(fake_cuda_log(), HasSubstr("multiprocessors 132\n"));
  ASSERT_EQ(replacing.all.size(), 1U);
  EXPECT_THAT(replacing.all[0].resource, HasSubstr("matmul of "));
  EXPECT_EQ(replacing.all[0].planned, "200 multiprocessors");
  EXPECT_EQ(replacing.all[0].used, "132 multiprocessors");
  EXPECT_EQ(replacing.all[0].reason, "device 0 (Fake GPU) has 132");
}

TEST_F(MatmulsTest, useAllMultiprocessorsIfTheLibraryRefusesTheirNumber) {
  auto owned = std::make_unique<ReplacingHooks>();
  ReplacingHooks &replacing = *owned;
  hooks = std::move(owned);
  Matmul p = matmulOf(BRAID_RT_F32, 2, 2, 2);
  auto *memory = upload(std::vector<float>(1024));
  p.options.multiprocessors = 116;
  fake_cublaslt_fail("cublasLtMatmulAlgoGetHeuristic", cuda::BLAS_NOT_SUPPORTED,
                     0);
  fake_cuda_clear_log();
  device().multiply(p, memory, memory + 256, memory + 512);
  EXPECT_THAT(fake_cuda_log(), HasSubstr("multiprocessors 0\n"));
  ASSERT_EQ(replacing.all.size(), 1U);
  EXPECT_EQ(replacing.all[0].planned, "116 multiprocessors");
  EXPECT_EQ(replacing.all[0].used, "all multiprocessors");
  EXPECT_THAT(replacing.all[0].reason,
              HasSubstr("cuBLASLt has no algorithm for it"));
}

TEST_F(MatmulsTest, areOfFullPrecisionUnlessAskedOtherwise) {
  Matmul p = matmulOf(BRAID_RT_F32, 2, 2, 2);
  auto *memory = upload(std::vector<float>(1024));
  fake_cuda_clear_log();
  device().multiply(p, memory, memory + 256, memory + 512);
  EXPECT_THAT(fake_cuda_log(), HasSubstr(" compute 68 "));
}

TEST_F(MatmulsTest, areOfLessPrecisionWhereAskedTo) {
  options.tf32 = true;
  auto *memory = upload(std::vector<float>(1024));
  fake_cuda_clear_log();
  device().multiply(matmulOf(BRAID_RT_F32, 2, 2, 2), memory, memory + 256,
                    memory + 512);
  EXPECT_THAT(fake_cuda_log(), HasSubstr(" compute 77 "));
  fake_cuda_clear_log();
  device().multiply(matmulOf(BRAID_RT_F16, 2, 2, 2), memory, memory + 256,
                    memory + 512);
  EXPECT_THAT(fake_cuda_log(), HasSubstr(" compute 68 "));
}

TEST_F(MatmulsTest, areOfThePrecisionThatTheySay) {
  auto *memory = upload(std::vector<float>(1024));
  auto logOf = [&](int32_t dtype, int32_t precision) {
    Matmul p = matmulOf(dtype, 2, 2, 2);
    p.options.precision = precision;
    fake_cuda_clear_log();
    device().multiply(p, memory, memory + 256, memory + 512);
    return std::string(fake_cuda_log());
  };
  EXPECT_THAT(logOf(BRAID_RT_F32, BRAID_RT_PRECISION_TF32),
              HasSubstr(" compute 77 "));
  EXPECT_THAT(logOf(BRAID_RT_F32, BRAID_RT_PRECISION_F32),
              HasSubstr(" compute 68 "));
  EXPECT_THAT(logOf(BRAID_RT_BF16, BRAID_RT_PRECISION_TF32),
              HasSubstr(" compute 68 "));
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST_F(MatmulsTest, refuseOtherTypes) {
  EXPECT_EQ(multiplyError(matmulOf(BRAID_RT_I32, 2, 2, 2)),
            "matmul of i32, expected f16, bf16, f32, f64, complex<f32>, "
            "complex<f64> or f8E4M3FN");
}

TEST_F(MatmulsTest, refuseOtherPrecisions) {
  Matmul p = matmulOf(BRAID_RT_F32, 2, 2, 2);
  p.options.precision = 7;
  EXPECT_EQ(multiplyError(p),
            "matmul with precision number 7, expected 0 (f32) "
            "or 1 (tf32)");
}

TEST_F(MatmulsTest, refuseOtherResults) {
  Matmul p = matmulOf(BRAID_RT_BF16, 2, 2, 2);
  p.options.resultDtype = BRAID_RT_F64;
  EXPECT_EQ(multiplyError(p),
            "matmul of bf16 with a result of f64, expected bf16 or f32");
}

TEST_F(MatmulsTest, refuseOtherEpilogues) {
  Matmul p = matmulOf(BRAID_RT_F32, 2, 2, 2);
  p.options.epilogue = 9;
  EXPECT_EQ(multiplyError(p), "matmul with epilogue number 9, expected 0 "
                              "(none), 1 (relu) or 2 (gelu)");
}

TEST_F(MatmulsTest, refuseLargeBatches) {
  Matmul p = matmulOf(BRAID_RT_F32, 2, 2, 2);
  p.batch = int64_t(1) << 31;
  EXPECT_EQ(multiplyError(p),
            "matmul: the batch is 2147483648, expected at most 2147483647");
}

TEST_F(MatmulsTest, sayWhatTheLibraryDoesNotHave) {
  Matmul p = matmulOf(BRAID_RT_F64, 2, 3, 4);
  p.options.epilogue = BRAID_RT_EPILOGUE_GELU;
  EXPECT_EQ(multiplyError(p),
            "matmul of f64 matrices of 2 x 4 and 4 x 3 (gelu): cuBLASLt has no "
            "algorithm for it on device 0 (Fake GPU) "
            "(CUBLAS_STATUS_NOT_SUPPORTED)");
}

TEST_F(MatmulsTest, sayWhat8BitFloatsNeed) {
  EXPECT_EQ(multiplyError(matmulOf(BRAID_RT_F8E4M3FN, 16, 16, 16)),
            "matmul of f8E4M3FN matrices of 16 x 16 and 16 x 16: cuBLASLt has "
            "no algorithm for it on device 0 (Fake GPU) "
            "(CUBLAS_STATUS_NOT_SUPPORTED); matmuls of f8 want sizes that are "
            "multiples of 16 and, below compute capability 10.0, an "
            "untransposed A and a transposed B");
}

TEST_F(MatmulsTest, describeThemselvesWhenTheyFail) {
  Matmul p = matmulOf(BRAID_RT_F16, 2, 3, 4);
  p.transposeA = p.transposeB = true;
  p.lda = 2;
  p.ldb = 4;
  p.batch = 2;
  p.strideC = 6;
  p.beta = 1;
  p.options.resultDtype = BRAID_RT_F32;
  p.options.epilogue = BRAID_RT_EPILOGUE_RELU;
  p.options.bias = upload(std::vector<float>(3));
  fake_cublaslt_fail("cublasLtMatmul", cuda::BLAS_INVALID_VALUE, 0);
  EXPECT_EQ(multiplyError(p),
            "matmul of f16 matrices of 2 x 4 and 4 x 3 (batch of 2, transposed "
            "A, transposed B, result f32, beta 1.000000, relu, bias) on device "
            "0 (Fake GPU): cublasLtMatmul failed: CUBLAS_STATUS_INVALID_VALUE "
            "(an unsupported value or parameter was passed to the function)");
}

TEST_F(MatmulsTest, withoutAMiddleDimensionRefuseABias) {
  Matmul p = matmulOf(BRAID_RT_F32, 2, 3, 0);
  p.options.bias = upload(std::vector<float>(3));
  EXPECT_EQ(multiplyError(p),
            "matmul of f32 matrices of 2 x 0 and 0 x 3 (bias): without a "
            "middle dimension a matmul has no bias, and beta is 0, or 1 "
            "without an epilogue");
}

TEST_F(MatmulsTest, withoutAMiddleDimensionRefuseAnEpilogueOfTheirResult) {
  Matmul p = matmulOf(BRAID_RT_F32, 2, 3, 0);
  p.beta = 1;
  p.options.epilogue = BRAID_RT_EPILOGUE_RELU;
  EXPECT_THAT(multiplyError(p),
              HasSubstr("(beta 1.000000, relu): without a middle dimension"));
}

TEST_F(MatmulsTest, leaveNothingBehindWhenTheirPlanFails) {
  fake_cublaslt_fail("cublasLtMatrixLayoutCreate", cuda::BLAS_ALLOC_FAILED, 2);
  EXPECT_THAT(multiplyError(matmulOf(BRAID_RT_F32, 2, 2, 2)),
              HasSubstr("cublasLtMatrixLayoutCreate failed: "));
  // The handle alone is alive.
  EXPECT_EQ(fake_cublaslt_leaks(), 1);
  EXPECT_EQ(multiplyError(matmulOf(BRAID_RT_F32, 2, 2, 2)), "");
}

TEST_F(MatmulsTest, canBePreparedAgain) {
  fake_cublaslt_fail("cublasLtCreate", cuda::BLAS_ALLOC_FAILED, 0);
  EXPECT_THAT(multiplyError(matmulOf(BRAID_RT_F32, 2, 2, 2)),
              HasSubstr("cublasLtCreate failed: "));
  EXPECT_EQ(multiplyError(matmulOf(BRAID_RT_F32, 2, 2, 2)), "");
}
