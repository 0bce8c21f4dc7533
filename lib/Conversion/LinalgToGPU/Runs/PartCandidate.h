//===- PartCandidate.h - Ops that may be in a run of parts ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CONVERSION_LINALGTOGPU_RUNS_PARTCANDIDATE_H
#define BRAID_LIB_CONVERSION_LINALGTOGPU_RUNS_PARTCANDIDATE_H

#include "../LoopNest.h"

#include "mlir/IR/OwningOpRef.h"

#include <memory>

namespace braid::kernels {

/// A read of a body from a buffer from outside.
struct CapturedRead {
  mlir::Value root;
  int64_t base;
  /// The stride and size of each dimension, and the loop whose index it has;
  /// -1 for another index.
  llvm::SmallVector<int64_t> strides, sizes;
  llvm::SmallVector<int> loops;
};

/// An op that may be a part of a run.
struct PartCandidate {
  mlir::Operation *op;
  /// What a copy is as a linalg op. This op stands in no block.
  mlir::OwningOpRef<mlir::linalg::GenericOp> copy;
  LoopNest nest;
  llvm::SmallVector<CapturedRead> captured;
  int64_t numBytes = 0;
  bool isTaken = false;
};

/// The candidate of `op`; null if `op` cannot be a part of a run.
std::unique_ptr<PartCandidate> matchPart(mlir::RewriterBase &rewriter,
                                         mlir::Operation *op);

/// The distance of the elements that `access` reads or writes whose indices
/// along `loop` of `nest` differ by one, if the address of an element tells the
/// index; zero otherwise.
int64_t getDistance(const Access &access, const LoopNest &nest, unsigned loop);
int64_t getDistance(const CapturedRead &read, const LoopNest &nest,
                    unsigned loop);

} // namespace braid::kernels

#endif // BRAID_LIB_CONVERSION_LINALGTOGPU_RUNS_PARTCANDIDATE_H
