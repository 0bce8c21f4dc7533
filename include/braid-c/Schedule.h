/*===- Schedule.h - Scheduling for programs in any language ----------*- C
 * -*-===
 *
 * Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * What braid/Schedule/Schedule.h offers, and the machines and models of
 * collectives beside it, as a C interface: a graph and a machine in; an order,
 * a lower bound, a timeline and the reasons of exposed communication out.
 *
 * All times are whole nanoseconds, all sizes bytes. Nodes are numbers in
 * program order, from 0; every edge leads from a lower to a higher number.
 * Wrong arguments give an error that says what was found and what was expected;
 * no function ends the process for them. A function that fails returns null, or
 * a code other than BRAID_OK, and fills `error` unless it is null.
 *
 * Different threads may use different objects. Several may read the same
 * problem or machine; a monitor is made to be shared.
 *
 * The interface is stable: a change that breaks callers raises
 * BRAID_SCHEDULE_API_VERSION and the number in the name of the library.
 * Additions go to the end of a structure. The first field of every structure,
 * struct_size, is the size that the caller knows: sizeof the structure. Fields
 * that the caller does not know are 0. In an array the struct_size of the first
 * element holds for all, and is the distance from one element to the next. A
 * structure whose struct_size is 0 is a wrong argument; as an error it stays as
 * it is.
 *
 *===----------------------------------------------------------------------===*/

#ifndef BRAID_C_SCHEDULE_H
#define BRAID_C_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define BRAID_C_EXPORT __attribute__((visibility("default")))
#else
#define BRAID_C_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define BRAID_SCHEDULE_API_VERSION 2

/* The version of the library that is loaded: the interface, and Braid
 * ("0.1.0"). */
BRAID_C_EXPORT int32_t braid_schedule_api_version(void);
BRAID_C_EXPORT const char *braid_schedule_version(void);

/*===- Errors
 * ---------------------------------------------------------------===*/

typedef enum braid_code {
  BRAID_OK = 0,
  BRAID_INVALID_ARGUMENT = 1,
  /* The edges form a cycle or lead back. */
  BRAID_CYCLE = 2,
  /* No machine, algorithm, model or collective of this name. */
  BRAID_UNKNOWN_NAME = 3,
  /* No order was found that keeps max_in_flight. */
  BRAID_NO_ORDER = 4
} braid_code;

typedef struct braid_error {
  size_t struct_size;
  int32_t code; /* braid_code */
  /* The nodes that it is about; -1 for none. */
  int64_t node;
  int64_t other;
  /* A sentence without a full stop; cut if it is longer. */
  char text[1024];
} braid_error;

/*===- Machines
 * -------------------------------------------------------------===*/

typedef struct braid_machine braid_machine;

typedef struct braid_machine_figures {
  size_t struct_size;
  /* Peak operations per second on f64, f32, bf16, f16, f8, i8, integer. */
  double peak_ops_per_second[7];
  /* Bytes per second of the device memory, and its bytes. */
  double memory_bandwidth;
  int64_t memory_bytes;
  int64_t ranks_per_node;
  /* Bytes per second and direction of a rank's links. */
  double intra_node_bandwidth;
  double inter_node_bandwidth;
  /* 0 if compute and collectives share none. */
  int64_t multiprocessors;
  /* Nanoseconds between two kernels. */
  int64_t launch_ns;
  /* 1 if compute and communication share the machine (GPUs); 0 for the textbook
   * machine, where nothing is shared. */
  int32_t is_shared;
} braid_machine_figures;

/* The machines known by name. */
BRAID_C_EXPORT int64_t braid_machine_count(void);
BRAID_C_EXPORT const char *braid_machine_known_name(int64_t index);
BRAID_C_EXPORT const char *braid_machine_known_summary(int64_t index);

/* The machine called `name`. */
BRAID_C_EXPORT braid_machine *braid_machine_create(const char *name,
                                                   braid_error *error);
/* The machine that `json` describes (docs/reference/machine-files.md), called
 * by its `name` or else `default_name`. */
BRAID_C_EXPORT braid_machine *braid_machine_parse(const char *json,
                                                  const char *default_name,
                                                  braid_error *error);
BRAID_C_EXPORT void braid_machine_destroy(braid_machine *machine);
BRAID_C_EXPORT const char *braid_machine_name(const braid_machine *machine);
BRAID_C_EXPORT int32_t braid_machine_get_figures(const braid_machine *machine,
                                                 braid_machine_figures *figures,
                                                 braid_error *error);

