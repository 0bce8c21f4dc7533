//===- MemoryTest.cpp - Memory of a GPU -----------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Device/Memory.h"
#include "Setup.h"

#include <chrono>
#include <cstring>
#include <numeric>
#include <thread>

using namespace braid::rt;
using testing::HasSubstr;

namespace {
using MemoryTest = CudaTest;

/// Hooks that count what an engine allocates, and may have nothing to give.
class CountingHooks final : public cuda::DeviceHooks {
public:
  cuda::DevicePointer allocate(const cuda::Driver &driver,
                               int64_t bytes) override {
    sizes.push_back(bytes);
    return empty ? 0 : DeviceHooks::allocate(driver, bytes);
  }
  void free(const cuda::Driver &driver, cuda::DevicePointer pointer) override {
    ++frees;
    DeviceHooks::free(driver, pointer);
  }

  std::vector<int64_t> sizes;
  int frees = 0;
  bool empty = false;
};
} // namespace

TEST(DescribeBytes, choosesAUnit) {
  EXPECT_EQ(cuda::describeBytes(0), "0 bytes");
  EXPECT_EQ(cuda::describeBytes(1), "1 byte");
  EXPECT_EQ(cuda::describeBytes(1023), "1023 bytes");
  EXPECT_EQ(cuda::describeBytes(1024), "1.00 KiB");
  EXPECT_EQ(cuda::describeBytes(int64_t(3) << 29), "1.50 GiB");
  EXPECT_EQ(cuda::describeBytes(int64_t(3) << 50), "3072.00 TiB");
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

TEST_F(MemoryTest, copiesToTheDeviceAndBack) {
  std::vector<int> values(1000);
  std::iota(values.begin(), values.end(), 7);
  int *memory = upload(values);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 256, 0U);
  EXPECT_EQ(fake_cuda_memory_device(memory), 0);
  EXPECT_EQ(download<int>(memory, values.size()), values);
}

TEST_F(MemoryTest, servesTheLauncherOnAnyThread) {
  device(1);
  std::thread([&] {
    void *memory = device().allocate(16);
    EXPECT_EQ(fake_cuda_memory_device(memory), 1);
    device().copyToDevice(memory, "0123456789abcde", 16);
    char text[16];
    device().copyFromDevice(text, memory, 16);
    EXPECT_STREQ(text, "0123456789abcde");
    device().free(memory);
  }).join();
}

