//===- ArrayParts.h - Parts of dense arrays ---------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SUPPORT_ARRAYPARTS_H
#define BRAID_SUPPORT_ARRAYPARTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace braid {

/// Returns part `part` of `numParts` equal parts along dimension `dim` of
/// `whole`, the elements in row-major order of an array of `sizes`. `numParts`
/// has to divide `sizes[dim]`.
template <typename T>
std::vector<T> getArrayPart(const std::vector<T> &whole,
                            llvm::ArrayRef<int64_t> sizes, int64_t dim,
                            int64_t numParts, int64_t part) {
  int64_t inner = llvm::accumulate(sizes.drop_front(dim + 1), int64_t{1},
                                   std::multiplies<>());
  int64_t length = sizes[dim] / numParts;
  std::vector<T> result;
  for (auto [index, element] : llvm::enumerate(whole))
    if (static_cast<int64_t>(index) / inner % sizes[dim] / length == part)
      result.push_back(element);
  return result;
}

/// Returns the array that `parts` make up along dimension `dim`, in row-major
/// order. Each part has the elements of an array of `sizes` in this order; the
/// length of a part along `dim` may differ from `sizes[dim]`.
template <typename T>
std::vector<T> joinArrays(llvm::ArrayRef<std::vector<T>> parts,
                          llvm::ArrayRef<int64_t> sizes, int64_t dim) {
  int64_t outer =
      llvm::accumulate(sizes.take_front(std::min<size_t>(dim, sizes.size())),
                       int64_t{1}, std::multiplies<>());
  std::vector<T> result;
  for (int64_t i = 0; i != outer; ++i)
    for (const std::vector<T> &part : parts) {
      int64_t length = part.size() / outer;
      result.insert(result.end(), part.begin() + i * length,
                    part.begin() + (i + 1) * length);
    }
  return result;
}

} // namespace braid

#endif // BRAID_SUPPORT_ARRAYPARTS_H
