//===- CommonPasses.h - Passes of several pipelines -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_PIPELINES_COMMONPASSES_H
#define BRAID_PIPELINES_COMMONPASSES_H

#include "braid/Pipelines/Pipelines.h"

namespace braid {

/// Adds to `pm`, which runs on functions or on modules of kernels, the passes
/// that compute arithmetic and math on bf16 and 8-bit floats in f32. The host
/// and the kernels use the same passes, so the results are equal.
void addExpandFloats(mlir::OpPassManager &pm);

/// Adds to `pm`, which runs on modules, the passes that decompose what `target`
/// has no library for, and what `attention` and `convolution` ask for on
/// `chip`.
void addDecompositions(mlir::OpPassManager &pm, KernelTarget target,
                       LibraryLowering attention = LibraryLowering::Library,
                       LibraryLowering convolution = LibraryLowering::Library,
                       llvm::StringRef chip = "sm_90");

/// Adds to `pm`, which runs on modules, the passes from tensors to buffers of
/// functions that `target` can enter.
void addBufferization(mlir::OpPassManager &pm, KernelTarget target);

} // namespace braid

#endif // BRAID_PIPELINES_COMMONPASSES_H
