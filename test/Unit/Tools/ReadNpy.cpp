//===- ReadNpy.cpp - What braid-run reads in .npy files ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads lines `TYPE FILE` and prints for each one `SIZES BYTES`, such as `2x3
// 00ff...`, or `refused: MESSAGE`. A test compares many files with NumPy.
//
//===----------------------------------------------------------------------===//

#include "Common/Failure.h"
#include "Tensors/Npy.h"

#include <cstdio>
#include <iostream>

using namespace braid::run;

static int32_t dtypeOf(const std::string &name) {
  for (int32_t dtype = 0; braid_rt_dtype_name(dtype); ++dtype)
    if (name == braid_rt_dtype_name(dtype))
      return dtype;
  return -1;
}

int main() {
  std::string type, file;
  while (std::cin >> type >> file) {
    try {
      Tensor tensor = readNpy(file, dtypeOf(type));
      std::string sizes;
      for (int64_t size : tensor.sizes)
        sizes += (sizes.empty() ? "" : "x") + std::to_string(size);
      std::printf("(%s) ", sizes.c_str());
      for (int64_t i = 0; i < tensor.bytes(); ++i)
        std::printf("%02x", static_cast<unsigned char>(tensor.data[i]));
      std::printf("\n");
    } catch (const RunError &error) {
      std::printf("refused: %s\n", error.what());
    }
  }
  return 0;
}
