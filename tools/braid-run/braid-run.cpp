//===- braid-run.cpp - Runs programs on ranks -------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "Binding.h"
#include "Launcher.h"
#include "Npy.h"
#include "Options.h"
#include "Program.h"
#include "Runner.h"
#include "Signals.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>
#include <thread>

using namespace braid::run;

/// Prints what all processes have to say, in the order of their ranks.
static void printInOrder(const Processes &processes, const std::string &text) {
  for (const std::string &piece : processes.exchange(text))
    if (processes.isFirst())
      std::fputs(piece.c_str(), stdout);
}

/// The names of an entry's results.
static std::vector<std::string> resultNames(const braid_rt_entry &entry) {
  std::vector<std::string> names;
  for (int64_t i = 0; i < entry.argumentCount; ++i)
    if (entry.arguments[i].direction == BRAID_RT_OUT)
      names.emplace_back(entry.arguments[i].name);
  return names;
}

/// Files for several ranks or results must have different names.
static void checkOutPattern(const Options &options, const braid_rt_entry &entry,
                            int32_t ranks) {
  if (options.out.empty())
    return;
  size_t results = resultNames(entry).size();
  for (auto [mark, count] :
       {std::pair<const char *, size_t>{"{rank}", ranks},
        std::pair<const char *, size_t>{"{result}", results}})
    if (count > 1 && options.out.find(mark) == std::string::npos)
      throw UsageError("--out: there are " + std::to_string(count) +
                       (mark[2] == 'a' ? " ranks" : " results") + ", but '" +
                       options.out + "' has no " + mark);
}

/// `[1, 2]`: the position of element `index`.
static std::string positionText(const std::vector<int64_t> &sizes,
                                int64_t index) {
  std::string text;
  for (size_t i = sizes.size(); i-- > 0;) {
    text = std::to_string(index % sizes[i]) + (text.empty() ? "" : ", ") + text;
    index /= sizes[i];
  }
  return "[" + text + "]";
}

/// Compares bit by bit; returns what differs first, "" when nothing does.
static std::string compare(const Tensor &found, const Tensor &expected) {
  if (found.sizes != expected.sizes || found.dtype != expected.dtype)
    return "is " + found.typeName() + ", as written " + expected.typeName();
  auto bytes = static_cast<size_t>(found.bytes());
  if (bytes == 0 || std::memcmp(found.data, expected.data, bytes) == 0)
    return "";
  int64_t size = braid_rt_dtype_size(found.dtype);
  int64_t first = -1, different = 0;
  for (int64_t i = 0; i < found.count(); ++i)
    if (std::memcmp(found.data + i * size, expected.data + i * size,
                    static_cast<size_t>(size)) != 0) {
      first = first < 0 ? i : first;
      ++different;
    }
  return "differs at " + positionText(found.sizes, first) + ": " +
         found.element(first) + ", as written " + expected.element(first) +
         " (" + std::to_string(different) + " of " +
         std::to_string(found.count()) + " elements differ)";
}

/// Throws a RunError that names the first difference of each local rank.
static void checkResults(const braid_rt_entry &entry,
                         const std::vector<int32_t> &ranks,
                         const Results &found, const Results &expected) {
  std::vector<std::string> names = resultNames(entry);
  std::string text;
  for (size_t r = 0; r < found.size(); ++r) {
    if (found[r].size() != expected[r].size())
      throw RunError(std::string(entry.name) + " has " +
                     std::to_string(found[r].size()) + " results, as written " +
                     std::to_string(expected[r].size()));
    for (size_t i = 0; i < names.size(); ++i) {
      std::string difference = compare(found[r][i], expected[r][i]);
      if (difference.empty())
        continue;
      text += (text.empty() ? "" : "\n") + std::string(entry.name) + ": rank " +
              std::to_string(ranks[r]) + ": result " + std::to_string(i) +
              " (" + names[i] + ") " + difference;
      break;
    }
  }
  if (!text.empty())
    throw RunError(text);
}

/// Both programs must take the same arguments and give the same results.
static void checkSameArguments(const braid_rt_entry &entry,
                               const braid_rt_entry &reference) {
  bool same = entry.argumentCount == reference.argumentCount;
  for (int64_t i = 0; same && i < entry.argumentCount; ++i) {
    const braid_rt_argument &a = entry.arguments[i];
    const braid_rt_argument &b = reference.arguments[i];
    same = a.dtype == b.dtype && a.rank == b.rank && a.passing == b.passing &&
           (a.direction == BRAID_RT_OUT) == (b.direction == BRAID_RT_OUT) &&
           std::equal(a.sizes, a.sizes + a.rank, b.sizes);
  }
  if (!same)
    throw UsageError("--verify: " + std::string(entry.name) +
                     " of the two programs has different arguments or results");
}

