//===- ProgramTest.cpp - Programs of the target cuda on the engine --------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// What compiled code calls, through the C ABI, on one rank.
//
//===----------------------------------------------------------------------===//

#include "CallerStream.h"
#include "FakeBlas.h"
#include "FakeCUDA.h"
#include "braid-rt/braid-rt.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

using braid::test::CallerStream;
using testing::HasSubstr;

// Of the driver, for a caller's stream.
extern "C" unsigned cuMemcpyDtoHAsync_v2(void *host, uintptr_t device,
                                         size_t bytes, void *stream);

//===----------------------------------------------------------------------===//
// A program, as the compiler would write it
//===----------------------------------------------------------------------===//

static const char ptx[] = R"(// PTX for tests
.visible .entry scale(.param .u64 memory, .param .u64 count) { ret; }
)";
static const float weights[] = {1, 2, 3, 4};
static const braid_rt_image image = {ptx, sizeof(ptx), "sm_90"};
static const braid_rt_kernel scale = {&image, "scale"};
static const braid_rt_kernel missing = {&image, "missing"};
static const braid_rt_constant constant = {weights, sizeof(weights)};
static const braid_rt_site launchSite = {"prog.mlir", "k0", 3, 5};
static const braid_rt_site readSite = {"prog.mlir", nullptr, 4, 7};

/// How often the entry was called.
static int calls = 0;

/// memory[i] *= 2 for i < count.
static void runScale(void **arguments, const unsigned *, const unsigned *) {
  float *memory = *static_cast<float **>(arguments[0]);
  int64_t count = *static_cast<int64_t *>(arguments[1]);
  for (int64_t i = 0; i < count; ++i)
    memory[i] *= 2;
}

static void launchScale(float *memory, const braid_rt_kernel &kernel,
                        int64_t blocks = 1) {
  int64_t count = 4;
  void *arguments[] = {&memory, &count};
  const int64_t grid[] = {blocks, 1, 1}, block[] = {32, 1, 1};
  braid_rt_launch(&kernel, grid, block, 0, arguments, 2, &launchSite);
}

static float *argument(void **args) {
  return static_cast<float *>(static_cast<braid_rt_memref *>(args[0])->aligned);
}

/// result = 2 * weights * I + 1, by way of the arena; then an element of it is
/// 100.
static void compute(void **args) {
  ++calls;
  auto *arena = static_cast<float *>(braid_rt_arena(1024, &launchSite));
  auto *onDevice = static_cast<const float *>(
      braid_rt_device_constant(&constant, &launchSite));
  braid_rt_copy(arena, onDevice, 16, &launchSite);
  launchScale(arena, scale);
  const float identity[] = {1, 0, 0, 1};
  braid_rt_write(arena + 64, identity, 16, &launchSite);
  const float ones[] = {1, 1};
  braid_rt_write(arena + 128, ones, 8, &launchSite);
  const braid_rt_matmul_options options = {BRAID_RT_F32, BRAID_RT_EPILOGUE_NONE,
                                           0, 0, arena + 128};
  braid_rt_fused_matmul(BRAID_RT_F32, 0, 0, 1, 2, 2, 2, arena, 2, 0, arena + 64,
                        2, 0, 0.0, argument(args), 2, 0, &options, &launchSite);
  const float hundred = 100;
  braid_rt_write(argument(args) + 3, &hundred, 4, &launchSite);
}

static void launchTooMuch(void **args) {
  launchScale(argument(args), scale, int64_t(1) << 40);
}

static void launchMissing(void **args) { launchScale(argument(args), missing); }

static void launchNothing(void **args) {
  launchScale(argument(args), missing, 0);
}

static void readBack(void **args) {
  float value = 0;
  braid_rt_read(&value, argument(args), 4, &readSite);
  if (value != 7)
    braid_rt_fail("7 was expected", &readSite);
}

static void multiplyBadly(void **args) {
  braid_rt_matmul(BRAID_RT_I8, 0, 0, 2, 2, 2, argument(args), 2, argument(args),
                  2, 0.0, argument(args), 2, &launchSite);
}

static void askForMore(void **) { braid_rt_arena(1 << 30, &launchSite); }

static const int64_t four = 4;
static const braid_rt_argument arguments[] = {
    {"result0", BRAID_RT_F32, 1, &four, BRAID_RT_OUT, BRAID_RT_MEMREF}};

