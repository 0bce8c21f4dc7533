//===- CommAssembly.h - Custom directives of the comm assembly --*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parse and print functions that the generated parsers and printers call.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_COMM_IR_COMMASSEMBLY_H
#define LIB_DIALECT_COMM_IR_COMMASSEMBLY_H

#include "braid/Dialect/Comm/IR/Comm.h"

namespace braid::comm {

using UnresolvedOperands =
    llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand>;
using Types = llvm::SmallVectorImpl<mlir::Type>;

/// `all` | `[[0, 1], [2, 3]]`: the ranks of a group.
mlir::ParseResult parseGroupRanks(mlir::OpAsmParser &parser,
                                  mlir::ArrayAttr &ranks);
void printGroupRanks(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                     mlir::ArrayAttr ranks);

/// `[[0, 1], [2, 3]]`: lists of integers.
mlir::ParseResult parseRankLists(mlir::OpAsmParser &parser,
                                 mlir::ArrayAttr &lists);
void printRankLists(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                    mlir::ArrayAttr lists);

/// `T, ...` (`, U, ...` of destinations): values have the types of the
/// operands.
mlir::ParseResult parseSameShapeTypes(mlir::OpAsmParser &parser,
                                      const UnresolvedOperands &inputs,
                                      const UnresolvedOperands &outputs,
                                      Types &inputTypes, Types &outputTypes,
                                      Types &tokenTypes);
void printSameShapeTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                         mlir::OperandRange inputs, mlir::OperandRange outputs,
                         mlir::TypeRange inputTypes,
                         mlir::TypeRange outputTypes,
                         mlir::TypeRange tokenTypes);

/// `T, ... -> U, ...`, or `T, ..., U, ...` with destinations.
mlir::ParseResult parseShapedTypes(mlir::OpAsmParser &parser,
                                   const UnresolvedOperands &inputs,
                                   const UnresolvedOperands &outputs,
                                   Types &inputTypes, Types &outputTypes,
                                   Types &tokenTypes);
void printShapedTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                      mlir::OperandRange inputs, mlir::OperandRange outputs,
                      mlir::TypeRange inputTypes, mlir::TypeRange outputTypes,
                      mlir::TypeRange tokenTypes);

/// As `ShapedTypes`, but `-> U` may be left out if it equals `T`.
mlir::ParseResult parseOptionallyShapedTypes(mlir::OpAsmParser &parser,
                                             const UnresolvedOperands &inputs,
                                             const UnresolvedOperands &outputs,
                                             Types &inputTypes,
                                             Types &outputTypes,
                                             Types &tokenTypes);
void printOptionallyShapedTypes(mlir::OpAsmPrinter &printer,
                                mlir::Operation *op, mlir::OperandRange inputs,
                                mlir::OperandRange outputs,
                                mlir::TypeRange inputTypes,
                                mlir::TypeRange outputTypes,
                                mlir::TypeRange tokenTypes);

/// (`splits [%a, 2] into [%b, 2]` | `splits [[1, 3], [2, 2]]`)?
mlir::OptionalParseResult parseSplits(
    mlir::OpAsmParser &parser, UnresolvedOperands &sendSizes,
    mlir::DenseI64ArrayAttr &staticSendSizes, UnresolvedOperands &receiveSizes,
    mlir::DenseI64ArrayAttr &staticReceiveSizes, mlir::ArrayAttr &splitMatrix);
void printSplits(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                 mlir::OperandRange sendSizes,
                 mlir::DenseI64ArrayAttr staticSendSizes,
                 mlir::OperandRange receiveSizes,
                 mlir::DenseI64ArrayAttr staticReceiveSizes,
                 mlir::ArrayAttr splitMatrix);

/// `1` | `%peer`
mlir::ParseResult
parsePeer(mlir::OpAsmParser &parser,
          std::optional<mlir::OpAsmParser::UnresolvedOperand> &peer,
          mlir::IntegerAttr &staticPeer);
void printPeer(mlir::OpAsmPrinter &printer, mlir::Operation *op,
               mlir::Value peer, mlir::IntegerAttr staticPeer);

/// `T`: the received tensor's, or the destination's, type.
mlir::ParseResult parseReceiveType(
    mlir::OpAsmParser &parser,
    const std::optional<mlir::OpAsmParser::UnresolvedOperand> &output,
    mlir::Type &outputType, mlir::Type &tokenType);
void printReceiveType(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                      mlir::Value output, mlir::Type outputType,
                      mlir::Type tokenType);

/// `!comm.token<T>`: the type of a token, which also gives the value's.
mlir::ParseResult parseWaitTypes(mlir::OpAsmParser &parser,
                                 mlir::Type &tokenType, mlir::Type &valueType);
void printWaitTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                    mlir::Type tokenType, mlir::Type valueType);

} // namespace braid::comm

#endif // LIB_DIALECT_COMM_IR_COMMASSEMBLY_H
