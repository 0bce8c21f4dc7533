//===- RowRun.cpp - Ops that work on the same rows ------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowRun.h"

#include "../../LinalgToBraidRT/MatmulMatch.h"
#include "../BufferAddress.h"
#include "../KernelBody.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <deque>
#include <numeric>

using namespace mlir;
using namespace braid::kernels;

int64_t RowRun::getNumRows() const {
  int64_t product = 1;
  for (int64_t size : rowSizes)
    product *= size;
  return product;
}

bool RowRun::contains(Operation *op) const {
  return llvm::any_of(ops, [&](const RowOp &rowOp) { return rowOp.op == op; });
}

bool RowRun::isDeadBehind(Value buffer) const {
  return buffer.getDefiningOp<memref::AllocOp>() &&
         llvm::all_of(buffer.getUsers(), [&](Operation *user) {
           return contains(user) || isa<memref::DeallocOp>(user);
         });
}

int64_t braid::kernels::getReductionLanes(const RowOp &op, size_t numRowLoops,
                                          int64_t length) {
  if (!isVectorizable(*op.nest.body))
    return 1;
  // Registers need no wider vectors.
  int64_t lanes = 8, narrowest = kAccessBytes;
  for (const Access &access : op.nest.inputs) {
    if (access.argument.use_empty() || access.strides.back() == 0 ||
        access.elementType.isInteger(1))
      continue;
    int64_t size = getByteSize(access.elementType);
    narrowest = std::min(narrowest, size);
    int64_t alignment =
        std::gcd(getAlignment(access.buffer), access.base * size);
    for (int64_t stride : ArrayRef(access.strides).take_front(numRowLoops))
      alignment = std::gcd(alignment, stride * size);
    // Vectors of more bytes than one access are loaded in parts.
    if (alignment % kAccessBytes != 0)
      while (lanes > 1 && alignment % (lanes * size) != 0)
        lanes /= 2;
  }
  // What is read once should be read by whole sectors: 256,000 f32 in vectors
  // of 8 come with 2.7 TB/s on an H200.
  if (length > kMaxRowLength)
    lanes = std::min(lanes, kAccessBytes / narrowest);
  while (length % lanes != 0)
    lanes /= 2;
  return lanes;
}

/// The ops of a run access at most as many buffers: a kernel takes 4,352 bytes
/// of arguments (CUDA C++ Programming Guide, section on `__global__`).
static constexpr size_t kMostRunBuffers = 480;

/// Threads compute parts of vectors for which a body has no vector form: more
/// ops would make the code too long.
static constexpr size_t kMostRepeatedOps = 256;

namespace {

/// True if the run may continue after `op`, which then moves before the run.
bool isPassable(Operation *op) {
  return isa<memref::AllocOp>(op) || isMemoryEffectFree(op);
}

/// True if the body may be computed for all elements of a thread.
bool mayRepeat(Block &body) {
  size_t count = 0;
  body.walk([&](Operation *) { ++count; });
  return isVectorizable(body) || count <= kMostRepeatedOps;
}

/// True if `writer` writes no buffer that the body of `reader` loads from, at
/// whatever place.
bool isIndependentOfReads(const RowOp &reader, const RowOp &writer) {
  return llvm::none_of(getCaptured(*reader.nest.body), [&](Value value) {
    return isa<BaseMemRefType>(value.getType()) &&
           llvm::any_of(writer.nest.outputs, [&](const Access &write) {
             return mayOverlap(write.buffer, value);
           });
  });
}

/// Grows a run around an op with reductions.
class RunFinder {
public:
  /// `withElements`: whether the run may have ops that compute elements.
  explicit RunFinder(bool withElements) : withElements(withElements) {}

  /// The run around `seed`, or of `seed` alone.
  RowRun find(linalg::LinalgOp seed, bool isAlone = false);

private:
  bool setRows(const LoopNest &nest);
  /// Matches `op` to the rows of the run.
  std::optional<RowOp> match(linalg::LinalgOp op);
  /// True if `op` and the ops of the run compute each row independently of
  /// other rows.
  bool isIndependent(const RowOp &op, bool isFirst);
  bool conflicts(const Access &write, const Access &other);
  void add(RowOp op, bool isFirst);
  /// True if the run may access the buffers of `op`, too.
  bool mayAccess(const RowOp &op) const;
  void extend(linalg::LinalgOp seed, bool forwards);
  void trim(Operation *seed);
  bool collapse();
  int64_t getLanes(const RowOp &op) const {
    int64_t length = 1;
    for (int64_t size : ArrayRef(sizes).drop_front(numRowLoops))
      length *= size;
    return getReductionLanes(op, numRowLoops, length);
  }

