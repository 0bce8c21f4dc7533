//===- PersistentKernel.cpp - Multiprocessors of a kernel -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PersistentKernel.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

using namespace braid;
using namespace llvm;

int64_t braid::getNeededMultiprocessors(const ResourceDemand &demand,
                                        const MachineModel &machine,
                                        bool isCrowded) {
  if (demand.multiprocessors <= 0)
    return demand.memoryBytes > 0 || demand.linkBytes > 0 ? 1 : 0;
  int64_t needed = demand.multiprocessors;
  if (isCrowded && comesInGroups(demand))
    needed += (demand.clusterSize - 1) * int64_t(machine.processorGroups);
  return std::min<int64_t>(needed, machine.multiprocessors);
}

int64_t braid::getTakenFromPairs(const MachineModel &machine, int64_t single) {
  TakenFromPairs below;
  for (const TakenFromPairs &entry : machine.takenFromPairs) {
    if (single <= entry.blocks) {
      int64_t rise = int64_t(entry.multiprocessors) - below.multiprocessors;
      int64_t run = int64_t(entry.blocks) - below.blocks;
      return below.multiprocessors +
             divideCeil(uint64_t(rise * (single - below.blocks)),
                        uint64_t(run));
    }
    below = entry;
  }
  return below.multiprocessors + (single - below.blocks);
}

void PersistentKernel::begin(int64_t costNs, const ResourceDemand &demand,
                             const MachineModel &machine, int64_t free) {
  // Sums over all tiles must not overflow, and a tile takes longer than what
  // counts as the same time.
  constexpr int64_t maxTiles = int64_t(1) << 40;
  tiles = std::clamp<int64_t>(demand.tiles, 1, maxTiles);
  int64_t blocks = std::min<int64_t>(machine.multiprocessors, tiles);
  if (demand.blocks > 0)
    blocks = std::min<int64_t>(blocks, demand.blocks);
  tiles = std::min(tiles, std::min(costNs, maxTiles / 64) * 64 * blocks);
  tileNs =
      double(costNs) / double(divideCeil(uint64_t(tiles), uint64_t(blocks)));
  int64_t count = std::min(blocks, free);
  pending = blocks - count;
  joined.assign({{0, count}});
  findLeaves();
}

void PersistentKernel::join(int64_t count, double clock) {
  count = std::min(count, getPending(clock));
  if (count == 0)
    return;
  pending -= count;
  joined.push_back({clock, count});
  findLeaves();
}

void PersistentKernel::findLeaves() {
  // How many tiles each block of a group has got, and what is left of them.
  SmallVector<int64_t, 2> taken;
  double clock = joined.back().clock;
  int64_t left = tiles, blocks = 0;
  for (const Blocks &group : joined) {
    taken.push_back(
        int64_t(std::floor((clock - group.clock + tolerance) / tileNs)) + 1);
    left -= taken.back() * group.count;
    blocks += group.count;
  }
  // The blocks that joined last may be more than the tiles that are left.
  if (left < 0)
    --taken.back(), left += joined.back().count;
  else if (int64_t rounds = left > 0 ? (left - 1) / blocks : 0) {
    left -= rounds * blocks;
    for (int64_t &count : taken)
      count += rounds;
  }

  // One group after the other has done its tile and takes the next.
  auto getDone = [&](size_t group) {
    return joined[group].clock + double(taken[group]) * tileNs;
  };
  leaves.clear();
  SmallVector<std::pair<double, size_t>, 2> order;
  for (size_t group = 0; group != joined.size(); ++group)
    order.emplace_back(getDone(group), group);
  llvm::sort(order);
  outClock = clock;
  for (auto [done, group] : order) {
    int64_t takes = std::min(left, joined[group].count);
    if (takes > 0)
      outClock = done;
    if (takes < joined[group].count)
      leaves.push_back({done, joined[group].count - takes});
    if (takes > 0)
      leaves.push_back({done + tileNs, takes});
    left -= takes;
  }
  llvm::sort(leaves, [](const Blocks &a, const Blocks &b) {
    return std::pair(a.clock, a.count) < std::pair(b.clock, b.count);
  });
}

int64_t PersistentKernel::getPending(double clock) const {
  return clock + tolerance < outClock ? pending : 0;
}

int64_t PersistentKernel::getHeld(double clock) const {
  int64_t held = 0;
  for (const Blocks &group : leaves)
    if (group.clock > clock + tolerance)
      held += group.count;
  return held;
}

std::optional<double> PersistentKernel::getNextLeave(double clock) const {
  for (const Blocks &group : leaves)
    if (group.clock > clock + tolerance)
      return group.clock;
  return std::nullopt;
}
