//===- PersistentKernel.h - Multiprocessors of a kernel ---------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The model of machines whose multiprocessors are queued for
// (`MultiprocessorModel::Queued`). Of S multiprocessors:
//
// 1. An operation on a lane needs all of its `d` multiprocessors at once, and
// holds them to its end. Beside a persistent kernel, one whose blocks come in
// clusters of c > 2 finds room when d + (c - 1) * G are free, G being the
// groups that the multiprocessors are built in: that many are enough however
// the free ones are spread. Clusters of two fit into the pairs that a
// persistent kernel leaves. A copy engine needs one for a moment, for the
// blocks that tell the ranks to begin.
//
// 2. Operations queue in the order of their requests. While one waits, no other
// op gets multiprocessors that become free. The next operation of a lane
// requests its multiprocessors when the one before it has ended, behind all
// requests that are queued. The first of a lane requests them `laneLaunchNs`
// after the stream has started it, for an event and a launch: the next kernel
// of the stream may be faster.
//
// 3. A persistent kernel (a matmul) of t tiles has b = min(S, its target, t)
// blocks, one a multiprocessor. It begins on those of b that are free, at least
// one; its other blocks begin as soon as multiprocessors are free and no
// operation waits. A block takes one tile after another from a common pool,
// each of which takes tileNs = cost / ceil(t / b) at full speed, and frees its
// multiprocessor when no tile is left. The kernel ends with its last tile. Its
// blocks come in pairs: blocks of operations that come one by one take more
// multiprocessors from it than they are (`takenFromPairs`), but take none from
// a kernel that has begun.
//
// 4. Any other kernel yields its multiprocessors: at the end of the wave that
// runs when the operation requests them, or at once if it has no tiles. Then
// its arithmetic takes longer (Contention.h).
//
// 5. A kernel and an operation that run beside each other slow each other down
// (Contention.h). The times of a kernel are on its own clock, which shows how
// much of its cost has passed.
//
// Source: waits and times of matmuls beside collectives on H200s, which
// test/Unit/Schedule/Simulation/ContentionCells.json lists cell by cell. NCCL's
// kernels come in clusters of 4 on Hopper unless their blocks are limited, and
// then found no room beside a matmul on 108 of 132 multiprocessors, where
// kernels without clusters did.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_MODEL_PERSISTENTKERNEL_H
#define BRAID_LIB_SCHEDULE_MODEL_PERSISTENTKERNEL_H

#include "braid/Schedule/Model/Machine.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace braid {

/// Whether the blocks of an operation on a lane come in clusters that need more
/// than a pair of multiprocessors side by side.
inline bool comesInGroups(const ResourceDemand &demand) {
  return demand.clusterSize > 2;
}

/// The multiprocessors that an operation on a lane needs to begin; `isCrowded`
/// says that a persistent kernel runs.
int64_t getNeededMultiprocessors(const ResourceDemand &demand,
                                 const MachineModel &machine, bool isCrowded);

/// The multiprocessors that it holds while it runs.
inline int64_t getHeldMultiprocessors(const ResourceDemand &demand,
                                      const MachineModel &machine) {
  return std::clamp<int64_t>(demand.multiprocessors, 0,
                             machine.multiprocessors);
}

/// The multiprocessors on which a persistent kernel finds no room while
/// operations hold `single` with blocks that come one by one: between two
/// figures of the machine on a straight line, beyond the last as many more as
/// there are blocks more.
int64_t getTakenFromPairs(const MachineModel &machine, int64_t single);

/// The blocks of the kernel on the stream, by its own clock.
class PersistentKernel {
public:
  /// A kernel of `costNs` > 0 on a machine of which `free` > 0 multiprocessors
  /// are free.
  void begin(int64_t costNs, const ResourceDemand &demand,
             const MachineModel &machine, int64_t free);
  /// Takes as many of `count` more free multiprocessors as the kernel can use.
  void join(int64_t count, double clock);

  /// The blocks that have no multiprocessor at `clock` and would still find
  /// tiles.
  int64_t getPending(double clock) const;
  /// The multiprocessors that it holds at `clock`.
  int64_t getHeld(double clock) const;
  /// When the next of them leave, after `clock`.
  std::optional<double> getNextLeave(double clock) const;
  /// The end if no more blocks join.
  double getEnd() const { return leaves.back().clock; }

  /// Two events of a clock that are closer are the same one.
  static constexpr double tolerance = 1.0 / 512;

  /// Blocks and the time at which they join or leave.
  struct Blocks {
    double clock;
    int64_t count;
    bool operator==(const Blocks &other) const {
      return clock == other.clock && count == other.count;
    }
  };
  /// The blocks that have joined. With the op they give all its times.
  llvm::ArrayRef<Blocks> getJoined() const { return joined; }

private:
  /// Assigns all tiles to blocks.
  void findLeaves();

  int64_t tiles = 0, pending = 0;
  double tileNs = 0;
  /// The time at which the last tile is assigned.
  double outClock = 0;
  llvm::SmallVector<Blocks, 2> joined;
  /// Ascending.
  llvm::SmallVector<Blocks, 4> leaves;
};

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_MODEL_PERSISTENTKERNEL_H
