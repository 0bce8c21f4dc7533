//===- Runner.cpp - Running an entry and keeping its results ----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runner.h"
#include "Bytes.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>

using namespace braid::run;

//===----------------------------------------------------------------------===//
// Arguments in the form of the ABI
//===----------------------------------------------------------------------===//

namespace {
/// The arguments of one rank as the entry's function wants them.
class CallFrame {
public:
  CallFrame(const braid_rt_entry &entry, const std::vector<Tensor> &inputs);
  CallFrame(const CallFrame &) = delete;
  CallFrame(CallFrame &&) = default;

  void **args() { return pointers.data(); }
  std::vector<Tensor> results() const;

private:
  void addTensor(const braid_rt_argument &argument, const Tensor &tensor);

  const braid_rt_entry *entry;
  std::vector<Tensor> tensors;               ///< One for each argument.
  std::vector<std::vector<int64_t>> memrefs; ///< The descriptors' words.
  std::vector<void *> pointers;
};
} // namespace

/// allocated, aligned, offset, sizes, strides.
static std::vector<int64_t> makeDescriptor(const Tensor &tensor) {
  auto address = reinterpret_cast<int64_t>(tensor.data);
  std::vector<int64_t> words = {address, address, 0};
  words.insert(words.end(), tensor.sizes.begin(), tensor.sizes.end());
  size_t rank = tensor.sizes.size();
  words.resize(3 + 2 * rank);
  int64_t stride = 1;
  for (size_t i = rank; i-- > 0;) {
    words[3 + rank + i] = stride;
    stride *= tensor.sizes[i];
  }
  return words;
}

static bool isDynamic(const braid_rt_argument &argument) {
  return std::count(argument.sizes, argument.sizes + argument.rank,
                    BRAID_RT_DYNAMIC) > 0;
}

void CallFrame::addTensor(const braid_rt_argument &argument,
                          const Tensor &tensor) {
  tensors.push_back(tensor);
  bool isMemref = argument.passing == BRAID_RT_MEMREF;
  memrefs.push_back(isMemref ? makeDescriptor(tensor) : std::vector<int64_t>());
  pointers.push_back(isMemref ? static_cast<void *>(memrefs.back().data())
                              : tensor.data);
}

CallFrame::CallFrame(const braid_rt_entry &entry,
                     const std::vector<Tensor> &inputs)
    : entry(&entry) {
  size_t next = 0;
  for (int64_t i = 0; i < entry.argumentCount; ++i) {
    const braid_rt_argument &argument = entry.arguments[i];
    std::vector<int64_t> sizes(argument.sizes, argument.sizes + argument.rank);
    if (argument.direction == BRAID_RT_IN) {
      addTensor(argument, inputs[next++]);
    } else if (argument.direction == BRAID_RT_INOUT) {
      // The program may overwrite it: hand over a copy.
      const Tensor &input = inputs[next++];
      Tensor copy(input.dtype, input.sizes);
      std::memcpy(copy.data, input.data, static_cast<size_t>(input.bytes()));
      addTensor(argument, copy);
    } else if (isDynamic(argument)) {
      tensors.emplace_back();
      memrefs.emplace_back(3 + 2 * static_cast<size_t>(argument.rank), 0);
      pointers.push_back(memrefs.back().data());
    } else {
      Tensor result(argument.dtype, sizes);
      // What a program does not write must not differ from run to run.
      std::memset(result.data, 0, static_cast<size_t>(result.bytes()));
      addTensor(argument, result);
    }
  }
}

