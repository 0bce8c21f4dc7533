//===- KernelArguments.h - Addresses in kernels -----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CONVERSION_KERNELTONVVM_KERNELARGUMENTS_H
#define BRAID_LIB_CONVERSION_KERNELTONVVM_KERNELARGUMENTS_H

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace braid {

/// The argument of a function of LLVM that `address` points into; null if
/// `address` is computed in another way than by offsets.
inline mlir::BlockArgument getKernelArgument(mlir::Value address) {
  while (auto offset = address.getDefiningOp<mlir::LLVM::GEPOp>())
    address = offset.getBase();
  auto argument = llvm::dyn_cast<mlir::BlockArgument>(address);
  return argument && argument.getOwner()->isEntryBlock() &&
                 llvm::isa<mlir::LLVM::LLVMFuncOp>(
                     argument.getOwner()->getParentOp())
             ? argument
             : mlir::BlockArgument();
}

} // namespace braid

#endif // BRAID_LIB_CONVERSION_KERNELTONVVM_KERNELARGUMENTS_H
