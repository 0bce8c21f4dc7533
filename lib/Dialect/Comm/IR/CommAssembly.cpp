//===- CommAssembly.cpp - The comm ops and their custom directives --------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Dialect/Comm/IR/CollectiveMethods.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace braid::comm;

using UnresolvedOperands =
    llvm::SmallVectorImpl<OpAsmParser::UnresolvedOperand>;
using Types = llvm::SmallVectorImpl<Type>;

//===----------------------------------------------------------------------===//
// Lists of ranks
//===----------------------------------------------------------------------===//

/// Parses `a, b]`, what follows the bracket that opens a list.
static ParseResult parseRestOfList(OpAsmParser &parser,
                                   function_ref<ParseResult()> parseElement) {
  if (succeeded(parser.parseOptionalRSquare()))
    return success();
  do {
    if (parseElement())
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  return parser.parseRSquare();
}

/// Parses `0, 1]`, and adds the list of integers to `lists`.
static ParseResult parseRestOfIntegers(OpAsmParser &parser,
                                       SmallVectorImpl<Attribute> &lists) {
  SmallVector<int64_t> list;
  if (parseRestOfList(parser,
                      [&] { return parser.parseInteger(list.emplace_back()); }))
    return failure();
  lists.push_back(parser.getBuilder().getDenseI64ArrayAttr(list));
  return success();
}

/// Parses `[0, 1], [2, 3]]`, what follows the bracket that opens lists of
/// integers.
static ParseResult parseListsInBracket(OpAsmParser &parser, ArrayAttr &lists) {
  SmallVector<Attribute> parsed;
  if (parseRestOfList(parser, [&] {
        return failure(parser.parseLSquare() ||
                       parseRestOfIntegers(parser, parsed));
      }))
    return failure();
  lists = parser.getBuilder().getArrayAttr(parsed);
  return success();
}

/// `[[0, 1], [2, 3]]`: lists of integers.
static ParseResult parseRankLists(OpAsmParser &parser, ArrayAttr &lists) {
  return failure(parser.parseLSquare() || parseListsInBracket(parser, lists));
}

static void printRankLists(OpAsmPrinter &printer, Operation *,
                           ArrayAttr lists) {
  printer << '[';
  llvm::interleaveComma(lists, printer, [&](Attribute list) {
    printer << '[';
    llvm::interleaveComma(cast<DenseI64ArrayAttr>(list).asArrayRef(), printer);
    printer << ']';
  });
  printer << ']';
}

/// `all` | `[[0, 1], [2, 3]]`: the ranks of a group.
static ParseResult parseGroupRanks(OpAsmParser &parser, ArrayAttr &ranks) {
  if (succeeded(parser.parseOptionalKeyword("all")))
    return success();
  SMLoc loc = parser.getCurrentLocation();
  if (failed(parser.parseOptionalLSquare()))
    return parser.emitError(loc, "expected 'all' or a list of lists of ranks");
  return parseListsInBracket(parser, ranks);
}

static void printGroupRanks(OpAsmPrinter &printer, Operation *op,
                            ArrayAttr ranks) {
  if (ranks)
    printRankLists(printer, op, ranks);
  else
    printer << "all";
}

//===----------------------------------------------------------------------===//
// Types of operands and tokens
//===----------------------------------------------------------------------===//

/// The token of an operation that gives a value of type `type`, or that works
/// on buffers of that type.
static TokenType getTokenType(Type type) {
  if (isa<RankedTensorType>(type))
    return TokenType::get(type);
  return TokenType::get(type.getContext());
}

/// Parses the types of all operands into `inputTypes` and `outputTypes`.
static ParseResult parseOperandTypes(OpAsmParser &parser, size_t inputs,
                                     size_t outputs, Types &inputTypes,
                                     Types &outputTypes) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<Type> types;
  if (parser.parseTypeList(types))
    return failure();
  if (types.size() != inputs + outputs)
    return parser.emitError(loc)
           << "found " << types.size() << " types, expected "
           << inputs + outputs << ", one for each operand";
  llvm::append_range(inputTypes, ArrayRef<Type>(types).take_front(inputs));
  llvm::append_range(outputTypes, ArrayRef<Type>(types).drop_front(inputs));
  return success();
}

static void printOperandTypes(OpAsmPrinter &printer, TypeRange inputTypes,
                              TypeRange outputTypes) {
  SmallVector<Type> types(inputTypes);
  llvm::append_range(types, outputTypes);
  llvm::interleaveComma(types, printer);
}

