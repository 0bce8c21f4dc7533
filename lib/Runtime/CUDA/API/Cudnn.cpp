//===- Cudnn.cpp - The functions of cuDNN ---------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/API/Cudnn.h"
#include "Base/Error.h"

using namespace braid::rt;
using namespace braid::rt::cuda::cudnn;

const LibrarySpec &braid::rt::cuda::cudnn::librarySpec() {
  static const LibrarySpec spec = {
      "cuDNN",
      "BRAID_CUDNN_LIBRARY",
      {"libcudnn.so.9", "libcudnn.so"},
      "install cuDNN 9 for CUDA 13 (`pip install nvidia-cudnn-cu13`) and have "
      "the loader find it (LD_LIBRARY_PATH), or compile the program with "
      "--attention=decompose and --convolution=decompose"};
  return spec;
}

Cudnn::Cudnn() : CheckedLibrary(librarySpec()) {
  checkComplete();
  if (size_t version = getVersion(); version < 90100 || version >= 100000)
    throw Error("cuDNN in " + path() + " has version " +
                std::to_string(version) + ", expected 90100 (9.1) or newer");
}

void Cudnn::fail(Status status, const char *function) const {
  char detail[512] = {};
  getLastErrorString(detail, sizeof(detail) - 1);
  std::string text =
      std::string(function) + " failed: " + getErrorString(status);
  throw Error(detail[0] ? text + " (" + detail + ")" : text);
}
