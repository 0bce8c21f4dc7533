//===- Runner.cpp - Running an entry and keeping its results ----*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runner.h"

#include <algorithm>
#include <cstring>

using namespace braid::run;

//===----------------------------------------------------------------------===//
// Program
//===----------------------------------------------------------------------===//

static bool endsWith(const std::string &text, const std::string &end) {
  return text.size() >= end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

Program::Program(const std::string &file,
                 const std::optional<std::string> &passes)
    : file(file) {
  bool isCompiled = endsWith(file, ".so");
  std::string object = isCompiled ? file : compileProgram(file, passes);
  char error[1024] = "";
  library.reset(braid_rt_load(object.c_str(), error, sizeof(error)),
                braid_rt_unload);
  if (!isCompiled)
    removeCompiled(object);
  if (!library)
    throw RunError(error);
}

const braid_rt_entry &Program::entry(const std::string &name) const {
  char error[1024];
  const braid_rt_entry *entry = braid_rt_find_entry(
      braid_rt_library_program(library.get()),
      name.empty() ? nullptr : name.c_str(), error, sizeof(error));
  if (!entry)
    throw UsageError(file + ": " + error + "; --entry=NAME chooses one");
  return *entry;
}

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

Runner::Runner(const Options &options)
    : ranks(options.ranks), world(nullptr, braid_rt_world_destroy) {
  braid_rt_config config;
  char error[512] = "";
  if (braid_rt_config_init(&config, error, sizeof(error)) != BRAID_RT_OK)
    throw UsageError(error);
  config.ranks = options.ranks;
  if (options.timeoutNs)
    config.timeoutNs = options.timeoutNs;
  config.linkLatencyNs = options.linkLatencyNs;
  config.linkBandwidth = options.linkBandwidth;
  config.trace = !options.trace.empty();
  world.reset(braid_rt_world_create(&config, error, sizeof(error)));
  if (!world)
    throw RunError(error);
}

Results Runner::run(const braid_rt_entry &entry,
                    const std::vector<std::vector<Tensor>> &inputs) {
  std::vector<CallFrame> frames;
  for (const std::vector<Tensor> &ofRank : inputs)
    frames.emplace_back(entry, ofRank);
  std::vector<void **> args;
  for (CallFrame &frame : frames)
    args.push_back(frame.args());
  if (braid_rt_world_run(world.get(), &entry, args.data()) == BRAID_RT_OK) {
    Results results;
    for (const CallFrame &frame : frames)
      results.push_back(frame.results());
    return results;
  }
  std::string own, others;
  for (int32_t rank = 0; rank < ranks; ++rank) {
    const braid_rt_context *context = braid_rt_world_context(world.get(), rank);
    std::string text = braid_rt_error(context);
    if (!text.empty())
      (braid_rt_error_is_secondary(context) ? others : own) += text + '\n';
  }
  std::string text = own.empty() ? others : own;
  text.pop_back();
  throw RunError(text);
}

void Runner::takeStatistics(int64_t &peakBytes, int64_t &waitNs) {
  peakBytes = waitNs = 0;
  for (int32_t rank = 0; rank < ranks; ++rank) {
    braid_rt_context *context = braid_rt_world_context(world.get(), rank);
    braid_rt_statistics statistics;
    braid_rt_get_statistics(context, &statistics);
    braid_rt_reset_statistics(context);
    peakBytes = std::max(peakBytes, statistics.peakBytes);
    waitNs = std::max(waitNs, statistics.waitNs);
  }
}
