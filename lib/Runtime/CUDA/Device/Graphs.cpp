//===- Graphs.cpp - Invocations recorded as graphs ------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Device/Graphs.h"
#include "Base/Error.h"
#include "braid-rt/Memory.h"

#include <algorithm>
#include <cstring>
#include <string_view>

using namespace braid::rt;
using namespace braid::rt::cuda;

//===----------------------------------------------------------------------===//
// Checks and keys
//===----------------------------------------------------------------------===//

static const char *const advice = " (run without cuda-graph)";

/// What the host code does in `count` places; empty if it does not.
static std::string describeCount(int64_t count, const char *what) {
  if (count == 0)
    return "";
  return "the program cannot run as a graph: " + std::string(what) + " in " +
         std::to_string(count) + (count == 1 ? " place" : " places");
}

/// Which result of the entry the host code computes; empty if none.
static std::string describeResult(const braid_rt_entry &entry) {
  for (int64_t k = 0; k < entry.argumentCount; ++k) {
    const braid_rt_argument &argument = entry.arguments[k];
    bool isDynamic = std::count(argument.sizes, argument.sizes + argument.rank,
                                BRAID_RT_DYNAMIC) > 0;
    if (argument.direction == BRAID_RT_OUT &&
        (isDynamic || argument.passing == BRAID_RT_SCALAR))
      return std::string("entry ") + entry.name +
             " cannot run as a graph: its host code computes the " +
             (isDynamic ? "size" : "value") + " of result " + argument.name;
  }
  return "";
}

static std::string describeReads(const braid_rt_program &program) {
  return describeCount(program.device->hostReadCount,
                       "its host code reads device memory");
}

static std::string describeAllocations(const braid_rt_program &program) {
  return describeCount(program.device->bufferAllocCount,
                       "it allocates buffers while it runs");
}

bool Graphs::canRecord(const braid_rt_program &program,
                       const braid_rt_entry &entry) {
  return describeReads(program).empty() && describeResult(entry).empty() &&
         describeAllocations(program).empty();
}

void Graphs::checkProgram(const braid_rt_program &program) {
  std::string obstacle = describeReads(program);
  for (int64_t i = 0; i < program.entryCount && obstacle.empty(); ++i)
    obstacle = describeResult(*program.entries[i]);
  if (obstacle.empty())
    obstacle = describeAllocations(program);
  if (!obstacle.empty())
    throw Error(obstacle + advice);
}

void Graphs::describe(const braid_rt_entry &entry, void **args, Key &key) {
  for (int64_t i = 0; i < entry.argumentCount; ++i) {
    const braid_rt_argument &argument = entry.arguments[i];
    if (argument.passing == BRAID_RT_SCALAR) {
      uint64_t value[2] = {0, 0};
      std::memcpy(value, args[i],
                  static_cast<size_t>(braid_rt_dtype_size(argument.dtype)));
      key.insert(key.end(), value, value + 2);
      continue;
    }
    // A memref descriptor consists of words of 64 bits: two pointers, the
    // offset, the sizes and the strides.
    size_t words =
        sizeof(braid_rt_memref) / 8 + 2 * static_cast<size_t>(argument.rank);
    size_t old = key.size();
    key.resize(old + words);
    std::memcpy(&key[old], args[i], 8 * words);
  }
}

size_t Graphs::KeyHash::operator()(const Key &key) const {
  return std::hash<std::string_view>()(
      {reinterpret_cast<const char *>(key.data()), 8 * key.size()});
}

//===----------------------------------------------------------------------===//
// Recording and replay
//===----------------------------------------------------------------------===//

Graphs::State Graphs::stateOf(const Key &key) const {
  auto found = recordings.find(key);
  if (found == recordings.end())
    return State::New;
  return found->second.graph ? State::Recorded : State::HasRun;
}

void Graphs::drop(Recordings::iterator recording) {
  if (recording->second.graph)
    gpu.driver.graphExecDestroy(recording->second.graph);
  recordings.erase(recording);
}

void Graphs::dropOldest() {
  drop(std::min_element(recordings.begin(), recordings.end(),
                        [](const auto &a, const auto &b) {
                          return a.second.lastUse < b.second.lastUse;
                        }));
}

Graphs::Mode Graphs::begin(const Key &key) {
  auto found = recordings.find(key);
  if (found == recordings.end()) {
    if (recordings.size() == capacity)
      dropOldest();
    recordings[key].lastUse = ++uses;
    return Mode::Run;
  }
  selected = &found->second;
  selected->lastUse = ++uses;
  if (selected->graph)
    return Mode::Replay;
  gpu.beginCapture();
  return Mode::Record;
}

void Graphs::finish() {
  Graph graph = nullptr;
  Result result = gpu.endCapture(graph);
  if (result == ERROR_STREAM_CAPTURE_UNJOINED)
    throw Error("the program cannot run as a graph: it does not wait for all "
                "that it has started on other streams (" +
                gpu.driver.describe(result) + ")");
  if (result != SUCCESS)
    throw Error("the program cannot run as a graph: cuStreamEndCapture "
                "failed: " +
                gpu.driver.describe(result));
  result = gpu.driver.graphInstantiate(&selected->graph, graph,
                                       GRAPH_USE_NODE_PRIORITY);
  gpu.driver.graphDestroy(graph);
  if (gpu.timeline)
    selected->spans = gpu.timeline->keep();
  if (result != SUCCESS) {
    selected->graph = nullptr;
    throw Error("the program cannot run as a graph: cuGraphInstantiate "
                "failed: " +
                gpu.driver.describe(result));
  }
}

void Graphs::launch() {
  gpu.hooks.launchesGraph([this]() {
    gpu.driver.call(gpu.driver.graphLaunch, selected->graph, gpu.stream);
  });
}

void Graphs::forget() {
  ++forgotten;
  if (gpu.capturing) {
    Graph graph = nullptr;
    gpu.endCapture(graph);
    if (graph)
      gpu.driver.graphDestroy(graph);
  }
  while (!recordings.empty())
    drop(recordings.begin());
  selected = nullptr;
}

void Graphs::forget(const Key &key) {
  auto found = recordings.find(key);
  if (found != recordings.end())
    drop(found);
}
