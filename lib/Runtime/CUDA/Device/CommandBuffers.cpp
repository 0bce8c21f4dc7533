//===- CommandBuffers.cpp - Graphs of parts of an invocation --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Device/CommandBuffers.h"
#include "Base/Error.h"

using namespace braid::rt;
using namespace braid::rt::cuda;

CommandBuffers::Words &CommandBuffers::describe() {
  // The engine counts what peers may have to wait for.
  gpu.hooks.enqueues();
  // A description that no `add` followed.
  words.resize(nextWord);
  return words;
}

void CommandBuffers::add(Run run) {
  // Where commands end tells sequences apart, too.
  words.push_back(words.size());
  commands.push_back({std::move(run), nextWord});
  nextWord = words.size();
  if (commands.size() == mostCommands)
    flush();
}

void CommandBuffers::enqueueAll() {
  for (const Command &command : commands)
    command.run(&words[command.firstWord]);
}

GraphExec CommandBuffers::record() {
  gpu.beginCapture();
  bool isComplete = true;
  try {
    enqueueAll();
  } catch (const Error &) {
    isComplete = false;
  }
  Graph graph = nullptr;
  isComplete &= gpu.endCapture(graph) == SUCCESS && graph;
  GraphExec executable = nullptr;
  if (isComplete && gpu.driver.graphInstantiate(
                        &executable, graph, GRAPH_USE_NODE_PRIORITY) != SUCCESS)
    executable = nullptr;
  if (graph)
    gpu.driver.graphDestroy(graph);
  return executable;
}

void CommandBuffers::flush() {
  // Commands that are enqueued may have the engine issue messages, which asks
  // for what was enqueued before.
  if (commands.empty() || isFlushing)
    return;
  isFlushing = true;
  try {
    enqueue();
  } catch (...) {
    isFlushing = false;
    throw;
  }
  isFlushing = false;
}

void CommandBuffers::enqueue() {
  words.resize(nextWord);
  if (commands.size() < fewestCommands || !isCollecting) {
    enqueueAll();
    return discard();
  }
  auto found = recordings.find(words);
  if (found == recordings.end()) {
    if (seen.size() == mostSeen)
      seen.clear();
    if (seen.insert(Graphs::KeyHash()(words)).second) {
      enqueueAll();
      return discard();
    }
    GraphExec executable = record();
    isExhausted =
        !executable || recordedCommands + commands.size() > mostRecorded;
    if (isExhausted) {
      if (executable)
        gpu.driver.graphExecDestroy(executable);
      isCollecting = false;
      enqueueAll();
      return forget();
    }
    recordedCommands += commands.size();
    found = recordings.emplace(words, executable).first;
  }
  gpu.driver.call(gpu.driver.graphLaunch, found->second, gpu.stream);
  discard();
}

void CommandBuffers::discard() {
  commands.clear();
  words.clear();
  nextWord = 0;
}

void CommandBuffers::forget() {
  discard();
  seen.clear();
  recordedCommands = 0;
  for (const auto &recording : recordings)
    gpu.driver.graphExecDestroy(recording.second);
  recordings.clear();
}
