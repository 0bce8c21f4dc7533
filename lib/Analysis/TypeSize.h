//===- TypeSize.h - Elements and bytes of types -----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_ANALYSIS_TYPESIZE_H
#define BRAID_LIB_ANALYSIS_TYPESIZE_H

#include "mlir/IR/Types.h"
#include "mlir/IR/ValueRange.h"

#include <cstdint>

namespace braid {

/// Bytes of one element; i1 takes a byte, `index` eight.
uint64_t getElementBytes(mlir::Type elementType);

/// The elements of a ranked tensor or memref type, dynamic dimensions counted
/// as `dynamicSize`; 0 for every other type.
uint64_t getNumElements(mlir::Type type, int64_t dynamicSize);

/// The bytes of a ranked tensor or memref type; 0 for every other type.
uint64_t getTypeBytes(mlir::Type type, int64_t dynamicSize);

/// The bytes of all tensors and memrefs among `values`, each value once.
uint64_t getDistinctBytes(mlir::ValueRange values, int64_t dynamicSize);

} // namespace braid

#endif // BRAID_LIB_ANALYSIS_TYPESIZE_H
