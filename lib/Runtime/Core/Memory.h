//===- Memory.h - Memory that compiled code holds on a rank -----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CORE_MEMORY_H
#define BRAID_RUNTIME_CORE_MEMORY_H

#include "braid-rt/Types.h"

#include <cstddef>
#include <cstdint>
#include <map>

namespace braid::rt {

/// The bookkeeping in front of every allocation.
struct BlockHeader;

/// The allocations of one rank, used by that rank's thread alone. Large blocks
/// that the program frees are kept for its next allocation, because fresh pages
/// cost more than most kernels; a rank never keeps and holds more than it once
/// held.
class BRAID_RT_API MemoryPool {
public:
  MemoryPool() = default;
  MemoryPool(const MemoryPool &) = delete;
  MemoryPool &operator=(const MemoryPool &) = delete;
  ~MemoryPool();

  /// Memory aligned to max(64, alignment), a power of two; nullptr when there
  /// is none.
  void *allocate(size_t alignment, size_t size);

  /// Takes a block out of the rank's hands: its holder frees it with
  /// freeBlock. False when `pointer` is no live allocation of this rank.
  bool detach(void *pointer);

  /// Releases all that the program still holds and returns its bytes.
  int64_t releaseAll();

  int64_t currentBytes = 0;
  int64_t peakBytes = 0;   ///< Most held at once since resetPeak.
  int64_t allocations = 0; ///< Number of calls of allocate.

  void resetPeak() { peakBytes = currentBytes; }

private:
  friend void freeBlock(void *pointer);
  void release(BlockHeader *block);
  void unlink(BlockHeader *block);
  void trim(int64_t limit);
  int64_t heldCapacity = 0; ///< currentBytes with each block's rounding.

  BlockHeader *live = nullptr;
  std::multimap<size_t, BlockHeader *> kept;
  int64_t keptBytes = 0;
  int64_t mostHeld = 0; ///< Most heldCapacity, ever.
};

/// A block that belongs to no rank; nullptr when there is no memory.
void *allocateBlock(size_t alignment, size_t size);

/// Frees a block of either sort; nothing for nullptr. A block of a rank's is
/// freed by that rank's thread.
void freeBlock(void *pointer);

} // namespace braid::rt

#endif // BRAID_RUNTIME_CORE_MEMORY_H
