//===- Trace.h - Traces of a run for viewers and tools ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_TIMING_TRACE_H
#define BRAID_TOOLS_BRAID_RUN_TIMING_TRACE_H

#include "Timing/Events.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace braid::run {

/// Writes a trace. The first process writes one file with all ranks; with
/// `{rank}` in the name each process writes the files of its ranks. All
/// processes call this function together.
void writeTrace(const std::string &pattern, const Recording &recording,
                const Processes &processes);

/// A list of objects.
nlohmann::ordered_json toJson(const std::vector<Replacement> &replacements);

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_TIMING_TRACE_H
