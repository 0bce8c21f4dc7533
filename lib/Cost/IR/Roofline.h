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
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace braid {

/// The class of `elementType` that `Hardware` has a peak for. A complex type is
/// of the class of its parts.
ElementClass classifyElementType(mlir::Type elementType);

/// Nanoseconds of the operations of `work` on `hardware`, each at the peak of
/// its element type. Matrix products take whole waves of tiles (see
/// MatrixTiles.h) on a machine that has multiprocessors.
double estimateArithmeticNs(const comm::Work &work, const Hardware &hardware);

/// Nanoseconds of the bytes of `work` at the bandwidth of the memory.
double estimateMemoryNs(const comm::Work &work, const Hardware &hardware);

/// Nanoseconds of `work` on `hardware`: the longer of its arithmetic and its
/// bytes. Nothing else is counted: no launch, no cache, no utilisation.
double estimateRooflineNs(const comm::Work &work, const Hardware &hardware);

/// `ns` as whole nanoseconds: rounded to the nearest, but at least 1 if there
/// is any time at all, so that work is never mistaken for none.
int64_t roundToNs(double ns);

/// The work of an op that says nothing of itself: it reads its operands and
/// writes its results. Views, constants, allocations, terminators and ops on
/// scalars move nothing.
comm::Work getDefaultWork(mlir::Operation *op, int64_t dynamicSize);

/// The arithmetic operations of all ops in `region`, loops in it counted by
/// their trip counts. No bytes: what a fused kernel keeps in registers.
comm::Work getFusedOperations(mlir::Region &region,
                              const comm::SizeDefaults &defaults);

/// How often the body of `loop` runs, all its dimensions taken together; none
/// if its bounds are not constants.
std::optional<int64_t> getStaticTripCount(mlir::LoopLikeOpInterface loop);

} // namespace braid

#endif // BRAID_LIB_COST_IR_ROOFLINE_H
