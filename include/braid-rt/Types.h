/*===- Types.h - Types of the Braid runtime's C ABI -----------------*- C -*-===
 *
 * Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * Enumerations and constant descriptors that compiled programs and the runtime
 * share. Plain C99; every struct has the layout that the C compiler gives it on
 * the target, and the equivalent LLVM struct type is noted with it.
 *
 *===----------------------------------------------------------------------===*/

#ifndef BRAID_RT_TYPES_H
#define BRAID_RT_TYPES_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define BRAID_RT_API
#else
#define BRAID_RT_API __attribute__((visibility("default")))
#endif

/* Tells the compiler that a call leaves by longjmp. */
#if defined(__GNUC__)
#define BRAID_RT_NORETURN __attribute__((noreturn))
#else
#define BRAID_RT_NORETURN
#endif

/* The version of these headers. The runtime refuses a program table with
 * another version. */
#define BRAID_RT_ABI_VERSION 4

/* A size in braid_rt_argument that is not known before the program runs. */
#define BRAID_RT_DYNAMIC ((int64_t)-1)

#ifdef __cplusplus
extern "C" {
#endif

/* Element types. The numbers are part of the ABI. Integers are signless in the
 * IR and signed where it matters (min, max, avg). */
typedef enum braid_rt_dtype {
  BRAID_RT_I1 = 0, /* one byte, 0 or 1 */
  BRAID_RT_I8 = 1,
  BRAID_RT_I16 = 2,
  BRAID_RT_I32 = 3,
  BRAID_RT_I64 = 4, /* also index */
  BRAID_RT_F16 = 5,
  BRAID_RT_BF16 = 6,
  BRAID_RT_F32 = 7,
  BRAID_RT_F64 = 8,
  BRAID_RT_COMPLEX_F32 = 9,  /* two f32: real, imaginary */
  BRAID_RT_COMPLEX_F64 = 10, /* two f64: real, imaginary */
  BRAID_RT_F8E4M3FN = 11,
  BRAID_RT_F8E5M2 = 12,
  BRAID_RT_DTYPE_COUNT = 13
} braid_rt_dtype;

/* Reductions: the rows of Reductions.def. The numbers are part of the ABI.
 *
 * Operands are combined in the order of the group's ranks; f16, bf16 and f8 are
 * combined in f32 and rounded once at the end (to nearest, ties to even); avg
 * is the sum divided by the size of the group (integers truncate towards
 * zero); min and max of a NaN are NaN, and -0 is less than 0; premul_sum
 * multiplies each rank's operand by the scale of that rank first. */
typedef enum braid_rt_reduction {
#define BRAID_RT_REDUCTION(NAME, name, boolean, integer, real, complex)        \
  BRAID_RT_##NAME,
#include "braid-rt/Reductions.def"
  BRAID_RT_REDUCTION_COUNT
} braid_rt_reduction;

/* Kinds of collectives: the rows of Collectives.def. The numbers are part of
 * the ABI. */
typedef enum braid_rt_kind {
#define BRAID_RT_COLLECTIVE(NAME, name, shape, flow, ring, root, dim, inPlace) \
  BRAID_RT_##NAME,
#include "braid-rt/Collectives.def"
  BRAID_RT_KIND_COUNT
} braid_rt_kind;

/* A position in the user's program: constant data, used in messages and traces.
 * Messages read `prog.mlir:12:8 (ar0): ...`.
 * LLVM: { ptr, ptr, i32, i32 }. */
typedef struct braid_rt_site {
  const char *file;  /* NULL when unknown */
  const char *label; /* comm.label, NULL when there is none */
  int32_t line;      /* from 1; 0 when unknown */
  int32_t column;    /* from 1; 0 when unknown */
} braid_rt_site;

/* How the collectives of a lane move their data, on engines with the capability
 * `transports`. The numbers are part of the ABI. */
typedef enum braid_rt_transport {
  BRAID_RT_TRANSPORT_DEFAULT = 0,   /* what the engine chooses */
  BRAID_RT_TRANSPORT_SYMMETRIC = 1, /* kernels on symmetric memory */
  BRAID_RT_TRANSPORT_COPY = 2       /* copy engines */
} braid_rt_transport;

/* A lane: a queue of its own for some of a group's collectives, constant data.
 * Lanes of equal names in one group are one lane.
 * LLVM: { ptr, i32, i32, i64 }. */
typedef struct braid_rt_lane {
  const char *name;  /* `latency` */
  int32_t ctas;      /* thread blocks of one collective at most; 0: the engine's
                        choice */
  int32_t transport; /* braid_rt_transport */
  int64_t staging;   /* bytes for copies of operands that are arguments of the
                        program, whose memory the engine may not know; 0: none */
} braid_rt_lane;

/* A group of ranks: constant data. The content (name and lists) identifies a
 * group, never the address, so every rank may have a copy of its own. A group
 * is a partition into lists, each of which is one communicator. List i is
 * ranks[offsets[i]] ... ranks[offsets[i + 1] - 1]; the position of a rank in
 * its list is its index in the group. Collectives of one group in different
 * lanes are not ordered. LLVM: { ptr, i32, i32, ptr, ptr, ptr }. */
typedef struct braid_rt_group {
  const char *name;          /* the symbol's name, without the @ */
  int32_t allRanks;          /* 1: `comm.group @g all`; the rest is then 0 */
  int32_t listCount;         /* number of lists */
  const int32_t *offsets;    /* listCount + 1 entries, offsets[0] == 0 */
  const int32_t *ranks;      /* offsets[listCount] ranks of the world */
  const braid_rt_lane *lane; /* NULL: the lane of collectives that name none */
} braid_rt_group;

/* A tensor in memory: contiguous, row-major; data points at the first element.
 * The runtime copies views and sizes, so the caller may keep them on its stack.
 * The memory that data points to belongs to the operation until its wait has
 * returned. In a view without elements data may have any value.
 * LLVM: { ptr, ptr, i32, i32 }. */
typedef struct braid_rt_view {
  void *data;
  const int64_t *sizes; /* rank entries; may be NULL when rank is 0 */
  int32_t dtype;        /* braid_rt_dtype */
  int32_t rank;         /* number of dimensions, 0 for a tensor<f32> */
} braid_rt_view;

/* Bytes of one element; 0 if `dtype` is no braid_rt_dtype. */
BRAID_RT_API int64_t braid_rt_dtype_size(int32_t dtype);

/* The name of an element type as MLIR spells it (`f32`, `complex<f64>`,
 * `f8E4M3FN`); NULL if `dtype` is no braid_rt_dtype. */
BRAID_RT_API const char *braid_rt_dtype_name(int32_t dtype);

/* The name of a reduction as the dialect spells it (`premul_sum`), or NULL. */
BRAID_RT_API const char *braid_rt_reduction_name(int32_t reduction);

/* The name of a kind of collective as the dialect spells it (`all_reduce`), or
 * NULL. */
BRAID_RT_API const char *braid_rt_kind_name(int32_t kind);

/* Whether a reduction is defined for an element type: 1 or 0. */
BRAID_RT_API int32_t braid_rt_reduction_allowed(int32_t reduction,
                                                int32_t dtype);

#ifdef __cplusplus
}
#endif

#endif /* BRAID_RT_TYPES_H */
