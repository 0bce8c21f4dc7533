//===- NpyFuzzer.cpp - Files of NumPy arrays ------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first byte of an input chooses the element type. What can be read is
// written as NumPy writes it and read again, with the same bytes.
//
//===----------------------------------------------------------------------===//

#include "Common/Failure.h"
#include "Tensors/Npy.h"

#include <cstdlib>
#include <cstring>
#include <sstream>

using namespace braid::run;

static void expect(bool condition) {
  if (!condition)
    std::abort();
}

static Tensor read(const std::string &bytes, int32_t dtype) {
  std::istringstream stream(bytes);
  return readNpy(stream, dtype);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  int32_t dtype = data[0] % (BRAID_RT_F8E5M2 + 1);
  try {
    Tensor tensor = read(
        std::string(reinterpret_cast<const char *>(data) + 1, size - 1), dtype);
    expect(static_cast<size_t>(tensor.bytes()) < size);
    Tensor again = read(formatNpy(tensor), dtype);
    expect(again.sizes == tensor.sizes);
    expect(tensor.bytes() == 0 ||
           std::memcmp(again.data, tensor.data,
                       static_cast<size_t>(tensor.bytes())) == 0);
  } catch (const RunError &) {
    // The answer to a file that NumPy refuses.
  }
  return 0;
}
