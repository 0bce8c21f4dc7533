//===- ProductsTest.cpp - Matrix products with cuBLASLt -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Products.h"
#include "Reduce/SmallFloat.h"
#include "Setup.h"

#include <cmath>
#include <complex>
#include <cstring>

using namespace braid::rt;
using testing::HasSubstr;
using Number = std::complex<double>;

namespace {
/// The first eight proposals, or the choice of another rank.
class MeasuringHooks final : public cuda::DeviceHooks {
public:
  int32_t chooseAlgorithm(const std::string &product,
                          const std::function<int32_t()> &measure) override {
    products.push_back(product);
    measured.push_back(chosen < 0 ? measure() : chosen);
    return measured.back();
  }

  std::vector<std::string> products;
  std::vector<int32_t> measured;
  int32_t chosen = -1;
};

class ProductsTest : public CudaTest {
protected:
  MeasuringHooks &measureProducts() {
    auto owned = std::make_unique<MeasuringHooks>();
    MeasuringHooks &result = *owned;
    hooks = std::move(owned);
    return result;
  }

  /// What `multiply` says.
  std::string multiplyError(const MatrixProduct &product) {
    std::vector<char> zeros(1 << 16);
    char *memory = upload(zeros);
    return errorOf([&] {
      device().multiply(product, memory, memory + 4096, memory + 8192);
    });
  }
};
} // namespace

static MatrixProduct productOf(int32_t dtype, int64_t m, int64_t n, int64_t k) {
  MatrixProduct product = {};
  product.dtype = product.options.resultDtype = dtype;
  product.batch = 1;
  product.m = m;
  product.n = n;
  product.k = k;
  product.lda = k;
  product.ldb = product.ldc = n;
  return product;
}

//===----------------------------------------------------------------------===//
// A reference
//===----------------------------------------------------------------------===//

static Number load(int32_t dtype, const char *base, int64_t index) {
  const char *from = base + index * braid_rt_dtype_size(dtype);
  auto as = [&](auto value) {
    std::memcpy(&value, from, sizeof(value));
    return value;
  };
  switch (dtype) {
  case BRAID_RT_F16:
    return f16ToFloat(as(uint16_t()));
  case BRAID_RT_BF16:
    return bf16ToFloat(as(uint16_t()));
  case BRAID_RT_F32:
    return as(float());
  case BRAID_RT_F64:
    return as(double());
  case BRAID_RT_F8E4M3FN:
    return Float8E4M3FN::toFloat(as(uint8_t()));
  case BRAID_RT_COMPLEX_F32:
    return as(std::complex<float>());
  default:
    return as(Number());
  }
}

static void store(int32_t dtype, char *base, int64_t index, Number value) {
  char *to = base + index * braid_rt_dtype_size(dtype);
  auto put = [&](auto converted) {
    std::memcpy(to, &converted, sizeof(converted));
  };
  auto single = static_cast<float>(value.real());
  switch (dtype) {
  case BRAID_RT_F16:
    return put(floatToF16(single));
  case BRAID_RT_BF16:
    return put(floatToBf16(single));
  case BRAID_RT_F32:
    return put(single);
  case BRAID_RT_F64:
    return put(value.real());
  case BRAID_RT_F8E4M3FN:
    return put(Float8E4M3FN::fromFloat(single));
  case BRAID_RT_COMPLEX_F32:
    return put(std::complex<float>(value));
  default:
    return put(value);
  }
}

/// Small numbers, exact in every type, as are their products' sums.
static std::vector<char> operand(int32_t dtype, int64_t elements, int seed) {
  std::vector<char> bytes(
      static_cast<size_t>(elements * braid_rt_dtype_size(dtype)));
  bool isComplex =
      dtype == BRAID_RT_COMPLEX_F32 || dtype == BRAID_RT_COMPLEX_F64;
  for (int64_t i = 0; i < elements; ++i)
    store(dtype, bytes.data(), i,
          {static_cast<double>((i * 7 + seed) % 5 - 2),
           isComplex ? static_cast<double>((i * 3 + seed) % 3 - 1) : 0.0});
  return bytes;
}

