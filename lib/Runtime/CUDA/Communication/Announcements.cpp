//===- Announcements.cpp - Fingerprints before operations -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Communication/Announcements.h"

using namespace braid::rt;
using namespace braid::rt::cuda;

std::optional<Failure> Announcements::add(int32_t rank,
                                          const OpenOperation &operation) {
  std::optional<Failure> problem;
  {
    std::lock_guard<std::mutex> lock(mutex);
    Statuses &statuses = announced[keyOf(operation)];
    RankStatus &status = statuses[rank];
    status.rank = rank;
    status.open = {operation};
    problem = findProblem(statuses);
  }
  changed.notify_all();
  return problem;
}

std::vector<int32_t>
Announcements::findMissing(const OpenOperation &operation) const {
  auto found = announced.find(keyOf(operation));
  std::vector<int32_t> missing;
  for (int32_t member : operation.members)
    if (found == announced.end() || !found->second.count(member))
      missing.push_back(member);
  return missing;
}

void Announcements::wake() {
  // The waiting thread must not miss the failure between its check and its
  // sleep.
  {
    std::lock_guard<std::mutex> lock(mutex);
  }
  changed.notify_all();
}
