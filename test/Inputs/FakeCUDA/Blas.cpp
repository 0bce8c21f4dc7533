//===- Blas.cpp - A cuBLASLt that multiplies with loops -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/API/Blas.h"
#include "FakeBlas.h"
#include "FakeCUDA.h"
#include "Reduce/SmallFloat.h"

#include <cmath>
#include <complex>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

using namespace braid::rt;
using namespace braid::rt::cuda;

//===----------------------------------------------------------------------===//
// Handles
//===----------------------------------------------------------------------===//

struct cublasLtContext {
  int device;
};

namespace braid::rt::cuda {
struct MatmulDescOpaque {
  ComputeType compute;
  DataType scale;
  int32_t transposeA = OPERATION_N, transposeB = OPERATION_N;
  unsigned epilogue = EPILOGUE_DEFAULT;
  void *bias = nullptr;
  DataType biasType = R_32F;
  int32_t multiprocessors = 0;
};

struct MatrixLayoutOpaque {
  DataType type;
  int64_t rows, columns, leading;
  int32_t batch = 1;
  int64_t stride = 0;
};

struct MatmulPreferenceOpaque {
  uint32_t alignments[4] = {256, 256, 256, 256};
  uint64_t workspace = 0;
};
} // namespace braid::rt::cuda

namespace {
struct InjectedFailure {
  BlasStatus status;
  int skipped;
};

struct FakeBlas {
  std::mutex mutex;
  std::vector<int64_t> costs = {3000, 2000, 1000}, wholeClusterCosts;
  std::vector<uint16_t> clusterShapes;
  std::map<std::string, InjectedFailure> failures;
  std::set<const void *> live;
  int heuristicCalls = 0;
};
} // namespace

static FakeBlas &fake() {
  static auto *instance = new FakeBlas;
  return *instance;
}

static bool isInjected(const char *function, BlasStatus &status) {
  std::lock_guard<std::mutex> lock(fake().mutex);
  auto found = fake().failures.find(function);
  if (found == fake().failures.end() || found->second.skipped-- > 0)
    return false;
  status = found->second.status;
  fake().failures.erase(found);
  return true;
}
#define FAKE_BLAS_ENTER(function)                                              \
  if (BlasStatus injected; isInjected(function, injected))                     \
    return injected;

template <typename Handle>
static BlasStatus remember(Handle *result, Handle created) {
  std::lock_guard<std::mutex> lock(fake().mutex);
  fake().live.insert(created);
  *result = created;
  return BLAS_SUCCESS;
}

static void check(const char *function, const void *handle) {
  std::lock_guard<std::mutex> lock(fake().mutex);
  if (!fake().live.count(handle))
    fake_cuda_abort(function, "a handle does not exist, or was destroyed");
}

template <typename Handle>
static BlasStatus destroy(const char *function, Handle handle) {
  check(function, handle);
  std::lock_guard<std::mutex> lock(fake().mutex);
  fake().live.erase(handle);
  delete handle;
  return BLAS_SUCCESS;
}

