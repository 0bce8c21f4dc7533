/*===- Host.h - Running compiled programs on ranks ------------------*- C -*-===
 *
 * Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===
 *
 * The functions that launchers (braid-run, tests, bindings) call to configure a
 * world of ranks, load a program, run an entry on every rank, and read errors,
 * statistics and traces. Times are in nanoseconds, sizes in bytes.
 *
 *===----------------------------------------------------------------------===*/

#ifndef BRAID_RT_HOST_H
#define BRAID_RT_HOST_H

#include "braid-rt/Program.h"
#include "braid-rt/Types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How much the runtime prints on stderr, from the variable BRAID_DEBUG. */
typedef enum braid_rt_debug {
  BRAID_RT_DEBUG_OFF = 0,
  BRAID_RT_DEBUG_INFO = 1,  /* worlds, communicators, failures, leaks */
  BRAID_RT_DEBUG_DETAIL = 2 /* also every start and every end of a wait */
} braid_rt_debug;

typedef enum braid_rt_status {
  BRAID_RT_OK = 0,
  BRAID_RT_FAILED = 1 /* the error's text says why */
} braid_rt_status;

/* Receives one line, without a newline, from any thread. */
typedef void (*braid_rt_log)(void *data, const char *line);

/* A setting of one engine, as text. */
typedef struct braid_rt_option {
  const char *key;
  const char *value;
} braid_rt_option;

/* Engines (docs/design/engines.md) and their options:
 *   inproc: ranks are threads of this process. progress-threads (0: one for
 *     four cores, at least one), link-latency (of a step of the link rehearsal,
 *     in ns), link-bandwidth (in bytes per second; 0: unlimited).
 *   mpi: ranks are processes that mpirun or srun has started. reductions
 *     (ordered, fast), progress (thread, none).
 *   cuda: ranks are threads of this process, or processes that a launcher has
 *     started, each with a GPU. launcher (none: threads under launchers, too;
 *     any other name: processes, of which this one is rank, and rank 0 listens
 *     at address and port for those who have job-key), device (number of the
 *     GPU of this process's rank), lane.NAME (`ctas=8,transport=copy`, instead
 *     of the settings in the program), flight-recorder (prefix of the files
 *     that a failure writes), blocking (1, 0: calls of NCCL wait on the host),
 *     attention-gradients (deterministic, fast), cuda-graph (auto, 0, 1: replay
 *     recorded invocations), matmul-multiprocessors (0: all), matmul-precision
 *     (f32, tf32), matmul-tuning (measure, heuristic: the choice of the
 *     library's algorithms), timing (auto, cupti, events: of traces).
 * The caller may free the strings after braid_rt_world_create. */
typedef struct braid_rt_config {
  const char *engine;  /* NULL: inproc */
  int32_t ranks;       /* inproc: at least 1; else what the launcher has
                          started, or 0 */
  int32_t debug;       /* braid_rt_debug */
  int32_t blasThreads; /* of one rank on a host; 0: what OPENBLAS_NUM_THREADS
                          says, else its cores shared among its ranks */
  int32_t trace;       /* 1: record events for braid_rt_trace */
  int64_t timeoutNs;   /* how long a wait waits for a rank to come */
  int64_t optionCount;
  const braid_rt_option *options; /* optionCount of them */
  braid_rt_log log;               /* NULL: stderr */
  void *logData;                  /* passed to log */
} braid_rt_config;

/* A world: N ranks of one program, and each of its ranks. */
typedef struct braid_rt_world braid_rt_world;
typedef struct braid_rt_context braid_rt_context;

/* Fills in the defaults (inproc, 1 rank, a timeout of 30 s, no options, no
 * trace) and the debug level from BRAID_DEBUG. If the variable is set, is not
 * empty and is not OFF, INFO or DETAIL (in upper or lower case), returns
 * BRAID_RT_FAILED and writes `The value of BRAID_DEBUG must be OFF, INFO, or
 * DETAIL, ...` to error.
 * In all functions `error` receives at most errorSize bytes, including the
 * closing zero, and may be NULL. */