/* Gives `machine` the figures of a profile that braid-calibrate has measured
 * (docs/reference/profile-files.md): `json`, or with null the profile that
 * Braid ships for `machine`. */
BRAID_C_EXPORT int32_t braid_machine_calibrate(braid_machine *machine,
                                               const char *json,
                                               braid_error *error);

/* One launch of a collective. */
typedef struct braid_collective {
  size_t struct_size;
  /* As the dialect spells it: "all_reduce". */
  const char *kind;
  int64_t group_size;
  /* Nodes that the members are spread over; at least 1. */
  int64_t num_nodes;
  /* Bytes that one member gives, and that one member gets. */
  int64_t input_bytes;
  int64_t output_bytes;
  /* The most thread blocks that it may take; 0 for no limit. */
  int64_t max_ctas;
  /* How its lane moves data: "default", "symmetric" (kernels on symmetric
   * memory) or "copy" (copy engines); null for "default". */
  const char *transport;
  /* Above 0: the members are the ranks 0, `stride`, 2 `stride`..., which says
   * how many nodes they are spread over; `num_nodes` is not read. 0: they are
   * on neighbouring nodes. */
  int64_t stride;
} braid_collective;

typedef struct braid_collective_time {
  size_t struct_size;
  double ns;
  /* What it takes of the machine (see braid_demand). */
  int64_t memory_bytes;
  int64_t link_bytes;
  int32_t multiprocessors;
  /* 0 if the model knows no such collective and a stand-in gave the figure. */
  int32_t is_exact;
  /* 1 if the profile of the machine has measured it, or sizes around it. */
  int32_t is_measured;
  /* Its thread blocks come in clusters of so many. */
  int32_t cluster_size;
  /* For braid_problem_description.one_way. */
  int32_t is_one_way;
  /* The braid_link that it shares with others. */
  int32_t link;
} braid_collective_time;

/* How long `collective` takes by `model`: "nccl", "inductor", "link";
 * null for the machine's own, or its profile where that has measured the
 * collective. */
BRAID_C_EXPORT int32_t
braid_collective_estimate(const braid_machine *machine, const char *model,
                          const braid_collective *collective,
                          braid_collective_time *time, braid_error *error);

/* A matmul, `rows` x `depth` and `depth` x `columns`. */
typedef struct braid_matmul {
  size_t struct_size;
  int64_t rows;
  int64_t columns;
  int64_t depth;
  /* The place of its elements in braid_machine_figures.peak_ops_per_second. */
  int32_t element;
  /* The operands that are stored transposed: 0 none, 1 the left one, 2 the
   * right one, 3 both. */
  int32_t transposed;
  int64_t batch;
  /* The multiprocessors that its kernel may take; 0 for all. */
  int64_t multiprocessors;
} braid_matmul;

typedef struct braid_matmul_time {
  size_t struct_size;
  double ns;
  /* What it takes of the machine (see braid_demand); no tiles without
   * multiprocessors. */
  int64_t arithmetic_ns;
  int64_t tiles;
  int64_t memory_bytes;
  /* For braid_problem_description.blocks. */
  int32_t blocks;
  int32_t is_measured;
} braid_matmul_time;

/* How long `matmul` takes with nothing beside it. */
BRAID_C_EXPORT int32_t braid_matmul_estimate(const braid_machine *machine,
                                             const braid_matmul *matmul,
                                             braid_matmul_time *time,
                                             braid_error *error);

/*===- Problems
 * -------------------------------------------------------------===*/

typedef enum braid_node_kind {
  BRAID_COMPUTE = 0,
  /* Starts an operation that runs beside the compute stream, on a lane. */
  BRAID_START = 1,
  /* Holds the compute stream until an operation has ended. */
  BRAID_WAIT = 2,
  /* Effects that nobody knows: never used to fill a gap. */
  BRAID_OPAQUE = 3
} braid_node_kind;

/* What a node takes of the machine while it runs; all 0: nothing. */
typedef struct braid_demand {
  size_t struct_size;
  /* Of compute: the nanoseconds of its arithmetic on all multiprocessors, at
   * most its cost, and its thread blocks (0: it spreads evenly). */
  int64_t arithmetic_ns;
  int64_t tiles;
  /* Bytes of device memory that it reads and writes. */
  int64_t memory_bytes;
  /* Of a start: bytes that it sends over its link, and the multiprocessors that
   * it holds. */
  int64_t link_bytes;
  int64_t multiprocessors;
} braid_demand;

