//===- Driver.cpp - The CUDA driver's functions ---------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/API/Driver.h"
#include "Base/Error.h"

#include <cstdlib>

using namespace braid::rt;
using namespace braid::rt::cuda;

/// CUDA 13.0, as cuDriverGetVersion counts.
static constexpr int leastVersion = 13000;

const LibrarySpec &braid::rt::cuda::driverSpec() {
  static const LibrarySpec spec = {
      "the CUDA driver",
      "BRAID_CUDA_LIBRARY",
      {"libcuda.so.1"},
      "install an NVIDIA driver for CUDA 13 (580 or later)"};
  return spec;
}

Driver::Driver() : CheckedLibrary(driverSpec()) {
  checkComplete();
  // Streams that share one of the default's 8 queues wait for each other.
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", /*replace=*/0);
  Result result = init(0);
  if (result == ERROR_NO_DEVICE || (result == SUCCESS && deviceCount() == 0))
    throw Error("the CUDA driver in " + path() +
                " finds no GPU: run `nvidia-smi -L`, and look whether "
                "CUDA_VISIBLE_DEVICES hides the GPUs of this machine");
  check(result, "cuInit");
  int version = 0;
  call(driverGetVersion, &version);
  if (version < leastVersion)
    throw Error("the CUDA driver in " + path() + " is one for CUDA " +
                std::to_string(version / 1000) + '.' +
                std::to_string(version % 1000 / 10) +
                ", expected 13.0 or "
                "later: " +
                driverSpec().advice);
}

std::string Driver::describe(Result result) const {
  const char *name = nullptr, *text = nullptr;
  if (getErrorName(result, &name) != SUCCESS || !name)
    return "error " + std::to_string(result);
  if (getErrorString(result, &text) != SUCCESS || !text)
    return name;
  return std::string(name) + " (" + text + ")";
}

void Driver::fail(Result result, const char *function) const {
  throw Error(std::string(function) + " failed: " + describe(result));
}

Stream Driver::createStream(StreamPriority priority) const {
  int least = 0, greatest = 0;
  call(ctxGetStreamPriorityRange, &least, &greatest);
  Stream stream = nullptr;
  call(streamCreateWithPriority, &stream, STREAM_NON_BLOCKING,
       priority == StreamPriority::Lowest ? least : greatest);
  return stream;
}

int Driver::deviceCount() const {
  int count = 0;
  call(deviceGetCount, &count);
  return count;
}
