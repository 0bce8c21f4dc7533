//===- Machine.h - What ops share while they run ----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The machine as the simulator sees it: streams and lanes each run one op at a
// time; beside that, ops share multiprocessors, memory bandwidth and links. It
// knows nothing of IR.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_SCHEDULE_MODEL_MACHINE_H
#define BRAID_SCHEDULE_MODEL_MACHINE_H

#include <cstdint>
#include <vector>

namespace braid {

/// The demand of an op on the machine while it runs. An op without demands (all
/// zero) neither slows other ops nor is slowed by them.
struct ResourceDemand {
  /// Of compute: the nanoseconds that its arithmetic takes on all
  /// multiprocessors, at most its cost. It stretches when operations on lanes
  /// hold some of them.
  int64_t arithmeticNs = 0;
  /// Of compute: its thread blocks, which run in waves of one a multiprocessor,
  /// so that the last wave costs as much as a full one. 0: its arithmetic
  /// spreads evenly.
  int64_t tiles = 0;
  /// Of an operation on a lane: the multiprocessors that it holds; 0 for one
  /// that copy engines run.
  int32_t multiprocessors = 0;
  /// Bytes of device memory that it reads and writes.
  int64_t memoryBytes = 0;
  /// Of an operation on a lane: bytes that it sends over the link of the lane.
  int64_t linkBytes = 0;
  /// Of compute on a machine whose multiprocessors are queued for: its blocks
  /// stay on their multiprocessors until no tile is left (a persistent kernel).
  bool isPersistent = false;
  /// Of a persistent kernel: the multiprocessors that it takes at most; 0: all.
  int32_t blocks = 0;
  /// Of an operation on a lane: its blocks come in clusters of so many, which
  /// need neighbouring multiprocessors; 0 or 1: they come one by one.
  int32_t clusterSize = 0;
  /// Of an operation on a lane: its data moves in one direction. True for all
  /// collectives but all_reduce.
  bool isOneWay = false;
};

/// How operations on lanes get the multiprocessors that they need.
enum class MultiprocessorModel : uint8_t {
  /// At once; compute continues on the remaining ones.
  Taken,
  /// When the ops that hold them free them (ContentionSimulator.h).
  Queued,
};

/// How many times as long two ops take that run at the same time, each on
/// multiprocessors of its own: for memory, caches, links, power and clocks.
struct Interference {
  double compute = 1;
  double communication = 1;
};

/// The compute and the engines whose interference is told apart. Kernels of
/// all_reduce move data in both directions; matmuls slow down kernels that move
/// data in one direction, those of all other collectives, by more.
enum class ComputeClass : uint8_t { Matmul, Elementwise };
enum class LaneEngine : uint8_t { Kernel, CopyEngine, OneWayKernel };

/// What the blocks of operations that come one by one take from persistent
/// kernels, whose blocks come in clusters of two.
struct TakenFromPairs {
  /// The blocks, each on a multiprocessor of its own.
  int32_t blocks = 0;
  /// The multiprocessors that find no pair; at least `blocks`.
  int32_t multiprocessors = 0;
};

/// How ops on a machine slow each other down, as far as that was measured.
struct ContentionFigures {
  MultiprocessorModel multiprocessorModel = MultiprocessorModel::Taken;
  /// With queues: the groups (GPCs) of multiprocessors; a cluster of blocks
  /// fits in one group only. 0: clusters fit wherever there are multiprocessors
  /// enough.
  int32_t processorGroups = 0;
  /// With queues: the least nanoseconds from the start of an operation on the
  /// stream to the request of its kernel for multiprocessors: an event between
  /// two streams and a launch.
  int64_t laneLaunchNs = 0;
  /// The nanoseconds for which the host is busy with the launch of an op on the
  /// stream, and with the start of an operation on a lane; it issues all ops in
  /// their order. 0: nothing waits for the host, as in a CUDA graph.
  int64_t hostLaunchNs = 0;
  int64_t hostStartNs = 0;
  /// With queues: the multiprocessors that a matmul has to leave to an
  /// operation by copy engines, for the kernel that copies a rank's own part.
  /// With fewer, the operation takes about as long as the matmul.
  int32_t copyMultiprocessors = 4;
  /// With queues: ascending in both. Two multiprocessors (a TPC) have room for
  /// a pair of blocks, and single blocks go to pairs of their own first. Empty:
  /// single blocks take as many multiprocessors as they are.
  std::vector<TakenFromPairs> takenFromPairs;
  /// With queues: by `ComputeClass` and `LaneEngine`.
  Interference interference[2][3];
};

/// A machine. The default is the textbook machine (`ideal`), where nothing is
/// shared and nothing takes time to launch.
struct MachineModel : ContentionFigures {
  /// 0: operations take none from compute.
  int32_t multiprocessors = 0;
  /// Bytes per ns of the device memory; 0: the memory is not shared.
  double memoryBandwidth = 0;
  /// Nanoseconds between two ops on the compute stream: each op with a cost
  /// takes so much longer, but for those that stand for a body, whose cost has
  /// the launches of the body in it.
  int64_t launchNs = 0;
  /// The link that each lane sends over, by lane. A lane that is not listed, or
  /// listed with -1, has one of its own.
  std::vector<int32_t> linkOfLane;
  /// Bytes per ns of each link; 0: the link is not shared.
  std::vector<double> linkBandwidth;

  /// True if ops may wait for the host.
  bool hasHost() const { return hostLaunchNs > 0 || hostStartNs > 0; }

  bool isQueued() const {
    return multiprocessorModel == MultiprocessorModel::Queued &&
           multiprocessors > 0;
  }

  /// The launch gap before an op of `costNs` on the stream; an op that stands
  /// for a body has the launches of the body in its cost.
  int64_t getLaunchGap(int64_t costNs, bool isBody) const {
    return costNs > 0 && !isBody ? launchNs : 0;
  }

  /// True if ops may slow each other down or wait for the host. Otherwise each
  /// takes its cost (and its launch) whenever it runs.
  bool hasContention() const {
    if (multiprocessors > 0 || memoryBandwidth > 0 || hasHost())
      return true;
    for (int32_t link : linkOfLane)
      if (link >= 0 && linkBandwidth[link] > 0)
        return true;
    return false;
  }
};

} // namespace braid

#endif // BRAID_SCHEDULE_MODEL_MACHINE_H
