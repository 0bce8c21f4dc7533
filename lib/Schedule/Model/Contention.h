//===- Contention.h - How ops slow each other down --------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rates at which ops run that share a machine. It is the one place that
// says so: the simulator and the lower bounds ask it. It knows nothing of IR.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_SCHEDULE_MODEL_CONTENTION_H
#define BRAID_LIB_SCHEDULE_MODEL_CONTENTION_H

#include "braid/Schedule/Model/Machine.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace braid {

/// An op that is running.
struct RunningOp {
  /// Nanoseconds that it takes alone; greater than 0.
  int64_t costNs = 0;
  const ResourceDemand *demand = nullptr;
  /// Its lane; -1 on the compute stream.
  int32_t lane = -1;
  /// What `shareMachine` says: the part of a nanosecond of its cost that it
  /// gets done in a nanosecond; greater than 0, at most 1.
  double rate = 1;
};

/// The factor, at least 1, by which the arithmetic of a compute op takes longer
/// when others hold `held` of the machine's multiprocessors, one of which is
/// always left: waves(tiles, all - held) / waves(tiles, all), with
/// waves(t, m) = ceil(t / m), or all / (all - held) without tiles. 1 on a
/// machine that has no multiprocessors to share.
double getArithmeticStretch(const ResourceDemand &demand,
                            const MachineModel &machine, int64_t held);

/// The rate of a compute op of `costNs` > 0 beside operations that hold `held`
/// multiprocessors, before it has to share memory: costNs / max(costNs,
/// arithmetic * stretch), as a roofline says. A persistent kernel on a machine
/// whose multiprocessors are queued for keeps those that it has.
double getComputeRate(int64_t costNs, const ResourceDemand &demand,
                      const MachineModel &machine, int64_t held);

/// How many times as long a compute op of `costNs` and an operation on a lane
/// take beside each other on a machine whose multiprocessors are queued for;
/// no effect on other machines, or where one of them asks for nothing.
Interference getInterference(int64_t costNs, const ResourceDemand &compute,
                             const ResourceDemand &onLane,
                             const MachineModel &machine);

/// Bytes per ns of device memory that an op of `costNs` > 0 moves at full rate,
/// at most all that there are; 0 if memory is not shared.
double getMemoryDemand(int64_t costNs, const ResourceDemand &demand,
                       const MachineModel &machine);

/// The same for `link`, which may be -1: the link of the op's lane.
double getLinkDemand(int64_t costNs, const ResourceDemand &demand,
                     const MachineModel &machine, int32_t link);

/// The link of `lane`, -1 if it has one of its own.
inline int32_t getLink(const MachineModel &machine, int64_t lane) {
  return lane >= 0 && lane < int64_t(machine.linkOfLane.size())
             ? machine.linkOfLane[lane]
             : -1;
}

/// True if compute with `demand` keeps the multiprocessors that it has until
/// none of its tiles is left.
inline bool isPersistentOn(const ResourceDemand &demand,
                           const MachineModel &machine) {
  return machine.isQueued() && demand.isPersistent && demand.tiles > 0;
}

/// True if `demand` can be felt by others, or others by it, on `machine`.
bool isShared(const ResourceDemand &demand, const MachineModel &machine);

/// Sets the rates of the ops that run at the same time, one after the other:
///   1. Compute loses the multiprocessors that operations hold.
///   2. Where operations ask for more of a link than it has, each gets the same
///      part of what it asks for.
///   3. Where all ops together, at the rates so far, ask for more memory
///      bandwidth than there is, each gets the same part of what it asks for.
/// On a machine whose multiprocessors are queued for, the compute op and the
/// operations then take longer by their interference, the compute op by the
/// largest one.
/// What an op cannot use any more because of a later step is not handed on.
/// `linkDemand` is scratch space. Linear in the ops.
void shareMachine(llvm::MutableArrayRef<RunningOp> running,
                  const MachineModel &machine, std::vector<double> &linkDemand);

} // namespace braid

#endif // BRAID_LIB_SCHEDULE_MODEL_CONTENTION_H
