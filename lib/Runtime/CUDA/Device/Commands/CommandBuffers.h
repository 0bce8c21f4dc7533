//===- CommandBuffers.h - Graphs of parts of an invocation ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_DEVICE_COMMANDS_COMMANDBUFFERS_H
#define BRAID_RUNTIME_CUDA_DEVICE_COMMANDS_COMMANDBUFFERS_H

#include "CUDA/Device/Commands/ControlGraph.h"
#include "CUDA/Device/Graphs.h"
#include "CUDA/Device/Memory.h"

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace braid::rt::cuda {

/// Launches what an invocation enqueues between two reads of the host as
/// graphs, for programs that are no graph as a whole. Commands are collected
/// until the host needs their results. A sequence of commands runs as it is
/// the first time, is recorded the second time, and is replayed from then on:
/// iterations of a loop repeat the same sequences, as do invocations.
///
/// A loop whose condition is in device memory, and which does nothing but
/// enqueue the same commands in each iteration, is a part of a sequence: the
/// caller runs its body once, and the GPU repeats the commands. So is a choice
/// between cases by a number in device memory: the caller runs all cases, and
/// the GPU chooses.
class CommandBuffers {
public:
  CommandBuffers(Gpu &gpu, DeviceMemory &memory)
      : gpu(gpu), memory(memory), selectorKernel(gpu) {}
  ~CommandBuffers() { forget(); }
  CommandBuffers(const CommandBuffers &) = delete;
  CommandBuffers &operator=(const CommandBuffers &) = delete;

  /// Enqueues a command. `words` are what its description says.
  using Run = std::function<void(const uint64_t *words)>;
  using Words = Graphs::Key;

  /// Whether commands are collected from now on; those of a loop that has begun
  /// are in any case.
  void collect(bool wanted) { isCollecting = wanted && !isExhausted; }
  bool collects() const { return isCollecting || isInBlock(); }
  /// Whether a loop or a choice has begun that has not ended.
  bool isInBlock() const { return !open.empty(); }
  /// Whether a loop or a choice may begin.
  bool canDecide() const {
    return isInBlock() || (isCollecting && !hasNoControl);
  }

  /// The words of the next command: all that tells it from other commands is
  /// appended, then `add` is called.
  Words &describe();
  /// Adds the command that has been described. Enqueues the buffer if it is
  /// full. `isLibrary`: the command must have run before it can be recorded.
  /// Throws an Error if a command cannot be enqueued.
  void add(Run run, bool isLibrary);

  /// The commands that the condition of a loop needs have been added; it is the
  /// byte at `condition`. Begins the loop with the number `loop`, or ends this
  /// loop if it is the innermost one. Returns whether it has begun: the caller
  /// then adds the commands of the body and of the condition, and calls the
  /// function again.
  bool repeat(DevicePointer condition, int64_t loop);
  /// Begins a choice, and its first case. Calls of `nextCase` begin the others,
  /// that of `endChoice` ends the last one.
  void beginChoice(Selector selector);
  void nextCase();
  void endChoice();

  /// Enqueues the commands on the compute stream, but those of a loop or choice
  /// that has not ended and those behind it. Throws an Error if one of them
  /// cannot be enqueued.
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
  /// A command, or a mark: the begin or the end of a loop or choice, or the
  /// begin of a case but the first. Marks run nothing.
  struct Command {
    Run run = {};
    size_t firstWord = 0;
    bool isLibrary = false;
    // Of begins; the indices of other marks are relative to the begin's.
    Selector selector = {};
    size_t end = 0; ///< 0: no begin.
    std::vector<size_t> nextCases = {};
  };
  struct Block {
    size_t begin;
    int64_t loop; ///< -1: a choice.
  };

  /// Adds a command that has been described, or a mark.
  void push(Command command);
  void addMark(Selector selector);
  void endBlock();
  /// The commands of a case of the choice that begins at `begin`.
  std::pair<size_t, size_t> getCase(size_t begin, int64_t number) const;
  /// Enqueues the commands, by a recording where there is one.
  void enqueue();
  /// Enqueues the commands of a range one by one.
  void enqueueRange(size_t begin, size_t end);
  void enqueueLoop(size_t begin);
  int64_t readSelector(const Command &begin);
  /// The recording of a range of commands, which it remembers by `key`. Null if
  /// one of them has to run before, or if they cannot be recorded; then nothing
  /// of the kind is recorded from now on.
  GraphExec findRecording(const Words &key, size_t begin, size_t end);
  /// Null if the commands cannot be recorded.
  GraphExec record(size_t begin, size_t end);
  GraphExec recordPlain(size_t begin, size_t end);
  void addRange(ControlGraph &graph, size_t begin, size_t end);
  bool hasBlock(size_t begin, size_t end) const;
  /// The hash of a command, wherever it stands.
  size_t getHash(size_t index) const;
  bool haveRun(size_t begin, size_t end) const;
  void forgetRecordings();

  Gpu &gpu;
  DeviceMemory &memory;
  SelectorKernel selectorKernel;
  bool isCollecting = false, isFlushing = false;
  /// The recordings did not fit.
  bool isExhausted = false;
  /// The driver has refused to record a loop or a choice.
  bool hasNoControl = false;
  std::vector<Command> commands;
  std::vector<Block> open; ///< The innermost one last.
  Words words;
  size_t nextWord = 0;
  /// The hashes of sequences, and of commands of libraries, that have run.
  std::unordered_set<size_t> seen, ranInLibraries;
  std::unordered_map<Words, GraphExec, Graphs::KeyHash> recordings;
  size_t recordedCommands = 0;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_DEVICE_COMMANDS_COMMANDBUFFERS_H
