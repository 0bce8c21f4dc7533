//===- FakeBlasTest.cpp - The rules of the fake cuBLASLt ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Setup.h"

using namespace braid::rt;
using namespace braid::rt::cuda;

namespace {
/// A matmul of 2 x 2 floats, without any of the runtime's own code.
class FakeBlasDeathTest : public CudaTest {
protected:
  FakeBlasDeathTest() {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    device().gpu().makeCurrent();
    blas.create(&handle);
    blas.matmulDescCreate(&desc, COMPUTE_32F, R_32F);
    blas.matrixLayoutCreate(&layout, R_32F, 2, 2, 2);
    blas.matmulPreferenceCreate(&preference);
    memory = upload(std::vector<float>(1024));
    propose();
  }
  ~FakeBlasDeathTest() override {
    device().gpu().makeCurrent();
    blas.matmulPreferenceDestroy(preference);
    blas.matrixLayoutDestroy(layout);
    blas.matmulDescDestroy(desc);
    blas.destroy(handle);
  }

  void propose() {
    int count = 0;
    blas.matmulAlgoGetHeuristic(handle, desc, layout, layout, layout, layout,
                                preference, 1, &result, &count);
  }
  BlasStatus multiply(float *a, Stream stream) {
    const float one = 1, zero = 0;
    return blas.matmul(handle, desc, &one, a, layout, memory + 64, layout,
                       &zero, memory + 128, layout, memory + 128, layout,
                       &result.algorithm, memory + 512, 256, stream);
  }

  ScopedVariable library{"BRAID_CUBLASLT_LIBRARY", FAKE_CUBLASLT};
  Blas blas;
  BlasHandle handle = nullptr;
  MatmulDesc desc = nullptr;
  MatrixLayout layout = nullptr;
  MatmulPreference preference = nullptr;
  MatmulHeuristicResult result = {};
  float *memory = nullptr;
};
} // namespace

TEST_F(FakeBlasDeathTest, matmulsAreFine) {
  EXPECT_EQ(multiply(memory, device().gpu().stream), BLAS_SUCCESS);
}

TEST_F(FakeBlasDeathTest, destroyedHandlesAreNotUsed) {
  EXPECT_DEATH(
      {
        blas.matrixLayoutDestroy(layout);
        multiply(memory, device().gpu().stream);
      },
      "cublasLtMatmul: a handle does not exist, or was destroyed");
  EXPECT_DEATH(
      {
        blas.destroy(handle);
        blas.destroy(handle);
      },
      "cublasLtDestroy: a handle does not exist, or was destroyed");
}

TEST_F(FakeBlasDeathTest, shapesFit) {
  MatrixLayout wide = nullptr;
  EXPECT_DEATH(
      {
        blas.matrixLayoutCreate(&wide, R_32F, 3, 2, 3);
        const float one = 1;
        blas.matmul(handle, desc, &one, memory, wide, memory, layout, &one,
                    memory, layout, memory, layout, &result.algorithm, nullptr,
                    0, device().gpu().stream);
      },
      "cublasLtMatmul: the shapes do not fit each other");
}

TEST_F(FakeBlasDeathTest, operandsAreAsAlignedAsProposed) {
  EXPECT_DEATH(multiply(memory + 1, device().gpu().stream),
               "cublasLtMatmul: an operand is less aligned than the algorithm "
               "wants");
}

TEST_F(FakeBlasDeathTest, algorithmsAreProposed) {
  EXPECT_DEATH(
      {
        result.algorithm.data[0] = 9;
        multiply(memory, device().gpu().stream);
      },
      "cublasLtMatmul: the algorithm was not proposed");
}

TEST_F(FakeBlasDeathTest, handlesBelongToADevice) {
  EXPECT_DEATH(
      {
        ContextHandle other = nullptr;
        Stream stream = nullptr;
        driver().devicePrimaryCtxRetain(&other, 1);
        driver().ctxSetCurrent(other);
        driver().streamCreateWithPriority(&stream, STREAM_NON_BLOCKING, 0);
        multiply(memory, stream);
      },
      "cublasLtMatmul: handle and stream belong to different devices");
}

TEST_F(FakeBlasDeathTest, matmulsAreOrderedWithOtherStreams) {
  EXPECT_DEATH(
      {
        Stream other = nullptr;
        driver().streamCreateWithPriority(&other, STREAM_NON_BLOCKING, 0);
        multiply(memory, device().gpu().stream);
        driver().memsetD8Async(reinterpret_cast<DevicePointer>(memory + 128), 0,
                               4, other);
      },
      "fill 4 bytes: on stream 2 writes memory that matmul algorithm 1 .* on "
      "stream 1 writes");
}

TEST_F(FakeBlasDeathTest, matmulsOverlapInTheWorkspace) {
  EXPECT_DEATH(
      {
        Stream other = nullptr;
        driver().streamCreateWithPriority(&other, STREAM_NON_BLOCKING, 0);
        multiply(memory, device().gpu().stream);
        driver().memsetD8Async(reinterpret_cast<DevicePointer>(memory + 512), 0,
                               4, other);
      },
      "on stream 2 writes memory that matmul algorithm 1 .* on stream 1 "
      "writes");
}
