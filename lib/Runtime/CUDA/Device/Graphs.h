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

/// Invocations of one rank as graphs. The first invocation with a key runs as
/// it is and creates what later ones reuse. The second one is recorded by
/// stream capture, which includes other streams that fork from the compute
/// stream and join it. Later ones replay the recording.
class Graphs {
public:
  explicit Graphs(Gpu &gpu) : gpu(gpu) {}
  ~Graphs() { forget(); }
  Graphs(const Graphs &) = delete;
  Graphs &operator=(const Graphs &) = delete;

  /// True if an entry of a program can run as a graph.
  static bool canRecord(const braid_rt_program &program,
                        const braid_rt_entry &entry);

  /// Throws an Error with the reason if a program cannot run as a graph.
  static void checkProgram(const braid_rt_program &program);

  /// What tells invocations apart.
  using Key = std::vector<uint64_t>;
  struct KeyHash {
    size_t operator()(const Key &key) const;
  };

  /// Appends the entry's arguments to a key. Arguments are the same when
  /// addresses, sizes, strides and scalars are.
  static void describe(const braid_rt_entry &entry, void **args, Key &key);

  /// How far the invocations with a key are.
  enum class State { New, HasRun, Recorded };
  State stateOf(const Key &key) const;

  /// The mode of an invocation.
  enum class Mode { Run, Record, Replay };

  /// Chooses the mode. Begins a recording, or selects the recording to replay.
  Mode begin(const Key &key);

  /// Ends a recording and selects it. Throws an Error if the recording is
  /// broken.
  void finish();

  /// Launches the selected recording on the compute stream.
  void launch();

  /// The spans of the selected recording; null without a trace.
  const Timeline::Recording *spans() const { return selected->spans.get(); }

  /// Drops all recordings, including a recording in progress.
  void forget();
  /// How often that has happened.
  int64_t timesForgotten() const { return forgotten; }
  /// Drops the recording with this key.
  void forget(const Key &key);

  /// The number of recordings that a device keeps; the least recently used one
  /// is dropped first.
  static constexpr size_t capacity = 16;

private:
  struct Recording {
    GraphExec graph = nullptr; ///< Null until it has been recorded.
    /// The spans of a trace; null without one.
    std::shared_ptr<const Timeline::Recording> spans;
    int64_t lastUse = 0;
  };

  using Recordings = std::unordered_map<Key, Recording, KeyHash>;

  void drop(Recordings::iterator recording);
  void dropOldest();

  Gpu &gpu;
  Recordings recordings;
  Recording *selected = nullptr;
  int64_t uses = 0, forgotten = 0;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_DEVICE_GRAPHS_H
