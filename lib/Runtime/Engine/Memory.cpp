//===- Memory.cpp - Memory of compiled code on a rank -----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Engine/Memory.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

using namespace braid::rt;

namespace {
/// Blocks up to this size are kept apart: they come and go with each of the
/// smallest kernels, for which a search or malloc would cost too much.
constexpr size_t smallSize = 64 * 1024;

/// The most bytes that a pool keeps in small blocks.
constexpr size_t mostKeptSmall = 16 * 1024 * 1024;

/// What small blocks of about a size have in common.
struct SmallClass {
  size_t number, capacity;
};
} // namespace

/// Sizes in steps of 64 bytes, and above 512 bytes in four steps between powers
/// of two.
static SmallClass classOf(size_t size) {
  size_t units =
      std::max<size_t>(1, (size + minimumAlignment - 1) / minimumAlignment);
  size_t shift = 0;
  while (units > size_t(8) << shift)
    ++shift;
  size_t steps = ((units - 1) >> shift) + 1;
  return {4 * shift + steps - 1, (steps << shift) * minimumAlignment};
}

struct braid::rt::BlockHeader {
  MemoryPool *owner;
  BlockHeader *previous;
  BlockHeader *next;
  size_t size;      ///< The bytes that the program has requested.
  size_t capacity;  ///< The bytes that fit in the block.
  size_t alignment; ///< Of the data.
  void *base;       ///< The pointer from malloc.

  void *data() { return reinterpret_cast<char *>(this) + minimumAlignment; }
};
static_assert(sizeof(BlockHeader) <= minimumAlignment,
              "the header stands in the 64 bytes before the data");

static BlockHeader *headerOf(void *pointer) {
  return reinterpret_cast<BlockHeader *>(static_cast<char *>(pointer) -
                                         minimumAlignment);
}

static BlockHeader *createBlock(size_t alignment, size_t size) {
  alignment = std::max(alignment, minimumAlignment);
  if (size > SIZE_MAX / 2 || alignment > SIZE_MAX / 4 ||
      (alignment & (alignment - 1)) != 0)
    return nullptr;
  // The data start at the first aligned address after the header.
  size_t total = (alignment + size + alignment - 1) / alignment * alignment;
  void *base = std::aligned_alloc(alignment, total);
  if (!base)
    return nullptr;
  char *data = static_cast<char *>(base) + alignment;
  return new (data - minimumAlignment) BlockHeader{
      nullptr, nullptr, nullptr, size, total - alignment, alignment, base};
}

void *braid::rt::allocateBlock(size_t alignment, size_t size) {
  BlockHeader *block = createBlock(alignment, size);
  return block ? block->data() : nullptr;
}

void braid::rt::freeBlock(void *pointer) {
  if (!pointer)
    return;
  BlockHeader *block = headerOf(pointer);
  if (block->owner)
    block->owner->release(block);
  else
    std::free(block->base);
}

static bool isSmall(size_t alignment, size_t size) {
  return alignment == minimumAlignment && size <= smallSize;
}

MemoryPool::~MemoryPool() {
  releaseAll();
  trim(0);
  for (BlockHeader *first : keptSmall)
    while (first)
      std::free(std::exchange(first, first->next)->base);
}

void *MemoryPool::allocate(size_t alignment, size_t size) {
  alignment = std::max(alignment, minimumAlignment);
  BlockHeader *block = nullptr;
  size_t capacity = size;
  if (isSmall(alignment, size)) {
    SmallClass found = classOf(size);
    capacity = found.capacity;
    BlockHeader *&first = keptSmall[found.number];
    if ((block = first)) {
      first = block->next;
      keptSmallBytes -= block->capacity;
    }
  } else {
    // Also accepts blocks that are up to a quarter larger.
    auto it = kept.lower_bound(size);
    while (it != kept.end() && it->second->alignment < alignment)
      ++it;
    if (it != kept.end() && it->first - size <= size / 4) {
      block = it->second;
      keptBytes -= static_cast<int64_t>(block->capacity);
      kept.erase(it);
    }
  }
  if (!block)
    block = createBlock(alignment, capacity);
  if (!block && keptBytes) {
    trim(0);
    block = createBlock(alignment, capacity);
  }
  if (!block)
    return nullptr;
  block->size = size;
  block->owner = this;
  block->previous = nullptr;
  block->next = live;
  if (live)
    live->previous = block;
  live = block;
  currentBytes += static_cast<int64_t>(size);
  heldCapacity += static_cast<int64_t>(block->capacity);
  peakBytes = std::max(peakBytes, currentBytes);
  mostHeld = std::max(mostHeld, heldCapacity);
  ++allocations;
  trim(mostHeld - heldCapacity);
  return block->data();
}

void MemoryPool::unlink(BlockHeader *block) {
  (block->previous ? block->previous->next : live) = block->next;
  if (block->next)
    block->next->previous = block->previous;
  block->owner = nullptr;
  currentBytes -= static_cast<int64_t>(block->size);
  heldCapacity -= static_cast<int64_t>(block->capacity);
}

void MemoryPool::release(BlockHeader *block) {
  unlink(block);
  if (isSmall(block->alignment, block->size)) {
    if (keptSmallBytes + block->capacity > mostKeptSmall)
      return std::free(block->base);
    BlockHeader *&first = keptSmall[classOf(block->size).number];
    block->next = first;
    first = block;
    keptSmallBytes += block->capacity;
    return;
  }
  kept.emplace(block->capacity, block);
  keptBytes += static_cast<int64_t>(block->capacity);
  trim(mostHeld - heldCapacity);
}

void MemoryPool::trim(int64_t limit) {
  while (keptBytes > limit) {
    auto smallest = kept.begin();
    keptBytes -= static_cast<int64_t>(smallest->first);
    std::free(smallest->second->base);
    kept.erase(smallest);
  }
}

bool MemoryPool::detach(void *pointer) {
  // The pointer may be invalid: look it up instead of dereferencing it.
  for (BlockHeader *block = live; block; block = block->next)
    if (block->data() == pointer) {
      unlink(block);
      return true;
    }
  return false;
}

int64_t MemoryPool::releaseAll() {
  int64_t bytes = currentBytes;
  while (live)
    release(live);
  return bytes;
}
