//===- Events.h - Recorded events of the ranks ------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_TIMING_EVENTS_H
#define BRAID_TOOLS_BRAID_RUN_TIMING_EVENTS_H

#include "Launch/Processes.h"
#include "Timing/Replacements.h"
#include "braid-rt/braid-rt.h"

#include <string>
#include <vector>

namespace braid::run {

/// A braid_rt_event that processes can exchange.
struct Event {
  int32_t category = BRAID_RT_EVENT_KERNEL;
  int32_t kind = -1;
  std::string name, signature, lane;
  std::string group;              ///< Of a collective, see nameGroups.
  std::string where;              ///< `prog.mlir:12:8`, empty: unknown.
  int64_t beginNs = 0, endNs = 0; ///< By the clock of the first process.
  int64_t sequence = 0, bytes = 0;
  int32_t dtype = -1, reduction = -1;
  int64_t sourceElements = 0, destinationElements = 0;
  std::vector<int32_t> ranks;
};

/// The events of all ranks in their last invocation.
struct Recording {
  std::vector<std::vector<Event>> ranks; ///< One list for each rank.
  int64_t clockErrorNs = 0; ///< The uncertainty between times of two ranks.
  bool isHostMemory = true; ///< The host is the device.
  /// True if devices have the times of each kernel and collective, also in
  /// graphs (CUPTI).
  bool hasActivities = false;
  std::vector<Replacement> replacements;

  /// The earliest time of all events.
  int64_t beginNs() const;
};

/// Sets the group of each collective, which its lane names beside other words:
/// names may have spaces, so the lane alone does not tell them apart.
void nameGroups(Recording &recording, const braid_rt_program &program);

/// Gathers the recording. All processes call this function together and get the
/// same result.
Recording gatherEvents(const Processes &processes, braid_rt_world *world);

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_TIMING_EVENTS_H
