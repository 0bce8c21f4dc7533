//===- Runner.h - Running an entry and keeping its results ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_RUNNER_H
#define BRAID_TOOLS_BRAID_RUN_RUNNER_H

#include "Options.h"
#include "Processes.h"
#include "Tensor.h"

#include <memory>
#include <string>
#include <vector>

namespace braid::run {

/// Results of this process's ranks, by local rank and number.
using Results = std::vector<std::vector<Tensor>>;

using World = std::unique_ptr<braid_rt_world, void (*)(braid_rt_world *)>;

/// Of one run: the greatest of all ranks.
struct Measurement {
  int64_t elapsedNs = 0;
  int64_t peakBytes = 0; ///< Most that compiled code held at once.
  int64_t waitNs = 0;    ///< What the rank spent in waits.
};

/// The ranks. All processes of the world call the same functions in the same
/// order.
class Runner {
public:
  /// Throws a Failure when there is no such engine.
  Runner(const Options &options, const std::string &engine);

  /// Throws, on all processes, when the engine cannot do what an option asks.
  void checkOptions(const Options &options, const std::string &engine) const;

  /// Makes the communicators of a program, where that takes all processes.
  void prepare(const braid_rt_program &program);

  /// Runs the entry once on all ranks; the inputs, one list for each local
  /// rank, stay as they are. Throws on all processes, with the message of every
  /// rank that failed by itself.
  Results run(const braid_rt_entry &entry,
              const std::vector<std::vector<Tensor>> &inputs);

  /// What the last run took.
  Measurement lastRun() const { return measured; }

  /// Writes what the last run recorded on all ranks as a Chrome trace.
  void writeTrace(const std::string &file) const;

  const Processes &getProcesses() const { return processes; }

  /// Those of this process's ranks.
  std::vector<braid_rt_context *> contexts() const;

private:
  braid_rt_config config;
  World world;
  Processes processes;
  Measurement measured;
};

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_RUNNER_H
