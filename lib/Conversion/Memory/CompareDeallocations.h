//===- CompareDeallocations.h - Deallocations without lists -----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CONVERSION_MEMORY_COMPAREDEALLOCATIONS_H
#define BRAID_LIB_CONVERSION_MEMORY_COMPAREDEALLOCATIONS_H

#include "mlir/IR/BuiltinOps.h"

namespace braid {

/// Lowers each `bufferization.dealloc` of few buffers to comparisons of the
/// addresses of these buffers. Upstream's lowering writes the addresses to
/// lists in memory and reads the answers, which on a device makes the host
/// wait.
void compareDeallocations(mlir::ModuleOp module);

} // namespace braid

#endif // BRAID_LIB_CONVERSION_MEMORY_COMPAREDEALLOCATIONS_H
