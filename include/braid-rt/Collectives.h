/*===- Collectives.h - Collectives of the Braid runtime -------------*- C -*-===
 *
 * Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * The collectives that compiled code calls. Common to all functions:
 *
 * - The rank is the calling thread's (see braid_rt_invoke in Host.h).
 * - A start returns a request at once; the collective advances while the rank
 *   computes. `count` operands are one coalesced launch with ONE request. The
 *   program awaits the request `count` times (once if count is 0, and for a
 *   barrier). The first wait guarantees all results; the last wait ends the
 *   request. Requests are never NULL.
 * - `sources` and `destinations` are arrays of `count` views. From the start to
 *   the wait the program neither writes a source nor accesses a destination. A
 *   destination may be its source (same address) if both have the same shape.
 *   The source may be the slice of the destination (all_gather, gather), or the
 *   destination the slice of the source (scatter, reduce_scatter), that holds
 *   the rank's own part. Any other overlap of a source and its destination is
 *   an error.
 * - If tensors are joined or split (all_gather, gather, reduce_scatter,
 *   scatter), a tensor without dimensions counts as one element along
 *   dimension 0.
 * - `root` and `peer` are indices within the group, not ranks of the world.
 * - `reduction` is a braid_rt_reduction. For premul_sum `scale` points to one
 *   element of the operands' type; otherwise `scale` is NULL.
 * - A rank that is in no list of the group may only call braid_rt_rank and
 *   braid_rt_size.
 * - Collectives of one group are matched by their order on each rank.
 * - Errors do not return: they leave compiled code for the braid_rt_invoke that
 *   entered it, which releases the rank's memory. Every message starts with the
 *   site and the rank.
 *
 *===----------------------------------------------------------------------===*/

#ifndef BRAID_RT_COLLECTIVES_H
#define BRAID_RT_COLLECTIVES_H

#include "braid-rt/Types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* destination = reduction of all sources, on every rank. Source and destination
 * have one shape, the same on every rank. */
BRAID_RT_API void *braid_rt_all_reduce(const braid_rt_group *group,
                                       int64_t count,
                                       const braid_rt_view *sources,
                                       const braid_rt_view *destinations,
                                       int32_t reduction, const void *scale,
                                       const braid_rt_site *site);

/* The same on the root alone; elsewhere the destination gets the rank's own
 * source. */
BRAID_RT_API void *braid_rt_reduce(const braid_rt_group *group, int64_t count,
                                   const braid_rt_view *sources,
                                   const braid_rt_view *destinations,
                                   int32_t reduction, const void *scale,
                                   int64_t root, const braid_rt_site *site);

/* destination = the root's source. The other sources only give the shape. */
BRAID_RT_API void *braid_rt_broadcast(const braid_rt_group *group,
                                      int64_t count,
                                      const braid_rt_view *sources,
                                      const braid_rt_view *destinations,
                                      int64_t root, const braid_rt_site *site);

/* destination = the sources of all ranks one after the other along `dim`, whose
 * size is that of the source times the size of the group. */
BRAID_RT_API void *braid_rt_all_gather(const braid_rt_group *group,
                                       int64_t count,
                                       const braid_rt_view *sources,
                                       const braid_rt_view *destinations,
                                       int64_t dim, const braid_rt_site *site);

/* destination = this rank's part along `dim` of the reduction of all sources;
 * the source's size there is the destination's times the size of the group. */
BRAID_RT_API void *braid_rt_reduce_scatter(
    const braid_rt_group *group, int64_t count, const braid_rt_view *sources,
    const braid_rt_view *destinations, int32_t reduction, const void *scale,
    int64_t dim, const braid_rt_site *site);

/* Part j along dimension 0 of rank i's source becomes part i of rank j's
 * destination. All parts are equal; source and destination have one shape. */
BRAID_RT_API void *braid_rt_all_to_all(const braid_rt_group *group,
                                       int64_t count,
                                       const braid_rt_view *sources,
                                       const braid_rt_view *destinations,
                                       const braid_rt_site *site);

/* The same with parts of given sizes along dimension 0: sourceSplits[j] is the
 * size that this rank sends to member j, destinationSplits[j] the size that it
 * receives from member j. splitCount is the size of the group. If the size that
 * i sends to j differs from the size that j expects from i, all members get an
 * error that names both. The splits hold for every operand. The caller may free
 * the arrays after the call. */
