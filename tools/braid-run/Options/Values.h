//===- Values.h - The values of options -------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_OPTIONS_VALUES_H
#define BRAID_TOOLS_BRAID_RUN_OPTIONS_VALUES_H

#include "Options/Options.h"

#include <string>
#include <utility>
#include <vector>

// All functions throw a UsageError without the name of the option.

namespace braid::run {

/// Calls `parse`, and begins messages with `name`.
template <typename Parse>
auto parseFor(const std::string &name, const Parse &parse) {
  try {
    return parse();
  } catch (const UsageError &error) {
    throw UsageError(name + ": " + error.what());
  }
}

/// A duration with its unit, `20us`, in ns.
int64_t parseDuration(const std::string &text);

int64_t parseCount(const std::string &text, int64_t least, int64_t largest);

/// `latency=20us,bandwidth=10GB/s`, in any order, either may be left out.
void parseLink(const std::string &text, Options &options);

/// `exact`, `auto` or a number that is not negative.
Tolerance parseTolerance(const std::string &text);

/// Converts `latency:ctas=8,transport=copy` to an option of the engine:
/// `lane.latency` with the value `ctas=8,transport=copy`.
std::pair<std::string, std::string> parseLane(const std::string &text);

/// `KEY=VALUE`.
std::pair<std::string, std::string> parseEngineOption(const std::string &text);

/// `value`, which must be one of `words`.
std::string checkOneOf(const std::string &value,
                       const std::vector<std::string> &words);

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_OPTIONS_VALUES_H
