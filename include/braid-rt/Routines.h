/*===- Routines.h - Routines of libraries of compiled programs ------*- C -*-===
 *
 * Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*/

#ifndef BRAID_RT_ROUTINES_H
#define BRAID_RT_ROUTINES_H

#include "braid-rt/Types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Routines of libraries: the rows of Routines.def. The numbers are part of the
 * ABI. */
typedef enum braid_rt_routine {
#define BRAID_RT_ROUTINE(NAME, name, inputs, outputs, flags, thirds, place)    \
  BRAID_RT_ROUTINE_##NAME,
#include "braid-rt/Routines.def"
  BRAID_RT_ROUTINE_COUNT
} braid_rt_routine;

/* The largest side of matrices whose batch cuSOLVER takes at once by Jacobi's
 * method, which gives all singular vectors. */
#define BRAID_RT_JACOBI_ORDER 32

/* Runs a routine on each matrix, or array, of a batch. `flags` has a letter for
 * each flag of the routine, `dimensions` is the number of dimensions of a
 * transform; other routines ignore it. Operands that do not fit the routine,
 * sizes that do not fit LAPACK's 32-bit integers, and a library that is missing
 * are errors. What a matrix lacks, such as being positive definite, is none:
 * LAPACK's info says so. */
BRAID_RT_API void braid_rt_call_routine(int32_t routine, const char *flags,
                                        int64_t dimensions, int64_t inputCount,
                                        const braid_rt_view *inputs,
                                        int64_t outputCount,
                                        const braid_rt_view *outputs,
                                        const braid_rt_site *site);

#ifdef __cplusplus
}
#endif

#endif /* BRAID_RT_ROUTINES_H */
