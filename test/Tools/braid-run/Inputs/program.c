/* A program as a compiler would emit it, for tests of braid-run: no mutable
 * globals, an entry table, entries with arguments of every sort. */
#include "braid-rt/braid-rt.h"

#include <time.h>

#ifndef BIAS
#define BIAS 0.0f
#endif

typedef struct {
  void *allocated;
  float *aligned;
  int64_t offset, size, stride;
} Memref1D;

static const braid_rt_group world = {"world", 1, 0, 0, 0};
static const braid_rt_site site = {"prog.mlir", "ar0", 12, 8};

static const int64_t four[] = {4};
static const int64_t any[] = {BRAID_RT_DYNAMIC};
static const int64_t threeByTwo[] = {3, 2};

/* result = all_reduce sum of (arg + bias * rank) */
static void runMain(void **args) {
  Memref1D *in = args[0], *out = args[1];
  braid_rt_view view = {out->aligned, four, BRAID_RT_F32, 1};
  float scale = BIAS * (float)braid_rt_rank(&world, &site);
  for (int i = 0; i < 4; ++i)
    out->aligned[i] = in->aligned[i] + scale * (float)(i == 2);
  braid_rt_wait(
      braid_rt_all_reduce(&world, 1, &view, &view, BRAID_RT_SUM, 0, &site),
      &site);
}
static const braid_rt_argument mainArguments[] = {
    {"arg0", BRAID_RT_F32, 1, four, BRAID_RT_IN, BRAID_RT_MEMREF},
    {"result0", BRAID_RT_F32, 1, four, BRAID_RT_OUT, BRAID_RT_MEMREF}};
static const braid_rt_entry mainEntry = {"main", runMain, 2, mainArguments, 0};

/* A dynamic result: arg1 copies of the first element of arg0; and the donated
 * argument's sum. */
static void runDynamic(void **args) {
  Memref1D *in = args[0];
  int64_t count = *(int64_t *)args[1];
  Memref1D *result = args[2];
  double *sum = args[3];
  float *memory = _mlir_memref_to_llvm_alloc((size_t)count * 4);
  *sum = 0;
  for (int64_t i = 0; i < in->size; ++i) {
    *sum += in->aligned[i];
    in->aligned[i] = -1;
  }
  for (int64_t i = 0; i < count; ++i)
    memory[i] = (float)count;
  result->allocated = memory;
  result->aligned = memory;
  result->offset = 0;
  result->size = count;
  result->stride = 1;
}
static const braid_rt_argument dynamicArguments[] = {
    {"x", BRAID_RT_F32, 1, any, BRAID_RT_INOUT, BRAID_RT_MEMREF},
    {"n", BRAID_RT_I64, 0, 0, BRAID_RT_IN, BRAID_RT_SCALAR},
    {"copies", BRAID_RT_F32, 1, any, BRAID_RT_OUT, BRAID_RT_MEMREF},
    {"sum", BRAID_RT_F64, 0, 0, BRAID_RT_OUT, BRAID_RT_SCALAR}};
static const braid_rt_entry dynamicEntry = {"dynamic", runDynamic, 4,
                                            dynamicArguments, 0};

/* Copies its argument, of any type of 2 or 1 bytes. */
#define IDENTITY(name, dtype, bytes)                                           \
  static void run_##name(void **args) {                                        \
    Memref1D *in = args[0], *out = args[1];                                    \
    for (int i = 0; i < 6 * (bytes); ++i)                                      \
      ((char *)out->aligned)[i] = ((char *)in->aligned)[i];                    \
  }                                                                            \
  static const braid_rt_argument name##Arguments[] = {                         \
      {"arg0", dtype, 2, threeByTwo, BRAID_RT_IN, BRAID_RT_MEMREF},            \
      {"result0", dtype, 2, threeByTwo, BRAID_RT_OUT, BRAID_RT_MEMREF}};       \
  static const braid_rt_entry name##Entry = {#name, run_##name, 2,             \
                                             name##Arguments, 0};
