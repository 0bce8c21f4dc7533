//===- OrderLimits.cpp - Limits at every place of an order ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OrderLimits.h"

#include <algorithm>

using namespace braid;

void OrderLimits::assign(llvm::ArrayRef<unsigned> newOrder,
                         llvm::ArrayRef<unsigned> newPlace) {
  if (!flat.hasLimits())
    return;
  order = newOrder;
  place = newPlace;
  liveBytes.assign(order.size() + 1, flat.liveBytes);
  if (flat.maxInFlight != 0)
    inFlight.assign((order.size() + 1) * flat.numLanes, 0);
  update(0, order.size());
}

void OrderLimits::enter(unsigned begin, llvm::ArrayRef<unsigned> nodes) {
  tracker.enter(nodes, liveBytes[begin],
                [&](unsigned node) { return place[node] < begin; });
  if (flat.maxInFlight != 0)
    tracker.setInFlight(getInFlight(begin));
}

void OrderLimits::update(unsigned begin, unsigned end) {
  if (!flat.hasLimits())
    return;
  enter(begin, order.slice(begin, end - begin));
  for (unsigned where = begin; where != end; ++where) {
    tracker.place(order[where]);
    liveBytes[where + 1] = tracker.getLiveBytes();
    if (flat.maxInFlight != 0)
      llvm::copy(tracker.getInFlight(),
                 inFlight.begin() + size_t(where + 1) * flat.numLanes);
  }
}

bool OrderLimits::keeps(unsigned begin, llvm::ArrayRef<unsigned> nodes) {
  if (!flat.hasLimits())
    return true;
  enter(begin, nodes);
  for (unsigned node : nodes) {
    if (!tracker.fits(node))
      return false;
    tracker.place(node);
  }
  return true;
}
