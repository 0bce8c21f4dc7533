//===- Measurements.h - The file of --measurements --------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_RUN_MEASUREMENTS_H
#define BRAID_TOOLS_BRAID_RUN_RUN_MEASUREMENTS_H

#include "Run/Session.h"

#include <optional>
#include <string>
#include <vector>

namespace braid::run {

/// The measurements of a session.
struct Measurements {
  struct Program {
    std::string role;
    const Subject *subject;
    const Verifier *verifier; ///< Null if nothing is compared.
  };
  int64_t ranks = 1, repeat = 1, warmup = 0;
  std::optional<double> largestError;
  std::vector<Replacement> replacements;
  std::vector<Program> programs;
};

/// Writes the measurements as JSON. Throws a RunError if the file cannot be
/// written.
void writeMeasurements(const std::string &file,
                       const Measurements &measurements);

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_RUN_MEASUREMENTS_H
