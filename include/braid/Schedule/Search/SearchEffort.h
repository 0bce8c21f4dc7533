//===- SearchEffort.h - How much work a search invests ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SCHEDULE_SEARCH_SEARCHEFFORT_H
#define BRAID_SCHEDULE_SEARCH_SEARCHEFFORT_H

#include <cstdint>

namespace braid {

/// How much work a search invests.
enum class SearchEffort : uint8_t {
  /// A fraction of the steps of `Default`, and only the quick bounds.
  Low,
  /// Ends each part of the search where twice its steps have gained less than
  /// 0.1 percent.
  Default,
  /// Spends all steps.
  High
};

} // namespace braid

#endif // BRAID_SCHEDULE_SEARCH_SEARCHEFFORT_H
