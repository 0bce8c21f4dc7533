//===- Graphs.h - Invocations recorded as graphs ----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_DEVICE_GRAPHS_H
#define BRAID_RUNTIME_CUDA_DEVICE_GRAPHS_H

#include "CUDA/Device/Gpu.h"
#include "braid-rt/Program.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace braid::rt::cuda {

/// Invocations of one rank as graphs. The first invocation of an entry with
/// some arguments runs as it is and creates what later ones reuse. The second
/// one is recorded by stream capture, which includes other streams that fork
/// from the compute stream and join it. Later ones replay the recording.
/// Arguments are the same when addresses, sizes, strides and scalars are.
class Graphs {
public:
  explicit Graphs(Gpu &gpu) : gpu(gpu) {}
  ~Graphs() { forget(); }
  Graphs(const Graphs &) = delete;
  Graphs &operator=(const Graphs &) = delete;

  /// Throws an Error with the reason if a program cannot run as a graph.
  static void checkProgram(const braid_rt_program &program);

  /// The mode of an invocation.
  enum class Mode { Run, Record, Replay };

  /// Chooses the mode. Begins a recording, or selects the recording to replay.
  Mode begin(const braid_rt_entry &entry, void **args);

  /// Ends a recording and selects it. Throws an Error if the recording is
  /// broken.
  void finish();

  /// Launches the selected recording on the compute stream.
  void launch();

  /// The spans of the selected recording; null without a trace.
  const Timeline::Recording *spans() const { return selected->spans.get(); }

  /// Drops all recordings, including a recording in progress.
  void forget();

  /// The number of recordings that a device keeps; the least recently used one
  /// is dropped first.
  static constexpr size_t capacity = 16;

private:
  /// The entry and the contents of its arguments.
  using Key = std::vector<uint64_t>;
  struct KeyHash {
    size_t operator()(const Key &key) const;
  };
  struct Recording {
    GraphExec graph = nullptr; ///< Null until it has been recorded.
    /// The spans of a trace; null without one.
    std::shared_ptr<const Timeline::Recording> spans;
    int64_t lastUse = 0;
  };

  static Key describe(const braid_rt_entry &entry, void **args);
  void dropOldest();

  Gpu &gpu;
  std::unordered_map<Key, Recording, KeyHash> recordings;
  Recording *selected = nullptr;
  int64_t uses = 0;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_DEVICE_GRAPHS_H
