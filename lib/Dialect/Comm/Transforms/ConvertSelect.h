//===- ConvertSelect.h - Selections of values in several parts --*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_DIALECT_COMM_TRANSFORMS_CONVERTSELECT_H
#define BRAID_LIB_DIALECT_COMM_TRANSFORMS_CONVERTSELECT_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Transforms/DialectConversion.h"

namespace braid::comm {

/// Selects each part of a value that a conversion divides into parts.
struct ConvertSelect : public mlir::OpConversionPattern<mlir::arith::SelectOp> {
  using OpConversionPattern::OpConversionPattern;

  llvm::LogicalResult
  matchAndRewrite(mlir::arith::SelectOp op, OneToNOpAdaptor adaptor,
                  mlir::ConversionPatternRewriter &rewriter) const override {
    llvm::SmallVector<mlir::Value> parts;
    for (auto [ifTrue, ifFalse] :
         llvm::zip_equal(adaptor.getTrueValue(), adaptor.getFalseValue()))
      parts.push_back(mlir::arith::SelectOp::create(
          rewriter, op.getLoc(), adaptor.getCondition().front(), ifTrue,
          ifFalse));
    rewriter.replaceOpWithMultiple(
        op, llvm::ArrayRef<llvm::SmallVector<mlir::Value>>{parts});
    return mlir::success();
  }
};

} // namespace braid::comm

#endif // BRAID_LIB_DIALECT_COMM_TRANSFORMS_CONVERTSELECT_H
