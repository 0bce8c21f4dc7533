//===- ArenaPlan.cpp - Places of buffers in one arena ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/MemoryPlan/ArenaPlan.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <set>

using namespace llvm;
using namespace braid;

namespace {

/// The free ranges of an arena. The arena grows if no range fits.
class FreeList {
public:
  /// Allocates `bytes` from the smallest range that fits, or from the first of
  /// equal ranges, and returns the offset.
  int64_t take(int64_t bytes) {
    auto found = bySize.lower_bound({bytes, 0});
    if (found == bySize.end())
      return takeFromTop(bytes);
    auto [size, offset] = *found;
    erase(offset, size);
    if (size > bytes)
      insert(offset + bytes, size - bytes);
    return offset;
  }

  void giveBack(int64_t offset, int64_t bytes) {
    auto next = byOffset.lower_bound(offset);
    if (next != byOffset.begin()) {
      auto [previousOffset, previousSize] = *std::prev(next);
      if (previousOffset + previousSize == offset) {
        erase(previousOffset, previousSize);
        offset = previousOffset;
        bytes += previousSize;
      }
    }
    if (next != byOffset.end() && next->first == offset + bytes) {
      int64_t size = next->second;
      erase(next->first, size);
      bytes += size;
    }
    insert(offset, bytes);
  }

  int64_t getTop() const { return top; }

private:
  /// Allocates at the top: grows the arena by the bytes that the free range at
  /// its top lacks.
  int64_t takeFromTop(int64_t bytes) {
    int64_t offset = top;
    if (!byOffset.empty()) {
      auto [lastOffset, lastSize] = *byOffset.rbegin();
      if (lastOffset + lastSize == top) {
        offset = lastOffset;
        erase(lastOffset, lastSize);
      }
    }
    top = offset + bytes;
    return offset;
  }
  void insert(int64_t offset, int64_t bytes) {
    byOffset[offset] = bytes;
    bySize.insert({bytes, offset});
  }
  void erase(int64_t offset, int64_t bytes) {
    byOffset.erase(offset);
    bySize.erase({bytes, offset});
  }

  std::map<int64_t, int64_t> byOffset;
  std::set<std::pair<int64_t, int64_t>> bySize;
  int64_t top = 0;
};

class Planner {
public:
  Planner(ArrayRef<ArenaBuffer> buffers, int64_t alignment)
      : buffers(buffers), order(buffers.size()), byEnd(buffers.size()) {
    for (const ArenaBuffer &buffer : buffers)
      sizes.push_back(alignTo(buffer.bytes, alignment));
    for (unsigned index = 0; index < buffers.size(); ++index)
      order[index] = byEnd[index] = index;
    // Of buffers that begin at the same time, the largest comes first.
    llvm::sort(order, [&](unsigned a, unsigned b) {
      return std::tuple(buffers[a].begin, -sizes[a], a) <
             std::tuple(buffers[b].begin, -sizes[b], b);
    });
    llvm::sort(byEnd, [&](unsigned a, unsigned b) {
      return std::tuple(buffers[a].end, a) < std::tuple(buffers[b].end, b);
    });
  }

  ArenaPlan planByTime();
  /// Places large buffers first. Nothing if that would take too long.
  std::optional<ArenaPlan> planBySize();

private:
  /// Calls `begin` and `end` of each buffer in order of time.
  void sweep(function_ref<void(unsigned)> begin,
             function_ref<void(unsigned)> end) {
    unsigned ended = 0;
    for (unsigned index : order) {
      while (ended < byEnd.size() &&
             buffers[byEnd[ended]].end < buffers[index].begin)
        end(byEnd[ended++]);
      begin(index);
    }
  }

  ArrayRef<ArenaBuffer> buffers;
  SmallVector<int64_t> sizes;
  SmallVector<unsigned> order, byEnd;
};

ArenaPlan Planner::planByTime() {
  ArenaPlan plan;
  plan.offsets.resize(buffers.size());
  FreeList free;
  int64_t live = 0;
  sweep(
      [&](unsigned index) {
        live += sizes[index];
        plan.lowerBound = std::max(plan.lowerBound, live);
        if (sizes[index] > 0)
          plan.offsets[index] = free.take(sizes[index]);
      },
      [&](unsigned index) {
        live -= sizes[index];
        if (sizes[index] > 0)
          free.giveBack(plan.offsets[index], sizes[index]);
      });
  plan.bytes = free.getTop();
  return plan;
}

std::optional<ArenaPlan> Planner::planBySize() {
  // More pairs of buffers that are live at once take too long.
  constexpr size_t maxPairs = 1 << 20;
  size_t pairs = 0;
  std::vector<SmallVector<unsigned, 4>> neighbours(buffers.size());
  SmallVector<unsigned> live;
  std::vector<unsigned> position(buffers.size());
  sweep(
      [&](unsigned index) {
        pairs += live.size();
        if (pairs <= maxPairs)
          for (unsigned other : live) {
            neighbours[index].push_back(other);
            neighbours[other].push_back(index);
          }
        position[index] = live.size();
        live.push_back(index);
      },
      [&](unsigned index) {
        position[live.back()] = position[index];
        live[position[index]] = live.back();
        live.pop_back();
      });
  if (pairs > maxPairs)
    return std::nullopt;

  ArenaPlan plan;
  plan.offsets.resize(buffers.size());
  std::vector<char> isPlaced(buffers.size());
  SmallVector<unsigned> bySize(order);
  // The largest first; equal buffers as in `order`.
  SmallVector<unsigned> places(buffers.size());
  for (auto [place, index] : llvm::enumerate(order))
    places[index] = place;
  llvm::sort(bySize, [&](unsigned a, unsigned b) {
    return sizes[a] != sizes[b] ? sizes[a] > sizes[b] : places[a] < places[b];
  });
  SmallVector<std::pair<int64_t, int64_t>> taken;
  for (unsigned index : bySize) {
    taken.clear();
    for (unsigned other : neighbours[index])
      if (isPlaced[other])
        taken.push_back({plan.offsets[other], sizes[other]});
    llvm::sort(taken);
    // The smallest gap that fits, or the first of equal gaps.
    int64_t best = -1, bestGap = 0, top = 0;
    for (auto [offset, bytes] : taken) {
      int64_t gap = offset - top;
      if (gap >= sizes[index] && (best < 0 || gap < bestGap)) {
        best = top;
        bestGap = gap;
      }
      top = std::max(top, offset + bytes);
    }
    plan.offsets[index] = best < 0 ? top : best;
    plan.bytes = std::max(plan.bytes, plan.offsets[index] + sizes[index]);
    isPlaced[index] = true;
  }
  return plan;
}

} // namespace

ArenaPlan braid::planArena(ArrayRef<ArenaBuffer> buffers, int64_t alignment) {
  Planner planner(buffers, alignment);
  ArenaPlan plan = planner.planByTime();
  if (plan.bytes == plan.lowerBound)
    return plan;
  std::optional<ArenaPlan> other = planner.planBySize();
  if (!other || other->bytes >= plan.bytes)
    return plan;
  other->lowerBound = plan.lowerBound;
  return *std::move(other);
}
