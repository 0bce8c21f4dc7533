//===- Layout.h - Where MPI finds the data of operands ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_MPI_TRANSFERS_LAYOUT_H
#define BRAID_RUNTIME_MPI_TRANSFERS_LAYOUT_H

#include "MPI/Library/Call.h"
#include "Operations/Operation.h"

namespace braid::rt {

/// The type that moves elements of so many bytes.
MPI_Datatype movedType(int64_t elementBytes);

/// Counts of elements for each member, and where each of them begins.
struct Counts {
  std::vector<int> counts, begins;
  explicit Counts(int64_t members) {
    counts.reserve(static_cast<size_t>(members));
    begins.reserve(static_cast<size_t>(members));
  }
  void add(int64_t count) {
    begins.push_back(counts.empty() ? 0 : begins.back() + counts.back());
    counts.push_back(static_cast<int>(count));
  }
};

/// The elements of a tensor, which MPI counts with an int.
inline int countOf(const Sizes &sizes) {
  return static_cast<int>(elementCount(sizes));
}

/// The elements before dimension `dim`.
int64_t countRows(const Sizes &sizes, int64_t dim);

/// A part of a tensor that is cut into equal parts along a dimension: part m
/// begins at m * count extents of the type.
struct PartType {
  MPI_Datatype type;
  int count;
};

/// The type of a part of the sizes `part`, of `parts` along dimension `dim`. It
/// exists until the requests are complete.
PartType makePartType(MPI_Datatype element, const Sizes &part, int64_t dim,
                      int64_t parts, Requests &requests);

} // namespace braid::rt

#endif // BRAID_RUNTIME_MPI_TRANSFERS_LAYOUT_H
