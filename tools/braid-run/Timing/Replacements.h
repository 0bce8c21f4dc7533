//===- Replacements.h - Planned resources that are not used -----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_TIMING_REPLACEMENTS_H
#define BRAID_TOOLS_BRAID_RUN_TIMING_REPLACEMENTS_H

#include "Launch/Processes.h"

#include <string>
#include <vector>

namespace braid::run {

/// A resource that the program plans and a library refuses
/// (braid_rt_replacement), and the ranks that use something else.
struct Replacement {
  std::string resource, planned, reason, used;
  std::vector<int32_t> ranks; ///< In ascending order.
};

/// The replacements of all ranks so far, equal ones once. All processes call
/// this function together and get the same result.
std::vector<Replacement> gatherReplacements(const Processes &processes,
                                            braid_rt_world *world);

/// A line for each replacement, with the ranks unless all of them have it.
std::string describe(const std::vector<Replacement> &replacements,
                     int32_t worldSize);

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_TIMING_REPLACEMENTS_H
