//===- TaggedTokens.cpp - Tokens with a number ----------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TaggedTokens.h"

#include "Dialect/Comm/Transforms/ConvertSelect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/Transforms/StructuralTypeConversions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace braid::comm;

/// The encoding of the tensor of a tagged token.
static constexpr llvm::StringLiteral kTag = "comm.tag";

TokenType braid::comm::getTaggedType(TokenType type) {
  auto value = cast<RankedTensorType>(type.getValueType());
  return TokenType::get(
      RankedTensorType::get(value.getShape(), value.getElementType(),
                            StringAttr::get(type.getContext(), kTag)));
}

static bool isTagged(Type type) {
  auto token = dyn_cast<TokenType>(type);
  auto value = token
                   ? dyn_cast_if_present<RankedTensorType>(token.getValueType())
                   : RankedTensorType();
  auto encoding = value ? dyn_cast_if_present<StringAttr>(value.getEncoding())
                        : StringAttr();
  return encoding && encoding == kTag;
}

void braid::comm::replaceByTagged(Value old, Value token, unsigned tag) {
  OpBuilder b(token.getContext());
  b.setInsertionPointAfterValue(token);
  Value number = arith::ConstantIndexOp::create(b, token.getLoc(), tag);
  auto tagged = UnrealizedConversionCastOp::create(
      b, token.getLoc(), getTaggedType(cast<TokenType>(token.getType())),
      ValueRange{token, number});
  old.replaceAllUsesExcept(tagged.getResult(0), tagged);
}

std::pair<Value, Value> braid::comm::splitTagged(Value tagged, TokenType type,
                                                 Operation *op) {
  OpBuilder b(op);
  auto parts = UnrealizedConversionCastOp::create(
      b, op->getLoc(), TypeRange{type, b.getIndexType()}, tagged);
  return {parts.getResult(0), parts.getResult(1)};
}

namespace {

/// Replaces the casts to and from tagged tokens by their operands.
struct ConvertCast : public OpConversionPattern<UnrealizedConversionCastOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(UnrealizedConversionCastOp op, OneToNOpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> parts;
    for (ValueRange operands : adaptor.getOperands())
      llvm::append_range(parts, operands);
    if (op.getNumResults() == 1)
      rewriter.replaceOpWithMultiple(op, ArrayRef<SmallVector<Value>>{parts});
    else
      rewriter.replaceOp(op, parts);
    return success();
  }
};

} // namespace

LogicalResult braid::comm::lowerTags(Operation *function) {
  MLIRContext *context = function->getContext();
  TypeConverter converter;
  converter.addConversion([](Type type) { return type; });
  converter.addConversion(
      [](TokenType type,
         SmallVectorImpl<Type> &types) -> std::optional<LogicalResult> {
        if (!isTagged(type))
          return std::nullopt;
        auto value = cast<RankedTensorType>(type.getValueType());
        types.push_back(TokenType::get(
            RankedTensorType::get(value.getShape(), value.getElementType())));
        types.push_back(IndexType::get(type.getContext()));
        return success();
      });
  ConversionTarget target(*context);
  target.markUnknownOpDynamicallyLegal(
      [&](Operation *op) { return converter.isLegal(op); });
  RewritePatternSet patterns(context);
  patterns.add<ConvertCast, ConvertSelect>(converter, context);
  scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                       target);
  cf::populateCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                     target);
  return applyPartialConversion(function, target, std::move(patterns));
}
