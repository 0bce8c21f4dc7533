//===- BuffersInFlight.cpp - The buffers in flight on one path ------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BuffersInFlight.h"

#include "braid/Analysis/Memory/InFlightAccesses.h"

#include "llvm/ADT/STLExtras.h"

using namespace braid;
using namespace mlir;

void BuffersInFlight::begin(unsigned launch, unsigned token, Buffer buffer,
                            bool isWritten, Operation *start) {
  flights.push_back(
      {launch, token, std::move(buffer), isWritten, start, start->getLoc()});
}

void BuffersInFlight::end(unsigned token) {
  llvm::erase_if(flights,
                 [&](const Flight &flight) { return flight.token == token; });
}

void BuffersInFlight::endBuffer(unsigned launch, const Buffer &buffer) {
  llvm::erase_if(flights, [&](const Flight &flight) {
    return flight.launch == launch && flight.buffer->id == buffer->id;
  });
}

bool BuffersInFlight::isInFlight(unsigned root) const {
  return keepsAccesses || llvm::any_of(flights, [&](const Flight &flight) {
           return flight.buffer->root == root;
         });
}

/// Adds a finding if the access conflicts with `flight`; returns true if it is
/// an error.
bool BuffersInFlight::check(Operation *op, const Buffer &buffer,
                            BufferAccessKind kind, const Flight &flight) {
  if (conflictsWithWritesAlone(kind) && !flight.isWritten)
    return false;
  Overlap overlap =
      kind == BufferAccessKind::Free && buffer->root == flight.buffer->root
          ? Overlap::Some
          : getOverlap(*buffer, *flight.buffer);
  if (overlap == Overlap::None)
    return false;
  bool isUnknown = overlap == Overlap::Unknown;
  Finding finding = {
      op,
      (getVerb(kind) + " a buffer that " +
       (isUnknown ? "may be part of what " : "") + "an operation in flight " +
       (flight.isWritten ? "writes" : "reads") + ", expected its wait before")
          .str()};
  finding.isUnknown = isUnknown;
  finding.notes.push_back(
      {flight.started, "the operation starts here; " +
                           comm::describeRepair(op, flight.isWritten)});
  findings.add(std::move(finding));
  return !isUnknown;
}

void BuffersInFlight::access(Operation *op, const Buffer &buffer,
                             BufferAccessKind kind) {
  if (keepsAccesses)
    kept.push_back({op, buffer, kind});
  for (const Flight &flight : flights)
    if (check(op, buffer, kind, flight))
      return;
}

void BuffersInFlight::endUnknown(ArrayRef<Buffer> reads,
                                 ArrayRef<Buffer> writes, Location started) {
  for (bool isWritten : {true, false})
    for (const Buffer &buffer : isWritten ? writes : reads)
      for (const KeptAccess &access : kept)
        check(access.op, access.buffer, access.kind,
              {/*launch=*/0, /*token=*/0, buffer, isWritten, /*start=*/nullptr,
               started});
}
