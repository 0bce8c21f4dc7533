//===- GroupShape.cpp - Groups of ranks on a cluster ----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Cost/Collectives/GroupShape.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

using namespace braid;

/// The ranks behind one leaf switch; 0 for all ranks. Neither factor is above
/// 2^24.
static int64_t getRanksPerLeaf(const Hardware &hardware) {
  return hardware.getNodesPerLeaf() * hardware.ranksPerNode;
}

GroupShape braid::placeRanks(const Hardware &hardware,
                             llvm::ArrayRef<int64_t> ranks) {
  auto countUnits = [&](int64_t ranksPerUnit) -> int64_t {
    llvm::SmallDenseSet<int64_t, 8> units;
    for (int64_t rank : ranks)
      units.insert(rank / ranksPerUnit);
    return units.size();
  };
  int64_t perLeaf = getRanksPerLeaf(hardware);
  return {static_cast<int64_t>(ranks.size()), countUnits(hardware.ranksPerNode),
          perLeaf ? countUnits(perLeaf) : 1};
}

GroupShape braid::placeStridedRanks(const Hardware &hardware, int64_t size,
                                    int64_t stride) {
  // Beyond, every rank is alone on its node whatever the stride.
  constexpr int64_t most = int64_t{1} << 24;
  int64_t counted = std::min(size, most);
  auto countUnits = [&](int64_t ranksPerUnit) {
    return stride >= ranksPerUnit
               ? counted
               : static_cast<int64_t>(
                     llvm::SaturatingMultiply<uint64_t>(counted - 1, stride)) /
                         ranksPerUnit +
                     1;
  };
  int64_t perLeaf = getRanksPerLeaf(hardware);
  return {size, countUnits(hardware.ranksPerNode),
          perLeaf ? countUnits(perLeaf) : 1};
}

NetworkShare braid::getNetworkShare(const Hardware &hardware,
                                    comm::CollectiveKind kind,
                                    const GroupShape &shape) {
  if (shape.numLeaves <= 1 || shape.numNodes <= 1)
    return {};
  auto nodes = static_cast<double>(shape.numNodes);
  auto leaves = static_cast<double>(shape.numLeaves);
  bool isExchange = comm::getTraits(kind).flow == BRAID_RT_FLOW_EXCHANGE;
  double crossing =
      isExchange ? (1 - 1 / leaves) / (1 - 1 / nodes) : leaves / nodes;
  return {std::min(1.0, 1 / (crossing * hardware.network.oversubscription)),
          crossing};
}