BRAID_RT_API int32_t braid_rt_config_init(braid_rt_config *config, char *error,
                                          size_t errorSize);

/* Parses a debug level in upper or lower case; BRAID_RT_FAILED for any other
 * text. */
BRAID_RT_API int32_t braid_rt_parse_debug(const char *text, int32_t *level);

/* BRAID_RT_OK if the engine is available; otherwise BRAID_RT_FAILED, and the
 * error names the missing part. */
BRAID_RT_API int32_t braid_rt_find_engine(const char *engine, char *error,
                                          size_t errorSize);

/* Creates the world of an engine. NULL on failure. */
BRAID_RT_API braid_rt_world *
braid_rt_world_create(const braid_rt_config *config, char *error,
                      size_t errorSize);

/* For a thread beside braid_rt_world_run. If a rank of the run has failed and
 * others still run, returns the nanoseconds since the first failure and writes
 * the messages, and the ranks that still run, to text. Otherwise returns 0. */
BRAID_RT_API int64_t braid_rt_world_failing(braid_rt_world *world, char *text,
                                            size_t textSize);

/* Writes the last operations of the ranks of this process to the files of the
 * option `flight-recorder`, or to the log if there is no such option. `reason`
 * becomes part of the files. Any thread may call this function, also while
 * ranks run. */
BRAID_RT_API void braid_rt_world_dump(const braid_rt_world *world,
                                      const char *reason);

/* Ends the world. No rank may be running. */
BRAID_RT_API void braid_rt_world_destroy(braid_rt_world *world);

/* The time of the host's monotonic clock when the world was created. Times of
 * events count from this time; processes of one host share the clock. */
BRAID_RT_API int64_t braid_rt_world_created_ns(const braid_rt_world *world);

/* The number of ranks of the world, of all processes together. */
BRAID_RT_API int32_t braid_rt_world_size(const braid_rt_world *world);

/* The ranks that this process runs, in ascending order. Returns their number
 * and points *ranks to them. All ranks for inproc, one for mpi. */
BRAID_RT_API int32_t braid_rt_world_local_ranks(const braid_rt_world *world,
                                                const int32_t **ranks);

/* Whether the engine has a capability: 1 or 0. `link-rehearsal`: operations
 * take as long as on a slower link. `recovery`: the world can be used again
 * after a failure. `host-memory`: buffers of compiled code are in host memory.
 * `processes`: ranks are processes of their own. `transports`: lanes choose how
 * they move data (braid_rt_transport). `graphs`: the option cuda-graph.
 * `activities`: traces contain the work of devices, also in graphs.
 * `ordered-reductions`: the order of the group's ranks is that of every sum. */
BRAID_RT_API int32_t braid_rt_world_has(const braid_rt_world *world,
                                        const char *capability);

/* Checks that all processes have loaded the same program, and creates the
 * communicators of its groups, so that no start has to create one. All
 * processes call this function together before they run an entry of the
 * program. BRAID_RT_FAILED, on every process, if the programs differ. */
BRAID_RT_API int32_t braid_rt_world_prepare(braid_rt_world *world,
                                            const braid_rt_program *program,
                                            char *error, size_t errorSize);

/* Receives the bytes that one process has passed to braid_rt_world_exchange.
 * `process` counts from 0; the bytes are valid during the call only. */
typedef void (*braid_rt_receive)(void *data, int32_t process, const void *bytes,
                                 int64_t size);

/* Sends the bytes of every process to all processes: calls `receive` for each
 * process in order. All processes call this function together, while no rank
 * runs. */
BRAID_RT_API int32_t braid_rt_world_exchange(braid_rt_world *world,
                                             const void *bytes, int64_t size,
                                             braid_rt_receive receive,
                                             void *receiveData, char *error,
                                             size_t errorSize);

/* Rank `rank` of the world, which owns the context. NULL if there is no such
 * rank, or if another process runs the rank. */
BRAID_RT_API braid_rt_context *braid_rt_world_context(braid_rt_world *world,
                                                      int32_t rank);

