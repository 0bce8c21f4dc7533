//===- MeasureMatmuls.cpp - The fastest algorithm of a matmul -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Device/Matmuls.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <random>
#include <thread>

using namespace braid::rt;
using namespace braid::rt::cuda;

/// The rounds in which all algorithms run in turn. A GPU that works for more
/// than some 40 ms reaches its power limit and slows down, so each round is
/// followed by a rest: otherwise the algorithms that come first would win.
static constexpr int rounds = 4;

/// A rest, in multiples of the round before it, and at most.
static constexpr float restPerRound = 3, mostRestMs = 100;

/// How long an algorithm runs at a time: longer than what an event takes.
static constexpr float turnMs = 0.3F;
static constexpr int mostRunsPerTurn = 10;

/// An algorithm wins only if it takes less than this fraction of the time of
/// the algorithms that the library prefers. So noise rarely changes the choice
/// and the bits of the matmul.
static constexpr float wanted = 0.98F;

void Matmuls::openMeasurement() {
  if (!measuring)
    measuring = gpu.driver.createStream(StreamPriority::Lowest);
  for (Event *event : {&begin, &end})
    if (!*event)
      gpu.driver.call(gpu.driver.eventCreate, event, EVENT_TIMING);
}

void Matmuls::closeMeasurement() {
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

/// Numbers of `dtype` from -1 to 1 whose mantissas and signs are random: as
/// with the data of programs, the power that they take depends on the
/// algorithm.
static std::vector<uint64_t> makeOperandData(int32_t dtype) {
  uint64_t exponent = 0, half = 0;
  switch (dtype) {
  case BRAID_RT_F16:
    exponent = 0x7c007c007c007c00, half = 0x3800380038003800;
    break;
  case BRAID_RT_BF16:
    exponent = 0x7f807f807f807f80, half = 0x3f003f003f003f00;
    break;
  case BRAID_RT_F8E4M3FN:
    exponent = 0x7878787878787878, half = 0x3030303030303030;
    break;
  case BRAID_RT_F64:
  case BRAID_RT_COMPLEX_F64:
    exponent = 0x7ff0000000000000, half = 0x3fe0000000000000;
    break;
  default: // F32, COMPLEX_F32
    exponent = 0x7f8000007f800000, half = 0x3f0000003f000000;
  }
  constexpr size_t words = size_t(1) << 17;
  std::vector<uint64_t> data(words);
  std::mt19937_64 random(1);
  for (uint64_t &word : data)
    word = (random() & ~exponent) | half;
  return data;
}

/// Fills memory with operands.
void Matmuls::fill(DevicePointer memory, int64_t bytes, int32_t dtype) {
  std::vector<uint64_t> data = makeOperandData(dtype);
  auto done = std::min<int64_t>(
      bytes, static_cast<int64_t>(data.size() * sizeof(uint64_t)));
  gpu.driver.call(gpu.driver.memcpyHtoDAsync, memory, data.data(),
                  static_cast<size_t>(done), measuring);
  for (int64_t size; done < bytes; done += size) {
    size = std::min(done, bytes - done);
    gpu.driver.call(gpu.driver.memcpyDtoDAsync,
                    memory + static_cast<DevicePointer>(done), memory,
                    static_cast<size_t>(size), measuring);
  }
  // The copy from the host may read its data until the stream is done.
  gpu.driver.call(gpu.driver.eventRecord, end, measuring);
  gpu.waitOnHost(end, measuring, "the operands of a matmul's measurement");
}

/// The milliseconds of `runs` runs of an algorithm.
float Matmuls::time(const Plan &plan, const Operands &operands,
                    const MatmulAlgorithm &algorithm, int runs) {
  gpu.driver.call(gpu.driver.eventRecord, begin, measuring);
  for (int i = 0; i < runs; ++i)
    blas.check(run(plan, operands, algorithm, measuring), "cublasLtMatmul");
  gpu.driver.call(gpu.driver.eventRecord, end, measuring);
  gpu.waitOnHost(end, measuring, "the choice of a matmul's algorithm");
  float milliseconds = 0;
  gpu.driver.call(gpu.driver.eventElapsedTime, &milliseconds, begin, end);
  return milliseconds;
}

/// The milliseconds of each algorithm, the shortest of all rounds; the largest
/// number for those that do not run.
std::vector<float>
Matmuls::timeAll(const Plan &plan, const Operands &operands,
                 const std::vector<MatmulHeuristicResult> &candidates) {
  constexpr float never = std::numeric_limits<float>::max();
  std::vector<float> times(candidates.size(), never);
  std::vector<size_t> running;
  // The first run loads the kernel.
  for (size_t i = 0; i < candidates.size(); ++i)
    if (run(plan, operands, candidates[i].algorithm, measuring) == BLAS_SUCCESS)
      running.push_back(i);
  if (running.empty())
    return times;
  float one = time(plan, operands, candidates[running.front()].algorithm, 1);
  int runs = one * mostRunsPerTurn <= turnMs
                 ? mostRunsPerTurn
                 : std::max(1, static_cast<int>(turnMs / one));
  for (int round = 0; round < rounds; ++round) {
    float roundMs = 0;
    for (size_t i : running) {
      float taken = time(plan, operands, candidates[i].algorithm, runs);
      times[i] = std::min(times[i], taken / static_cast<float>(runs));
      roundMs += taken;
    }
    std::this_thread::sleep_for(std::chrono::duration<float, std::milli>(
        std::min(restPerRound * roundMs, mostRestMs)));
  }
  return times;
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
  size_t best = 0;
  for (size_t i = 1; i < times.size(); ++i)
    if (times[i] < wanted * times[best])
      best = i;
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
    if (wanted * times[i] <= fastest && other > clusterSize) {
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
  Scratch scratch(gpu.driver, measuring, bytes);
  if (!scratch.address)
    return 0;
  fill(scratch.address, bytes - workspaceBytes, p.dtype);
  char *next = reinterpret_cast<char *>(scratch.address);
  Operands operands = {next, next + bytesA, next + bytesA + bytesB,
                       next + bytesA + bytesB + bytesC + bytesBias};
  if (p.options.bias)
    set(plan.desc, MATMUL_DESC_BIAS_POINTER,
        static_cast<const void *>(next + bytesA + bytesB + bytesC));
  // Work of the program would disturb the measurement. It may wait for an
  // operation that another rank has yet to start, so the wait is short.
  gpu.settle(gpu.stream, int64_t(200) * 1000 * 1000);
  std::vector<float> times = timeAll(plan, operands, candidates);
  if (p.options.bias)
    set(plan.desc, MATMUL_DESC_BIAS_POINTER, p.options.bias);
  return chooseByTimes(p, candidates, times);
}