/// `T, ...` (`, U, ...` of destinations): values have the types of the
/// operands.
static ParseResult parseSameShapeTypes(OpAsmParser &parser,
                                       const UnresolvedOperands &inputs,
                                       const UnresolvedOperands &outputs,
                                       Types &inputTypes, Types &outputTypes,
                                       Types &tokenTypes) {
  if (parseOperandTypes(parser, inputs.size(), outputs.size(), inputTypes,
                        outputTypes))
    return failure();
  for (Type type : inputTypes)
    tokenTypes.push_back(getTokenType(type));
  return success();
}

static void printSameShapeTypes(OpAsmPrinter &printer, Operation *,
                                OperandRange, OperandRange,
                                TypeRange inputTypes, TypeRange outputTypes,
                                TypeRange) {
  printOperandTypes(printer, inputTypes, outputTypes);
}

/// Parses `U, ...`, the types of as many values as `count`, into the types of
/// their tokens.
static ParseResult parseValueTypes(OpAsmParser &parser, size_t count,
                                   Types &tokenTypes) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<Type> types;
  if (parser.parseTypeList(types))
    return failure();
  if (types.size() != count)
    return parser.emitError(loc)
           << "found " << types.size() << " result types, expected " << count
           << ", one for each operand";
  for (Type type : types) {
    if (!isa<RankedTensorType>(type))
      return parser.emitError(loc)
             << "found result type " << type
             << ", expected a ranked tensor; a buffer is named with 'into'";
    tokenTypes.push_back(getTokenType(type));
  }
  return success();
}

/// `T, ... -> U, ...`, or `T, ..., U, ...` with destinations.
static ParseResult parseShapedTypes(OpAsmParser &parser,
                                    const UnresolvedOperands &inputs,
                                    const UnresolvedOperands &outputs,
                                    Types &inputTypes, Types &outputTypes,
                                    Types &tokenTypes) {
  if (parseOperandTypes(parser, inputs.size(), outputs.size(), inputTypes,
                        outputTypes))
    return failure();
  if (outputs.empty())
    return failure(parser.parseArrow() ||
                   parseValueTypes(parser, inputs.size(), tokenTypes));
  for (Type type : outputTypes)
    tokenTypes.push_back(getTokenType(type));
  return success();
}

/// The types of the values of tokens, null for a token without one.
static SmallVector<Type> getValueTypes(TypeRange tokenTypes) {
  return llvm::map_to_vector(tokenTypes, [](Type type) {
    return cast<TokenType>(type).getValueType();
  });
}

static void printShapedTypes(OpAsmPrinter &printer, Operation *, OperandRange,
                             OperandRange outputs, TypeRange inputTypes,
                             TypeRange outputTypes, TypeRange tokenTypes) {
  printOperandTypes(printer, inputTypes, outputTypes);
  if (!outputs.empty())
    return;
  printer << " -> ";
  llvm::interleaveComma(getValueTypes(tokenTypes), printer);
}

/// As `ShapedTypes`, but `-> U` may be left out if it equals `T`.
static ParseResult parseOptionallyShapedTypes(OpAsmParser &parser,
                                              const UnresolvedOperands &inputs,
                                              const UnresolvedOperands &outputs,
                                              Types &inputTypes,
                                              Types &outputTypes,
                                              Types &tokenTypes) {
  if (parseOperandTypes(parser, inputs.size(), outputs.size(), inputTypes,
                        outputTypes))
    return failure();
  if (outputs.empty() && succeeded(parser.parseOptionalArrow()))
    return parseValueTypes(parser, inputs.size(), tokenTypes);
  for (Type type : outputs.empty() ? inputTypes : outputTypes)
    tokenTypes.push_back(getTokenType(type));
  return success();
}

static void printOptionallyShapedTypes(OpAsmPrinter &printer, Operation *op,
                                       OperandRange inputs,
                                       OperandRange outputs,
                                       TypeRange inputTypes,
                                       TypeRange outputTypes,
                                       TypeRange tokenTypes) {
  if (outputs.empty() &&
      SmallVector<Type>(inputTypes) != getValueTypes(tokenTypes)) {
    printShapedTypes(printer, op, inputs, outputs, inputTypes, outputTypes,
                     tokenTypes);
    return;
  }
  printOperandTypes(printer, inputTypes, outputTypes);
}

/// `T`: the received tensor's, or the destination's, type.
static ParseResult
parseReceiveType(OpAsmParser &parser,
                 const std::optional<OpAsmParser::UnresolvedOperand> &output,
                 Type &outputType, Type &tokenType) {
  Type type;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(type))
    return failure();
  if (output)
    outputType = type;
  else if (!isa<RankedTensorType>(type))
    return parser.emitError(loc)
           << "found result type " << type
           << ", expected a ranked tensor; a buffer is named with 'into'";
  tokenType = getTokenType(type);
  return success();
}

