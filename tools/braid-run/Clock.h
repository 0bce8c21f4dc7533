//===- Clock.h - The clocks of several hosts --------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_CLOCK_H
#define BRAID_TOOLS_BRAID_RUN_CLOCK_H

#include "Processes.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace braid::run {

/// When a process has entered and left exchanges that no process leaves before
/// all have entered, by its own clock.
using ExchangeTimes = std::vector<std::pair<int64_t, int64_t>>;

/// What to add to the times of a process.
struct ClockOffset {
  int64_t ns = 0;
  int64_t errorNs = 0; ///< The true offset is at most this far away.
};

/// What turns times of `other` into times of `reference`, from the same
/// exchanges. In each, `other` has left after `reference` entered, and the
/// other way round: the narrowest of these bounds hold the offset.
ClockOffset estimateOffset(const ExchangeTimes &reference,
                           const ExchangeTimes &other);

/// Names the monotonic clock of this process: processes with equal names read
/// the same clock.
std::string clockName();

/// For each process, in order: what turns times of its monotonic clock into
/// those of the first process. All processes call it together.
std::vector<ClockOffset> measureOffsets(const Processes &processes);

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_CLOCK_H
