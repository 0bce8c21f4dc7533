//===- SchedulingPass.cpp - What the scheduling passes share --------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SchedulingPass.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace braid;

SmallVector<func::FuncOp> braid::comm::getHostFunctions(Operation *root) {
  SmallVector<func::FuncOp> functions;
  if (root->getParentOfType<gpu::GPUModuleOp>())
    return functions;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<gpu::GPUModuleOp>(op))
      return WalkResult::skip();
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function)
      return WalkResult::advance();
    functions.push_back(function);
    return WalkResult::skip();
  });
  return functions;
}

CallEffects braid::comm::getCallEffects(Operation *root) {
  return CallEffects(/*entersBodies=*/isa<ModuleOp>(root));
}

/// The nodes for which `isMover` is true and that have another number of the
/// other nodes before them than in the program.
static unsigned countMoved(const ScheduleGraph &graph, ArrayRef<unsigned> order,
                           function_ref<bool(NodeKind)> isMover) {
  std::vector<unsigned> othersBefore(graph.size());
  unsigned numOthers = 0;
  for (unsigned node = 0, end = graph.size(); node != end; ++node) {
    othersBefore[node] = numOthers;
    numOthers += !isMover(graph[node].kind);
  }
  unsigned numMoved = 0;
  numOthers = 0;
  for (unsigned node : order) {
    if (!isMover(graph[node].kind))
      ++numOthers;
    else
      numMoved += othersBefore[node] != numOthers;
  }
  return numMoved;
}

FailureOr<unsigned> braid::comm::scheduleFunction(
    func::FuncOp function, CallEffects &calls, CostFunction cost,
    function_ref<ScheduleOrder(const ScheduleGraph &)> algorithm,
    function_ref<bool(NodeKind)> isMover) {
  SmallVector<Block *> blocks = prepareSchedulableBlocks(function);

  std::vector<BlockGraph> graphs;
  for (Block *block : blocks) {
    FailureOr<BlockGraph> graph = buildBlockGraph(*block, cost, calls);
    if (failed(graph))
      return failure();
    graphs.push_back(std::move(*graph));
  }
  unsigned numMoved = 0;
  for (const BlockGraph &graph : graphs) {
    ScheduleOrder order = algorithm(graph.graph);
    if (applyOrder(graph, order))
      numMoved += countMoved(graph.graph, order, isMover);
  }
  return numMoved;
}
