//===- MatmulSetup.cpp - Matmuls beside a reference -----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatmulSetup.h"
#include "Reduce/SmallFloat.h"

#include <cmath>
#include <complex>
#include <cstring>

using namespace braid::rt;
using Number = std::complex<double>;

Matmul matmulOf(int32_t dtype, int64_t m, int64_t n, int64_t k) {
  Matmul matmul = {};
  matmul.dtype = matmul.options.resultDtype = dtype;
  matmul.batch = 1;
  matmul.m = m;
  matmul.n = n;
  matmul.k = k;
  matmul.lda = k;
  matmul.ldb = matmul.ldc = n;
  return matmul;
}

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

/// Small numbers, exact in every type, as are their matmuls' sums.
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

static double epilogue(const Matmul &p, double x) {
  if (p.options.epilogue == BRAID_RT_EPILOGUE_RELU)
    return std::max(x, 0.0);
  if (p.options.epilogue == BRAID_RT_EPILOGUE_GELU)
    return 0.5 * x *
           (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  return x;
}

void Comparison::run(CudaDevice &device) {
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
  device.copyFromDevice(got.data(), deviceC, static_cast<int64_t>(got.size()));
  for (void *memory : {deviceA, deviceB, deviceC, deviceBias})
    device.free(memory);
  for (int64_t i = 0; i < p.batch; ++i)
    for (int64_t row = 0; row < p.m; ++row)
      for (int64_t column = 0; column < p.n; ++column) {
        Number sum = 0;
        for (int64_t k = 0; k < p.k; ++k)
          sum += load(p.dtype, a.data(),
                      i * p.strideA +
                          (p.transposeA ? k * p.lda + row : row * p.lda + k)) *
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
