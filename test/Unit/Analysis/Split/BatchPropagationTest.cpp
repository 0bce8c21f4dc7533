//===- BatchPropagationTest.cpp - What carries a batch --------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Analysis/Split/BatchPropagation.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace braid;
using namespace mlir;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace {

class BatchPropagationTest : public ::testing::Test {
protected:
  BatchPropagationTest() {
    context.loadDialect<arith::ArithDialect, func::FuncDialect,
                        linalg::LinalgDialect, tensor::TensorDialect,
                        comm::CommDialect>();
  }

  /// The batch of dimension 0 of argument #0 of a function with `arguments` and
  /// `body`.
  BatchPropagation propagate(const std::string &arguments,
                             const std::string &body,
                             const BatchOptions &options = {}) {
    module = parseSourceString<ModuleOp>("comm.group @pair [[0, 1]]\n"
                                         "func.func @f(" +
                                             arguments + ") {\n" + body +
                                             "\nreturn\n}",
                                         &context);
    EXPECT_TRUE(module);
    auto function = *module->getOps<func::FuncOp>().begin();
    block = &function.getBody().front();
    return {*block, ValueDim{block->getArgument(0), 0}, options};
  }

  /// The dimensions and runs of the results of the ops that are split.
  static std::vector<std::pair<int64_t, int64_t>>
  getResults(const BatchPropagation &batch) {
    std::vector<std::pair<int64_t, int64_t>> results;
    for (const auto &entry : batch.getOps())
      if (auto found = batch.getDim(entry.first->getResult(0)))
        results.emplace_back(found->dim, found->runs);
    return results;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  Block *block = nullptr;
};

using Dim = std::pair<int64_t, int64_t>;

} // namespace

TEST_F(BatchPropagationTest, MatmulCarriesRows) {
  BatchPropagation batch = propagate(
      "%x: tensor<8x4xf32>, %w: tensor<4x6xf32>, %e: tensor<8x6xf32>",
      "%0 = linalg.matmul ins(%x, %w : tensor<8x4xf32>, tensor<4x6xf32>) "
      "outs(%e : tensor<8x6xf32>) -> tensor<8x6xf32>");
  EXPECT_THAT(getResults(batch), ElementsAre(Dim(0, 1)));
  EXPECT_THAT(batch.getWholeOps(), IsEmpty());
  ASSERT_EQ(batch.getSliced().size(), 1u);
  EXPECT_EQ(batch.getSliced()[0].value, block->getArgument(2));
  std::vector<Value> further;
  for (ValueDim seed : findSeeds(batch.getSliced(), &batch))
    further.push_back(seed.value);
  EXPECT_THAT(further, ElementsAre(block->getArgument(2)));
}

TEST_F(BatchPropagationTest, SumsOfFloatsAreWholeUnlessAllowed) {
  const char *arguments =
      "%x: tensor<8x4xf32>, %y: tensor<8x6xf32>, %e: tensor<4x6xf32>";
  const char *body =
      "%0 = linalg.contract indexing_maps = [affine_map<(i, j, k) -> (k, i)>, "
      "affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>] "
      "ins(%x, %y : tensor<8x4xf32>, tensor<8x6xf32>) "
      "outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>";
  BatchPropagation exact = propagate(arguments, body);
  ASSERT_EQ(exact.getWholeOps().size(), 1u);
  EXPECT_THAT(exact.getWholeOps()[0].reason, HasSubstr("numerics=same-terms"));
  BatchPropagation sums = propagate(arguments, body, {2, /*keepsSums=*/false});
  EXPECT_THAT(sums.getWholeOps(), IsEmpty());
  EXPECT_EQ(sums.getOps().size(), 1u);
  EXPECT_THAT(getResults(sums), IsEmpty());
}

TEST_F(BatchPropagationTest, WhatTakesASumIsSplit) {
  BatchPropagation batch = propagate(
      "%x: tensor<8xi32>, %e: tensor<i32>",
      "%0 = linalg.reduce {arith.addi} ins(%x : tensor<8xi32>) "
      "outs(%e : tensor<i32>) dimensions = [0]\n"
      "%f = tensor.empty() : tensor<8xi32>\n"
      "%1 = linalg.broadcast ins(%0 : tensor<i32>) outs(%f : tensor<8xi32>) "
      "dimensions = [0]\n"
      "%2 = arith.addi %x, %1 : tensor<8xi32>");
  EXPECT_EQ(batch.getOps().size(), 2u);
  EXPECT_THAT(batch.getWholeOps(), IsEmpty());
  EXPECT_EQ(batch.getSliced().size(), 1u);
}

TEST_F(BatchPropagationTest, SeedsAreWhereOpsCannotBeSplit) {
  BatchPropagation batch = propagate(
      "%x: tensor<8xf32>, %i: tensor<1xindex>",
      "%0 = arith.negf %x : tensor<8xf32>\n"
      "%1 = tensor.reshape %0(%i) : (tensor<8xf32>, tensor<1xindex>) -> "
      "tensor<8xf32>\n"
      "%2 = arith.negf %1 : tensor<8xf32>\n"
      "%3 = arith.addf %2, %x : tensor<8xf32>");
  EXPECT_EQ(batch.getOps().size(), 2u);
  SmallVector<ValueDim> seeds = findSeeds(batch.getSliced(), &batch);
  ASSERT_EQ(seeds.size(), 1u);
  EXPECT_TRUE(seeds[0].value.getDefiningOp<tensor::ReshapeOp>());
  seeds.insert(seeds.begin(), batch.getSeeds()[0]);
  BatchPropagation more(*block, seeds, {});
  EXPECT_EQ(more.getOps().size(), 3u);
  EXPECT_EQ(more.countJoins(), 1);
}

TEST_F(BatchPropagationTest, GatherOfTheBatchHasRuns) {
  BatchPropagation batch = propagate(
      "%x: tensor<4x6xf32>",
      "%t = comm.all_gather %x on @pair dim 0 : tensor<4x6xf32> -> "
      "tensor<8x6xf32>\n"
      "%0 = comm.wait %t : !comm.token<tensor<8x6xf32>>\n"
      "%1 = tensor.expand_shape %0 [[0, 1], [2]] output_shape [2, 4, 6] : "
      "tensor<8x6xf32> into tensor<2x4x6xf32>\n"
      "%2 = tensor.collapse_shape %1 [[0, 1], [2]] : tensor<2x4x6xf32> into "
      "tensor<8x6xf32>\n"
      "%u = comm.reduce_scatter sum %2 on @pair dim 0 : tensor<8x6xf32> -> "
      "tensor<4x6xf32>\n"
      "%3 = comm.wait %u : !comm.token<tensor<4x6xf32>>");
  EXPECT_THAT(getResults(batch), ElementsAre(Dim(0, 2), Dim(0, 2), Dim(1, 1),
                                             Dim(0, 2), Dim(0, 1), Dim(0, 1)));
  EXPECT_THAT(batch.getWholeOps(), IsEmpty());
}

TEST_F(BatchPropagationTest, ScatterOfTheBatchIsWhole) {
  BatchPropagation batch = propagate(
      "%x: tensor<8x6xf32>",
      "%t = comm.reduce_scatter sum %x on @pair dim 0 : tensor<8x6xf32> -> "
      "tensor<4x6xf32>\n"
      "%0 = comm.wait %t : !comm.token<tensor<4x6xf32>>");
  EXPECT_THAT(getResults(batch), IsEmpty());
  EXPECT_EQ(batch.getWholeOps().size(), 1u);
}

TEST_F(BatchPropagationTest, ExchangeTakesRunsForEachMember) {
  BatchPropagation rows =
      propagate("%x: tensor<8x6xf32>",
                "%t = comm.all_to_all %x on @pair : tensor<8x6xf32>\n"
                "%0 = comm.wait %t : !comm.token<tensor<8x6xf32>>");
  EXPECT_THAT(getResults(rows), IsEmpty());
  BatchPropagation runs = propagate(
      "%x: tensor<4x6xf32>",
      "%e = tensor.empty() : tensor<2x4x6xf32>\n"
      "%b = linalg.broadcast ins(%x : tensor<4x6xf32>) "
      "outs(%e : tensor<2x4x6xf32>) dimensions = [0]\n"
      "%c = tensor.collapse_shape %b [[0, 1], [2]] : tensor<2x4x6xf32> into "
      "tensor<8x6xf32>\n"
      "%t = comm.all_to_all %c on @pair : tensor<8x6xf32>\n"
      "%0 = comm.wait %t : !comm.token<tensor<8x6xf32>>");
  EXPECT_THAT(getResults(runs),
              ElementsAre(Dim(1, 1), Dim(0, 2), Dim(0, 2), Dim(0, 2)));
}

TEST_F(BatchPropagationTest, UnitDividesAllSizes) {
  BatchPropagation batch =
      propagate("%x: tensor<24x6xf32>",
                "%0 = tensor.expand_shape %x [[0, 1], [2]] output_shape "
                "[4, 6, 6] : tensor<24x6xf32> into tensor<4x6x6xf32>");
  EXPECT_EQ(batch.getSize(), 24);
  EXPECT_EQ(batch.getUnit(), 6);
  EXPECT_THAT(getResults(batch), ElementsAre(Dim(0, 1)));
}

TEST_F(BatchPropagationTest, TooFewForTheParts) {
  BatchPropagation batch =
      propagate("%x: tensor<24x6xf32>",
                "%0 = tensor.expand_shape %x [[0, 1], [2]] output_shape "
                "[2, 12, 6] : tensor<24x6xf32> into tensor<2x12x6xf32>",
                {/*numParts=*/3, /*keepsSums=*/true});
  ASSERT_EQ(batch.getWholeOps().size(), 1u);
  EXPECT_EQ(batch.getUnit(), 1);
  EXPECT_THAT(batch.getWholeOps()[0].reason, HasSubstr("same part of 3"));
}
