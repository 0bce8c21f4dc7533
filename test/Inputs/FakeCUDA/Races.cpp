//===- Races.cpp - Operations on memory that nothing orders ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "State.h"

using namespace fakecuda;

/// Makes `at` a boundary between cells.
void RaceDetector::split(uintptr_t at) {
  auto next = cells.upper_bound(at);
  if (next == cells.begin())
    return;
  auto cell = std::prev(next);
  if (cell->first == at || cell->second.end <= at)
    return;
  Cell second = cell->second;
  cell->second.end = at;
  cells.emplace(at, std::move(second));
}

void RaceDetector::forget(uintptr_t begin, uintptr_t end) {
  split(begin);
  split(end);
  cells.erase(cells.lower_bound(begin), cells.lower_bound(end));
}

void RaceDetector::checkUse(const Use &use, const Operation &operation,
                            const Access &access, int stream,
                            const Clock &clock, const char *verb) const {
  auto known = clock.find(use.stream);
  if (use.stream == stream ||
      (known != clock.end() && known->second >= use.tick))
    return;
  fail(operation.what, "on stream " + std::to_string(stream) +
                           (access.writes ? " writes" : " reads") +
                           " memory that " + use.what + " on stream " +
                           std::to_string(use.stream) + ' ' + verb +
                           ", and no event orders them");
}

void RaceDetector::check(const Operation &operation, int stream,
                         const Clock &clock) {
  uint64_t tick = clock.at(stream);
  // First all checks, as an operation may read what it writes.
  for (const Access &access : operation.accesses) {
    split(access.begin);
    split(access.end);
    for (auto cell = cells.lower_bound(access.begin);
         cell != cells.end() && cell->first < access.end; ++cell) {
      for (const Use &use : cell->second.writers)
        checkUse(use, operation, access, stream, clock, "writes");
      if (access.writes)
        for (const Use &use : cell->second.readers)
          checkUse(use, operation, access, stream, clock, "reads");
    }
  }
  for (const Access &access : operation.accesses) {
    // Cells for what has none, so that the range is covered.
    for (uintptr_t at = access.begin; at < access.end;) {
      auto cell = cells.lower_bound(at);
      if (cell != cells.end() && cell->first == at) {
        at = cell->second.end;
        continue;
      }
      uintptr_t end =
          cell == cells.end() ? access.end : std::min(access.end, cell->first);
      cells.emplace(at, Cell{end, {}, {}});
      at = end;
    }
    Use use = {stream, tick, operation.what};
    if (access.writes) {
      cells.erase(cells.lower_bound(access.begin),
                  cells.lower_bound(access.end));
      cells.emplace(access.begin, Cell{access.end, {use}, {}});
      continue;
    }
    for (auto cell = cells.lower_bound(access.begin);
         cell != cells.end() && cell->first < access.end; ++cell) {
      std::vector<Use> &readers = cell->second.readers;
      bool known = false;
      for (Use &reader : readers)
        if (reader.stream == stream) {
          reader = use;
          known = true;
        }
      if (!known)
        readers.push_back(use);
    }
  }
}
