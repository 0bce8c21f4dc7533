//===- BufferAddress.h - What is known of addresses -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_CONVERSION_LINALGTOGPU_BUFFERADDRESS_H
#define BRAID_LIB_CONVERSION_LINALGTOGPU_BUFFERADDRESS_H

#include "mlir/IR/Value.h"

namespace braid::kernels {

/// The bytes that an element of `type` takes in memory; 0 for types that no
/// kernel accesses.
int64_t getByteSize(mlir::Type type);

/// The largest power of two up to 256 that certainly divides the address, in
/// bytes, of the first element of `buffer`.
int64_t getAlignment(mlir::Value buffer);

/// The same of the address that the offset of `buffer`'s type counts from,
/// which is the pointer that a kernel gets.
int64_t getBaseAlignment(mlir::Value buffer);

/// The value that allocates the memory of `buffer`, or an argument or result of
/// which no more is known.
mlir::Value getRoot(mlir::Value buffer);

/// True if `root` is memory of its own: nothing that is known when it is
/// defined overlaps it, nor do other such roots.
bool isOwnMemory(mlir::Value root);

/// False if no element of `a` is an element of `b`.
bool mayOverlap(mlir::Value a, mlir::Value b);

} // namespace braid::kernels

#endif // BRAID_LIB_CONVERSION_LINALGTOGPU_BUFFERADDRESS_H
