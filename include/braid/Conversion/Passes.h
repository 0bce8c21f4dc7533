//===- Passes.h - Braid's conversions ---------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_CONVERSION_PASSES_H
#define BRAID_CONVERSION_PASSES_H

#include "braid/Conversion/PassOptions.h"
#include "mlir/Pass/Pass.h"

namespace mlir::func {
class FuncDialect;
class FuncOp;
} // namespace mlir::func

namespace mlir::gpu {
class GPUModuleOp;
} // namespace mlir::gpu

namespace braid {

#define GEN_PASS_DECL
#include "braid/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "braid/Conversion/Passes.h.inc"

/// The folder of the CUDA toolkit: the first of CUDA_ROOT, CUDA_HOME and
/// CUDA_PATH that is set, else /usr/local/cuda.
std::string findCudaToolkit();

/// The number of `chip`, 90 of `sm_90a`; 0 if it has none.
unsigned getChipNumber(llvm::StringRef chip);

} // namespace braid

#endif // BRAID_CONVERSION_PASSES_H
