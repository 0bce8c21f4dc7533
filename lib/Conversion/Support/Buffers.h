//===- Buffers.h - Copies, addresses and sizes of buffers -------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CONVERSION_SUPPORT_BUFFERS_H
#define BRAID_LIB_CONVERSION_SUPPORT_BUFFERS_H

#include "RuntimeCalls.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace braid {

/// A new buffer with the contents of `buffer`.
mlir::Value createCopy(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value buffer);

/// `index` as a 64-bit integer.
mlir::Value toI64(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Value index);

/// The address of element `offset` of `buffer`, an `index` that counts elements
/// from the base pointer of `buffer`.
mlir::Value getElementAddress(mlir::OpBuilder &builder, mlir::Location loc,
                              mlir::Value buffer, mlir::Value offset,
                              RuntimeCallBuilder &calls);

/// The bytes of an element of `type`, which the runtime supports.
int64_t getElementBytes(mlir::MemRefType type);

/// The bytes of all elements of `type`, whose shape is static; nothing if they
/// exceed the address space.
std::optional<int64_t> getTotalBytes(mlir::MemRefType type);

} // namespace braid

#endif // BRAID_LIB_CONVERSION_SUPPORT_BUFFERS_H
