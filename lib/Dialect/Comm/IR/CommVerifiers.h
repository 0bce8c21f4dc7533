//===- CommVerifiers.h - Helpers of the comm verifiers ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_COMM_IR_COMMVERIFIERS_H
#define LIB_DIALECT_COMM_IR_COMMVERIFIERS_H

#include "braid/Dialect/Comm/IR/Comm.h"

namespace braid::comm {

/// True if dimensions of sizes `lhs` and `rhs` may be equal when the program
/// runs.
bool isCompatibleSize(int64_t lhs, int64_t rhs);

/// The types of source number `index` of `start` and of the value, or buffer,
/// that it gives.
std::pair<mlir::ShapedType, mlir::ShapedType>
getSourceAndValueTypes(AsyncStartOpInterface start, size_t index);

/// Emits an error at `op` and fails unless `symbol`, which `group` names, is a
/// group; null if `group` names nothing.
llvm::LogicalResult verifyGroup(mlir::Operation *op,
                                mlir::FlatSymbolRefAttr group,
                                mlir::Operation *symbol);

/// Verifies the suffix and the arguments of the runtime's function that a
/// collective of another dialect gives.
llvm::LogicalResult verifyCall(CollectiveOpInterface collective, GroupOp group);

/// Emits the error for an attribute whose value is not of the expected form.
llvm::LogicalResult emitWrongValue(mlir::Operation *op,
                                   mlir::NamedAttribute attribute,
                                   const llvm::Twine &expected);

/// Emits the error for an attribute on an op that may not have it.
llvm::LogicalResult emitWrongPlace(mlir::Operation *op,
                                   mlir::NamedAttribute attribute,
                                   const llvm::Twine &expected);

/// Verifies `comm.lane`, `comm.ctas`, `comm.transport` and `comm.lanes`.
llvm::LogicalResult verifyLaneAttribute(mlir::Operation *op,
                                        mlir::NamedAttribute attribute);

/// Verifies `comm.multiprocessors`.
llvm::LogicalResult
verifyMultiprocessorsAttribute(mlir::Operation *op,
                               mlir::NamedAttribute attribute);

/// Verifies `comm.reordered_sums`.
llvm::LogicalResult
verifyReorderedSumsAttribute(mlir::Operation *op,
                             mlir::NamedAttribute attribute);

/// The innermost parallel loop or kernel that encloses `region`; null if there
/// is none, so that a rank runs the region as one thread.
mlir::Operation *getParallelOrKernelOp(mlir::Region *region);

/// Verifies that `op`, a start or a wait, is outside parallel loops and
/// kernels: one thread of a rank runs the program.
llvm::LogicalResult verifyPlace(mlir::Operation *op);

} // namespace braid::comm

#endif // LIB_DIALECT_COMM_IR_COMMVERIFIERS_H
