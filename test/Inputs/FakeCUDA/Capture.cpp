//===- Capture.cpp - Stream capture and graphs of the fake CUDA driver ----===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "State.h"

#include <utility>

using namespace fakecuda;

Capture *fakecuda::findCapture(uint64_t number) {
  for (const std::unique_ptr<Capture> &capture : state().captures)
    if (capture->number == number)
      return capture.get();
  return nullptr;
}

bool fakecuda::breaksCapture() {
  bool any = false;
  for (const std::unique_ptr<Capture> &capture : state().captures)
    if (capture->mode != CAPTURE_RELAXED &&
        (capture->mode == CAPTURE_GLOBAL ||
         capture->thread == std::this_thread::get_id())) {
      capture->invalidated = true;
      any = true;
    }
  return any;
}

Result fakecuda::beginCapture(const char *call, Stream stream, CaptureMode mode,
                              Graph target) {
  checkStream(call, stream);
  if (stream->capture)
    fail(call, "the stream is recording already");
  auto capture = std::make_unique<Capture>();
  capture->origin = stream;
  capture->thread = std::this_thread::get_id();
  capture->mode = mode;
  capture->target = target;
  capture->number = ++state().captureCount;
  capture->streams.emplace(stream, stream->clock);
  stream->capture = capture.get();
  state().captures.push_back(std::move(capture));
  return SUCCESS;
}

extern "C" {

Result cuStreamBeginCapture_v2(Stream stream, CaptureMode mode) {
  FAKE_CUDA_ENTER("cuStreamBeginCapture")
  return beginCapture("cuStreamBeginCapture", stream, mode, nullptr);
}

Result cuStreamIsCapturing(Stream stream, CaptureStatus *status) {
  FAKE_CUDA_ENTER("cuStreamIsCapturing")
  checkStream("cuStreamIsCapturing", stream);
  *status = !stream->capture               ? CAPTURE_NONE
            : stream->capture->invalidated ? CAPTURE_INVALIDATED
                                           : CAPTURE_ACTIVE;
  return SUCCESS;
}

/// Whether the origin has waited for all that the other streams have done.
static bool isJoined(const Capture &capture) {
  const Clock &known = capture.origin->clock;
  for (const auto &work : capture.lastWork) {
    auto tick = known.find(work.first);
    if (tick == known.end() || tick->second < work.second)
      return false;
  }
  return true;
}

Result cuStreamEndCapture(Stream stream, Graph *graph) {
  FAKE_CUDA_ENTER("cuStreamEndCapture")
  checkStream("cuStreamEndCapture", stream);
  *graph = nullptr;
  Capture *capture = stream->capture;
  if (!capture || capture->origin != stream)
    return ERROR_STREAM_CAPTURE_UNMATCHED;
  if (capture->mode != CAPTURE_RELAXED &&
      capture->thread != std::this_thread::get_id())
    return ERROR_STREAM_CAPTURE_WRONG_THREAD;
  Result result = capture->invalidated ? ERROR_STREAM_CAPTURE_INVALIDATED
                  : isJoined(*capture) ? SUCCESS
                                       : ERROR_STREAM_CAPTURE_UNJOINED;
  if (result == SUCCESS && !capture->target) {
    auto created = std::make_unique<CUgraph_st>();
    capture->target = created.get();
    state().graphs.emplace(capture->target, std::move(created));
  }
  if (result == SUCCESS) {
    *graph = capture->target;
    (*graph)->operations.insert((*graph)->operations.end(),
                                capture->operations.begin(),
                                capture->operations.end());
  }
  // What has been recorded orders nothing outside of the graph.
  for (auto &member : capture->streams) {
    CUstream_st &stream = *member.first;
    uint64_t tick = stream.clock[stream.number];
    stream.clock = std::move(member.second);
    stream.clock[stream.number] = tick;
    stream.capture = nullptr;
  }
  auto &captures = state().captures;
  for (auto it = captures.begin(); it != captures.end(); ++it)
    if (it->get() == capture) {
      captures.erase(it);
      break;
    }
  return result;
}

static CUgraph_st &checkGraph(const char *call, Graph graph) {
  if (state().graphs.find(graph) == state().graphs.end())
    fail(call, "the graph does not exist, or was destroyed");
  return *graph;
}

Result cuGraphGetNodes(Graph graph, GraphNode *nodes, size_t *count) {
  FAKE_CUDA_ENTER("cuGraphGetNodes")
  checkGraph("cuGraphGetNodes", graph);
  if (nodes)
    fail("cuGraphGetNodes", "the fake only counts nodes");
  *count = graph->operations.size();
  return SUCCESS;
}

Result cuGraphDestroy(Graph graph) {
  FAKE_CUDA_ENTER("cuGraphDestroy")
  checkGraph("cuGraphDestroy", graph);
  state().graphs.erase(graph);
  return SUCCESS;
}

Result cuGraphInstantiateWithFlags(GraphExec *exec, Graph graph,
                                   unsigned long long) {
  FAKE_CUDA_ENTER("cuGraphInstantiate")
  checkGraph("cuGraphInstantiate", graph);
  currentContext("cuGraphInstantiate");
  checkAllocation("cuGraphInstantiate");
  auto created = std::make_unique<CUgraphExec_st>();
  const fake_cuda_tracer *tracer = state().tracer;
  for (const std::shared_ptr<Operation> &operation : graph->operations) {
    created->operations.push_back(std::make_shared<Operation>(*operation));
    if (tracer)
      tracer->cloned(created->operations.back().get(), operation.get());
  }
  *exec = created.get();
  state().graphExecs.emplace(*exec, std::move(created));
  return SUCCESS;
}

static CUgraphExec_st &checkGraphExec(const char *call, GraphExec exec) {
  if (state().graphExecs.find(exec) == state().graphExecs.end())
    fail(call, "the executable graph does not exist, or was destroyed");
  return *exec;
}

/// Adds what operations touch, those of loops included.
static void addAccesses(const std::vector<std::shared_ptr<Operation>> &all,
                        std::vector<Access> &accesses) {
  for (const std::shared_ptr<Operation> &operation : all) {
    accesses.insert(accesses.end(), operation->accesses.begin(),
                    operation->accesses.end());
    for (const CUgraph_st *body : operation->bodies)
      addAccesses(body->operations, accesses);
  }
}

/// The operations run in the order in which they were recorded, which is one
/// of those that the graph allows.
Result cuGraphLaunch(GraphExec exec, Stream stream) {
  FAKE_CUDA_ENTER("cuGraphLaunch")
  checkStream("cuGraphLaunch", stream);
  checkGraphExec("cuGraphLaunch", exec);
  auto whole = std::make_shared<Operation>();
  whole->what =
      "graph of " + std::to_string(exec->operations.size()) + " operations";
  addAccesses(exec->operations, whole->accesses);
  whole->parts = exec->operations;
  return submit("cuGraphLaunch", *stream, whole);
}

Result cuGraphExecDestroy(GraphExec exec) {
  FAKE_CUDA_ENTER("cuGraphExecDestroy")
  checkGraphExec("cuGraphExecDestroy", exec);
  state().graphExecs.erase(exec);
  return SUCCESS;
}
} // extern "C"
