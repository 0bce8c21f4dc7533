//===- Runner.cpp - Running an entry and keeping its results ----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Run/Runner.h"
#include "Common/Bytes.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>

using namespace braid::run;

//===----------------------------------------------------------------------===//
// Runner
//===----------------------------------------------------------------------===//

/// The options of the engine, for the configuration.
static std::vector<std::pair<std::string, std::string>>
engineOptions(const Options &options, const std::string &engine) {
  std::vector<std::pair<std::string, std::string>> result;
  // The engine mpi cannot slow its links down; a later check reports the error.
  if (options.link && engine != "mpi") {
    char number[32];
    result.emplace_back("link-latency", std::to_string(options.linkLatencyNs));
    std::snprintf(number, sizeof(number), "%.17g", options.linkBandwidth);
    result.emplace_back("link-bandwidth", number);
  }
  if (!options.reductions.empty())
    result.emplace_back("reductions", options.reductions);
  result.insert(result.end(), options.engineOptions.begin(),
                options.engineOptions.end());
  return result;
}

static World makeWorld(const Options &options, const std::string &engine,
                       const braid::rt::Launcher &launcher,
                       const braid_rt_config &defaults) {
  braid_rt_config config = defaults;
  config.engine = engine.c_str();
  // Under a launcher the engine knows the number of ranks.
  bool areThreads = engine == "inproc" || (engine == "cuda" && !launcher);
  config.ranks = areThreads ? std::max(options.ranks, 1) : 0;
  config.trace = options.records();
  auto pairs = engineOptions(options, engine);
  std::vector<braid_rt_option> list;
  for (const auto &[key, value] : pairs)
    list.push_back({key.c_str(), value.c_str()});
  config.optionCount = static_cast<int64_t>(list.size());
  config.options = list.data();
  char error[4096] = "";
  World world(braid_rt_world_create(&config, error, sizeof(error)),
              braid_rt_world_destroy);
  if (!world)
    throw RunError(error);
  return world;
}

/// The time that a failed process waits for the messages of the others. The
/// launcher ends a job after the end of the first process, and takes about a
/// second.
static constexpr int64_t timeoutNs = 300 * 1000 * 1000;

static braid_rt_config makeConfig(const Options &options,
                                  const std::string &engine) {
  braid_rt_config config;
  char error[512] = "";
  if (braid_rt_config_init(&config, error, sizeof(error)) != BRAID_RT_OK)
    throw Failure(2, error, /*everywhere=*/true);
  // PyTorch's timeout of NCCL, because loading and tuning take time.
  if (engine == "cuda")
    config.timeoutNs = int64_t(600) * 1000 * 1000 * 1000;
  if (options.timeoutNs)
    config.timeoutNs = options.timeoutNs;
  return config;
}

/// The time for which a failed run waits for its other ranks. NCCL may need 20
/// s to end its communicators.
static constexpr std::chrono::seconds hostTimeout{1}, deviceTimeout{25};

Runner::Runner(const Options &options, const std::string &engine,
               const braid::rt::Launcher &launcher)
    : config(makeConfig(options, engine)),
      world(makeWorld(options, engine, launcher, config)),
      processes(world.get(), timeoutNs) {
  if (processes.localRanks().size() > 1)
    stuckRanks.emplace(world.get(),
                       isHostMemory() ? hostTimeout : deviceTimeout,
                       !options.flightRecorder.empty());
}

void Runner::checkOptions(const Options &options, const std::string &engine,
                          const braid::rt::Launcher &launcher) const {
  auto refuse = [](const std::string &text) {
    throw Failure(2, text, /*everywhere=*/true);
  };
  if (options.link && !braid_rt_world_has(world.get(), "link-rehearsal"))
    refuse("--link: engine " + engine +
           " cannot let collectives take as long as on another link; "
           "--engine=inproc can");
  int32_t ranks = processes.worldSize();
  // A world of MPI may be that of several steps of a launcher.
  if (launcher && launcher.isSizeSure && ranks < launcher.size)
    refuse(launcher.name + " has started " + std::to_string(launcher.size) +
           " ranks (" + launcher.variables() + "), but engine " + engine +
           " has found " + std::to_string(ranks) +
           "; --engine=inproc runs the ranks as threads");
  if (launcher && launcher.rank >= ranks)
    refuse(launcher.name + " has started this process as rank " +
           std::to_string(launcher.rank) + " (" + launcher.variables() +
           "), but engine " + engine + " has found " + std::to_string(ranks) +
           (ranks == 1 ? " rank" : " ranks") +
           ": the engine does not know this launcher; mpirun, srun and "
           "torchrun set variables that engines know");
  // Each of many ranks that do not find each other is the first of its world.
  if (launcher && launcher.size == 0 && ranks == 1 && options.ranks != 1)
    refuse(launcher.name + " has started this process (" +
           launcher.variables() +
           ") and does not say how many ranks there are, but engine " + engine +
           " has found 1; if that is right, --ranks=1 says so");
  if (options.ranks && options.ranks != ranks)
    refuse("--ranks: found " + std::to_string(options.ranks) + ", but engine " +
           engine + " has " + std::to_string(ranks) +
           (ranks == 1 ? " rank" : " ranks") + "; `mpirun -n " +
           std::to_string(options.ranks) + " braid-run ...` starts as many");
}

