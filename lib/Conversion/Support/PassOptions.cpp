//===- PassOptions.cpp - Enumerations in options of conversions -----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Conversion/PassOptions.h"

using namespace braid;

llvm::cl::ValuesClass braid::getKernelTargetValues() {
  return llvm::cl::values(
      clEnumValN(KernelTarget::Host, "host", "the host's processors"),
      clEnumValN(KernelTarget::CUDA, "cuda", "NVIDIA GPUs"));
}

llvm::cl::ValuesClass braid::getLibraryLoweringValues() {
  return llvm::cl::values(clEnumValN(LibraryLowering::Library, "library",
                                     "cuDNN, where it supports the op"),
                          clEnumValN(LibraryLowering::Decompose, "decompose",
                                     "matmuls, sums and elementwise ops"));
}