/* The link that the operations of a lane send over. */
typedef enum braid_link {
  BRAID_LINK_OWN = -1,
  BRAID_LINK_INTRA_NODE = 0,
  BRAID_LINK_INTER_NODE = 1,
  /* From the leaf switches to the spine of an oversubscribed network. */
  BRAID_LINK_SPINE = 2
} braid_link;

/* Arrays are read while braid_problem_create runs, and never kept. */
typedef struct braid_problem_description {
  size_t struct_size;
  int64_t num_nodes;
  /* By node: braid_node_kind; of starts the lane, from 0 without gaps (what
   * other nodes have is not read); nanoseconds, at least 0, 0 for waits; bytes,
   * at least 0, or null for none. */
  const int8_t *kinds;
  const int32_t *lanes;
  const int64_t *costs;
  const int64_t *bytes;
  /* By node: what it takes of the machine; null for nothing. */
  const braid_demand *demands;
  /* Pairs (from, to) of nodes: `to` has to stay after `from`. */
  int64_t num_edges;
  const int64_t *edges;
  /* Pairs (node, start): the node, a wait or compute, holds the stream until
   * the operation of the start has ended. Each is an edge as well. */
  int64_t num_awaits;
  const int64_t *awaits;
  /* Memory that lives from the first to the last of its users in an order.
   * Users of buffer i: buffer_users[buffer_begin[i] .. buffer_begin[i + 1]).
   * What escapes (1, null for none) outlives the program. */
  int64_t num_buffers;
  const int64_t *buffer_bytes;
  const int64_t *buffer_begin;
  const int64_t *buffer_users;
  const uint8_t *buffer_escapes;
  /* Bytes that live throughout. */
  int64_t live_bytes;
  /* Limits: the most bytes that may live at once, -1 for none; the most
   * operations of a lane in flight, 0 for none; 1 if starts keep their order.
   */
  int64_t max_memory;
  int64_t max_in_flight;
  int32_t keep_order;
  /* The lanes, and the braid_link of each; null for links of their own. */
  int32_t num_lanes;
  const int32_t *lane_links;
  /* Null for the textbook machine. */
  const braid_machine *machine;
  /* Pairs (node, bytes that live during the node alone); ascending nodes. */
  int64_t num_transients;
  const int64_t *transients;
  /* By node, null for 0, on machines whose profile says that multiprocessors
   * are queued for. Of compute: the multiprocessors that the blocks of its
   * kernel hold until it ends; -1: all; 0: it leaves each after a tile. Of a
   * start: its blocks come in clusters of so many. */
  const int32_t *blocks;
  /* By node, null for 0: 1 for a start whose data moves in one direction, as of
   * all collectives but all_reduce. Matmuls slow it down by more. */
  const uint8_t *one_way;
} braid_problem_description;

typedef struct braid_problem braid_problem;

BRAID_C_EXPORT braid_problem *
braid_problem_create(const braid_problem_description *description,
                     braid_error *error);
BRAID_C_EXPORT void braid_problem_destroy(braid_problem *problem);

/* BRAID_OK if `order`, `num_nodes` numbers, is legal and keeps all limits but
 * the one on memory. */
BRAID_C_EXPORT int32_t braid_problem_check_order(const braid_problem *problem,
                                                 const int64_t *order,
                                                 braid_error *error);

/*===- Search
 * ---------------------------------------------------------------===*/

/* How much a search tries: more takes longer and finds more. */
typedef enum braid_effort {
  BRAID_EFFORT_LOW = 0,
  BRAID_EFFORT_DEFAULT = 1,
  BRAID_EFFORT_HIGH = 2
} braid_effort;

typedef struct braid_search_options {
  size_t struct_size;
  int32_t effort;     /* braid_effort */
  int32_t reserved;   /* 0 */
  uint64_t max_steps; /* 0: as the effort says */
  uint64_t seed;
} braid_search_options;

/* Observes a running search, and stops it, from another thread. */
typedef struct braid_monitor braid_monitor;
typedef struct braid_progress {
  size_t struct_size;
  /* Steps taken, of at most so many; the best makespan so far (0 before there
   * is one), and what no order can go below. */
  uint64_t steps;
  uint64_t max_steps;
  int64_t makespan_ns;
  int64_t lower_bound_ns;
} braid_progress;

BRAID_C_EXPORT braid_monitor *braid_monitor_create(void);
BRAID_C_EXPORT void braid_monitor_destroy(braid_monitor *monitor);
/* The search ends soon with the best order so far. */
BRAID_C_EXPORT void braid_monitor_stop(braid_monitor *monitor);
BRAID_C_EXPORT int32_t braid_monitor_get_progress(const braid_monitor *monitor,
                                                  braid_progress *progress,
                                                  braid_error *error);

