//===- Roofline.h - Time of work on a machine -------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_COST_IR_ROOFLINE_H
#define BRAID_LIB_COST_IR_ROOFLINE_H

#include "braid/Cost/Hardware/Hardware.h"
#include "braid/Dialect/Comm/IR/CommCostInterface.h"
#include "braid/Support/Units.h"

namespace braid {

/// The `ElementClass` of `elementType`. A complex type has the class of its
/// parts.
ElementClass classifyElementType(mlir::Type elementType);

/// The arithmetic of a work.
struct Arithmetic {
  double ns = 0;
  /// The tiles of the longest matmul, if this matmul takes most of the time; 0
  /// otherwise, or on a machine without multiprocessors.
  int64_t tiles = 0;
};

/// The arithmetic of the operations of `work` on `hardware`, each at the peak
/// of its element type. On a machine with multiprocessors matmuls take whole
/// waves of tiles on at most `target` of these, 0 for all (see MatrixTiles.h).
/// Without matmuls the operations spread evenly over these.
Arithmetic estimateArithmetic(const comm::Work &work, const Hardware &hardware,
                              int64_t target = 0);

/// Nanoseconds of the bytes of `work` at the bandwidth of the memory.
double estimateMemoryNs(const comm::Work &work, const Hardware &hardware);

/// The nanoseconds of `work` on `hardware`: the longer of its arithmetic and
/// its bytes, behind its extra kernels. The estimate ignores the launch of the
/// kernel, caches and utilisation.
double estimateRooflineNs(const comm::Work &work, const Hardware &hardware,
                          int64_t target = 0);

/// Rounds `ns` to the nearest integer, but to at least 1 if `ns` is above 0, so
/// that work never costs nothing.
int64_t roundToNs(double ns);

/// The work of an op without `CostOpInterface`: the op reads its operands and
/// writes its results. Views, constants, allocations, terminators and ops on
/// scalars move no data.
comm::Work getDefaultWork(mlir::Operation *op, const comm::SizeDefaults &sizes);

/// The arithmetic operations of all ops in `region`, including the trip counts
/// of loops, without bytes, because a fused kernel keeps values in registers.
comm::Work getFusedOperations(mlir::Region &region,
                              const comm::SizeDefaults &defaults);

} // namespace braid

#endif // BRAID_LIB_COST_IR_ROOFLINE_H
