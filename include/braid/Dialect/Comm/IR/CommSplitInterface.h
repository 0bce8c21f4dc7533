//===- CommSplitInterface.h - Ops that can be split -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_COMM_IR_COMMSPLITINTERFACE_H
#define BRAID_DIALECT_COMM_IR_COMMSPLITINTERFACE_H

#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace braid::comm {

/// An axis along which an op can be split. A dimension may contain the batch
/// several times in sequence, as runs: one for each member whose rows were
/// gathered. A part has its share of each run.
struct SplitAxis {
  using Dims = llvm::SmallVector<std::optional<int64_t>, 4>;

  /// For each operand the dimension that the axis divides; none for an operand
  /// that all parts read as a whole.
  Dims operands;
  /// For each result the dimension that the axis divides; none for a result
  /// that sums up the parts.
  Dims results;
  /// Of an op of linalg: the number of the loop.
  std::optional<unsigned> loop = std::nullopt;
  /// Results have the runs of operands times `joined`, divided by `divided`.
  int64_t joined = 1, divided = 1;
  /// The number of runs of operands is a multiple of this.
  int64_t multiple = 1;
};

} // namespace braid::comm

#include "braid/Dialect/Comm/IR/CommSplitInterface.h.inc"

#endif // BRAID_DIALECT_COMM_IR_COMMSPLITINTERFACE_H