/* The chip of the rank's device, as compilers name it (`sm_90`); "" if the host
 * is the device. Valid as long as the world. */
BRAID_RT_API const char *braid_rt_device_chip(const braid_rt_context *context);

/* Writes one property of the rank's device and of the libraries that drive it
 * to `text`: `gpu` (the model, `NVIDIA H200`), `multiprocessors`, or the
 * versions `cuda`, `cublaslt` and `nccl`. BRAID_RT_FAILED, and no text, if the
 * engine does not know the property. */
BRAID_RT_API int32_t braid_rt_device_property(const braid_rt_context *context,
                                              const char *property, char *text,
                                              size_t textSize);

/* A resource that the program plans and a library of the device refuses at run
 * time, and what the rank uses instead. */
typedef struct braid_rt_replacement {
  const char *resource; /* `lane tp copies` */
  const char *planned;  /* `transport copy, 8 CTAs` */
  const char *reason;   /* what the library says */
  const char *used;     /* `8 CTAs` */
} braid_rt_replacement;

/* Writes replacement number `index`, from 0, of the rank since the creation of
 * the world. BRAID_RT_FAILED if the rank has replaced fewer resources. The
 * strings are valid until the next invocation or braid_rt_world_prepare. */
BRAID_RT_API int32_t
braid_rt_find_replacement(const braid_rt_context *context, int64_t index,
                          braid_rt_replacement *replacement);

/* Memory of the rank's device for arguments, aligned to at least 256 bytes;
 * host memory if the host is the device. All ranks allocate the same sizes in
 * the same order, so that an engine may place the buffers symmetrically. If
 * there is not enough memory, returns NULL and writes the needed and the
 * available bytes to `error`. The rank must not be running. */
BRAID_RT_API void *braid_rt_device_alloc(braid_rt_context *context,
                                         int64_t bytes, char *error,
                                         size_t errorSize);

/* Frees memory of braid_rt_device_alloc. Freeing NULL does nothing. */
BRAID_RT_API void braid_rt_device_free(braid_rt_context *context,
                                       void *pointer);

/* Copies between the host's memory and the rank's device, and returns after the
 * copy. The rank must not be running. */
BRAID_RT_API int32_t braid_rt_copy_to_device(braid_rt_context *context,
                                             void *device, const void *host,
                                             int64_t bytes, char *error,
                                             size_t errorSize);
BRAID_RT_API int32_t braid_rt_copy_from_device(braid_rt_context *context,
                                               void *host, const void *device,
                                               int64_t bytes, char *error,
                                               size_t errorSize);

/* Runs an entry on every rank of this process at once, each on a thread of its
 * own that the world keeps, and returns when all ranks have ended. args[i] is
 * the array of arguments of the i-th local rank (see braid_rt_argument).
 * BRAID_RT_FAILED if a rank has failed; braid_rt_error gives the reason of each
 * rank. An engine with `recovery` can use the world again in either case. The
 * caller frees arguments of direction OUT with dynamic sizes on the ranks that
 * have succeeded; these arguments are zero on ranks that have failed. */
BRAID_RT_API int32_t braid_rt_world_run(braid_rt_world *world,
                                        const braid_rt_entry *entry,
                                        void ***args);

/* The same, but one rank on the host that is all of its world runs on the
 * calling thread: no thread has to wake up, which takes longer than many small
 * programs. */
BRAID_RT_API int32_t braid_rt_world_run_here(braid_rt_world *world,
                                             const braid_rt_entry *entry,
                                             void ***args);

/* In a world of ranks with a GPU each, has the next run follow the work of
 * streams[i], a stream of the GPU of the i-th local rank, and later work of
 * these streams follow the run, which returns when its work is submitted. An
 * error of a GPU in this work is one of the next run, and of the stream. If the
 * world fails, this work may end first; if it does not end within 20 s or the
 * timeout, because another process has died, the process ends: nothing else
 * keeps the streams from wrong results. Nothing else watches this work.
 * braid_rt_get_statistics waits for its end. BRAID_RT_FAILED in other worlds
 * and with traces: the next run is as others.
 */
