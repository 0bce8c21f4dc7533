//===- Options.h - The command line of braid-run ----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_OPTIONS_H
#define BRAID_TOOLS_BRAID_RUN_OPTIONS_H

#include "Failure.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace braid::run {

/// The command line.
struct Options {
  std::string program;
  std::string engine; ///< Empty: what the environment asks for.
  int32_t ranks = 0;  ///< 0: not given.
  std::string entry;  ///< Empty: the program's main or only entry.
  std::vector<std::string> args;
  std::string out; ///< Pattern, empty: write no results.
  bool print = false;
  bool verify = false;
  std::string reference; ///< For verify: a compiled program, or empty.
  int64_t repeat = 1;
  std::string trace; ///< File, empty: none.
  bool link = false;
  int64_t linkLatencyNs = 0;
  double linkBandwidth = 0; ///< Bytes per second, 0: unlimited.
  std::string reductions;   ///< `ordered` or `fast`; empty: the engine's.
  bool bind = false;
  int64_t timeoutNs = 0; ///< 0: the runtime's default.
  std::optional<std::string> passes;
  bool help = false;
};

/// Reads the command line; throws UsageError.
Options parseOptions(int argc, char **argv);

/// A duration with its unit, `20us`, in ns; throws UsageError that names
/// `option`.
int64_t parseDuration(const std::string &text, const std::string &option);

/// A rate with its unit, `10GB/s`, in bytes per second.
double parseBandwidth(const std::string &text, const std::string &option);

extern const char *const helpText;

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_OPTIONS_H
