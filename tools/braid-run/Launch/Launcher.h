//===- Launcher.h - The launcher of this process ----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_LAUNCH_LAUNCHER_H
#define BRAID_TOOLS_BRAID_RUN_LAUNCH_LAUNCHER_H

#include <cstdint>
#include <string>

namespace braid::run {

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
  /// The variables with the rank and the size, `A and B`.
  std::string variables;

  explicit operator bool() const { return !name.empty(); }

  /// True if an MPI library can find the other ranks.
  bool startsMPI() const { return name != "torchrun" && name != "Slurm"; }
};

/// Reads the environment. The shell of a Slurm job (sbatch, salloc) has
/// variables of Slurm but is not a rank. Throws UsageError if the variables
/// contradict each other.
Launcher detectLauncher();

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_LAUNCH_LAUNCHER_H
