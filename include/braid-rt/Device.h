/*===- Device.h - Kernels and device memory of programs -------------*- C -*-===
 *
 * Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * The functions that compiled code for a device calls. The rank's compute
 * stream runs the work in program order; only braid_rt_read makes the host
 * wait. Errors leave compiled code as described in Collectives.h.
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

/* Writes at most 64 bytes to device memory, in the order of the compute stream.
 * The caller may free `host` after the call. */
BRAID_RT_API void braid_rt_write(void *device, const void *host, int64_t bytes,
                                 const braid_rt_site *site);

#ifdef __cplusplus
}
#endif

#endif /* BRAID_RT_DEVICE_H */
