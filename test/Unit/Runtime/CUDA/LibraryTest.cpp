//===- LibraryTest.cpp - Libraries loaded at run time ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Setup.h"

#include <cstdlib>

using namespace braid::rt;
using testing::HasSubstr;
using testing::StartsWith;

static LibrarySpec spec(std::vector<const char *> names) {
  return {"the test library", "BRAID_TEST_LIBRARY", std::move(names),
          "install it"};
}

TEST(Library, takesTheFirstNameThatExists) {
  Library library(spec({"libnothing.so.7", FAKE_CUDA}));
  EXPECT_EQ(library.path(), FAKE_CUDA);
}

TEST(Library, takesTheVariableBeforeTheNames) {
  ScopedVariable variable("BRAID_TEST_LIBRARY", FAKE_CUBLASLT);
  Library library(spec({FAKE_CUDA}));
  EXPECT_EQ(library.path(), FAKE_CUBLASLT);
}

TEST(Library, ignoresAnEmptyVariable) {
  ScopedVariable variable("BRAID_TEST_LIBRARY", "");
  Library library(spec({FAKE_CUDA}));
  EXPECT_EQ(library.path(), FAKE_CUDA);
}

TEST(Library, namesAllThatItHasTriedWhenNothingExists) {
  std::string error =
      errorOf([] { Library library(spec({"libnothing.so.7", "libnone.so"})); });
  EXPECT_THAT(error, StartsWith("the test library cannot be loaded: "
                                "libnothing.so.7: cannot open shared object"));
  EXPECT_THAT(error, HasSubstr("; libnone.so: cannot open"));
  EXPECT_THAT(error, HasSubstr("; install it, or set BRAID_TEST_LIBRARY to the "
                               "library's path"));
}

TEST(Library, saysThatThePathWasGiven) {
  ScopedVariable variable("BRAID_TEST_LIBRARY", "/nowhere/lib.so");
  std::string error = errorOf([] { Library library(spec({FAKE_CUDA})); });
  EXPECT_THAT(error, HasSubstr("/nowhere/lib.so: No such file or directory"));
  EXPECT_THAT(error, HasSubstr("; the path is the value of "
                               "BRAID_TEST_LIBRARY"));
}

TEST(Library, namesAllMissingFunctions) {
  Library library(spec({FAKE_CUDA}));
  void (*function)() = nullptr;
  function = library.find("cuInit");
  EXPECT_NE(function, nullptr);
  EXPECT_EQ(errorOf([&] { library.checkComplete(); }), "");
  function = library.find("cuNothing");
  EXPECT_EQ(function, nullptr);
  function = library.find("cuLess");
  EXPECT_EQ(errorOf([&] { library.checkComplete(); }),
            "the test library in " FAKE_CUDA
            " has no cuNothing, cuLess; install it");
}

TEST(Driver, saysWhatToDoWithoutTheLibrary) {
  ScopedVariable variable("BRAID_CUDA_LIBRARY", "/nowhere/libcuda.so.1");
  std::string error = errorOf([] { cuda::Driver driver; });
  EXPECT_THAT(error, StartsWith("the CUDA driver cannot be loaded: "
                                "/nowhere/libcuda.so.1: No such file"));
}

TEST(Driver, namesTheFunctionsThatAnOldOneLacks) {
  ScopedVariable variable("BRAID_CUDA_LIBRARY", FAKE_CUBLASLT);
  std::string error = errorOf([] { cuda::Driver driver; });
  // The fake cuBLASLt links the fake driver, which dlsym finds as well.
  EXPECT_EQ(error, "");
  ScopedVariable other("BRAID_CUDA_LIBRARY", "libm.so.6");
  error = errorOf([] { cuda::Driver driver; });
  EXPECT_THAT(error,
              HasSubstr("libm.so.6 has no cuInit, cuDriverGetVersion, "));
  EXPECT_THAT(error, HasSubstr("; install an NVIDIA driver for CUDA 13"));
}

