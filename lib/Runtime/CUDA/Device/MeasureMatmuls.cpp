//===- MeasureMatmuls.cpp - The fastest algorithm of a matmul -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Device/Matmuls.h"

#include <algorithm>
#include <iterator>

using namespace braid::rt;
using namespace braid::rt::cuda;

/// The bytes of a matrix of `rows` rows, a multiple of 256.
static int64_t matrixBytes(int64_t rows, int64_t leading, int64_t batch,
                           int64_t stride, int32_t dtype) {
  int64_t elements = (batch - 1) * stride + rows * leading;
  return (elements * braid_rt_dtype_size(dtype) + 255) / 256 * 256;
}

/// The thread blocks of a cluster by its shape, as `cublasLtClusterShape_t`
/// numbers the shapes; 0 for the shape that the library chooses at the launch.
static constexpr uint8_t clusterSizes[] = {
    0,  0,  1, 2,  4,  2,  4,  8,  4,  8,  16, 8,  8,  16, 16, 16, 16, 3,
    5,  6,  7, 9,  10, 11, 12, 13, 14, 15, 6,  10, 12, 14, 3,  6,  9,  12,
    15, 12, 5, 10, 15, 6,  12, 7,  14, 9,  10, 11, 12, 13, 14, 15};

/// The thread blocks of a cluster of the algorithm's kernel; 0 if the library
/// does not say.
int32_t Matmuls::getClusterSize(const MatmulAlgorithm &algorithm) const {
  uint16_t shape = 0;
  size_t written = 0;
  BlasStatus status = blas.matmulAlgoConfigGetAttribute(
      &algorithm, MATMUL_ALGORITHM_CLUSTER_SHAPE_ID, &shape, sizeof(shape),
      &written);
  bool isKnown = status == BLAS_SUCCESS && shape < std::size(clusterSizes);
  return isKnown ? clusterSizes[shape] : 0;
}

int32_t
Matmuls::chooseByTimes(const Matmul &p,
                       const std::vector<MatmulHeuristicResult> &candidates,
                       const std::vector<float> &times) const {
  size_t best = Trials::findFastest(times);
  if (p.options.multiprocessors <= 0)
    return static_cast<int32_t>(best);
  // A matmul that leaves multiprocessors to collectives: of about equally fast
  // algorithms the one in the largest clusters. Collectives that begin beside
  // such a matmul stand where its clusters do not fit, and take nothing from
  // the next one; from a matmul in pairs they would take a pair for each
  // block.
  float fastest = *std::min_element(times.begin(), times.end());
  int32_t clusterSize = getClusterSize(candidates[best].algorithm);
  for (size_t i = 0; i < times.size(); ++i) {
    int32_t other = getClusterSize(candidates[i].algorithm);
    if (Trials::wanted * times[i] <= fastest && other > clusterSize) {
      best = i;
      clusterSize = other;
    }
  }
  return static_cast<int32_t>(best);
}

int32_t Matmuls::measure(Plan &plan, const Matmul &p,
                         const std::vector<MatmulHeuristicResult> &candidates) {
  int32_t result = p.options.resultDtype;
  int64_t bytesA =
      matrixBytes(p.transposeA ? p.k : p.m, p.lda, p.batch, p.strideA, p.dtype);
  int64_t bytesB =
      matrixBytes(p.transposeB ? p.n : p.k, p.ldb, p.batch, p.strideB, p.dtype);
  int64_t bytesC = matrixBytes(p.m, p.ldc, p.batch, p.strideC, result);
  int64_t bytesBias = p.options.bias ? matrixBytes(1, p.n, 1, 0, result) : 0;
  int64_t bytes = bytesA + bytesB + bytesC + bytesBias + workspaceBytes;
  Scratch scratch(gpu.driver, trials.stream(), bytes);
  if (!scratch.address)
    return 0;
  trials.fill(scratch.address, bytes - workspaceBytes, p.dtype);
  char *next = reinterpret_cast<char *>(scratch.address);
  Operands operands = {next, next + bytesA, next + bytesA + bytesB,
                       next + bytesA + bytesB + bytesC + bytesBias};
  if (p.options.bias)
    set(plan.desc, MATMUL_DESC_BIAS_POINTER,
        static_cast<const void *>(next + bytesA + bytesB + bytesC));
  std::vector<float> times = trials.timeAll(candidates.size(), [&](size_t i) {
    blas.check(run(plan, operands, candidates[i].algorithm, trials.stream()),
               "cublasLtMatmul");
  });
  if (p.options.bias)
    set(plan.desc, MATMUL_DESC_BIAS_POINTER, p.options.bias);
  return chooseByTimes(p, candidates, times);
}
