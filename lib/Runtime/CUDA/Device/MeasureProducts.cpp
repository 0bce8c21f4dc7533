//===- MeasureProducts.cpp - The fastest algorithm of a matrix product ----===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Device/Products.h"

#include <algorithm>
#include <limits>

using namespace braid::rt;
using namespace braid::rt::cuda;

/// The number of measured runs of each algorithm.
static constexpr int measuredRuns = 3;

/// An algorithm wins only if it takes less than this fraction of the time of
/// the algorithms that the library prefers. So noise rarely changes the choice
/// and the bits of the product.
static constexpr float wanted = 0.98F;

/// A byte that makes a small number of every type: 0.01 of bf16 and f32, 1.06
/// of f16, 1.5 of f8E4M3FN.
static constexpr unsigned char fillByte = 0x3c;

void Products::openMeasurement() {
  if (!measuring) {
    int least = 0, greatest = 0;
    gpu.driver.check(gpu.driver.ctxGetStreamPriorityRange(&least, &greatest),
                     "cuCtxGetStreamPriorityRange");
    gpu.driver.check(gpu.driver.streamCreateWithPriority(
                         &measuring, STREAM_NON_BLOCKING, least),
                     "cuStreamCreateWithPriority");
  }
  for (Event *event : {&begin, &end})
    if (!*event)
      gpu.driver.check(gpu.driver.eventCreate(event, EVENT_TIMING),
                       "cuEventCreate");
}

void Products::closeMeasurement() {
  for (Event event : {begin, end})
    if (event)
      gpu.driver.eventDestroy(event);
  if (measuring)
    gpu.driver.streamDestroy(measuring);
}

/// The bytes of a matrix of `rows` rows, a multiple of 256.
static int64_t matrixBytes(int64_t rows, int64_t leading, int64_t batch,
                           int64_t stride, int32_t dtype) {
  int64_t elements = (batch - 1) * stride + rows * leading;
  return (elements * braid_rt_dtype_size(dtype) + 255) / 256 * 256;
}

namespace {
/// Stream-ordered memory.
class Scratch {
public:
  Scratch(const Driver &driver, Stream stream, int64_t bytes)
      : driver(driver), stream(stream) {
    if (driver.memAllocAsync(&address, static_cast<size_t>(bytes), stream) !=
        SUCCESS)
      address = 0;
  }
  ~Scratch() {
    if (address)
      driver.memFreeAsync(address, stream);
  }
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;

  DevicePointer address = 0; ///< 0 if there is not enough memory.

private:
  const Driver &driver;
  Stream stream;
};
} // namespace

/// The milliseconds of an algorithm; the largest number if it does not run. The
/// first run loads the kernel.
float Products::time(const Plan &plan, const Operands &operands,
                     const MatmulAlgorithm &algorithm) {
  if (run(plan, operands, algorithm, measuring) != BLAS_SUCCESS)
    return std::numeric_limits<float>::max();
  gpu.driver.check(gpu.driver.eventRecord(begin, measuring), "cuEventRecord");
  for (int i = 0; i < measuredRuns; ++i)
    blas.check(run(plan, operands, algorithm, measuring), "cublasLtMatmul");
  gpu.driver.check(gpu.driver.eventRecord(end, measuring), "cuEventRecord");
  gpu.waitOnHost(end, measuring, "the choice of a matmul's algorithm");
  float milliseconds = 0;
  gpu.driver.check(gpu.driver.eventElapsedTime(&milliseconds, begin, end),
                   "cuEventElapsedTime");
  return milliseconds;
}

int32_t
Products::measure(Plan &plan, const MatrixProduct &p,
                  const std::vector<MatmulHeuristicResult> &candidates) {
  int32_t result = p.options.resultDtype;
  int64_t bytesA =
      matrixBytes(p.transposeA ? p.k : p.m, p.lda, p.batch, p.strideA, p.dtype);
  int64_t bytesB =
      matrixBytes(p.transposeB ? p.n : p.k, p.ldb, p.batch, p.strideB, p.dtype);
  int64_t bytesC = matrixBytes(p.m, p.ldc, p.batch, p.strideC, result);
  int64_t bytesBias = p.options.bias ? matrixBytes(1, p.n, 1, 0, result) : 0;
  int64_t bytes = bytesA + bytesB + bytesC + bytesBias + workspaceBytes;
  Scratch scratch(gpu.driver, measuring, bytes);
  if (!scratch.address)
    return 0;
  gpu.driver.check(gpu.driver.memsetD8Async(scratch.address, fillByte,
                                            static_cast<size_t>(bytes),
                                            measuring),
                   "cuMemsetD8Async");
  char *next = reinterpret_cast<char *>(scratch.address);
  Operands operands = {next, next + bytesA, next + bytesA + bytesB,
                       next + bytesA + bytesB + bytesC + bytesBias};
  if (p.options.bias)
    set(plan.desc, MATMUL_DESC_BIAS_POINTER,
        static_cast<const void *>(next + bytesA + bytesB + bytesC));
  // Work of the program would disturb the measurement. It may wait for an
  // operation that another rank has yet to start, so the wait is short.
  gpu.settle(int64_t(200) * 1000 * 1000);
  int32_t best = 0;
  float bestTime = std::numeric_limits<float>::max();
  for (size_t i = 0; i < candidates.size(); ++i) {
    float taken = time(plan, operands, candidates[i].algorithm);
    if (taken < wanted * bestTime) {
      bestTime = taken;
      best = static_cast<int32_t>(i);
    }
  }
  if (p.options.bias)
    set(plan.desc, MATMUL_DESC_BIAS_POINTER, p.options.bias);
  return best;
}
