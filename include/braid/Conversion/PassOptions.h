//===- PassOptions.h - Enumerations in options of conversions ---*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_CONVERSION_PASSOPTIONS_H
#define BRAID_CONVERSION_PASSOPTIONS_H

#include "llvm/Support/CommandLine.h"

namespace braid {

/// The machine that runs the kernels of a program.
enum class KernelTarget { Host, CUDA };

/// What computes attention or convolutions on a GPU: cuDNN, or products, sums
/// and elementwise ops.
enum class LibraryLowering { Library, Decompose };

/// The values of `attention` and `convolution` on the command line, with their
/// meaning.
inline llvm::cl::ValuesClass getLibraryLoweringValues() {
  return llvm::cl::values(clEnumValN(LibraryLowering::Library, "library",
                                     "cuDNN, where it supports the op"),
                          clEnumValN(LibraryLowering::Decompose, "decompose",
                                     "matmuls, sums and elementwise ops"));
}

/// The values of `target` on the command line, with their meaning.
inline llvm::cl::ValuesClass getKernelTargetValues() {
  return llvm::cl::values(
      clEnumValN(KernelTarget::Host, "host", "the host's processors"),
      clEnumValN(KernelTarget::CUDA, "cuda", "NVIDIA GPUs"));
}

} // namespace braid

#endif // BRAID_CONVERSION_PASSOPTIONS_H
