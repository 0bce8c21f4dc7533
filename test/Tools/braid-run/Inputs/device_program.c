/* A program for the target cuda as a compiler would emit it; with -DON_HOST the
 * same for the host. Its products and collectives need no kernel. */
#include "braid-rt/braid-rt.h"

#include <string.h>

#ifndef READS
#define READS 0
#endif
/* With -DREDUCTION=BRAID_RT_MAX the program is wrong. */
#ifndef REDUCTION
#define REDUCTION BRAID_RT_SUM
#endif

typedef struct {
  void *allocated;
  float *aligned;
  int64_t offset, sizes[2], strides[2];
} Memref2D;

#ifdef LANE
static const braid_rt_lane copies = {"copies", 8, BRAID_RT_TRANSPORT_COPY};
static const braid_rt_group world = {"world", 1, 0, 0, 0, &copies};
#else
static const braid_rt_group world = {"world", 1};
#endif
static const braid_rt_site sum = {"prog.mlir", "sum", 3, 8};
static const braid_rt_site product = {"prog.mlir", "product", 4, 8};
static const int64_t square[] = {4, 4};

static void copy(void *destination, const void *source) {
#ifdef ON_HOST
  memcpy(destination, source, 64);
#else
  braid_rt_copy(destination, source, 64, &product);
#endif
}

/* state = x state; result = sum over ranks of state: state is donated, and
 * overwritten. */
static void runMain(void **args) {
  Memref2D *x = args[0], *state = args[1], *result = args[2];
#ifdef ON_HOST
  float scratch[16];
  float *arena = scratch;
#else
  float *arena = braid_rt_arena(64, &product);
#endif
  braid_rt_matmul(BRAID_RT_F32, 0, 0, 4, 4, 4, x->aligned, 4, state->aligned, 4,
                  0.0, arena, 4, &product);
  copy(state->aligned, arena);
  braid_rt_view in = {state->aligned, square, BRAID_RT_F32, 2};
  braid_rt_view out = {result->aligned, square, BRAID_RT_F32, 2};
  braid_rt_wait(braid_rt_all_reduce(&world, 1, &in, &out, REDUCTION, 0, &sum),
                &sum);
}

static const braid_rt_argument arguments[] = {
    {"x", BRAID_RT_F32, 2, square, BRAID_RT_IN, BRAID_RT_MEMREF},
    {"state", BRAID_RT_F32, 2, square, BRAID_RT_INOUT, BRAID_RT_MEMREF},
    {"result0", BRAID_RT_F32, 2, square, BRAID_RT_OUT, BRAID_RT_MEMREF}};
static const braid_rt_entry mainEntry = {"main", runMain, 3, arguments, 0};

#ifdef DYNAMIC
/* Results whose size only the program knows: the second half of what it
 * allocates, beside a buffer that it frees and one that it leaves. */
typedef struct {
  void *allocated;
  float *aligned;
  int64_t offset, sizes[1], strides[1];
} Memref1D;

static void runDynamic(void **args) {
  static const float values[] = {1, 2, 3, 4, 5, 6};
  Memref1D *result = args[0];
  float *memory = braid_rt_buffer_alloc(sizeof(values), &product);
  void *freed = braid_rt_buffer_alloc(1 << 22, &product);
  braid_rt_buffer_free(freed, &product);
  (void)braid_rt_buffer_alloc(1 << 22, &product);
  braid_rt_write(memory, values, sizeof(values), &product);
  *result = (Memref1D){memory, memory, 3, {3}, {1}};
}
static const int64_t any[] = {BRAID_RT_DYNAMIC};
static const braid_rt_argument dynamicArguments[] = {
    {"result0", BRAID_RT_F32, 1, any, BRAID_RT_OUT, BRAID_RT_MEMREF}};
static const braid_rt_entry dynamicEntry = {"dynamic", runDynamic, 1,
                                            dynamicArguments, 0};
#endif

static const braid_rt_group *const groups[] = {&world};
static const braid_rt_entry *const entries[] = {
    &mainEntry,
#ifdef DYNAMIC
    &dynamicEntry,
#endif
};
#ifdef DYNAMIC
#define ALLOCS 3
#else
#define ALLOCS 0
#endif
static const braid_rt_device_program device = {0, 0, 0, 0, 64, READS, ALLOCS};

BRAID_RT_API const braid_rt_program braid_program = {
    BRAID_RT_ABI_VERSION,
#ifdef ON_HOST
    BRAID_RT_TARGET_HOST,
#else
    BRAID_RT_TARGET_CUDA,
#endif
    "prog",
    1,
    groups,
    sizeof(entries) / sizeof(entries[0]),
    entries,
    0,
#ifdef ON_HOST
    0
#else
    &device
#endif
};

/* What the program records of its numerics: nothing, no sum (-DSUMS=0), the
 * all-reduce (1), or the product as well (2). */
#ifdef SUMS
static const braid_rt_reordered_sum reducedSum = {
    "all_reduce sum", "8 CTAs, transport copy", &sum, BRAID_RT_SUM_OF_MEMBERS,
    0};
static const braid_rt_reordered_sum productSum = {
    "linalg.matmul", "124 multiprocessors", &product, BRAID_RT_SUM_IN_MATMUL,
    0};
static const braid_rt_reordered_sum *const sums[] = {&reducedSum, &productSum};
#ifndef VERSION
#define VERSION BRAID_RT_NUMERICS_VERSION
#endif
BRAID_RT_API const braid_rt_numerics braid_numerics = {VERSION, SUMS, sums};
#endif
