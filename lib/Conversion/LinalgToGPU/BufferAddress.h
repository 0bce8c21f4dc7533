//===- BufferAddress.h - Alignment and overlap of buffers -------*- C++ -*-===//
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

/// The bytes of an element of `type` in memory; 0 for types that kernels do not
/// support.
int64_t getByteSize(mlir::Type type);

/// The known alignment of the first element of `buffer`: a power of two up to
/// 256, in bytes.
int64_t getAlignment(mlir::Value buffer);

/// The known alignment of the base pointer of `buffer`, without the offset. A
/// kernel gets this pointer.
int64_t getBaseAlignment(mlir::Value buffer);

/// The value that allocates the memory of `buffer`, or an argument or result of
/// unknown origin.
mlir::Value getRoot(mlir::Value buffer);

/// True if `root` is memory of its own, which overlaps neither other such roots
/// nor values that are defined before.
bool isOwnMemory(mlir::Value root);

/// False if no element of `a` is an element of `b`.
bool mayOverlap(mlir::Value a, mlir::Value b);

} // namespace braid::kernels

#endif // BRAID_LIB_CONVERSION_LINALGTOGPU_BUFFERADDRESS_H
