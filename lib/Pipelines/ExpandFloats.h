//===- ExpandFloats.h - Floats that LLVM has instructions for ---*- C++ -*-===//
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

/// Adds to `pm`, a pass manager of functions or of modules of kernels, the
/// passes that turn arithmetic on bf16 and 8-bit floats, and functions of
/// small floats, into arithmetic on f32. The host and kernels compute small
/// floats by the same passes, so that results are the same.
void addExpandFloats(mlir::OpPassManager &pm);

} // namespace braid

#endif // BRAID_PIPELINES_EXPANDFLOATS_H
