//===- Cusolver.cpp - The functions of cuSOLVER and cuBLAS ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/API/Cusolver.h"
#include "Base/Error.h"

using namespace braid::rt;
using namespace braid::rt::cuda;

const LibrarySpec &cusolver::librarySpec() {
  static const LibrarySpec spec = {
      "cuSOLVER",
      "BRAID_CUSOLVER_LIBRARY",
      {"libcusolver.so.12", "libcusolver.so"},
      "install cuSOLVER for CUDA 13 (`pip install nvidia-cusolver`) and have "
      "the loader find it (LD_LIBRARY_PATH)"};
  return spec;
}

cusolver::Cusolver::Cusolver() : CheckedLibrary(librarySpec()) {
  checkComplete();
}

/// The name of a cusolverStatus_t in messages.
static std::string nameStatus(cusolver::Status status) {
  // The values of cusolver_common.h.
  static const char *const names[] = {
      "SUCCESS",          "NOT_INITIALIZED", "ALLOC_FAILED",
      "INVALID_VALUE",    "ARCH_MISMATCH",   "MAPPING_ERROR",
      "EXECUTION_FAILED", "INTERNAL_ERROR",  "MATRIX_TYPE_NOT_SUPPORTED",
      "NOT_SUPPORTED"};
  auto number = static_cast<unsigned>(status);
  if (number < std::size(names))
    return std::string("CUSOLVER_STATUS_") + names[number];
  return "cusolverStatus_t " + std::to_string(number);
}

void cusolver::Cusolver::check(Status status, const char *function) const {
  if (status != STATUS_SUCCESS)
    throw Error(std::string(function) + " failed: " + nameStatus(status));
}

void cusolver::Cusolver::check(BlasStatus status, const char *function) const {
  if (status != BLAS_SUCCESS)
    throw Error(std::string(function) +
                " failed: " + getBlasStatusName(status));
}
