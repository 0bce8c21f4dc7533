//===- Launcher.cpp - Who has started this process ------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Base/Launcher.h"
#include "Base/Error.h"

#include <charconv>
#include <cstring>
#include <vector>

using namespace braid::rt;

namespace {
/// The variables of one launcher. Of several names the first one that is set
/// counts.
struct Source {
  const char *name;
  const char *rank;
  bool needsSize; ///< Without a size the rank belongs to another program.
  std::vector<const char *> size;
  std::vector<const char *> localRank;
  std::vector<const char *> localSize;
  const char *job;
};

/// A variable's name and value.
struct Number {
  const char *name = nullptr;
  int32_t value = 0;

  explicit operator bool() const { return name; }
  std::string text() const {
    return std::string(name) + "=" + std::to_string(value);
  }
};

/// The environment.
struct LauncherVariables {
  const Variables &variables;

  /// The value of a variable; nullptr if it is empty or not set.
  const char *find(const char *name) const {
    const char *text = variables(name);
    return text && *text ? text : nullptr;
  }
  Number readNumber(const char *name) const;
  Number readFirst(const std::vector<const char *> &names) const;
  void readSlurmStep(Launcher &launcher) const;
};
} // namespace

static constexpr const char *slurmJobSize = "SLURM_NTASKS";

/// In order of precedence. The innermost launcher comes first, because srun may
/// have started the shell in which mpirun runs.
static const Source sources[] = {
    // mpirun and srun may start agents of torchrun, never the other way round.
    {"torchrun",
     "RANK",
     /*needsSize=*/true,
     {"WORLD_SIZE"},
     {"LOCAL_RANK"},
     {"LOCAL_WORLD_SIZE"},
     "TORCHELASTIC_RUN_ID"},
    {"Open MPI",
     "OMPI_COMM_WORLD_RANK",
     /*needsSize=*/false,
     {"OMPI_COMM_WORLD_SIZE"},
     {"OMPI_COMM_WORLD_LOCAL_RANK"},
     {"OMPI_COMM_WORLD_LOCAL_SIZE"},
     "OMPI_MCA_ess_base_jobid"},
    {"MVAPICH",
     "MV2_COMM_WORLD_RANK",
     /*needsSize=*/false,
     {"MV2_COMM_WORLD_SIZE"},
     {"MV2_COMM_WORLD_LOCAL_RANK"},
     {"MV2_COMM_WORLD_LOCAL_SIZE"},
     "PMI_JOBID"},
    // MPICH, Intel MPI, Cray, and srun --mpi=pmi2.
    {"PMI",
     "PMI_RANK",
     /*needsSize=*/false,
     {"PMI_SIZE"},
     {"MPI_LOCALRANKID", "PMI_LOCAL_RANK", "SLURM_LOCALID"},
     {"MPI_LOCALNRANKS", "PMI_LOCAL_SIZE"},
     "PMI_JOBID"},
    // srun --mpi=pmix; the size of the step, not that of the job.
    {"PMIx",
     "PMIX_RANK",
     /*needsSize=*/false,
     {"SLURM_STEP_NUM_TASKS", slurmJobSize},
     {"SLURM_LOCALID"},
     {},
     "SLURM_JOB_ID"},
    // srun without an interface for MPI. The shell of a job has SLURM_PROCID,
    // too, but is no step.
    {"Slurm",
     "SLURM_PROCID",
     /*needsSize=*/true,
     {"SLURM_STEP_NUM_TASKS"},
     {"SLURM_LOCALID"},
     {},
     "SLURM_JOB_ID"}};

Number LauncherVariables::readNumber(const char *name) const {
  const char *text = find(name);
  if (!text)
    return {};
  Number number{name, 0};
  const char *end = text + std::strlen(text);
  auto [next, code] = std::from_chars(text, end, number.value);
  if (code != std::errc() || next != end || number.value < 0)
    throw Error(std::string("the environment has ") + name + "='" + text +
                "', expected a whole number");
  return number;
}

Number
LauncherVariables::readFirst(const std::vector<const char *> &names) const {
  for (const char *name : names)
    if (Number number = readNumber(name))
      return number;
  return {};
}

/// The tasks of node `node` in Slurm's `2(x3),1`; 0 if there is no such node.
static int32_t slurmTasksOfNode(const char *text, int32_t node) {
  const char *end = text + std::strlen(text);
  while (text < end) {
    int32_t tasks = 0, times = 1;
    auto read = std::from_chars(text, end, tasks);
    if (read.ec != std::errc())
      return 0;
    if (end - read.ptr > 2 && std::strncmp(read.ptr, "(x", 2) == 0) {
      read = std::from_chars(read.ptr + 2, end, times);
      if (read.ec != std::errc() || read.ptr == end || *read.ptr++ != ')')
        return 0;
    }
    if (node < times)
      return tasks;
    node -= times;
    if (read.ptr < end && *read.ptr != ',')
      return 0;
    text = read.ptr + 1;
  }
  return 0;
}

/// Reads srun's ranks of this node and number of nodes.
void LauncherVariables::readSlurmStep(Launcher &launcher) const {
  if (Number nodes = readFirst({"SLURM_STEP_NUM_NODES", "SLURM_NNODES"}))
    launcher.nodes = nodes.value;
  const char *tasks = find("SLURM_STEP_TASKS_PER_NODE");
  Number node = readNumber("SLURM_NODEID");
  if (!launcher.localSize && tasks && node)
    launcher.localSize = slurmTasksOfNode(tasks, node.value);
}

static void checkRank(const Number &rank, const Number &size) {
  if (size && rank.value >= size.value)
    throw Error("the environment has " + rank.text() + " and " + size.text() +
                ", expected a rank below the number of ranks");
}

Launcher braid::rt::detectLauncher(const Variables &variables) {
  LauncherVariables reader = {variables};
  for (const Source &source : sources) {
    // Another program may use a variable RANK.
    if (source.needsSize && !reader.find(source.size[0]))
      continue;
    Number rank = reader.readNumber(source.rank);
    if (!rank)
      continue;
    Launcher launcher;
    Number size = reader.readFirst(source.size);
    Number localRank = reader.readFirst(source.localRank);
    Number localSize = reader.readFirst(source.localSize);
    checkRank(rank, size);
    if (localRank)
      checkRank(localRank, localSize);
    launcher.name = source.name;
    launcher.rank = rank.value;
    launcher.size = size.value;
    launcher.isSizeSure = size && std::strcmp(size.name, slurmJobSize) != 0;
    launcher.localRank = localRank ? localRank.value : -1;
    launcher.localSize = localSize.value;
    launcher.rankVariable = rank.name;
    if (size)
      launcher.sizeVariable = size.name;
    if (const char *job = reader.find(source.job))
      launcher.job = job;
    // mpirun and torchrun may use less than the nodes of the job.
    if (launcher.name != "Open MPI" && launcher.name != "torchrun")
      reader.readSlurmStep(launcher);
    if (launcher.localSize && launcher.localSize == launcher.size)
      launcher.nodes = 1;
    return launcher;
  }
  return {};
}
