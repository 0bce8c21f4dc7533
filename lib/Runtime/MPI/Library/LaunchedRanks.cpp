//===- LaunchedRanks.cpp - What a launcher says of its ranks --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MPI/Library/LaunchedRanks.h"

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>

using namespace braid::rt;

namespace {
struct Launcher {
  const char *name, *rank;
  const char *size; ///< nullptr: the launcher does not say it.
};
} // namespace

/// The innermost launcher comes first, as in braid-run: srun may have started
/// the shell in which mpirun runs.
static constexpr Launcher launchers[] = {
    {"torchrun", "RANK", "WORLD_SIZE"},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
    // MPICH, Intel MPI, Cray, and srun --mpi=pmi2.
    {"PMI", "PMI_RANK", "PMI_SIZE"},
    // srun; the shell of a job has the number of its tasks alone.
    {"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
    {"PMIx", "PMIX_RANK", nullptr}};

/// The number in `text`; -1 if `text` is no number, or null.
static int64_t parseNumber(const char *text) {
  if (!text || !*text)
    return -1;
  int64_t number = -1;
  const char *end = text + std::strlen(text);
  auto [next, code] = std::from_chars(text, end, number);
  return code == std::errc() && next == end ? number : -1;
}

std::string braid::rt::describeLaunchedRanks() {
  for (const Launcher &launcher : launchers) {
    int64_t rank = parseNumber(std::getenv(launcher.rank));
    if (rank < 0)
      continue;
    std::string start = std::string(launcher.name) + " has started ";
    if (!launcher.size) {
      if (rank > 0)
        return start + "several ranks (" + launcher.rank + "=" +
               std::to_string(rank) + ")";
      continue;
    }
    int64_t size = parseNumber(std::getenv(launcher.size));
    if (size < 0)
      continue;
    if (size > 1)
      return start + std::to_string(size) + " ranks (" + launcher.size + "=" +
             std::to_string(size) + ")";
    return "";
  }
  return "";
}
