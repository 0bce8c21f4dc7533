//===- CommInterfacesTest.cpp - What comm ops say of themselves -----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Dialect/Comm/IR/Comm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace braid::comm;

namespace {

class CommInterfacesTest : public testing::Test {
protected:
  CommInterfacesTest() {
    context.loadDialect<CommDialect, arith::ArithDialect, func::FuncDialect,
                        memref::MemRefDialect, tensor::TensorDialect>();
  }

  /// Parses a function of `%x : tensor<4xf32>`, `%a` and `%b : memref<4xf32>`,
  /// `%i : index` and `%s : f32` over the groups @tp, of two, @uneven and
  /// @world.
  void parse(StringRef body) {
    std::string program = (R"(
      comm.group @tp [[0, 1], [2, 3]]
      comm.group @uneven [[7], [5, 3, 1]]
      comm.group @world all
      func.func @f(%x: tensor<4xf32>, %a: memref<4xf32>, %b: memref<4xf32>,
                   %i: index, %s: f32) {
    )" + body + "\n return\n }\n")
                              .str();
    module = parseSourceString<ModuleOp>(program, &context);
    ASSERT_TRUE(module);
  }

  /// The first op of `OpTy` in the program.
  template <typename OpTy> OpTy first() {
    OpTy found;
    module->walk([&](OpTy op) {
      found = op;
      return WalkResult::interrupt();
    });
    return found;
  }

  /// The first start in the program.
  AsyncStartOpInterface start() {
    AsyncStartOpInterface found;
    module->walk([&](Operation *op) {
      found = getAsyncStart(op);
      return found ? WalkResult::interrupt() : WalkResult::advance();
    });
    return found;
  }

  CollectiveOpInterface collective() {
    return cast<CollectiveOpInterface>(start().getOperation());
  }

