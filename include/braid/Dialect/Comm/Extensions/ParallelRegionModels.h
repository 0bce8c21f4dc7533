//===- ParallelRegionModels.h - Upstream's kernels --------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_COMM_EXTENSIONS_PARALLELREGIONMODELS_H
#define BRAID_DIALECT_COMM_EXTENSIONS_PARALLELREGIONMODELS_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace braid::comm {

/// Registers the models of `ParallelRegionOpInterface` for ops of the dialects
/// affine, gpu, linalg and tensor.
void registerParallelRegionModels(mlir::DialectRegistry &registry);

} // namespace braid::comm

#endif // BRAID_DIALECT_COMM_EXTENSIONS_PARALLELREGIONMODELS_H
