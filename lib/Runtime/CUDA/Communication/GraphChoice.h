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
#include <unordered_map>
#include <vector>

namespace braid::rt::cuda {

/// Chooses the invocations that become graphs (`cuda-graph=auto`). NCCL wants a
/// collective to be recorded by all of its members or by none, and replays of
/// recordings that were made together. One thread knows the arguments of all
/// ranks before any of them begins, so they need no vote.
///
/// Equal arguments on all ranks have a number. Their first invocation runs as
/// it is, the second one is recorded, later ones are replays. A recording costs
/// some steps, so entries whose arguments keep moving have few of them.
class GraphChoice {
public:
  /// The number of the invocation with these arguments, one for each device; 0
  /// if it does not become a graph.
  uint64_t choose(const braid_rt_entry &entry, void ***args,
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

  Invocation &find(Runs &entry, const std::vector<CudaDevice *> &devices);

  std::unordered_map<const braid_rt_entry *, Runs> runs;
  Graphs::Key arguments; ///< Of this invocation.
  uint64_t lastNumber = 0;
  int64_t uses = 0;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_COMMUNICATION_GRAPHCHOICE_H
