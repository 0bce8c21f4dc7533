//===- BufferAccesses.h - Accesses of ops and kernels -----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_ANALYSIS_MEMORY_BUFFERACCESSES_H
#define BRAID_LIB_ANALYSIS_MEMORY_BUFFERACCESSES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace braid {

/// What an op does to a buffer. `Pass`: the op passes the buffer to a function.
enum class BufferAccessKind : uint8_t { Read, Write, Free, Pass };

/// The verb of `kind` in messages: "reads", "writes", "frees" or "passes".
llvm::StringRef getVerb(BufferAccessKind kind);

/// True if the access conflicts only with operations in flight that write the
/// buffer; other accesses conflict with operations that read the buffer, too.
bool conflictsWithWritesAlone(BufferAccessKind kind);

struct BufferAccess {
  mlir::Value buffer;
  BufferAccessKind kind;
};

/// The reads, writes and frees of memrefs that `op` states by the interface of
/// memory effects, in their order; empty if `op` lacks the interface, and for
/// the launch of a kernel, whose accesses `KernelAccesses` tells. The accesses
/// of nested ops are left out.
llvm::SmallVector<BufferAccess, 4> getBufferAccesses(mlir::Operation *op);

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

#endif // BRAID_LIB_ANALYSIS_MEMORY_BUFFERACCESSES_H
