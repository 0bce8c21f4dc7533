//===- CommBase.td - Common classes and constraints of comm ops -*- tablegen -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_DIALECT_COMM_IR_COMMBASE_TD
#define BRAID_DIALECT_COMM_IR_COMMBASE_TD

include "braid/Dialect/Comm/IR/CommDialect.td"
include "braid/Dialect/Comm/IR/CommEnums.td"
include "braid/Dialect/Comm/IR/CommInterfaces.td"
include "braid/Dialect/Comm/IR/CommTypes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Comm_Op<string mnemonic, list<Trait> traits = []>
    : Op<Comm_Dialect, mnemonic, traits>;

def Comm_RankListsAttr
    : TypedArrayAttrBase<DenseI64ArrayAttr, "list of lists of integers">;

/// Ranked tensors or memrefs: what collectives move. The verifier checks that
/// all operands are of one form.
def Comm_Data : AnyTypeOf<[AnyRankedTensor, AnyMemRef], "ranked tensor or memref">;

#endif // BRAID_DIALECT_COMM_IR_COMMBASE_TD