namespace {
struct Memref {
  braid_rt_memref head;
  int64_t size, stride;
};

class ProgramTest : public testing::Test {
protected:
  ProgramTest() {
    setenv("BRAID_CUDA_LIBRARY", FAKE_CUDA, 1);
    setenv("BRAID_CUBLASLT_LIBRARY", FAKE_CUBLASLT, 1);
    fake_cuda_reset();
    fake_cublaslt_reset();
    const size_t sizes[] = {8, 8};
    fake_cuda_register_kernel("scale", sizes, 2, runScale);
    calls = 0;
  }
  ~ProgramTest() override {
    if (world)
      braid_rt_device_free(context(), memref.head.allocated);
    braid_rt_world_destroy(world);
    EXPECT_STREQ(fake_cuda_leaks(), "");
    EXPECT_EQ(fake_cublaslt_leaks(), 0);
  }

  /// Loads the program; its error.
  std::string prepare(braid_rt_entry_function function,
                      const char *graphs = "0") {
    const braid_rt_option option = {"cuda-graph", graphs};
    braid_rt_config config;
    braid_rt_config_init(&config, nullptr, 0);
    config.engine = "cuda";
    config.optionCount = 1;
    config.options = &option;
    char error[1024] = "";
    world = braid_rt_world_create(&config, error, sizeof(error));
    if (!world)
      return error;
    entry = {"main", function, 1, arguments, nullptr};
    table.abiVersion = BRAID_RT_ABI_VERSION;
    table.target = BRAID_RT_TARGET_CUDA;
    table.entryCount = 1;
    table.entries = &entryPointer;
    table.device = &device;
    if (braid_rt_world_prepare(world, &table, error, sizeof(error)) !=
        BRAID_RT_OK)
      return error;
    void *memory = braid_rt_device_alloc(context(), 16, error, sizeof(error));
    EXPECT_NE(memory, nullptr) << error;
    memref = {{memory, memory, 0}, 4, 1};
    return "";
  }

  /// Runs it once more; its error.
  std::string run() {
    void *args[] = {&memref};
    void **argsOfRanks[] = {args};
    braid_rt_world_run(world, &entry, argsOfRanks);
    return braid_rt_error(context());
  }

  int32_t follow(void *stream) { return braid_rt_world_follow(world, &stream); }

  std::vector<float> result() {
    std::vector<float> values(4);
    braid_rt_copy_from_device(context(), values.data(), memref.head.aligned, 16,
                              nullptr, 0);
    return values;
  }

  braid_rt_context *context() { return braid_rt_world_context(world, 0); }

  braid_rt_device_program device = {1, &images, 1, &constants, 1024, 0};
  Memref memref = {};

private:
  const braid_rt_image *images = &image;
  const braid_rt_constant *constants = &constant;
  braid_rt_entry entry = {};
  const braid_rt_entry *entryPointer = &entry;
  braid_rt_program table = {};
  braid_rt_world *world = nullptr;
};
} // namespace

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

TEST_F(ProgramTest, computesOnTheDevice) {
  ASSERT_EQ(prepare(compute), "");
  EXPECT_EQ(run(), "");
  EXPECT_EQ(result(), (std::vector<float>{3, 5, 7, 100}));
  braid_rt_statistics statistics;
  braid_rt_get_statistics(context(), &statistics);
  EXPECT_GT(statistics.deviceNs, 0);
}

TEST_F(ProgramTest, runsAsAGraphFromTheThirdInvocationOn) {
  ASSERT_EQ(prepare(compute, "1"), "");
  for (int i = 0; i < 5; ++i) {
    const float zeros[4] = {};
    braid_rt_copy_to_device(context(), memref.head.aligned, zeros, 16, nullptr,
                            0);
    EXPECT_EQ(run(), "");
    EXPECT_EQ(result(), (std::vector<float>{3, 5, 7, 100}));
  }
  EXPECT_EQ(calls, 2);
}

