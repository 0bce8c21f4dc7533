//===- PathBuffers.h - Pieces of buffers on one path ---------- -*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_ANALYSIS_VERIFICATION_VALUES_PATHBUFFERS_H
#define BRAID_LIB_ANALYSIS_VERIFICATION_VALUES_PATHBUFFERS_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace braid {

/// The product and the sum, or the nearest number: sizes, strides and offsets
/// may be any that a type can have.
int64_t multiplySaturating(int64_t a, int64_t b);
int64_t addSaturating(int64_t a, int64_t b);

/// The elements of a memref, counted in bytes from the start of its buffer: one
/// size and stride for each dimension.
struct BufferBox {
  struct Dim {
    int64_t size;
    int64_t stride;
  };
  int64_t begin = 0;
  int64_t elementBytes = 0;
  llvm::SmallVector<Dim, 2> dims;

  bool isEmpty() const;
  /// True if the elements have no gaps between them.
  bool isContiguous() const;
};

/// What is known of the overlap of two pieces.
enum class Overlap { None, Some, Unknown };

/// A piece of a buffer, as one rank has it on one path.
struct PathBuffer {
  /// The number of the buffer.
  unsigned root = 0;
  /// Equal pieces have equal ids.
  uint64_t id = 0;
  /// The piece is the whole buffer.
  bool isWhole = false;
  /// Some part of the piece, not known which.
  bool isUnknownPart = false;
  /// The elements of the piece; none if offsets or sizes are not known.
  std::optional<BufferBox> box;
};

/// The bytes between neighbouring elements of `type`; none if they are not
/// fixed. Types of whole bytes alone have distinct bytes for distinct elements.
std::optional<int64_t> getFixedElementBytes(mlir::Type type);

/// The elements of a memref with `sizes`, row-major from the start of a buffer.
BufferBox getRowMajorBox(llvm::ArrayRef<int64_t> sizes, int64_t elementBytes);

Overlap getOverlap(const PathBuffer &a, const PathBuffer &b);

} // namespace braid

#endif // BRAID_LIB_ANALYSIS_VERIFICATION_VALUES_PATHBUFFERS_H
