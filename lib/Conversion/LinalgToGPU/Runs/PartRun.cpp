//===- PartRun.cpp - Ops that work on the same parts ----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PartRun.h"

#include "../BufferAddress.h"
#include "PartCandidate.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace braid::kernels;

/// A run of fewer ops saves too little: its blocks pass barriers, which those
/// of independent ops do not.
static constexpr unsigned kFewestOps = 3, kFewestIndependentOps = 2;
/// Bounds of the size of a kernel and of its list of arguments.
static constexpr unsigned kMostOps = 128, kMostRoots = 160;
/// How many other ops may stand between two ops of a run.
static constexpr unsigned kMostSkipped = 64;
/// An op that moves more bytes has the best shape of its kernel alone.
static constexpr int64_t kMostBytesAlone = int64_t(16) << 20;
/// What the ops of a run may read and write together: all their buffers live at
/// once.
static constexpr int64_t kMostBytesOfRun = int64_t(256) << 20;
/// Fewer blocks leave a part of a large GPU idle.
static constexpr int64_t kBusyBlocks = 128, kWantedBlocks = 256;
/// The bytes that a large GPU moves in the time of a launch.
static constexpr int64_t kBytesOfLaunch = int64_t(8) << 20;
/// The bytes of a sector of memory, which a block should use as a whole, and of
/// a line: on an H200, blocks that use single sectors move a quarter as much.
static constexpr int64_t kSectorBytes = 32, kBytesOfLine = 128;

namespace {

/// What a run does with the memory of a root.
struct RootUse {
  bool isWritten = false;
  /// For each axis the distance that all accesses agree on; zero if they do not
  /// or if there is none.
  SmallVector<int64_t> distances;
  /// Whether an op since the last barrier has read or written the root.
  bool isRead = false, isWrittenSince = false;
};

/// Grows a run.
class PartRunFinder {
public:
  /// The run begins with `seed`; no op needs another one if `isIndependent`.
  PartRunFinder(PartCandidate &seed, bool isIndependent);

  /// Adds the op of `candidate` to the run; false if it does not fit.
  bool add(PartCandidate &candidate);
  /// True if the ops of the run may move behind `op`.
  bool isPassable(Operation *op);
  bool isFull() const { return ops.size() >= kMostOps; }
  /// What the run saves, in bytes that the GPU moves meanwhile; 0 if the ops
  /// are too few.
  int64_t getSavedBytes() const;
  PartRun take();

private:
  struct Access {
    Value root, buffer;
    bool isWrite;
    llvm::function_ref<int64_t(unsigned)> getDistance;
  };
  static void forEachAccess(const PartCandidate &candidate,
                            llvm::function_ref<void(const Access &)> visit);
  std::optional<unsigned> chooseLoop(const PartCandidate &candidate,
                                     unsigned axis, ArrayRef<unsigned> used);
  bool isConsistent(const PartCandidate &candidate, unsigned axis,
                    unsigned loop);
  bool mayOverlapOther(Value root, bool isWrite);
  bool needsOther(const PartCandidate &candidate) const;
  static int64_t chooseIndices(int64_t numIndices, int64_t narrowest);
  static int64_t getLostBytes(int64_t bytes, int64_t numIndices,
                              int64_t narrowest, int64_t adjacent);

  bool isIndependent;
  SmallVector<PartCandidate *> ops;
  /// The loops of each op along the axes, and whether it needs a barrier.
  SmallVector<SmallVector<unsigned>> loops;
  SmallVector<bool> needsBarrier;
  SmallVector<int64_t> axisSizes, axisStrides;
  llvm::MapVector<Value, RootUse> roots;
  /// Parts of roots at offsets that are not constant.
  llvm::SmallDenseSet<Value> views;
  int64_t numBytes = 0;
  /// What the run loses beside the ops alone.
  int64_t lostBytes = 0;
  /// The fewest bytes of an element.
  int64_t narrowest = 16;
};

} // namespace