  bool withElements;
  std::deque<RowOp> ops;
  llvm::SmallDenseSet<Value> buffers;
  /// The sizes of the loops of an op on whole rows, and the number of loops
  /// over rows.
  SmallVector<int64_t> sizes;
  unsigned numRowLoops = 0;
  /// The lanes of all reductions of the run.
  int64_t lanes = 1;
};

bool RunFinder::setRows(const LoopNest &nest) {
  numRowLoops = 0;
  while (numRowLoops < nest.getNumLoops() && !nest.isReduction[numRowLoops])
    ++numRowLoops;
  sizes = nest.sizes;
  return numRowLoops < nest.getNumLoops() &&
         llvm::all_of(
             ArrayRef(nest.isReduction).drop_front(numRowLoops),
             [](bool isReduction) { return isReduction; });
}

std::optional<RowOp> RunFinder::match(linalg::LinalgOp op) {
  if (!op || !op.hasPureBufferSemantics() ||
      op->hasAttr(braid::kOverwritesAttrName))
    return std::nullopt;
  std::optional<LoopNest> nest = getLoopNest(op);
  if (!nest || nest->getNumIterations() == 0 || !isElementwise(*nest->body))
    return std::nullopt;
  RowOp result{op, std::move(*nest), RowOp::Elements, {}};
  LoopNest &loops = result.nest;
  bool isWhole = ArrayRef(loops.sizes) == ArrayRef(sizes);
  if (loops.hasReduction()) {
    if (!isWhole || llvm::count(loops.isReduction, true) !=
                        static_cast<int64_t>(sizes.size() - numRowLoops))
      return std::nullopt;
    for (unsigned loop = 0; loop < numRowLoops; ++loop)
      if (loops.isReduction[loop])
        return std::nullopt;
    std::optional<SmallVector<Combiner>> combiners = matchCombiners(loops);
    if (!combiners)
      return std::nullopt;
    result.kind = RowOp::Reduction;
    result.combiners = std::move(*combiners);
  } else if (!isWhole) {
    if (ArrayRef(loops.sizes) != ArrayRef(sizes).take_front(numRowLoops))
      return std::nullopt;
    result.kind = RowOp::Row;
  } else if (!withElements) {
    return std::nullopt;
  }
  // Elements of a row are adjacent in memory, or there is one for the row. Of a
  // square the columns, too, have the sizes of the rows.
  auto isAdjacent = [](const Access *access) {
    return access->strides.back() == 0 || access->strides.back() == 1;
  };
  if (result.kind != RowOp::Row &&
      !llvm::all_of(loops.getAccesses(), isAdjacent))
    return std::nullopt;
  if (!isIndependentOfReads(result, result))
    return std::nullopt;
  return result;
}

/// True if both access the same element in every iteration.
static bool isSameElement(const Access &a, const Access &b, unsigned numLoops) {
  if (a.buffer != b.buffer || a.base != b.base)
    return false;
  for (unsigned loop = 0; loop < numLoops; ++loop) {
    auto strideOf = [&](const Access &access) {
      return loop < access.strides.size() ? access.strides[loop] : 0;
    };
    if (strideOf(a) != strideOf(b))
      return false;
  }
  return true;
}

bool RunFinder::conflicts(const Access &write, const Access &other) {
  return !isSameElement(write, other, sizes.size()) &&
         mayOverlap(write.buffer, other.buffer);
}

bool RunFinder::isIndependent(const RowOp &op, bool isFirst) {
  for (const RowOp &other : ops) {
    if (!isIndependentOfReads(op, other) || !isIndependentOfReads(other, op))
      return false;
    const RowOp &earlier = isFirst ? op : other;
    const RowOp &later = isFirst ? other : op;
    for (const Access &write : earlier.nest.outputs)
      for (const Access *access : later.nest.getAccesses())
        if (conflicts(write, *access))
          return false;
    for (const Access &write : later.nest.outputs)
      for (const Access *access : earlier.nest.getAccesses())
        if (conflicts(write, *access))
          return false;
  }
  return true;
}

bool RunFinder::mayAccess(const RowOp &op) const {
  size_t count = buffers.size();
  for (const Access *access : op.nest.getAccesses())
    count += !buffers.contains(access->buffer);
  return count <= kMostRunBuffers;
}

void RunFinder::add(RowOp op, bool isFirst) {
  for (const Access *access : op.nest.getAccesses())
    buffers.insert(access->buffer);
  if (isFirst)
    ops.push_front(std::move(op));
  else
    ops.push_back(std::move(op));
}

void RunFinder::extend(linalg::LinalgOp seed, bool forwards) {
  for (Operation *op = forwards ? seed->getNextNode() : seed->getPrevNode(); op;
       op = forwards ? op->getNextNode() : op->getPrevNode()) {
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    if (!structured) {
      if (isPassable(op))
        continue;
      return;
    }
    std::optional<RowOp> next = match(structured);
    if (!next || !mayAccess(*next) ||
        !isIndependent(*next, /*isFirst=*/!forwards) ||
        (next->kind == RowOp::Reduction && getLanes(*next) != lanes) ||
        (next->kind == RowOp::Elements && lanes > 1 &&
         !mayRepeat(*next->nest.body)))
      return;
    add(std::move(*next), /*isFirst=*/!forwards);
  }
}

/// Removes ops at both ends that share no buffer with the other ops.
void RunFinder::trim(Operation *seed) {
  auto isLinked = [&](const RowOp &op) {
    return op.op == seed || llvm::any_of(ops, [&](const RowOp &other) {
             return &other != &op &&
                    llvm::any_of(op.op->getOperands(), [&](Value value) {
                      return isa<MemRefType>(value.getType()) &&
                             llvm::is_contained(other.op->getOperands(), value);
                    });
           });
  };
  while (!isLinked(ops.front()))
    ops.pop_front();
  while (!isLinked(ops.back()))
    ops.pop_back();
}

/// Merges loops that all ops allow to merge; false if a row is still more than
/// one loop.
bool RunFinder::collapse() {
  for (unsigned loop = sizes.size(); loop-- > 1;) {
    unsigned outer = loop - 1;
    if (loop == numRowLoops)
      continue;
    auto isMergeable = [&](const RowOp &op) {
      return loop >= op.nest.getNumLoops() ||
             llvm::all_of(op.nest.getAccesses(), [&](const Access *access) {
               return access->strides[outer] ==
                      access->strides[loop] * sizes[loop];
             });
    };
    if (!llvm::all_of(ops, isMergeable))
      continue;
    for (RowOp &op : ops)
      if (loop < op.nest.getNumLoops())
        op.nest.merge(loop);
    sizes[outer] *= sizes[loop];
    sizes.erase(sizes.begin() + loop);
    if (loop < numRowLoops)
      --numRowLoops;
  }
  return sizes.size() == numRowLoops + 1;
}

RowRun RunFinder::find(linalg::LinalgOp seed, bool isAlone) {
  std::optional<LoopNest> nest = getLoopNest(seed);
  if (!nest || !setRows(*nest))
    return {};
  std::optional<RowOp> first = match(seed);
  if (!first)
    return {};
  lanes = getLanes(*first);
  add(std::move(*first), /*isFirst=*/true);
  if (!isAlone) {
    extend(seed, /*forwards=*/false);
    extend(seed, /*forwards=*/true);
    trim(seed);
  }
  RowRun run;
  // Others of the run must not decide how the seed is computed.
  if (!collapse())
    return isAlone ? RowRun() : RunFinder(withElements).find(seed, true);
  run.rowSizes.assign(sizes.begin(), sizes.begin() + numRowLoops);
  run.length = sizes.back();
  run.ops.assign(std::make_move_iterator(ops.begin()),
                 std::make_move_iterator(ops.end()));
  return run;
}

} // namespace

RowRun braid::kernels::findRowRun(linalg::LinalgOp seed) {
  RowRun run = RunFinder(/*withElements=*/true).find(seed);
  // Elements of a row that does not fit in registers stay in memory.
  if (run.length > kMaxRowLength)
    run = RunFinder(/*withElements=*/false).find(seed);
  return run;
}
