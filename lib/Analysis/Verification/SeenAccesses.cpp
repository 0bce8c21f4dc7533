//===- SeenAccesses.cpp - Accesses that were passed -----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SeenAccesses.h"

#include "llvm/ADT/STLExtras.h"

using namespace braid;
using namespace mlir;

void SeenInSpan::clear() {
  for (unsigned buffer : touched)
    buffers[buffer].clear();
  touched.clear();
  resources.clear();
  unknown = known = barriers = all = LatestAccess();
}

/// Adds an access and divides pieces at its ends.
std::optional<unsigned>
SeenInSpan::addToPieces(Pieces &pieces, unsigned place,
                        const BlockEffects::Access &access) {
  // Most ops access whole buffers.
  if (pieces.size() == 1 && pieces.front().begin == access.begin &&
      pieces.front().end == access.end) {
    LatestAccess &latest = pieces.front().latest;
    std::optional<unsigned> passed = latest.findAfter(place, access.isWrite);
    latest.add(place, access.isWrite);
    return passed;
  }
  auto splitAt = [&](int64_t position) {
    size_t index =
        partition_point(
            pieces, [&](const Piece &piece) { return piece.end <= position; }) -
        pieces.begin();
    if (index == pieces.size() || pieces[index].begin >= position)
      return;
    Piece head = pieces[index];
    head.end = position;
    pieces[index].begin = position;
    pieces.insert(pieces.begin() + index, head);
  };
  splitAt(access.begin);
  splitAt(access.end);
  size_t index = partition_point(pieces,
                                 [&](const Piece &piece) {
                                   return piece.end <= access.begin;
                                 }) -
                 pieces.begin();
  int64_t position = access.begin;
  for (; position != access.end; ++index) {
    if (index == pieces.size() || pieces[index].begin > position) {
      // No earlier op accesses these bytes.
      int64_t end = index == pieces.size()
                        ? access.end
                        : std::min(access.end, pieces[index].begin);
      pieces.insert(pieces.begin() + index, {position, end, LatestAccess()});
    }
    Piece &piece = pieces[index];
    if (std::optional<unsigned> passed =
            piece.latest.findAfter(place, access.isWrite))
      return passed;
    piece.latest.add(place, access.isWrite);
    position = piece.end;
  }
  return std::nullopt;
}

std::optional<unsigned>
SeenInSpan::add(unsigned place, bool isUnknown,
                ArrayRef<BlockEffects::Access> accesses,
                ArrayRef<OpEffects::ResourceAccess> ofResources) {
  std::optional<unsigned> passed =
      (isUnknown ? all : barriers).findAfter(place, /*isWrite=*/true);
  if (isUnknown)
    barriers.add(place, /*isWrite=*/true);
  all.add(place, /*isWrite=*/true);
  for (const OpEffects::ResourceAccess &access : ofResources) {
    LatestAccess &latest = resources[access.resource];
    if (!passed)
      passed = latest.findAfter(place, access.isWrite);
    latest.add(place, access.isWrite);
  }
  for (const BlockEffects::Access &access : accesses) {
    if (!passed)
      passed = unknown.findAfter(place, access.isWrite);
    if (access.isOfAnything()) {
      if (!passed)
        passed = known.findAfter(place, access.isWrite);
      unknown.add(place, access.isWrite);
      continue;
    }
    // An unknown access may touch any piece of the buffer.
    known.add(place, access.isWrite);
    if (access.buffer >= buffers.size())
      buffers.resize(access.buffer + 1);
    Pieces &pieces = buffers[access.buffer];
    if (pieces.empty())
      touched.push_back(access.buffer);
    if (!passed)
      passed = addToPieces(pieces, place, access);
  }
  return passed;
}