PartRunFinder::PartRunFinder(PartCandidate &seed, bool isIndependent)
    : isIndependent(isIndependent) {
  if (isIndependent)
    return;
  // The axis with adjacent elements is the last.
  ArrayRef<int64_t> strides = seed.nest.outputs.front().strides;
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, strides.size()));
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::make_pair(-strides[a], a) < std::make_pair(-strides[b], b);
  });
  for (unsigned loop : order) {
    axisSizes.push_back(seed.nest.sizes[loop]);
    axisStrides.push_back(strides[loop]);
  }
}

void PartRunFinder::forEachAccess(
    const PartCandidate &candidate,
    llvm::function_ref<void(const Access &)> visit) {
  const LoopNest &nest = candidate.nest;
  auto visitAll = [&](ArrayRef<braid::kernels::Access> accesses, bool isWrite) {
    for (const braid::kernels::Access &access : accesses)
      visit({getRoot(access.buffer), access.buffer, isWrite,
             [&](unsigned loop) { return getDistance(access, nest, loop); }});
  };
  visitAll(nest.inputs, /*isWrite=*/false);
  visitAll(nest.outputs, /*isWrite=*/true);
  for (const CapturedRead &read : candidate.captured)
    visit({read.root, read.root, /*isWrite=*/false,
           [&](unsigned loop) { return getDistance(read, nest, loop); }});
}

bool PartRunFinder::isConsistent(const PartCandidate &candidate, unsigned axis,
                                 unsigned loop) {
  llvm::SmallDenseMap<Value, std::pair<int64_t, bool>> own;
  forEachAccess(candidate, [&](const Access &access) {
    int64_t distance = access.getDistance(loop);
    auto [entry, isNew] =
        own.try_emplace(access.root, distance, access.isWrite);
    if (!isNew) {
      if (entry->second.first != distance)
        entry->second.first = 0;
      entry->second.second |= access.isWrite;
    }
  });
  return llvm::all_of(own, [&](const auto &entry) {
    auto [distance, isWritten] = entry.second;
    auto *known = roots.find(entry.first);
    if (known == roots.end())
      return !isWritten || distance != 0;
    return !(isWritten || known->second.isWritten) ||
           (distance != 0 && known->second.distances[axis] == distance);
  });
}

std::optional<unsigned>
PartRunFinder::chooseLoop(const PartCandidate &candidate, unsigned axis,
                          ArrayRef<unsigned> used) {
  const LoopNest &nest = candidate.nest;
  std::optional<unsigned> found;
  for (unsigned loop = 0; loop < nest.getNumLoops(); ++loop) {
    if (nest.sizes[loop] != axisSizes[axis] || llvm::is_contained(used, loop) ||
        !isConsistent(candidate, axis, loop))
      continue;
    if (nest.outputs.front().strides[loop] == axisStrides[axis])
      return loop;
    if (!found)
      found = loop;
  }
  return found;
}

bool PartRunFinder::mayOverlapOther(Value root, bool isWrite) {
  return llvm::any_of(roots, [&](const auto &other) {
    return other.first != root && (isWrite || other.second.isWritten) &&
           mayOverlap(root, other.first);
  });
}

/// How many of `numIndices` indices a block computes, if elements have at least
/// `narrowest` bytes.
int64_t PartRunFinder::chooseIndices(int64_t numIndices, int64_t narrowest) {
  int64_t sector = kSectorBytes / narrowest;
  return std::max<int64_t>(
      {1,
       std::min(sector, static_cast<int64_t>(
                            llvm::bit_ceil(static_cast<uint64_t>(numIndices)))),
       static_cast<int64_t>(llvm::bit_floor(
           static_cast<uint64_t>(numIndices / kWantedBlocks)))});
}

/// What a run of ops that move `bytes` loses beside ops alone: too few blocks
/// leave a part of the GPU idle, and blocks that divide `adjacent` adjacent
/// elements read less than lines.
int64_t PartRunFinder::getLostBytes(int64_t bytes, int64_t numIndices,
                                    int64_t narrowest, int64_t adjacent) {
  int64_t indices = chooseIndices(numIndices, narrowest);
  int64_t blocks = llvm::divideCeil(numIndices, indices), lost = 0;
  if (blocks < kBusyBlocks)
    lost = bytes / blocks * (kBusyBlocks - blocks);
  int64_t piece = std::min(indices, adjacent) * narrowest;
  if (indices < adjacent && piece < kBytesOfLine)
    lost += bytes / piece * (kBytesOfLine - piece);
  return lost;
}

