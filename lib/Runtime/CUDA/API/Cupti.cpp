//===- Cupti.cpp - The activity API of CUPTI ------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/API/Cupti.h"
#include "Base/Error.h"

using namespace braid::rt;
using namespace braid::rt::cupti;

const LibrarySpec &braid::rt::cupti::librarySpec() {
  static const LibrarySpec spec = {
      "CUPTI",
      "BRAID_CUPTI_LIBRARY",
      {"libcupti.so.13"},
      "install CUPTI of CUDA 13.0 (cuda-cupti-13-0, or the Python package "
      "nvidia-cuda-cupti==13.0.*)"};
  return spec;
}

Cupti::Cupti() : CheckedLibrary(librarySpec()) {
  checkComplete();
  uint32_t version = 0;
  call(getVersion, &version);
  if (version / 100 != knownVersion)
    throw Error("CUPTI in " + path() + " has version " +
                std::to_string(version) + ", expected " +
                std::to_string(knownVersion) + "xx; " + librarySpec().advice);
}

void Cupti::check(Result result, const char *function) const {
  if (result == Success)
    return;
  const char *text = nullptr;
  if (getResultString(result, &text) != Success || !text)
    text = "unknown error";
  throw Error(std::string(function) + " failed: " + text + " (" +
              std::to_string(result) + ")");
}
