//===- RewriteJudgeTest.cpp - What decides about rewrites -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Comm/Transforms/Chunks/RewriteJudge.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace braid;
using namespace braid::comm;

namespace {

/// What a judge answers, and how often it asks for the rewritten block.
struct Answer {
  bool pays;
  int numRewrites;

  bool operator==(const Answer &other) const {
    return pays == other.pays && numRewrites == other.numRewrites;
  }
};

std::ostream &operator<<(std::ostream &stream, const Answer &answer) {
  return stream << (answer.pays ? "pays" : "does not pay") << " after "
                << answer.numRewrites << " rewrites";
}

class RewriteJudgeTest : public testing::Test {
protected:
  RewriteJudgeTest() {
    context.loadDialect<arith::ArithDialect, func::FuncDialect>();
  }

  /// Judges a rewrite by 1 % that trials shorten to `trialNs`, of a block of
  /// `numOps` that takes 1,000 ns by trials and 900 ns by a final search. The
  /// rewrite fails, so that a final search finds nothing for it.
  Answer judge(size_t numOps, int64_t trialNs) {
    OpBuilder builder(&context);
    Location loc = builder.getUnknownLoc();
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
    builder.setInsertionPointToEnd(module->getBody());
    auto function = func::FuncOp::create(builder, loc, "f",
                                         builder.getFunctionType({}, {}));
    Block *block = function.addEntryBlock();
    builder.setInsertionPointToEnd(block);
    for (size_t op = 1; op < numOps; ++op)
      arith::ConstantIndexOp::create(builder, loc, 0);
    func::ReturnOp::create(builder, loc);

    KnownPredictions known(*module);
    CostSettings settings;
    auto expect = [&](JudgeEffort effort, int64_t ns) {
      known.getOf(*module)[{block, effort, false, std::nullopt, "", -1, "", "",
                            0, 0, 0, "", ""}] = {ns};
    };
    expect(JudgeEffort::Trial, 1'000);
    expect(JudgeEffort::Final, 900);
    RankUniformity uniformity(*module);
    RewriteJudge judge(*module, block, uniformity, settings,
                       /*plansResources=*/false, known);
    Answer answer = {false, 0};
    FailureOr<bool> pays = judge.finallyPays(
        [&](const IRMapping &) {
          ++answer.numRewrites;
          return failure();
        },
        trialNs, /*minGain=*/0.01);
    EXPECT_TRUE(succeeded(pays));
    answer.pays = succeeded(pays) && *pays;
    return answer;
  }

  MLIRContext context;
};

TEST_F(RewriteJudgeTest, TrialsDecideOfLongBlocksWhereTheGainIsClear) {
  EXPECT_EQ(judge(2'001, 920), (Answer{true, 0}));
  // Less than 8 %: the final search finds a shorter order of the block as it
  // is, and none of the rewritten one.
  EXPECT_EQ(judge(2'001, 921), (Answer{false, 1}));
}

TEST_F(RewriteJudgeTest, FinalSearchesDecideOfShorterBlocks) {
  EXPECT_EQ(judge(2'000, 920), (Answer{false, 1}));
  // Shorter by 1 % than what the final search finds.
  EXPECT_EQ(judge(2'000, 891), (Answer{true, 0}));
  EXPECT_EQ(judge(2'000, 892), (Answer{false, 1}));
}

} // namespace