  BlockArgument argument(unsigned index) {
    return first<func::FuncOp>().getArgument(index);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

using Values = SmallVector<Value>;

TEST_F(CommInterfacesTest, EachRowOfTheTableIsAnOp) {
  size_t numCollectives = 0;
  for (RegisteredOperationName name : context.getRegisteredOperations())
    numCollectives += name.hasInterface<CollectiveOpInterface>();
  EXPECT_EQ(numCollectives, getMaxEnumValForCollectiveKind() + 1);
  for (uint32_t i = 0; i <= getMaxEnumValForCollectiveKind(); ++i) {
    std::string name =
        ("comm." + stringifyCollectiveKind(static_cast<CollectiveKind>(i)))
            .str();
    std::optional<RegisteredOperationName> op =
        RegisteredOperationName::lookup(name, &context);
    ASSERT_TRUE(op) << name;
    EXPECT_TRUE(op->hasInterface<CollectiveOpInterface>()) << name;
  }
}

TEST_F(CommInterfacesTest, CallArgumentsAreTheRootAndTheDimensionByDefault) {
  parse("comm.broadcast %x on @tp root 1 : tensor<4xf32>");
  SmallVector<CallArgument> arguments = collective().getCallArguments();
  ASSERT_EQ(arguments.size(), 1u);
  EXPECT_FALSE(arguments[0].isList);
  EXPECT_EQ(getConstantIntValue(arguments[0].numbers[0]), 1);

  parse("comm.all_gather %x on @tp dim 0 : tensor<4xf32> -> tensor<8xf32>");
  arguments = collective().getCallArguments();
  ASSERT_EQ(arguments.size(), 1u);
  EXPECT_EQ(getConstantIntValue(arguments[0].numbers[0]), 0);

  parse("comm.gather %x on @tp root 0 : tensor<4xf32> -> tensor<8xf32>");
  EXPECT_EQ(collective().getCallArguments().size(), 1u);

  parse("comm.all_reduce sum %x on @tp : tensor<4xf32>");
  EXPECT_TRUE(collective().getCallArguments().empty());
}

TEST_F(CommInterfacesTest, CallOfSplitsHasASuffixAndLists) {
  parse("comm.all_to_all %x on @tp : tensor<4xf32>");
  EXPECT_EQ(collective().getCallSuffix(), "");
  EXPECT_TRUE(collective().getCallArguments().empty());

  parse("comm.all_to_all %x on @tp splits [%i, 2] into [2, %i] : "
        "tensor<4xf32> -> tensor<?xf32>");
  EXPECT_EQ(collective().getCallSuffix(), "_splits");
  SmallVector<CallArgument> arguments = collective().getCallArguments();
  ASSERT_EQ(arguments.size(), 3u);
  EXPECT_EQ(getConstantIntValue(arguments[0].numbers[0]), 2);
  EXPECT_TRUE(arguments[1].isList);
  EXPECT_TRUE(isa<Value>(arguments[1].numbers[0]));
  EXPECT_EQ(getConstantIntValue(arguments[1].numbers[1]), 2);
  EXPECT_EQ(getConstantIntValue(arguments[2].numbers[0]), 2);
  EXPECT_TRUE(isa<Value>(arguments[2].numbers[1]));

  parse("comm.all_to_all %x on @tp splits [[1, 3], [2, 2]] : "
        "tensor<4xf32> -> tensor<?xf32>");
  EXPECT_EQ(collective().getCallSuffix(), "_matrix");
  arguments = collective().getCallArguments();
  ASSERT_EQ(arguments.size(), 2u);
  EXPECT_EQ(getConstantIntValues(arguments[1].numbers),
            (SmallVector<int64_t>{1, 3, 2, 2}));
}

TEST_F(CommInterfacesTest, OnlySomeCollectivesAreIdentitiesInAGroupOfOne) {
  parse("comm.all_reduce sum %x on @tp : tensor<4xf32>");
  EXPECT_TRUE(collective().isIdentityInGroupOfOne());
  parse("comm.all_reduce premul_sum(%s : f32) %x on @tp : tensor<4xf32>");
  EXPECT_FALSE(collective().isIdentityInGroupOfOne());
  parse("comm.permute %x on @tp pairs [[0, 1]] : tensor<4xf32>");
  EXPECT_FALSE(collective().isIdentityInGroupOfOne());
  parse("comm.send %x on @tp to 1 : tensor<4xf32>");
  EXPECT_FALSE(collective().isIdentityInGroupOfOne());
  parse("comm.barrier on @tp");
  EXPECT_FALSE(collective().isIdentityInGroupOfOne());
}

TEST_F(CommInterfacesTest, AllReduceOnTensors) {
  parse("%t:2 = comm.all_reduce max %x, %x on @tp : tensor<4xf32>, "
        "tensor<4xf32>");
  EXPECT_EQ(collective().getCollectiveKind(), CollectiveKind::all_reduce);
  EXPECT_EQ(collective().getReductionKind(), ReductionKind::max);
  EXPECT_EQ(collective().getRootIndex(), std::nullopt);
  EXPECT_EQ(collective().getGroupAttr().getValue(), "tp");
  EXPECT_FALSE(collective().isPointToPoint());
  EXPECT_FALSE(start().isBufferForm());
  EXPECT_TRUE(start().canRunInPlace());
  EXPECT_EQ(start().getTokens().size(), 2u);
  EXPECT_EQ(start().getInFlightType(1), argument(0).getType());
  EXPECT_EQ(start().getSources(), Values({argument(0), argument(0)}));
  EXPECT_TRUE(start().getDestinations().empty());
}

TEST_F(CommInterfacesTest, AllGatherOnBuffers) {
  parse("%w = memref.alloc() : memref<8xf32>\n"
        "%t = comm.all_gather %a into %w on @tp dim 0 : memref<4xf32>, "
        "memref<8xf32>");
  EXPECT_EQ(collective().getCollectiveKind(), CollectiveKind::all_gather);
  EXPECT_EQ(collective().getReductionKind(), std::nullopt);
  EXPECT_EQ(collective().getSplitDim(), 0);
  EXPECT_TRUE(start().isBufferForm());
  EXPECT_FALSE(start().canRunInPlace());
  EXPECT_FALSE(start().getInFlightType(0));
  EXPECT_EQ(start().getSources(), Values({argument(1)}));
  EXPECT_EQ(start().getDestinations().size(), 1u);
}

TEST_F(CommInterfacesTest, RootOfBroadcast) {
  parse("%t = comm.broadcast %x on @tp root 1 : tensor<4xf32>");
  EXPECT_EQ(collective().getRootIndex(), 1);
}

TEST_F(CommInterfacesTest, SplitDimOfReduceScatter) {
  parse("%y = tensor.empty() : tensor<4x8xf32>\n"
        "%t = comm.reduce_scatter sum %y on @tp dim 1 : tensor<4x8xf32> -> "
        "tensor<4x4xf32>");
  EXPECT_EQ(collective().getSplitDim(), 1);
  EXPECT_EQ(collective().getReductionKind(), ReductionKind::sum);
}

// A group's collectives share a lane, its sends and receives another one.
TEST_F(CommInterfacesTest, Lanes) {
  parse("%t = comm.all_reduce sum %x on @tp : tensor<4xf32>\n"
        "%u = comm.barrier on @tp\n"
        "%v = comm.send %x on @tp to 1 : tensor<4xf32>\n"
        "%w = comm.recv on @tp from 1 : tensor<4xf32>\n"
        "%y = comm.all_reduce sum %x on @world : tensor<4xf32>\n"
        "%z = comm.compute async \"k\"(%x) : (tensor<4xf32>) -> tensor<4xf32>");
  SmallVector<Attribute> lanes;
  module->walk(
      [&](AsyncStartOpInterface op) { lanes.push_back(op.getLane()); });
  ASSERT_EQ(lanes.size(), 6u);
  EXPECT_EQ(lanes[0], lanes[1]);
  EXPECT_EQ(lanes[2], lanes[3]);
  EXPECT_NE(lanes[0], lanes[2]);
  EXPECT_NE(lanes[0], lanes[4]);
  EXPECT_NE(lanes[5], lanes[0]);
  EXPECT_NE(lanes[5], lanes[2]);
}

TEST_F(CommInterfacesTest, PointToPoint) {
  parse("%t = comm.send %a on @tp to %i : memref<4xf32>");
  EXPECT_TRUE(collective().isPointToPoint());
  EXPECT_TRUE(start().isBufferForm());
  EXPECT_EQ(start().getSources(), Values({argument(1)}));
  EXPECT_TRUE(start().getDestinations().empty());
}

// A synchronous compute has the interface, but starts nothing.
TEST_F(CommInterfacesTest, SynchronousComputeIsNoStart) {
  parse("%y = comm.compute \"k\"(%x) : (tensor<4xf32>) -> tensor<4xf32>");
  EXPECT_TRUE(isa<AsyncStartOpInterface>(first<ComputeOp>().getOperation()));
  EXPECT_FALSE(start());
}

// Scalars of a kernel are not in flight.
TEST_F(CommInterfacesTest, AsyncComputeOnBuffers) {
  parse("%t = comm.compute async \"k\"(%a, %s, %b) : (memref<4xf32>, f32, "
        "memref<4xf32>) -> ()");
  EXPECT_TRUE(start().isBufferForm());
  EXPECT_EQ(start().getTokens().size(), 1u);
  EXPECT_EQ(start().getSources(), Values({argument(1), argument(2)}));
  EXPECT_EQ(start().getDestinations(), Values({argument(1), argument(2)}));
  EXPECT_TRUE(first<ComputeOp>().isOpaque());
  EXPECT_TRUE(first<ComputeOp>().getValueTypes().empty());
}

TEST_F(CommInterfacesTest, StartOfWait) {
  parse("%t:2 = comm.all_reduce sum %x, %x on @tp : tensor<4xf32>, "
        "tensor<4xf32>\n"
        "%r = comm.wait %t#1 : !comm.token<tensor<4xf32>>");
  EXPECT_EQ(first<WaitOp>().getStart(), start());
}

TEST_F(CommInterfacesTest, Groups) {
  parse("%r = comm.rank on @tp");
  Operation *from = first<RankOp>();
  auto lookup = [&](StringRef name) {
    return lookupGroup(from, FlatSymbolRefAttr::get(&context, name));
  };
  GroupOp tp = lookup("tp"), uneven = lookup("uneven"), world = lookup("world");
  EXPECT_FALSE(lookup("none"));
  EXPECT_FALSE(lookup("f"));
  EXPECT_EQ(tp.getStaticSize(), 2);
  EXPECT_EQ(tp.getMinimumSize(), 2);
  EXPECT_TRUE(tp.mayContain(3));
  EXPECT_FALSE(tp.mayContain(4));
  EXPECT_EQ(uneven.getStaticSize(), std::nullopt);
  EXPECT_EQ(uneven.getMinimumSize(), 1);
  EXPECT_EQ(uneven.getRankLists()[1], ArrayRef<int64_t>({5, 3, 1}));
  EXPECT_TRUE(world.isAll());
  EXPECT_EQ(world.getStaticSize(), std::nullopt);
  EXPECT_EQ(world.getMinimumSize(), std::nullopt);
  EXPECT_TRUE(world.mayContain(1000));
}

TEST_F(CommInterfacesTest, Splits) {
  parse("%t = comm.all_to_all %x on @tp splits [%i, 1] into [3, %i]"
        " : tensor<4xf32> -> tensor<?xf32>");
  auto op = first<AllToAllOp>();
  Builder builder(&context);
  EXPECT_TRUE(op.hasSplits());
  EXPECT_EQ(
      op.getMixedSendSizes(),
      SmallVector<OpFoldResult>({argument(3), builder.getI64IntegerAttr(1)}));
  EXPECT_EQ(
      op.getMixedReceiveSizes(),
      SmallVector<OpFoldResult>({builder.getI64IntegerAttr(3), argument(3)}));
}

// The label is the attribute, or else the first name of the location.
TEST_F(CommInterfacesTest, Labels) {
  parse(
      "%0 = comm.rank on @tp {comm.label = \"attribute\"} loc(\"location\")\n"
      "%1 = comm.rank on @tp loc(fused[\"file\":1:2, \"part\"(\"file\":1:2)])\n"
      "%2 = comm.rank on @tp loc(callsite(\"callee\" at \"caller\"))\n"
      "%3 = comm.rank on @tp loc(\"file\":1:2)");
  SmallVector<StringRef> labels;
  module->walk([&](RankOp op) { labels.push_back(getLabel(op)); });
  EXPECT_EQ(labels,
            SmallVector<StringRef>({"attribute", "part", "callee", ""}));
}

// Builders infer the types of tokens and of awaited values.
TEST_F(CommInterfacesTest, InferredTypes) {
  parse("");
  OpBuilder builder(first<func::ReturnOp>());
  Location loc = builder.getUnknownLoc();
  auto sum = AllReduceOp::create(builder, loc, ReductionKind::sum,
                                 /*scale=*/Value(), argument(0),
                                 /*outputs=*/ValueRange(), "tp");
  EXPECT_EQ(sum.getTokens().front().getType(),
            TokenType::get(argument(0).getType()));
  auto wait = WaitOp::create(builder, loc, sum.getTokens().front());
  EXPECT_EQ(wait.getValue().getType(), argument(0).getType());

  auto copy = BroadcastOp::create(builder, loc, argument(1), argument(2), "tp",
                                  /*root=*/0);
  EXPECT_EQ(copy.getTokens().front().getType(), TokenType::get(&context));
  auto bufferWait = WaitOp::create(builder, loc, copy.getTokens().front(),
                                   argument(1), argument(2));
  EXPECT_EQ(bufferWait->getNumResults(), 0u);

  auto opaque = ComputeOp::create(builder, loc, "k", argument(0),
                                  argument(0).getType(), /*async=*/true);
  EXPECT_EQ(opaque->getResult(0).getType(),
            TokenType::get(argument(0).getType()));
  EXPECT_EQ(opaque.getValueTypes(), SmallVector<Type>{argument(0).getType()});
  EXPECT_TRUE(succeeded(module->verify()));
}

} // namespace
