//===- Options.h - What braid-calibrate measures ----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_CALIBRATE_OPTIONS_H
#define BRAID_TOOLS_BRAID_CALIBRATE_OPTIONS_H

#include "Measure.h"
#include "Programs.h"

namespace braid::calibrate {

/// The options of the command line, checked.
struct Options {
  int64_t ranks = 1;
  std::string output;
  /// Where to write a page, and the profile that it shows instead of a
  /// measurement; empty: none.
  std::string page, shown;
  /// The name of the machine; empty: that of the GPU.
  std::string machine;
  double limitSeconds = 0;
  /// Most valuable first.
  std::vector<MatmulCall> matmuls;
  /// Multiprocessors that matmuls leave to others.
  std::vector<int64_t> spared;
  /// The sizes of each kind, ascending.
  std::map<int32_t, std::vector<int64_t>> collectives;
  /// The default one first.
  std::vector<Lane> lanes;
  /// The groups beside the one of all ranks.
  std::vector<Grouping> groupings;
  int64_t elementwiseBytes = 0;
  /// Of the collective in measurements of pairs.
  int64_t pairBytes = 0;
  Durations durations;
};

/// Reads the command line. Errors name the option, the found and the expected
/// value.
llvm::Expected<Options> parseOptions(int argc, char **argv);

} // namespace braid::calibrate

#endif // BRAID_TOOLS_BRAID_CALIBRATE_OPTIONS_H
