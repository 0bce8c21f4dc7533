/*===- CollectiveTraits.h - What a collective does ------------------*- C -*-===
 *
 * Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * The rows of Collectives.def. Header only, so that the compiler shares the
 * table without linking the runtime.
 *
 *===----------------------------------------------------------------------===*/

#ifndef BRAID_RT_COLLECTIVETRAITS_H
#define BRAID_RT_COLLECTIVETRAITS_H

#include "braid-rt/Types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The shape of a destination, given that of its source. */
typedef enum braid_rt_shape {
  BRAID_RT_SHAPE_SAME,    /* the source's */
  BRAID_RT_SHAPE_JOIN,    /* the sources of all members along one dimension */
  BRAID_RT_SHAPE_SPLIT,   /* one member's part of the source */
  BRAID_RT_SHAPE_PARTS,   /* a part from each member along dimension 0 */
  BRAID_RT_SHAPE_SEND,    /* there is no destination */
  BRAID_RT_SHAPE_RECEIVE, /* there is no source */
  BRAID_RT_SHAPE_NONE     /* there are no operands */
} braid_rt_shape;

/* How the data move between the members. */
typedef enum braid_rt_flow {
  BRAID_RT_FLOW_REDUCE,    /* sources are combined */
  BRAID_RT_FLOW_GATHER,    /* sources are joined */
  BRAID_RT_FLOW_FROM_ROOT, /* the root's source goes to all */
  BRAID_RT_FLOW_EXCHANGE,  /* every member sends a part to each */
  BRAID_RT_FLOW_PAIRS,     /* sources of pairs send all to their targets */
  BRAID_RT_FLOW_MESSAGE,   /* one member sends to one other */
  BRAID_RT_FLOW_NONE       /* nothing moves */
} braid_rt_flow;

/* The number of sequential steps on a ring of n members, and the part of the
 * operation's bytes S that one link carries. */
typedef enum braid_rt_ring {
  BRAID_RT_RING_TWO_ROUNDS, /* 2 (n - 1) steps, 2 (n - 1) / n S */
  BRAID_RT_RING_ONE_ROUND,  /* n - 1 steps, (n - 1) / n S */
  BRAID_RT_RING_PIPELINE,   /* n - 1 steps, S */
  BRAID_RT_RING_ONE_STEP,   /* 1 step, S */
  BRAID_RT_RING_BARRIER     /* 2 (n - 1) steps, no bytes */
} braid_rt_ring;

/* One row of Collectives.def. */
typedef struct braid_rt_collective_traits {
  const char *name; /* as the dialect spells it: `all_reduce` */
  braid_rt_shape shape;
  braid_rt_flow flow;
  braid_rt_ring ring;
  int32_t hasRoot;
  int32_t hasDim;
  int32_t canRunInPlace;
} braid_rt_collective_traits;

/* The traits of a braid_rt_kind; NULL for any other number. */
static inline const braid_rt_collective_traits *
braid_rt_get_traits(int32_t kind) {
  static const braid_rt_collective_traits table[BRAID_RT_KIND_COUNT] = {
#define BRAID_RT_COLLECTIVE(NAME, name, shape, flow, ring, root, dim, inPlace) \
  {#name,                                                                      \
   BRAID_RT_SHAPE_##shape,                                                     \
   BRAID_RT_FLOW_##flow,                                                       \
   BRAID_RT_RING_##ring,                                                       \
   root,                                                                       \
   dim,                                                                        \
   inPlace},
#include "braid-rt/Collectives.def"
  };
  return kind >= 0 && kind < BRAID_RT_KIND_COUNT ? &table[kind] : NULL;
}

#ifdef __cplusplus
}
#endif

#endif /* BRAID_RT_COLLECTIVETRAITS_H */
