//===- Comm.h - The comm dialect --------------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_COMM_IR_COMM_H
#define BRAID_DIALECT_COMM_IR_COMM_H

#include "braid/Dialect/Comm/IR/CollectiveKind.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "braid/Dialect/Comm/IR/CommEnums.h.inc"

namespace braid::comm {

/// The state of the communicators, which starts read and write. The effects
/// keep upstream passes from removing, merging, duplicating or hoisting a
/// start.
struct CommunicatorResource
    : public mlir::SideEffects::Resource::Base<CommunicatorResource> {
  llvm::StringRef getName() final { return "<Communicator>"; }
};

/// The requests of the tokens, which waits free.
struct RequestResource
    : public mlir::SideEffects::Resource::Base<RequestResource> {
  llvm::StringRef getName() final { return "<Request>"; }
};

class CollectiveOpInterface;
class GroupOp;

/// An argument of a collective's function in the runtime's ABI: a number, or a
/// pointer to a list of numbers. Numbers are constants or index values.
struct CallArgument {
  static CallArgument getNumber(mlir::OpFoldResult number) {
    return {{number}, /*isList=*/false};
  }
  static CallArgument getList(llvm::ArrayRef<mlir::OpFoldResult> list) {
    return {llvm::to_vector(list), /*isList=*/true};
  }

  llvm::SmallVector<mlir::OpFoldResult> numbers;
  bool isList;
};

/// The root of `collective`, if it has one, and the dimension along which it
/// joins or splits, if the program gives it.
llvm::SmallVector<CallArgument>
getDefaultCallArguments(CollectiveOpInterface collective);

/// Verifies that the tokens of a start have the type of tokens, and that the
/// start names a lane. The verifiers of `AsyncStartOpInterface`.
llvm::LogicalResult verifyAsyncStartTokens(mlir::Operation *op);
llvm::LogicalResult verifyAsyncStartLane(mlir::Operation *op);

/// Verifies that the group of a collective exists, and all that does not depend
/// on its members: form, counts, element types, contiguity, tokens, reduction
/// and shapes. The verifier of `CollectiveOpInterface`.
llvm::LogicalResult verifyCollective(mlir::Operation *op);

/// Verifies a collective against the members of its group, its effects and its
/// arguments of the runtime's function. The second verifier of
/// `CollectiveOpInterface`, which runs after that of the op.
llvm::LogicalResult verifyCollectiveMembers(mlir::Operation *op);

/// Returns true if the elements of `type` are contiguous and row-major, which
/// every buffer of a collective is.
bool isContiguous(mlir::MemRefType type);

} // namespace braid::comm

#include "braid/Dialect/Comm/IR/CommDialect.h.inc"

#include "braid/Dialect/Comm/IR/CommInterfaces.h.inc"

#define GET_TYPEDEF_CLASSES
#include "braid/Dialect/Comm/IR/CommTypes.h.inc"

#define GET_OP_CLASSES
#include "braid/Dialect/Comm/IR/CommOps.h.inc"

namespace braid::comm {

/// Returns `op` as a start of an asynchronous operation; null if `op` starts
/// none, such as a synchronous `comm.compute`.
AsyncStartOpInterface getAsyncStart(mlir::Operation *op);

/// The group that symbol `group` names in the symbol table nearest to `from`;
/// null if there is none.
GroupOp lookupGroup(mlir::Operation *from, mlir::FlatSymbolRefAttr group);

/// The same with `symbolTables` as a cache.
GroupOp lookupGroup(mlir::Operation *from, mlir::FlatSymbolRefAttr group,
                    mlir::SymbolTableCollection &symbolTables);

/// The label of `op`: its `comm.label`, or else the name of its location; empty
/// if it has neither.
llvm::StringRef getLabel(mlir::Operation *op);

/// The name of the lane of its group that `start` is in; empty for the lane of
/// starts that name none.
std::string getLaneName(mlir::Operation *start);

/// What is known of the lane of a collective: its attributes, and what its
/// group declares. 0 and empty: nothing.
struct LaneSettings {
  int64_t ctas = 0;
  std::string transport;
};
LaneSettings getLaneSettings(mlir::Operation *start,
                             mlir::SymbolTableCollection &symbolTables);

/// Copies the discardable attributes of the dialect from `from` to `to`.
void copyAttributes(mlir::Operation *from, mlir::Operation *to);

/// Gives `fused` both labels, the sum of both costs, and the other attributes
/// of `consumer`.
void mergeAttributes(mlir::Operation *producer, mlir::Operation *consumer,
                     mlir::Operation *fused);

} // namespace braid::comm

#endif // BRAID_DIALECT_COMM_IR_COMM_H
