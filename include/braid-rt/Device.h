/*===- Device.h - Kernels and device memory of programs -------------*- C -*-===
 *
 * Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * The functions that compiled code for a device calls. The rank's compute
 * stream runs the work in program order; only braid_rt_read, braid_rt_repeat
 * and braid_rt_choose make the host wait. Errors leave compiled code as
 * described in Collectives.h.
 *
 *===----------------------------------------------------------------------===*/

#ifndef BRAID_RT_DEVICE_H
#define BRAID_RT_DEVICE_H

#include "braid-rt/Program.h"
#include "braid-rt/Types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The memory in which the compiler has placed the buffers of an entry: `bytes`
 * bytes, aligned to 256, the same memory in every invocation. At most the
 * program's arenaBytes. */
BRAID_RT_API void *braid_rt_arena(int64_t bytes, const braid_rt_site *site);

/* Device memory for a buffer outside of the arena: `bytes` bytes, at least 0,
 * aligned to 256. braid_rt_buffer_free frees the buffer in the order of the
 * compute stream: earlier work may still use the buffer. At the end of an
 * invocation the runtime frees all remaining buffers except for results.
 * Freeing NULL does nothing. */
BRAID_RT_API void *braid_rt_buffer_alloc(int64_t bytes,
                                         const braid_rt_site *site);
BRAID_RT_API void braid_rt_buffer_free(void *buffer, const braid_rt_site *site);

/* The copy of a constant of the running program on the rank's device. */
BRAID_RT_API void *braid_rt_device_constant(const braid_rt_constant *constant,
                                            const braid_rt_site *site);

/* Launches a kernel on the rank's compute stream. `grid` and `block` are three
 * sizes each; `arguments` is an array of `argumentCount` pointers to the
 * kernel's arguments. A grid with a size of 0 launches nothing. */
BRAID_RT_API void braid_rt_launch(const braid_rt_kernel *kernel,
                                  const int64_t *grid, const int64_t *block,
                                  int64_t sharedBytes, void **arguments,
                                  int64_t argumentCount,
                                  const braid_rt_site *site);

/* Copies `bytes` contiguous bytes on the device, in the order of the compute
 * stream. The two ranges are equal or do not overlap. */
BRAID_RT_API void braid_rt_copy(void *destination, const void *source,
                                int64_t bytes, const braid_rt_site *site);

/* Reads device memory on the host, after all earlier work of the compute
 * stream. */
BRAID_RT_API void braid_rt_read(void *host, const void *device, int64_t bytes,
                                const braid_rt_site *site);

/* Whether the loop with the number `loop` of the program runs its body: the
 * byte at `condition`, after all earlier work of the compute stream. The body
 * and what computes the condition are the same calls of braid_rt_launch,
 * braid_rt_copy and of libraries in each iteration, and such loops. So a
 * device may repeat these calls by itself: then the function does not wait, and
 * returns 1 and 0 in turn. */
BRAID_RT_API int32_t braid_rt_repeat(const void *condition, int64_t loop,
                                     const braid_rt_site *site);

/* Whether case `number` of a choice runs, which is the one that the number of
 * `bytes` (1, 4 or 8) at `selector` names, or the last one for all numbers
 * without a case. Called for all numbers from 0 to `cases`, the last of which
 * ends the choice, each time behind the work of the case before. Cases are such
 * calls as bodies of loops for braid_rt_repeat. So a device may choose by
 * itself: then the function does not wait, and all cases run. */
BRAID_RT_API int32_t braid_rt_choose(const void *selector, int32_t bytes,
                                     int32_t number, int32_t cases,
                                     const braid_rt_site *site);

/* Writes at most 64 bytes to device memory, in the order of the compute stream.
 * The caller may free `host` after the call. */
BRAID_RT_API void braid_rt_write(void *device, const void *host, int64_t bytes,
                                 const braid_rt_site *site);

#ifdef __cplusplus
}
#endif

#endif /* BRAID_RT_DEVICE_H */
