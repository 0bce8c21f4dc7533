/*===- Blas.h - Matrix multiplication of compiled programs ----------*- C -*-===
 *
 * Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/

#ifndef BRAID_RT_BLAS_H
#define BRAID_RT_BLAS_H

#include "braid-rt/Types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* C = op(A) op(B) + beta C, row-major: op(A) is m x k, op(B) k x n, C m x n.
 * op(X) is X if the transpose flag is 0, and the transpose of X (not
 * conjugated) if the flag is 1. A leading dimension is the distance between the
 * rows of the stored matrix, in elements, and at least the length of a row. If
 * beta is 0, the function does not read C.
 * dtype is f32, f64, complex f32 or complex f64. Another dtype, and sizes that
 * do not fit the library's 32-bit integers, are errors. The library uses one
 * thread for each rank, or all cores if there is one rank (braid_rt_config). */
BRAID_RT_API void braid_rt_matmul(int32_t dtype, int32_t transposeA,
                                  int32_t transposeB, int64_t m, int64_t n,
                                  int64_t k, const void *a, int64_t lda,
                                  const void *b, int64_t ldb, double beta,
                                  void *c, int64_t ldc,
                                  const braid_rt_site *site);

/* `batch` such matmuls; stride* is the distance between the matrices of one
 * operand in elements, 0 for one matrix that all share (A and B only). */
BRAID_RT_API void braid_rt_batch_matmul(
    int32_t dtype, int32_t transposeA, int32_t transposeB, int64_t batch,
    int64_t m, int64_t n, int64_t k, const void *a, int64_t lda,
    int64_t strideA, const void *b, int64_t ldb, int64_t strideB, double beta,
    void *c, int64_t ldc, int64_t strideC, const braid_rt_site *site);

/* The function that a matmul applies to each element of its result, in the
 * type of the accumulation, before rounding. The numbers are part of the ABI.
 */
typedef enum braid_rt_epilogue {
  BRAID_RT_EPILOGUE_NONE = 0,
  BRAID_RT_EPILOGUE_RELU = 1,
  BRAID_RT_EPILOGUE_GELU = 2 /* with tanh */
} braid_rt_epilogue;

/* How a device may multiply elements of f32. The numbers are part of the ABI.
 */
typedef enum braid_rt_precision {
  BRAID_RT_PRECISION_F32 = 0,
  BRAID_RT_PRECISION_TF32 = 1 /* operands rounded to 11 significant bits */
} braid_rt_precision;

/* The options of a matmul on a device. LLVM: { i32, i32, i32, i32, ptr }. */
typedef struct braid_rt_matmul_options {
  int32_t resultDtype;     /* of C and the bias */
  int32_t epilogue;        /* braid_rt_epilogue */
  int32_t multiprocessors; /* how many the matmul may count on; 0: all */
  int32_t precision;       /* braid_rt_precision, of matmuls of f32 */
  const void *bias; /* n elements, added to each row before the epilogue; NULL:
                       none */
} braid_rt_matmul_options;

/* `batch` matmuls with options. dtype is the element type of A and B: f16,
 * bf16, f32, f64, f8E4M3FN, complex f32 or complex f64, if the library of the
 * device supports it. Sums of 16-bit and 8-bit floats are f32. The library of
 * the host supports only the default options (a result of type dtype), and
 * multiplies in the precision of dtype. */
BRAID_RT_API void braid_rt_fused_matmul(
    int32_t dtype, int32_t transposeA, int32_t transposeB, int64_t batch,
    int64_t m, int64_t n, int64_t k, const void *a, int64_t lda,
    int64_t strideA, const void *b, int64_t ldb, int64_t strideB, double beta,
    void *c, int64_t ldc, int64_t strideC,
    const braid_rt_matmul_options *options, const braid_rt_site *site);

#ifdef __cplusplus
}
#endif

#endif /* BRAID_RT_BLAS_H */
