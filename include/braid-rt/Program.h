/*===- Program.h - The entry table of a compiled program ------------*- C -*-===
 *
 * Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * A compiled program exports one symbol, the constant
 *
 *   const braid_rt_program braid_program;
 *
 * and has no mutable globals: several ranks of one process share it.
 *
 *===----------------------------------------------------------------------===*/

#ifndef BRAID_RT_PROGRAM_H
#define BRAID_RT_PROGRAM_H

#include "braid-rt/Types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BRAID_RT_PROGRAM_SYMBOL "braid_program"

typedef enum braid_rt_direction {
  BRAID_RT_IN = 0,   /* read only */
  BRAID_RT_OUT = 1,  /* a result; its old content is not read */
  BRAID_RT_INOUT = 2 /* comm.donated: read, and may be overwritten */
} braid_rt_direction;

typedef enum braid_rt_passing {
  BRAID_RT_MEMREF = 0, /* a tensor or memref, of rank 0 too */
  BRAID_RT_SCALAR = 1  /* a bare f32, i64, index ...; rank is 0 */
} braid_rt_passing;

/* One argument of an entry: constant data. Results come after the arguments, as
 * further arguments of direction OUT.
 *
 * args[i] of the entry's function points to
 * - BRAID_RT_MEMREF: an MLIR memref descriptor of `rank` (see braid_rt_memref
 *   in Memory.h).
 *   For IN and INOUT, and for OUT with static sizes, the caller fills in the
 *   descriptor: contiguous, row-major, offset 0 memory that the rank's device
 *   can access, such as that of braid_rt_device_alloc. The memory is aligned to
 *   64 bytes, or where the host is the device at least to the element's size.
 *   For OUT with a dynamic size (BRAID_RT_DYNAMIC) the caller passes a
 *   descriptor of zeros, and the entry fills in the descriptor, contiguous and
 *   row-major. The entry allocates `allocated` with
 *   _mlir_memref_to_llvm_(aligned_)alloc on the host, or with
 *   braid_rt_buffer_alloc on a device. The caller owns the memory and frees
 *   `allocated` with braid_rt_free on the host, or with braid_rt_device_free on
 *   a device.
 * - BRAID_RT_SCALAR: one element of the type. IN: read; OUT: written.
 * LLVM: { ptr, i32, i32, ptr, i32, i32 }. */
typedef struct braid_rt_argument {
  const char *name;     /* "arg0", "result0" or what the program calls it */
  int32_t dtype;        /* braid_rt_dtype; index is BRAID_RT_I64 */
  int32_t rank;         /* number of dimensions */
  const int64_t *sizes; /* rank entries, BRAID_RT_DYNAMIC where unknown */
  int32_t direction;    /* braid_rt_direction */
  int32_t passing;      /* braid_rt_passing */
} braid_rt_argument;

/* The uniform function of an entry: loads the arguments through args and calls
 * the compiled function. */
typedef void (*braid_rt_entry_function)(void **args);

/* One entry point: constant data. LLVM: { ptr, ptr, i64, ptr, ptr }. */
typedef struct braid_rt_entry {
  const char *name; /* the function's name, "main" */
  braid_rt_entry_function function;
  int64_t argumentCount;
  const braid_rt_argument *arguments; /* argumentCount entries */
  const braid_rt_site *site;          /* where it is defined; may be NULL */
} braid_rt_entry;

/* Where a program's kernels run. The numbers are part of the ABI. */
typedef enum braid_rt_target {
  BRAID_RT_TARGET_HOST = 0,
  BRAID_RT_TARGET_CUDA = 1
} braid_rt_target;

/* The global variable of an image whose kernels wait for the memory of earlier
 * kernels (griddepcontrol.wait in PTX) before they access memory. Only such
 * kernels may start before the kernel before has ended. */
#define BRAID_RT_KERNELS_WAIT "braid_kernels_wait"

/* Code for a device: constant data. LLVM: { ptr, i64, ptr }. */
typedef struct braid_rt_image {
  const void *data; /* for CUDA: a fat binary, a cubin, or PTX with a closing
                       zero */
  int64_t size;
  const char *chip; /* what it was compiled for, `sm_90` */
} braid_rt_image;

/* A kernel of an image: constant data. LLVM: { ptr, ptr }. */
typedef struct braid_rt_kernel {
  const braid_rt_image *image; /* one of the program's images */
  const char *name;
} braid_rt_kernel;

/* Data that kernels read: constant data, copied to each device once.
 * LLVM: { ptr, i64 }. */
typedef struct braid_rt_constant {
  const void *data;
  int64_t size; /* in bytes */
} braid_rt_constant;

/* The parts of a program for a device besides its host code.
 * LLVM: { i64, ptr, i64, ptr, i64, i64, i64 }. */
typedef struct braid_rt_device_program {
  int64_t imageCount;
  const braid_rt_image *const *images; /* imageCount pointers */
  int64_t constantCount;
  const braid_rt_constant *const *constants; /* constantCount pointers */
  int64_t arenaBytes; /* device memory that an invocation needs besides its
                         arguments: the greatest braid_rt_arena */
  /* Without any of the following sites an invocation depends on its arguments
   * alone: its device work may be replayed without a call of the entry. */
  int64_t hostReadCount; /* sites that read device memory on the host: with any
                            the program cannot run as a graph */
  int64_t bufferAllocCount; /* sites of braid_rt_buffer_alloc: with any the
                               program cannot run as a graph */
} braid_rt_device_program;

/* The program: constant data.
 * LLVM: { i32, i32, ptr, i64, ptr, i64, ptr, ptr, ptr }. */
typedef struct braid_rt_program {
  int32_t abiVersion; /* BRAID_RT_ABI_VERSION */
  int32_t target;     /* braid_rt_target */
  const char *name;   /* the module's name or its file's; may be NULL */
  int64_t groupCount;
  const braid_rt_group *const *groups; /* groupCount pointers; all groups, once
                                          for each lane */
  int64_t entryCount;
  const braid_rt_entry *const *entries; /* entryCount pointers */
  const char *schedule; /* a hash of the program's text after scheduling: equal
                           on ranks that start the same collectives in the same
                           order; NULL if ranks may run different programs */
  const braid_rt_device_program *device; /* NULL for the target host */
} braid_rt_program;

#ifdef __cplusplus
}
#endif

#endif /* BRAID_RT_PROGRAM_H */
