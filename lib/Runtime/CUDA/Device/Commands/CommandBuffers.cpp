//===- CommandBuffers.cpp - Graphs of parts of an invocation --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Device/Commands/CommandBuffers.h"
#include "Base/Error.h"
#include "CUDA/Device/Commands/Descriptions.h"

#include <algorithm>
#include <iterator>

using namespace braid::rt;
using namespace braid::rt::cuda;

CommandBuffers::Words &CommandBuffers::describe() {
  // The engine counts what peers may have to wait for.
  gpu.hooks.enqueues();
  // A description that no `add` followed.
  words.resize(nextWord);
  return words;
}

void CommandBuffers::push(Command command) {
  // Where commands end tells sequences apart, too.
  words.push_back(words.size());
  command.firstWord = nextWord;
  commands.push_back(std::move(command));
  nextWord = words.size();
}

void CommandBuffers::add(Run run, bool isLibrary) {
  push({std::move(run), 0, isLibrary});
  if (commands.size() >= mostCommands && !isInBlock())
    flush();
}

void CommandBuffers::addMark(Selector selector) {
  Words &described = describe();
  described.insert(described.end(), {ControlMark, selector.address,
                                     static_cast<uint64_t>(selector.bytes),
                                     static_cast<uint64_t>(selector.cases)});
  push({{}, 0, false, selector});
}

void CommandBuffers::endBlock() {
  size_t begin = open.back().begin;
  open.pop_back();
  commands[begin].end = commands.size() - begin;
  addMark(commands[begin].selector);
}

bool CommandBuffers::repeat(DevicePointer condition, int64_t loop) {
  if (isInBlock() && open.back().loop == loop) {
    if (commands[open.back().begin].selector.address != condition)
      throw Error("a loop of the GPU has two conditions");
    endBlock();
    return false;
  }
  addMark({condition});
  open.push_back({commands.size() - 1, loop});
  return true;
}

void CommandBuffers::beginChoice(Selector selector) {
  addMark(selector);
  open.push_back({commands.size() - 1, /*loop=*/-1});
}

void CommandBuffers::nextCase() {
  size_t begin = open.back().begin;
  commands[begin].nextCases.push_back(commands.size() - begin);
  addMark({});
}

void CommandBuffers::endChoice() { endBlock(); }

std::pair<size_t, size_t> CommandBuffers::getCase(size_t begin,
                                                  int64_t number) const {
  const Command &choice = commands[begin];
  auto index = static_cast<size_t>(number);
  size_t mark = index == 0 ? 0 : choice.nextCases[index - 1];
  size_t next =
      index < choice.nextCases.size() ? choice.nextCases[index] : choice.end;
  return {begin + mark + 1, begin + next};
}

int64_t CommandBuffers::readSelector(const Command &begin) {
  return begin.selector.read([&](void *to) {
    memory.read(to, begin.selector.address, begin.selector.bytes);
  });
}

void CommandBuffers::enqueueLoop(size_t begin) {
  size_t end = begin + commands[begin].end;
  if (!readSelector(commands[begin]))
    return;
  Words key(words.begin() + commands[begin].firstWord,
            words.begin() + commands[end].firstWord);
  do {
    // An iteration chooses the algorithms of its operations, which no recording
    // can.
    enqueueRange(begin + 1, end);
    if (!readSelector(commands[begin]))
      return;
    if (GraphExec recording = findRecording(key, begin, end + 1)) {
      gpu.repeats = true;
      gpu.driver.call(gpu.driver.graphLaunch, recording, gpu.stream);
      return;
    }
  } while (true);
}

size_t CommandBuffers::getHash(size_t index) const {
  size_t end = index + 1 < commands.size() ? commands[index + 1].firstWord
                                           : words.size();
  // The last word says where the command stands.
  return Graphs::KeyHash()(Words(words.begin() + commands[index].firstWord,
                                 words.begin() + end - 1));
}

bool CommandBuffers::haveRun(size_t begin, size_t end) const {
  for (size_t index = begin; index < end; ++index)
    if (commands[index].isLibrary && !ranInLibraries.count(getHash(index)))
      return false;
  return true;
}

void CommandBuffers::enqueueRange(size_t begin, size_t end) {
  for (size_t index = begin; index < end; ++index) {
    const Command &command = commands[index];
    if (!command.end) {
      command.run(&words[command.firstWord]);
      if (command.isLibrary && !gpu.capturing)
        ranInLibraries.insert(getHash(index));
      continue;
    }
    if (command.selector.cases == 0) {
      enqueueLoop(index);
    } else {
      auto [first, last] =
          getCase(index, command.selector.choose(readSelector(command)));
      enqueueRange(first, last);
    }
    index += command.end;
  }
}