typedef struct braid_search_summary {
  size_t struct_size;
  int64_t makespan_ns;
  int64_t lower_bound_ns;
  int64_t peak_bytes;
  /* Bytes above max_memory of the order, which nobody should use then; 0 if it
   * keeps the limit. No order has a lower peak than `least_peak_bytes`; no
   * order keeps the limit if `excess_proven`. */
  int64_t excess_bytes;
  int64_t least_peak_bytes;
  uint64_t steps;
  uint64_t orders_tried;
  int32_t optimal;
  int32_t excess_proven;
  int32_t stopped;
  /* Which part of the search gave the order. */
  char method[64];
} braid_search_summary;

/* The best order that is found, into `order`, `num_nodes` numbers. `options`
 * and `monitor` may be null. The result depends on the problem and the options
 * alone, unless the search was stopped. */
BRAID_C_EXPORT int32_t braid_search(const braid_problem *problem,
                                    const braid_search_options *options,
                                    braid_monitor *monitor, int64_t *order,
                                    braid_search_summary *summary,
                                    braid_error *error);

/* The algorithms known by name: "list", "latency-hiding"... */
BRAID_C_EXPORT int64_t braid_algorithm_count(void);
BRAID_C_EXPORT const char *braid_algorithm_name(int64_t index);
/* The order that one gives: legal, though not always within the limits. */
BRAID_C_EXPORT int32_t braid_algorithm_run(const braid_problem *problem,
                                           const char *name, int64_t *order,
                                           braid_error *error);

/*===- Orders
 * ---------------------------------------------------------------===*/

/* What happens to one node. */
typedef struct braid_times {
  size_t struct_size;
  /* When the stream comes to it; when it runs, on the stream or on its lane. */
  int64_t issued_ns;
  int64_t start_ns;
  int64_t end_ns;
  /* How much longer it ran than its cost, because others ran beside it. */
  int64_t lost_ns;
  /* Of a start: how long the stream stood still for its operation. */
  int64_t exposed_ns;
} braid_times;

typedef struct braid_simulation_summary {
  size_t struct_size;
  int64_t makespan_ns;
  int64_t compute_ns;
  int64_t communication_ns;
  int64_t launch_ns;
  int64_t compute_lost_ns;
  int64_t communication_lost_ns;
  int64_t exposed_ns;
  int64_t communication_union_ns;
  int64_t hidden_ns;
  int64_t peak_bytes;
  /* The place in the order at which it lives first; -1 for none. */
  int64_t peak_place;
} braid_simulation_summary;

/* Simulates `order`. `times`, by place in the order, may be null. */
BRAID_C_EXPORT int32_t braid_simulate(const braid_problem *problem,
                                      const int64_t *order, braid_times *times,
                                      braid_simulation_summary *summary,
                                      braid_error *error);

/* The bytes that live while each node runs, by place in the order. */
BRAID_C_EXPORT int32_t braid_get_memory(const braid_problem *problem,
                                        const int64_t *order, int64_t *bytes,
                                        braid_error *error);

/* What no order can go below, and why: "critical path". `reason` may be null.
 * -1 without a problem. */
BRAID_C_EXPORT int64_t braid_get_lower_bound(const braid_problem *problem,
                                             const char **reason);

/* Why an operation is exposed. */
typedef struct braid_reason {
  size_t struct_size;
  int64_t start;
  int64_t exposed_ns;
  /* The node that it is about; -1 for none. */
  int64_t node;
  int64_t gain_ns;
  int64_t excess_bytes;
  /* "not-moved", "memory-limit", ... Lives as long as the library. */
  const char *kind;
} braid_reason;

/* Fills at most `capacity` reasons, in the sequence of the order, and returns
 * how many there are; -1 and `error` for a wrong argument. `reasons` may be
 * null if `capacity` is 0. */
BRAID_C_EXPORT int64_t braid_get_reasons(const braid_problem *problem,
                                         const int64_t *order,
                                         braid_reason *reasons,
                                         int64_t capacity, braid_error *error);

/* The reason as a sentence without a full stop, where `name` is what the node
 * that it is about is called (null for none): "its lane was busy with f".
 * Writes at most `capacity` characters, the 0 at the end included, and returns
 * how many there would be without it; -1 if `reason` is null or has no
 * struct_size. */
BRAID_C_EXPORT int64_t braid_reason_describe(const braid_reason *reason,
                                             const char *name, char *text,
                                             int64_t capacity);

#ifdef __cplusplus
}
#endif

#endif /* BRAID_C_SCHEDULE_H */
