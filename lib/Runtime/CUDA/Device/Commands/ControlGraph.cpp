//===- ControlGraph.cpp - Graphs with control flow of the GPU -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Device/Commands/ControlGraph.h"
#include "Base/Error.h"

using namespace braid::rt;
using namespace braid::rt::cuda;

/// cudaGraphSetConditional is a function of the driver's compiler, which no
/// image of a compiler without CUDA's device runtime can call.
static const char *const selectorPtx = R"(.version 8.0
.target sm_75
.address_size 64
.extern .func cudaGraphSetConditional
(
  .param .b64 cudaGraphSetConditional_param_0,
  .param .b32 cudaGraphSetConditional_param_1
)
;
.visible .entry braid_set_selector(
  .param .u64 handle,
  .param .u64 address,
  .param .u32 bytes,
  .param .u32 cases
)
{
  .reg .pred %p<7>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<7>;
  ld.param.u64 %rd1, [handle];
  ld.param.u64 %rd2, [address];
  ld.param.u32 %r1, [bytes];
  ld.param.u32 %r2, [cases];
  cvta.to.global.u64 %rd3, %rd2;
  setp.eq.s32 %p1, %r1, 1;
  @%p1 bra BYTE;
  setp.ne.s32 %p2, %r1, 4;
  @%p2 bra LONG;
  ld.global.s32 %rd4, [%rd3];
  bra.uni LOADED;
BYTE:
  ld.global.u8 %rd4, [%rd3];
  bra.uni LOADED;
LONG:
  ld.global.u64 %rd4, [%rd3];
LOADED:
  setp.ne.s64 %p3, %rd4, 0;
  selp.b32 %r3, 1, 0, %p3;
  add.s32 %r4, %r2, -1;
  cvt.s64.s32 %rd5, %r4;
  setp.lt.u64 %p4, %rd4, %rd5;
  cvt.u32.u64 %r5, %rd4;
  selp.b32 %r6, %r5, %r4, %p4;
  setp.eq.s32 %p5, %r2, 0;
  selp.b32 %r7, %r3, %r6, %p5;
  {
    .param .b64 param0;
    st.param.b64 [param0+0], %rd1;
    .param .b32 param1;
    st.param.b32 [param1+0], %r7;
    call.uni cudaGraphSetConditional, (param0, param1);
  }
  ret;
}
)";

SelectorKernel::~SelectorKernel() {
  if (module)
    gpu.driver.moduleUnload(module);
}

void SelectorKernel::load() {
  if (function)
    return;
  gpu.driver.call(gpu.driver.moduleLoadDataEx, &module, selectorPtx, 0, nullptr,
                  nullptr);
  gpu.driver.call(gpu.driver.moduleGetFunction, &function, module,
                  "braid_set_selector");
  gpu.driver.call(gpu.driver.funcLoad, function);
}

void SelectorKernel::launch(ConditionHandle handle, Selector selector) const {
  void *arguments[] = {&handle, &selector.address, &selector.bytes,
                       &selector.cases};
  gpu.driver.call(gpu.driver.launchKernel, function, 1, 1, 1, 1, 1, 1, 0,
                  gpu.stream, arguments, nullptr);
}

ControlGraph::ControlGraph(Gpu &gpu, const SelectorKernel &kernel)
    : gpu(gpu), kernel(kernel), open(1) {
  gpu.driver.call(gpu.driver.graphCreate, &open.front().graph, 0);
}

ControlGraph::~ControlGraph() { gpu.driver.graphDestroy(open.front().graph); }

void ControlGraph::record(const std::function<void()> &enqueue) {
  Sequence &sequence = open.back();
  gpu.beginCapture(sequence.graph, sequence.last);
  gpu.followsControl = true;
  Result result = SUCCESS;
  Graph graph = nullptr;
  try {
    enqueue();
    result = gpu.findLastCaptured(sequence.last);
    gpu.followsControl = false;
  } catch (const Error &) {
    gpu.endCapture(graph);
    throw;
  }
  gpu.driver.check(result, "cuStreamGetCaptureInfo");
  gpu.driver.check(gpu.endCapture(graph), "cuStreamEndCapture");
}

ControlGraph::Node ControlGraph::addNode(Selector selector) {
  ConditionalNode node;
  gpu.driver.call(gpu.driver.graphConditionalHandleCreate, &node.handle,
                  open.front().graph, gpu.context, 0, 0);
  record([&]() { kernel.launch(node.handle, selector); });
  if (selector.cases > 0) {
    node.kind = CONDITIONAL_SWITCH;
    node.size = static_cast<unsigned>(selector.cases);
  }
  node.context = gpu.context;
  Sequence &around = open.back();
  GraphNode added = nullptr;
  gpu.driver.call(gpu.driver.graphAddNode, &added, around.graph,
                  around.last.data(), nullptr, around.last.size(),
                  reinterpret_cast<CUgraphNodeParams_st *>(&node));
  around.last = {added};
  return {node.handle, {node.bodies, node.bodies + node.size}};
}

void ControlGraph::addLoop(Selector selector,
                           const std::function<void()> &add) {
  Node node = addNode(selector);
  open.push_back({node.bodies.front()});
  add();
  record([&]() { kernel.launch(node.handle, selector); });
  open.pop_back();
}

void ControlGraph::addChoice(Selector selector,
                             const std::function<void(int32_t)> &add) {
  Node node = addNode(selector);
  for (int32_t number = 0; number < selector.cases; ++number) {
    open.push_back({node.bodies[static_cast<size_t>(number)]});
    add(number);
    open.pop_back();
  }
}

GraphExec ControlGraph::instantiate() const {
  GraphExec executable = nullptr;
  gpu.driver.call(gpu.driver.graphInstantiate, &executable, open.front().graph,
                  GRAPH_USE_NODE_PRIORITY);
  return executable;
}