template <typename Value>
static BlasStatus assign(Value &to, const void *from, size_t bytes) {
  if (bytes != sizeof(Value))
    return BLAS_INVALID_VALUE;
  std::memcpy(&to, from, bytes);
  return BLAS_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

using Number = std::complex<double>;

static int64_t sizeOf(DataType type) {
  switch (type) {
  case R_8F_E4M3:
  case R_8F_E5M2:
    return 1;
  case R_16F:
  case R_16BF:
    return 2;
  case R_32F:
    return 4;
  case R_64F:
  case C_32F:
    return 8;
  case C_64F:
    return 16;
  }
  return 0;
}

template <typename T> static T loadAs(const void *from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

static Number load(DataType type, const char *base, int64_t index) {
  const char *from = base + index * sizeOf(type);
  switch (type) {
  case R_8F_E4M3:
    return Float8E4M3FN::toFloat(loadAs<uint8_t>(from));
  case R_8F_E5M2:
    return Float8E5M2::toFloat(loadAs<uint8_t>(from));
  case R_16F:
    return f16ToFloat(loadAs<uint16_t>(from));
  case R_16BF:
    return bf16ToFloat(loadAs<uint16_t>(from));
  case R_32F:
    return loadAs<float>(from);
  case R_64F:
    return loadAs<double>(from);
  case C_32F:
    return loadAs<std::complex<float>>(from);
  case C_64F:
    return loadAs<std::complex<double>>(from);
  }
  return 0;
}

template <typename T> static void storeAs(void *to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

static void store(DataType type, char *base, int64_t index, Number value) {
  char *to = base + index * sizeOf(type);
  auto single = static_cast<float>(value.real());
  switch (type) {
  case R_8F_E4M3:
    return storeAs(to, Float8E4M3FN::fromFloat(single));
  case R_8F_E5M2:
    return storeAs(to, Float8E5M2::fromFloat(single));
  case R_16F:
    return storeAs(to, floatToF16(single));
  case R_16BF:
    return storeAs(to, floatToBf16(single));
  case R_32F:
    return storeAs(to, single);
  case R_64F:
    return storeAs(to, value.real());
  case C_32F:
    return storeAs(to, std::complex<float>(value));
  case C_64F:
    return storeAs(to, value);
  }
}

static bool isComplex(DataType type) { return type == C_32F || type == C_64F; }

//===----------------------------------------------------------------------===//
// Matmuls
//===----------------------------------------------------------------------===//

namespace {
/// A matmul with everything that its descriptors say: they may change or die
/// before it runs.
struct Product {
  MatmulDescOpaque desc;
  MatrixLayoutOpaque a, b, c, d;
  Number alpha, beta;
  const char *pointerA, *pointerB, *pointerC;
  char *pointerD;

  void run() const;
};
} // namespace

void Product::run() const {
  int64_t middle = desc.transposeA ? a.rows : a.columns;
  for (int64_t i = 0; i < d.batch; ++i)
    for (int64_t column = 0; column < d.columns; ++column)
      for (int64_t row = 0; row < d.rows; ++row) {
        Number sum = 0;
        for (int64_t k = 0; k < middle; ++k) {
          int64_t indexA =
              desc.transposeA ? k + row * a.leading : row + k * a.leading;
          int64_t indexB =
              desc.transposeB ? column + k * b.leading : k + column * b.leading;
          sum += load(a.type, pointerA, indexA + i * a.stride) *
                 load(b.type, pointerB, indexB + i * b.stride);
        }
        sum *= alpha;
        if (beta != 0.0)
          sum += beta * load(c.type, pointerC,
                             row + column * c.leading + i * c.stride);
        if (desc.epilogue & EPILOGUE_BIAS)
          sum += load(desc.biasType, static_cast<const char *>(desc.bias), row);
        double x = sum.real();
        if (desc.epilogue & EPILOGUE_RELU)
          sum = std::max(x, 0.0);
        if (desc.epilogue & EPILOGUE_GELU)
          sum =
              0.5 * x *
              (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
        store(d.type, pointerD, row + column * d.leading + i * d.stride, sum);
      }
}

/// What a matrix occupies.
static fake_cuda_access extent(const MatrixLayoutOpaque &layout,
                               const void *pointer, bool writes) {
  int64_t elements = (layout.batch - 1) * layout.stride +
                     (layout.columns - 1) * layout.leading + layout.rows;
  return {pointer, static_cast<size_t>(elements * sizeOf(layout.type)), writes};
}

/// Whether the real library has such matmuls, as its manual's tables say.
static bool isSupported(const MatmulDescOpaque &desc,
                        const MatrixLayoutOpaque &a,
                        const MatrixLayoutOpaque &b,
                        const MatrixLayoutOpaque &c,
                        const MatrixLayoutOpaque &d) {
  for (const MatrixLayoutOpaque *layout : {&a, &b, &d})
    if (layout->rows <= 0 || layout->columns <= 0 ||
        layout->leading < layout->rows)
      return false;
  if (a.type != b.type || c.type != (d.type == R_8F_E4M3 ? R_16BF : d.type))
    return false;
  bool isPlain = desc.epilogue == EPILOGUE_DEFAULT;
  if ((a.type == R_64F || isComplex(a.type)) && !isPlain)
    return false;
  if (a.type == R_8F_E5M2)
    return false;
  if (a.type == R_8F_E4M3 &&
      (desc.transposeA != OPERATION_T || desc.transposeB != OPERATION_N ||
       a.rows % 16 || a.columns % 16 || b.columns % 16))
    return false;
  return true;
}

/// Also ends the process for shapes that do not fit each other, which would be
/// a mistake of the caller's.
static void checkShapes(const MatmulDescOpaque &desc,
                        const MatrixLayoutOpaque &a,
                        const MatrixLayoutOpaque &b,
                        const MatrixLayoutOpaque &d) {
  int64_t rows = desc.transposeA ? a.columns : a.rows;
  int64_t middleA = desc.transposeA ? a.rows : a.columns;
  int64_t middleB = desc.transposeB ? b.columns : b.rows;
  int64_t columns = desc.transposeB ? b.rows : b.columns;
  if (rows != d.rows || columns != d.columns || middleA != middleB ||
      a.batch != d.batch || b.batch != d.batch)
    fake_cuda_abort("cublasLtMatmul", "the shapes do not fit each other");
}

extern "C" {

//===----------------------------------------------------------------------===//
// Control
//===----------------------------------------------------------------------===//

void fake_cublaslt_reset(void) {
  std::lock_guard<std::mutex> lock(fake().mutex);
  fake().costs = {3000, 2000, 1000};
  fake().wholeClusterCosts.clear();
  fake().clusterShapes.clear();
  fake().failures.clear();
  fake().heuristicCalls = 0;
}

void fake_cublaslt_set_costs(const int64_t *costs, int count) {
  std::lock_guard<std::mutex> lock(fake().mutex);
  fake().costs.assign(costs, costs + count);
}

void fake_cublaslt_set_costs_of_whole_clusters(const int64_t *costs,
                                               int count) {
  std::lock_guard<std::mutex> lock(fake().mutex);
  fake().wholeClusterCosts.assign(costs, costs + count);
}

void fake_cublaslt_set_cluster_shapes(const uint16_t *shapes, int count) {
  std::lock_guard<std::mutex> lock(fake().mutex);
  fake().clusterShapes.assign(shapes, shapes + count);
}

void fake_cublaslt_fail(const char *function, unsigned status, int skipped) {
  std::lock_guard<std::mutex> lock(fake().mutex);
  fake().failures[function] = {static_cast<BlasStatus>(status), skipped};
}

int fake_cublaslt_heuristic_calls(void) {
  std::lock_guard<std::mutex> lock(fake().mutex);
  return fake().heuristicCalls;
}

int fake_cublaslt_leaks(void) {
  std::lock_guard<std::mutex> lock(fake().mutex);
  return static_cast<int>(fake().live.size());
}

//===----------------------------------------------------------------------===//
// The library
//===----------------------------------------------------------------------===//

size_t cublasLtGetVersion(void) { return 130200; }

const char *cublasLtGetStatusName(BlasStatus status) {
  switch (status) {
  case BLAS_SUCCESS:
    return "CUBLAS_STATUS_SUCCESS";
  case BLAS_INVALID_VALUE:
    return "CUBLAS_STATUS_INVALID_VALUE";
  case BLAS_NOT_SUPPORTED:
    return "CUBLAS_STATUS_NOT_SUPPORTED";
  default:
    return "CUBLAS_STATUS_INTERNAL_ERROR";
  }
}

const char *cublasLtGetStatusString(BlasStatus status) {
  return status == BLAS_INVALID_VALUE ? "an unsupported value or parameter was "
                                        "passed to the function"
                                      : "the functionality is not supported";
}

BlasStatus cublasLtCreate(BlasHandle *handle) {
  FAKE_BLAS_ENTER("cublasLtCreate")
  return remember(
      handle, new cublasLtContext{fake_cuda_current_device("cublasLtCreate")});
}

BlasStatus cublasLtDestroy(BlasHandle handle) {
  return destroy("cublasLtDestroy", handle);
}

BlasStatus cublasLtMatmulDescCreate(MatmulDesc *desc, ComputeType compute,
                                    DataType scale) {
  FAKE_BLAS_ENTER("cublasLtMatmulDescCreate")
  auto *created = new MatmulDescOpaque;
  created->compute = compute;
  created->scale = scale;
  return remember(desc, created);
}

BlasStatus cublasLtMatmulDescDestroy(MatmulDesc desc) {
  return destroy("cublasLtMatmulDescDestroy", desc);
}

BlasStatus cublasLtMatmulDescSetAttribute(MatmulDesc desc,
                                          MatmulDescAttribute attribute,
                                          const void *value, size_t bytes) {
  FAKE_BLAS_ENTER("cublasLtMatmulDescSetAttribute")
  check("cublasLtMatmulDescSetAttribute", desc);
  switch (attribute) {
  case MATMUL_DESC_TRANSA:
    return assign(desc->transposeA, value, bytes);
  case MATMUL_DESC_TRANSB:
    return assign(desc->transposeB, value, bytes);
  case MATMUL_DESC_EPILOGUE:
    return assign(desc->epilogue, value, bytes);
  case MATMUL_DESC_BIAS_POINTER:
    return assign(desc->bias, value, bytes);
  case MATMUL_DESC_SM_COUNT_TARGET:
    return assign(desc->multiprocessors, value, bytes);
  case MATMUL_DESC_BIAS_DATA_TYPE:
    return assign(desc->biasType, value, bytes);
  }
  return BLAS_INVALID_VALUE;
}

BlasStatus cublasLtMatrixLayoutCreate(MatrixLayout *layout, DataType type,
                                      uint64_t rows, uint64_t columns,
                                      int64_t leading) {
  FAKE_BLAS_ENTER("cublasLtMatrixLayoutCreate")
  auto *created = new MatrixLayoutOpaque;
  created->type = type;
  created->rows = static_cast<int64_t>(rows);
  created->columns = static_cast<int64_t>(columns);
  created->leading = leading;
  return remember(layout, created);
}

BlasStatus cublasLtMatrixLayoutDestroy(MatrixLayout layout) {
  return destroy("cublasLtMatrixLayoutDestroy", layout);
}

BlasStatus cublasLtMatrixLayoutSetAttribute(MatrixLayout layout,
                                            MatrixLayoutAttribute attribute,
                                            const void *value, size_t bytes) {
  check("cublasLtMatrixLayoutSetAttribute", layout);
  if (attribute == MATRIX_LAYOUT_BATCH_COUNT)
    return assign(layout->batch, value, bytes);
  return assign(layout->stride, value, bytes);
}

BlasStatus cublasLtMatmulPreferenceCreate(MatmulPreference *preference) {
  return remember(preference, new MatmulPreferenceOpaque);
}

BlasStatus cublasLtMatmulPreferenceDestroy(MatmulPreference preference) {
  return destroy("cublasLtMatmulPreferenceDestroy", preference);
}

BlasStatus
cublasLtMatmulPreferenceSetAttribute(MatmulPreference preference,
                                     MatmulPreferenceAttribute attribute,
                                     const void *value, size_t bytes) {
  check("cublasLtMatmulPreferenceSetAttribute", preference);
  if (attribute == MATMUL_PREF_MAX_WORKSPACE_BYTES)
    return assign(preference->workspace, value, bytes);
  return assign(
      preference->alignments[attribute - MATMUL_PREF_MIN_ALIGNMENT_A_BYTES],
      value, bytes);
}

/// The number of an algorithm and the alignments that it was proposed for stand
/// in it.
BlasStatus cublasLtMatmulAlgoGetHeuristic(
    BlasHandle handle, MatmulDesc desc, MatrixLayout a, MatrixLayout b,
    MatrixLayout c, MatrixLayout d, MatmulPreference preference, int requested,
    MatmulHeuristicResult *results, int *count) {
  FAKE_BLAS_ENTER("cublasLtMatmulAlgoGetHeuristic")
  check("cublasLtMatmulAlgoGetHeuristic", handle);
  checkShapes(*desc, *a, *b, *d);
  std::lock_guard<std::mutex> lock(fake().mutex);
  ++fake().heuristicCalls;
  *count = 0;
  if (!isSupported(*desc, *a, *b, *c, *d))
    return BLAS_NOT_SUPPORTED;
  constexpr int32_t cluster = 8;
  bool hasWholeClusters =
      desc->multiprocessors > 0 && desc->multiprocessors % cluster == 0;
  size_t proposed = fake().costs.size();
  if (hasWholeClusters)
    proposed += fake().wholeClusterCosts.size();
  for (size_t i = 0; i < proposed && *count < requested; ++i) {
    MatmulHeuristicResult &result = results[(*count)++];
    result = {};
    result.algorithm.data[0] = i + 1;
    for (int k = 0; k < 4; ++k)
      result.algorithm.data[1 + k] = preference->alignments[k];
    result.workspaceSize = static_cast<size_t>(preference->workspace);
  }
  return BLAS_SUCCESS;
}

BlasStatus cublasLtMatmulAlgoConfigGetAttribute(
    const MatmulAlgorithm *algorithm, MatmulAlgorithmAttribute attribute,
    void *buffer, size_t bytes, size_t *written) {
  FAKE_BLAS_ENTER("cublasLtMatmulAlgoConfigGetAttribute")
  uint16_t shape = 0;
  if (attribute != MATMUL_ALGORITHM_CLUSTER_SHAPE_ID || bytes != sizeof(shape))
    return BLAS_INVALID_VALUE;
  std::lock_guard<std::mutex> lock(fake().mutex);
  auto number = static_cast<size_t>(algorithm->data[0]);
  if (number != 0 && number <= fake().clusterShapes.size())
    shape = fake().clusterShapes[number - 1];
  std::memcpy(buffer, &shape, sizeof(shape));
  *written = sizeof(shape);
  return BLAS_SUCCESS;
}

static Number loadScale(DataType type, const void *from) {
  return load(type, static_cast<const char *>(from), 0);
}

BlasStatus cublasLtMatmul(BlasHandle handle, MatmulDesc desc, const void *alpha,
                          const void *a, MatrixLayout layoutA, const void *b,
                          MatrixLayout layoutB, const void *beta, const void *c,
                          MatrixLayout layoutC, void *d, MatrixLayout layoutD,
                          const MatmulAlgorithm *algorithm, void *workspace,
                          size_t workspaceBytes, Stream stream) {
  FAKE_BLAS_ENTER("cublasLtMatmul")
  for (const void *used :
       {static_cast<const void *>(handle), static_cast<const void *>(desc),
        static_cast<const void *>(layoutA), static_cast<const void *>(layoutB),
        static_cast<const void *>(layoutC), static_cast<const void *>(layoutD)})
    check("cublasLtMatmul", used);
  checkShapes(*desc, *layoutA, *layoutB, *layoutD);
  if (handle->device != fake_cuda_stream_device("cublasLtMatmul", stream))
    fake_cuda_abort("cublasLtMatmul",
                    "handle and stream belong to different devices");
  auto number = static_cast<size_t>(algorithm->data[0]);
  const void *pointers[] = {a, b, c, d};
  for (int i = 0; i < 4; ++i)
    if (reinterpret_cast<uintptr_t>(pointers[i]) % algorithm->data[1 + i])
      fake_cuda_abort("cublasLtMatmul",
                      "an operand is less aligned than the algorithm wants");
  int64_t cost = 0;
  {
    std::lock_guard<std::mutex> lock(fake().mutex);
    std::vector<int64_t> costs = fake().costs;
    costs.insert(costs.end(), fake().wholeClusterCosts.begin(),
                 fake().wholeClusterCosts.end());
    if (number == 0 || number > costs.size())
      fake_cuda_abort("cublasLtMatmul", "the algorithm was not proposed");
    cost = costs[number - 1];
  }
  if (cost < 0)
    return BLAS_NOT_SUPPORTED;
  auto *product = new Product{
      *desc,
      *layoutA,
      *layoutB,
      *layoutC,
      *layoutD,
      loadScale(desc->scale, alpha),
      loadScale(desc->scale, beta),
      static_cast<const char *>(a),
      static_cast<const char *>(b),
      static_cast<const char *>(c),
      static_cast<char *>(d),
  };
  std::vector<fake_cuda_access> accesses = {extent(*layoutA, a, false),
                                            extent(*layoutB, b, false),
                                            extent(*layoutD, d, true),
                                            {workspace, workspaceBytes, 1}};
  if (product->beta != 0.0)
    accesses.push_back(extent(*layoutC, c, false));
  if (desc->epilogue & EPILOGUE_BIAS)
    accesses.push_back(
        {desc->bias,
         static_cast<size_t>(layoutD->rows * sizeOf(desc->biasType)), 0});
  std::string what = "matmul algorithm " + std::to_string(number) +
                     " compute " + std::to_string(desc->compute) +
                     " multiprocessors " +
                     std::to_string(desc->multiprocessors);
  return fake_cuda_enqueue(
             stream, what.c_str(), accesses.data(),
             static_cast<int>(accesses.size()), cost,
             [](void *data) { static_cast<const Product *>(data)->run(); },
             [](void *data) { delete static_cast<Product *>(data); },
             product) == SUCCESS
             ? BLAS_SUCCESS
             : BLAS_EXECUTION_FAILED;
}
} // extern "C"
