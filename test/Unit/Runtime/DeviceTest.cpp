//===- DeviceTest.cpp - Device memory and launches on the host ------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstring>

using namespace braid::test;
using testing::AllOf;
using testing::HasSubstr;

// Where the host is the device, the launcher's functions work on host memory.
TEST(HostDevice, MemoryForArgumentsIsTheHosts) {
  World world(1);
  braid_rt_context *context = world.context(0);
  char error[128] = "";
  void *memory = braid_rt_device_alloc(context, 1000, error, sizeof(error));
  ASSERT_NE(memory, nullptr) << error;
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 256, 0U);
  const char text[] = "to the device and back";
  char back[sizeof(text)] = "";
  EXPECT_EQ(braid_rt_copy_to_device(context, memory, text, sizeof(text), error,
                                    sizeof(error)),
            BRAID_RT_OK);
  EXPECT_EQ(std::memcmp(memory, text, sizeof(text)), 0);
  EXPECT_EQ(braid_rt_copy_from_device(context, back, memory, sizeof(text),
                                      error, sizeof(error)),
            BRAID_RT_OK);
  EXPECT_STREQ(back, text);
  braid_rt_device_free(context, memory);
  braid_rt_device_free(context, nullptr);
}

TEST(HostDevice, TooMuchMemoryIsAnError) {
  World world(1);
  char error[128] = "";
  EXPECT_EQ(braid_rt_device_alloc(world.context(0), INT64_MAX / 4, error,
                                  sizeof(error)),
            nullptr);
  EXPECT_THAT(std::string(error), HasSubstr("cannot allocate"));
}

TEST(HostDevice, AProgramForAnotherTargetIsRefused) {
  World world(1);
  braid_rt_program program = {};
  program.abiVersion = BRAID_RT_ABI_VERSION;
  program.target = BRAID_RT_TARGET_CUDA;
  char error[256] = "";
  EXPECT_EQ(braid_rt_world_prepare(world.get(), &program, error, sizeof(error)),
            BRAID_RT_FAILED);
  EXPECT_STREQ(error, "the program was compiled for the target cuda, but "
                      "engine inproc runs programs for the target host");
}

// A program for the host that calls a device's function fails with its site.
TEST(HostDevice, DeviceCallsFailWithTheirSite) {
  static const braid_rt_kernel kernel = {nullptr, "relu"};
  static const int64_t sizes[] = {1, 1, 1};
  World world(1);
  EXPECT_FALSE(world.run([](int32_t) {
    braid_rt_site site = siteAt(7, "k");
    braid_rt_launch(&kernel, sizes, sizes, 0, nullptr, 0, &site);
  }));
  EXPECT_THAT(world.error(0),
              AllOf(HasSubstr(":7:"), HasSubstr("(k)"),
                    HasSubstr("launches kernel relu, but the program runs on "
                              "the host")));
  EXPECT_FALSE(world.run([](int32_t) { braid_rt_arena(64, nullptr); }));
  EXPECT_THAT(world.error(0), HasSubstr("rank 0: the program asks for an "
                                        "arena"));
}

TEST(HostDevice, ProductsWithAnEpilogueAreRefused) {
  World world(1);
  static float one = 1.0F;
  EXPECT_FALSE(world.run([](int32_t) {
    braid_rt_matmul_options options = {BRAID_RT_F32, BRAID_RT_EPILOGUE_RELU, 0,
                                       0, nullptr};
    braid_rt_fused_matmul(BRAID_RT_F32, 0, 0, 1, 1, 1, 1, &one, 1, 0, &one, 1,
                          0, 0.0, &one, 1, 0, &options, nullptr);
  }));
  EXPECT_THAT(world.error(0), HasSubstr("matmul with a bias, an epilogue or a "
                                        "result of another type"));
}
