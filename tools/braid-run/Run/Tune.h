//===- Tune.h - Schedules by measured costs ---------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_RUN_TUNE_H
#define BRAID_TOOLS_BRAID_RUN_RUN_TUNE_H

#include "Base/Launcher.h"
#include "Options/Options.h"
#include "Run/Runner.h"

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

/// Runs the program, schedules it again with the costs that the run has had,
/// and so on, until the order stays or `options.tune` rounds have run. Writes
/// the profile with which the fastest program was scheduled. All processes of
/// the world call this function together.
void tune(const Options &options, const rt::Launcher &launcher, Runner &runner);

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_RUN_TUNE_H
