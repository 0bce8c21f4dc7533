//===- Blas.cpp - The functions of cuBLASLt -------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/API/Blas.h"
#include "Base/Error.h"

using namespace braid::rt;
using namespace braid::rt::cuda;

const LibrarySpec &braid::rt::cuda::blasSpec() {
  static const LibrarySpec spec = {
      "cuBLASLt",
      "BRAID_CUBLASLT_LIBRARY",
      {"libcublasLt.so.13", "libcublasLt.so"},
      "install cuBLAS 13 (package libcublas-13-0, or `pip install "
      "nvidia-cublas`) and have the loader find it (LD_LIBRARY_PATH)"};
  return spec;
}

Blas::Blas() : CheckedLibrary(blasSpec()) {
  checkComplete();
  if (size_t version = getVersion(); version < 130000)
    throw Error("cuBLASLt in " + path() + " has version " +
                std::to_string(version) + ", expected at least 130000 (13.0)");
}

void Blas::fail(BlasStatus status, const char *function) const {
  throw Error(std::string(function) + " failed: " + getStatusName(status) +
              " (" + getStatusString(status) + ")");
}
