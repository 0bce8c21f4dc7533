//===- Clock.h - The clocks of several hosts --------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_TIMING_CLOCK_H
#define BRAID_TOOLS_BRAID_RUN_TIMING_CLOCK_H

#include "Launch/Processes.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace braid::run {

/// The times, by its own clock, at which a process has entered and left
/// exchanges. No process leaves an exchange before all processes have entered
/// it.
using ExchangeTimes = std::vector<std::pair<int64_t, int64_t>>;

/// The offset to add to the times of a process.
struct ClockOffset {
  int64_t ns = 0;
  int64_t errorNs = 0; ///< The true offset is at most this far away.
};

/// The offset from times of `other` to times of `reference`, from the same
/// exchanges. In each exchange each process leaves after the other has entered,
/// which gives bounds on the offset; the function takes the narrowest bounds.
ClockOffset estimateOffset(const ExchangeTimes &reference,
                           const ExchangeTimes &other);

/// Names the monotonic clock of this process: processes with equal names read
/// the same clock.
std::string clockName();

/// The offset from the monotonic clock of each process to that of the first
/// process. All processes call this function together.
std::vector<ClockOffset> measureOffsets(const Processes &processes);

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_TIMING_CLOCK_H
