//===- Memory.h - Memory of compiled code on a rank -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_ENGINE_MEMORY_H
#define BRAID_RUNTIME_ENGINE_MEMORY_H

#include "braid-rt/Types.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

namespace braid::rt {

/// The least alignment of every allocation.
inline constexpr size_t minimumAlignment = 64;

/// The header of every allocation.
struct BlockHeader;

/// The allocations of one rank. Only the rank's thread uses the pool. The pool
/// keeps freed blocks for the next allocation, because fresh pages cost more
/// than most kernels, and malloc as much as small ones. Kept and allocated
/// blocks together never exceed the peak of allocated blocks, but for up to 16
/// MiB of small ones.
class BRAID_RT_API MemoryPool {
public:
  MemoryPool() = default;
  MemoryPool(const MemoryPool &) = delete;
  MemoryPool &operator=(const MemoryPool &) = delete;
  ~MemoryPool();

  /// Memory aligned to max(64, alignment), a power of two; nullptr if there is
  /// not enough memory.
  void *allocate(size_t alignment, size_t size);

  /// Transfers a block from the rank to the caller, who frees it with
  /// freeBlock. False if `pointer` is no live allocation of this rank.
  bool detach(void *pointer);

  /// Frees all remaining allocations and returns their bytes.
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
  /// Blocks up to 64 KiB, by about their size.
  std::array<BlockHeader *, 36> keptSmall = {};
  size_t keptSmallBytes = 0;
  int64_t mostHeld = 0; ///< Most heldCapacity, ever.
};

/// Allocates a block that belongs to no rank; nullptr if there is not enough
/// memory.
void *allocateBlock(size_t alignment, size_t size);

/// Frees a block of a rank or of no rank; does nothing for nullptr. Only the
/// thread of a rank may free a block of the rank.
void freeBlock(void *pointer);

} // namespace braid::rt

#endif // BRAID_RUNTIME_ENGINE_MEMORY_H
