//===- PartRun.h - Ops that work on the same parts --------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CONVERSION_LINALGTOGPU_RUNS_PARTRUN_H
#define BRAID_LIB_CONVERSION_LINALGTOGPU_RUNS_PARTRUN_H

#include "../KernelBuilder.h"

#include "mlir/IR/OwningOpRef.h"

namespace braid::kernels {

/// One op of a run.
struct PartOp {
  mlir::Operation *op;
  /// What a copy is as a linalg op. This op stands in no block.
  mlir::OwningOpRef<mlir::linalg::GenericOp> copy;
  /// The loops of the op. Accesses are those to the roots of buffers, if the
  /// offsets are constant.
  LoopNest nest;
  /// For each axis of the run the loop of the op along it.
  llvm::SmallVector<unsigned> axisLoops;
  /// True if the op reads or writes what an op of the run writes, and no
  /// barrier stands between both yet.
  bool needsBarrier = false;
};

/// Ops whose iterations depend only on iterations of earlier ops that have the
/// same indices along some axes. One kernel computes all of them: a block
/// computes a part of the indices, op after op, with barriers where an op needs
/// what other threads of the block have computed. Where no op needs another
/// one, as in the update of many parameters, each op has blocks of its own.
struct PartRun {
  PartRun() = default;
  PartRun(PartRun &&) = default;
  PartRun(const PartRun &) = delete;

  std::vector<PartOp> ops;
  /// True if each op has blocks of its own. Such a run has no axes.
  bool isIndependent = false;
  /// The sizes of the axes, the axis with adjacent elements last.
  llvm::SmallVector<int64_t> axisSizes;
  /// The number of combinations of indices along the axes, and how many of them
  /// a block computes.
  int64_t numIndices = 1, indicesOfBlock = 1;

  int64_t getNumBlocks() const {
    return llvm::divideCeil(numIndices, indicesOfBlock);
  }
};

/// The runs of `block`, without ops for which `isCandidate` is false.
std::vector<PartRun>
findPartRuns(mlir::RewriterBase &rewriter, mlir::Block &block,
             llvm::function_ref<bool(mlir::Operation *)> isCandidate);

/// Emits the kernel of `run` before its last op, and erases the ops of the run.
void emitPartRun(KernelModule &kernels, mlir::RewriterBase &rewriter,
                 PartRun &run);

} // namespace braid::kernels

#endif // BRAID_LIB_CONVERSION_LINALGTOGPU_RUNS_PARTRUN_H
