//===- Clock.cpp - The clocks of several hosts ------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Timing/Clock.h"
#include "Common/Bytes.h"

#include <algorithm>
#include <chrono>
#include <climits>
#include <fstream>
#include <unistd.h>

using namespace braid::run;

ClockOffset braid::run::estimateOffset(const ExchangeTimes &reference,
                                       const ExchangeTimes &other) {
  int64_t least = INT64_MIN, most = INT64_MAX;
  for (size_t i = 0; i < reference.size(); ++i) {
    least = std::max(least, reference[i].first - other[i].second);
    most = std::min(most, reference[i].second - other[i].first);
  }
  int64_t half = (most - least) / 2;
  return {least + half, half};
}

std::string braid::run::clockName() {
  std::string name;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), name);
  // A container may have shifted the clock.
  char timeNamespace[64] = "";
  if (readlink("/proc/self/ns/time", timeNamespace, sizeof(timeNamespace) - 1) >
      0)
    name += std::string(" ") + timeNamespace;
  return name;
}

/// The clock of braid_rt_world_created_ns.
static int64_t monotonicNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::vector<ClockOffset>
braid::run::measureOffsets(const Processes &processes) {
  std::vector<std::string> names = processes.exchange(clockName());
  std::vector<ClockOffset> offsets(names.size());
  if (std::count(names.begin(), names.end(), names.front()) ==
      static_cast<std::ptrdiff_t>(names.size()))
    return offsets;
  ByteWriter writer;
  constexpr int64_t rounds = 32;
  for (int64_t i = 0; i < rounds; ++i) {
    writer.number(monotonicNs());
    // Not empty, so that every process waits for all others.
    processes.exchange("x");
    writer.number(monotonicNs());
  }
  std::vector<ExchangeTimes> times;
  for (const std::string &bytes : processes.exchange(writer.bytes)) {
    ByteReader reader(bytes);
    times.emplace_back();
    for (int64_t i = 0; i < rounds; ++i) {
      int64_t entered = reader.number();
      times.back().emplace_back(entered, reader.number());
    }
  }
  for (size_t i = 1; i < names.size(); ++i)
    if (names[i] != names.front())
      offsets[i] = estimateOffset(times.front(), times[i]);
  return offsets;
}
