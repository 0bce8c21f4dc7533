//===- ContiguousBuffers.h - Buffers as libraries want them -----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_COMM_IR_CONTIGUOUSBUFFERS_H
#define BRAID_DIALECT_COMM_IR_CONTIGUOUSBUFFERS_H

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/IR/PatternMatch.h"

namespace braid::comm {

/// Returns `buffer` if it is contiguous (see `isContiguous`) or has no rank,
/// else a new buffer of its shape, with its contents if `copy` is set. Fails if
/// `options` give no buffer or no copy.
llvm::FailureOr<mlir::Value> getContiguous(
    mlir::RewriterBase &rewriter, mlir::Location loc, mlir::Value buffer,
    const mlir::bufferization::BufferizationOptions &options, bool copy);

} // namespace braid::comm

#endif // BRAID_DIALECT_COMM_IR_CONTIGUOUSBUFFERS_H
