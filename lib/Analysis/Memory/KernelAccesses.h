//===- KernelAccesses.h - What GPU kernels do to buffers --------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_ANALYSIS_MEMORY_KERNELACCESSES_H
#define BRAID_LIB_ANALYSIS_MEMORY_KERNELACCESSES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"

namespace braid {

/// Tells how GPU kernels access the buffers that they get, from their bodies.
class KernelAccesses {
public:
  struct Access {
    bool isRead = false, isWritten = false;
  };

  /// How the kernel accesses operand number `index` of its operands, which
  /// `symbolTables` helps to find out; none if the kernel has no body of the
  /// dialect gpu.
  std::optional<Access> get(mlir::gpu::LaunchFuncOp launch, unsigned index,
                            mlir::SymbolTableCollection &symbolTables);

private:
  llvm::DenseMap<mlir::Value, Access> known;
};

} // namespace braid

#endif // BRAID_LIB_ANALYSIS_MEMORY_KERNELACCESSES_H
