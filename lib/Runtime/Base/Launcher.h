//===- Launcher.h - Who has started this process ----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_BASE_LAUNCHER_H
#define BRAID_RUNTIME_BASE_LAUNCHER_H

#include "braid-rt/Types.h"

#include <cstdint>
#include <functional>
#include <string>

namespace braid::rt {

/// The value of an environment variable; nullptr if it is not set.
using Variables = std::function<const char *(const char *name)>;

/// The launcher that has started this process as one rank of several, from the
/// environment.
struct Launcher {
  /// `torchrun`, `Open MPI`, `MVAPICH`, `PMI`, `PMIx` or `Slurm`; empty: none.
  std::string name;
  int32_t rank = 0;
  int32_t size = 0; ///< Ranks of all nodes; 0: unknown.
  /// False if the size is unknown, or may be that of a job of which the
  /// launcher uses a part.
  bool isSizeSure = false;
  int32_t localRank = -1; ///< Among the ranks of this node; -1: unknown.
  int32_t localSize = 0;  ///< Ranks of this node; 0: unknown.
  int32_t nodes = 0;      ///< 0: unknown.
  std::string job;        ///< Identifies the ranks of the job; empty: unknown.
  /// The variables with the rank and the size; the latter may be empty.
  std::string rankVariable, sizeVariable;

  explicit operator bool() const { return !name.empty(); }

  /// True if an MPI library can find the other ranks.
  bool startsMPI() const { return name != "torchrun" && name != "Slurm"; }

  /// `RANK and WORLD_SIZE`
  std::string variables() const {
    return rankVariable + (sizeVariable.empty() ? "" : " and ") + sizeVariable;
  }
};

/// Reads the variables of launchers. The shell of a Slurm job (sbatch, salloc)
/// has variables of Slurm but is not a rank. Throws an Error if a variable is
/// no number, or if variables contradict each other.
BRAID_RT_API Launcher detectLauncher(const Variables &variables);

} // namespace braid::rt

#endif // BRAID_RUNTIME_BASE_LAUNCHER_H
