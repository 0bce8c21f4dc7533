//===- Blas.h - The functions of cuBLASLt -----------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The declarations of libcublasLt.so.13 that the engine `cuda` uses. A unit
// test compares them with cublasLt.h, if the header is installed.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_API_BLAS_H
#define BRAID_RUNTIME_CUDA_API_BLAS_H

#include "CUDA/API/Driver.h"

// The tags are those of cublasLt.h.
struct cublasLtContext;

namespace braid::rt::cuda {

using BlasHandle = cublasLtContext *;
/// The library's descriptors, opaque.
using MatmulDesc = struct MatmulDescOpaque *;
using MatrixLayout = struct MatrixLayoutOpaque *;
using MatmulPreference = struct MatmulPreferenceOpaque *;

enum BlasStatus : unsigned {
  BLAS_SUCCESS = 0,
  BLAS_NOT_INITIALIZED = 1,
  BLAS_ALLOC_FAILED = 3,
  BLAS_INVALID_VALUE = 7,
  BLAS_ARCH_MISMATCH = 8,
  BLAS_EXECUTION_FAILED = 13,
  BLAS_INTERNAL_ERROR = 14,
  BLAS_NOT_SUPPORTED = 15
};

enum DataType : unsigned {
  R_32F = 0,
  R_64F = 1,
  R_16F = 2,
  C_32F = 4,
  C_64F = 5,
  R_16BF = 14,
  R_8F_E4M3 = 28,
  R_8F_E5M2 = 29
};

enum ComputeType : unsigned {
  COMPUTE_32F = 68,
  COMPUTE_64F = 70,
  COMPUTE_32F_FAST_TF32 = 77
};

enum BlasOperation : int32_t { OPERATION_N = 0, OPERATION_T = 1 };

enum MatmulDescAttribute : unsigned {
  MATMUL_DESC_TRANSA = 3,
  MATMUL_DESC_TRANSB = 4,
  MATMUL_DESC_EPILOGUE = 7,
  MATMUL_DESC_BIAS_POINTER = 8,
  MATMUL_DESC_SM_COUNT_TARGET = 15,
  MATMUL_DESC_BIAS_DATA_TYPE = 26
};

enum MatrixLayoutAttribute : unsigned {
  MATRIX_LAYOUT_BATCH_COUNT = 5,
  MATRIX_LAYOUT_STRIDED_BATCH_OFFSET = 6
};

enum MatmulPreferenceAttribute : unsigned {
  MATMUL_PREF_MAX_WORKSPACE_BYTES = 1,
  MATMUL_PREF_MIN_ALIGNMENT_A_BYTES = 5,
  MATMUL_PREF_MIN_ALIGNMENT_B_BYTES = 6,
  MATMUL_PREF_MIN_ALIGNMENT_C_BYTES = 7,
  MATMUL_PREF_MIN_ALIGNMENT_D_BYTES = 8
};

enum MatmulAlgorithmAttribute : unsigned {
  MATMUL_ALGORITHM_CLUSTER_SHAPE_ID = 8
};

/// The bits of an epilogue: relu or gelu, after a bias.
enum Epilogue : unsigned {
  EPILOGUE_DEFAULT = 1,
  EPILOGUE_RELU = 2,
  EPILOGUE_BIAS = 4,
  EPILOGUE_GELU = 32
};

struct MatmulAlgorithm {
  uint64_t data[8];
};

struct MatmulHeuristicResult {
  MatmulAlgorithm algorithm;
  size_t workspaceSize;
  BlasStatus state;
  float wavesCount;
  int reserved[4];
};

/// FUNCTION(member, symbol, parameters); all return a BlasStatus.
#define BRAID_CUBLASLT_FUNCTIONS(FUNCTION)                                     \
  FUNCTION(create, cublasLtCreate, (BlasHandle *))                             \
  FUNCTION(destroy, cublasLtDestroy, (BlasHandle))                             \
  FUNCTION(matmulDescCreate, cublasLtMatmulDescCreate,                         \
           (MatmulDesc *, ComputeType, DataType))                              \
  FUNCTION(matmulDescDestroy, cublasLtMatmulDescDestroy, (MatmulDesc))         \
  FUNCTION(matmulDescSetAttribute, cublasLtMatmulDescSetAttribute,             \
           (MatmulDesc, MatmulDescAttribute, const void *, size_t))            \
  FUNCTION(matrixLayoutCreate, cublasLtMatrixLayoutCreate,                     \
           (MatrixLayout *, DataType, uint64_t, uint64_t, int64_t))            \
  FUNCTION(matrixLayoutDestroy, cublasLtMatrixLayoutDestroy, (MatrixLayout))   \
  FUNCTION(matrixLayoutSetAttribute, cublasLtMatrixLayoutSetAttribute,         \
           (MatrixLayout, MatrixLayoutAttribute, const void *, size_t))        \
  FUNCTION(matmulPreferenceCreate, cublasLtMatmulPreferenceCreate,             \
           (MatmulPreference *))                                               \
  FUNCTION(matmulPreferenceDestroy, cublasLtMatmulPreferenceDestroy,           \
           (MatmulPreference))                                                 \
  FUNCTION(                                                                    \
      matmulPreferenceSetAttribute, cublasLtMatmulPreferenceSetAttribute,      \
      (MatmulPreference, MatmulPreferenceAttribute, const void *, size_t))     \
  FUNCTION(matmulAlgoGetHeuristic, cublasLtMatmulAlgoGetHeuristic,             \
           (BlasHandle, MatmulDesc, MatrixLayout, MatrixLayout, MatrixLayout,  \
            MatrixLayout, MatmulPreference, int, MatmulHeuristicResult *,      \
            int *))                                                            \
  FUNCTION(matmul, cublasLtMatmul,                                             \
           (BlasHandle, MatmulDesc, const void *, const void *, MatrixLayout,  \
            const void *, MatrixLayout, const void *, const void *,            \
            MatrixLayout, void *, MatrixLayout, const MatmulAlgorithm *,       \
            void *, size_t, Stream))                                           \
  FUNCTION(matmulAlgoConfigGetAttribute, cublasLtMatmulAlgoConfigGetAttribute, \
           (const MatmulAlgorithm *, MatmulAlgorithmAttribute, void *, size_t, \
            size_t *))

/// The names of the library.
const LibrarySpec &blasSpec();

/// The functions, by their names without `cublasLt`.
class Blas : public CheckedLibrary<Blas> {
public:
  /// Loads the library. Throws an Error that names the missing part.
  Blas();

#define BRAID_CUBLASLT_MEMBER(member, symbol, parameters)                      \
  LibraryFunction<BlasStatus parameters> member = {find(#symbol), #symbol};
  BRAID_CUBLASLT_FUNCTIONS(BRAID_CUBLASLT_MEMBER)
#undef BRAID_CUBLASLT_MEMBER
  const char *(*getStatusName)(BlasStatus) = find("cublasLtGetStatusName");
  const char *(*getStatusString)(BlasStatus) = find("cublasLtGetStatusString");
  size_t (*getVersion)() = find("cublasLtGetVersion");

  /// Throws an Error unless `status` is BLAS_SUCCESS.
  void check(BlasStatus status, const char *function) const {
    if (status != BLAS_SUCCESS)
      fail(status, function);
  }
  [[noreturn]] void fail(BlasStatus status, const char *function) const;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_API_BLAS_H
