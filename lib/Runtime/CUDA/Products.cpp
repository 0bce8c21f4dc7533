//===- Products.cpp - Matrix products with cuBLASLt -----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Products.h"
#include "Core/Error.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>

using namespace braid::rt;
using namespace braid::rt::cuda;

/// How many of the library's proposals are measured, and how often each runs.
static constexpr int mostCandidates = 8;
static constexpr int measuredRuns = 3;

static void *toPointer(DevicePointer address) {
  return reinterpret_cast<void *>(address);
}

Products::~Products() {
  for (auto &plan : plans)
    release(plan.second);
  if (handle)
    blas.destroy(handle);
  for (Event event : {begin, end})
    if (event)
      gpu.driver.eventDestroy(event);
  if (workspace)
    gpu.driver.memFree(workspace);
}

void Products::prepare() {
  if (isPrepared())
    return;
  if (!workspace)
    workspace = memory.allocatePrivate(workspaceBytes,
                                       "the workspace of matrix products");
  for (Event *event : {&begin, &end})
    if (!*event)
      gpu.driver.check(gpu.driver.eventCreate(event, EVENT_TIMING),
                       "cuEventCreate");
  blas.check(blas.create(&handle), "cublasLtCreate");
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

namespace {
/// How the library computes products of an element type.
struct Arithmetic {
  int32_t dtype;
  DataType type;
  ComputeType compute;
  DataType scale;
  std::array<int32_t, 4> results; ///< Types of C, -1 behind the last one.
};
} // namespace

static const Arithmetic arithmetics[] = {
    {BRAID_RT_F16,
     R_16F,
     COMPUTE_32F,
     R_32F,
     {BRAID_RT_F16, BRAID_RT_F32, -1, -1}},
    {BRAID_RT_BF16,
     R_16BF,
     COMPUTE_32F,
     R_32F,
     {BRAID_RT_BF16, BRAID_RT_F32, -1, -1}},
    {BRAID_RT_F32, R_32F, COMPUTE_32F, R_32F, {BRAID_RT_F32, -1, -1, -1}},
    {BRAID_RT_F64, R_64F, COMPUTE_64F, R_64F, {BRAID_RT_F64, -1, -1, -1}},
    {BRAID_RT_COMPLEX_F32,
     C_32F,
     COMPUTE_32F,
     C_32F,
     {BRAID_RT_COMPLEX_F32, -1, -1, -1}},
    {BRAID_RT_COMPLEX_F64,
     C_64F,
     COMPUTE_64F,
     C_64F,
     {BRAID_RT_COMPLEX_F64, -1, -1, -1}},
    {BRAID_RT_F8E4M3FN,
     R_8F_E4M3,
     COMPUTE_32F,
     R_32F,
     {BRAID_RT_F16, BRAID_RT_BF16, BRAID_RT_F32, BRAID_RT_F8E4M3FN}},
};

static const Arithmetic *findArithmetic(int32_t dtype) {
  for (const Arithmetic &arithmetic : arithmetics)
    if (arithmetic.dtype == dtype)
      return &arithmetic;
  return nullptr;
}

static std::string typeName(int32_t dtype) {
  const char *name = braid_rt_dtype_name(dtype);
  return name ? name : std::to_string(dtype);
}

static const Arithmetic &checkTypes(const MatrixProduct &product) {
  const Arithmetic *found = findArithmetic(product.dtype);
  if (!found)
    throw Error("matmul of " + typeName(product.dtype) +
                ", expected f16, bf16, f32, f64, complex<f32>, complex<f64> or "
                "f8E4M3FN");
  std::string names;
  for (int32_t result : found->results) {
    if (result == product.options.resultDtype)
      return *found;
    if (result >= 0)
      names += (names.empty() ? "" : " or ") + typeName(result);
  }
  throw Error("matmul of " + typeName(product.dtype) + " with a result of " +
              typeName(product.options.resultDtype) + ", expected " + names);
}

/// `bf16 matrices of 4096 x 128 and 128 x 64 (transposed B, gelu, bias)`.
static std::string describeProduct(const MatrixProduct &p) {
  std::string details;
  auto add = [&](const std::string &detail) {
    details += (details.empty() ? "" : ", ") + detail;
  };
  if (p.batch != 1)
    add("batch of " + std::to_string(p.batch));
  if (p.transposeA)
    add("transposed A");
  if (p.transposeB)
    add("transposed B");
  if (p.options.resultDtype != p.dtype)
    add("result " + typeName(p.options.resultDtype));
  if (p.beta != 0)
    add("beta " + std::to_string(p.beta));
  if (p.options.epilogue == BRAID_RT_EPILOGUE_RELU)
    add("relu");
  if (p.options.epilogue == BRAID_RT_EPILOGUE_GELU)
    add("gelu");
  if (p.options.bias)
    add("bias");
  return typeName(p.dtype) + " matrices of " + std::to_string(p.m) + " x " +
         std::to_string(p.k) + " and " + std::to_string(p.k) + " x " +
         std::to_string(p.n) + (details.empty() ? "" : " (" + details + ")");
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

size_t Products::KeyHash::operator()(const Key &key) const {
  return std::hash<std::string_view>()(
      {reinterpret_cast<const char *>(key.data()), sizeof(Key)});
}

/// The greatest power of two up to 256 that divides an address.
static int64_t alignmentOf(const void *pointer) {
  auto address = reinterpret_cast<uintptr_t>(pointer) | 256;
  return static_cast<int64_t>(address & -address);
}

template <typename Value>
void Products::set(MatmulDesc desc, MatmulDescAttribute attribute,
                   Value value) const {
  blas.check(
      blas.matmulDescSetAttribute(desc, attribute, &value, sizeof(value)),
      "cublasLtMatmulDescSetAttribute");
}

MatrixLayout Products::layout(DataType type, int64_t rows, int64_t columns,
                              int64_t leading, int64_t batch,
                              int64_t stride) const {
  MatrixLayout result = nullptr;
  blas.check(blas.matrixLayoutCreate(&result, type, static_cast<uint64_t>(rows),
                                     static_cast<uint64_t>(columns), leading),
             "cublasLtMatrixLayoutCreate");
  if (batch == 1)
    return result;
  auto count = static_cast<int32_t>(batch);
  blas.check(blas.matrixLayoutSetAttribute(result, MATRIX_LAYOUT_BATCH_COUNT,
                                           &count, sizeof(count)),
             "cublasLtMatrixLayoutSetAttribute");
  blas.check(blas.matrixLayoutSetAttribute(result,
                                           MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                           &stride, sizeof(stride)),
             "cublasLtMatrixLayoutSetAttribute");
  return result;
}

static Epilogue epilogueOf(const braid_rt_product_options &options) {
  unsigned bits = options.bias ? EPILOGUE_BIAS : 0;
  if (options.epilogue == BRAID_RT_EPILOGUE_RELU)
    bits |= EPILOGUE_RELU;
  else if (options.epilogue == BRAID_RT_EPILOGUE_GELU)
    bits |= EPILOGUE_GELU;
  else if (options.epilogue != BRAID_RT_EPILOGUE_NONE)
    throw Error("matmul with epilogue number " +
                std::to_string(options.epilogue) +
                ", expected 0 (none), 1 (relu) or 2 (gelu)");
  return bits ? static_cast<Epilogue>(bits) : EPILOGUE_DEFAULT;
}

/// Stores a scalar as the library reads it.
static void storeScale(double (&scale)[2], DataType type, double value) {
  auto narrow = static_cast<float>(value);
  if (type == R_32F || type == C_32F)
    std::memcpy(scale, &narrow, sizeof(narrow));
  else
    scale[0] = value;
}

void Products::describe(Plan &plan, const MatrixProduct &p) const {
  const Arithmetic &arithmetic = checkTypes(p);
  if (p.batch > std::numeric_limits<int32_t>::max())
    throw Error("matmul: the batch is " + std::to_string(p.batch) +
                ", expected at most 2147483647");
  ComputeType compute = arithmetic.compute;
  if (gpu.options.tf32 && arithmetic.type == R_32F)
    compute = COMPUTE_32F_FAST_TF32;
  blas.check(blas.matmulDescCreate(&plan.desc, compute, arithmetic.scale),
             "cublasLtMatmulDescCreate");
  if (p.transposeB)
    set(plan.desc, MATMUL_DESC_TRANSA, OPERATION_T);
  if (p.transposeA)
    set(plan.desc, MATMUL_DESC_TRANSB, OPERATION_T);
  set(plan.desc, MATMUL_DESC_EPILOGUE, epilogueOf(p.options));
  DataType result = findArithmetic(p.options.resultDtype)->type;
  if (p.options.bias)
    set(plan.desc, MATMUL_DESC_BIAS_DATA_TYPE, result);
  if (p.options.multiprocessors)
    set(plan.desc, MATMUL_DESC_SM_COUNT_TARGET, p.options.multiprocessors);
  plan.a = layout(arithmetic.type, p.transposeB ? p.k : p.n,
                  p.transposeB ? p.n : p.k, p.ldb, p.batch, p.strideB);
  plan.b = layout(arithmetic.type, p.transposeA ? p.m : p.k,
                  p.transposeA ? p.k : p.m, p.lda, p.batch, p.strideA);
  // The library never reads a C of 8 bits.
  plan.c = layout(result == R_8F_E4M3 ? R_16BF : result, p.n, p.m, p.ldc,
                  p.batch, p.strideC);
  plan.d = layout(result, p.n, p.m, p.ldc, p.batch, p.strideC);
  storeScale(plan.alpha, arithmetic.scale, 1.0);
  storeScale(plan.beta, arithmetic.scale, p.beta);
}

void Products::release(Plan &plan) const {
  for (MatrixLayout layout : {plan.a, plan.b, plan.c, plan.d})
    if (layout)
      blas.matrixLayoutDestroy(layout);
  if (plan.desc)
    blas.matmulDescDestroy(plan.desc);
}

std::vector<MatmulHeuristicResult>
Products::propose(const Plan &plan, const MatrixProduct &product,
                  const Key &key) const {
  MatmulPreference preference = nullptr;
  blas.check(blas.matmulPreferenceCreate(&preference),
             "cublasLtMatmulPreferenceCreate");
  auto prefer = [&](MatmulPreferenceAttribute attribute, auto value) {
    blas.check(blas.matmulPreferenceSetAttribute(preference, attribute, &value,
                                                 sizeof(value)),
               "cublasLtMatmulPreferenceSetAttribute");
  };
  prefer(MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<size_t>(workspaceBytes));
  // The operands of the library are B, A, C, C.
  prefer(MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, static_cast<uint32_t>(key[15]));
  prefer(MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, static_cast<uint32_t>(key[14]));
  prefer(MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, static_cast<uint32_t>(key[16]));
  prefer(MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, static_cast<uint32_t>(key[16]));
  std::vector<MatmulHeuristicResult> results(mostCandidates);
  int count = 0;
  BlasStatus status = blas.matmulAlgoGetHeuristic(
      handle, plan.desc, plan.a, plan.b, plan.c, plan.d, preference,
      mostCandidates, results.data(), &count);
  blas.matmulPreferenceDestroy(preference);
  results.resize(status == BLAS_SUCCESS ? static_cast<size_t>(count) : 0);
  results.erase(std::remove_if(results.begin(), results.end(),
                               [](const MatmulHeuristicResult &result) {
                                 return result.state != BLAS_SUCCESS;
                               }),
                results.end());
  if (!results.empty())
    return results;
  std::string hint;
  if (product.dtype == BRAID_RT_F8E4M3FN)
    hint = "; products of f8 want sizes that are multiples of 16 and, below "
           "compute capability 10.0, an untransposed A and a transposed B";
  throw Error("matmul of " + describeProduct(product) +
              ": cuBLASLt has no "
              "algorithm for it on " +
              gpu.name + " (" + blas.getStatusName(status) + ")" + hint);
}

Products::Plan &Products::find(const MatrixProduct &p,
                               const Operands &operands) {
  int64_t beta = 0;
  std::memcpy(&beta, &p.beta, sizeof(beta));
  Key key = {p.dtype,
             (p.transposeA ? 1 : 0) | (p.transposeB ? 2 : 0) |
                 (p.options.bias ? 4 : 0) | (p.options.epilogue << 3),
             p.batch,
             p.m,
             p.n,
             p.k,
             p.lda,
             p.ldb,
             p.ldc,
             p.strideA,
             p.strideB,
             p.strideC,
             beta,
             (int64_t(p.options.multiprocessors) << 32) | p.options.resultDtype,
             alignmentOf(operands.a),
             alignmentOf(operands.b),
             alignmentOf(operands.c),
             alignmentOf(p.options.bias)};
  auto found = plans.find(key);
  if (found != plans.end())
    return found->second;
  Plan plan;
  try {
    describe(plan, p);
    if (p.options.bias)
      set(plan.desc, MATMUL_DESC_BIAS_POINTER, p.options.bias);
    plan.bias = p.options.bias;
    std::vector<MatmulHeuristicResult> candidates = propose(plan, p, key);
    size_t choice = 0;
    // A measurement waits for the stream, which a recording cannot.
    if (gpu.options.measureProducts && candidates.size() > 1 &&
        !gpu.capturing) {
      std::string text = gpu.model;
      for (int64_t value : key)
        text += ' ' + std::to_string(value);
      choice = static_cast<size_t>(gpu.hooks.chooseAlgorithm(
          text, [&]() { return measure(plan, p, operands, candidates); }));
    }
    plan.algorithm =
        candidates[choice < candidates.size() ? choice : 0].algorithm;
  } catch (const Error &) {
    release(plan);
    throw;
  }
  return plans.emplace(key, plan).first->second;
}

//===----------------------------------------------------------------------===//
// Measurement
//===----------------------------------------------------------------------===//

BlasStatus Products::run(const Plan &plan, const Operands &operands,
                         void *result, const MatmulAlgorithm &algorithm) const {
  return blas.matmul(handle, plan.desc, plan.alpha, operands.b, plan.a,
                     operands.a, plan.b, plan.beta, operands.c, plan.c, result,
                     plan.d, &algorithm, toPointer(workspace),
                     static_cast<size_t>(workspaceBytes), gpu.stream);
}

/// Milliseconds, the greatest number where the algorithm does not run. The
/// first run loads the kernel.
float Products::time(Plan &plan, const Operands &operands, void *result,
                     const MatmulAlgorithm &algorithm) {
  if (run(plan, operands, result, algorithm) != BLAS_SUCCESS)
    return std::numeric_limits<float>::max();
  gpu.driver.check(gpu.driver.eventRecord(begin, gpu.stream), "cuEventRecord");
  for (int i = 0; i < measuredRuns; ++i)
    blas.check(run(plan, operands, result, algorithm), "cublasLtMatmul");
  gpu.driver.check(gpu.driver.eventRecord(end, gpu.stream), "cuEventRecord");
  gpu.waitOnHost(end, "the choice of a matmul's algorithm");
  float milliseconds = 0;
  gpu.driver.check(gpu.driver.eventElapsedTime(&milliseconds, begin, end),
                   "cuEventElapsedTime");
  return milliseconds;
}

int32_t
Products::measure(Plan &plan, const MatrixProduct &p, const Operands &operands,
                  const std::vector<MatmulHeuristicResult> &candidates) {
  // A product that adds to C must do so once only.
  DevicePointer scratch = 0;
  if (p.beta != 0) {
    int64_t elements = (p.batch - 1) * p.strideC + (p.m - 1) * p.ldc + p.n;
    int64_t bytes = elements * braid_rt_dtype_size(p.options.resultDtype);
    if (gpu.driver.memAllocAsync(&scratch, static_cast<size_t>(bytes),
                                 gpu.stream) != SUCCESS)
      return 0;
  }
  void *result = scratch ? toPointer(scratch) : operands.c;
  int32_t best = 0;
  float bestTime = std::numeric_limits<float>::max();
  for (size_t i = 0; i < candidates.size(); ++i) {
    float taken = time(plan, operands, result, candidates[i].algorithm);
    if (taken < bestTime) {
      bestTime = taken;
      best = static_cast<int32_t>(i);
    }
  }
  if (scratch)
    gpu.driver.check(gpu.driver.memFreeAsync(scratch, gpu.stream),
                     "cuMemFreeAsync");
  return best;
}

//===----------------------------------------------------------------------===//
// Multiplication
//===----------------------------------------------------------------------===//

/// The product without a middle dimension: C = beta C.
void Products::multiplyByNothing(const MatrixProduct &p, void *c) const {
  checkTypes(p);
  bool isPlain = epilogueOf(p.options) == EPILOGUE_DEFAULT;
  if (p.beta == 1 && isPlain)
    return;
  // Both relu and gelu of 0 are 0.
  if (p.beta != 0 || p.options.bias)
    throw Error("matmul of " + describeProduct(p) +
                ": without a middle dimension a product has no bias, and beta "
                "is 0, or 1 without an epilogue");
  int64_t size = braid_rt_dtype_size(p.options.resultDtype);
  for (int64_t i = 0; i < p.batch; ++i)
    gpu.driver.check(gpu.driver.memsetD2D8Async(
                         reinterpret_cast<DevicePointer>(c) +
                             static_cast<DevicePointer>(i * p.strideC * size),
                         static_cast<size_t>(p.ldc * size), 0,
                         static_cast<size_t>(p.n * size),
                         static_cast<size_t>(p.m), gpu.stream),
                     "cuMemsetD2D8Async");
}

void Products::multiply(const MatrixProduct &product, const void *a,
                        const void *b, void *c) {
  prepare();
  if (product.k == 0) {
    multiplyByNothing(product, c);
    gpu.checkCapture("matmul");
    return;
  }
  Operands operands = {a, b, c};
  Plan &plan = find(product, operands);
  if (plan.bias != product.options.bias) {
    set(plan.desc, MATMUL_DESC_BIAS_POINTER, product.options.bias);
    plan.bias = product.options.bias;
  }
  BlasStatus status = run(plan, operands, c, plan.algorithm);
  if (status != BLAS_SUCCESS)
    throw Error("matmul of " + describeProduct(product) + " on " + gpu.name +
                ": cublasLtMatmul failed: " + blas.getStatusName(status) +
                " (" + blas.getStatusString(status) + ")");
  gpu.checkCapture("matmul");
}
