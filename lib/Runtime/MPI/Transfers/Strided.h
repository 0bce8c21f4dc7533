//===- Strided.h - Parts of a tensor along one dimension --------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_MPI_TRANSFERS_STRIDED_H
#define BRAID_RUNTIME_MPI_TRANSFERS_STRIDED_H

#include "Operations/Operation.h"

#include <cstdint>

namespace braid::rt {

/// A tensor that is cut into equal parts along one dimension: `rows` rows, each
/// with `rowBytes` of every part.
struct Strided {
  /// The whole has `parts` parts, `part` are the sizes of one.
  Strided(const Sizes &part, int64_t dim, int64_t parts, int64_t elementBytes);

  int64_t parts;
  int64_t rows;
  int64_t rowBytes;

  int64_t partBytes() const { return rows * rowBytes; }
  /// Whether a part is one range of memory.
  bool isContiguous() const { return rows <= 1; }

  /// Copies bytes [begin, end) of a part, with offsets within the part, from or
  /// to the whole.
  void pack(const char *whole, int64_t part, int64_t begin, int64_t end,
            char *packed) const;
  void unpack(const char *packed, int64_t part, int64_t begin, int64_t end,
              char *whole) const;

private:
  template <typename Copy>
  void forEachStretch(int64_t part, int64_t begin, int64_t end,
                      Copy copy) const;
};

} // namespace braid::rt

#endif // BRAID_RUNTIME_MPI_TRANSFERS_STRIDED_H