std::vector<braid_rt_context *> Runner::contexts() const {
  std::vector<braid_rt_context *> result;
  for (int32_t rank : processes.localRanks())
    result.push_back(braid_rt_world_context(world.get(), rank));
  return result;
}

void Runner::prepare(const braid_rt_program &program) {
  // If the ranks are threads that compute on the host, unused groups may name
  // any rank.
  if (!braid_rt_world_has(world.get(), "processes") && isHostMemory())
    return;
  processes.together([&]() {
    char error[4096] = "";
    if (braid_rt_world_prepare(world.get(), &program, error, sizeof(error)) !=
        BRAID_RT_OK)
      throw RunError(error);
  });
}

bool Runner::isHostMemory() const {
  return braid_rt_world_has(world.get(), "host-memory");
}

std::string Runner::chip() const {
  return braid_rt_device_chip(contexts().front());
}

std::string Runner::gpu() const {
  char text[256] = "";
  braid_rt_device_property(contexts().front(), "gpu", text, sizeof(text));
  return text;
}

Call Runner::makeCall(const braid_rt_entry &entry,
                      const std::vector<std::vector<Tensor>> &inputs) {
  std::optional<Call> call;
  processes.together(
      [&]() { call.emplace(entry, inputs, contexts(), isHostMemory()); });
  return std::move(*call);
}

void Runner::skip(braid_rt_skip what) {
  processes.together([&]() {
    char error[512] = "";
    if (braid_rt_world_skip(world.get(), what, error, sizeof(error)) !=
        BRAID_RT_OK)
      throw RunError(error);
  });
}

namespace {
/// The errors of one or more ranks in a run.
struct Outcome {
  std::string own;    ///< Causes.
  std::string others; ///< Errors that follow from those of other ranks.
  Measurement measured;

  void add(const std::string &text, bool isSecondary) {
    if (!text.empty())
      (isSecondary ? others : own) += text + '\n';
  }
  void add(const Outcome &outcome) {
    own += outcome.own;
    others += outcome.others;
    for (int64_t Measurement::*figure : figures)
      measured.*figure = std::max(measured.*figure, outcome.measured.*figure);
  }
  std::string pack() const {
    ByteWriter writer;
    writer.text(own);
    writer.text(others);
    for (int64_t Measurement::*figure : figures)
      writer.number(measured.*figure);
    return writer.bytes;
  }
  static Outcome unpack(const std::string &bytes) {
    ByteReader reader(bytes);
    Outcome outcome;
    outcome.own = reader.text();
    outcome.others = reader.text();
    for (int64_t Measurement::*figure : figures)
      outcome.measured.*figure = reader.number();
    return outcome;
  }
  /// The causes, or else the other errors.
  std::optional<Failure> failure(bool everywhere) const {
    const std::string &text = own.empty() ? others : own;
    if (text.empty())
      return std::nullopt;
    return Failure(1, text.substr(0, text.size() - 1), everywhere);
  }

private:
  static constexpr int64_t Measurement::*figures[] = {
      &Measurement::elapsedNs, &Measurement::peakBytes, &Measurement::waitNs,
      &Measurement::hostNs, &Measurement::deviceNs};
};
} // namespace

void Runner::run(Call &call) {
  call.prepare();
  Outcome own;
  if (braid_rt_world_run(world.get(), &call.getEntry(), call.args()) !=
      BRAID_RT_OK)
    for (braid_rt_context *context : contexts())
      own.add(braid_rt_error(context), braid_rt_error_is_secondary(context));
  else
    call.takeResults();
  own.measured.elapsedNs = braid_rt_world_elapsed_ns(world.get());
  for (braid_rt_context *context : contexts()) {
    braid_rt_statistics statistics;
    braid_rt_get_statistics(context, &statistics);
    braid_rt_reset_statistics(context);
    Outcome rank;
    rank.measured = {0, statistics.peakBytes, statistics.waitNs,
                     statistics.hostNs, statistics.deviceNs};
    own.add(rank);
  }
  std::optional<Failure> ownFailure = own.failure(/*everywhere=*/false);
  Outcome all;
  for (const std::string &bytes :
       processes.exchange(own.pack(), ownFailure ? &*ownFailure : nullptr))
    all.add(Outcome::unpack(bytes));
  if (std::optional<Failure> failure = all.failure(/*everywhere=*/true))
    throw Failure(*failure);
  measured = all.measured;
}
