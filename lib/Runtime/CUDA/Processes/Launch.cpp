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

namespace {
/// The variables of a launcher. The variables of local ranks may be nullptr.
struct Launcher {
  const char *name;
  const char *rank, *size, *localRank, *localSize, *job;
};
} // namespace

static constexpr Launcher launchers[] = {
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE",
     "TORCHELASTIC_RUN_ID"},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE",
     "OMPI_MCA_ess_base_jobid"},
    {"MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE",
     "MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE", "PMI_JOBID"},
    {"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS",
     "PMI_JOBID"},
    {"Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID",
     "SLURM_NTASKS_PER_NODE", "SLURM_JOB_ID"},
};

/// The default port.
static constexpr int32_t defaultPort = 29500;

static bool isSet(const char *value) { return value && *value; }

static int32_t readNumber(const Variables &variables, const char *name,
                          int32_t least, int32_t most) {
  const char *text = variables(name);
  if (!isSet(text))
    throw Error(std::string("the variable ") + name + " is not set");
  char *end = nullptr;
  long value = std::strtol(text, &end, 10);
  if (*end != '\0' || value < least || value > most)
    throw Error(std::string("the variable ") + name + " is '" + text +
                "', expected a number from " + std::to_string(least) + " to " +
                std::to_string(most));
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

/// Slurm says how many hosts a step has even where it does not say how many
/// ranks each of them has.
static void findHosts(const Variables &variables, const Launcher &launcher,
                      Launch &launch) {
  launch.hasOtherHosts = launch.localSize && launch.localSize < launch.size;
  if (std::strcmp(launcher.name, "Slurm") != 0 ||
      !isSet(variables("SLURM_STEP_NUM_NODES")))
    return;
  int32_t hosts = readNumber(variables, "SLURM_STEP_NUM_NODES", 1, 1 << 20);
  launch.hasOtherHosts = hosts > 1;
  if (hosts == 1)
    launch.localSize = launch.size;
}

static void findAddress(const Variables &variables, const Launcher &launcher,
                        Launch &launch) {
  const char *address = variables("MASTER_ADDR");
  bool isSlurm = std::strcmp(launcher.name, "Slurm") == 0;
  const char *nodes = variables("SLURM_STEP_NODELIST");
  if (isSet(address))
    launch.address = address;
  else if (isSlurm && isSet(nodes))
    launch.address = firstHost(nodes);
  else if (launch.localSize == launch.size)
    launch.address = "127.0.0.1";
  else
    throw Error(std::string("the ranks that ") + launcher.name +
                " has started are on several hosts: set MASTER_ADDR to the "
                "host of rank 0, and MASTER_PORT to a free port there");
  if (isSet(variables("MASTER_PORT"))) {
    launch.port = readNumber(variables, "MASTER_PORT", 1, 65535);
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
  Launch launch;
  for (const Launcher &launcher : launchers) {
    if (!isSet(variables(launcher.rank)))
      continue;
    // A batch script has these variables too, but is not a task of srun.
    if (std::strcmp(launcher.name, "Slurm") == 0 &&
        !isSet(variables("SLURM_STEP_NODELIST")))
      continue;
    launch.launcher = launcher.name;
    launch.size = readNumber(variables, launcher.size, 1, 1 << 20);
    launch.rank = readNumber(variables, launcher.rank, 0, launch.size - 1);
    launch.localRank = launch.size == 1 ? 0 : -1;
    if (isSet(variables(launcher.localRank)))
      launch.localRank =
          readNumber(variables, launcher.localRank, 0, launch.size - 1);
    launch.localSize = 0;
    // Slurm writes `4(x2)` for several hosts.
    const char *localSize = variables(launcher.localSize);
    if (isSet(localSize) && !std::strpbrk(localSize, "(,"))
      launch.localSize =
          readNumber(variables, launcher.localSize, 1, launch.size);
    findHosts(variables, launcher, launch);
    if (isSet(variables(launcher.job)))
      launch.job = variables(launcher.job);
    findAddress(variables, launcher, launch);
    return launch;
  }
  return launch;
}
