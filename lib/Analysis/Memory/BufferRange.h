//===- BufferRange.h - The memory that a value points to -------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_ANALYSIS_MEMORY_BUFFERRANGE_H
#define BRAID_LIB_ANALYSIS_MEMORY_BUFFERRANGE_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

#include <cstdint>
#include <limits>

namespace braid {

/// A piece of one buffer.
struct BufferRange {
  /// Pieces of different buffers do not overlap. A piece of an unknown buffer
  /// may overlap with anything.
  static constexpr unsigned unknown = ~0u;
  unsigned buffer = unknown;
  /// The value that this is a piece of: an allocation, an argument, a global,
  /// or a memref of an unknown buffer. Null for other values.
  mlir::Value root;
  /// Bytes from the start of the buffer, `end` exclusive; the largest range if
  /// they are not known. Strided pieces count from their first to their last
  /// element.
  int64_t begin = std::numeric_limits<int64_t>::min();
  int64_t end = std::numeric_limits<int64_t>::max();
  /// The same from the start of `root`, so that pieces of one root compare even
  /// if the place of the root in its buffer is not known.
  int64_t rootBegin = std::numeric_limits<int64_t>::min();
  int64_t rootEnd = std::numeric_limits<int64_t>::max();
  bool rootStartsBuffer = false;

  /// Where the pointer stands that the offset of a memref counts from, from the
  /// start of `root`, if that is known.
  int64_t origin = 0;
  bool hasOrigin = false;

  bool isEmpty() const { return begin >= end; }
};

/// Finds out what values point to, within one function: through views, casts
/// and the arguments of `comm.compute`. Allocations are distinct from each
/// other and from what comes from outside. The memref arguments of a public
/// function are distinct, those of a private one may all be the same; neither
/// overlap with globals of a public function. What comes out of loops,
/// branches, calls and memory is unknown.
class BufferResolver {
public:
  /// The piece that `value`, a memref or pointer, points to.
  const BufferRange &resolve(mlir::Value value);

  /// True if `value` is what an op allocates.
  static bool isAllocation(mlir::Value value);

private:
  /// What `value` is a view of, or null.
  static mlir::Value getSource(mlir::Value value);
  /// Narrows the range of its source to that of `view`.
  static void narrowToView(mlir::Value view, BufferRange &range);
  BufferRange compute(mlir::Value value);
  unsigned getNumber(const void *key);

  llvm::DenseMap<mlir::Value, BufferRange> ranges;
  llvm::DenseMap<const void *, unsigned> numbers;
};

} // namespace braid

#endif // BRAID_LIB_ANALYSIS_MEMORY_BUFFERRANGE_H
