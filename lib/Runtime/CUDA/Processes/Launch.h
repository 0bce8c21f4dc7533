//===- Launch.h - Which rank this process is --------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_PROCESSES_LAUNCH_H
#define BRAID_RUNTIME_CUDA_PROCESSES_LAUNCH_H

#include <cstdint>
#include <functional>
#include <string>

namespace braid::rt::cuda {

/// The value of an environment variable; nullptr where it is not set.
using Variables = std::function<const char *(const char *name)>;

/// What a launcher has told this process. One process runs one rank; without a
/// launcher the ranks are threads of this process.
struct Launch {
  std::string launcher; ///< `torchrun`; empty without one.
  int32_t rank = 0;
  int32_t size = 1;
  /// Its place among the processes of its host; -1 where nobody tells.
  int32_t localRank = 0;
  int32_t localSize = 1; ///< 0 where nobody tells.
  std::string address;   ///< Where rank 0 serves the store.
  int32_t port = 0;
  std::string job; ///< Tells this job's processes from another one's.

  bool hasLauncher() const { return !launcher.empty(); }
};

/// Reads the variables of torchrun, Open MPI, MPICH and Slurm, in this order.
/// Throws an Error that names a variable that is missing, no number, or out of
/// range.
Launch findLaunch(const Variables &variables);

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_PROCESSES_LAUNCH_H
