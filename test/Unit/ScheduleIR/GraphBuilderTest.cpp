//===- GraphBuilderTest.cpp - Graphs of blocks ----------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/ScheduleIR/GraphBuilder.h"

#include "Analysis/Memory/TransparentOps.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/InitAll.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"

#include "gtest/gtest.h"

using namespace braid;
using namespace mlir;

namespace {

class GraphBuilderTest : public testing::Test {
protected:
  GraphBuilderTest() {
    DialectRegistry registry;
    registerAllDialects(registry);
    registry
        .insert<arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect,
                memref::MemRefDialect, tensor::TensorDialect>();
    context.appendDialectRegistry(registry);
  }

  /// The graph of the body of the first function of `text`. The cost of an op
  /// is the number of its operands; waits and transparent ops cost nothing.
  BlockGraph build(llvm::StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    auto function = *module->getOps<func::FuncOp>().begin();
    CallEffects calls(/*entersBodies=*/true);
    RankUniformity uniformity(*module);
    auto cost = [](Operation *op) -> int64_t {
      return isa<comm::WaitOp>(op) || isTransparentOp(op)
                 ? 0
                 : op->getNumOperands();
    };
    FailureOr<BlockGraph> graph =
        buildBlockGraph(function.getBody().front(), cost, calls, uniformity);
    EXPECT_TRUE(succeeded(graph));
    return std::move(*graph);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(GraphBuilderTest, KindsLanesCostsAndBytes) {
  BlockGraph block = build(R"mlir(
    comm.group @world all
    comm.group @tp [[0, 1]]
    func.func @main(%a: tensor<4x?xf32>, %b: tensor<8xf16>) {
      %t:2 = comm.all_reduce sum %a, %b on @world : tensor<4x?xf32>, tensor<8xf16>
      %u = comm.send %b on @tp to 1 : tensor<8xf16>
      %v = comm.all_reduce sum %b on @tp : tensor<8xf16>
      %w = comm.recv on @tp from 1 : tensor<2xcomplex<f64>>
      %x = comm.compute "f"(%b, %b) : (tensor<8xf16>, tensor<8xf16>) -> tensor<8xi1>
      func.call @unknown() : () -> ()
      %r = comm.wait %t#0 : !comm.token<tensor<4x?xf32>>
      return
    }
    func.func private @unknown()
  )mlir");
  const ScheduleGraph &graph = block.graph;
  ASSERT_EQ(graph.size(), 7u);
  const NodeKind kinds[] = {
      NodeKind::Start,   NodeKind::Start,  NodeKind::Start, NodeKind::Start,
      NodeKind::Compute, NodeKind::Opaque, NodeKind::Wait};
  const int32_t lanes[] = {0, 1, 2, 1, -1, -1, -1};
  const int64_t costs[] = {2, 1, 1, 0, 2, 0, 0};
  const int64_t bytes[] = {16 + 16, 0, 16, 32, 8, 0, 0};
  for (unsigned node = 0; node != graph.size(); ++node) {
    EXPECT_EQ(graph[node].kind, kinds[node]) << node;
    EXPECT_EQ(graph[node].lane, lanes[node]) << node;
    EXPECT_EQ(graph[node].cost, costs[node]) << node;
    EXPECT_EQ(graph[node].bytes, bytes[node]) << node;
    EXPECT_EQ(graph[node].pointToPoint, lanes[node] == 1) << node;
  }
  // The opaque op is ordered against everything, the lane of sends and receives
  // within itself, and nothing else.
  EXPECT_EQ(graph.predecessors(5).size(), 5u);
  EXPECT_TRUE(graph.hasEdge(1, 3));
  EXPECT_TRUE(graph.hasEdge(5, 6));
  EXPECT_EQ(graph.numEdges(), 5u + 1u + 2u);
}

TEST_F(GraphBuilderTest, OpsWithoutTimeAreTransparent) {
  BlockGraph block = build(R"mlir(
    func.func @main(%a: tensor<8xf32>, %i: index) -> tensor<8xf32> {
      %c = arith.constant 0.0 : f32
      %x = comm.compute "x"(%a) : (tensor<8xf32>) -> tensor<8xf32>
      %j = arith.addi %i, %i : index
      %s = tensor.extract_slice %x[%j] [4] [1] : tensor<8xf32> to tensor<4xf32>
      %e = tensor.empty() : tensor<4xf32>
      %f = linalg.fill ins(%c : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
      %m = memref.alloc() : memref<16xf32>
      %y = linalg.add ins(%s, %s : tensor<4xf32>, tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
      %z = comm.compute "z"(%y, %m) : (tensor<4xf32>, memref<16xf32>) -> tensor<8xf32>
      return %z : tensor<8xf32>
    }
  )mlir");
  ASSERT_EQ(block.graph.size(), 3u);
  EXPECT_TRUE(block.graph.hasEdge(0, 1));
  EXPECT_EQ(block.transparent.size(), 6u);
  EXPECT_EQ(block.numLeading, 1u);
  // The allocation counts where it is first used.
  EXPECT_EQ(block.graph[0].bytes, 32);
  EXPECT_EQ(block.graph[1].bytes, 16);
  EXPECT_EQ(block.graph[2].bytes, 32 + 64);
}

TEST_F(GraphBuilderTest, WhatIsMeasuredToTakeTimeIsNotTransparent) {
  module = parseSourceString<ModuleOp>(R"mlir(
    func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
      %s = tensor.extract_slice %a[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
      %x = comm.compute "x"(%s) : (tensor<4xf32>) -> tensor<8xf32>
      return %x : tensor<8xf32>
    }
  )mlir",
                                       &context);
  ASSERT_TRUE(module);
  auto function = *module->getOps<func::FuncOp>().begin();
  CallEffects calls(/*entersBodies=*/true);
  RankUniformity uniformity(*module);
  for (int64_t ns : {0, 1}) {
    FailureOr<BlockGraph> graph = buildBlockGraph(
        function.getBody().front(), [&](Operation *) -> int64_t { return ns; },
        calls, uniformity);
    ASSERT_TRUE(succeeded(graph));
    EXPECT_EQ(graph->graph.size(), ns == 0 ? 1u : 2u);
  }
}

TEST_F(GraphBuilderTest, AFillThatTwoOpsUseIsANode) {
  BlockGraph block = build(R"mlir(
    func.func @main(%a: tensor<8xf32>, %c: f32) {
      %f = linalg.fill ins(%c : f32) outs(%a : tensor<8xf32>) -> tensor<8xf32>
      %x = comm.compute "x"(%f) : (tensor<8xf32>) -> tensor<8xf32>
      %y = comm.compute "y"(%f) : (tensor<8xf32>) -> tensor<8xf32>
      return
    }
  )mlir");
  EXPECT_EQ(block.graph.size(), 3u);
}

TEST_F(GraphBuilderTest, AFillThatAStartSendsIsANode) {
  BlockGraph block = build(R"mlir(
    comm.group @world all
    func.func @main(%a: tensor<8xf32>, %c: f32) {
      %f = linalg.fill ins(%c : f32) outs(%a : tensor<8xf32>) -> tensor<8xf32>
      %t = comm.all_reduce sum %f on @world : tensor<8xf32>
      %r = comm.wait %t : !comm.token<tensor<8xf32>>
      return
    }
  )mlir");
  EXPECT_EQ(block.graph.size(), 3u);
}

// Two ranks may exchange a message in different ops of one text.
TEST_F(GraphBuilderTest, WaitsStayAfterMessagesAndWaitsForMessagesAfterStarts) {
  BlockGraph block = build(R"mlir(
    comm.group @world all
    func.func @main(%a: tensor<8xf32>, %p: index) {
      %t = comm.all_reduce sum %a on @world : tensor<8xf32>
      %u = comm.send %a on @world to %p : tensor<8xf32>
      %v = comm.all_reduce max %a on @world : tensor<8xf32>
      %r = comm.wait %t : !comm.token<tensor<8xf32>>
      comm.wait %u : !comm.token
      return
    }
  )mlir");
  const ScheduleGraph &graph = block.graph;
  // Tokens.
  EXPECT_TRUE(graph.hasEdge(0, 3));
  EXPECT_TRUE(graph.hasEdge(1, 4));
  EXPECT_TRUE(graph.hasEdge(1, 3));
  EXPECT_TRUE(graph.hasEdge(0, 4));
  EXPECT_TRUE(graph.hasEdge(2, 4));
  EXPECT_EQ(graph.numEdges(), 5u);
}

// Each wait for a message follows all earlier collectives, in few edges.
TEST_F(GraphBuilderTest, EdgesFromCollectivesToWaitsForMessagesStayLinear) {
  constexpr unsigned count = 500;
  std::string text = R"mlir(
    comm.group @world all
    func.func @main(%a: tensor<8xf32>, %p: index) {
  )mlir";
  for (unsigned i = 0; i != count; ++i)
    text += llvm::formatv(R"mlir(
      %t{0} = comm.all_reduce sum %a on @world : tensor<8xf32>
      %u{0} = comm.send %a on @world to %p : tensor<8xf32>
      comm.wait %u{0} : !comm.token
    )mlir",
                          i);
  BlockGraph block = build(text + "return }");
  const ScheduleGraph &graph = block.graph;
  ASSERT_EQ(graph.size(), 3 * count);
  EXPECT_LT(graph.numEdges(), 70 * count);
  for (unsigned start = 0; start != graph.size(); start += 3) {
    std::vector<bool> follows(graph.size(), false);
    follows[start] = true;
    for (unsigned node = start + 1; node != graph.size(); ++node) {
      for (unsigned predecessor : graph.predecessors(node))
        follows[node] = follows[node] || follows[predecessor];
      if (node % 3 == 2) {
        ASSERT_TRUE(follows[node]) << start << " before " << node;
      }
    }
  }
}

// A shared scalar that depends on many nodes becomes a node, and a read of a
// buffer that was written piece by piece counts as a write; or there would be
// an edge for each pair.
TEST_F(GraphBuilderTest, EdgesStayLinear) {
  constexpr int count = 1000;
  std::string text = R"mlir(
    func.func @main(%m: memref<4096xf32>, %i: index, %f: f32) {
      %c = arith.constant 0 : index
      %k0 = arith.addi %i, %i : index
  )mlir";
  for (int i = 1; i <= count; ++i)
    text += llvm::formatv(R"mlir(
      %s{0} = comm.compute "s"(%i) : (index) -> index
      %k{0} = arith.addi %s{0}, %k{1} : index
    )mlir",
                          i, i - 1);
  for (int i = 1; i <= count; ++i)
    text += llvm::formatv(R"mlir(
      comm.compute "u"(%k{1}) : (index) -> ()
      %v{0} = memref.subview %m[{2}] [4] [1] : memref<4096xf32> to memref<4xf32, strided<[1], offset: {2}>>
      memref.store %f, %v{0}[%c] : memref<4xf32, strided<[1], offset: {2}>>
    )mlir",
                          i, count, 4 * (i - 1));
  for (int i = 1; i <= count; ++i)
    text += llvm::formatv("%l{0} = memref.load %m[%i] : memref<4096xf32>\n", i);
  text += "return\n}";
  BlockGraph block = build(text);
  EXPECT_GE(block.graph.size(), 4u * count);
  EXPECT_LT(block.graph.numEdges(), 20u * block.graph.size());
}

TEST_F(GraphBuilderTest, OrderIsAppliedWithTransparentOps) {
  BlockGraph block = build(R"mlir(
    func.func @main(%a: tensor<8xf32>, %i: index) -> (tensor<4xf32>, tensor<4xf32>) {
      %c = arith.constant 0.0 : f32
      %x = comm.compute "x"(%a) : (tensor<8xf32>) -> tensor<4xf32>
      %j = arith.addi %i, %i : index
      %s = tensor.extract_slice %a[%j] [4] [1] : tensor<8xf32> to tensor<4xf32>
      %y = comm.compute "y"(%s) : (tensor<4xf32>) -> tensor<4xf32>
      return %x, %y : tensor<4xf32>, tensor<4xf32>
    }
  )mlir");
  EXPECT_FALSE(applyOrder(block, {0, 1}));
  EXPECT_TRUE(applyOrder(block, {1, 0}));
  std::vector<std::string> names;
  for (Operation &op : *block.block)
    names.push_back(op.getName().getStringRef().str());
  EXPECT_EQ(names, (std::vector<std::string>{
                       "arith.constant", "arith.addi", "tensor.extract_slice",
                       "comm.compute", "comm.compute", "func.return"}));
  EXPECT_EQ(block.ops[1]->getNextNode(), block.ops[0]);
}

} // namespace
