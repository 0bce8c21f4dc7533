//===- DynamicSlices.h - Slices at places that tensors have -----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_READS_DYNAMICSLICES_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_READS_DYNAMICSLICES_H

#include "mlir/IR/PatternMatch.h"

namespace braid::comm {

/// Makes elementwise ops of the slices below `root` that are read or inserted
/// at offsets which are elements of tensors, such as the position in a cache of
/// keys: the body reads the offsets. On a GPU nobody waits for an element then,
/// and the step stays one CUDA graph. Leaves slices alone if another op needs
/// the element outside of bodies, too, or if the copy takes longer than the
/// host waits.
void readOffsetsInBodies(mlir::RewriterBase &rewriter, mlir::Operation *root);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_REWRITE_READS_DYNAMICSLICES_H
