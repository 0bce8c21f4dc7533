//===- LaunchOptions.cpp - What a caller says of its processes ------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/LaunchOptions.h"
#include "Base/Error.h"
#include "Engine/EngineOptions.h"

#include <algorithm>

using namespace braid::rt;
using namespace braid::rt::cuda;

const std::vector<std::string> &braid::rt::cuda::launchOptions() {
  static const std::vector<std::string> names = {"launcher", "rank", "address",
                                                 "port", "job-key"};
  return names;
}

Launch braid::rt::cuda::chooseLaunch(const Environment &environment,
                                     const Variables &variables) {
  auto option = [&](const std::string &name) {
    return getEngineOption(environment, name, "");
  };
  std::string launcher = option("launcher");
  bool areProcesses = !launcher.empty() && launcher != "none";
  for (const std::string &name : launchOptions())
    if (name != "launcher" && option(name).empty() == areProcesses)
      throw Error("option '" + name + "' of engine cuda " +
                  (areProcesses
                       ? "is missing, which launcher=" + launcher + " needs"
                       : "needs the option 'launcher'"));
  if (launcher.empty())
    return findLaunch(variables);
  Launch launch;
  if (!areProcesses)
    return launch;
  launch.launcher = std::move(launcher);
  launch.size = std::max(environment.config.ranks, 1);
  launch.rank = static_cast<int32_t>(
      getEngineNumber(environment, "rank", 0, 0, launch.size - 1));
  launch.localRank = -1;
  launch.localSize = 0;
  launch.address = option("address");
  launch.port =
      static_cast<int32_t>(getEngineNumber(environment, "port", 0, 1, 65535));
  launch.key = option("job-key");
  return launch;
}
