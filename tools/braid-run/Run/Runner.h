//===- Runner.h - Running an entry and keeping its results ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_RUN_RUNNER_H
#define BRAID_TOOLS_BRAID_RUN_RUN_RUNNER_H

#include "Base/Launcher.h"
#include "Failures/StuckRanks.h"
#include "Launch/Processes.h"
#include "Options/Options.h"
#include "Tensors/Call.h"
#include "Timing/Events.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace braid::run {

using World = std::unique_ptr<braid_rt_world, void (*)(braid_rt_world *)>;

/// The measurements of one run: the maxima over all ranks.
struct Measurement {
  int64_t elapsedNs = 0;
  int64_t peakBytes = 0; ///< The peak of bytes allocated by compiled code.
  int64_t waitNs = 0;    ///< The time of the rank in waits.
  int64_t hostNs = 0;    ///< The time of the rank's thread in the program.
  int64_t deviceNs = 0;  ///< By the device's clock; 0: the host is the device.

  int64_t stepNs() const { return deviceNs ? deviceNs : elapsedNs; }
};

/// The ranks. All processes of the world call the same functions in the same
/// order.
class Runner {
public:
  /// Throws a Failure if there is no such engine.
  Runner(const Options &options, const std::string &engine,
         const rt::Launcher &launcher);

  /// Throws, on all processes, if the engine does not support an option.
  void checkOptions(const Options &options, const std::string &engine,
                    const rt::Launcher &launcher) const;

  /// Creates the communicators of a program, if all processes must take part.
  void prepare(const braid_rt_program &program);

  /// True if devices use host memory.
  bool isHostMemory() const;

  /// The chip of the devices, `sm_90`; empty if the host is the device.
  std::string chip() const;

  /// The model of the devices, `NVIDIA H200`; empty if the host is the device.
  std::string gpu() const;

  /// An entry with the inputs of each local rank. Throws on all processes.
  Call makeCall(const braid_rt_entry &entry,
                const std::vector<std::vector<Tensor>> &inputs);

  /// Sets the work that runs skip. Throws on all processes if this is not
  /// possible.
  void skip(braid_rt_skip what);

  /// Runs the entry once on all ranks. Failures throw on all processes, with
  /// the messages of all ranks that have caused a failure.
  void run(Call &call);

  /// The measurements of the last run.
  Measurement lastRun() const { return measured; }

  /// The recording of the last run on all ranks.
  Recording recording() const { return gatherEvents(processes, world.get()); }

  /// The planned resources that ranks have replaced so far.
  std::vector<Replacement> replacements() const {
    return gatherReplacements(processes, world.get());
  }

  const Processes &getProcesses() const { return processes; }
  const braid_rt_world *getWorld() const { return world.get(); }

  /// The contexts of this process's ranks.
  std::vector<braid_rt_context *> contexts() const;

private:
  braid_rt_config config;
  World world;
  Processes processes;
  Measurement measured;
  std::optional<StuckRanks> stuckRanks;
};

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_RUN_RUNNER_H
