//===- braid-run.cpp - Runs programs on ranks -------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Base/Error.h"
#include "Base/Launcher.h"
#include "Failures/Dumps.h"
#include "Failures/Signals.h"
#include "Launch/Binding.h"
#include "Options/Options.h"
#include "Run/Interpreter.h"
#include "Run/Program.h"
#include "Run/Runner.h"
#include "Run/Session.h"
#include "Run/Tune.h"
#include "braid/Support/CleanUp.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>

using namespace braid::run;

/// Prints the message unless another process does, and returns the status.
static int report(const Failure &failure, bool isFirst) {
  setSignalStatus(failure.status);
  // A failed engine may end the process without flushing.
  std::fflush(stdout);
  if (isFirst || !failure.everywhere)
    printError(failure.status, failure.what());
  return failure.status;
}

/// Throws a RunError if text for the standard output is lost.
static void flushOutput() {
  // A write before may have failed, too.
  if (std::fflush(stdout) != 0)
    throw RunError("cannot write to the standard output: " +
                   std::string(std::strerror(errno)));
  if (std::ferror(stdout))
    throw RunError("cannot write everything to the standard output");
}

/// Sets the target to that of a compiled program. Throws a UsageError if the
/// options name another target, and a RunError if the only process cannot load
/// the program.
static void chooseTarget(Options &options,
                         const braid::rt::Launcher &launcher) {
  std::optional<int32_t> found;
  std::string why;
  if (isCompiled(options.program))
    found = targetOf(options.program, why);
  if (!found) {
    if (!why.empty() && !launcher)
      throw RunError(why);
    // If the file cannot be loaded, rank 0 sends its own (--send-program), or a
    // later check fails.
    if (options.target.empty())
      options.target = options.engine == "cuda" ? "cuda" : "host";
    return;
  }
  std::string target = *found == BRAID_RT_TARGET_CUDA ? "cuda" : "host";
  if (!options.target.empty() && options.target != target)
    throw UsageError("--target: found " + options.target + ", but " +
                     options.program + " was compiled for the target " +
                     target);
  options.target = target;
}

/// The engine of the options, of the target, or else of the environment.
static std::string engineName(const Options &options,
                              const braid::rt::Launcher &launcher) {
  if (!options.engine.empty())
    return options.engine;
  if (options.target == "cuda")
    return "cuda";
  if (launcher && !launcher.startsMPI())
    throw UsageError("the environment says that " + launcher.name +
                     " has started this process (" + launcher.variables() +
                     "), which serves the target cuda; for the target host "
                     "use mpirun or srun with MPI, or --engine=inproc for "
                     "threads of this process");
  return launcher ? "mpi" : "inproc";
}

/// The same. Throws a Failure if the options contradict each other.
static std::string chooseEngine(const Options &options,
                                const braid::rt::Launcher &launcher) {
  if (options.target == "host" && !options.chip.empty())
    throw UsageError("--chip: found the target host, expected --target=cuda, "
                     "which compiles for a GPU");
  if (options.target == "host" && !options.attention.empty())
    throw UsageError("--attention: found the target host, expected "
                     "--target=cuda: a host has no library for attention");
  if (options.target == "host" && !options.convolution.empty())
    throw UsageError("--convolution: found the target host, expected "
                     "--target=cuda: a host has no library for convolutions");
  std::string engine = engineName(options, launcher);
  char error[4096] = "";
  if (braid_rt_find_engine(engine.c_str(), error, sizeof(error)) != BRAID_RT_OK)
    throw UsageError("--engine: " + std::string(error));
  if (options.target == "cuda" && (engine == "inproc" || engine == "mpi"))
    throw UsageError("--engine: engine " + engine +
                     " runs programs for the target host, found target cuda; "
                     "--engine=cuda runs them");
  if (options.target == "host" && engine == "cuda")
    throw UsageError("--engine: engine cuda runs programs for the target "
                     "cuda, found target host; --target=cuda compiles for it");
  if (!options.reductions.empty() && engine != "mpi")
    throw UsageError(
        "--reductions: engine " + engine + " has one kind of reductions" +
        (engine == "cuda" ? "" : ", ordered") + "; --engine=mpi has a choice");
  if (engine != "inproc" && options.ranks && launcher.size &&
      options.ranks != launcher.size)
    throw UsageError(
        "--ranks: found " + std::to_string(options.ranks) + ", but " +
        launcher.name + " has started " + std::to_string(launcher.size) + " (" +
        launcher.variables() + "); leave the option out" +
        (engine == "cuda" ? ""
                          : ", or choose --engine=inproc for threads of each "
                            "process"));
  return engine;
}

