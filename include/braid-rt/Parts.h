/*===- Parts.h - Loops on the threads of a rank ---------------------*- C -*-===
 *
 * Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/

#ifndef BRAID_RT_PARTS_H
#define BRAID_RT_PARTS_H

#include "braid-rt/Types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Computes iterations `begin` to `end - 1` of a loop. It calls no function of
 * the runtime. */
typedef void (*braid_rt_part)(const void *arguments, int64_t begin,
                              int64_t end);

/* Calls `part` for iterations 0 to `size - 1`, `partSize` of them at a time, on
 * the threads of the rank in any order, and returns after all calls. `partSize`
 * is at least 1. */
BRAID_RT_API void braid_rt_run_parts(braid_rt_part part, const void *arguments,
                                     int64_t size, int64_t partSize);

#ifdef __cplusplus
}
#endif

#endif /* BRAID_RT_PARTS_H */
