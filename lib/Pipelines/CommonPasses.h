//===- ExpandFloats.h - Lower arithmetic on small floats --------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_PIPELINES_EXPANDFLOATS_H
#define BRAID_PIPELINES_EXPANDFLOATS_H

#include "mlir/Pass/PassManager.h"

namespace braid {

/// Adds to `pm`, which runs on functions or on modules of kernels, the passes
/// that compute arithmetic and math on bf16 and 8-bit floats in f32. The host
/// and the kernels use the same passes, so the results are equal.
void addExpandFloats(mlir::OpPassManager &pm);

} // namespace braid

#endif // BRAID_PIPELINES_EXPANDFLOATS_H
