//===- Binding.cpp - Advice on the cores of a rank --------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Launch/Binding.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sched.h>
#include <unistd.h>

using namespace braid::run;

static std::string countText(int64_t count, const std::string &what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

/// `rank 1 of 4`; a size of 0 is unknown.
static std::string placeText(int32_t rank, int32_t size) {
  return "rank " + std::to_string(rank) +
         (size ? " of " + std::to_string(size) : "");
}

/// The number of cores that this process may use.
static int64_t allowedCores(int64_t cores) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0)
    return cores;
  return CPU_COUNT(&set);
}

/// The command that gives each rank of a node `share` cores of its own.
static std::string bindCommand(const braid::rt::Launcher &launcher,
                               int64_t share) {
  if (launcher.name == "Open MPI")
    return "mpirun --map-by slot:PE=" + std::to_string(share) +
           " --bind-to core";
  if (std::getenv("SLURM_STEP_ID") || launcher.name == "PMIx")
    return "srun --cpus-per-task=" + std::to_string(share) +
           " --cpu-bind=cores";
  return "mpirun -bind-to core:" + std::to_string(share);
}

/// The advice to the user; "ok" if there is nothing to change.
static std::string adviceText(const braid::rt::Launcher &launcher,
                              int64_t cores, int64_t allowed,
                              int64_t blasThreads) {
  if (!launcher)
    return allowed < cores ? "ok, but other cores of this node are left out"
                           : "ok";
  if (!launcher.localSize)
    return "the launcher does not say how many ranks this node has";
  int64_t share = cores / launcher.localSize;
  if (share == 0)
    return "more ranks than cores: ranks take turns; start at most " +
           countText(cores, "rank") + " on this node";
  if (allowed < share)
    return "each rank could have " + countText(share, "core") + ": " +
           bindCommand(launcher, share);
  if (allowed > share)
    return "ranks may get into each other's way; to give each " +
           countText(share, "core") +
           " of its own: " + bindCommand(launcher, share);
  if (blasThreads > allowed)
    return "OPENBLAS_NUM_THREADS asks for more threads than cores; unset it "
           "or set it to " +
           std::to_string(allowed);
  return "ok";
}

std::string braid::run::describeBinding(const braid::rt::Launcher &launcher) {
  int64_t cores = std::max<int64_t>(1, sysconf(_SC_NPROCESSORS_ONLN));
  int64_t allowed = allowedCores(cores);
  const char *variable = std::getenv("OPENBLAS_NUM_THREADS");
  int64_t blasThreads = variable ? std::atoll(variable) : 0;
  std::string text = "binding: ";
  if (launcher) {
    text += placeText(launcher.rank, launcher.size);
    if (launcher.nodes)
      text += " on " + countText(launcher.nodes, "node");
    text += " (" + launcher.name + ", " + launcher.variables() + "),";
    if (launcher.localRank >= 0)
      text += " " + placeText(launcher.localRank, launcher.localSize) +
              " on this node,";
  } else {
    text += "no launcher, all ranks";
  }
  text +=
      " may use " + std::to_string(allowed) + " of " + countText(cores, "core");
  if (blasThreads > 0)
    text += ", " + countText(blasThreads, "BLAS thread") +
            " (OPENBLAS_NUM_THREADS)";
  return text + ": " + adviceText(launcher, cores, allowed, blasThreads);
}
