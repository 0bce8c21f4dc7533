//===- ComputeGraphs.cpp - Neighbouring calls as graphs -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Device/ComputeGraphs.h"
#include "Base/Error.h"

#include <algorithm>
#include <string_view>

using namespace braid::rt;
using namespace braid::rt::cuda;

ComputeGraphs::ComputeGraphs(Gpu &gpu, const CallTargets &targets,
                             int64_t fewest)
    : gpu(gpu), targets(targets), fewest(static_cast<size_t>(fewest)) {
  gpu.waitingCalls = this;
}

ComputeGraphs::~ComputeGraphs() {
  forget();
  gpu.waitingCalls = nullptr;
}

size_t ComputeGraphs::Hash::operator()(const CallWords &words) const {
  return std::hash<std::string_view>()(
      {reinterpret_cast<const char *>(words.data()), 8 * words.size()});
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

bool ComputeGraphs::take(const CallWords &call) {
  if (stopped)
    return false;
  if (state == State::Between) {
    auto found = segments.find(call);
    if (found != segments.end()) {
      current = &found->second;
      next = 0;
      state = current->refused ? State::Passing : State::Following;
    } else if (segments.size() < mostSegments) {
      current = &segments[call];
      state = State::Recording;
    } else {
      state = State::Passing;
      return false;
    }
    current->lastUse = invocation;
  }
  if (state == State::Following)
    return follow(call);
  if (state == State::Recording)
    append(call);
  return false;
}

void ComputeGraphs::append(const CallWords &call) {
  current->words.insert(current->words.end(), call.begin(), call.end());
  current->ends.push_back(current->words.size());
  if (current->ends.size() == mostCalls)
    state = State::Between;
}

bool ComputeGraphs::follow(const CallWords &call) {
  bool isEqual = false;
  if (next < current->ends.size()) {
    size_t begin = next ? current->ends[next - 1] : 0;
    size_t end = current->ends[next];
    isEqual = call.size() == end - begin &&
              std::equal(call.begin(), call.end(),
                         current->words.begin() + static_cast<int64_t>(begin));
  }
  if (!isEqual)
    return leave(&call);
  ++next;
  bool isLast = next == current->ends.size();
  if (current->graph) {
    gpu.hooks.enqueues();
    if (isLast) {
      state = next == mostCalls ? State::Between : State::Passing;
      current->failures = std::max(current->failures - 1, 0);
      gpu.driver.call(gpu.driver.graphLaunch, current->graph, gpu.stream);
    }
    return true;
  }
  if (isLast && next == mostCalls)
    complete();
  return false;
}

/// The segment continues otherwise than recorded: with `call`, or null if it
/// ends. Returns false, because the caller makes the call.
bool ComputeGraphs::leave(const CallWords *call) {
  Segment &segment = *current;
  bool refuses = hasFailedOften(segment);
  state = call ? State::Passing : State::Between;
  if (segment.graph) {
    makeFirst(next);
    if (refuses)
      refuse(segment);
    return false;
  }
  if (refuses) {
    refuse(segment);
    return false;
  }
  truncate();
  if (call) {
    state = State::Recording;
    append(*call);
  }
  return false;
}

/// Counts a failure.
bool ComputeGraphs::hasFailedOften(Segment &segment) const {
  constexpr int32_t most = 4;
  // A run that is cut short outweighs two complete ones.
  segment.failures += segment.graph ? 2 : 1;
  return segment.failures > most;
}

void ComputeGraphs::truncate() {
  current->ends.resize(next);
  current->words.resize(next ? current->ends.back() : 0);
}

void ComputeGraphs::makeFirst(size_t count) {
  const Segment &segment = *current;
  for (size_t i = 0; i < count; ++i)
    makeCall(targets, &segment.words[i ? segment.ends[i - 1] : 0]);
}

/// The segment has been repeated.
void ComputeGraphs::complete() {
  state = State::Between;
  if (current->ends.size() >= fewest)
    repeated.push_back(current);
  else
    refuse(*current);
}

void ComputeGraphs::makeAll() {
  if (state == State::Following) {
    if (!current->graph && next == current->ends.size())
      complete();
    else
      leave(nullptr);
  }
  state = State::Between;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

void ComputeGraphs::refuse(Segment &segment) const {
  if (segment.graph)
    gpu.driver.graphExecDestroy(segment.graph);
  Segment none;
  none.refused = true;
  none.lastUse = segment.lastUse;
  segment = std::move(none);
}

void ComputeGraphs::makeGraphs() {
  makeAll();
  for (Segment *segment : repeated)
    // Later calls of the invocation may have shortened it.
    if (!segment->graph && segment->ends.size() >= fewest)
      makeGraph(*segment);
  repeated.clear();
  if (segments.size() == mostSegments)
    dropUnused();
  ++invocation;
}

void ComputeGraphs::dropUnused() {
  for (auto it = segments.begin(); it != segments.end();) {
    bool isUsed = it->second.lastUse == invocation;
    if (!isUsed && it->second.graph)
      gpu.driver.graphExecDestroy(it->second.graph);
    it = isUsed ? std::next(it) : segments.erase(it);
  }
}

/// Without a graph the calls remain as they are, so errors are not reported.
void ComputeGraphs::makeGraph(Segment &segment) {
  const Driver &driver = gpu.driver;
  // Calls of other threads do not matter to this recording.
  if (driver.streamBeginCapture(gpu.stream, CAPTURE_THREAD_LOCAL) != SUCCESS)
    return refuse(segment);
  gpu.capturing = true;
  bool works = true;
  try {
    current = &segment;
    makeFirst(segment.ends.size());
  } catch (const Error &) {
    works = false;
  }
  gpu.capturing = false;
  Graph graph = nullptr;
  works &= driver.streamEndCapture(gpu.stream, &graph) == SUCCESS;
  works = works && graph &&
          driver.graphInstantiate(&segment.graph, graph,
                                  GRAPH_USE_NODE_PRIORITY) == SUCCESS;
  // Otherwise the first launch uploads, while other work runs.
  works = works && driver.graphUpload(segment.graph, gpu.stream) == SUCCESS;
  if (graph)
    driver.graphDestroy(graph);
  if (!works)
    refuse(segment);
}

void ComputeGraphs::forget() {
  for (auto &segment : segments)
    if (segment.second.graph)
      gpu.driver.graphExecDestroy(segment.second.graph);
  segments.clear();
  repeated.clear();
  state = State::Between;
  current = nullptr;
}

void ComputeGraphs::stop() {
  makeAll();
  stopped = true;
}
