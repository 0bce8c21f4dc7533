//===- CommCostInterface.h - The work of an op ------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_COMM_IR_COMMCOSTINTERFACE_H
#define BRAID_DIALECT_COMM_IR_COMMCOSTINTERFACE_H

#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Types.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace braid::comm {

/// Sizes and counts that the ops of a program do not give.
struct SizeDefaults {
  /// Elements of a dynamic dimension.
  int64_t dynamicSize = 64;
  /// Iterations of a loop without a static trip count.
  int64_t tripCount = 8;
  /// Bytes of `index`, which the data layout of the module gives.
  int64_t indexBytes = 8;
};

/// A matmul, or a batch of them, which kernels compute in tiles of the result.
struct Matmul {
  mlir::Type elementType;
  /// The shape of one result.
  uint64_t rows;
  uint64_t columns;
  /// The number of results.
  uint64_t batch;
  /// The operations of all runs, which the work counts, too.
  uint64_t operations;
  /// Whether rows change fastest in the left operand, and the summed dimension
  /// in the right one.
  bool isLeftTransposed = false;
  bool isRightTransposed = false;
  /// The most columns of a tile whose operands a kernel collects from memory
  /// on the way; 0 if the operands are matrices in memory.
  uint64_t collectedColumns = 0;
  /// Whether rows of an operand or of the result in memory are no multiple of
  /// 16 bytes, so that kernels move single elements.
  bool hasUnalignedRows = false;
};

/// An amount of work, independent of the machine. All counts saturate.
struct Work {
  struct Operations {
    /// The element type of the operations.
    mlir::Type elementType;
    uint64_t count;
  };
  /// Arithmetic operations; a multiplication with an addition is two. One entry
  /// for each element type, in the order of their first use.
  llvm::SmallVector<Operations, 2> operations;
  /// The part of the operations that runs in tiles, one matmul after the
  /// other.
  llvm::SmallVector<Matmul, 1> matmuls;
  uint64_t bytesRead = 0;
  uint64_t bytesWritten = 0;
  /// Short kernels beside the one that does the work, and the bytes that they
  /// read and write.
  uint64_t extraKernels = 0, extraBytes = 0;

  /// Adds `count` operations on elements of type `elementType`.
  void addOperations(mlir::Type elementType, uint64_t count);
  /// Adds the operations and the matmuls of `other`, `times` times, and none
  /// of its bytes.
  void addOperationsOf(const Work &other, uint64_t times = 1);
  /// Adds bytes that are read and bytes that are written.
  void addBytes(uint64_t read, uint64_t written);
  /// Bytes read and written.
  uint64_t getBytes() const;
};

/// The value of `comm.multiprocessors` of `op`; 0 without the attribute.
int64_t getMultiprocessorsAttr(mlir::Operation *op);

} // namespace braid::comm

#include "braid/Dialect/Comm/IR/CommCostInterface.h.inc"

namespace braid::comm {

/// The work of `op` that the op itself, or else Braid's own estimate, gives;
/// none if there is no such estimate.
std::optional<Work> getKnownWork(mlir::Operation *op,
                                 const SizeDefaults &defaults);

} // namespace braid::comm

#endif // BRAID_DIALECT_COMM_IR_COMMCOSTINTERFACE_H
