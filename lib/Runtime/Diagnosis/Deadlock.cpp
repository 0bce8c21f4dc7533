//===- Deadlock.cpp - Ranks that wait for each other ------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Diagnosis/Deadlock.h"

#include <algorithm>

using namespace braid::rt;

std::vector<int32_t> braid::rt::findDeadlocked(WaitingRanks waiting) {
  // A rank may continue if none of the ranks that it needs waits.
  auto mayGoOn = [&](const std::vector<int32_t> &missing) {
    return std::none_of(missing.begin(), missing.end(),
                        [&](int32_t rank) { return waiting.count(rank) != 0; });
  };
  for (auto it = waiting.begin(); it != waiting.end();)
    if (mayGoOn(it->second)) {
      waiting.erase(it);
      it = waiting.begin();
    } else {
      ++it;
    }
  std::vector<int32_t> ranks;
  for (const auto &entry : waiting)
    ranks.push_back(entry.first);
  return ranks;
}