static int64_t extent(int64_t rows, int64_t leading, int64_t row, int64_t batch,
                      int64_t stride) {
  return (batch - 1) * stride + (rows - 1) * leading + row;
}

static double epilogue(const MatrixProduct &p, double x) {
  if (p.options.epilogue == BRAID_RT_EPILOGUE_RELU)
    return std::max(x, 0.0);
  if (p.options.epilogue == BRAID_RT_EPILOGUE_GELU)
    return 0.5 * x *
           (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  return x;
}

namespace {
/// A product of row-major matrices on the device beside one with loops.
struct Comparison {
  MatrixProduct p;
  bool hasBias = false;

  void run(CudaDevice &device) {
    int64_t rowsA = p.transposeA ? p.k : p.m, rowA = p.transposeA ? p.m : p.k;
    int64_t rowsB = p.transposeB ? p.n : p.k, rowB = p.transposeB ? p.k : p.n;
    int32_t result = p.options.resultDtype;
    std::vector<char> a =
        operand(p.dtype, extent(rowsA, p.lda, rowA, p.batch, p.strideA), 1);
    std::vector<char> b =
        operand(p.dtype, extent(rowsB, p.ldb, rowB, p.batch, p.strideB), 2);
    std::vector<char> c =
        operand(result, extent(p.m, p.ldc, p.n, p.batch, p.strideC), 3);
    std::vector<char> bias = operand(result, p.n, 4);
    auto upload = [&](const std::vector<char> &bytes) {
      void *memory = device.allocate(static_cast<int64_t>(bytes.size()));
      device.copyToDevice(memory, bytes.data(),
                          static_cast<int64_t>(bytes.size()));
      return memory;
    };
    void *deviceA = upload(a), *deviceB = upload(b), *deviceC = upload(c),
         *deviceBias = upload(bias);
    p.options.bias = hasBias ? deviceBias : nullptr;
    device.multiply(p, deviceA, deviceB, deviceC);
    std::vector<char> got(c.size());
    device.copyFromDevice(got.data(), deviceC,
                          static_cast<int64_t>(got.size()));
    for (void *memory : {deviceA, deviceB, deviceC, deviceBias})
      device.free(memory);
    for (int64_t i = 0; i < p.batch; ++i)
      for (int64_t row = 0; row < p.m; ++row)
        for (int64_t column = 0; column < p.n; ++column) {
          Number sum = 0;
          for (int64_t k = 0; k < p.k; ++k)
            sum += load(p.dtype, a.data(),
                        i * p.strideA + (p.transposeA ? k * p.lda + row
                                                      : row * p.lda + k)) *
                   load(p.dtype, b.data(),
                        i * p.strideB + (p.transposeB ? column * p.ldb + k
                                                      : k * p.ldb + column));
          int64_t index = i * p.strideC + row * p.ldc + column;
          if (p.beta != 0)
            sum += p.beta * load(result, c.data(), index);
          if (hasBias)
            sum += load(result, bias.data(), column);
          if (p.options.epilogue)
            sum = epilogue(p, sum.real());
          store(result, c.data(), index, sum);
        }
    EXPECT_EQ(got, c);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

TEST_F(ProductsTest, haveAllTypes) {
  for (int32_t dtype : {BRAID_RT_F16, BRAID_RT_BF16, BRAID_RT_F32, BRAID_RT_F64,
                        BRAID_RT_COMPLEX_F32, BRAID_RT_COMPLEX_F64}) {
    SCOPED_TRACE(braid_rt_dtype_name(dtype));
    Comparison{productOf(dtype, 5, 7, 3)}.run(device());
  }
}

TEST_F(ProductsTest, haveEveryTransposition) {
  for (bool transposeA : {false, true})
    for (bool transposeB : {false, true})
      for (int32_t dtype : {BRAID_RT_F32, BRAID_RT_COMPLEX_F64}) {
        MatrixProduct p = productOf(dtype, 5, 7, 3);
        p.transposeA = transposeA;
        p.transposeB = transposeB;
        p.lda = (transposeA ? p.m : p.k) + 2;
        p.ldb = (transposeB ? p.k : p.n) + 1;
        p.ldc = p.n + 3;
        Comparison{p}.run(device());
      }
}

TEST_F(ProductsTest, addToTheirResult) {
  for (double beta : {1.0, 0.5}) {
    MatrixProduct p = productOf(BRAID_RT_F64, 4, 3, 2);
    p.beta = beta;
    Comparison{p}.run(device());
    p = productOf(BRAID_RT_BF16, 4, 3, 2);
    p.beta = beta;
    Comparison{p}.run(device());
  }
}

TEST_F(ProductsTest, ofBatches) {
  MatrixProduct p = productOf(BRAID_RT_F32, 4, 3, 2);
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

TEST_F(ProductsTest, haveWiderResults) {
  for (int32_t dtype : {BRAID_RT_F16, BRAID_RT_BF16}) {
    MatrixProduct p = productOf(dtype, 4, 3, 2);
    p.options.resultDtype = BRAID_RT_F32;
    Comparison{p}.run(device());
  }
}

TEST_F(ProductsTest, haveEpiloguesAndBiases) {
  for (int32_t kind :
       {BRAID_RT_EPILOGUE_NONE, BRAID_RT_EPILOGUE_RELU, BRAID_RT_EPILOGUE_GELU})
    for (bool hasBias : {false, true})
      for (int32_t dtype : {BRAID_RT_F32, BRAID_RT_F16}) {
        MatrixProduct p = productOf(dtype, 4, 6, 5);
        p.options.epilogue = kind;
        Comparison{p, hasBias}.run(device());
      }
}

TEST_F(ProductsTest, ofVectors) {
  for (auto [m, n] : {std::pair<int64_t, int64_t>{1, 7}, {7, 1}, {1, 1}})
    for (bool transposed : {false, true}) {
      MatrixProduct p = productOf(BRAID_RT_F32, m, n, 5);
      p.transposeA = p.transposeB = transposed;
      p.lda = transposed ? m : 5;
      p.ldb = transposed ? 5 : n;
      Comparison{p}.run(device());
    }
}

TEST_F(ProductsTest, of8BitFloats) {
  for (int32_t result :
       {BRAID_RT_F32, BRAID_RT_F16, BRAID_RT_BF16, BRAID_RT_F8E4M3FN}) {
    MatrixProduct p = productOf(BRAID_RT_F8E4M3FN, 16, 32, 48);
    p.transposeB = true;
    p.ldb = 48;
    p.options.resultDtype = result;
    Comparison{p}.run(device());
  }
}

TEST_F(ProductsTest, withoutAMiddleDimension) {
  MatrixProduct p = productOf(BRAID_RT_F32, 4, 3, 0);
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

TEST_F(ProductsTest, ofOperandsThatAreLittleAligned) {
  MatrixProduct p = productOf(BRAID_RT_F16, 2, 2, 2);
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

TEST_F(ProductsTest, areMadeOnce) {
  MatrixProduct p = productOf(BRAID_RT_F32, 2, 2, 2);
  auto *memory = upload(std::vector<float>(1024));
  for (int i = 0; i < 3; ++i)
    device().multiply(p, memory, memory + 256, memory + 512);
  EXPECT_EQ(fake_cublaslt_heuristic_calls(), 1);
  p.m = 3;
  device().multiply(p, memory, memory + 256, memory + 512);
  EXPECT_EQ(fake_cublaslt_heuristic_calls(), 2);
}

TEST_F(ProductsTest, mayChangeTheirBias) {
  MatrixProduct p = productOf(BRAID_RT_F32, 1, 2, 1);
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

TEST_F(ProductsTest, useTheMultiprocessorsOfTheirOptions) {
  MatrixProduct p = productOf(BRAID_RT_F32, 2, 2, 2);
  auto *memory = upload(std::vector<float>(1024));
  p.options.multiprocessors = 116;
  fake_cuda_clear_log();
  device().multiply(p, memory, memory + 256, memory + 512);
  EXPECT_THAT(fake_cuda_log(), HasSubstr("multiprocessors 116\n"));
  p.options.multiprocessors = 200;
  fake_cuda_clear_log();
  device().multiply(p, memory, memory + 256, memory + 512);
  EXPECT_THAT(fake_cuda_log(), HasSubstr("multiprocessors 132\n"));
}

TEST_F(ProductsTest, areOfFullPrecisionUnlessAskedOtherwise) {
  MatrixProduct p = productOf(BRAID_RT_F32, 2, 2, 2);
  auto *memory = upload(std::vector<float>(1024));
  fake_cuda_clear_log();
  device().multiply(p, memory, memory + 256, memory + 512);
  EXPECT_THAT(fake_cuda_log(), HasSubstr(" compute 68 "));
}

TEST_F(ProductsTest, areOfLessPrecisionWhereAskedTo) {
  options.tf32 = true;
  auto *memory = upload(std::vector<float>(1024));
  fake_cuda_clear_log();
  device().multiply(productOf(BRAID_RT_F32, 2, 2, 2), memory, memory + 256,
                    memory + 512);
  EXPECT_THAT(fake_cuda_log(), HasSubstr(" compute 77 "));
  fake_cuda_clear_log();
  device().multiply(productOf(BRAID_RT_F16, 2, 2, 2), memory, memory + 256,
                    memory + 512);
  EXPECT_THAT(fake_cuda_log(), HasSubstr(" compute 68 "));
}

//===----------------------------------------------------------------------===//
// The choice of an algorithm
//===----------------------------------------------------------------------===//

TEST_F(ProductsTest, takeTheFirstProposalOfARankAlone) {
  auto *memory = upload(std::vector<float>(1024));
  fake_cuda_clear_log();
  device().multiply(productOf(BRAID_RT_F32, 2, 2, 2), memory, memory + 256,
                    memory + 512);
  EXPECT_STREQ(fake_cuda_log(), "stream 1: matmul algorithm 1 compute 68 "
                                "multiprocessors 0\n");
}

TEST_F(ProductsTest, takeTheFirstProposalWhereNothingIsMeasured) {
  MeasuringHooks &measuring = measureProducts();
  options.measureProducts = false;
  auto *memory = upload(std::vector<float>(1024));
  fake_cuda_clear_log();
  device().multiply(productOf(BRAID_RT_F32, 2, 2, 2), memory, memory + 256,
                    memory + 512);
  EXPECT_THAT(fake_cuda_log(), HasSubstr("matmul algorithm 1 "));
  EXPECT_TRUE(measuring.products.empty());
}

TEST_F(ProductsTest, takeTheFastestProposal) {
  MeasuringHooks &measuring = measureProducts();
  const int64_t costs[] = {4000, -1, 2000, 3000};
  fake_cublaslt_set_costs(costs, 4);
  Comparison{productOf(BRAID_RT_F32, 5, 7, 3)}.run(device());
  EXPECT_EQ(measuring.measured, std::vector<int32_t>{2});
  // Twice the same product is measured once.
  fake_cuda_clear_log();
  Comparison{productOf(BRAID_RT_F32, 5, 7, 3)}.run(device());
  EXPECT_THAT(fake_cuda_log(), HasSubstr("matmul algorithm 3 "));
  EXPECT_EQ(measuring.measured.size(), 1U);
}

TEST_F(ProductsTest, measureBesideWhatTheProgramWaitsFor) {
  MeasuringHooks &measuring = measureProducts();
  auto *memory = upload(std::vector<float>(1024, 1.0F));
  MatrixProduct p = productOf(BRAID_RT_F32, 2, 2, 2);
  cuda::Driver &cuda = driver();
  // The compute stream waits for a stream that waits for the other device, as
  // for a message that another rank has yet to send.
  cuda::ContextHandle other = nullptr;
  cuda::Stream sender = nullptr;
  cuda::Event sent = nullptr;
  cuda.devicePrimaryCtxRetain(&other, 1);
  cuda.ctxSetCurrent(other);
  cuda.streamCreateWithPriority(&sender, cuda::STREAM_NON_BLOCKING, 0);
  cuda.eventCreate(&sent, cuda::EVENT_NO_TIMING);
  fake_cuda_block(1);
  cuda.eventRecord(sent, sender);
  device().gpu().makeCurrent();
  cuda.streamWaitEvent(device().gpu().stream, sent, 0);
  device().multiply(p, memory, memory + 256, memory + 512);
  EXPECT_EQ(measuring.measured, std::vector<int32_t>{2});
  EXPECT_EQ(cuda.streamQuery(device().gpu().stream), cuda::ERROR_NOT_READY);
  fake_cuda_unblock(1);
  EXPECT_EQ(download<float>(memory + 512, 4), std::vector<float>(4, 2.0F));
  cuda.ctxSetCurrent(other);
  cuda.eventDestroy(sent);
  cuda.streamDestroy(sender);
  cuda.devicePrimaryCtxRelease(1);
  device().gpu().makeCurrent();
}

TEST_F(ProductsTest, measureWithTheBiasOfTheProgram) {
  measureProducts();
  MatrixProduct p = productOf(BRAID_RT_F32, 4, 6, 5);
  Comparison{p, /*hasBias=*/true}.run(device());
}

TEST_F(ProductsTest, measureWithoutAddingTwice) {
  measureProducts();
  MatrixProduct p = productOf(BRAID_RT_F32, 5, 7, 3);
  p.beta = 1;
  Comparison{p}.run(device());
}

TEST_F(ProductsTest, takeTheFirstProposalWhereNothingIsLeftToMeasureIn) {
  MeasuringHooks &measuring = measureProducts();
  MatrixProduct p = productOf(BRAID_RT_F32, 5, 7, 3);
  p.beta = 1;
  fake_cuda_fail("cuMemAllocAsync", cuda::ERROR_OUT_OF_MEMORY, 0);
  Comparison{p}.run(device());
  EXPECT_EQ(measuring.measured, std::vector<int32_t>{0});
}

TEST_F(ProductsTest, takeTheProposalThatTheRanksAgreeOn) {
  MeasuringHooks &measuring = measureProducts();
  measuring.chosen = 1;
  auto *memory = upload(std::vector<float>(1024));
  fake_cuda_clear_log();
  device().multiply(productOf(BRAID_RT_F32, 2, 2, 2), memory, memory + 256,
                    memory + 512);
  EXPECT_STREQ(fake_cuda_log(), "stream 1: matmul algorithm 2 compute 68 "
                                "multiprocessors 0\n");
}

TEST_F(ProductsTest, haveOneNameOnAllDevices) {
  MeasuringHooks &measuring = measureProducts();
  auto *memory = upload(std::vector<float>(1024));
  device().multiply(productOf(BRAID_RT_F32, 2, 3, 4), memory, memory + 256,
                    memory + 512);
  // Model, all of the product, and the operands' alignments.
  EXPECT_EQ(measuring.products,
            std::vector<std::string>{
                "Fake GPU 7 0 1 2 3 4 4 3 3 0 0 0 0 7 256 256 256"});
}

TEST_F(ProductsTest, areNotMeasuredWhereOneProposalIsAll) {
  MeasuringHooks &measuring = measureProducts();
  const int64_t cost = 1000;
  fake_cublaslt_set_costs(&cost, 1);
  Comparison{productOf(BRAID_RT_F32, 2, 2, 2)}.run(device());
  EXPECT_TRUE(measuring.products.empty());
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST_F(ProductsTest, refuseOtherTypes) {
  EXPECT_EQ(multiplyError(productOf(BRAID_RT_I32, 2, 2, 2)),
            "matmul of i32, expected f16, bf16, f32, f64, complex<f32>, "
            "complex<f64> or f8E4M3FN");
}

TEST_F(ProductsTest, refuseOtherResults) {
  MatrixProduct p = productOf(BRAID_RT_BF16, 2, 2, 2);
  p.options.resultDtype = BRAID_RT_F64;
  EXPECT_EQ(multiplyError(p),
            "matmul of bf16 with a result of f64, expected bf16 or f32");
}

TEST_F(ProductsTest, refuseOtherEpilogues) {
  MatrixProduct p = productOf(BRAID_RT_F32, 2, 2, 2);
  p.options.epilogue = 9;
  EXPECT_EQ(multiplyError(p), "matmul with epilogue number 9, expected 0 "
                              "(none), 1 (relu) or 2 (gelu)");
}

TEST_F(ProductsTest, refuseLargeBatches) {
  MatrixProduct p = productOf(BRAID_RT_F32, 2, 2, 2);
  p.batch = int64_t(1) << 31;
  EXPECT_EQ(multiplyError(p),
            "matmul: the batch is 2147483648, expected at most 2147483647");
}

TEST_F(ProductsTest, sayWhatTheLibraryDoesNotHave) {
  MatrixProduct p = productOf(BRAID_RT_F64, 2, 3, 4);
  p.options.epilogue = BRAID_RT_EPILOGUE_GELU;
  EXPECT_EQ(multiplyError(p),
            "matmul of f64 matrices of 2 x 4 and 4 x 3 (gelu): cuBLASLt has no "
            "algorithm for it on device 0 (Fake GPU) "
            "(CUBLAS_STATUS_NOT_SUPPORTED)");
}

TEST_F(ProductsTest, sayWhat8BitFloatsNeed) {
  EXPECT_EQ(multiplyError(productOf(BRAID_RT_F8E4M3FN, 16, 16, 16)),
            "matmul of f8E4M3FN matrices of 16 x 16 and 16 x 16: cuBLASLt has "
            "no algorithm for it on device 0 (Fake GPU) "
            "(CUBLAS_STATUS_NOT_SUPPORTED); products of f8 want sizes that are "
            "multiples of 16 and, below compute capability 10.0, an "
            "untransposed A and a transposed B");
}

TEST_F(ProductsTest, describeThemselvesWhenTheyFail) {
  MatrixProduct p = productOf(BRAID_RT_F16, 2, 3, 4);
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

TEST_F(ProductsTest, withoutAMiddleDimensionRefuseABias) {
  MatrixProduct p = productOf(BRAID_RT_F32, 2, 3, 0);
  p.options.bias = upload(std::vector<float>(3));
  EXPECT_EQ(multiplyError(p),
            "matmul of f32 matrices of 2 x 0 and 0 x 3 (bias): without a "
            "middle dimension a product has no bias, and beta is 0, or 1 "
            "without an epilogue");
}

TEST_F(ProductsTest, withoutAMiddleDimensionRefuseAnEpilogueOfTheirResult) {
  MatrixProduct p = productOf(BRAID_RT_F32, 2, 3, 0);
  p.beta = 1;
  p.options.epilogue = BRAID_RT_EPILOGUE_RELU;
  EXPECT_THAT(multiplyError(p),
              HasSubstr("(beta 1.000000, relu): without a middle dimension"));
}

TEST_F(ProductsTest, leaveNothingBehindWhenTheirPlanFails) {
  fake_cublaslt_fail("cublasLtMatrixLayoutCreate", cuda::BLAS_ALLOC_FAILED, 2);
  EXPECT_THAT(multiplyError(productOf(BRAID_RT_F32, 2, 2, 2)),
              HasSubstr("cublasLtMatrixLayoutCreate failed: "));
  // The handle alone is alive.
  EXPECT_EQ(fake_cublaslt_leaks(), 1);
  EXPECT_EQ(multiplyError(productOf(BRAID_RT_F32, 2, 2, 2)), "");
}

TEST_F(ProductsTest, canBePreparedAgain) {
  fake_cublaslt_fail("cublasLtCreate", cuda::BLAS_ALLOC_FAILED, 0);
  EXPECT_THAT(multiplyError(productOf(BRAID_RT_F32, 2, 2, 2)),
              HasSubstr("cublasLtCreate failed: "));
  EXPECT_EQ(multiplyError(productOf(BRAID_RT_F32, 2, 2, 2)), "");
}
