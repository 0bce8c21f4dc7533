//===- LaunchOptions.h - What a caller says of its processes --*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_LAUNCHOPTIONS_H
#define BRAID_RUNTIME_CUDA_LAUNCHOPTIONS_H

#include "Base/Environment.h"
#include "CUDA/Processes/Launch.h"

#include <string>
#include <vector>

namespace braid::rt::cuda {

/// The names of the options by which a caller says what a launcher would say.
const std::vector<std::string> &launchOptions();

/// The launch that the options describe: `launcher=none` has ranks that are
/// threads of this process. Another launcher has started processes, as many as
/// the world has ranks; this one is `rank`, and rank 0 serves the store at
/// `address` and `port` to those who have `job-key`. Without the option it is
/// the launch that the variables describe. Throws an Error that names an option
/// or a variable that is missing or wrong.
Launch chooseLaunch(const Environment &environment, const Variables &variables);

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_LAUNCHOPTIONS_H
