//===- SortByTime.h - Lists in the order of a time --------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_REPORT_SORTBYTIME_H
#define BRAID_LIB_REPORT_SORTBYTIME_H

#include "llvm/ADT/STLExtras.h"

#include <vector>

namespace braid {

/// Sorts by `getNs` of the elements; equal ones stay in order. As
/// std::stable_sort, which warns of a deprecated part of GCC's library.
template <typename T, typename Getter>
void sortByTime(std::vector<T> &list, Getter getNs) {
  std::vector<std::pair<int64_t, size_t>> order;
  for (const auto &[index, element] : llvm::enumerate(list))
    order.emplace_back(getNs(element), index);
  llvm::sort(order);
  std::vector<T> sorted;
  sorted.reserve(list.size());
  for (auto [ns, index] : order)
    sorted.push_back(std::move(list[index]));
  list = std::move(sorted);
}

} // namespace braid

#endif // BRAID_LIB_REPORT_SORTBYTIME_H
