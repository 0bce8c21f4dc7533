//===- BufferPoolTest.cpp - Buffers of sizes known at run time ------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Device/BufferPool.h"
#include "Setup.h"

using namespace braid::rt;
using cuda::BufferPool;
using testing::HasSubstr;

namespace {
using BufferPoolTest = CudaTest;

constexpr int64_t mebibyte = int64_t(1) << 20;
} // namespace

TEST(BufferPoolClass, holdsTheSizeAndWastesAQuarterAtMost) {
  EXPECT_EQ(BufferPool::getClass(0), 512);
  EXPECT_EQ(BufferPool::getClass(512), 512);
  EXPECT_EQ(BufferPool::getClass(513), 1024);
  EXPECT_EQ(BufferPool::getClass(2048), 2048);
  EXPECT_EQ(BufferPool::getClass(2049), 2560);
  EXPECT_EQ(BufferPool::getClass(3 * mebibyte + 1),
            3 * mebibyte + mebibyte / 2);
  for (int64_t bytes = 2048; bytes < 64 * mebibyte; bytes = bytes * 9 / 8 + 1) {
    int64_t size = BufferPool::getClass(bytes);
    EXPECT_GE(size, bytes);
    EXPECT_LE(size, bytes + bytes / 4) << bytes;
    EXPECT_EQ(size % 512, 0);
    EXPECT_EQ(BufferPool::getClass(size), size) << bytes;
  }
}

TEST_F(BufferPoolTest, buffersAreAlignedAndApart) {
  invoke([&] {
    char *small = static_cast<char *>(device().allocateBuffer(0));
    char *next = static_cast<char *>(device().allocateBuffer(700));
    char *large = static_cast<char *>(device().allocateBuffer(5 * mebibyte));
    for (char *buffer : {small, next, large})
      EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer) % 256, 0U);
    EXPECT_GE(std::abs(next - small), 512);
    EXPECT_EQ(fake_cuda_memory_device(large), 0);
  });
}

TEST_F(BufferPoolTest, aFreedBufferServesTheNextOfItsSize) {
  invoke([&] {
    void *first = device().allocateBuffer(5 * mebibyte);
    void *other = device().allocateBuffer(5 * mebibyte);
    EXPECT_NE(first, other);
    device().freeBuffer(first);
    EXPECT_EQ(device().allocateBuffer(5 * mebibyte - 100), first);
  });
}

TEST_F(BufferPoolTest, anInvocationReusesWhatTheLastOneHeld) {
  void *first = nullptr;
  invoke([&] { first = device().allocateBuffer(3 * mebibyte); });
  EXPECT_EQ(device().releaseBuffers(), 3 * mebibyte);
  EXPECT_EQ(device().releaseBuffers(), 0);
  fake_cuda_forbid_allocations(1);
  invoke([&] { EXPECT_EQ(device().allocateBuffer(3 * mebibyte), first); });
  fake_cuda_forbid_allocations(0);
}

TEST_F(BufferPoolTest, theFirstBuffersComeFromTheReserve) {
  fake_cuda_set_memory(static_cast<size_t>(64 * 64 * mebibyte));
  TestProgram program;
  program.device.bufferAllocCount = 1;
  device().prepare(program.get());
  fake_cuda_forbid_allocations(1);
  invoke([&] {
    char *large = static_cast<char *>(device().allocateBuffer(40 * mebibyte));
    char *next = static_cast<char *>(device().allocateBuffer(20 * mebibyte));
    EXPECT_EQ(next - large, 40 * mebibyte);
  });
  fake_cuda_forbid_allocations(0);
  invoke([&] { EXPECT_NE(device().allocateBuffer(5 * mebibyte), nullptr); });
}

TEST_F(BufferPoolTest, aProgramThatAllocatesNothingHasNoReserve) {
  TestProgram program;
  program.device.arenaBytes = 1024;
  device().prepare(program.get());
  size_t available = 0, total = 0, left = 0;
  driver().memGetInfo(&available, &total);
  invoke([&] { device().allocateBuffer(20 * mebibyte); });
  driver().memGetInfo(&left, &total);
  EXPECT_EQ(available - left, static_cast<size_t>(20 * mebibyte));
}

TEST_F(BufferPoolTest, theReserveStaysWhereMemoryIsShort) {
  fake_cuda_set_memory(static_cast<size_t>(64 * 64 * mebibyte));
  TestProgram program;
  program.device.bufferAllocCount = 1;
  device().prepare(program.get());
  invoke([&] {
    void *part = device().allocateBuffer(40 * mebibyte);
    device().freeBuffer(part);
    EXPECT_THAT(errorOf([&] { device().allocateBuffer(4096 * mebibyte); }),
                HasSubstr("has too little memory for a buffer"));
    EXPECT_EQ(device().allocateBuffer(40 * mebibyte), part);
  });
}

TEST_F(BufferPoolTest, resultsOutliveTheInvocation) {
  void *result = nullptr;
  invoke([&] {
    result = device().allocateBuffer(3 * mebibyte);
    EXPECT_TRUE(device().detachBuffer(result));
    EXPECT_FALSE(device().detachBuffer(result));
  });
  EXPECT_EQ(device().releaseBuffers(), 0);
  invoke([&] { EXPECT_NE(device().allocateBuffer(3 * mebibyte), result); });
  device().free(result);
  invoke([&] { EXPECT_EQ(device().allocateBuffer(3 * mebibyte), result); });
}

TEST_F(BufferPoolTest, freeingWhatIsNotHeldIsAnError) {
  invoke([&] {
    void *buffer = device().allocateBuffer(16);
    device().freeBuffer(buffer);
    EXPECT_EQ(errorOf([&] { device().freeBuffer(buffer); }),
              "the program frees a buffer that it does not hold");
  });
}

TEST_F(BufferPoolTest, keptMemoryGivesWayWhereMemoryIsShort) {
  fake_cuda_set_memory(static_cast<size_t>(96 * mebibyte));
  invoke([&] {
    device().freeBuffer(device().allocateBuffer(48 * mebibyte));
    EXPECT_NE(device().allocateBuffer(80 * mebibyte), nullptr);
    EXPECT_THAT(errorOf([&] { device().allocateBuffer(40 * mebibyte); }),
                HasSubstr("has too little memory for a buffer of the program: "
                          "40.00 MiB are needed"));
  });
}

TEST_F(BufferPoolTest, aGraphCannotAllocate) {
  options.graphs = cuda::GraphUse::On;
  bool allocates = false;
  auto body = [&] {
    if (allocates)
      device().allocateBuffer(16);
  };
  invoke(body);
  allocates = true;
  EXPECT_THAT(errorOf([&] { invoke(body); }),
              HasSubstr("which a graph cannot do (run without cuda-graph)"));
  device().failInvocation();
}
