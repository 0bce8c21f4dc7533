//===- Options.h - The command line of braid-run ----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_OPTIONS_OPTIONS_H
#define BRAID_TOOLS_BRAID_RUN_OPTIONS_OPTIONS_H

#include "Common/Failure.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace braid::run {

/// The tolerance of comparisons.
struct Tolerance {
  enum Kind { Auto, Exact, Given } kind = Auto;
  double largest = 0; ///< Of Given: relative to the largest element.
};

/// The command line.
struct Options {
  std::string program;
  std::string target; ///< `host`, `cuda`, `interpreter`; empty: that of the
                      ///< program.
  std::string engine; ///< Empty: from the target and the environment.
  int32_t ranks = 0;  ///< 0: not given.
  std::string entry;  ///< Empty: the program's main or only entry.
  std::vector<std::string> args;
  std::string out; ///< Pattern, empty: write no results.
  bool print = false;
  bool compareResults = false;
  std::string reference; ///< Of compareResults: a compiled program, or empty.
  std::string expect;    ///< Pattern of files to compare with, or empty.
  Tolerance tolerance;
  std::vector<std::string> interleaved; ///< Compiled programs to run in turn.
  int64_t repeat = 1;
  std::optional<int64_t> warmup;
  int64_t idleNs = 0; ///< Idle time before the runs of a measurement.
  bool measureBounds = false;
  bool showOverlap = false;
  std::string measurements; ///< File, empty: none.
  std::string trace;        ///< File or pattern, empty: none.
  /// Options of comm-report for a comparison with the model.
  std::optional<std::string> report;
  int64_t plans = 1; ///< Plans to compile the program with and to compare.
  int64_t tune = 0;  ///< Rounds of scheduling by measured costs.
  std::string tunedProfile; ///< Empty: `tuned-profile.json`.
  std::string profile;      ///< Of a round: the measured costs; empty: none.
  bool link = false;
  int64_t linkLatencyNs = 0;
  double linkBandwidth = 0; ///< Bytes per second, 0: unlimited.
  std::string reductions;   ///< `ordered` or `fast`; empty: the engine's.
  uint64_t seed = 0;        ///< Of the first interleaving.
  bool isInOrder = false;   ///< Of the interpreter: no random interleaving.
  std::string interpreterOption; ///< The last one of these two, if given.
  bool showBinding = false;
  std::string flightRecorder; ///< Beginning of file names, empty: none.
  std::string dumps;          ///< Folder to analyze, empty: none.
  int64_t timeoutNs = 0;      ///< 0: the default of the engine.
  std::optional<std::string> passes;
  std::string chip;           ///< Empty: that of the device.
  std::string attention;      ///< Empty: the default of braid-compile.
  std::string convolution;    ///< Empty: the default of braid-compile.
  std::string verify;         ///< Empty: the default of braid-compile.
  bool isProgramSent = false; ///< By rank 0, to the other processes.
  /// Options of the engine, in the order of the command line.
  std::vector<std::pair<std::string, std::string>> engineOptions;
  std::string help; ///< The text of --help, if that is given.
  bool version = false;

  bool records() const {
    return showOverlap || report || tune > 0 || !trace.empty();
  }
};

/// True if a file name is that of a compiled program.
bool isCompiled(const std::string &file);

/// Throws a UsageError for options that exclude each other.
void checkTogether(const Options &options);

/// Reads the command line; throws UsageError.
Options parseOptions(int argc, char **argv);

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_OPTIONS_OPTIONS_H
