//===- Processes.h - What the processes of a world do together --*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_PROCESSES_H
#define BRAID_TOOLS_BRAID_RUN_PROCESSES_H

#include "Failure.h"
#include "braid-rt/braid-rt.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace braid::run {

/// The processes that run one world. All of them call the same functions in the
/// same order; where a world has one process, nothing is sent.
class Processes {
public:
  /// `patienceNs`: how long a process that has failed waits for the others,
  /// before it prints its own error and ends.
  Processes(braid_rt_world *world, int64_t patienceNs);

  /// Whether this process runs rank 0: it compiles, prints and writes traces.
  bool isFirst() const { return ranks.empty() || ranks.front() == 0; }

  /// The ranks of this process, in ascending order.
  const std::vector<int32_t> &localRanks() const { return ranks; }

  /// The number of ranks of all processes.
  int32_t worldSize() const { return size; }

  /// Whether there are others.
  bool areMany() const { return static_cast<int32_t>(ranks.size()) < size; }

  /// What every process gives, in the order of their ranks. `failure` is what
  /// this process has to print should the others not come.
  std::vector<std::string> exchange(const std::string &bytes,
                                    const Failure *failure = nullptr) const;

  /// What the first process gives.
  std::string receiveFromFirst(const std::string &bytes) const;

  /// Prints what all processes have to say, in the order of their ranks.
  void printInOrder(const std::string &text) const;

  /// Runs the body on every process, then throws on all of them if it has
  /// thrown on one: the different messages, one a line.
  void together(const std::function<void()> &body) const;

private:
  braid_rt_world *world;
  int64_t patienceNs;
  int32_t size;
  std::vector<int32_t> ranks;
};

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_PROCESSES_H
