//===- RankUniformityTest.cpp - What all ranks do alike -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Analysis/Tokens/RankUniformity.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace braid;
using namespace mlir;

namespace {

class RankUniformityTest : public ::testing::Test {
protected:
  RankUniformityTest() {
    context.loadDialect<arith::ArithDialect, func::FuncDialect,
                        linalg::LinalgDialect, scf::SCFDialect,
                        tensor::TensorDialect, comm::CommDialect>();
  }

  /// Whether all ranks reach the barrier of a function with `body` together.
  bool areTogether(const std::string &body) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
        R"mlir(
          #map = affine_map<() -> ()>
          comm.group @g all
          comm.group @four [[0, 1, 2, 3]]
          comm.group @pairs [[0, 1], [2, 3]]
          func.func @main(%argument: tensor<i32>) {
            %zero = arith.constant dense<0> : tensor<i32>
            %one = arith.constant dense<1> : tensor<i32>
            %ten = arith.constant dense<10> : tensor<i32>
            %index = comm.rank on @g
            %number = arith.index_cast %index : index to i32
            %rank = tensor.from_elements %number : tensor<i32>
            %flag = tensor.empty() : tensor<i1>
        )mlir" +
            body + "return }",
        &context);
    EXPECT_TRUE(module);
    Block *block = nullptr;
    module->walk([&](comm::BarrierOp barrier) { block = barrier->getBlock(); });
    return RankUniformity(*module).areReachedTogether(*block);
  }

  /// A linalg op that compares two tensors without dimensions.
  static std::string compare(const std::string &a, const std::string &b) {
    return "%less = linalg.generic {indexing_maps = [#map, #map, #map], "
           "iterator_types = []} ins(" +
           a + ", " + b +
           " : tensor<i32>, tensor<i32>) outs(%flag : tensor<i1>) {\n"
           "^bb0(%p: i32, %q: i32, %r: i1):\n"
           "%s = arith.cmpi slt, %p, %q : i32\n"
           "linalg.yield %s : i1\n} -> tensor<i1>\n"
           "%c = tensor.extract %less[] : tensor<i1>\n";
  }
  static std::string branch(const std::string &a, const std::string &b) {
    return compare(a, b) + barrierIf;
  }
  static constexpr const char *barrierIf =
      "scf.if %c { %t = comm.barrier on @g\ncomm.wait %t : !comm.token }\n";

  /// A while loop that counts from `begin` by `step` as JAX writes it.
  static std::string count(const std::string &begin, const std::string &step) {
    return "%w = scf.while (%i = " + begin +
           ") : (tensor<i32>) -> tensor<i32> {\n" + compare("%i", "%ten") +
           "scf.condition(%c) %i : tensor<i32>\n} do {\n"
           "^bb0(%i: tensor<i32>):\n"
           "%t = comm.barrier on @g\ncomm.wait %t : !comm.token\n"
           "%n = linalg.generic {indexing_maps = [#map, #map, #map], "
           "iterator_types = []} ins(%i, " +
           step +
           " : tensor<i32>, tensor<i32>) outs(%zero : tensor<i32>) {\n"
           "^bb0(%p: i32, %q: i32, %r: i32):\n"
           "%s = arith.addi %p, %q : i32\n"
           "linalg.yield %s : i32\n} -> tensor<i32>\n"
           "scf.yield %n : tensor<i32>\n}\n";
  }

  MLIRContext context;
};

TEST_F(RankUniformityTest, SeesThroughTheBodiesOfLinalgOps) {
  EXPECT_TRUE(areTogether(branch("%zero", "%one")));
  EXPECT_FALSE(areTogether(branch("%rank", "%one")));
  EXPECT_FALSE(areTogether(branch("%zero", "%rank")));
  EXPECT_FALSE(areTogether(branch("%argument", "%one")));
}