static double medianMs(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  size_t middle = values.size() / 2;
  double ns =
      values.size() % 2
          ? static_cast<double>(values[middle])
          : static_cast<double>(values[middle - 1] + values[middle]) / 2;
  return ns / 1e6;
}

static void writeResults(const Options &options, const braid_rt_entry &entry,
                         const Processes &processes, const Results &results) {
  std::vector<std::string> names = resultNames(entry);
  std::string text;
  processes.together([&]() {
    for (size_t r = 0; r < results.size(); ++r)
      for (size_t i = 0; i < results[r].size(); ++i) {
        const Tensor &tensor = results[r][i];
        int32_t rank = processes.localRanks()[r];
        if (options.print)
          text += "rank " + std::to_string(rank) + ": " + names[i] + ": " +
                  tensor.typeName() + " = " + tensor.text() + "\n";
        if (!options.out.empty())
          writeNpy(expandPattern(expandPattern(options.out, "rank", rank),
                                 "result", static_cast<int64_t>(i)),
                   tensor);
      }
  });
  if (options.print)
    printInOrder(processes, text);
}

/// What one program's runs took.
struct Timing {
  std::vector<int64_t> elapsedNs;
  int64_t peakBytes = 0;
  int64_t waitNs = 0;

  void add(const Measurement &run) {
    elapsedNs.push_back(run.elapsedNs);
    peakBytes = std::max(peakBytes, run.peakBytes);
    waitNs += run.waitNs;
  }

  void print(const char *what) const {
    auto runs = static_cast<double>(elapsedNs.size());
    std::printf("%s: %.3f ms (median of %zu), of which at most %.3f ms "
                "waiting on average; peak memory of a rank %lld bytes\n",
                what, medianMs(elapsedNs), elapsedNs.size(),
                static_cast<double>(waitNs) / 1e6 / runs,
                static_cast<long long>(peakBytes));
  }
};

/// The program and, for --verify, the one to compare with.
struct Programs {
  Programs(const Options &options, const Launcher &launcher, Runner &runner);

  Program program;
  std::optional<Program> reference;
  const braid_rt_entry *entry = nullptr;
  const braid_rt_entry *referenceEntry = nullptr;
};

/// What to hand to braid-compile: the default passes know the number of ranks,
/// and how many a node has where the launcher says it.
static std::string passesFor(const Options &options, int32_t ranks,
                             int32_t ranksPerNode) {
  if (options.passes && *options.passes != "default")
    return *options.passes;
  std::string perNode =
      ranksPerNode ? " ranks-per-node=" + std::to_string(ranksPerNode) : "";
  return "braid-overlap{world-size=" + std::to_string(ranks) + perNode + "}";
}

Programs::Programs(const Options &options, const Launcher &launcher,
                   Runner &runner)
    : program(options.program,
              passesFor(options, runner.getProcesses().worldSize(),
                        launcher.localSize),
              runner.getProcesses()) {
  const Processes &processes = runner.getProcesses();
  processes.together([&]() {
    entry = &program.entry(options.entry);
    checkOutPattern(options, *entry, processes.worldSize());
  });
  runner.prepare(program.table());
  if (!options.verify)
    return;
  bool isGiven = !options.reference.empty();
  reference.emplace(isGiven ? options.reference : options.program, "none",
                    processes);
  processes.together([&]() {
    referenceEntry = &reference->entry(entry->name);
    checkSameArguments(*entry, *referenceEntry);
  });
  runner.prepare(reference->table());
}

static void printTiming(bool isVerified, const Timing &timing,
                        const Timing &referenceTiming) {
  if (isVerified)
    referenceTiming.print("as written");
  timing.print(isVerified ? "reordered" : "time");
  if (isVerified)
    std::printf("speedup: %.2f\n", medianMs(referenceTiming.elapsedNs) /
                                       medianMs(timing.elapsedNs));
}

