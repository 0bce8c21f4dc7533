//===- Results.h - Printed and written results ---------------- -*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_TENSORS_RESULTS_H
#define BRAID_TOOLS_BRAID_RUN_TENSORS_RESULTS_H

#include "Launch/Processes.h"
#include "Options/Options.h"
#include "Tensors/Call.h"

#include <functional>
#include <string>

namespace braid::run {

/// --compare-results, --expect and --out need an entry with results; throws
/// UsageError otherwise.
void checkHasResults(const Options &options, const braid_rt_entry &entry);

/// Files for several ranks or results must have different names; throws
/// UsageError otherwise.
void checkPattern(const std::string &option, const std::string &pattern,
                  const braid_rt_entry &entry, int32_t ranks);

/// Prints the results of all ranks and writes them to files, as the options
/// say. Throws on all processes if one of them cannot.
void writeResults(const Options &options, const braid_rt_entry &entry,
                  const std::function<Results()> &getResults,
                  const Processes &processes);

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_TENSORS_RESULTS_H
