//===- OpTable.h - Positions of the ops of a block --------------*- C++ -*-===//
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

/// Finds ops in two lists, nodes and transparent ops. A hash table for long
/// blocks. A slot has only four bytes, because the lists have the ops. Ops with
/// adjacent addresses have adjacent slots. Most ops of a block were created in
/// order, so a sweep over the block accesses the table almost sequentially.
class OpTable {
public:
  using Ops = std::vector<mlir::Operation *>;
  /// A position in one of the lists.
  struct Entry {
    unsigned index;
    bool isTransparent;
  };

  /// The lists must outlive the table, and may only grow.
  OpTable(const Ops &nodes, const Ops &transparent)
      : nodes(nodes), transparent(transparent) {}

  /// Reserves space for `numEntries` entries.
  void reserve(size_t numEntries) {
    if (2 * numEntries > slots.size())
      rehash(llvm::bit_ceil(2 * numEntries));
  }

  /// Adds the op at `entry`, which must not be in the table.
  void insert(Entry entry) {
    if (2 * ++numEntries > slots.size())
      rehash(std::max<size_t>(64, 2 * slots.size()));
    assert(entry.index < (1u << 31) && "indices have 31 bits");
    place(entry.index << 1 | static_cast<unsigned>(entry.isTransparent));
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
    // An op has at least 64 bytes. The hash spreads blocks of 64 KiB randomly.
    auto address = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(op));
    uint64_t piece = (address >> 16) * 0x9E3779B97F4A7C15ULL;
    return (address >> 6) ^ (piece >> 32);
  }
  mlir::Operation *getOp(uint32_t value) const {
    return (value & 1 ? transparent : nodes)[value >> 1];
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

  const Ops &nodes, &transparent;
  /// The slots. Their number is a power of two; at most half are in use.
  std::vector<uint32_t> slots;
  size_t numEntries = 0;
};

} // namespace braid

#endif // BRAID_LIB_SCHEDULEIR_OPTABLE_H
