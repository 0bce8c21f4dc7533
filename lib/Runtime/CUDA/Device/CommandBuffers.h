//===- CommandBuffers.h - Graphs of parts of an invocation ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_DEVICE_COMMANDBUFFERS_H
#define BRAID_RUNTIME_CUDA_DEVICE_COMMANDBUFFERS_H

#include "CUDA/Device/Graphs.h"

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace braid::rt::cuda {

/// Launches what an invocation enqueues between two reads of the host as
/// graphs, for programs that are no graph as a whole. Commands are collected
/// until the host needs their results. A sequence of commands runs as it is
/// the first time, is recorded the second time, and is replayed from then on:
/// iterations of a loop repeat the same sequences, as do invocations.
class CommandBuffers {
public:
  explicit CommandBuffers(Gpu &gpu) : gpu(gpu) {}
  ~CommandBuffers() { forget(); }
  CommandBuffers(const CommandBuffers &) = delete;
  CommandBuffers &operator=(const CommandBuffers &) = delete;

  /// Enqueues a command. `words` are what its description says.
  using Run = std::function<void(const uint64_t *words)>;
  using Words = Graphs::Key;

  /// Whether commands are collected from now on.
  void collect(bool wanted) { isCollecting = wanted && !isExhausted; }
  bool collects() const { return isCollecting; }

  /// The words of the next command: all that tells it from other commands is
  /// appended, then `add` is called.
  Words &describe();
  /// Adds the command that has been described. Enqueues the buffer if it is
  /// full. Throws an Error if a command cannot be enqueued.
  void add(Run run);

  /// Enqueues the commands on the compute stream. Throws an Error if one of
  /// them cannot be enqueued.
  void flush();

  /// Drops commands that have not been enqueued.
  void discard();
  /// Drops these and all recordings.
  void forget();

  /// The number of recordings.
  size_t size() const { return recordings.size(); }

  /// The most commands of a buffer: so many run while the next are collected.
  static constexpr size_t mostCommands = 256;
  /// Shorter sequences take less time one by one.
  static constexpr size_t fewestCommands = 8;
  /// The most commands of all recordings. A program that needs more of them
  /// records each one anew before it is replayed, so it has none.
  static constexpr size_t mostRecorded = 65536;
  /// The most sequences that have run once and are remembered.
  static constexpr size_t mostSeen = 65536;

private:
  struct Command {
    Run run;
    size_t firstWord;
  };

  /// Enqueues the commands, by a recording where there is one.
  void enqueue();
  /// Enqueues them one by one.
  void enqueueAll();
  /// Null if the commands cannot be recorded.
  GraphExec record();

  Gpu &gpu;
  bool isCollecting = false, isFlushing = false;
  /// The recordings did not fit.
  bool isExhausted = false;
  std::vector<Command> commands;
  Words words;
  size_t nextWord = 0;
  /// The hashes of sequences that have run once.
  std::unordered_set<size_t> seen;
  std::unordered_map<Words, GraphExec, Graphs::KeyHash> recordings;
  size_t recordedCommands = 0;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_DEVICE_COMMANDBUFFERS_H