BRAID_RT_API int32_t braid_rt_world_follow(braid_rt_world *world,
                                           void *const *streams);

/* The work that invocations skip, so that a launcher can measure the rest
 * alone. The results of such an invocation are wrong. */
typedef enum braid_rt_skip {
  BRAID_RT_SKIP_NOTHING = 0,
  BRAID_RT_SKIP_COMMUNICATION = 1, /* starts give requests that have ended; on
                                      a device, results repeat operands */
  BRAID_RT_SKIP_COMPUTE = 2        /* kernels, matmuls, copies and writes on
                                      the device; not without a device of its own */
} braid_rt_skip;

/* Sets the work that the next invocations of this process's ranks skip. All
 * processes set the same, while no rank runs. BRAID_RT_FAILED if kernels are
 * functions of the program, which the runtime cannot skip. */
BRAID_RT_API int32_t braid_rt_world_skip(braid_rt_world *world, int32_t skip,
                                         char *error, size_t errorSize);

/* Nanoseconds from the common start of the last braid_rt_world_run to the end
 * of its last rank. */
BRAID_RT_API int64_t braid_rt_world_elapsed_ns(const braid_rt_world *world);

/* Runs an entry on one rank, on the calling thread; for launchers that own the
 * threads. Invocations of different ranks match by their number: the k-th
 * invocation of one rank communicates with the k-th invocations of the others.
 * An error of the program returns BRAID_RT_FAILED here and requires
 * braid_rt_world_reset. The function also returns BRAID_RT_FAILED if this
 * thread already runs a rank or another thread runs this rank; then nothing has
 * run, and no reset is needed. */
BRAID_RT_API int32_t braid_rt_invoke(braid_rt_context *context,
                                     const braid_rt_entry *entry, void **args);

/* The rank that the calling thread runs; -1 if the thread runs none. Signal
 * handlers may call this function. */
BRAID_RT_API int32_t braid_rt_current_rank(void);

/* 1 if the calling thread runs a rank of braid_rt_world_run and `address`, at
 * which it has faulted, is at the end of its stack: the program has used up the
 * stack. Signal handlers may call this function. Such threads have an alternate
 * signal stack, so a handler of SIGSEGV needs SA_ONSTACK. */
BRAID_RT_API int32_t braid_rt_overflows_stack(const void *address);

/* Returns 1 if the rank waits for an operation now, and writes the operation to
 * text, such as `all_reduce sum tensor<4xf32> at prog.mlir:3:8`; else 0. Writes
 * at most `size` bytes, including the closing zero; text may be NULL. Signal
 * handlers may call this function, on any thread. */
BRAID_RT_API int32_t braid_rt_waiting(braid_rt_context *context, char *text,
                                      size_t size);

/* Resets failures and invocation counts, so that the world can be used again.
 * No rank may be running. */
BRAID_RT_API void braid_rt_world_reset(braid_rt_world *world);

/* The reason why the rank's last invocation failed; "" if it succeeded. Valid
 * until the next invocation. If braid_rt_invoke refused the last invocation of
 * the calling thread because a rank was running: the reason of the refusal. */
BRAID_RT_API const char *braid_rt_error(const braid_rt_context *context);

/* 1 if the rank's last invocation failed only because another rank had failed;
 * the message names the other rank. */
BRAID_RT_API int32_t
braid_rt_error_is_secondary(const braid_rt_context *context);

/* The number of collectives (not messages) that the rank has started in its
 * list of the group since the creation or reset of the world; -1 for a rank in
 * no list. The numbers of all members are equal if they run the same program.
 * Only the thread of the rank may call this function, while the rank runs. */
BRAID_RT_API int64_t braid_rt_sequence_number(braid_rt_context *context,
                                              const braid_rt_group *group);

