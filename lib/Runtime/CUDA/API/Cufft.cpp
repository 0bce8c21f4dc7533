//===- Cufft.cpp - The functions of cuFFT ---------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/API/Cufft.h"
#include "Base/Error.h"

using namespace braid::rt;
using namespace braid::rt::cuda;

const LibrarySpec &cufft::librarySpec() {
  static const LibrarySpec spec = {
      "cuFFT",
      "BRAID_CUFFT_LIBRARY",
      {"libcufft.so.12", "libcufft.so"},
      "install cuFFT for CUDA 13 (`pip install nvidia-cufft`) and have the "
      "loader find it (LD_LIBRARY_PATH)"};
  return spec;
}

cufft::Cufft::Cufft() : CheckedLibrary(librarySpec()) { checkComplete(); }

/// The name of a cufftResult in messages.
static std::string nameResult(cufft::Result result) {
  // The values of cufft.h.
  switch (static_cast<unsigned>(result)) {
  case 1:
    return "CUFFT_INVALID_PLAN";
  case 2:
    return "CUFFT_ALLOC_FAILED";
  case 3:
    return "CUFFT_INVALID_TYPE";
  case 4:
    return "CUFFT_INVALID_VALUE";
  case 5:
    return "CUFFT_INTERNAL_ERROR";
  case 6:
    return "CUFFT_EXEC_FAILED";
  case 7:
    return "CUFFT_SETUP_FAILED";
  case 8:
    return "CUFFT_INVALID_SIZE";
  default:
    return "cufftResult " + std::to_string(result);
  }
}

void cufft::Cufft::check(Result result, const char *function) const {
  if (result != RESULT_SUCCESS)
    throw Error(std::string(function) + " failed: " + nameResult(result));
}
