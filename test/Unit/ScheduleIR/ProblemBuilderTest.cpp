//===- ProblemBuilderTest.cpp - Scheduling problems of blocks -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/ScheduleIR/ProblemBuilder.h"

#include "braid/Analysis/Tokens/RankUniformity.h"
#include "braid/InitAll.h"
#include "braid/Schedule/Simulation/SimulatedOrder.h"
#include "braid/ScheduleIR/Timeline.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "llvm/ADT/StringSet.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace braid;
using namespace mlir;
using testing::ElementsAre;
using testing::Pair;

namespace {

class ProblemBuilderTest : public testing::Test {
protected:
  ProblemBuilderTest() {
    registerAllDialects(registry);
    registry
        .insert<arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect,
                scf::SCFDialect, tensor::TensorDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  func::FuncOp parse(llvm::StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    return *module->getOps<func::FuncOp>().begin();
  }

  BlockProblem build(Block &block) {
    CostOptions options;
    options.hardware = lookupHardware("ideal");
    CostModel model(options);
    CallEffects calls(/*entersBodies=*/true);
    RankUniformity uniformity(*module);
    FailureOr<BlockProblem> problem =
        buildSchedulingProblem(block, model, calls, uniformity);
    EXPECT_TRUE(succeeded(problem));
    return std::move(*problem);
  }

  /// Checks that the simulator says the same of the program's order as the
  /// timeline of the function.
  void expectTimelineOf(func::FuncOp function, const BlockProblem &problem) {
    CostOptions options;
    options.hardware = lookupHardware("ideal");
    CostModel model(options);
    TimelineTotals totals = simulateRegion(function.getBody(), model).totals;
    Simulation simulation =
        simulateOrder(problem.problem, getProgramOrder(problem.problem.graph));
    EXPECT_EQ(simulation.makespanNs, totals.makespanNs);
    EXPECT_EQ(simulation.exposedNs, totals.exposedNs);
    EXPECT_EQ(simulation.peakBytes, totals.peakBytes);
  }

  DialectRegistry registry;
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(ProblemBuilderTest, WaitsOfACoalescedLaunchAwaitOneStart) {
  func::FuncOp function = parse(R"mlir(
    comm.group @world all
    func.func @main(%a: tensor<1000xf32>, %b: tensor<1000xf32>) -> tensor<1000xf32> {
      %t:2 = comm.all_reduce sum %a, %b on @world : tensor<1000xf32>, tensor<1000xf32>
      %c = comm.compute "c"(%a) {comm.cost_ns = 7 : i64} : (tensor<1000xf32>) -> tensor<1000xf32>
      %r = comm.wait %t#0 : !comm.token<tensor<1000xf32>>
      %s = comm.wait %t#1 : !comm.token<tensor<1000xf32>>
      %d = comm.compute "d"(%r, %s, %c) {comm.cost_ns = 5 : i64}
        : (tensor<1000xf32>, tensor<1000xf32>, tensor<1000xf32>) -> tensor<1000xf32>
      return %d : tensor<1000xf32>
    }
  )mlir");
  BlockProblem problem = build(function.getBody().front());
  EXPECT_THAT(problem.problem.awaits, ElementsAre(Pair(2, 0), Pair(3, 0)));
  EXPECT_THAT(problem.problem.getAwaitedStarts(3), ElementsAre(0));
  EXPECT_EQ(problem.problem.liveBytes, 8000);
  expectTimelineOf(function, problem);

  // The launch holds its own memory, as both operands are arguments; what it
  // gives lives to its last use. The result outlives the block.
  const std::vector<GraphBuffer> &buffers = problem.problem.buffers;
  ASSERT_EQ(buffers.size(), 4u);
  EXPECT_THAT(buffers[0].users, ElementsAre(0, 2, 4));
  EXPECT_THAT(buffers[1].users, ElementsAre(0, 3, 4));
  EXPECT_THAT(buffers[2].users, ElementsAre(1, 4));
  EXPECT_THAT(buffers[3].users, ElementsAre(4));
  EXPECT_FALSE(buffers[2].escapes);
  EXPECT_TRUE(buffers[3].escapes);
}

TEST_F(ProblemBuilderTest, MemoryOfTransparentOpsLivesFromItsFirstUser) {
  func::FuncOp function = parse(R"mlir(
    func.func @main(%a: tensor<100xf32>) -> tensor<100xf32> {
      %e = tensor.empty() : tensor<100xf32>
      %zero = arith.constant 0.0 : f32
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<100xf32>) -> tensor<100xf32>
      %c = comm.compute "c"(%a) {comm.cost_ns = 1 : i64} : (tensor<100xf32>) -> tensor<100xf32>
      %d = linalg.add {comm.cost_ns = 1 : i64} ins(%c, %c : tensor<100xf32>, tensor<100xf32>)
        outs(%f : tensor<100xf32>) -> tensor<100xf32>
      return %d : tensor<100xf32>
    }
  )mlir");
  BlockProblem problem = build(function.getBody().front());
  ASSERT_EQ(problem.problem.graph.size(), 2u);
  // The sum is written in place of the fill.
  ASSERT_EQ(problem.problem.buffers.size(), 2u);
  EXPECT_THAT(problem.problem.buffers[0].users, ElementsAre(1));
  EXPECT_THAT(problem.problem.buffers[1].users, ElementsAre(0, 1));
}

TEST_F(ProblemBuilderTest, TokensThatALoopCarriesAreAwaitedOneIterationLater) {
  func::FuncOp function = parse(R"mlir(
    comm.group @world all
    func.func @main(%a: tensor<100xf32>) -> tensor<100xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %t0 = comm.all_reduce sum %a on @world : tensor<100xf32>
      %x, %t = scf.for %i = %c0 to %c8 step %c1 iter_args(%x = %a, %t = %t0)
          -> (tensor<100xf32>, !comm.token<tensor<100xf32>>) {
        %u = comm.all_reduce sum %x on @world : tensor<100xf32>
        %c = comm.compute "c"(%x) : (tensor<100xf32>) -> tensor<100xf32>
        %r = comm.wait %t : !comm.token<tensor<100xf32>>
        %s = arith.addf %r, %c : tensor<100xf32>
        scf.yield %s, %u : tensor<100xf32>, !comm.token<tensor<100xf32>>
      }
      %r = comm.wait %t : !comm.token<tensor<100xf32>>
      return %r : tensor<100xf32>
    }
  )mlir");
  auto loop = *function.getOps<scf::ForOp>().begin();
  BlockProblem body = build(*loop.getBody());
  ASSERT_EQ(body.problem.carriedAwaits.size(), 1u);
  EXPECT_EQ(body.problem.carriedAwaits[0].waiter, 2u);
  EXPECT_EQ(body.problem.carriedAwaits[0].start, 0u);
  EXPECT_TRUE(body.problem.awaits.empty());

