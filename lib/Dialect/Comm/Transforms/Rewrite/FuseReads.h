//===- FuseReads.h - Compute what is read, where it is read -----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_FUSEREADS_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_FUSEREADS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace braid::comm {

/// If bodies of linalg ops read single elements of the result of `producer`, an
/// elementwise op, with `tensor.extract`, and no other op reads the result,
/// computes these elements in the bodies and erases `producer`. Does nothing if
/// the bodies read more elements than the result has. Returns true if it did.
bool fuseIntoReads(mlir::RewriterBase &rewriter,
                   mlir::linalg::GenericOp producer);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_FUSEREADS_H
