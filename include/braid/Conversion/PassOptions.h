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

/// What computes attention on a GPU: cuDNN, or products, sums and elementwise
/// ops.
enum class AttentionLowering { Library, Decompose };

/// The values of `attention` on the command line, with their meaning.
llvm::cl::ValuesClass getAttentionLoweringValues();

/// The values of `target` on the command line, with their meaning.
llvm::cl::ValuesClass getKernelTargetValues();

} // namespace braid

#endif // BRAID_CONVERSION_PASSOPTIONS_H