/// True if an op of the run and `candidate` may not run at once.
bool PartRunFinder::needsOther(const PartCandidate &candidate) const {
  bool needs = false;
  forEachAccess(candidate, [&](const Access &access) {
    auto *known = roots.find(access.root);
    needs |=
        known != roots.end() && (access.isWrite || known->second.isWritten);
  });
  return needs;
}

bool PartRunFinder::add(PartCandidate &candidate) {
  if (isIndependent &&
      (candidate.numBytes > kMostBytesAlone || needsOther(candidate)))
    return false;
  SmallVector<unsigned> chosen, kept;
  int64_t numIndices = 1;
  for (unsigned axis = 0; axis < axisSizes.size(); ++axis)
    if (std::optional<unsigned> loop = chooseLoop(candidate, axis, chosen)) {
      chosen.push_back(*loop);
      kept.push_back(axis);
      numIndices *= axisSizes[axis];
    }
  int64_t narrow = narrowest;
  bool isApart = true;
  // The roots of the op, with whether it writes them.
  llvm::SmallDenseMap<Value, bool> own;
  llvm::SmallDenseSet<Value> allViews = views;
  forEachAccess(candidate, [&](const Access &access) {
    own[access.root] |= access.isWrite;
    if (access.buffer != access.root)
      allViews.insert(access.buffer);
    isApart &= !mayOverlapOther(access.root, access.isWrite);
    narrow = std::min(narrow,
                      getByteSize(getElementTypeOrSelf(access.root.getType())));
  });
  // What the run loses has to be less than what the launches cost.
  int64_t bytes = numBytes + candidate.numBytes, lost = 0;
  if (!isIndependent) {
    bool hasAdjacent = !kept.empty() && axisStrides[kept.back()] == 1;
    lost = getLostBytes(bytes, numIndices, narrow,
                        hasAdjacent ? axisSizes[kept.back()] : 0);
  }
  if (!isApart || bytes > kMostBytesOfRun ||
      roots.size() + own.size() + 2 * allViews.size() > kMostRoots ||
      lost > static_cast<int64_t>(ops.size() + 1) * kBytesOfLaunch)
    return false;
  // Two roots of the op itself may be the same memory, too.
  for (auto [a, isWritten] : own)
    for (auto [b, _] : own)
      if (isWritten && a != b && mayOverlap(a, b))
        return false;

  auto keep = [&](auto &values) {
    for (auto [to, from] : llvm::enumerate(kept))
      values[to] = values[from];
    values.resize(kept.size());
  };
  keep(axisSizes);
  keep(axisStrides);
  for (auto &[root, use] : roots)
    keep(use.distances);
  for (SmallVector<unsigned> &other : loops)
    keep(other);
  bool needs = false;
  forEachAccess(candidate, [&](const Access &access) {
    auto *known = roots.find(access.root);
    needs |= known != roots.end() && (known->second.isWrittenSince ||
                                      (access.isWrite && known->second.isRead));
  });
  if (needs)
    for (auto &[root, use] : roots)
      use.isRead = use.isWrittenSince = false;
  forEachAccess(candidate, [&](const Access &access) {
    auto [entry, isNew] = roots.try_emplace(access.root);
    RootUse &use = entry->second;
    for (auto [axis, loop] : llvm::enumerate(chosen)) {
      int64_t distance = access.getDistance(loop);
      if (isNew)
        use.distances.push_back(distance);
      else if (use.distances[axis] != distance)
        use.distances[axis] = 0;
    }
    use.isWritten |= access.isWrite;
    use.isRead |= !access.isWrite;
    use.isWrittenSince |= access.isWrite;
  });
  ops.push_back(&candidate);
  views = std::move(allViews);
  loops.push_back(std::move(chosen));
  needsBarrier.push_back(needs);
  numBytes = bytes;
  lostBytes = lost;
  narrowest = narrow;
  return true;
}

