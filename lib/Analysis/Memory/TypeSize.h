//===- TypeSize.h - Elements and bytes of types -----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_ANALYSIS_MEMORY_TYPESIZE_H
#define BRAID_LIB_ANALYSIS_MEMORY_TYPESIZE_H

#include "braid/Dialect/Comm/IR/CommCostInterface.h"
#include "mlir/IR/Types.h"
#include "mlir/IR/ValueRange.h"

#include <cstdint>

namespace braid {

/// Bytes of one element. An i1 takes one byte; `sizes` gives the bytes of
/// `index`.
uint64_t getElementBytes(mlir::Type elementType,
                         const comm::SizeDefaults &sizes);

/// The elements of a ranked tensor or memref type, dynamic dimensions counted
/// as `dynamicSize`; 0 for every other type.
uint64_t getNumElements(mlir::Type type, int64_t dynamicSize);

/// The bytes of a ranked tensor or memref type; 0 for every other type.
uint64_t getTypeBytes(mlir::Type type, const comm::SizeDefaults &sizes);

/// The bytes of all tensors and memrefs among `values`, each value once.
uint64_t getDistinctBytes(mlir::ValueRange values,
                          const comm::SizeDefaults &sizes);

} // namespace braid

#endif // BRAID_LIB_ANALYSIS_MEMORY_TYPESIZE_H