static void runProgram(const Options &options, const Launcher &launcher,
                       Runner &runner) {
  const Processes &processes = runner.getProcesses();
  Programs programs(options, launcher, runner);
  const braid_rt_entry &entry = *programs.entry;
  std::vector<std::vector<Tensor>> inputs;
  processes.together([&]() {
    for (int32_t rank : processes.localRanks())
      inputs.push_back(makeInputs(entry, options.args, rank));
  });

  Timing timing, referenceTiming;
  Results results;
  for (int64_t round = 0; round < options.repeat; ++round) {
    Results expected;
    if (programs.reference) {
      try {
        expected = runner.run(*programs.referenceEntry, inputs);
      } catch (const Failure &error) {
        throw Failure(error.status,
                      "the program as written failed: " +
                          std::string(error.what()),
                      error.everywhere);
      }
      referenceTiming.add(runner.lastRun());
    }
    results = runner.run(entry, inputs);
    timing.add(runner.lastRun());
    if (programs.reference)
      processes.together([&]() {
        checkResults(entry, processes.localRanks(), results, expected);
      });
  }

  writeResults(options, entry, processes, results);
  if (!options.trace.empty())
    runner.writeTrace(options.trace);
  if (!processes.isFirst())
    return;
  if (programs.reference)
    std::printf("verify: the results of all %d ranks are the same, bit for "
                "bit, as those of the program as written\n",
                processes.worldSize());
  // A single run is mostly warming up: no figures.
  if (options.repeat > 1)
    printTiming(programs.reference.has_value(), timing, referenceTiming);
}

/// Prints the message unless another process does, and returns the status.
static int report(const Failure &failure, bool isFirst) {
  setSignalStatus(failure.status);
  // An engine that cannot go on may end the process without flushing.
  std::fflush(stdout);
  if (isFirst || !failure.everywhere)
    printError(failure.status, failure.what());
  return failure.status;
}

/// The engine that the options or else the environment ask for. Throws a
/// Failure when the options do not go together.
static std::string chooseEngine(const Options &options,
                                const Launcher &launcher) {
  std::string engine = options.engine;
  if (engine.empty())
    engine = launcher ? "mpi" : "inproc";
  char error[4096] = "";
  if (braid_rt_find_engine(engine.c_str(), error, sizeof(error)) != BRAID_RT_OK)
    throw UsageError("--engine: " + std::string(error));
  if (!options.reductions.empty() && engine != "mpi")
    throw UsageError("--reductions: engine " + engine +
                     " has one kind of reductions, ordered; --engine=mpi has a "
                     "choice");
  if (engine == "mpi" && options.ranks && launcher.size &&
      options.ranks != launcher.size)
    throw UsageError(
        "--ranks: found " + std::to_string(options.ranks) + ", but " +
        launcher.name + " has started " + std::to_string(launcher.size) + " (" +
        launcher.variables +
        "); leave the option out, or choose --engine=inproc for threads of "
        "each process");
  return engine;
}

/// The same before there is a world. A launcher ends all processes as soon as
/// one has failed: the one that prints has to come first.
static int reportEarly(const Failure &failure, const Launcher &launcher) {
  bool isFirst = launcher.rank == 0;
  int status = report(failure, isFirst);
  if (failure.everywhere && !isFirst)
    std::this_thread::sleep_for(std::chrono::seconds(1));
  return status;
}

static int runWorld(const Options &options, const std::string &engine,
                    const Launcher &launcher) {
  Runner runner(options, engine);
  const Processes &processes = runner.getProcesses();
  SignalScope signals(runner.contexts(), processes.localRanks());
  // The message comes before the world ends: after a failure an engine may have
  // to end the process.
  try {
    runner.checkOptions(options, engine);
    if (options.bind)
      printInOrder(processes, describeBinding(launcher) + "\n");
    runProgram(options, launcher, runner);
    std::fflush(stdout);
    return 0;
  } catch (const Failure &failure) {
    return report(failure, processes.isFirst());
  } catch (const std::exception &error) {
    return report(RunError(error.what()), processes.isFirst());
  }
}

int main(int argc, char **argv) {
  installSignalHandlers();
  // Until there is a world, the environment says who prints what all processes
  // have found.
  Launcher launcher;
  try {
    launcher = detectLauncher();
    if (launcher)
      endWithLauncher();
    Options options = parseOptions(argc, argv);
    if (options.help) {
      if (launcher.rank == 0)
        std::fputs(helpText, stdout);
      return 0;
    }
    if (options.engine == "inproc")
      launcher = {};
    std::string engine = chooseEngine(options, launcher);
    if (options.program.empty()) {
      std::puts(describeBinding(launcher).c_str());
      return 0;
    }
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
