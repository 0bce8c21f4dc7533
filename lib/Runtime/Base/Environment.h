//===- Environment.h - Configuration, clock and log of a world --*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_BASE_ENVIRONMENT_H
#define BRAID_RUNTIME_BASE_ENVIRONMENT_H

#include "braid-rt/Host.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace braid::rt {

/// Nanoseconds of the monotonic clock.
BRAID_RT_API int64_t monotonicNs();

/// The options of an engine, as `key`, `value`.
using EngineOptions = std::vector<std::pair<std::string, std::string>>;

/// The common state of the world and its engine: the configuration, the clock,
/// the log.
class BRAID_RT_API Environment {
public:
  explicit Environment(const braid_rt_config &config);

  /// Nanoseconds since the world was created.
  int64_t now() const { return monotonicNs() - createdNs; }

  bool logs(braid_rt_debug level) const { return config.debug >= level; }
  void log(const std::string &line) const;

  /// The strings of the configuration are copied to `engineName` and
  /// `engineOptions`; the pointers here are null.
  const braid_rt_config config;
  const std::string engineName;
  const EngineOptions engineOptions;
  /// The option `flight-recorder` of all engines: the beginning of the names of
  /// the files for the last operations of each rank; empty: no files.
  const std::string flightPrefix;
  const int64_t createdNs;
};

} // namespace braid::rt

#endif // BRAID_RUNTIME_BASE_ENVIRONMENT_H
