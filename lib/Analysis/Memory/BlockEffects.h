//===- BlockEffects.h - What the ops of a block do to memory ----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_ANALYSIS_MEMORY_BLOCKEFFECTS_H
#define BRAID_LIB_ANALYSIS_MEMORY_BLOCKEFFECTS_H

#include "BufferRange.h"
#include "braid/Analysis/Memory/OpEffects.h"

#include <vector>

namespace braid {

/// The effects of the ops of one block, by the places where the ops stand when
/// the table is made. Graphs and the validation of orders share a table, so
/// that effects and buffers are worked out once.
class BlockEffects {
public:
  /// A read or write of a piece of a buffer, or of any memory.
  struct Access {
    unsigned buffer;
    bool isWrite;
    int64_t begin, end;
    bool isOfAnything() const { return buffer == BufferRange::unknown; }
  };
  struct Entry {
    unsigned accessesBegin = 0, accessesEnd = 0;
    unsigned resourcesBegin = 0, resourcesEnd = 0;
    bool isCollected = false;
    bool isUnknown = false, hasStart = false, hasMessage = false,
         hasWait = false;

    bool touchesMemory() const {
      return isUnknown || accessesBegin != accessesEnd ||
             resourcesBegin != resourcesEnd;
    }
  };

  void reserve(size_t numOps) { entries.reserve(numOps); }

  /// Adds `effects`, those of `op`, which stands at `place`.
  const Entry &add(unsigned place, mlir::Operation *op,
                   const OpEffects &effects);
  /// The effects of `op`, which stands at `place`.
  const Entry &get(unsigned place, mlir::Operation *op, CallEffects &calls) {
    if (place < entries.size() && entries[place].isCollected)
      return entries[place];
    return add(place, op, getOpEffects(op, calls));
  }

  /// Valid until the next entry is added.
  llvm::ArrayRef<Access> getAccesses(const Entry &entry) const {
    return llvm::ArrayRef(accesses).slice(
        entry.accessesBegin, entry.accessesEnd - entry.accessesBegin);
  }
  llvm::ArrayRef<OpEffects::ResourceAccess>
  getResources(const Entry &entry) const {
    return llvm::ArrayRef(resources).slice(
        entry.resourcesBegin, entry.resourcesEnd - entry.resourcesBegin);
  }

  BufferResolver &getBuffers() { return buffers; }

private:
  BufferResolver buffers;
  std::vector<Entry> entries;
  std::vector<Access> accesses;
  std::vector<OpEffects::ResourceAccess> resources;
};

} // namespace braid

#endif // BRAID_LIB_ANALYSIS_MEMORY_BLOCKEFFECTS_H