typedef struct braid_rt_statistics {
  int64_t currentBytes; /* held by compiled code now */
  int64_t peakBytes;    /* most held at once since the last reset */
  int64_t allocations;  /* number of allocations */
  int64_t leakedBytes;  /* released at the end of an invocation */
  int64_t starts;       /* number of starts, coalesced launches once */
  int64_t waits;        /* number of waits */
  int64_t waitNs;       /* time that the rank's thread spent in waits */
  int64_t hostNs;       /* time that the rank's thread spent in the program, to
                           its return; without the device's remaining work */
  int64_t deviceNs;     /* time of the last invocation on the device's clock; 0
                           where the host is the device */
  int64_t hostReads;    /* how often the host has read device memory */
} braid_rt_statistics;

BRAID_RT_API void braid_rt_get_statistics(const braid_rt_context *context,
                                          braid_rt_statistics *statistics);
BRAID_RT_API void braid_rt_reset_statistics(braid_rt_context *context);

typedef enum braid_rt_event_category {
  BRAID_RT_EVENT_START = 0,      /* the call that starts */
  BRAID_RT_EVENT_WAIT = 1,       /* the call that waits */
  BRAID_RT_EVENT_COLLECTIVE = 2, /* all ranks have started ... it has ended */
  BRAID_RT_EVENT_KERNEL = 3,     /* a kernel or matmul of the program on its
                                    device; none where the host is the device */
  BRAID_RT_EVENT_COPY = 4, /* the device copies, sets, reads or writes memory
                              for the program */
  BRAID_RT_EVENT_INVOCATION = 5 /* the rank's invocation, from its call to the
                                   end of its work */
} braid_rt_event_category;

/* One recorded event of a rank; strings are valid until the next invocation.
 * Fields that a category does not have are 0, empty or, for kind and dtype,
 * -1. */
typedef struct braid_rt_event {
  int32_t category;      /* braid_rt_event_category */
  int32_t kind;          /* braid_rt_kind */
  const char *name;      /* the label, else the kind's name; the kernel's; the
                            entry's */
  const char *signature; /* `all_reduce sum tensor<4xf32>` */
  const char *lane;      /* the group's name and that of the lane (`world
                            latency`), then `p2p` for messages; of kernels and
                            copies their stream (`compute`) */
  int64_t beginNs;       /* since the world was created */
  int64_t endNs;
  int64_t sequence; /* of the collective within its group, from 1 */
  int64_t bytes;    /* of the rank's operands; of a copy */
  braid_rt_site site;
  int32_t dtype;               /* of the first operand */
  int32_t reduction;           /* braid_rt_reduction, or -1 */
  int64_t sourceElements;      /* of all operands */
  int64_t destinationElements; /* of all results */
  int32_t groupSize;           /* of the list that communicates */
  const int32_t *ranks;        /* its groupSize ranks of the world */
} braid_rt_event;

/* The events of the rank's last invocation; *count is 0 unless the
 * configuration enables traces. If the host is the device, the events are in
 * the order of their ends. Otherwise starts and waits are in this order, and
 * the work of the device follows. */
BRAID_RT_API const braid_rt_event *
braid_rt_trace(const braid_rt_context *context, int64_t *count);

/* The version of the Braid that the runtime is part of: "0.1.0". */
BRAID_RT_API const char *braid_rt_version(void);

/* A loaded program. */
typedef struct braid_rt_library braid_rt_library;

/* Loads a shared object and finds its table; NULL on failure (not found, no
 * table, another ABI version). */
BRAID_RT_API braid_rt_library *braid_rt_load(const char *path, char *error,
                                             size_t errorSize);
BRAID_RT_API const braid_rt_program *
braid_rt_library_program(const braid_rt_library *library);
BRAID_RT_API void braid_rt_unload(braid_rt_library *library);

/* The entry called `name`. If `name` is NULL: the entry "main" if there is one,
 * else the only entry. NULL, with an error that lists the entries, if there is
 * no such entry. */
BRAID_RT_API const braid_rt_entry *
braid_rt_find_entry(const braid_rt_program *program, const char *name,
                    char *error, size_t errorSize);

#ifdef __cplusplus
}
#endif

#endif /* BRAID_RT_HOST_H */
