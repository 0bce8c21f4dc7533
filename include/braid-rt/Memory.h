/*===- Memory.h - Memory of compiled programs -----------------------*- C -*-===
 *
 * Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * The allocator and the helper functions that MLIR's and LLVM's code generators
 * call by name. Memory belongs to the rank that has allocated it. At the end of
 * braid_rt_invoke the runtime frees all memory that the program has not freed,
 * also after an error.
 *
 *===----------------------------------------------------------------------===*/

#ifndef BRAID_RT_MEMORY_H
#define BRAID_RT_MEMORY_H

#include "braid-rt/Types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The functions that finalize-memref-to-llvm{use-generic-functions} calls. All
 * memory is aligned to at least 64 bytes and never NULL: a failed allocation is
 * an error of the rank, which names the size. Freeing NULL does nothing. Calls
 * outside of braid_rt_invoke work, but the memory is not tracked. */
BRAID_RT_API void *_mlir_memref_to_llvm_alloc(size_t size);
BRAID_RT_API void *_mlir_memref_to_llvm_aligned_alloc(size_t alignment,
                                                      size_t size);
BRAID_RT_API void _mlir_memref_to_llvm_free(void *pointer);

/* The same for launchers: braid_rt_alloc allocates arguments, braid_rt_free
 * frees arguments and the results that the program has allocated (see
 * braid_rt_entry). braid_rt_alloc returns NULL if there is no memory. Any
 * thread may call both functions. */
BRAID_RT_API void *braid_rt_alloc(size_t size);
BRAID_RT_API void braid_rt_free(void *pointer);

/* An MLIR memref descriptor of rank r is this, followed by int64_t sizes[r] and
 * int64_t strides[r] (in elements). The first element is at aligned + offset
 * elements. */
typedef struct braid_rt_memref {
  void *allocated;
  void *aligned;
  int64_t offset;
} braid_rt_memref;

/* An MLIR unranked memref: its rank and a pointer to its descriptor. */
typedef struct braid_rt_unranked_memref {
  int64_t rank;
  void *descriptor;
} braid_rt_unranked_memref;

/* The function that memref.copy of strided memrefs is lowered to: copies all
 * elements of source to destination, which has the same shape. */
BRAID_RT_API void memrefCopy(int64_t elementSize,
                             const braid_rt_unranked_memref *source,
                             const braid_rt_unranked_memref *destination);

#ifdef __cplusplus
}
#endif

#endif /* BRAID_RT_MEMORY_H */
