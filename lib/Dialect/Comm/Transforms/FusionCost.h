//===- FusionCost.h - What fusions save and cost ----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_FUSIONCOST_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_FUSIONCOST_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace braid::comm {

/// The operations of a producer that any consumer may compute again.
constexpr int64_t kFewOperations = 8;

/// A fused op has at most as many operands: a kernel of a GPU takes 4,352 bytes
/// of arguments (CUDA C++ Programming Guide, section on `__global__`).
constexpr unsigned kMostOperands = 256;

/// The instructions of a GPU that take as long as a read.
constexpr int64_t kWeightOfRead = 4;

/// The bytes that a large GPU moves in the time of a launch.
constexpr int64_t kBytesOfLaunch = int64_t(8) << 20;

/// The instructions of a GPU for `op` in a body, roughly.
int64_t getWeight(mlir::Operation *op);

/// The operations that `op` computes in one iteration. A function such as exp,
/// and a division, count for as many as a GPU needs for them.
int64_t getWeight(mlir::linalg::LinalgOp op);

/// True if `op` computes a function such as exp, divides, or reads elements at
/// computed places.
bool isExpensive(mlir::linalg::LinalgOp op);

/// True if `consumer` may compute `producer` in each of its iterations: this
/// takes a few operations, or the whole at most `opsPerByte` for each byte that
/// the consumer moves.
bool isCheapFor(mlir::linalg::LinalgOp producer,
                mlir::linalg::LinalgOp consumer, int64_t opsPerByte);

/// The bytes of a value of `type`, 2^50 for more; dynamic dimensions have some
/// size.
int64_t getBytes(mlir::Type type);

/// The bytes that `op` reads and writes.
int64_t getMovedBytes(mlir::linalg::LinalgOp op);

/// The bytes that the owner of `operand` reads instead of `operand` if it
/// computes the producer of `operand` itself, and the bytes of `operand`.
struct Traffic {
  int64_t added = 0, saved = 0;
  /// True if the consumer reads no more than before, but for broadcast rows.
  bool isNoMore() const { return added <= saved + saved / 32; }
  bool isLess() const { return added + saved / 32 < saved; }
};
Traffic getTraffic(mlir::OpOperand &operand);

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_FUSIONCOST_H
