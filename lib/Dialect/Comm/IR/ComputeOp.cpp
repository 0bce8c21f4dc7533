//===- ComputeOp.cpp - comm.compute ---------------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommVerifiers.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace braid::comm;

/// The result types of an op that computes values of `valueTypes`: these types
/// themselves, or the tokens of an async op.
static SmallVector<Type> getResultTypes(MLIRContext *context,
                                        TypeRange valueTypes, bool async) {
  if (!async)
    return SmallVector<Type>(valueTypes);
  SmallVector<Type> tokens;
  for (Type type : valueTypes)
    tokens.push_back(isa<RankedTensorType>(type) ? TokenType::get(type)
                                                 : TokenType());
  if (tokens.empty())
    tokens.push_back(TokenType::get(context));
  return tokens;
}

void ComputeOp::build(OpBuilder &builder, OperationState &state,
                      StringRef kernel, ValueRange inputs, TypeRange valueTypes,
                      bool async) {
  state.addOperands(inputs);
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.kernel = builder.getStringAttr(kernel);
  if (async)
    properties.async = builder.getUnitAttr();
  state.addTypes(::getResultTypes(builder.getContext(), valueTypes, async));
  state.addRegion();
}

//===----------------------------------------------------------------------===//
// Assembly
//===----------------------------------------------------------------------===//

static LogicalResult checkAsyncTypes(OpAsmParser &parser, SMLoc loc,
                                     ArrayRef<Type> valueTypes) {
  for (Type type : valueTypes)
    if (!isa<RankedTensorType>(type))
      return parser.emitError(loc)
             << "found value type " << type
             << " of an async op, expected a ranked tensor";
  return success();
}

ParseResult ComputeOp::parse(OpAsmParser &parser, OperationState &state) {
  Builder &builder = parser.getBuilder();
  bool async = succeeded(parser.parseOptionalKeyword("async"));
  if (async)
    state.addAttribute(getAsyncAttrName(state.name), builder.getUnitAttr());
  StringAttr kernel;
  if (parser.parseAttribute(kernel, getKernelAttrName(state.name),
                            state.attributes))
    return failure();

  // `%argument = %operand : type` opens the region form, `%operand` the opaque
  // one.
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> operandTypes;
  SMLoc operandsLoc = parser.getCurrentLocation();
  auto parseOperand = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    OpAsmParser::UnresolvedOperand first;
    if (parser.parseOperand(first))
      return failure();
    bool bound = succeeded(parser.parseOptionalEqual());
    if (!operands.empty() && bound == arguments.empty())
      return parser.emitError(loc, "found both '%operand' and '%argument = "
                                   "%operand : type', expected one form");
    if (!bound) {
      operands.push_back(first);
      return success();
    }
    OpAsmParser::Argument &argument = arguments.emplace_back();
    argument.ssaName = first;
    if (parser.parseOperand(operands.emplace_back()) ||
        parser.parseColonType(argument.type))
      return failure();
    operandTypes.push_back(argument.type);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseOperand))
    return failure();

  SmallVector<Type> valueTypes;
  Region *body = state.addRegion();
  SMLoc typesLoc;
  bool isOpaque = false;
  if (arguments.empty()) {
    // Only the opaque form has a dictionary without a keyword, and a type after
    // a colon. A region without operands and results follows `-> ()`, because a
    // bare brace opens a dictionary.
    NamedAttrList attributes;
    if (parser.parseOptionalAttrDict(attributes))
      return failure();
    isOpaque = succeeded(parser.parseOptionalColon());
    if (!isOpaque && (!operands.empty() || !attributes.empty()))
      return parser.emitError(operandsLoc,
                              "expected ':' and the type of the opaque op, or "
                              "'-> ()' before a region");
    state.attributes.append(attributes);
  }
  if (isOpaque) {
    FunctionType type;
    if (parser.getCurrentLocation(&typesLoc) || parser.parseType(type))
      return failure();
    llvm::append_range(operandTypes, type.getInputs());
    llvm::append_range(valueTypes, type.getResults());
  } else {
    if (parser.parseOptionalAttrDictWithKeyword(state.attributes) ||
        parser.getCurrentLocation(&typesLoc) ||
        parser.parseOptionalArrowTypeList(valueTypes) ||
        parser.parseRegion(*body, arguments))
      return failure();
    if (body->empty())
      return parser.emitError(typesLoc, "found an empty region, expected a "
                                        "block that ends with comm.yield");
  }
  if (async && failed(checkAsyncTypes(parser, typesLoc, valueTypes)))
    return failure();
  state.addTypes(::getResultTypes(builder.getContext(), valueTypes, async));
  return parser.resolveOperands(operands, operandTypes, operandsLoc,
                                state.operands);
}