TEST_F(ProgramTest, followsAStreamOfTheCaller) {
  ASSERT_EQ(prepare(compute, "auto"), "");
  CallerStream caller;
  for (int i = 0; i < 5; ++i) {
    // The first run measures matmuls.
    if (i > 0)
      fake_cuda_block(0);
    ASSERT_EQ(follow(caller.stream), BRAID_RT_OK);
    EXPECT_EQ(run(), "");
    if (i > 0) {
      EXPECT_TRUE(caller.hasWork());
      fake_cuda_unblock(0);
    }
    std::vector<float> values(4);
    cuMemcpyDtoHAsync_v2(values.data(),
                         reinterpret_cast<uintptr_t>(memref.head.aligned), 16,
                         caller.stream);
    caller.wait();
    EXPECT_EQ(values, (std::vector<float>{3, 5, 7, 100}));
    braid_rt_statistics statistics;
    braid_rt_get_statistics(context(), &statistics);
    EXPECT_GT(statistics.deviceNs, 0);
  }
  EXPECT_EQ(calls, 2);
  // The next run is as others.
  EXPECT_EQ(run(), "");
  EXPECT_EQ(result(), (std::vector<float>{3, 5, 7, 100}));
}

TEST_F(ProgramTest, readsOnTheHost) {
  ASSERT_EQ(prepare(readBack), "");
  const float sevens[] = {7, 7, 7, 7};
  braid_rt_copy_to_device(context(), memref.head.aligned, sevens, 16, nullptr,
                          0);
  EXPECT_EQ(run(), "");
}

TEST_F(ProgramTest, launchesNothingForAnEmptyGrid) {
  ASSERT_EQ(prepare(launchNothing), "");
  EXPECT_EQ(run(), "");
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

TEST_F(ProgramTest, namesKernelAndSiteOfAFailedLaunch) {
  ASSERT_EQ(prepare(launchTooMuch), "");
  EXPECT_EQ(run(), "prog.mlir:3:5 (k0): rank 0: kernel 'scale' cannot be "
                   "launched on device 0 (Fake GPU) with a grid of "
                   "1099511627776 x 1 x 1, blocks of 32 x 1 x 1 and 0 bytes of "
                   "dynamic shared memory: a size does not fit 32 bits");
}

TEST_F(ProgramTest, namesAMissingKernel) {
  ASSERT_EQ(prepare(launchMissing), "");
  EXPECT_EQ(run(), "prog.mlir:3:5 (k0): rank 0: the program's image for sm_90 "
                   "has no kernel 'missing'");
}

TEST_F(ProgramTest, namesTheSiteOfAMatmulThatTheLibraryLacks) {
  ASSERT_EQ(prepare(multiplyBadly), "");
  EXPECT_EQ(run(), "prog.mlir:3:5 (k0): rank 0: matmul of i8, expected f16, "
                   "bf16, f32, f64, complex<f32>, complex<f64> or f8E4M3FN");
}

TEST_F(ProgramTest, namesTheSiteOfAnArenaThatIsTooLarge) {
  ASSERT_EQ(prepare(askForMore), "");
  EXPECT_EQ(run(), "prog.mlir:3:5 (k0): rank 0: the program asks for an arena "
                   "of 1073741824 bytes, but 1024 bytes have been prepared for "
                   "it");
}

TEST_F(ProgramTest, namesTheSiteOfAReadThatNoGraphCanDo) {
  ASSERT_EQ(prepare(readBack, "1"), "");
  const float sevens[] = {7, 7, 7, 7};
  braid_rt_copy_to_device(context(), memref.head.aligned, sevens, 16, nullptr,
                          0);
  EXPECT_EQ(run(), "");
  EXPECT_EQ(run(), "prog.mlir:4:7: rank 0: the program reads device memory on "
                   "the host, which a graph cannot do (run without "
                   "cuda-graph)");
}

TEST_F(ProgramTest, isRefusedAsAGraphWhenItReads) {
  device.hostReadCount = 1;
  EXPECT_EQ(prepare(readBack, "1"),
            "the program cannot run as a graph: its host code reads device "
            "memory in 1 place (run without cuda-graph)");
}

TEST_F(ProgramTest, isRefusedWhenTheDeviceIsTooSmall) {
  fake_cuda_set_memory(32 << 20);
  EXPECT_THAT(prepare(compute),
              HasSubstr("device 0 (Fake GPU) has too little memory for the "
                        "program: 64.00 MiB are needed, 32.00 MiB of 32.00 MiB "
                        "are available"));
}

TEST_F(ProgramTest, isRefusedOnAnotherChip) {
  fake_cuda_fail("cuModuleLoadDataEx", 209, 0);
  EXPECT_THAT(prepare(compute),
              HasSubstr("the program was compiled for sm_90, but device 0 "
                        "(Fake GPU) is sm_90 and cannot load it: "
                        "CUDA_ERROR_NO_BINARY_FOR_GPU"));
}
