/*===- Link.h - Time that a collective needs on a link --------------*- C -*-===
 *
 * Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * The model of the rehearsed link. Header only, so that a cost model can use
 * the same formula. Every rank has one full-duplex link of the given bandwidth;
 * a step (a message between neighbours) costs the given latency.
 *
 *===----------------------------------------------------------------------===*/

#ifndef BRAID_RT_LINK_H
#define BRAID_RT_LINK_H

#include "braid-rt/CollectiveTraits.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The number of sequential steps; a step is a message between neighbours. */
static inline double braid_rt_link_steps(int32_t kind, int64_t groupSize) {
  const braid_rt_collective_traits *traits = braid_rt_get_traits(kind);
  double others = (double)(groupSize - 1);
  if (groupSize <= 1 || !traits)
    return 0.0;
  switch (traits->ring) {
  case BRAID_RT_RING_TWO_ROUNDS:
  case BRAID_RT_RING_BARRIER:
    return 2.0 * others;
  case BRAID_RT_RING_ONE_ROUND:
  case BRAID_RT_RING_PIPELINE:
    return others;
  case BRAID_RT_RING_ONE_STEP:
    return 1.0;
  }
  return 0.0;
}

/* Bytes that the busiest rank's link carries in one direction. `bytes` is, by
 * the shape of the collective, for
 *   SAME, SEND, RECEIVE: the tensor; JOIN: the joined result;
 *   SPLIT: the whole operand;
 *   PARTS: the tensor of one rank (with splits the largest operand or result
 *   of any rank);
 * the sum over the operands of a coalesced launch. */
static inline double braid_rt_link_bytes(int32_t kind, int64_t groupSize,
                                         double bytes) {
  const braid_rt_collective_traits *traits = braid_rt_get_traits(kind);
  double share;
  if (groupSize <= 1 || !traits)
    return 0.0;
  share = (double)(groupSize - 1) / (double)groupSize;
  switch (traits->ring) {
  case BRAID_RT_RING_TWO_ROUNDS:
    return 2.0 * share * bytes;
  case BRAID_RT_RING_ONE_ROUND:
    return share * bytes;
  case BRAID_RT_RING_PIPELINE:
  case BRAID_RT_RING_ONE_STEP:
    return bytes;
  case BRAID_RT_RING_BARRIER:
    return 0.0;
  }
  return 0.0;
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