GraphExec CommandBuffers::recordPlain(size_t begin, size_t end) {
  gpu.beginCapture();
  bool isComplete = true;
  try {
    enqueueRange(begin, end);
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

void CommandBuffers::addRange(ControlGraph &graph, size_t begin, size_t end) {
  for (size_t index = begin; index < end; ++index) {
    size_t first = index;
    while (index < end && !commands[index].end)
      ++index;
    if (index > first)
      graph.record([&]() { enqueueRange(first, index); });
    if (index == end)
      return;
    const Command &block = commands[index];
    if (block.selector.cases == 0)
      graph.addLoop(block.selector,
                    [&]() { addRange(graph, index + 1, index + block.end); });
    else
      graph.addChoice(block.selector, [&](int32_t number) {
        auto [first, last] = getCase(index, number);
        addRange(graph, first, last);
      });
    index += block.end;
  }
}

bool CommandBuffers::hasBlock(size_t begin, size_t end) const {
  return std::any_of(commands.begin() + begin, commands.begin() + end,
                     [](const Command &command) { return command.end; });
}

GraphExec CommandBuffers::record(size_t begin, size_t end) {
  if (!hasBlock(begin, end))
    return recordPlain(begin, end);
  try {
    selectorKernel.load();
    ControlGraph graph(gpu, selectorKernel);
    addRange(graph, begin, end);
    return graph.instantiate();
  } catch (const Error &) {
    return nullptr;
  }
}

GraphExec CommandBuffers::findRecording(const Words &key, size_t begin,
                                        size_t end) {
  auto found = recordings.find(key);
  if (found != recordings.end())
    return found->second;
  bool hasControl = hasBlock(begin, end);
  if (isExhausted || (hasControl && hasNoControl) || !haveRun(begin, end))
    return nullptr;
  size_t recorded = end - begin;
  GraphExec executable = record(begin, end);
  if (!executable && hasControl) {
    // The driver is too old, or a body has an operation that is no node of one.
    hasNoControl = true;
    return nullptr;
  }
  if (!executable || recordedCommands + recorded > mostRecorded) {
    if (executable)
      gpu.driver.graphExecDestroy(executable);
    isExhausted = true;
    isCollecting = false;
    return nullptr;
  }
  recordedCommands += recorded;
  return recordings.emplace(key, executable).first->second;
}

void CommandBuffers::flush() {
  // Commands that are enqueued may have the engine issue messages, which asks
  // for what was enqueued before.
  size_t end = isInBlock() ? open.front().begin : commands.size();
  if (end == 0 || isFlushing)
    return;
  isFlushing = true;
  std::vector<Command> rest(std::make_move_iterator(commands.begin() + end),
                            std::make_move_iterator(commands.end()));
  size_t firstWord = rest.empty() ? nextWord : rest.front().firstWord;
  Words restWords(words.begin() + firstWord, words.begin() + nextWord);
  commands.resize(end);
  words.resize(firstWord);
  try {
    enqueue();
  } catch (...) {
    isFlushing = false;
    throw;
  }
  isFlushing = false;
  for (Command &command : rest)
    command.firstWord -= firstWord;
  for (Block &block : open)
    block.begin -= end;
  commands = std::move(rest);
  words = std::move(restWords);
  nextWord = words.size();
}

void CommandBuffers::enqueue() {
  size_t count = commands.size();
  GraphExec recording = nullptr;
  if ((count >= fewestCommands || hasBlock(0, count)) && isCollecting) {
    if (seen.size() == mostSeen)
      seen.clear();
    if (!seen.insert(Graphs::KeyHash()(words)).second)
      recording = findRecording(words, 0, count);
  }
  gpu.repeats = gpu.repeats || (recording && hasBlock(0, count));
  if (recording)
    gpu.driver.call(gpu.driver.graphLaunch, recording, gpu.stream);
  else
    enqueueRange(0, count);
  if (isExhausted)
    forgetRecordings();
  commands.clear();
  words.clear();
  nextWord = 0;
}

void CommandBuffers::discard() {
  commands.clear();
  open.clear();
  words.clear();
  nextWord = 0;
}

void CommandBuffers::forgetRecordings() {
  seen.clear();
  ranInLibraries.clear();
  recordedCommands = 0;
  for (const auto &recording : recordings)
    gpu.driver.graphExecDestroy(recording.second);
  recordings.clear();
}

void CommandBuffers::forget() {
  discard();
  forgetRecordings();
}