/// The same before there is a world. A launcher ends all processes as soon as
/// one has failed, so the process that prints must fail first.
static int reportEarly(const Failure &failure,
                       const braid::rt::Launcher &launcher) {
  bool isFirst = launcher.rank == 0;
  int status = report(failure, isFirst);
  if (failure.everywhere && !isFirst)
    std::this_thread::sleep_for(std::chrono::seconds(1));
  return status;
}

static int runWorld(const Options &options, const std::string &engine,
                    const braid::rt::Launcher &launcher) {
  Runner runner(options, engine, launcher);
  const Processes &processes = runner.getProcesses();
  SignalScope signals(runner.getWorld(), runner.contexts(),
                      processes.localRanks(), !options.flightRecorder.empty());
  // Print the message before the end of the world, because an engine may end
  // the process after a failure.
  try {
    runner.checkOptions(options, engine, launcher);
    if (options.showBinding)
      processes.printInOrder(describeBinding(launcher) + "\n");
    if (options.tune)
      tune(options, launcher, runner);
    else
      Session(options, launcher, runner).run();
    processes.together(flushOutput);
    return 0;
  } catch (const Failure &failure) {
    return report(failure, processes.isFirst());
  } catch (const std::exception &error) {
    return report(RunError(error.what()), processes.isFirst());
  }
}

int main(int argc, char **argv) {
  installSignalHandlers();
  // Without a world, the environment decides which process prints common
  // errors.
  braid::rt::Launcher launcher;
  try {
    std::string problem;
    try {
      launcher = braid::rt::detectLauncher(
          [](const char *name) { return std::getenv(name); });
    } catch (const braid::rt::Error &error) {
      problem = error.what();
    }
    if (launcher)
      endWithLauncher();
    Options options = parseOptions(argc, argv);
    if (!problem.empty() && options.engine != "inproc")
      throw UsageError(problem + "; --engine=inproc ignores it");
    if (!options.help.empty()) {
      if (launcher.rank == 0)
        std::fputs(options.help.c_str(), stdout);
      flushOutput();
      return 0;
    }
    if (options.version) {
      if (launcher.rank == 0)
        std::printf("Braid version %s\n", braid_rt_version());
      flushOutput();
      return 0;
    }
    // What runs tools or writes temporary files.
    std::optional<braid::CleanUp> cleanUp;
    bool isSent = launcher && options.isProgramSent;
    if (!options.program.empty() && (!isCompiled(options.program) || isSent ||
                                     options.report || options.tune))
      cleanUp.emplace();
    if (options.engine == "inproc")
      launcher = {};
    if (!options.dumps.empty()) {
      std::string text = analyzeDumps(readDumps(options.dumps));
      if (launcher.rank == 0)
        std::fputs(text.c_str(), stdout);
      flushOutput();
      return 0;
    }
    if (options.program.empty()) {
      std::puts(describeBinding(launcher).c_str());
      flushOutput();
      return 0;
    }
    if (options.target == "interpreter") {
      if (launcher)
        throw UsageError("--target=interpreter: all ranks are in one process, "
                         "but " +
                         launcher.name + " has started " +
                         std::to_string(launcher.size) +
                         "; --ranks=N gives their number");
      runInterpreter(options);
      flushOutput();
      return 0;
    }
    chooseTarget(options, launcher);
    std::string engine = chooseEngine(options, launcher);
    return runWorld(options, engine, launcher);
  } catch (const UsageError &error) {
    // All processes have the same command line.
    return reportEarly(Failure(2, error.what(), /*everywhere=*/true), launcher);
  } catch (const Failure &failure) {
    return reportEarly(failure, launcher);
  } catch (const std::exception &error) {
    return reportEarly(RunError(error.what()), launcher);
  }
}
