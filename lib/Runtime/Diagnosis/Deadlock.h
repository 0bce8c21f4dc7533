//===- Deadlock.h - Ranks that wait for each other --------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_DIAGNOSIS_DEADLOCK_H
#define BRAID_RUNTIME_DIAGNOSIS_DEADLOCK_H

#include "braid-rt/Types.h"

#include <cstdint>
#include <map>
#include <vector>

namespace braid::rt {

/// Maps each waiting rank to the ranks that have not started its operation.
using WaitingRanks = std::map<int32_t, std::vector<int32_t>>;

/// The deadlocked ranks in ascending order: each needs another one of them, so
/// none of them can continue.
BRAID_RT_API std::vector<int32_t> findDeadlocked(WaitingRanks waiting);

} // namespace braid::rt

#endif // BRAID_RUNTIME_DIAGNOSIS_DEADLOCK_H
