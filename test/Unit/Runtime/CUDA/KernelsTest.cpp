//===- KernelsTest.cpp - Kernels and constants of programs ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Setup.h"

#include <cstring>

using namespace braid::rt;
using testing::HasSubstr;
using testing::StartsWith;

namespace {
using KernelsTest = CudaTest;

/// An image that is a cubin by its first bytes.
const char *const cubin = "\177ELF cubin";
} // namespace

/// What the kernel `scale` does: memory[i] *= factor for i < count.
static void scale(void **arguments, const unsigned *, const unsigned *) {
  float *memory = *static_cast<float **>(arguments[0]);
  int64_t count = *static_cast<int64_t *>(arguments[1]);
  float factor = *static_cast<float *>(arguments[2]);
  for (int64_t i = 0; i < count; ++i)
    memory[i] *= factor;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

TEST_F(KernelsTest, runWithTheirArguments) {
  const size_t sizes[] = {8, 8, 4};
  fake_cuda_register_kernel("scale", sizes, 3, scale);
  TestProgram program;
  device().prepare(program.get());
  float *memory = upload<float>({1, 2, 3});
  fake_cuda_clear_log();
  invoke([&] {
    int64_t count = 3;
    float factor = 2;
    void *arguments[] = {&memory, &count, &factor};
    device().launch(program.scale, {{4, 5, 6}, {32, 2, 1}, 128}, arguments, 3);
    // The arguments belong to the caller again.
    count = 0;
  });
  EXPECT_EQ(download<float>(memory, 3), (std::vector<float>{2, 4, 6}));
  EXPECT_THAT(fake_cuda_log(),
              HasSubstr("stream 1: kernel scale grid 4 5 6 block 32 2 1 "
                        "shared 128\n"));
}

TEST_F(KernelsTest, startEarlyWhereTheyWaitForEarlierOnes) {
  for (bool waits : {false, true}) {
    TestProgram program(waits ? waitingPtx : testPtx);
    device().prepare(program.get());
    void *memory = nullptr;
    void *arguments[] = {&memory};
    fake_cuda_clear_log();
    device().launch(program.fill, {{1, 1, 1}, {1, 1, 1}, 0}, arguments, 1);
    std::string log = fake_cuda_log();
    EXPECT_THAT(log, HasSubstr("kernel fill grid 1 1 1"));
    EXPECT_EQ(log.find(" early\n") != std::string::npos, waits) << log;
  }
}

TEST_F(KernelsTest, mayHaveMoreSharedMemoryThanTheDefault) {
  TestProgram program;
  device().prepare(program.get());
  void *memory = nullptr;
  void *arguments[] = {&memory};
  // The limit is raised once.
  fake_cuda_fail("cuFuncSetAttribute", cuda::ERROR_INVALID_VALUE, 1);
  for (int64_t bytes : {100000, 100000, 60000})
    EXPECT_EQ(errorOf([&] {
                device().launch(program.fill, {{1, 1, 1}, {1, 1, 1}, bytes},
                                arguments, 1);
              }),
              "");
}

TEST_F(KernelsTest, nameTheLaunchThatFails) {
  TestProgram program;
  device().prepare(program.get());
  void *memory = nullptr;
  void *arguments[] = {&memory};
  auto launch = [&](LaunchSize size) {
    return errorOf([&] { device().launch(program.fill, size, arguments, 1); });
  };
  EXPECT_EQ(
      launch({{1, 70000, 1}, {32, 1, 1}, 0}),
      "kernel 'fill' cannot be launched on device 0 (Fake GPU) with a "
      "grid of 1 x 70000 x 1, blocks of 32 x 1 x 1 and 0 bytes of dynamic "
      "shared memory: cuLaunchKernelEx failed: CUDA_ERROR_INVALID_VALUE "
      "(invalid argument)");
  EXPECT_THAT(launch({{1, 1, 1}, {2048, 1, 1}, 0}),
              HasSubstr("blocks of 2048 x 1 x 1"));
  EXPECT_THAT(launch({{int64_t(1) << 32, 1, 1}, {1, 1, 1}, 0}),
              HasSubstr("a size does not fit 32 bits"));
  EXPECT_THAT(launch({{1, 1, 1}, {1, 1, 1}, 228 * 1024}),
              HasSubstr("228.00 KiB of dynamic shared memory: "
                        "cuFuncSetAttribute of the limit of dynamic shared "
                        "memory failed: CUDA_ERROR_INVALID_VALUE"));
  fake_cuda_fail("cuLaunchKernelEx", cuda::ERROR_LAUNCH_OUT_OF_RESOURCES, 0);
  EXPECT_THAT(launch({{1, 1, 1}, {1, 1, 1}, 0}),
              HasSubstr("cuLaunchKernelEx failed: "
                        "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (too many "
                        "resources requested for launch)"));
}

TEST_F(KernelsTest, refuseAnotherNumberOfArguments) {
  TestProgram program;
  device().prepare(program.get());
  void *arguments[] = {nullptr, nullptr};
  EXPECT_THAT(errorOf([&] {
                device().launch(program.scale, {{1, 1, 1}, {1, 1, 1}, 0},
                                arguments, 2);
              }),
              HasSubstr(": it takes 3 arguments, but the program passes 2"));
}

TEST_F(KernelsTest, areFoundInImagesThatTheDriverDoesNotList) {
  TestProgram program(cubin);
  device().prepare(program.get());
  fake_cuda_clear_log();
  void *arguments[] = {nullptr};
  device().launch(program.fill, {{1, 1, 1}, {1, 1, 1}, 0}, arguments, 1);
  EXPECT_STREQ(fake_cuda_log(),
               "stream 1: kernel fill grid 1 1 1 block 1 1 1 shared 0\n");
}

TEST_F(KernelsTest, mustBeInTheirImage) {
  TestProgram program;
  device().prepare(program.get());
  braid_rt_kernel other = {&program.image, "other"};
  EXPECT_EQ(errorOf([&] {
              device().launch(other, {{1, 1, 1}, {1, 1, 1}, 0}, nullptr, 0);
            }),
            "the program's image for sm_90 has no kernel 'other'");
}

TEST_F(KernelsTest, mustBelongToAPreparedProgram) {
  TestProgram program, other;
  device().prepare(program.get());
  EXPECT_EQ(errorOf([&] {
              device().launch(other.fill, {{1, 1, 1}, {1, 1, 1}, 0}, nullptr,
                              0);
            }),
            "kernel 'fill' belongs to an image that its program's table does "
            "not name, or the program has not been prepared");
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

TEST_F(KernelsTest, areLoadedBeforeTheFirstLaunch) {
  TestProgram program;
  fake_cuda_fail("cuFuncLoad", cuda::ERROR_OUT_OF_MEMORY, 0);
  EXPECT_EQ(errorOf([&] { device().prepare(program.get()); }),
            "device 0 (Fake GPU) cannot load kernel 'fill': cuFuncLoad failed: "
            "CUDA_ERROR_OUT_OF_MEMORY (out of memory)");
}

TEST_F(KernelsTest, ofAProgramThatStandsWhereAnotherOneStood) {
  TestProgram program;
  int one = 1;
  void *none = nullptr;
  program.addConstant(&one, sizeof(one));
  device().prepare(program.get());
  device().launch(program.fill, {{1, 1, 1}, {1, 1, 1}, 0},
                  std::vector<void *>{&none}.data(), 1);
  // Another library was loaded at the same addresses.
  program.image.data =
      "// PTX\n.visible .entry fill(.param .u32 p, .param .u32 q) { ret; }";
  one = 2;
  device().prepare(program.get());
  int argument = 0;
  void *arguments[] = {&argument, &argument};
  EXPECT_EQ(errorOf([&] {
              device().launch(program.fill, {{1, 1, 1}, {1, 1, 1}, 0},
                              arguments, 2);
            }),
            "");
  EXPECT_EQ(download<int>(device().constant(*program.constants[0]), 1),
            std::vector<int>{2});
  EXPECT_THAT(errorOf([&] {
                device().launch(program.scale, {{1, 1, 1}, {1, 1, 1}, 0},
                                arguments, 2);
              }),
              HasSubstr("has no kernel 'scale'"));
}

TEST_F(KernelsTest, ofACubinForAnotherMajorVersion) {
  fake_cuda_set_capability(80);
  TestProgram program(cubin);
  EXPECT_EQ(errorOf([&] { device().prepare(program.get()); }),
            "the program was compiled for sm_90, but device 0 (Fake GPU) is "
            "sm_80: compile with --chip=sm_80");
}

TEST_F(KernelsTest, ofACubinForAnEarlierMajorVersion) {
  TestProgram program(cubin, "sm_80");
  EXPECT_THAT(errorOf([&] { device().prepare(program.get()); }),
              StartsWith("the program was compiled for sm_80, but device 0 "
                         "(Fake GPU) is sm_90"));
}

TEST_F(KernelsTest, ofACubinForALaterMinorVersion) {
  fake_cuda_set_capability(80);
  TestProgram program(cubin, "sm_86");
  EXPECT_THAT(errorOf([&] { device().prepare(program.get()); }),
              StartsWith("the program was compiled for sm_86, but device 0 "
                         "(Fake GPU) is sm_80"));
}

TEST_F(KernelsTest, ofACubinForAnEarlierMinorVersion) {
  fake_cuda_set_capability(89);
  TestProgram program(cubin, "sm_80");
  EXPECT_EQ(errorOf([&] { device().prepare(program.get()); }), "");
}

TEST_F(KernelsTest, ofACubinWithFeaturesOfOneChip) {
  fake_cuda_set_capability(103);
  TestProgram program(cubin, "sm_100a");
  EXPECT_THAT(errorOf([&] { device().prepare(program.get()); }),
              StartsWith("the program was compiled for sm_100a, but device 0 "
                         "(Fake GPU) is sm_103"));
}

TEST_F(KernelsTest, ofAnImageThatTheDriverDoesNotHaveForTheGpu) {
  fake_cuda_fail("cuModuleLoadDataEx", cuda::ERROR_NO_BINARY_FOR_GPU, 0);
  TestProgram program;
  EXPECT_EQ(errorOf([&] { device().prepare(program.get()); }),
            "the program was compiled for sm_90, but device 0 (Fake GPU) is "
            "sm_90 and cannot load it: CUDA_ERROR_NO_BINARY_FOR_GPU (no kernel "
            "image is available for execution on the device): compile with "
            "--chip=sm_90");
}

TEST_F(KernelsTest, ofAnImageThatIsBroken) {
  fake_cuda_fail("cuModuleLoadDataEx", cuda::ERROR_INVALID_IMAGE, 0);
  TestProgram program;
  EXPECT_EQ(errorOf([&] { device().prepare(program.get()); }),
            "device 0 (Fake GPU) cannot load the program's kernels: "
            "cuModuleLoadDataEx failed: CUDA_ERROR_INVALID_IMAGE (device "
            "kernel image is invalid)");
}

TEST_F(KernelsTest, ofAProgramForTheHost) {
  TestProgram program;
  braid_rt_program table = program.get();
  table.device = nullptr;
  EXPECT_EQ(errorOf([&] { device().prepare(table); }),
            "the program brings nothing for a device");
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

TEST_F(KernelsTest, haveConstantsOnTheDevice) {
  const int numbers[] = {1, 2, 3};
  const double pi = 3.25;
  TestProgram program;
  program.addConstant(numbers, sizeof(numbers));
  program.addConstant(&pi, sizeof(pi));
  program.addConstant(nullptr, 0);
  device().prepare(program.get());
  void *first = device().constant(*program.constants[0]);
  void *second = device().constant(*program.constants[1]);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(second) % 256, 0U);
  EXPECT_EQ(download<int>(first, 3), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(download<double>(second, 1), std::vector<double>{3.25});
}

TEST_F(KernelsTest, haveNoConstantsOfOtherPrograms) {
  TestProgram program;
  device().prepare(program.get());
  const braid_rt_constant other = {nullptr, 12};
  EXPECT_EQ(errorOf([&] { device().constant(other); }),
            "the program asks for a constant of 12 bytes that its table does "
            "not name, or it has not been prepared");
}
