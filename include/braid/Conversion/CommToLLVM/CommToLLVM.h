//===- CommToLLVM.h - The comm dialect as runtime calls ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_CONVERSION_COMMTOLLVM_COMMTOLLVM_H
#define BRAID_CONVERSION_COMMTOLLVM_COMMTOLLVM_H

namespace mlir {
class DialectRegistry;
class LLVMTypeConverter;
class RewritePatternSet;
} // namespace mlir

namespace braid {

/// Adds the conversion of tokens to pointers, and patterns that lower starts
/// and waits on buffers, groups, `comm.rank` and `comm.size` to constants and
/// calls of the runtime (include/braid-rt/Collectives.h).
void populateCommToLLVMConversionPatterns(mlir::LLVMTypeConverter &converter,
                                          mlir::RewritePatternSet &patterns);

/// Lets `convert-to-llvm` lower the comm dialect.
void registerConvertCommToLLVMInterface(mlir::DialectRegistry &registry);

} // namespace braid

#endif // BRAID_CONVERSION_COMMTOLLVM_COMMTOLLVM_H
