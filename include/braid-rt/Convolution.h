/*===- Convolution.h - Convolutions of compiled programs ------------*- C -*-===
 *
 * Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/

#ifndef BRAID_RT_CONVOLUTION_H
#define BRAID_RT_CONVOLUTION_H

#include "braid-rt/Blas.h"
#include "braid-rt/Types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is computed of x (data), w (filter) and y = conv(x, w). The numbers are
 * part of the ABI. */
typedef enum braid_rt_convolution_kind {
  BRAID_RT_CONVOLUTION_FORWARD = 0,        /* y */
  BRAID_RT_CONVOLUTION_BACKWARD_DATA = 1,  /* the gradient of x, of w and y's */
  BRAID_RT_CONVOLUTION_BACKWARD_FILTER = 2 /* the gradient of w, of x and y's */
} braid_rt_convolution_kind;

/* The operands, each with its data or its gradient. Dimensions of x and y are
 * the batch, the features and the spatial dimensions, those of w the features
 * of y, the features of x in one group, and the spatial dimensions. */
typedef enum braid_rt_convolution_role {
  BRAID_RT_CONVOLUTION_X = 0,
  BRAID_RT_CONVOLUTION_W = 1,
  BRAID_RT_CONVOLUTION_Y = 2,
  BRAID_RT_CONVOLUTION_OPERANDS = 3
} braid_rt_convolution_role;

enum {
  BRAID_RT_CONVOLUTION_MAX_SPATIAL = 3,
  BRAID_RT_CONVOLUTION_MAX_RANK = 5
};

/* An operand. The runtime copies sizes and strides. LLVM: { ptr, ptr, ptr }. */
typedef struct braid_rt_convolution_operand {
  void *data;             /* the first element */
  const int64_t *sizes;   /* 2 and a size for each spatial dimension */
  const int64_t *strides; /* as many distances, in elements */
} braid_rt_convolution_operand;

/* LLVM: { ptr, i64, i32, i32, i32, i32 }. */
typedef struct braid_rt_convolution_options {
  /* For each spatial dimension: stride, dilation of the filter, padding before
   * and behind the data. */
  const int64_t *window;
  int64_t groups;
  int32_t kind;        /* braid_rt_convolution_kind */
  int32_t spatialDims; /* 1 to 3 */
  int32_t dtype;       /* braid_rt_dtype, of all operands */
  int32_t precision;   /* braid_rt_precision, of elements of f32 */
} braid_rt_convolution_options;

/* Computes a convolution or one of its gradients: the filter moves over the
 * data without being reversed. Operands that do not fit each other or that the
 * library of the device does not support, a library that is missing, and the
 * host as the device are errors. */
BRAID_RT_API void
braid_rt_convolution(const braid_rt_convolution_options *options,
                     const braid_rt_convolution_operand *operands,
                     const braid_rt_site *site);

#ifdef __cplusplus
}
#endif

#endif /* BRAID_RT_CONVOLUTION_H */
