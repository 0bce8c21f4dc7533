//===- InFlight.h - Starts and waits during bufferization -------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_BUFFERIZE_INFLIGHT_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_BUFFERIZE_INFLIGHT_H

#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "InFlightDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "InFlightTypes.h.inc"

#define GET_OP_CLASSES
#include "InFlightOps.h.inc"

namespace braid::comm::inflight {

/// Marks allocations that hold the own copy of a source.
constexpr llvm::StringLiteral kOwnedAttrName = "comm_in_flight.owned";
/// Marks allocations that stand where a token owns no source.
constexpr llvm::StringLiteral kEmptyAttrName = "comm_in_flight.empty";

/// Rewrites every start and wait on tensors in `module`: to the ops of this
/// dialect where the token stays in its block, to their buffer form where it
/// leaves it; it then travels with its buffers. Fails with an error at an op
/// that cannot be split.
llvm::LogicalResult splitTokens(mlir::ModuleOp module);

/// Before bufferization: gives readers of constants and of read-only arguments
/// names of their own for them, so that the analysis takes a time linear in the
/// number of readers.
void separateReads(mlir::ModuleOp module);

/// After bufferization: drops the copies of sources that nobody else needs, and
/// the marks. The operation takes over the source itself.
void takeOverDeadSources(mlir::ModuleOp module);

} // namespace braid::comm::inflight

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_BUFFERIZE_INFLIGHT_H