TEST(Driver, saysThatThereIsNoGpu) {
  ScopedVariable variable("BRAID_CUDA_LIBRARY", FAKE_CUDA);
  fake_cuda_reset();
  fake_cuda_set_devices(0);
  EXPECT_EQ(errorOf([] { cuda::Driver driver; }),
            "the CUDA driver in " FAKE_CUDA
            " finds no GPU: run `nvidia-smi -L`, and look whether "
            "CUDA_VISIBLE_DEVICES hides the GPUs of this machine");
  fake_cuda_reset();
}

TEST(Driver, refusesAnOldOne) {
  ScopedVariable variable("BRAID_CUDA_LIBRARY", FAKE_CUDA);
  fake_cuda_reset();
  fake_cuda_set_version(12080);
  EXPECT_EQ(errorOf([] { cuda::Driver driver; }),
            "the CUDA driver in " FAKE_CUDA
            " is one for CUDA 12.8, expected 13.0 or later: install an NVIDIA "
            "driver for CUDA 13 (580 or later)");
  fake_cuda_reset();
}

TEST(Driver, saysThatInitialisationFails) {
  ScopedVariable variable("BRAID_CUDA_LIBRARY", FAKE_CUDA);
  fake_cuda_reset();
  fake_cuda_fail("cuInit", cuda::ERROR_SYSTEM_DRIVER_MISMATCH, 0);
  EXPECT_EQ(errorOf([] { cuda::Driver driver; }), "cuInit failed: error 803");
}

TEST(Driver, hasAQueueForEveryStream) {
  ScopedVariable variable("BRAID_CUDA_LIBRARY", FAKE_CUDA);
  fake_cuda_reset();
  {
    ScopedVariable unset("CUDA_DEVICE_MAX_CONNECTIONS", nullptr);
    cuda::Driver driver;
    EXPECT_STREQ(std::getenv("CUDA_DEVICE_MAX_CONNECTIONS"), "32");
  }
  ScopedVariable given("CUDA_DEVICE_MAX_CONNECTIONS", "1");
  cuda::Driver driver;
  EXPECT_STREQ(std::getenv("CUDA_DEVICE_MAX_CONNECTIONS"), "1");
}

TEST(Driver, describesResults) {
  ScopedVariable variable("BRAID_CUDA_LIBRARY", FAKE_CUDA);
  fake_cuda_reset();
  cuda::Driver driver;
  EXPECT_EQ(errorOf([&] { driver.check(cuda::SUCCESS, "cuMemAlloc"); }), "");
  EXPECT_EQ(
      errorOf([&] { driver.check(cuda::ERROR_OUT_OF_MEMORY, "cuMemAlloc"); }),
      "cuMemAlloc failed: CUDA_ERROR_OUT_OF_MEMORY (out of memory)");
  EXPECT_EQ(driver.describe(static_cast<cuda::Result>(12345)), "error 12345");
}

TEST(Blas, saysWhatToDoWithoutTheLibrary) {
  ScopedVariable variable("BRAID_CUBLASLT_LIBRARY", "/nowhere/lib.so");
  EXPECT_THAT(errorOf([] { cuda::Blas blas; }),
              StartsWith("cuBLASLt cannot be loaded: /nowhere/lib.so: "));
}

TEST(Blas, namesTheFunctionsThatALibraryLacks) {
  ScopedVariable variable("BRAID_CUBLASLT_LIBRARY", FAKE_CUDA);
  EXPECT_THAT(errorOf([] { cuda::Blas blas; }),
              HasSubstr("has no cublasLtCreate, cublasLtDestroy, "));
}

TEST(Blas, describesStatuses) {
  ScopedVariable variable("BRAID_CUBLASLT_LIBRARY", FAKE_CUBLASLT);
  cuda::Blas blas;
  EXPECT_EQ(errorOf([&] { blas.check(cuda::BLAS_SUCCESS, "cublasLtCreate"); }),
            "");
  EXPECT_EQ(
      errorOf([&] { blas.check(cuda::BLAS_NOT_SUPPORTED, "cublasLtCreate"); }),
      "cublasLtCreate failed: CUBLAS_STATUS_NOT_SUPPORTED (the functionality "
      "is not supported)");
}
