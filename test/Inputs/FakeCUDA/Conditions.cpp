//===- Conditions.cpp - Conditional nodes of the fake CUDA driver ---------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "State.h"

using namespace fakecuda;

/// Ends the process unless the graph is one, or the body of a conditional node.
static void checkAnyGraph(const char *call, Graph graph) {
  if (!state().graphs.count(graph) && !state().bodies.count(graph))
    fail(call, "the graph does not exist, or was destroyed");
}

extern "C" {

Result cuGraphCreate(Graph *graph, unsigned) {
  FAKE_CUDA_ENTER("cuGraphCreate")
  auto created = std::make_unique<CUgraph_st>();
  *graph = created.get();
  state().graphs.emplace(*graph, std::move(created));
  return SUCCESS;
}

/// The fake adds nodes behind all others of the graph.
Result cuStreamBeginCaptureToGraph(Stream stream, Graph graph,
                                   const GraphNode *, const GraphEdge *, size_t,
                                   CaptureMode mode) {
  FAKE_CUDA_ENTER("cuStreamBeginCaptureToGraph")
  checkAnyGraph("cuStreamBeginCaptureToGraph", graph);
  return beginCapture("cuStreamBeginCaptureToGraph", stream, mode, graph);
}

Result cuStreamGetCaptureInfo_v3(Stream stream, CaptureStatus *status,
                                 uint64_t *, Graph *, const GraphNode **nodes,
                                 const GraphEdge **edges, size_t *count) {
  FAKE_CUDA_ENTER("cuStreamGetCaptureInfo")
  checkStream("cuStreamGetCaptureInfo", stream);
  Capture *capture = stream->capture;
  *status = !capture               ? CAPTURE_NONE
            : capture->invalidated ? CAPTURE_INVALIDATED
                                   : CAPTURE_ACTIVE;
  *count = 0;
  if (*status != CAPTURE_ACTIVE)
    return SUCCESS;
  *edges = nullptr;
  *nodes = &capture->last;
  if (!capture->operations.empty()) {
    capture->last =
        reinterpret_cast<GraphNode>(capture->operations.back().get());
    *count = 1;
  }
  return SUCCESS;
}

Result cuGraphConditionalHandleCreate(ConditionHandle *handle, Graph graph,
                                      ContextHandle, unsigned value, unsigned) {
  FAKE_CUDA_ENTER("cuGraphConditionalHandleCreate")
  checkAnyGraph("cuGraphConditionalHandleCreate", graph);
  *handle = state().conditions.size() + 1;
  state().conditions[*handle] = std::make_shared<unsigned>(value);
  return SUCCESS;
}

/// Adds a loop or a choice.
Result cuGraphAddNode_v2(GraphNode *node, Graph graph, const GraphNode *,
                         const GraphEdge *, size_t,
                         CUgraphNodeParams_st *parameters) {
  FAKE_CUDA_ENTER("cuGraphAddNode")
  checkAnyGraph("cuGraphAddNode", graph);
  auto &added = *reinterpret_cast<ConditionalNode *>(parameters);
  auto condition = state().conditions.find(added.handle);
  bool isChoice = added.kind == CONDITIONAL_SWITCH;
  if (added.type != GRAPH_NODE_CONDITIONAL || added.size == 0 ||
      (!isChoice && (added.kind != CONDITIONAL_WHILE || added.size != 1)) ||
      condition == state().conditions.end())
    return ERROR_INVALID_VALUE;
  auto operation = std::make_shared<Operation>();
  operation->what = isChoice ? "choice" : "loop";
  operation->condition = condition->second;
  operation->isChoice = isChoice;
  for (unsigned number = 0; number < added.size; ++number) {
    auto body = std::make_unique<CUgraph_st>();
    operation->bodies.push_back(body.get());
    state().bodies.emplace(body.get(), std::move(body));
  }
  // The driver owns the array.
  added.bodies = operation->bodies.data();
  *node = reinterpret_cast<GraphNode>(operation.get());
  graph->operations.push_back(std::move(operation));
  return SUCCESS;
}
} // extern "C"
