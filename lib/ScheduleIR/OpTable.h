//===- OpTable.h - Where the ops of a block are -----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULEIR_OPTABLE_H
#define BRAID_LIB_SCHEDULEIR_OPTABLE_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/bit.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <optional>
#include <vector>

namespace braid {

/// Finds ops in two lists, nodes and prologue. A hash table made for long
/// blocks: a slot has only four bytes, as the ops themselves stand in the
/// lists, and ops that were created one after the other, as those of a block
/// mostly were, have slots side by side, so that a sweep over the block goes
/// through the table in about the order of memory.
class OpTable {
public:
  using Ops = std::vector<mlir::Operation *>;
  /// A place in one of the lists.
  struct Entry {
    unsigned index;
    bool isPrologue;
  };

  /// The lists have to outlive the table, and only to grow.
  OpTable(const Ops &nodes, const Ops &prologue)
      : nodes(nodes), prologue(prologue) {}

  /// Makes room for so many entries.
  void reserve(size_t numEntries) {
    if (2 * numEntries > slots.size())
      rehash(llvm::bit_ceil(2 * numEntries));
  }

  /// Adds the op at `entry`, which must not be in the table.
  void insert(Entry entry) {
    if (2 * ++numEntries > slots.size())
      rehash(std::max<size_t>(64, 2 * slots.size()));
    assert(entry.index < (1u << 31) && "indices have 31 bits");
    place(entry.index << 1 | static_cast<unsigned>(entry.isPrologue));
  }

  std::optional<Entry> find(mlir::Operation *op) const {
    if (slots.empty())
      return std::nullopt;
    size_t slot = getHash(op) & (slots.size() - 1);
    for (size_t step = 1; slots[slot] != empty; ++step) {
      if (getOp(slots[slot]) == op)
        return Entry{slots[slot] >> 1, (slots[slot] & 1) != 0};
      slot = (slot + step) & (slots.size() - 1);
    }
    return std::nullopt;
  }

private:
  static constexpr uint32_t empty = ~uint32_t(0);

  static uint64_t getHash(const mlir::Operation *op) {
    // No op takes less than 64 bytes. Pieces of 64 KiB are spread at random.
    auto address = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(op));
    uint64_t piece = (address >> 16) * 0x9E3779B97F4A7C15ULL;
    return (address >> 6) ^ (piece >> 32);
  }
  mlir::Operation *getOp(uint32_t value) const {
    return (value & 1 ? prologue : nodes)[value >> 1];
  }
  void place(uint32_t value) {
    size_t slot = getHash(getOp(value)) & (slots.size() - 1);
    for (size_t step = 1; slots[slot] != empty; ++step)
      slot = (slot + step) & (slots.size() - 1);
    slots[slot] = value;
  }
  void rehash(size_t numSlots) {
    std::vector<uint32_t> old(numSlots, empty);
    old.swap(slots);
    for (uint32_t value : old)
      if (value != empty)
        place(value);
  }

  const Ops &nodes, &prologue;
  /// A power of two of them, at most half of them taken.
  std::vector<uint32_t> slots;
  size_t numEntries = 0;
};

} // namespace braid

#endif // BRAID_LIB_SCHEDULEIR_OPTABLE_H