static void printReceiveType(OpAsmPrinter &printer, Operation *, Value output,
                             Type outputType, Type tokenType) {
  printer << (output ? outputType : cast<TokenType>(tokenType).getValueType());
}

/// `!comm.token<T>`: the type of a token, which also gives the value's.
static ParseResult parseWaitTypes(OpAsmParser &parser, Type &tokenType,
                                  Type &valueType) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(tokenType))
    return failure();
  auto token = dyn_cast<TokenType>(tokenType);
  if (!token)
    return parser.emitError(loc)
           << "found type " << tokenType << ", expected !comm.token";
  valueType = token.getValueType();
  return success();
}

static void printWaitTypes(OpAsmPrinter &printer, Operation *, Type tokenType,
                           Type) {
  printer << tokenType;
}

//===----------------------------------------------------------------------===//
// Splits and peers
//===----------------------------------------------------------------------===//

/// (`splits [%a, 2] into [%b, 2]` | `splits [[1, 3], [2, 2]]`)?
static OptionalParseResult parseSplits(OpAsmParser &parser,
                                       UnresolvedOperands &sendSizes,
                                       DenseI64ArrayAttr &staticSendSizes,
                                       UnresolvedOperands &receiveSizes,
                                       DenseI64ArrayAttr &staticReceiveSizes,
                                       ArrayAttr &splitMatrix) {
  if (failed(parser.parseOptionalKeyword("splits")))
    return std::nullopt;
  if (parser.parseLSquare())
    return ParseResult(failure());

  // A second bracket opens the matrix form.
  if (succeeded(parser.parseOptionalLSquare())) {
    SmallVector<Attribute> rows;
    if (parseRestOfIntegers(parser, rows))
      return ParseResult(failure());
    while (succeeded(parser.parseOptionalComma()))
      if (parser.parseLSquare() || parseRestOfIntegers(parser, rows))
        return ParseResult(failure());
    splitMatrix = parser.getBuilder().getArrayAttr(rows);
    return parser.parseRSquare();
  }

  auto parseSizes = [&](UnresolvedOperands &values,
                        DenseI64ArrayAttr &sizes) -> ParseResult {
    SmallVector<int64_t> statics;
    auto parseSize = [&]() -> ParseResult {
      OpAsmParser::UnresolvedOperand value;
      OptionalParseResult parsed = parser.parseOptionalOperand(value);
      if (!parsed.has_value())
        return parser.parseInteger(statics.emplace_back());
      values.push_back(value);
      statics.push_back(ShapedType::kDynamic);
      return *parsed;
    };
    if (parseRestOfList(parser, parseSize))
      return failure();
    sizes = parser.getBuilder().getDenseI64ArrayAttr(statics);
    return success();
  };
  return ParseResult(failure(
      parseSizes(sendSizes, staticSendSizes) || parser.parseKeyword("into") ||
      parser.parseLSquare() || parseSizes(receiveSizes, staticReceiveSizes)));
}

static void
printSplits(OpAsmPrinter &printer, Operation *op, OperandRange sendSizes,
            DenseI64ArrayAttr staticSendSizes, OperandRange receiveSizes,
            DenseI64ArrayAttr staticReceiveSizes, ArrayAttr splitMatrix) {
  if (splitMatrix) {
    printer << "splits ";
    printRankLists(printer, op, splitMatrix);
  } else if (staticSendSizes) {
    printer << "splits ";
    printDynamicIndexList(printer, op, sendSizes, staticSendSizes);
    printer << " into ";
    printDynamicIndexList(printer, op, receiveSizes, staticReceiveSizes);
  }
}

/// `1` | `%peer`
static ParseResult
parsePeer(OpAsmParser &parser,
          std::optional<OpAsmParser::UnresolvedOperand> &peer,
          IntegerAttr &staticPeer) {
  OpAsmParser::UnresolvedOperand value;
  OptionalParseResult parsed = parser.parseOptionalOperand(value);
  if (parsed.has_value()) {
    peer = value;
    return *parsed;
  }
  int64_t constant = 0;
  if (parser.parseInteger(constant))
    return failure();
  staticPeer = parser.getBuilder().getI64IntegerAttr(constant);
  return success();
}

static void printPeer(OpAsmPrinter &printer, Operation *, Value peer,
                      IntegerAttr staticPeer) {
  if (peer)
    printer << peer;
  else
    printer << staticPeer.getInt();
}

//===----------------------------------------------------------------------===//
// The ops, whose parsers and printers call these functions
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "braid/Dialect/Comm/IR/CommOps.cpp.inc"