int64_t PartRunFinder::getSavedBytes() const {
  if (ops.size() < (isIndependent ? kFewestIndependentOps : kFewestOps))
    return 0;
  return static_cast<int64_t>(ops.size()) * kBytesOfLaunch - lostBytes;
}

bool PartRunFinder::isPassable(Operation *op) {
  if (isa<memref::AllocOp>(op) || isMemoryEffectFree(op))
    return true;
  auto conflicts = [&](Value buffer, bool isWrite) {
    Value root = getRoot(buffer);
    return llvm::any_of(roots, [&](const auto &other) {
      return (isWrite || other.second.isWritten) &&
             mayOverlap(root, other.first);
    });
  };
  // A body may read other buffers than the operands.
  if (op->getNumRegions() > 0) {
    if (!isa<linalg::LinalgOp>(op))
      return false;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value value : getCaptured(block))
          if (isa<MemRefType>(value.getType()) &&
              conflicts(value, /*isWrite=*/false))
            return false;
  }
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface)
    return false;
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  // What an op frees, as the request that a wait waits for, orders more than
  // its operands tell.
  return llvm::all_of(
      effects, [&](const MemoryEffects::EffectInstance &effect) {
        if (isa<MemoryEffects::Free>(effect.getEffect()))
          return false;
        if (effect.getResource() != SideEffects::DefaultResource::get())
          return true;
        Value value = effect.getValue();
        return value && isa<MemRefType>(value.getType()) &&
               !conflicts(value, isa<MemoryEffects::Write>(effect.getEffect()));
      });
}

PartRun PartRunFinder::take() {
  PartRun run;
  run.isIndependent = isIndependent;
  run.axisSizes = axisSizes;
  for (int64_t size : axisSizes)
    run.numIndices *= size;
  run.indicesOfBlock = chooseIndices(run.numIndices, narrowest);
  for (auto [candidate, along, barrier] :
       llvm::zip_equal(ops, loops, needsBarrier)) {
    candidate->isTaken = true;
    run.ops.push_back(PartOp{candidate->op, std::move(candidate->copy),
                             std::move(candidate->nest), std::move(along),
                             barrier});
  }
  return run;
}

std::vector<PartRun> braid::kernels::findPartRuns(
    RewriterBase &rewriter, Block &block,
    llvm::function_ref<bool(Operation *)> isCandidate) {
  SmallVector<Operation *> order;
  SmallVector<std::unique_ptr<PartCandidate>> candidates;
  for (Operation &op : block)
    order.push_back(&op);
  for (Operation *op : order)
    candidates.push_back(isCandidate(op) ? matchPart(rewriter, op) : nullptr);
  auto grow = [&](size_t start, bool isIndependent) {
    PartRunFinder finder(*candidates[start], isIndependent);
    if (!finder.add(*candidates[start]))
      return finder;
    unsigned numSkipped = 0;
    for (size_t next = start + 1;
         next < order.size() && !finder.isFull() && numSkipped < kMostSkipped;
         ++next) {
      PartCandidate *candidate = candidates[next].get();
      if (candidate && !candidate->isTaken && finder.add(*candidate)) {
        numSkipped = 0;
        continue;
      }
      if (!finder.isPassable(order[next]))
        break;
      numSkipped += !isMemoryEffectFree(order[next]);
    }
    return finder;
  };
  std::vector<PartRun> runs;
  for (size_t start = 0; start < order.size(); ++start) {
    if (!candidates[start] || candidates[start]->isTaken)
      continue;
    PartRunFinder independent = grow(start, /*isIndependent=*/true);
    PartRunFinder together = grow(start, /*isIndependent=*/false);
    PartRunFinder &best = together.getSavedBytes() > independent.getSavedBytes()
                              ? together
                              : independent;
    if (best.getSavedBytes() > 0)
      runs.push_back(best.take());
  }
  return runs;
}
