//===- NCCL.cpp - The functions of NCCL -----------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/API/NCCL.h"
#include "Base/Error.h"

using namespace braid::rt;
using namespace braid::rt::nccl;

const LibrarySpec &braid::rt::nccl::librarySpec() {
  static const LibrarySpec spec = {
      "NCCL",
      "BRAID_NCCL_LIBRARY",
      {"libnccl.so.2"},
      "install NCCL 2.28 or later for CUDA 13 (libnccl2, or the Python package "
      "nvidia-nccl-cu13)"};
  return spec;
}

NCCL::NCCL() : CheckedLibrary(librarySpec()) {
  // An older library also lacks functions, but its version is the better
  // message.
  if (getVersion.address && getVersion(&version) == Success &&
      version < leastVersion)
    throw Error("NCCL in " + path() + " has version " +
                describeVersion(version) + ", expected " +
                describeVersion(leastVersion) + " or later; " +
                librarySpec().advice);
  checkComplete();
}

std::string NCCL::describe(Result result) const {
  std::string text = getErrorString(result);
  const char *last = getLastError(/*comm=*/nullptr);
  if (last && *last)
    text += std::string(" (") + last + ")";
  return text;
}

void NCCL::fail(Result result, const char *function) const {
  throw Error(std::string(function) + " failed: " + describe(result));
}

std::string braid::rt::nccl::describeVersion(int version) {
  return std::to_string(version / 10000) + "." +
         std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}
