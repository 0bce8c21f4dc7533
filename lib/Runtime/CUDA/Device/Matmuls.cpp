//===- Matmuls.cpp - Matmuls with cuBLASLt --------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Device/Matmuls.h"
#include "Base/Error.h"
#include "CUDA/Device/MatmulTypes.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>

using namespace braid::rt;
using namespace braid::rt::cuda;

/// The number of proposals of the library for one number of multiprocessors.
static constexpr int mostCandidates = 8;

/// The most multiprocessors below `target` that clusters of 8 thread blocks
/// fill; 0 if they fill `target` itself. For 124 multiprocessors cuBLASLt
/// proposes kernels in clusters of two and leaves out some in clusters of 4 and
/// 8, which 120 multiprocessors compute faster (docs/design/simulator.md).
static int32_t getWholeClusters(int32_t target) {
  constexpr int32_t cluster = 8;
  return target % cluster == 0 ? 0 : target / cluster * cluster;
}

Matmuls::~Matmuls() {
  for (auto &plan : plans)
    release(plan.second);
  if (handle)
    blas.destroy(handle);
  if (workspace)
    gpu.driver.memFree(workspace);
}

void Matmuls::prepare() {
  if (isPrepared())
    return;
  if (!workspace)
    workspace =
        memory.allocatePrivate(workspaceBytes, "the workspace of matmuls");
  trials.open();
  blas.call(blas.create, &handle);
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

size_t Matmuls::KeyHash::operator()(const Key &key) const {
  return std::hash<std::string_view>()(
      {reinterpret_cast<const char *>(key.data()), sizeof(Key)});
}

/// The largest power of two up to 256 that divides an address.
static int64_t alignmentOf(const void *pointer) {
  auto address = reinterpret_cast<uintptr_t>(pointer) | 256;
  return static_cast<int64_t>(address & -address);
}

MatrixLayout Matmuls::layout(DataType type, int64_t rows, int64_t columns,
                             int64_t leading, int64_t batch,
                             int64_t stride) const {
  MatrixLayout result = nullptr;
  blas.call(blas.matrixLayoutCreate, &result, type, static_cast<uint64_t>(rows),
            static_cast<uint64_t>(columns), leading);
  if (batch == 1)
    return result;
  auto count = static_cast<int32_t>(batch);
  blas.call(blas.matrixLayoutSetAttribute, result, MATRIX_LAYOUT_BATCH_COUNT,
            &count, sizeof(count));
  blas.call(blas.matrixLayoutSetAttribute, result,
            MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof(stride));
  return result;
}

static Epilogue epilogueOf(const braid_rt_matmul_options &options) {
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

/// Stores a scalar in the format of the library.
static void storeScale(double (&scale)[2], DataType type, double value) {
  auto narrow = static_cast<float>(value);
  if (type == R_32F || type == C_32F)
    std::memcpy(scale, &narrow, sizeof(narrow));
  else
    scale[0] = value;
}

void Matmuls::describe(Plan &plan, const Matmul &p) const {
  const Arithmetic &arithmetic = checkTypes(p);
  if (p.batch > std::numeric_limits<int32_t>::max())
    throw Error("matmul: the batch is " + std::to_string(p.batch) +
                ", expected at most 2147483647");
  ComputeType compute = arithmetic.compute;
  if (isTF32(p, gpu.options.tf32))
    compute = COMPUTE_32F_FAST_TF32;
  blas.call(blas.matmulDescCreate, &plan.desc, compute, arithmetic.scale);
  if (p.transposeB)
    set(plan.desc, MATMUL_DESC_TRANSA, OPERATION_T);
  if (p.transposeA)
    set(plan.desc, MATMUL_DESC_TRANSB, OPERATION_T);
  set(plan.desc, MATMUL_DESC_EPILOGUE, epilogueOf(p.options));
  DataType result = findArithmetic(p.options.resultDtype)->type;
  if (p.options.bias)
    set(plan.desc, MATMUL_DESC_BIAS_DATA_TYPE, result);
  if (p.options.multiprocessors > 0)
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

void Matmuls::release(Plan &plan) const {
  for (MatrixLayout layout : {plan.a, plan.b, plan.c, plan.d})
    if (layout)
      blas.matrixLayoutDestroy(layout);
  if (plan.desc)
    blas.matmulDescDestroy(plan.desc);
}

std::vector<MatmulHeuristicResult>
Matmuls::propose(const Plan &plan, const Matmul &matmul, const Key &key) const {
  MatmulPreference preference = nullptr;
  blas.call(blas.matmulPreferenceCreate, &preference);
  auto prefer = [&](MatmulPreferenceAttribute attribute, auto value) {
    blas.call(blas.matmulPreferenceSetAttribute, preference, attribute, &value,
              sizeof(value));
  };
  prefer(MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<size_t>(workspaceBytes));
  // The operands of the library are B, A, C, C.
  prefer(MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, static_cast<uint32_t>(key[15]));
  prefer(MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, static_cast<uint32_t>(key[14]));
  prefer(MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, static_cast<uint32_t>(key[16]));
  prefer(MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, static_cast<uint32_t>(key[16]));
  std::vector<MatmulHeuristicResult> results;
  BlasStatus status = addProposals(plan, preference, results);
  int32_t target = matmul.options.multiprocessors;
  int32_t fewer = getWholeClusters(target);
  if (!results.empty() && fewer > 0 && gpu.options.measureAlgorithms) {
    set(plan.desc, MATMUL_DESC_SM_COUNT_TARGET, fewer);
    addProposals(plan, preference, results);
    set(plan.desc, MATMUL_DESC_SM_COUNT_TARGET, target);
  }
  blas.matmulPreferenceDestroy(preference);
  if (!results.empty())
    return results;
  std::string hint;
  if (matmul.dtype == BRAID_RT_F8E4M3FN)
    hint = "; matmuls of f8 want sizes that are multiples of 16 and, below "
           "compute capability 10.0, an untransposed A and a transposed B";
  throw Error("matmul of " + describeMatmul(matmul) +
              ": cuBLASLt has no "
              "algorithm for it on " +
              gpu.name + " (" + blas.getStatusName(status) + ")" + hint);
}

BlasStatus
Matmuls::addProposals(const Plan &plan, MatmulPreference preference,
                      std::vector<MatmulHeuristicResult> &results) const {
  std::vector<MatmulHeuristicResult> found(mostCandidates);
  int count = 0;
  BlasStatus status = blas.matmulAlgoGetHeuristic(
      handle, plan.desc, plan.a, plan.b, plan.c, plan.d, preference,
      mostCandidates, found.data(), &count);
  found.resize(status == BLAS_SUCCESS ? static_cast<size_t>(count) : 0);
  for (const MatmulHeuristicResult &one : found) {
    auto isSame = [&](const MatmulHeuristicResult &other) {
      return std::equal(std::begin(one.algorithm.data),
                        std::end(one.algorithm.data),
                        std::begin(other.algorithm.data));
    };
    if (one.state == BLAS_SUCCESS &&
        std::none_of(results.begin(), results.end(), isSame))
      results.push_back(one);
  }
  return status;
}

Matmuls::Plan Matmuls::choose(const Matmul &p, const Key &key) {
  Plan plan;
  try {
    describe(plan, p);
    if (p.options.bias)
      set(plan.desc, MATMUL_DESC_BIAS_POINTER, p.options.bias);
    plan.bias = p.options.bias;
    std::vector<MatmulHeuristicResult> candidates = propose(plan, p, key);
    size_t choice = 0;
    // A measurement waits for the stream, which a recording cannot.
    if (gpu.options.measureAlgorithms && candidates.size() > 1 &&
        !gpu.capturing) {
      std::string text =
          gpu.model + ", cuBLASLt " + std::to_string(blas.getVersion()) + ',';
      for (int64_t value : key)
        text += ' ' + std::to_string(value);
      choice = static_cast<size_t>(gpu.hooks.chooseAlgorithm(
          text, [&]() { return measure(plan, p, candidates); }));
    }
    plan.algorithm =
        candidates[choice < candidates.size() ? choice : 0].algorithm;
  } catch (const Error &) {
    release(plan);
    throw;
  }
  return plan;
}

/// The same with as many of the planned multiprocessors as the device has, or
/// with all of them if the library refuses the number.
Matmuls::Plan Matmuls::chooseWithin(Matmul p, const Key &key) {
  int32_t planned = p.options.multiprocessors;
  auto replace = [&](const std::string &reason, const std::string &used) {
    gpu.hooks.replaces({"matmul of " + describeMatmul(p),
                        std::to_string(planned) + " multiprocessors", reason,
                        used + " multiprocessors"});
  };
  if (planned > gpu.multiprocessors) {
    p.options.multiprocessors = gpu.multiprocessors;
    replace(gpu.name + " has " + std::to_string(gpu.multiprocessors),
            std::to_string(gpu.multiprocessors));
  }
  try {
    return choose(p, key);
  } catch (const Error &error) {
    if (planned <= 0)
      throw;
    p.options.multiprocessors = 0;
    Plan plan = choose(p, key);
    replace(error.what(), "all");
    return plan;
  }
}

Matmuls::Plan &Matmuls::find(const Matmul &p, const Operands &operands) {
  int64_t beta = 0;
  std::memcpy(&beta, &p.beta, sizeof(beta));
  Key key = {p.dtype,
             (p.transposeA ? 1 : 0) | (p.transposeB ? 2 : 0) |
                 (p.options.bias ? 4 : 0) |
                 (isTF32(p, gpu.options.tf32) ? 8 : 0) |
                 (int64_t(p.options.epilogue) << 4),
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
             alignmentOf(operands.c)};
  auto found = plans.find(key);
  if (found != plans.end())
    return found->second;
  return plans.emplace(key, chooseWithin(p, key)).first->second;
}

//===----------------------------------------------------------------------===//
// Multiplication
//===----------------------------------------------------------------------===//

BlasStatus Matmuls::run(const Plan &plan, const Operands &operands,
                        const MatmulAlgorithm &algorithm, Stream stream) const {
  return blas.matmul(handle, plan.desc, plan.alpha, operands.b, plan.a,
                     operands.a, plan.b, plan.beta, operands.c, plan.c,
                     operands.c, plan.d, &algorithm, operands.workspace,
                     static_cast<size_t>(workspaceBytes), stream);
}

/// The matmul for k = 0: C = beta C.
void Matmuls::multiplyByNothing(const Matmul &p, void *c) const {
  checkTypes(p);
  bool isPlain = epilogueOf(p.options) == EPILOGUE_DEFAULT;
  if (p.beta == 1 && isPlain)
    return;
  // Both relu and gelu of 0 are 0.
  if (p.beta != 0 || p.options.bias)
    throw Error("matmul of " + describeMatmul(p) +
                ": without a middle dimension a matmul has no bias, and beta "
                "is 0, or 1 without an epilogue");
  int64_t size = braid_rt_dtype_size(p.options.resultDtype);
  for (int64_t i = 0; i < p.batch; ++i)
    gpu.driver.call(gpu.driver.memsetD2D8Async,
                    reinterpret_cast<DevicePointer>(c) +
                        static_cast<DevicePointer>(i * p.strideC * size),
                    static_cast<size_t>(p.ldc * size), 0,
                    static_cast<size_t>(p.n * size), static_cast<size_t>(p.m),
                    gpu.stream);
}

void Matmuls::multiply(Matmul matmul, const void *a, const void *b, void *c) {
  prepare();
  gpu.hooks.enqueues();
  if (matmul.options.multiprocessors == 0)
    matmul.options.multiprocessors = gpu.options.matmulMultiprocessors;
  if (matmul.k == 0) {
    multiplyByNothing(matmul, c);
    gpu.checkCapture("matmul");
    return;
  }
  Operands operands = {a, b, c, reinterpret_cast<void *>(workspace)};
  Plan &plan = find(matmul, operands);
  if (plan.bias != matmul.options.bias) {
    set(plan.desc, MATMUL_DESC_BIAS_POINTER, matmul.options.bias);
    plan.bias = matmul.options.bias;
  }
  BlasStatus status = run(plan, operands, plan.algorithm, gpu.stream);
  if (status != BLAS_SUCCESS)
    throw Error("matmul of " + describeMatmul(matmul) + " on " + gpu.name +
                ": cublasLtMatmul failed: " + blas.getStatusName(status) +
                " (" + blas.getStatusString(status) + ")");
  gpu.checkCapture("matmul");
}
