//===- RowLength.h - Rows that registers hold -------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SUPPORT_ROWLENGTH_H
#define BRAID_SUPPORT_ROWLENGTH_H

#include <algorithm>
#include <cstdint>

namespace braid {

/// The most elements of a row that a kernel of rows keeps in registers.
constexpr int64_t kMaxRowLength = 16384;

/// A sum of fewer elements is one row, which no other op shares.
constexpr int64_t kLeastSplitElements = int64_t(1) << 18;

/// True if the kernel of the parts of a sum of `elements` elements may also
/// compute what it sums, `ops` ops for each element: it has few threads if the
/// elements are few, and loses less than a launch takes.
constexpr bool isCheapInRows(int64_t ops, int64_t elements) {
  constexpr int64_t busyElements = int64_t(1) << 20, opsOfLaunch = int64_t(1)
                                                                   << 26;
  return ops * std::max<int64_t>(busyElements - elements, 0) <= opsOfLaunch;
}

} // namespace braid

#endif // BRAID_SUPPORT_ROWLENGTH_H
