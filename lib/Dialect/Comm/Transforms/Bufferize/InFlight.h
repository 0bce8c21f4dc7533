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
#include "mlir/Dialect/MemRef/IR/MemRef.h"
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

/// The mark of allocations for copies of sources.
constexpr llvm::StringLiteral kOwnedAttrName = "comm_in_flight.owned";
/// The mark of empty allocations for tokens that own no source.
constexpr llvm::StringLiteral kEmptyAttrName = "comm_in_flight.empty";

/// Rewrites every start and wait on tensors in `module`. If the token stays in
/// its block, they become ops of this dialect. If the token leaves its block,
/// they take their buffer form, and the buffers travel with the token. Fails
/// with an error at an op that it cannot split.
llvm::LogicalResult splitTokens(mlir::ModuleOp module);

/// The type of the contiguous buffer of `source`, a view of an argument that
/// lives, and that nothing writes, as long as its function runs; null if
/// `source` is none. An operation in flight need not own such a source.
mlir::MemRefType getLastingType(mlir::Value source);

/// The buffer of `source`, which has a lasting type. The views of the argument
/// are created anew: bufferization may give those that others use a copy, which
/// it then writes.
mlir::Value createLastingBuffer(mlir::OpBuilder &builder, mlir::Location loc,
                                mlir::Value source);

/// Gives readers of constants and of read-only arguments separate values of the
/// same buffers, so that the analysis of bufferization is linear in the number
/// of readers. Runs before bufferization.
void separateReads(mlir::ModuleOp module);

/// Removes copies of sources that are dead after the copy, so that the
/// operation uses the source itself, and removes the marks. Runs after
/// bufferization.
void takeOverDeadSources(mlir::ModuleOp module);

/// Removes the copies of what an scf.while carries that its condition passes
/// on. One-Shot copies a buffer unless the loop changes it in place, but an
/// iteration that writes another buffer owns both. Keeps copies of buffers that
/// change their places among those that the loop carries. Runs after
/// bufferization.
void forwardCarriedBuffers(mlir::ModuleOp module);

/// True if `allocation` is only used by ops of its own block before `copy`, and
/// known by no other name.
bool isDeadAfter(mlir::memref::AllocOp allocation, mlir::memref::CopyOp copy);

/// Replaces pads by a constant on one side, and large ones on any sides, by a
/// fill of each side and an insertion, so that nothing is written twice and the
/// padded tensor can be computed in its place. Runs before bufferization.
void fillPaddedSides(mlir::ModuleOp module);

/// Removes copies of a buffer into a part of a larger one where the buffer is
/// dead after the copy: the part takes the place of the buffer, if nothing else
/// accesses the part before. Chunks of collectives and padded tensors are
/// computed in their place of the result by this. Runs after bufferization.
void placeCopiedBuffers(mlir::ModuleOp module);

} // namespace braid::comm::inflight

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_BUFFERIZE_INFLIGHT_H
