//===- TensorOps.h - What all decompositions build --------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_LIBRARY_TRANSFORMS_TENSOROPS_H
#define BRAID_LIB_DIALECT_LIBRARY_TRANSFORMS_TENSOROPS_H

#include "braid/Support/IR/Operations.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

namespace braid::library {

/// The same op on tensors, for an op on buffers that reads its inputs and
/// writes its outputs: inputs are read where the op is, and the results are
/// written into the outputs. Sets the insertion point to the op. An op on
/// tensors stays.
mlir::Operation *moveToTensors(mlir::RewriterBase &rewriter,
                               mlir::DestinationStyleOpInterface op);

} // namespace braid::library

#endif // BRAID_LIB_DIALECT_LIBRARY_TRANSFORMS_TENSOROPS_H
