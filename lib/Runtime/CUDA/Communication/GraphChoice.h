//===- GraphChoice.h - Which invocations become graphs ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_COMMUNICATION_GRAPHCHOICE_H
#define BRAID_RUNTIME_CUDA_COMMUNICATION_GRAPHCHOICE_H

#include "CUDA/Device/CudaDevice.h"

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace braid::rt::cuda {

/// Chooses the invocations that become graphs (`cuda-graph=auto`). NCCL wants a
/// collective to be recorded by all of its members or by none, and replays of
/// recordings that were made together. The thread that starts ranks of one
/// process knows the arguments of all; processes tell each other numbers of
/// theirs before each invocation (RunVotes.h), and choose the same.
///
/// Equal arguments on all ranks have a number. Their first invocation runs as
/// it is, the second one is recorded, later ones are replays. A recording costs
/// some steps, so entries whose arguments keep moving have few of them.
class GraphChoice {
public:
  /// The number of the invocation with these arguments of all ranks; 0 if it
  /// does not become a graph. All ranks may record it, those of this process on
  /// `devices`.
  uint64_t choose(const braid_rt_entry &entry, const Graphs::Key &arguments,
                  const std::vector<CudaDevice *> &devices);

  /// The entry becomes no graph any more.
  void refuse(const braid_rt_entry &entry) { runs[&entry].refused = true; }

  /// Another program is prepared: its devices have no recordings.
  void forget() { runs.clear(); }

  /// An entry has so many recordings, and one more for so many replays.
  static constexpr int64_t freeRecordings = 4, replaysOfRecording = 16;

private:
  struct Invocation {
    Graphs::Key arguments; ///< Of all ranks.
    uint64_t number;
    int64_t lastUse = 0;
  };
  struct Runs {
    std::vector<Invocation> known;
    int64_t recordings = 0, replays = 0;
    bool refused = false;
  };

  Invocation &find(Runs &entry, const Graphs::Key &arguments,
                   const std::vector<CudaDevice *> &devices);

  std::unordered_map<const braid_rt_entry *, Runs> runs;
  uint64_t lastNumber = 0;
  int64_t uses = 0;
};

/// Numbers of the arguments of one rank, for processes that do not know its
/// addresses.
class ArgumentNumbers {
public:
  /// The number of these arguments, above 0: another one for other arguments,
  /// and after `device` has dropped its recordings.
  uint32_t find(const braid_rt_entry &entry, void **args,
                const CudaDevice &device);

private:
  static constexpr size_t capacity = 256;

  std::map<Graphs::Key, uint32_t> known;
  uint32_t last = 0;
  int64_t timesForgotten = 0;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_COMMUNICATION_GRAPHCHOICE_H
