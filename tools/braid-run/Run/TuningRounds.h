//===- TuningRounds.h - Which schedules have run ----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_RUN_TUNINGROUNDS_H
#define BRAID_TOOLS_BRAID_RUN_RUN_TUNINGROUNDS_H

#include <string>
#include <utility>
#include <vector>

namespace braid::run {

/// The rounds so far: which one was the fastest, and whether the order is one
/// that has run already.
class TuningRounds {
public:
  /// Adds a round. Returns false if a program with this schedule has run
  /// already; an empty schedule equals none.
  bool add(const std::string &schedule, double stepMs);

  size_t count() const { return rounds.size(); }
  /// The number of the fastest round, from 0; the first one of equals.
  size_t best() const;
  double bestMs() const { return rounds[best()].second; }

private:
  std::vector<std::pair<std::string, double>> rounds;
};

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_RUN_TUNINGROUNDS_H
