/*===- Jax.h - Programs that XLA calls ------------------------------*- C -*-===
 *
 * Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * The library braid_jax: a handler of XLA's foreign function interface that
 * runs an entry of a program on the buffers of a custom call. Each rank of the
 * world is a device of XLA: in a world of threads that with the same number, in
 * a world of processes the one that the process calls from.
 *
 *===----------------------------------------------------------------------===*/

#ifndef BRAID_RT_JAX_H
#define BRAID_RT_JAX_H

#include "braid-rt/Host.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Waits for all work of a stream; 0 if that succeeds (cuStreamSynchronize). */
typedef int32_t (*braid_jax_synchronize)(void *stream);

/* Registers an entry, whose arguments and results are all memrefs of known
 * sizes, with a world that is prepared for its program. Both live until
 * braid_jax_unregister. BRAID_RT_FAILED if the entry has others, or the key is
 * that of another entry.
 * key: by which calls of the handler name the entry. The processes of one world
 * have the same, others have another one: XLA compares programs, and may keep
 * compiled ones on a disk.
 * synchronize: for the streams that XLA passes; NULL if XLA has none.
 * timeoutNs: how long a rank waits for the calls of the other ones. */
BRAID_RT_API int32_t braid_jax_register(int64_t key, braid_rt_world *world,
                                        const braid_rt_entry *entry,
                                        braid_jax_synchronize synchronize,
                                        int64_t timeoutNs, char *error,
                                        size_t errorSize);

/* Forgets an entry when its running calls have ended. Other calls of it fail.
 */
BRAID_RT_API void braid_jax_unregister(int64_t key);

/* Whether a call of the entry has failed; then all others fail, too. */
BRAID_RT_API int32_t braid_jax_has_failed(int64_t key);

/* The handler, an XLA_FFI_Handler. The custom call has the arguments of the
 * entry as operands and its results as results, both in their order, row-major,
 * and the attribute `key`, an integer of 64 bits. */
struct XLA_FFI_Error;
struct XLA_FFI_CallFrame;
BRAID_RT_API struct XLA_FFI_Error *
braid_jax_run(struct XLA_FFI_CallFrame *frame);

#ifdef __cplusplus
}
#endif

#endif /* BRAID_RT_JAX_H */
