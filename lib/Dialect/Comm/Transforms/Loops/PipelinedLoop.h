//===- PipelinedLoop.h - Loops whose starts run ahead or behind -*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_PIPELINEDLOOP_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_PIPELINEDLOOP_H

#include "LoopStarts.h"

#include "mlir/IR/PatternMatch.h"

namespace braid::comm {

/// Rewrites `loop` so that `starts`, of its body, leave their iteration.
/// Returns the loop of the iterations that are left, which has the block of
/// `loop`. Hoisted starts run before it, with their waits. For shared ones,
/// which come alone, the first iteration stands before it. Prefetched starts
/// run before it for the first iteration, and in each iteration for the next
/// one; the last iteration stands behind it. For delayed starts the first
/// iteration stands before it, and behind it what uses the result of the last
/// one. Where the number of iterations is not known, all of that runs only if
/// there is an iteration.
mlir::scf::ForOp pipelineLoop(mlir::RewriterBase &rewriter,
                              mlir::scf::ForOp loop,
                              llvm::ArrayRef<ShiftedStart> starts);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_PIPELINEDLOOP_H
