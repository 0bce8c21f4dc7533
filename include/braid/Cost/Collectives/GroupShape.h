//===- GroupShape.h - Groups of ranks on a cluster --------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_COST_COLLECTIVES_GROUPSHAPE_H
#define BRAID_COST_COLLECTIVES_GROUPSHAPE_H

#include "braid/Cost/Hardware/Hardware.h"
#include "braid/Dialect/Comm/IR/CollectiveKind.h"

namespace braid {

/// The placement of the members of a communicator. Ranks are numbered node by
/// node, and nodes leaf switch by leaf switch.
struct GroupShape {
  int64_t size = 1;
  /// The number of nodes, and of leaf switches, that have members; 1 leaf
  /// switch on machines whose spine is no bottleneck.
  int64_t numNodes = 1;
  int64_t numLeaves = 1;
  /// The communicators on a node, and the distance of neighbouring members.
  int64_t groupsPerNode = 1, stride = 1;
};

/// The shape of the communicator of `ranks` on `hardware`.
GroupShape placeRanks(const Hardware &hardware, llvm::ArrayRef<int64_t> ranks);

/// The shape of the communicator of the `size` ranks 0, `stride`, 2 `stride`...
/// on `hardware`; `size` and `stride` are at least 1.
GroupShape placeStridedRanks(const Hardware &hardware, int64_t size,
                             int64_t stride);

/// What the spine leaves of the ports of a collective. All communicators of a
/// shape run their collective at the same time, because all ranks run the same
/// program.
struct NetworkShare {
  /// The part of the rate of a port that the collective can use; 1 if the spine
  /// is no bottleneck of the collective.
  double rate = 1;
  /// The bytes over the spine for each byte over a port.
  double crossing = 0;
};

/// The share of a collective of `kind` in communicators of `shape`. Rings and
/// trees leave a leaf switch once for each communicator in it, exchanges for
/// all members behind other leaf switches.
NetworkShare getNetworkShare(const Hardware &hardware,
                             comm::CollectiveKind kind,
                             const GroupShape &shape);

} // namespace braid

#endif // BRAID_COST_COLLECTIVES_GROUPSHAPE_H
