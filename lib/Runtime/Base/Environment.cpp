//===- Environment.cpp - Configuration, clock and log of a world ----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Base/Environment.h"
#include "braid/Support/Text.h"

#include <chrono>
#include <cstdio>

using namespace braid::rt;

int64_t braid::rt::monotonicNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// True for an option of all engines, which the core reads.
static bool isCommon(const std::string &key) {
  return key == "flight-recorder";
}

static EngineOptions copyOptions(const braid_rt_config &config, bool common) {
  EngineOptions options;
  for (int64_t i = 0; i < config.optionCount; ++i)
    if (isCommon(config.options[i].key) == common)
      options.emplace_back(config.options[i].key, config.options[i].value);
  return options;
}

static std::string findFlightPrefix(const braid_rt_config &config) {
  EngineOptions options = copyOptions(config, /*common=*/true);
  return options.empty() ? "" : options.back().second;
}

static braid_rt_config withoutStrings(braid_rt_config config) {
  config.engine = nullptr;
  config.optionCount = 0;
  config.options = nullptr;
  return config;
}

Environment::Environment(const braid_rt_config &config)
    : config(withoutStrings(config)),
      engineName(config.engine && *config.engine ? config.engine : "inproc"),
      engineOptions(copyOptions(config, /*common=*/false)),
      flightPrefix(findFlightPrefix(config)), createdNs(monotonicNs()) {}

void Environment::log(const std::string &line) const {
  if (config.log)
    config.log(config.logData, line.c_str());
  else
    std::fputs(("[braid] " + makePrintable(line) + "\n").c_str(), stderr);
}