TEST_F(RankUniformityTest, KnowsWhatCollectivesGiveAllRanks) {
  auto gives = [](const std::string &collective, const std::string &type) {
    return "%t0 = comm." + collective + " : tensor<4x" + type +
           ">\n%v = comm.wait %t0 : !comm.token<tensor<4x" + type + ">>\n";
  };
  const std::string ends = "%c0 = arith.constant 0 : index\n"
                           "%d = tensor.extract %v[%c0] : tensor<4xi32>\n"
                           "%c = arith.trunci %d : i32 to i1\n",
                    source = "%s = tensor.splat %number : tensor<4xi32>\n";
  EXPECT_TRUE(areTogether(source + gives("all_reduce sum %s on @g", "i32") +
                          ends + barrierIf));
  EXPECT_TRUE(areTogether(source + gives("broadcast %s on @g root 0", "i32") +
                          ends + barrierIf));
  EXPECT_TRUE(areTogether(source + gives("all_reduce max %s on @four", "i32") +
                          ends + barrierIf));
  EXPECT_FALSE(areTogether(
      source + gives("all_reduce sum %s on @pairs", "i32") + ends + barrierIf));
  EXPECT_FALSE(areTogether(source +
                           "%f = arith.sitofp %s : tensor<4xi32> to "
                           "tensor<4xf32>\n" +
                           gives("all_reduce sum %f on @g", "f32") +
                           "%c0 = arith.constant 0 : index\n"
                           "%d = tensor.extract %v[%c0] : tensor<4xf32>\n"
                           "%e = arith.constant 0.0 : f32\n"
                           "%c = arith.cmpf olt, %d, %e : f32\n" +
                           barrierIf));
}

/// A linalg op whose body computes `value` from `operand`.
static std::string getBody(const std::string &value) {
  return "%less = linalg.generic {indexing_maps = [#map, #map], "
         "iterator_types = []} ins(%zero : tensor<i32>) outs(%flag : "
         "tensor<i1>) {\n^bb0(%p: i32, %r: i1):\n" +
         value +
         "%s = arith.cmpi slt, %p, %q : i32\nlinalg.yield %s : i1\n} -> "
         "tensor<i1>\n%c = tensor.extract %less[] : tensor<i1>\n";
}

TEST_F(RankUniformityTest, FindsTheRankInTheBodiesOfLinalgOps) {
  EXPECT_TRUE(
      areTogether(getBody("%q = arith.constant 5 : i32\n") + barrierIf));
  EXPECT_FALSE(areTogether(getBody("%k = comm.rank on @g\n%q = "
                                   "arith.index_cast %k : index to i32\n") +
                           barrierIf));
  EXPECT_FALSE(areTogether(getBody("%q = arith.addi %number, %number : i32\n") +
                           barrierIf));
}

TEST_F(RankUniformityTest, KnowsFunctionsThatCallEachOtherInAnyOrder) {
  std::string f = "func.func private @f() { comm.barrier on @g "
                  "func.call @h() : () -> () return }",
              h = "func.func private @h() { comm.barrier on @g "
                  "func.call @f() : () -> () return }";
  for (const std::string &functions : {f + h, h + f}) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
        "comm.group @g all func.func @main(%c: i1) { scf.if %c { "
        "func.call @f() : () -> () } return } " +
            functions,
        &context);
    ASSERT_TRUE(module);
    RankUniformity uniformity(*module);
    for (const char *name : {"f", "h"}) {
      auto function = module->lookupSymbol<func::FuncOp>(name);
      EXPECT_FALSE(uniformity.areReachedTogether(function.getBody().front()))
          << name;
    }
  }
}

TEST_F(RankUniformityTest, FollowsWhatLoopsCarry) {
  EXPECT_TRUE(areTogether(count("%zero", "%one")));
  EXPECT_FALSE(areTogether(count("%rank", "%one")));
  EXPECT_FALSE(areTogether(count("%zero", "%rank")));
}

TEST_F(RankUniformityTest, FollowsWhatLoopsAndConditionsGive) {
  auto after = [](const std::string &begin) {
    std::string loop = count(begin, "%one");
    // The barrier is behind the loop.
    for (size_t place;
         (place = loop.find("%t = comm.barrier")) != std::string::npos;)
      loop.erase(place, loop.find("%n = ") - place);
    return loop +
           "%d = tensor.extract %w[] : tensor<i32>\n"
           "%e = arith.constant 10 : i32\n"
           "%c = arith.cmpi eq, %d, %e : i32\n" +
           barrierIf;
  };
  EXPECT_TRUE(areTogether(after("%zero")));
  EXPECT_FALSE(areTogether(after("%rank")));
  auto select = [](const std::string &a, const std::string &b) {
    return compare(a, b) +
           "%m = scf.if %c -> tensor<i32> { scf.yield %one : tensor<i32> } "
           "else { scf.yield %ten : tensor<i32> }\n"
           "%d = tensor.extract %m[] : tensor<i32>\n"
           "%e = arith.constant 10 : i32\n"
           "%f = arith.cmpi eq, %d, %e : i32\n"
           "scf.if %f { %t = comm.barrier on @g\n"
           "comm.wait %t : !comm.token }\n";
  };
  EXPECT_TRUE(areTogether(select("%zero", "%one")));
  EXPECT_FALSE(areTogether(select("%rank", "%one")));
}

} // namespace
