//===- LimitTracker.cpp - Memory and operations in flight -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LimitTracker.h"

using namespace braid;

LimitTracker::LimitTracker(const FlatProblem &flat) : flat(flat) { reset(); }

LimitTracker &LimitTracker::operator=(const LimitTracker &other) {
  liveBytes = other.liveBytes;
  placedUsers = other.placedUsers;
  placedAwaiters = other.placedAwaiters;
  inFlight = other.inFlight;
  return *this;
}

void LimitTracker::reset() {
  liveBytes = flat.liveBytes;
  placedUsers.assign(flat.bufferBytes.size(), 0);
  placedAwaiters.assign(flat.maxInFlight == 0 ? 0 : flat.size(), 0);
  inFlight.assign(flat.numLanes, 0);
}

LimitTracker::Effect LimitTracker::place(unsigned node) {
  Effect effect = {0, false};
  int64_t freedBytes = 0;
  for (unsigned buffer : flat.buffersOf[node]) {
    if (placedUsers[buffer]++ == 0)
      liveBytes += flat.bufferBytes[buffer];
    if (getMissingUsers(buffer) == 0 && !flat.escapes[buffer]) {
      freedBytes += flat.bufferBytes[buffer];
      effect.endsSomething = true;
    }
  }
  effect.neededBytes = liveBytes + flat.transientBytes[node];
  liveBytes -= freedBytes;
  if (flat.maxInFlight == 0)
    return effect;
  if (flat.isStart(node))
    ++inFlight[flat.lane[node]];
  for (unsigned start : flat.awaited[node])
    if (placedAwaiters[start]++ == 0) {
      --inFlight[flat.lane[start]];
      effect.endsSomething = true;
    }
  return effect;
}

int64_t LimitTracker::getNeededBytes(unsigned node) const {
  int64_t bytes = liveBytes + flat.transientBytes[node];
  for (unsigned buffer : flat.buffersOf[node])
    if (placedUsers[buffer] == 0)
      bytes += flat.bufferBytes[buffer];
  return bytes;
}

int64_t LimitTracker::getAddedBytes(unsigned node) const {
  int64_t bytes = 0;
  for (unsigned buffer : flat.buffersOf[node]) {
    if (placedUsers[buffer] == 0)
      bytes += flat.bufferBytes[buffer];
    if (getMissingUsers(buffer) == 1 && !flat.escapes[buffer])
      bytes -= flat.bufferBytes[buffer];
  }
  return bytes;
}
