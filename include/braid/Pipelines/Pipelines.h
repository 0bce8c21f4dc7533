//===- Pipelines.h - Pipelines of passes ------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_PIPELINES_PIPELINES_H
#define BRAID_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace braid {

/// What is done to a program on tensors before it is scheduled: inlining,
/// clean-up and fusion (`braid-prepare`). After it nothing fuses, hoists or
/// reorders but the scheduling passes.
void buildPreparePipeline(mlir::OpPassManager &pm);

/// Inductor's scheduling passes in their default order (`braid-overlap`):
/// reorder compute for overlap, sink waits, raise collectives.
void buildOverlapPipeline(mlir::OpPassManager &pm);

/// Options of `braid-lower-to-host`.
struct LowerToHostOptions
    : public mlir::PassPipelineOptions<LowerToHostOptions> {
  Option<bool> useLibrary{
      *this, "library",
      llvm::cl::desc("Multiply matrices with the BLAS library"),
      llvm::cl::init(true)};
};

/// From a scheduled program on tensors to the LLVM dialect with calls of the
/// runtime and a table of entry points (`braid-lower-to-host`).
void buildLowerToHostPipeline(mlir::OpPassManager &pm,
                              const LowerToHostOptions &options = {});

/// Registers the pipelines above.
void registerPipelines();

} // namespace braid

#endif // BRAID_PIPELINES_PIPELINES_H