TEST_F(MemoryTest, hasCopiedWhenACopyReturns) {
  int *memory = upload<int>({0});
  void *pinned = nullptr;
  driver().memHostAlloc(&pinned, sizeof(int), 0);
  int value = 5;
  std::memcpy(pinned, &value, sizeof(int));
  fake_cuda_block(0);
  std::thread launcher([&] {
    device().copyToDevice(memory, pinned, sizeof(int));
    int other = 6;
    std::memcpy(pinned, &other, sizeof(int));
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  fake_cuda_unblock(0);
  launcher.join();
  EXPECT_EQ(download<int>(memory, 1)[0], 5);
  driver().memFreeHost(pinned);
}

TEST_F(MemoryTest, allocatesTensorsWithoutElements) {
  void *memory = device().allocate(0);
  EXPECT_NE(memory, nullptr);
  device().copyToDevice(memory, nullptr, 0);
  device().copyFromDevice(nullptr, memory, 0);
  device().free(memory);
}

TEST_F(MemoryTest, saysHowMuchIsMissingForAnArgument) {
  fake_cuda_set_memory(1 << 20);
  EXPECT_EQ(errorOf([&] { device().allocate(3 << 20); }),
            "device 0 (Fake GPU) has too little memory for an argument: 3.00 "
            "MiB are needed, 1.00 MiB of 1.00 MiB are available");
}

TEST_F(MemoryTest, saysThatMemoryIsInPieces) {
  auto counting = std::make_unique<CountingHooks>();
  counting->empty = true;
  hooks = std::move(counting);
  EXPECT_EQ(errorOf([&] { device().allocate(1024); }),
            "device 0 (Fake GPU) has too little memory for an argument in one "
            "piece: 1.00 KiB are needed, 1.00 GiB of 1.00 GiB are available");
}

TEST_F(MemoryTest, reportsAFailedCopy) {
  void *memory = device().allocate(16);
  fake_cuda_fail("cuMemcpyHtoDAsync", cuda::ERROR_INVALID_VALUE, 0);
  EXPECT_EQ(errorOf([&] { device().copyToDevice(memory, "0123", 4); }),
            "cuMemcpyHtoDAsync failed: CUDA_ERROR_INVALID_VALUE (invalid "
            "argument)");
  fake_cuda_fail("cuMemcpyDtoHAsync", cuda::ERROR_INVALID_VALUE, 0);
  char text[4];
  EXPECT_THAT(errorOf([&] { device().copyFromDevice(text, memory, 4); }),
              HasSubstr("cuMemcpyDtoHAsync failed"));
  device().free(memory);
}

//===----------------------------------------------------------------------===//
// The arena
//===----------------------------------------------------------------------===//

TEST_F(MemoryTest, takesArgumentsAndTheArenaFromTheEngine) {
  auto owned = std::make_unique<CountingHooks>();
  CountingHooks &counting = *owned;
  hooks = std::move(owned);
  device().free(device().allocate(100));
  TestProgram program;
  program.device.arenaBytes = 4096;
  device().prepare(program.get());
  EXPECT_EQ(counting.sizes, (std::vector<int64_t>{100, 4096}));
  EXPECT_EQ(counting.frees, 1);
}

TEST_F(MemoryTest, hasOneArenaForAllPrograms) {
  TestProgram small, large;
  small.device.arenaBytes = 1024;
  large.device.arenaBytes = 1 << 20;
  device().prepare(large.get());
  void *arena = device().arena(1 << 20);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(arena) % 256, 0U);
  device().prepare(small.get());
  EXPECT_EQ(device().arena(1024), arena);
  EXPECT_EQ(device().arena(0), arena);
}

TEST_F(MemoryTest, replacesAnArenaThatIsTooSmall) {
  TestProgram small, large;
  small.device.arenaBytes = 1024;
  large.device.arenaBytes = 1 << 20;
  device().prepare(small.get());
  device().prepare(large.get());
  EXPECT_EQ(errorOf([&] { device().arena(1 << 20); }), "");
}

TEST_F(MemoryTest, refusesAnArenaThatWasNotPrepared) {
  TestProgram program;
  program.device.arenaBytes = 1024;
  device().prepare(program.get());
  EXPECT_EQ(errorOf([&] { device().arena(1025); }),
            "the program asks for an arena of 1025 bytes, but 1024 bytes have "
            "been prepared for it");
}

TEST_F(MemoryTest, saysBeforeTheStartWhatAProgramNeeds) {
  fake_cuda_set_memory(100 << 20);
  std::vector<char> bytes(1 << 20);
  TestProgram program;
  program.addConstant(bytes.data(), 1 << 20);
  program.device.arenaBytes = 50 << 20;
  // 1 MiB of constants, 64 MiB of workspace and the arena.
  EXPECT_EQ(errorOf([&] { device().prepare(program.get()); }),
            "device 0 (Fake GPU) has too little memory for the program: 115.00 "
            "MiB are needed, 100.00 MiB of 100.00 MiB are available");
}

TEST_F(MemoryTest, countsTheOldArenaAsAvailable) {
  fake_cuda_set_memory(100 << 20);
  TestProgram small, large;
  small.device.arenaBytes = 20 << 20;
  large.device.arenaBytes = 30 << 20;
  device().prepare(small.get());
  EXPECT_EQ(errorOf([&] { device().prepare(large.get()); }), "");
}

TEST_F(MemoryTest, allocatesNothingWhileAProgramRuns) {
  TestProgram program;
  program.device.arenaBytes = 4096;
  device().prepare(program.get());
  fake_cuda_forbid_allocations(1);
  invoke([&] {
    char *arena = static_cast<char *>(device().arena(4096));
    std::vector<float> ones(64, 1.0F);
    device().write(arena, ones.data(), 64);
    device().copy(arena + 256, arena, 64);
    float read = 0;
    device().read(&read, arena + 256, 4);
    EXPECT_EQ(read, 1.0F);
    Matmul matmul = {BRAID_RT_F32, false, false, 1, 2, 2, 2, 2, 2,
                     0.0,          2,     0,     0, 0, {}};
    matmul.options.resultDtype = BRAID_RT_F32;
    device().multiply(matmul, arena, arena + 256, arena + 512);
    void *argument = arena;
    void *arguments[] = {&argument};
    device().launch(program.fill, {{1, 1, 1}, {1, 1, 1}, 0}, arguments, 1);
  });
}

//===----------------------------------------------------------------------===//
// Copies, reads and writes of programs
//===----------------------------------------------------------------------===//

TEST_F(MemoryTest, copiesInTheOrderOfTheStream) {
  TestProgram program;
  device().prepare(program.get());
  int *from = upload<int>({1, 2, 3, 4});
  int *to = upload<int>({0, 0, 0, 0});
  fake_cuda_block(0);
  invoke([&] {
    device().copy(to, from, 8);
    int five = 5;
    device().write(from, &five, 4);
    five = 6;
    device().copy(to + 2, from, 8);
    fake_cuda_unblock(0);
  });
  EXPECT_EQ(download<int>(to, 4), (std::vector<int>{1, 2, 5, 2}));
}

TEST_F(MemoryTest, readsMoreThanItsStagingMemory) {
  TestProgram program;
  device().prepare(program.get());
  std::vector<int> values(50000);
  std::iota(values.begin(), values.end(), 0);
  int *memory = upload(values);
  std::vector<int> read(values.size());
  invoke([&] {
    device().read(read.data(), memory, static_cast<int64_t>(4 * values.size()));
  });
  EXPECT_EQ(read, values);
}

TEST_F(MemoryTest, writesAnySizeAtAnyAddress) {
  std::vector<uint8_t> source(64);
  std::iota(source.begin(), source.end(), 1);
  for (size_t offset : {0, 1, 2, 4})
    for (size_t size = 0; size <= 64; ++size) {
      uint8_t *memory = upload(std::vector<uint8_t>(72, 0));
      device().write(memory + offset, source.data(),
                     static_cast<int64_t>(size));
      std::vector<uint8_t> expected(72, 0);
      std::copy_n(source.begin(), size, expected.begin() + offset);
      EXPECT_EQ(download<uint8_t>(memory, 72), expected)
          << size << " bytes at " << offset;
    }
}

TEST_F(MemoryTest, writesEqualWordsWithOneFill) {
  int *memory = upload(std::vector<int>(16));
  std::vector<int> words = {7, 7, 7, 7, 0, 0, 0, 0};
  fake_cuda_clear_log();
  device().write(memory, words.data(), 32);
  EXPECT_STREQ(fake_cuda_log(), "stream 1: fill 16 bytes\n"
                                "stream 1: fill 16 bytes\n");
  words.resize(16);
  EXPECT_EQ(download<int>(memory, 8),
            (std::vector<int>{7, 7, 7, 7, 0, 0, 0, 0}));
}

TEST_F(MemoryTest, refusesToWriteMuch) {
  char *memory = upload(std::vector<char>(128));
  std::vector<char> source(65);
  EXPECT_EQ(errorOf([&] { device().write(memory, source.data(), 65); }),
            "the program writes 65 bytes to device memory at once, expected at "
            "most 64");
}
