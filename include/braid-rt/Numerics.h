/*===- Numerics.h - Sums in another order than as written -----------*- C -*-===
 *
 * Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * A compiled program exports a second symbol beside its table, the constant
 *
 *   const braid_rt_numerics braid_numerics;
 *
 * A program without it, of an older compiler, does not record its numerics.
 *
 *===----------------------------------------------------------------------===*/

#ifndef BRAID_RT_NUMERICS_H
#define BRAID_RT_NUMERICS_H

#include "braid-rt/Host.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BRAID_RT_NUMERICS_SYMBOL "braid_numerics"

/* The version of braid_rt_numerics. A later one is taken for a program that
 * does not record its numerics. */
#define BRAID_RT_NUMERICS_VERSION 1

/* Who adds the terms of a sum. The numbers are part of the ABI. */
typedef enum braid_rt_sum_kind {
  BRAID_RT_SUM_OF_MEMBERS = 0, /* a collective: the engine, or its library */
  BRAID_RT_SUM_IN_MATMUL = 1   /* a matmul: the device's library */
} braid_rt_sum_kind;

/* A sum of floats with the terms that the program as written adds, perhaps in
 * another order: constant data. LLVM: { ptr, ptr, ptr, i32, i32 }. */
typedef struct braid_rt_reordered_sum {
  const char *operation;     /* `all_reduce sum`, `linalg.matmul` */
  const char *reason;        /* `in 4 chunks; 8 CTAs, transport symmetric` */
  const braid_rt_site *site; /* of the op in the program as written */
  int32_t kind;              /* braid_rt_sum_kind */
  int32_t members; /* of a collective: those of the largest list of its
                      group, 0: all ranks; else 0 */
} braid_rt_reordered_sum;

/* How the results of a program relate to those of the program as written, which
 * is the same program without scheduling, for the same target: constant data.
 * Without reordered sums every bit is the same. LLVM: { i64, i64, ptr }. */
typedef struct braid_rt_numerics {
  int64_t version; /* BRAID_RT_NUMERICS_VERSION */
  int64_t sumCount;
  const braid_rt_reordered_sum *const *sums; /* sumCount pointers */
} braid_rt_numerics;

/* What a loaded program records of its numerics; NULL if it records nothing. */
BRAID_RT_API const braid_rt_numerics *
braid_rt_library_numerics(const braid_rt_library *library);

/* 1 if `sum` may have another order in this world than in the program as
 * written; 0 if the world keeps the order: it has the capability
 * `ordered-reductions`, or the collective has two members or fewer, whose
 * operands may change places. */
BRAID_RT_API int32_t braid_rt_may_reorder(const braid_rt_world *world,
                                          const braid_rt_reordered_sum *sum);

#ifdef __cplusplus
}
#endif

#endif /* BRAID_RT_NUMERICS_H */
