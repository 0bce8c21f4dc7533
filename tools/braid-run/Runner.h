//===- Runner.h - Running an entry and keeping its results ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_RUNNER_H
#define BRAID_TOOLS_BRAID_RUN_RUNNER_H

#include "Call.h"
#include "Events.h"
#include "Launcher.h"
#include "Options.h"
#include "Processes.h"

#include <memory>
#include <string>
#include <vector>

namespace braid::run {

using World = std::unique_ptr<braid_rt_world, void (*)(braid_rt_world *)>;

/// Of one run: the greatest of all ranks.
struct Measurement {
  int64_t elapsedNs = 0;
  int64_t peakBytes = 0; ///< Most that compiled code held at once.
  int64_t waitNs = 0;    ///< What the rank spent in waits.
  int64_t hostNs = 0;    ///< What the rank's thread spent in the program.
  int64_t deviceNs = 0;  ///< By the device's clock; 0: the host is the device.

  int64_t stepNs() const { return deviceNs ? deviceNs : elapsedNs; }
};

/// The ranks. All processes of the world call the same functions in the same
/// order.
class Runner {
public:
  /// Throws a Failure when there is no such engine.
  Runner(const Options &options, const std::string &engine,
         const Launcher &launcher);

  /// Throws, on all processes, when the engine cannot do what an option asks.
  void checkOptions(const Options &options, const std::string &engine,
                    const Launcher &launcher) const;

  /// Makes the communicators of a program, where that takes all processes.
  void prepare(const braid_rt_program &program);

  /// Whether devices read the memory of the host.
  bool isHostMemory() const;

  /// The chip of the devices, `sm_90`; empty where the host is the device.
  std::string chip() const;

  /// An entry with the inputs of each local rank. Throws on all processes.
  Call makeCall(const braid_rt_entry &entry,
                const std::vector<std::vector<Tensor>> &inputs);

  /// Sets what runs leave out; throws on all processes where they cannot.
  void skip(braid_rt_skip what);

  /// Runs the entry once on all ranks. Throws on all processes, with the
  /// message of every rank that failed by itself.
  void run(Call &call);

  /// What the last run took.
  Measurement lastRun() const { return measured; }

  /// What the last run has recorded on all ranks.
  Recording recording() const { return gatherEvents(processes, world.get()); }

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
