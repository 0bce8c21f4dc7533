//===- Setup.h - A device over the fake driver ------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_UNITTESTS_RUNTIME_CUDA_SETUP_H
#define BRAID_UNITTESTS_RUNTIME_CUDA_SETUP_H

#include "Base/Error.h"
#include "CUDA/Device/CudaDevice.h"
#include "FakeBlas.h"
#include "FakeCUDA.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <memory>
#include <string>
#include <vector>

/// Sets a variable of the environment for a scope; nullptr unsets it.
class ScopedVariable {
public:
  ScopedVariable(const char *name, const char *value);
  ~ScopedVariable();
  ScopedVariable(const ScopedVariable &) = delete;
  ScopedVariable &operator=(const ScopedVariable &) = delete;

private:
  const std::string name;
  bool wasSet;
  std::string old;
};

/// The message of the Error that `body` throws; "" where it throws none.
template <typename Body> std::string errorOf(Body body) {
  try {
    body();
  } catch (const braid::rt::Error &error) {
    return error.what();
  }
  return "";
}

/// Two kernels: `scale` with 3 parameters, `fill` with 1.
extern const char *const testPtx;
/// The same; the kernels wait for the memory of earlier ones.
extern const char *const waitingPtx;

/// A program with one image.
class TestProgram {
public:
  explicit TestProgram(const char *image = testPtx, const char *chip = "sm_90",
                       int64_t size = 0);
  TestProgram(const TestProgram &) = delete;
  TestProgram &operator=(const TestProgram &) = delete;

  void addConstant(const void *data, int64_t size);
  /// A memref of rank 1, or a scalar i64.
  void addArgument(const char *name, braid_rt_direction direction,
                   braid_rt_passing passing, int64_t size = 4);
  const braid_rt_program &get();

  braid_rt_image image;
  braid_rt_kernel scale, fill;
  braid_rt_device_program device = {};
  std::vector<std::unique_ptr<braid_rt_constant>> constants;
  braid_rt_entry entry = {};

private:
  braid_rt_program program = {};
  const braid_rt_image *images[1];
  const braid_rt_entry *entries[1];
  std::vector<const braid_rt_constant *> constantPointers;
  std::vector<braid_rt_argument> arguments;
  std::vector<std::unique_ptr<int64_t>> sizes;
};

/// One device over the fakes, which a test configures before it asks for it.
class CudaTest : public testing::Test {
protected:
  CudaTest();
  ~CudaTest() override;

  braid::rt::CudaDevice &device(int32_t ordinal = 0);
  braid::rt::cuda::Driver &driver();

  /// Device memory with the given elements.
  /// What the driver hears of the third invocation that calls `body` eight
  /// times and reads device memory then.
  template <typename Body> std::string logOfReplay(Body body) {
    TestProgram program;
    program.device.hostReadCount = 1;
    device().prepare(program.get());
    device().allowCommandBuffers(true);
    int *memory = upload<int>({1}), value = 0;
    for (int repetition = 0; repetition < 3; ++repetition) {
      fake_cuda_clear_log();
      EXPECT_FALSE(device().beginInvocation(program.entry, nullptr));
      for (int i = 0; i < 8; ++i)
        body();
      device().read(&value, memory, 4);
      device().endInvocation();
    }
    return fake_cuda_log();
  }

  template <typename T> T *upload(const std::vector<T> &values) {
    int64_t bytes = static_cast<int64_t>(values.size() * sizeof(T));
    void *memory = device().allocate(bytes);
    device().copyToDevice(memory, values.data(), bytes);
    allocated.push_back(memory);
    return static_cast<T *>(memory);
  }
  template <typename T> std::vector<T> download(const void *from, size_t n) {
    std::vector<T> values(n);
    device().copyFromDevice(values.data(), from,
                            static_cast<int64_t>(n * sizeof(T)));
    return values;
  }

  /// Enters an entry without arguments and leaves it, around `body`.
  template <typename Body> bool invoke(Body body) {
    static const braid_rt_entry entry = {"main", nullptr, 0, nullptr, nullptr};
    bool replayed = device().beginInvocation(entry, nullptr);
    if (!replayed)
      body();
    device().endInvocation();
    return replayed;
  }

  braid::rt::cuda::DeviceOptions options;
  std::unique_ptr<braid::rt::cuda::DeviceHooks> hooks =
      std::make_unique<braid::rt::cuda::DeviceHooks>();

private:
  ScopedVariable driverVariable, blasVariable;
  std::unique_ptr<braid::rt::cuda::Driver> driverTable;
  std::unique_ptr<braid::rt::cuda::Blas> blasTable;
  std::unique_ptr<braid::rt::CudaDevice> opened;
  std::vector<void *> allocated;
};

#endif // BRAID_UNITTESTS_RUNTIME_CUDA_SETUP_H