IDENTITY(i1, BRAID_RT_I1, 1)
IDENTITY(i8, BRAID_RT_I8, 1)
IDENTITY(i16, BRAID_RT_I16, 2)
IDENTITY(i32, BRAID_RT_I32, 4)
IDENTITY(i64, BRAID_RT_I64, 8)
IDENTITY(f16, BRAID_RT_F16, 2)
IDENTITY(bf16, BRAID_RT_BF16, 2)
IDENTITY(f32, BRAID_RT_F32, 4)
IDENTITY(f64, BRAID_RT_F64, 8)
IDENTITY(c64, BRAID_RT_COMPLEX_F32, 8)
IDENTITY(c128, BRAID_RT_COMPLEX_F64, 16)
IDENTITY(e4m3, BRAID_RT_F8E4M3FN, 1)
IDENTITY(e5m2, BRAID_RT_F8E5M2, 1)

/* Ranks that disagree, and one that never comes. */
static void runDisagree(void **args) {
  (void)args;
  float memory[4] = {0};
  braid_rt_view view = {memory, four, BRAID_RT_F32, 1};
  int64_t rank = braid_rt_rank(&world, &site);
  braid_rt_wait(braid_rt_all_reduce(&world, 1, &view, &view,
                                    rank ? BRAID_RT_MAX : BRAID_RT_SUM, 0,
                                    &site),
                &site);
}
static const braid_rt_entry disagreeEntry = {"disagree", runDisagree, 0, 0, 0};

/* Rank 1 comes late. */
static void runLate(void **args) {
  (void)args;
  if (braid_rt_rank(&world, &site) == 1) {
    struct timespec time = {0, 400 * 1000 * 1000};
    nanosleep(&time, 0);
  }
  braid_rt_wait(braid_rt_barrier(&world, &site), &site);
}
static const braid_rt_entry lateEntry = {"late", runLate, 0, 0, 0};

/* Divides by zero. */
static void runDivide(void **args) {
  int32_t *value = args[0];
  volatile int32_t zero = 0;
  *value = 1 / zero;
}
static const braid_rt_argument divideArguments[] = {
    {"result0", BRAID_RT_I32, 0, 0, BRAID_RT_OUT, BRAID_RT_SCALAR}};
static const braid_rt_entry divideEntry = {"divide", runDivide, 1,
                                           divideArguments, 0};

/* Starts and awaits an all-reduce. */
static void waitForAll(void) {
  float memory[4] = {0};
  braid_rt_view view = {memory, four, BRAID_RT_F32, 1};
  braid_rt_wait(
      braid_rt_all_reduce(&world, 1, &view, &view, BRAID_RT_SUM, 0, &site),
      &site);
}

/* Rank 1 touches memory that it does not have, the others wait for it. */
static void runCrash(void **args) {
  (void)args;
  if (braid_rt_rank(&world, &site) == 1) {
    struct timespec time = {1, 500 * 1000 * 1000};
    nanosleep(&time, 0);
    *(volatile int *)args = *(volatile int *)8;
  }
  waitForAll();
}
static const braid_rt_entry crashEntry = {"crash", runCrash, 0, 0, 0};

/* Rank 1 computes for ever, the others wait for it. */
static void runForever(void **args) {
  (void)args;
  while (braid_rt_rank(&world, &site) == 1) {
    struct timespec time = {1, 0};
    nanosleep(&time, 0);
  }
  waitForAll();
}
static const braid_rt_entry foreverEntry = {"forever", runForever, 0, 0, 0};

static const braid_rt_entry *const entries[] = {
    &crashEntry,   &foreverEntry,  &lateEntry, &divideEntry, &mainEntry,
    &dynamicEntry, &disagreeEntry, &i1Entry,   &i8Entry,     &i16Entry,
    &i32Entry,     &i64Entry,      &f16Entry,  &bf16Entry,   &f32Entry,
    &f64Entry,     &c64Entry,      &c128Entry, &e4m3Entry,   &e5m2Entry};
static const braid_rt_group *const groups[] = {&world};

#ifndef ABI
#define ABI BRAID_RT_ABI_VERSION
#endif
const braid_rt_program braid_program = {
    ABI,    0, "program", 1, groups, sizeof(entries) / sizeof(entries[0]),
    entries};
