//===- BlockEffects.cpp - What the ops of a block do to memory ------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockEffects.h"

using namespace braid;
using namespace mlir;

const BlockEffects::Entry &BlockEffects::add(unsigned place, Operation *op,
                                             const OpEffects &effects) {
  if (place >= entries.size())
    entries.resize(place + 1);
  Entry &entry = entries[place];
  entry.isCollected = true;
  entry.isUnknown = effects.isUnknown;
  entry.hasStart = effects.hasStart;
  entry.hasMessage = effects.hasMessage;
  entry.hasWait = effects.hasWait;
  entry.accessesBegin = accesses.size();
  for (const OpEffects::Access &access : effects.accesses) {
    if (!access.buffer) {
      accesses.push_back({BufferRange::unknown, access.isWrite,
                          BufferRange().begin, BufferRange().end});
      continue;
    }
    const BufferRange &range = buffers.resolve(access.buffer);
    // Memory that an op allocates inside is not visible outside.
    Operation *owner = range.root ? range.root.getDefiningOp() : nullptr;
    if (range.isEmpty() || (owner && op->isProperAncestor(owner) &&
                            BufferResolver::isAllocation(range.root)))
      continue;
    accesses.push_back({range.buffer, access.isWrite, range.begin, range.end});
  }
  entry.accessesEnd = accesses.size();
  entry.resourcesBegin = resources.size();
  llvm::append_range(resources, effects.resources);
  entry.resourcesEnd = resources.size();
  return entry;
}
