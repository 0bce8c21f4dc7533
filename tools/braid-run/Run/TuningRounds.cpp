//===- TuningRounds.cpp - Which schedules have run --------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/TuningRounds.h"

using namespace braid::run;

bool TuningRounds::add(const std::string &schedule, double stepMs) {
  bool isNew = true;
  for (const auto &[earlier, ms] : rounds)
    isNew &= schedule.empty() || earlier != schedule;
  rounds.emplace_back(schedule, stepMs);
  return isNew;
}

size_t TuningRounds::best() const {
  size_t fastest = 0;
  for (size_t i = 1; i < rounds.size(); ++i)
    if (rounds[i].second < rounds[fastest].second)
      fastest = i;
  return fastest;
}
