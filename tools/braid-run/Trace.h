//===- Trace.h - Traces of a run for viewers and tools ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_TRACE_H
#define BRAID_TOOLS_BRAID_RUN_TRACE_H

#include "Events.h"

#include <string>

namespace braid::run {

/// Writes a trace: one file with all ranks, by the first process, or with
/// `{rank}` in the name one file for each rank, each by the rank's process. All
/// processes call it together.
void writeTrace(const std::string &pattern, const Recording &recording,
                const Processes &processes);

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_TRACE_H
