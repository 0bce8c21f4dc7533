//===- ArenaPlan.h - Places of buffers in one arena -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_MEMORYPLAN_ARENAPLAN_H
#define BRAID_MEMORYPLAN_ARENAPLAN_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace braid {

/// A buffer that is live from time `begin` to time `end`, both included.
struct ArenaBuffer {
  int64_t bytes = 0;
  int64_t begin = 0;
  int64_t end = 0;
};

/// The offsets of the buffers. Buffers that are live at the same time do not
/// overlap.
struct ArenaPlan {
  /// One for each buffer, in bytes; a multiple of the alignment.
  llvm::SmallVector<int64_t> offsets;
  /// The arena's size in bytes.
  int64_t bytes = 0;
  /// The peak of live bytes, each buffer rounded up to the alignment. No plan
  /// is smaller.
  int64_t lowerBound = 0;
};

/// Places `buffers` at multiples of `alignment`. The plan depends on the
/// arguments alone. The function returns the better of two plans: one that
/// allocates and frees memory in the order of time, and one that places large
/// buffers first. It skips the second plan if too many buffers are live at
/// once.
ArenaPlan planArena(llvm::ArrayRef<ArenaBuffer> buffers, int64_t alignment);

} // namespace braid

#endif // BRAID_MEMORYPLAN_ARENAPLAN_H
