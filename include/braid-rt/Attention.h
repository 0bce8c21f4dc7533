/*===- Attention.h - Attention of compiled programs -----------------*- C -*-===
 *
 * Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/

#ifndef BRAID_RT_ATTENTION_H
#define BRAID_RT_ATTENTION_H

#include "braid-rt/Types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An operand of attention: four dimensions in the order batch, head, position
 * and element, whichever order they have in memory. The runtime copies sizes
 * and strides. LLVM: { ptr, ptr, ptr, i32, i32 }. */
typedef struct braid_rt_attention_operand {
  void *data;             /* the first element; NULL: no such operand */
  const int64_t *sizes;   /* 4 sizes */
  const int64_t *strides; /* 4 distances, in elements */
  int32_t dtype;          /* braid_rt_dtype */
  int32_t reserved;       /* 0 */
} braid_rt_attention_operand;

/* LLVM: { double, i64, i32, i32 }. */
typedef struct braid_rt_attention_options {
  double scale;     /* of the products of queries and keys */
  int64_t window;   /* keys that a query reads at most; 0: all */
  int32_t causal;   /* 1: query i reads keys 0 to i; 0: all */
  int32_t reserved; /* 0 */
} braid_rt_attention_options;

/* The operands of braid_rt_attention are the first BRAID_RT_ATTENTION_OPERANDS
 * of these, those of braid_rt_attention_backward are all. The numbers are part
 * of the ABI. */
typedef enum braid_rt_attention_role {
  BRAID_RT_ATTENTION_QUERIES = 0,
  BRAID_RT_ATTENTION_KEYS = 1,
  BRAID_RT_ATTENTION_VALUES = 2,
  BRAID_RT_ATTENTION_BIAS = 3, /* may be absent */
  BRAID_RT_ATTENTION_RESULT = 4,
  BRAID_RT_ATTENTION_LOG_SUMS = 5, /* f32, 1 element a position */
  BRAID_RT_ATTENTION_OPERANDS = 6,
  BRAID_RT_ATTENTION_RESULT_GRADIENT = 6,
  BRAID_RT_ATTENTION_QUERY_GRADIENT = 7,
  BRAID_RT_ATTENTION_KEY_GRADIENT = 8,
  BRAID_RT_ATTENTION_VALUE_GRADIENT = 9,
  BRAID_RT_ATTENTION_BIAS_GRADIENT = 10, /* may be absent */
  BRAID_RT_ATTENTION_BACKWARD_OPERANDS = 11
} braid_rt_attention_role;

/* Computes the result and the logarithms of sums of attention, as
 * `library.attention` defines them. Operands that do not fit each other or that
 * the library of the device does not support, a library that is missing, and
 * the host as the device are errors. */
BRAID_RT_API void braid_rt_attention(const braid_rt_attention_options *options,
                                     const braid_rt_attention_operand *operands,
                                     const braid_rt_site *site);

/* Computes the gradients, as `library.attention_backward` defines them, with
 * the same bits in each run. */
BRAID_RT_API void
braid_rt_attention_backward(const braid_rt_attention_options *options,
                            const braid_rt_attention_operand *operands,
                            const braid_rt_site *site);

#ifdef __cplusplus
}
#endif

#endif /* BRAID_RT_ATTENTION_H */
