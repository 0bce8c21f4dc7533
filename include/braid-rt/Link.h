/*===- Link.h - Time that a collective needs on a link --------------*- C -*-===
 *
 * Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * The link rehearsal's model, header only, so that a cost model can use the
 * same numbers. Every rank has one full-duplex link of the given bandwidth; a
 * step (a message between neighbours) costs the given latency.
 *
 *===----------------------------------------------------------------------===*/

#ifndef BRAID_RT_LINK_H
#define BRAID_RT_LINK_H

#include "braid-rt/Types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Steps that follow one another: 2(n - 1) for a ring all-reduce
 * (reduce-scatter, then all-gather) and a barrier, 1 for a message, n - 1 else.
 */
static inline double braid_rt_link_steps(int32_t kind, int64_t groupSize) {
  if (groupSize <= 1)
    return 0.0;
  switch (kind) {
  case BRAID_RT_ALL_REDUCE:
  case BRAID_RT_BARRIER:
    return 2.0 * (double)(groupSize - 1);
  case BRAID_RT_SEND:
  case BRAID_RT_RECV:
  case BRAID_RT_PERMUTE:
    return 1.0;
  default:
    return (double)(groupSize - 1);
  }
}

/* Bytes that the busiest rank's link carries in one direction. `bytes` is, for
 *   all_reduce, reduce, broadcast, permute, send, recv: the tensor S;
 *   all_gather, gather: the gathered result; reduce_scatter, scatter: the whole
 *   operand; all_to_all: what one rank holds (with splits the largest operand
 *   or result of any rank);
 * the sum over the operands of a coalesced launch. The ring formulas:
 *   all_reduce 2 (n - 1) / n S; all_gather, reduce_scatter, gather, scatter,
 *   all_to_all (n - 1) / n S; reduce, broadcast, permute, messages S. */
static inline double braid_rt_link_bytes(int32_t kind, int64_t groupSize,
                                         double bytes) {
  double others;
  if (groupSize <= 1)
    return 0.0;
  others = (double)(groupSize - 1) / (double)groupSize;
  switch (kind) {
  case BRAID_RT_ALL_REDUCE:
    return 2.0 * others * bytes;
  case BRAID_RT_ALL_GATHER:
  case BRAID_RT_REDUCE_SCATTER:
  case BRAID_RT_GATHER:
  case BRAID_RT_SCATTER:
  case BRAID_RT_ALL_TO_ALL:
    return others * bytes;
  case BRAID_RT_BARRIER:
    return 0.0;
  default:
    return bytes;
  }
}

/* Nanoseconds from the moment the last rank has started the collective, and the
 * lane is free, to its end: steps times latency (ns) plus bytes over bandwidth
 * (bytes per second; 0 or less means unlimited). */
static inline double braid_rt_link_time_ns(int32_t kind, int64_t groupSize,
                                           double bytes, double latencyNs,
                                           double bandwidth) {
  double time = braid_rt_link_steps(kind, groupSize) * latencyNs;
  if (bandwidth > 0.0)
    time += braid_rt_link_bytes(kind, groupSize, bytes) / bandwidth * 1e9;
  return time;
}

#ifdef __cplusplus
}
#endif

#endif /* BRAID_RT_LINK_H */
