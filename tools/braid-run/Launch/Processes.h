//===- Processes.h - Collective calls of a world's processes ----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_LAUNCH_PROCESSES_H
#define BRAID_TOOLS_BRAID_RUN_LAUNCH_PROCESSES_H

#include "Common/Failure.h"
#include "braid-rt/braid-rt.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace braid::run {

/// The processes of a world. All of them call the same functions in the same
/// order. A world with one process sends nothing.
class Processes {
public:
  /// `timeoutNs`: the time that a failed process waits for the others before
  /// it prints its own error and ends.
  Processes(braid_rt_world *world, int64_t timeoutNs);

  /// True if this process runs rank 0, which compiles, prints and writes
  /// traces.
  bool isFirst() const { return ranks.empty() || ranks.front() == 0; }

  /// The ranks of this process, in ascending order.
  const std::vector<int32_t> &localRanks() const { return ranks; }

  /// The number of ranks of all processes.
  int32_t worldSize() const { return size; }

  /// True if there are other processes.
  bool areMany() const { return static_cast<int32_t>(ranks.size()) < size; }

  /// The bytes of all processes, in the order of their ranks. `failure` is the
  /// message that this process prints if the others do not answer.
  std::vector<std::string> exchange(const std::string &bytes,
                                    const Failure *failure = nullptr) const;

  /// The bytes of the first process.
  std::string receiveFromFirst(const std::string &bytes) const;

  /// Prints the texts of all processes, in the order of their ranks.
  void printInOrder(const std::string &text) const;

  /// Runs the body on every process. If it throws on one process, throws on all
  /// of them, with the different messages on a line each.
  void together(const std::function<void()> &body) const;

private:
  braid_rt_world *world;
  int64_t timeoutNs;
  int32_t size;
  std::vector<int32_t> ranks;
};

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_LAUNCH_PROCESSES_H
