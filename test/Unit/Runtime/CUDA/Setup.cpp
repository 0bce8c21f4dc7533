//===- Setup.cpp - A device over the fake driver --------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Setup.h"

#include <cstdlib>
#include <cstring>

using namespace braid::rt;

ScopedVariable::ScopedVariable(const char *name, const char *value)
    : name(name) {
  const char *before = std::getenv(name);
  wasSet = before != nullptr;
  old = before ? before : "";
  if (value)
    setenv(name, value, 1);
  else
    unsetenv(name);
}

ScopedVariable::~ScopedVariable() {
  if (wasSet)
    setenv(name.c_str(), old.c_str(), 1);
  else
    unsetenv(name.c_str());
}

const char *const testPtx = R"(// PTX for tests
.version 9.0
.target sm_90
.visible .entry scale(
  .param .u64 .ptr .align 1 scale_param_0,
  .param .u64 scale_param_1,
  .param .f32 scale_param_2
)
{ ret; }
.visible .entry fill(
  .param .u64 fill_param_0
)
{ ret; }
)";

const char *const waitingPtx = R"(// PTX for tests
.version 9.0
.target sm_90
.visible .global .align 1 .u8 braid_kernels_wait = 1;
.visible .entry scale(
  .param .u64 .ptr .align 1 scale_param_0,
  .param .u64 scale_param_1,
  .param .f32 scale_param_2
)
{ griddepcontrol.wait; ret; }
.visible .entry fill(
  .param .u64 fill_param_0
)
{ griddepcontrol.wait; ret; }
)";

TestProgram::TestProgram(const char *data, const char *chip, int64_t size)
    : image({data, size ? size : static_cast<int64_t>(std::strlen(data)) + 1,
             chip}),
      scale({&image, "scale"}), fill({&image, "fill"}) {
  entry.name = "main";
}

void TestProgram::addConstant(const void *data, int64_t size) {
  constants.push_back(
      std::make_unique<braid_rt_constant>(braid_rt_constant{data, size}));
}

void TestProgram::addArgument(const char *name, braid_rt_direction direction,
                              braid_rt_passing passing, int64_t size) {
  sizes.push_back(std::make_unique<int64_t>(size));
  bool isScalar = passing == BRAID_RT_SCALAR;
  arguments.push_back({name, isScalar ? BRAID_RT_I64 : BRAID_RT_F32,
                       isScalar ? 0 : 1, sizes.back().get(), direction,
                       passing});
}

const braid_rt_program &TestProgram::get() {
  images[0] = &image;
  entries[0] = &entry;
  entry.argumentCount = static_cast<int64_t>(arguments.size());
  entry.arguments = arguments.data();
  constantPointers.clear();
  for (const auto &constant : constants)
    constantPointers.push_back(constant.get());
  device.imageCount = 1;
  device.images = images;
  device.constantCount = static_cast<int64_t>(constantPointers.size());
  device.constants = constantPointers.data();
  program.abiVersion = BRAID_RT_ABI_VERSION;
  program.target = BRAID_RT_TARGET_CUDA;
  program.name = "test";
  program.entryCount = 1;
  program.entries = entries;
  program.device = &device;
  return program;
}

CudaTest::CudaTest()
    : driverVariable("BRAID_CUDA_LIBRARY", FAKE_CUDA),
      blasVariable("BRAID_CUBLASLT_LIBRARY", FAKE_CUBLASLT) {
  fake_cuda_reset();
  fake_cublaslt_reset();
}

CudaTest::~CudaTest() {
  if (opened)
    for (void *memory : allocated)
      opened->free(memory);
  opened.reset();
  EXPECT_STREQ(fake_cuda_leaks(), "");
  EXPECT_EQ(fake_cublaslt_leaks(), 0);
}

cuda::Driver &CudaTest::driver() {
  if (!driverTable)
    driverTable = std::make_unique<cuda::Driver>();
  return *driverTable;
}

CudaDevice &CudaTest::device(int32_t ordinal) {
  if (!opened) {
    blasTable = std::make_unique<cuda::Blas>();
    opened = std::make_unique<CudaDevice>(driver(), *blasTable, ordinal,
                                          options, *hooks);
  }
  return *opened;
}
