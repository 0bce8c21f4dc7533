//===- Launch.h - The rank of this process ----------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_PROCESSES_LAUNCH_H
#define BRAID_RUNTIME_CUDA_PROCESSES_LAUNCH_H

#include "Base/Launcher.h"

namespace braid::rt::cuda {

/// The settings of a launcher for this process. One process runs one rank;
/// without a launcher the ranks are threads of this process.
struct Launch {
  std::string launcher; ///< `torchrun`; empty without one.
  int32_t rank = 0;
  int32_t size = 1;
  /// The rank among the processes of the host; -1 if unknown.
  int32_t localRank = 0;
  int32_t localSize = 1; ///< 0 if unknown.
  /// True if the launcher says that some ranks are on other hosts.
  bool hasOtherHosts = false;
  std::string address; ///< The address of rank 0's store.
  int32_t port = 0;
  std::string job; ///< Identifies the processes of this job.
  /// The secret of the job, if a caller gives it; else findJobKey finds it.
  std::string key;

  bool hasLauncher() const { return !launcher.empty(); }
};

/// Reads the variables of the launcher, and where rank 0 serves the store.
/// Throws an Error that names a variable that is no number or contradicts
/// another one, or says what the launcher does not tell.
Launch findLaunch(const Variables &variables);

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_PROCESSES_LAUNCH_H
