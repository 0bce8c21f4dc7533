//===- JobKey.h - The secret of a job ---------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_PROCESSES_JOBKEY_H
#define BRAID_RUNTIME_CUDA_PROCESSES_JOBKEY_H

#include "CUDA/Processes/Launch.h"

#include <cstdint>
#include <string>

namespace braid::rt::cuda {

/// The secret that all ranks of a job share.
struct JobKey {
  std::string bytes;
  std::string source; ///< For messages: where the key comes from.
};

/// The key of the launch, of BRAID_JOB_KEY or of the file BRAID_JOB_KEY_FILE.
/// Without them the ranks of one host use the key of their user on this host,
/// which the first of them writes into `$XDG_RUNTIME_DIR/braid` or
/// `/tmp/braid-UID`, folders that no other user may enter. Throws an Error that
/// names what to set if the ranks are on several hosts and have no key, or that
/// names a file or a folder that others may read.
JobKey findJobKey(const Launch &launch, const Variables &variables);

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_PROCESSES_JOBKEY_H