std::vector<Tensor> CallFrame::results() const {
  std::vector<Tensor> results;
  for (int64_t i = 0; i < entry->argumentCount; ++i) {
    const braid_rt_argument &argument = entry->arguments[i];
    if (argument.direction != BRAID_RT_OUT)
      continue;
    if (!isDynamic(argument)) {
      results.push_back(tensors[i]);
      continue;
    }
    const auto *memref = static_cast<const braid_rt_memref *>(pointers[i]);
    const int64_t *sizes = memrefs[i].data() + 3;
    results.emplace_back(
        argument.dtype, std::vector<int64_t>(sizes, sizes + argument.rank),
        memref->allocated,
        static_cast<char *>(memref->aligned) +
            memref->offset * braid_rt_dtype_size(argument.dtype));
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Runner
//===----------------------------------------------------------------------===//

/// The options of the engine as the configuration wants them.
static std::vector<std::pair<std::string, std::string>>
engineOptions(const Options &options, const std::string &engine) {
  std::vector<std::pair<std::string, std::string>> result;
  // The engine mpi cannot slow its links down; the world says so later.
  if (options.link && engine != "mpi") {
    char number[32];
    result.emplace_back("link-latency", std::to_string(options.linkLatencyNs));
    std::snprintf(number, sizeof(number), "%.17g", options.linkBandwidth);
    result.emplace_back("link-bandwidth", number);
  }
  if (!options.reductions.empty())
    result.emplace_back("reductions", options.reductions);
  return result;
}

static World makeWorld(const Options &options, const std::string &engine,
                       const braid_rt_config &defaults) {
  braid_rt_config config = defaults;
  config.engine = engine.c_str();
  // What mpirun or srun has started is known by the engine.
  config.ranks = engine == "inproc" ? std::max(options.ranks, 1) : 0;
  config.trace = !options.trace.empty();
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

/// How long a process that has failed waits for the messages of the others. The
/// launcher ends a job only after the first process has ended, and takes about
/// a second for it.
static constexpr int64_t patienceNs = 300 * 1000 * 1000;

static braid_rt_config makeConfig(const Options &options) {
  braid_rt_config config;
  char error[512] = "";
  if (braid_rt_config_init(&config, error, sizeof(error)) != BRAID_RT_OK)
    throw Failure(2, error, /*everywhere=*/true);
  if (options.timeoutNs)
    config.timeoutNs = options.timeoutNs;
  return config;
}

Runner::Runner(const Options &options, const std::string &engine)
    : config(makeConfig(options)), world(makeWorld(options, engine, config)),
      processes(world.get(), patienceNs) {}

void Runner::checkOptions(const Options &options,
                          const std::string &engine) const {
  auto refuse = [](const std::string &text) {
    throw Failure(2, text, /*everywhere=*/true);
  };
  if (options.link && !braid_rt_world_has(world.get(), "link-rehearsal"))
    refuse("--link: engine " + engine +
           " cannot let collectives take as long as on another link; "
           "--engine=inproc can");
  int32_t ranks = processes.worldSize();
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
  // Where ranks are threads, groups that no rank uses may name any rank.
  if (!braid_rt_world_has(world.get(), "processes"))
    return;
  processes.together([&]() {
    char error[4096] = "";
    if (braid_rt_world_prepare(world.get(), &program, error, sizeof(error)) !=
        BRAID_RT_OK)
      throw RunError(error);
  });
}

namespace {
/// What one or more ranks have to say of a run.
struct Outcome {
  std::string own;    ///< Errors of ranks that have failed by themselves.
  std::string others; ///< Errors of ranks that name another one.
  Measurement measured;

  void add(const std::string &text, bool isSecondary) {
    if (!text.empty())
      (isSecondary ? others : own) += text + '\n';
  }
  void add(const Outcome &outcome) {
    own += outcome.own;
    others += outcome.others;
    measured.elapsedNs =
        std::max(measured.elapsedNs, outcome.measured.elapsedNs);
    measured.peakBytes =
        std::max(measured.peakBytes, outcome.measured.peakBytes);
    measured.waitNs = std::max(measured.waitNs, outcome.measured.waitNs);
  }
  std::string pack() const {
    ByteWriter writer;
    writer.text(own);
    writer.text(others);
    for (int64_t value :
         {measured.elapsedNs, measured.peakBytes, measured.waitNs})
      writer.number(value);
    return writer.bytes;
  }
  static Outcome unpack(const std::string &bytes) {
    ByteReader reader(bytes);
    Outcome outcome;
    outcome.own = reader.text();
    outcome.others = reader.text();
    outcome.measured.elapsedNs = reader.number();
    outcome.measured.peakBytes = reader.number();
    outcome.measured.waitNs = reader.number();
    return outcome;
  }
  /// Causes only, where there are any.
  std::optional<Failure> failure(bool everywhere) const {
    const std::string &text = own.empty() ? others : own;
    if (text.empty())
      return std::nullopt;
    return Failure(1, text.substr(0, text.size() - 1), everywhere);
  }
};
} // namespace

Results Runner::run(const braid_rt_entry &entry,
                    const std::vector<std::vector<Tensor>> &inputs) {
  std::vector<CallFrame> frames;
  for (const std::vector<Tensor> &ofRank : inputs)
    frames.emplace_back(entry, ofRank);
  std::vector<void **> args;
  for (CallFrame &frame : frames)
    args.push_back(frame.args());
  Outcome own;
  if (braid_rt_world_run(world.get(), &entry, args.data()) != BRAID_RT_OK)
    for (braid_rt_context *context : contexts())
      own.add(braid_rt_error(context), braid_rt_error_is_secondary(context));
  own.measured.elapsedNs = braid_rt_world_elapsed_ns(world.get());
  for (braid_rt_context *context : contexts()) {
    braid_rt_statistics statistics;
    braid_rt_get_statistics(context, &statistics);
    braid_rt_reset_statistics(context);
    own.measured.peakBytes =
        std::max(own.measured.peakBytes, statistics.peakBytes);
    own.measured.waitNs = std::max(own.measured.waitNs, statistics.waitNs);
  }
  std::optional<Failure> ownFailure = own.failure(/*everywhere=*/false);
  Outcome all;
  for (const std::string &bytes :
       processes.exchange(own.pack(), ownFailure ? &*ownFailure : nullptr))
    all.add(Outcome::unpack(bytes));
  if (std::optional<Failure> failure = all.failure(/*everywhere=*/true))
    throw Failure(*failure);
  measured = all.measured;
  Results results;
  for (const CallFrame &frame : frames)
    results.push_back(frame.results());
  return results;
}
