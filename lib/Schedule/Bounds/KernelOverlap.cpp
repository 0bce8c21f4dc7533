//===- KernelOverlap.cpp - Persistent kernels beside lanes ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelOverlap.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace braid;
using namespace llvm;

int64_t braid::getMostBlocks(const ResourceDemand &demand,
                             const MachineModel &machine) {
  int64_t blocks = std::min<int64_t>(machine.multiprocessors, demand.tiles);
  return demand.blocks > 0 ? std::min<int64_t>(blocks, demand.blocks) : blocks;
}

SmallVector<KernelOverlap, 4>
braid::getKernelOverlaps(int64_t costNs, const ResourceDemand &demand,
                         const MachineModel &machine, int64_t mostBlocks,
                         int64_t mostAtEnd) {
  int64_t blocks = getMostBlocks(demand, machine);
  // As PersistentKernel counts tiles.
  constexpr int64_t maxTiles = int64_t(1) << 40;
  int64_t tiles = std::min(std::min(demand.tiles, maxTiles),
                           std::min(costNs, maxTiles / 64) * 64 * blocks);
  int64_t least = divideCeil(uint64_t(tiles), uint64_t(blocks));
  int64_t early = std::max<int64_t>(mostBlocks, 1), late = blocks - early;
  // One block always begins.
  if (late == 0)
    return {{1, 1}};
  // The tiles that each of the late blocks has to take.
  auto getLateTiles = [&](int64_t time, int64_t missing) -> int64_t {
    int64_t left = tiles + missing - early * time;
    return left <= 0 ? 0 : divideCeil(uint64_t(left), uint64_t(late));
  };
  SmallVector<KernelOverlap, 4> overlaps;
  for (int64_t time = least, step; true; time += step) {
    // Of long kernels steps of many tiles, with the overlap at the step's end.
    step = std::max<int64_t>(time / 64, 1);
    int64_t end = time + step - 1;
    int64_t overlap = end - getLateTiles(end, 0);
    int64_t missing = std::max<int64_t>(blocks - mostAtEnd, 0);
    if (int64_t lateTiles = getLateTiles(end, missing); lateTiles <= end)
      overlap = std::max(overlap, std::min(end - lateTiles + 1, end));
    KernelOverlap last = {double(time) / double(least),
                          double(std::min(overlap, time)) / double(least)};
    // Those in between that a mix of two others is as good as.
    while (overlaps.size() > 1) {
      const KernelOverlap &a = overlaps.end()[-2], &b = overlaps.back();
      if ((b.time - a.time) * (last.overlap - a.overlap) <
          (last.time - a.time) * (b.overlap - a.overlap))
        break;
      overlaps.pop_back();
    }
    overlaps.push_back(last);
    if (overlap >= end)
      return overlaps;
  }
}
