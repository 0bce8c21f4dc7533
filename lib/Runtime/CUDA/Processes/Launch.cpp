//===- Launch.cpp - The rank of this process ------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Processes/Launch.h"
#include "Base/Error.h"

#include <cstdlib>
#include <cstring>

using namespace braid::rt;
using namespace braid::rt::cuda;

/// The default port.
static constexpr int32_t defaultPort = 29500;

static bool isSet(const char *value) { return value && *value; }

static int32_t readPort(const char *text) {
  char *end = nullptr;
  long value = std::strtol(text, &end, 10);
  if (*end != '\0' || value < 1 || value > 65535)
    throw Error(std::string("the variable MASTER_PORT is '") + text +
                "', expected a number from 1 to 65535");
  return static_cast<int32_t>(value);
}

/// The first host of Slurm's list: `node03` for `node[03-05,7],other`.
static std::string firstHost(const std::string &list) {
  size_t bracket = list.find('['), comma = list.find(',');
  if (bracket == std::string::npos || bracket > comma)
    return list.substr(0, comma);
  size_t end = list.find_first_of("-,]", bracket);
  return list.substr(0, bracket) + list.substr(bracket + 1, end - bracket - 1);
}

/// A port that another job on the same hosts is unlikely to choose.
static int32_t portOfJob(const char *job) {
  return 61440 + static_cast<int32_t>(std::strtoul(job, nullptr, 10) % 4096);
}

static void findAddress(const Variables &variables, Launch &launch) {
  const char *address = variables("MASTER_ADDR");
  bool isSlurm = launch.launcher == "Slurm" || launch.launcher == "PMIx";
  const char *nodes = variables("SLURM_STEP_NODELIST");
  if (isSet(address))
    launch.address = address;
  else if (isSlurm && isSet(nodes))
    launch.address = firstHost(nodes);
  else if (launch.localSize == launch.size)
    launch.address = "127.0.0.1";
  else
    throw Error("the ranks that " + launch.launcher +
                " has started are on several hosts: set MASTER_ADDR to the "
                "host of rank 0, and MASTER_PORT to a free port there");
  if (const char *port = variables("MASTER_PORT"); isSet(port)) {
    launch.port = readPort(port);
    // In this case torchrun's own store uses the port.
    const char *agent = variables("TORCHELASTIC_USE_AGENT_STORE");
    if (isSet(agent) && std::strcmp(agent, "True") == 0)
      launch.port = launch.port == 65535 ? 65534 : launch.port + 1;
    return;
  }
  launch.port = isSlurm && !launch.job.empty() ? portOfJob(launch.job.c_str())
                                               : defaultPort;
}

Launch braid::rt::cuda::findLaunch(const Variables &variables) {
  Launcher launcher = detectLauncher(variables);
  Launch launch;
  if (launcher.rank > 0 && !launcher.isSizeSure)
    throw Error(launcher.name + " has started this process (" +
                launcher.rankVariable + "=" + std::to_string(launcher.rank) +
                ") and does not say how many ranks there are");
  // A single process may have such a launcher, too.
  if (!launcher.isSizeSure)
    return launch;
  launch.launcher = launcher.name;
  launch.rank = launcher.rank;
  launch.size = launcher.size;
  launch.localRank = launch.size == 1 ? 0 : launcher.localRank;
  launch.localSize = launcher.nodes == 1 ? launch.size : launcher.localSize;
  launch.hasOtherHosts =
      launch.localSize ? launch.localSize < launch.size : launcher.nodes > 1;
  launch.job = launcher.job;
  findAddress(variables, launch);
  return launch;
}
