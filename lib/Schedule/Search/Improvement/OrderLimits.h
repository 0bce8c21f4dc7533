//===- OrderLimits.h - Limits at every place of an order --------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_SEARCH_IMPROVEMENT_ORDERLIMITS_H
#define BRAID_LIB_SCHEDULE_SEARCH_IMPROVEMENT_ORDERLIMITS_H

#include "Schedule/Model/LimitTracker.h"

namespace braid {

/// The live bytes and the operations in flight at every place of an order that
/// changes. As both depend on the set of the nodes before a place alone, a
/// change of a part of the order takes as long as the part. Does nothing
/// without limits.
class OrderLimits {
public:
  explicit OrderLimits(const FlatProblem &flat) : flat(flat), tracker(flat) {}

  /// Begins anew with `order`; `place` has the place of each node in it. Both
  /// have to outlive this.
  void assign(llvm::ArrayRef<unsigned> order, llvm::ArrayRef<unsigned> place);
  /// The nodes from `begin` to `end` have changed their places among
  /// themselves.
  void update(unsigned begin, unsigned end);
  /// True if the order keeps the limits, which it keeps now, with `nodes` in
  /// place of those from `begin` on, which have to be the same.
  bool keeps(unsigned begin, llvm::ArrayRef<unsigned> nodes);
  /// The bytes that live before the node at `where`.
  int64_t getLiveBytes(unsigned where) const { return liveBytes[where]; }

  /// By lane, if there is a limit: the operations in flight there.
  llvm::ArrayRef<unsigned> getInFlight(unsigned where) const {
    return llvm::ArrayRef(inFlight).slice(size_t(where) * flat.numLanes,
                                          flat.numLanes);
  }

private:
  void enter(unsigned begin, llvm::ArrayRef<unsigned> nodes);

  const FlatProblem &flat;
  LimitTracker tracker;
  llvm::ArrayRef<unsigned> order, place;
  /// By place, and one more: what lives before the node, and, by lane, the
  /// operations in flight.
  std::vector<int64_t> liveBytes;
  std::vector<unsigned> inFlight;
};

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_SEARCH_IMPROVEMENT_ORDERLIMITS_H