void ComputeOp::print(OpAsmPrinter &printer) {
  if (getAsync())
    printer << " async";
  printer << ' ';
  printer.printAttribute(getKernelAttr());
  printer << '(';
  SmallVector<StringRef> elided = {getAsyncAttrName(), getKernelAttrName()};
  SmallVector<Type> valueTypes = getValueTypes();
  if (isOpaque()) {
    printer << getInputs() << ')';
    printer.printOptionalAttrDict((*this)->getAttrs(), elided);
    printer << " : ";
    printer.printFunctionalType(getInputs().getTypes(), valueTypes);
    return;
  }
  llvm::interleaveComma(llvm::zip(getBody().getArguments(), getInputs()),
                        printer, [&](auto pair) {
                          auto [argument, input] = pair;
                          printer << argument << " = " << input << " : "
                                  << input.getType();
                        });
  printer << ')';
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), elided);
  if (getInputs().empty() && valueTypes.empty())
    printer << " -> ()";
  else
    printer.printOptionalArrowTypeList(valueTypes);
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

SmallVector<Type> ComputeOp::getValueTypes() {
  SmallVector<Type> types;
  for (Type type : (*this)->getResultTypes()) {
    auto token = dyn_cast<TokenType>(type);
    if (!getAsync() || !token)
      types.push_back(type);
    else if (Type valueType = token.getValueType())
      types.push_back(valueType);
  }
  return types;
}

/// Verifies the tokens of an async op (C36): one for each tensor, or one
/// without a value. A kernel works either on tensors or on buffers (C37):
/// tokens carry tensors, and waits name buffers.
static LogicalResult verifyAsync(ComputeOp op) {
  unsigned valueless = llvm::count_if(op->getResultTypes(), [](Type type) {
    return !cast<TokenType>(type).getValueType();
  });
  unsigned results = op->getNumResults();
  if (results == 0 || (valueless && results > 1))
    return op.emitOpError()
           << "is async and has " << results << " results, " << valueless
           << " of them without a value, expected one token for each value, or "
              "one token without a value";
  auto start = cast<AsyncStartOpInterface>(op.getOperation());
  if (!start.isBufferForm())
    return success();
  if (!valueless)
    return op.emitOpError()
           << "is async and has memref operands and a token of "
           << start.getInFlightType(0)
           << ", expected !comm.token as it works on buffers";
  for (auto [index, type] : llvm::enumerate(op.getInputs().getTypes()))
    if (isa<TensorType, UnrankedMemRefType>(type))
      return op.emitOpError()
             << "is async and has memref operands and operand #" << index
             << " of type " << type << ", expected ranked memrefs and scalars";
  return success();
}

LogicalResult ComputeOp::verify() {
  // C35
  for (auto [index, type] : llvm::enumerate(getInputs().getTypes()))
    if (isa<TokenType>(type))
      return emitOpError() << "has operand #" << index << " of type " << type
                           << ", expected a value; await the token before";
  if (getAsync())
    return failed(verifyAsync(*this)) ? failure() : verifyPlace(*this);
  for (auto [index, type] : llvm::enumerate((*this)->getResultTypes()))
    if (isa<TokenType>(type))
      return emitOpError() << "has result #" << index << " of type " << type
                           << ", expected a value, or 'async'";
  return success();
}

LogicalResult ComputeOp::verifyRegions() {
  if (isOpaque())
    return success();
  // C38
  Block &block = getBody().front();
  if (block.getArgumentTypes() != getInputs().getTypes())
    return emitOpError() << "has region arguments of types ("
                         << block.getArgumentTypes()
                         << "), expected those of its operands ("
                         << getInputs().getTypes() << ")";
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield)
    return emitOpError() << "has a region that ends with '"
                         << block.getTerminator()->getName()
                         << "', expected comm.yield";
  SmallVector<Type> valueTypes = getValueTypes();
  if (SmallVector<Type>(yield.getValues().getTypes()) != valueTypes)
    return yield.emitOpError()
           << "gives values of types (" << yield.getValues().getTypes()
           << "), expected (" << valueTypes << ")";
  return success();
}

//===----------------------------------------------------------------------===//
// AsyncStartOpInterface
//===----------------------------------------------------------------------===//

ResultRange ComputeOp::getTokens() {
  return getAsync() ? (*this)->getResults()
                    : (*this)->getResults().take_front(0);
}

MutableArrayRef<OpOperand> ComputeOp::getSourceOperands() {
  return getInputsMutable();
}

MutableArrayRef<OpOperand> ComputeOp::getDestinationOperands() {
  // A kernel may write any buffer that it is given.
  if (llvm::any_of(getInputs(), [](Value input) {
        return isa<BaseMemRefType>(input.getType());
      }))
    return getInputsMutable();
  return {};
}

void ComputeOp::setDestinations(ValueRange) {
  llvm_unreachable("the values of a kernel are computed by its region");
}

Attribute ComputeOp::getLane() {
  return StringAttr::get(getContext(), "side stream");
}

bool ComputeOp::canRunInPlace() { return false; }

LogicalResult ComputeOp::reifyValueShape(OpBuilder &builder, unsigned index,
                                         SmallVectorImpl<OpFoldResult> &shape) {
  auto type = dyn_cast_or_null<RankedTensorType>(
      cast<TokenType>((*this)->getResult(index).getType()).getValueType());
  if (!type || !type.hasStaticShape())
    return failure();
  for (int64_t size : type.getShape())
    shape.push_back(builder.getIndexAttr(size));
  return success();
}
