//===- LaunchedRanks.h - What a launcher says of its ranks ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_MPI_LIBRARY_LAUNCHEDRANKS_H
#define BRAID_RUNTIME_MPI_LIBRARY_LAUNCHEDRANKS_H

#include <string>

namespace braid::rt {

/// For a process whose MPI library has found no other rank. If a launcher has
/// started several ranks, returns the variables that say so, `Open MPI has
/// started 4 ranks (OMPI_COMM_WORLD_SIZE=4)`; else "". The shell of a Slurm job
/// is no rank, whatever its size.
std::string describeLaunchedRanks();

} // namespace braid::rt

#endif // BRAID_RUNTIME_MPI_LIBRARY_LAUNCHEDRANKS_H