  // The loop itself awaits what it awaits inside, and its memory lives during
  // it.
  BlockProblem outer = build(function.getBody().front());
  EXPECT_THAT(outer.problem.awaits, ElementsAre(Pair(1, 0)));
  EXPECT_THAT(outer.problem.leastNs, ElementsAre(Pair(1, testing::Gt(0))));
  EXPECT_THAT(outer.problem.transientBytes,
              ElementsAre(Pair(1, testing::Gt(0))));
}

TEST_F(ProblemBuilderTest, RanksMeetInOneTextUnlessAConditionMayDiffer) {
  func::FuncOp function = parse(R"mlir(
    comm.group @world all
    comm.group @uneven [[0], [1, 2]]
    func.func @main(%n: index, %p: i1) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %size = comm.size on @world
      %uneven = comm.size on @uneven
      %rank = comm.rank on @world
      %twice = arith.muli %size, %c8 : index
      %isFirst = arith.cmpi eq, %rank, %c0 : index
      %isSmall = arith.cmpi slt, %size, %c8 : index
      scf.for %i = %c0 to %c8 step %c1 {
        %isEven = arith.cmpi eq, %i, %c1 : index
        scf.if %isEven { func.call @f() {label = "uniform induction"} : () -> () }
      }
      scf.for %i = %c0 to %twice step %c1 { func.call @f() {label = "uniform bound"} : () -> () }
      scf.if %isSmall { func.call @f() {label = "uniform condition"} : () -> () }
      scf.execute_region {
        func.call @f() {label = "no condition"} : () -> ()
        scf.yield
      }
      scf.for %i = %c0 to %n step %c1 { func.call @f() {label = "unknown bound"} : () -> () }
      scf.for %i = %c0 to %uneven step %c1 { func.call @f() {label = "uneven bound"} : () -> () }
      scf.if %p { func.call @f() {label = "unknown condition"} : () -> () }
      scf.if %isFirst { func.call @g() {label = "rank"} : () -> () }
      return
    }
    func.func @f() { return }
    func.func private @g() {
      func.call @h() {label = "called under a condition"} : () -> ()
      return
    }
    func.func private @h() { return }
    func.func private @called_together() {
      func.call @f() {label = "not called"} : () -> ()
      return
    }
  )mlir");
  RankUniformity uniformity(*module);
  llvm::StringSet<> together;
  unsigned numCalls = 0;
  module->walk([&](func::CallOp call) {
    ++numCalls;
    if (uniformity.areReachedTogether(*call->getBlock()))
      together.insert(call->getAttrOfType<StringAttr>("label").getValue());
  });
  EXPECT_EQ(numCalls, 10u);
  EXPECT_EQ(together.size(), 5u);
  for (const char *label : {"uniform induction", "uniform bound",
                            "uniform condition", "no condition", "not called"})
    EXPECT_TRUE(together.contains(label)) << label;

  // Seen from inside, a private function has callers that are not known.
  for (auto other : module->getOps<func::FuncOp>()) {
    RankUniformity alone(other);
    EXPECT_EQ(alone.areReachedTogether(other.getBody().front()),
              other.isPublic());
  }
  (*module)->setAttr("comm.mpmd", UnitAttr::get(&context));
  EXPECT_FALSE(
      RankUniformity(*module).areReachedTogether(function.getBody().front()));
}

TEST_F(ProblemBuilderTest, NoOrderOfABodyIsShorterThanItsCriticalPath) {
  func::FuncOp function = parse(R"mlir(
    comm.group @world all
    func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
      %end = arith.constant 10 : index
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %r = scf.for %i = %zero to %end step %one iter_args(%a = %x) -> tensor<8xf32> {
        %b = comm.compute "b"(%a) {comm.cost_ns = 100 : i64} : (tensor<8xf32>) -> tensor<8xf32>
        %t = comm.all_reduce sum %b on @world {comm.cost_ns = 200 : i64} : tensor<8xf32>
        %c = comm.compute "c"(%a) {comm.cost_ns = 50 : i64} : (tensor<8xf32>) -> tensor<8xf32>
        %s = comm.wait %t : !comm.token<tensor<8xf32>>
        %d = comm.compute "d"(%s, %c) {comm.cost_ns = 100 : i64}
          : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
        scf.yield %d : tensor<8xf32>
      }
      return %r : tensor<8xf32>
    }
  )mlir");
  BlockProblem problem = build(function.getBody().front());
  // The stream computes for 250 ns and the lane for 200; b, t, d take 400.
  EXPECT_THAT(problem.problem.leastNs, ElementsAre(Pair(0, 4000)));
}

} // namespace