BRAID_RT_API void *braid_rt_all_to_all_splits(
    const braid_rt_group *group, int64_t count, const braid_rt_view *sources,
    const braid_rt_view *destinations, int64_t splitCount,
    const int64_t *sourceSplits, const int64_t *destinationSplits,
    const braid_rt_site *site);

/* The same with one matrix for all ranks: matrix[i * splitCount + j] is the
 * size that member i sends to member j. */
BRAID_RT_API void *braid_rt_all_to_all_matrix(
    const braid_rt_group *group, int64_t count, const braid_rt_view *sources,
    const braid_rt_view *destinations, int64_t splitCount,
    const int64_t *matrix, const braid_rt_site *site);

/* The root's destination = the sources of all ranks along dimension 0;
 * elsewhere the destination, of the same shape, becomes zero. */
BRAID_RT_API void *braid_rt_gather(const braid_rt_group *group, int64_t count,
                                   const braid_rt_view *sources,
                                   const braid_rt_view *destinations,
                                   int64_t root, const braid_rt_site *site);

/* destination = this rank's part along dimension 0 of the root's source. The
 * other sources only give the shape. */
BRAID_RT_API void *braid_rt_scatter(const braid_rt_group *group, int64_t count,
                                    const braid_rt_view *sources,
                                    const braid_rt_view *destinations,
                                    int64_t root, const braid_rt_site *site);

/* Point to point. Sends and receives of a group match by their order for each
 * pair of sender and receiver, in a lane of their own; neither start blocks, so
 * an exchange cannot block itself. A send's wait returns once the receiver has
 * the data. The peer itself is an error. */
BRAID_RT_API void *braid_rt_send(const braid_rt_group *group, int64_t count,
                                 const braid_rt_view *sources, int64_t peer,
                                 const braid_rt_site *site);
BRAID_RT_API void *braid_rt_recv(const braid_rt_group *group, int64_t count,
                                 const braid_rt_view *destinations,
                                 int64_t peer, const braid_rt_site *site);

/* pairs has pairCount pairs (source, target) of indices within the group. No
 * index is the source of two pairs or the target of two pairs. The destination
 * of a target = the source of its pair's source. On a rank that is no target,
 * the destination becomes zero. */
BRAID_RT_API void *braid_rt_permute(const braid_rt_group *group, int64_t count,
                                    const braid_rt_view *sources,
                                    const braid_rt_view *destinations,
                                    int64_t pairCount, const int64_t *pairs,
                                    const braid_rt_site *site);

/* The wait returns when every rank of the group has started the barrier. */
BRAID_RT_API void *braid_rt_barrier(const braid_rt_group *group,
                                    const braid_rt_site *site);

/* Waits for a request. The calling thread may help to move the data. The
 * request must come from a start of this rank and must not have ended. */
BRAID_RT_API void braid_rt_wait(void *request, const braid_rt_site *site);

/* The same for results that the host reads, such as conditions and sizes:
 * returns when the results are in memory. On a device braid_rt_wait returns
 * earlier, because only the compute stream waits. If the host computes, both
 * functions are equal. */
BRAID_RT_API void braid_rt_host_wait(void *request, const braid_rt_site *site);

/* The compute stream of the calling rank's device, for kernels; NULL if the
 * host computes. */
BRAID_RT_API void *braid_rt_stream(void);

/* The calling rank's index within its list of the group; -1 on a rank in no
 * list. */
BRAID_RT_API int64_t braid_rt_rank(const braid_rt_group *group,
                                   const braid_rt_site *site);

/* The number of ranks in the calling rank's list of the group. On a rank in no
 * list: the length of the lists if all have the same length, else 0. */
BRAID_RT_API int64_t braid_rt_size(const braid_rt_group *group,
                                   const braid_rt_site *site);

/* Ends the program on this rank with an error message. Assertions of the
 * program are lowered to this call. */
BRAID_RT_API BRAID_RT_NORETURN void braid_rt_fail(const char *message,
                                                  const braid_rt_site *site);

#ifdef __cplusplus
}
#endif

#endif /* BRAID_RT_COLLECTIVES_H */
