//===- ComputeGraphs.h - Neighbouring calls as graphs -----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_DEVICE_COMPUTEGRAPHS_H
#define BRAID_RUNTIME_CUDA_DEVICE_COMPUTEGRAPHS_H

#include "CUDA/Device/ComputeCalls.h"
#include "CUDA/Device/Gpu.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace braid::rt::cuda {

/// Runs of calls without anything in between that orders the compute stream
/// with other work (*segments*), each launched as one graph, which takes the
/// host less time than its calls.
///
/// A segment is recognized by its first call. Its first run records the calls,
/// its second one compares them. If they are equal, the graph is made when the
/// invocation has ended, so that nothing is created while other work runs. In
/// later runs calls that are equal to the recorded ones wait on the host; the
/// last one launches the graph. If another call or the end of the segment comes
/// first, the calls that wait are made one by one. Graphs contain no collective
/// and no event, so the order of the streams is that of the calls.
class ComputeGraphs final : public WaitingCalls {
public:
  /// Segments of fewer than `fewest` calls get no graph.
  ComputeGraphs(Gpu &gpu, const CallTargets &targets, int64_t fewest);
  ~ComputeGraphs() override;
  ComputeGraphs(const ComputeGraphs &) = delete;
  ComputeGraphs &operator=(const ComputeGraphs &) = delete;

  /// Returns true if the call waits or has been launched with the graph;
  /// otherwise the caller makes the call.
  bool take(const CallWords &call);

  /// Ends the segment: makes the calls that wait.
  void makeAll() override;

  /// Makes the graphs of segments that repeat. All work of the device must have
  /// ended.
  void makeGraphs();

  /// Forgets all segments, and the calls that wait.
  void forget();

  /// Later calls are made at once: code outside of the device has the stream.
  void stop();

  /// A longer segment is divided, so that the device does not wait for the last
  /// of many calls.
  static constexpr size_t mostCalls = 128;
  /// Further segments are not recorded until an invocation has ended that has
  /// not used all of them.
  static constexpr size_t mostSegments = 1024;

private:
  struct Segment {
    CallWords words;
    std::vector<size_t> ends; ///< Of each call in `words`.
    GraphExec graph = nullptr;
    bool refused = false; ///< Its calls are made at once.
    int64_t lastUse = 0;  ///< The number of the invocation.
    /// Recordings that had to be repeated, and runs of the graph that other
    /// calls cut short, less the complete ones.
    int32_t failures = 0;
  };
  struct Hash {
    size_t operator()(const CallWords &words) const;
  };
  enum class State { Between, Recording, Following, Passing };

  bool follow(const CallWords &call);
  bool leave(const CallWords *call);
  void append(const CallWords &call);
  void truncate();
  void complete();
  void makeFirst(size_t count);
  void makeGraph(Segment &segment);
  void refuse(Segment &segment) const;
  bool hasFailedOften(Segment &segment) const;
  void dropUnused();

  Gpu &gpu;
  const CallTargets targets;
  const size_t fewest;
  std::unordered_map<CallWords, Segment, Hash> segments; ///< By first call.
  std::vector<Segment *> repeated; ///< Those that get a graph.
  State state = State::Between;
  Segment *current = nullptr;
  size_t next = 0; ///< The call that follows in `current`.
  int64_t invocation = 0;
  bool stopped = false;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_DEVICE_COMPUTEGRAPHS_H
