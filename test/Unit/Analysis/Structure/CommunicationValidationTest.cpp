//===- CommunicationValidationTest.cpp - Results of structural passes -----===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Analysis/Structure/StructuralPass.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace braid;
using namespace mlir;
using ::testing::HasSubstr;

namespace {

/// Stands in for a pass that makes one text of another one.
class CommunicationValidationTest : public ::testing::Test {
protected:
  CommunicationValidationTest() {
    context.loadDialect<arith::ArithDialect, func::FuncDialect,
                        memref::MemRefDialect, scf::SCFDialect,
                        tensor::TensorDialect, comm::CommDialect>();
  }

  /// The error for a pass with `rules` that replaces the program `before` by
  /// `after`; empty for none.
  std::string replace(const std::string &before, const std::string &after,
                      const CommunicationRules &rules = {}) {
    auto module = parseSourceString<ModuleOp>(before, &context);
    auto result = parseSourceString<ModuleOp>(after, &context);
    if (!module || !result)
      return "does not parse";
    std::string error;
    ScopedDiagnosticHandler handler(
        &context, [&](Diagnostic &diagnostic) { error += diagnostic.str(); });
    KnownCommunication known(*module);
    LogicalResult isRight =
        runValidated(*module, rules, "a-pass", known, [&]() {
          module->getBody()->clear();
          module->getBodyRegion().takeBody(result->getBodyRegion());
          result->getBodyRegion().emplaceBlock();
          return success();
        });
    EXPECT_EQ(failed(isRight), !error.empty());
    return error;
  }

  MLIRContext context;
};

/// A program on tensors %x and %y with these ops.
std::string onTensors(const std::string &ops) {
  return "comm.group @g all\n"
         "comm.group @h [[0, 1], [2, 3]]\n"
         "func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>, %c: i1) {\n" +
         ops + "return\n}\n";
}

const std::string startT =
    "%t = comm.all_reduce sum %x on @g : tensor<8xf32>\n";
const std::string startU =
    "%u = comm.all_reduce max %y on @h : tensor<8xf32>\n";
const std::string waitT = "%r = comm.wait %t : !comm.token<tensor<8xf32>>\n";
const std::string waitU = "%s = comm.wait %u : !comm.token<tensor<8xf32>>\n";
const std::string both = startT + startU + waitT + waitU;

const std::string changed = "a-pass has changed the communication of @main: ";

TEST_F(CommunicationValidationTest, AcceptsAnythingThatCommunicatesAlike) {
  EXPECT_EQ(
      replace(onTensors(both),
              onTensors(startT + "%z = arith.addf %x, %y : tensor<8xf32>\n" +
                        startU + waitT + waitU)),
      "");
}

TEST_F(CommunicationValidationTest, RejectsALostStart) {
  EXPECT_EQ(replace(onTensors(both), onTensors(startU + waitU)),
            changed + "found 'comm.all_reduce' max of tensor<8xf32> on "
                      "@h, expected 'comm.all_reduce' sum of "
                      "tensor<8xf32> on @g");
  EXPECT_EQ(replace(onTensors(both), onTensors("")),
            changed + "found the end of the function, expected "
                      "'comm.all_reduce' sum of tensor<8xf32> on @g");
}

TEST_F(CommunicationValidationTest, RejectsANewStart) {
  EXPECT_EQ(replace(onTensors(startT + waitT), onTensors(both)),
            changed + "found 'comm.all_reduce' max of tensor<8xf32> on "
                      "@h, expected 'comm.wait'");
  EXPECT_EQ(replace(onTensors(""), onTensors(both)),
            changed + "found 'comm.all_reduce' sum of tensor<8xf32> on @g, "
                      "expected the end of the function");
}

TEST_F(CommunicationValidationTest, RejectsALostWait) {
  EXPECT_EQ(replace(onTensors(both), onTensors(startT + startU + waitT)),
            changed + "found the end of the function, expected "
                      "'comm.wait'");
}

TEST_F(CommunicationValidationTest, RejectsASecondWait) {
  EXPECT_EQ(replace(onTensors(both),
                    onTensors(both + "%q = comm.wait %t : "
                                     "!comm.token<tensor<8xf32>>\n")),
            changed + "found 'comm.wait', expected the end of the "
                      "function");
}

TEST_F(CommunicationValidationTest, RejectsAnotherOrderOfStarts) {
  EXPECT_THAT(
      replace(onTensors(both), onTensors(startU + startT + waitT + waitU)),
      HasSubstr("expected 'comm.all_reduce' sum"));
}

TEST_F(CommunicationValidationTest, RejectsAWaitThatPassedAStart) {
  EXPECT_THAT(
      replace(onTensors(both), onTensors(startT + waitT + startU + waitU)),
      HasSubstr("found 'comm.wait', expected 'comm.all_reduce' max"));
}

TEST_F(CommunicationValidationTest, RejectsWaitsOfEachOthersTokens) {
  EXPECT_THAT(
      replace(onTensors(both), onTensors(startT + startU + waitU + waitT)),
      HasSubstr("found 'comm.wait', expected 'comm.wait'"));
}

TEST_F(CommunicationValidationTest, RejectsWhatTheOperationDoes) {
  auto change = [&](const std::string &before, const std::string &after) {
    auto program = [](const std::string &start) {
      return onTensors("%t = comm." + start + "\n" + waitT);
    };
    std::string error = replace(program(before), program(after));
    EXPECT_NE(error, "does not parse");
    return error;
  };
  const std::string broadcast = "broadcast %x on @g root 0 : tensor<8xf32>";
  EXPECT_EQ(change(broadcast, broadcast), "");
  EXPECT_NE(change(broadcast, "broadcast %x on @g root 1 : tensor<8xf32>"), "");
  EXPECT_NE(change(broadcast, "broadcast %x on @h root 0 : tensor<8xf32>"), "");
  EXPECT_NE(change(broadcast, "reduce sum %x on @g root 0 : tensor<8xf32>"),
            "");
  EXPECT_NE(change("all_reduce sum %x on @g : tensor<8xf32>",
                   "all_reduce max %x on @g : tensor<8xf32>"),
            "");
  EXPECT_NE(change("permute %x on @g pairs [[0, 1]] : tensor<8xf32>",
                   "permute %x on @g pairs [[1, 0]] : tensor<8xf32>"),
            "");
}

TEST_F(CommunicationValidationTest, RejectsOtherData) {
  auto program = [](const std::string &type) {
    return "comm.group @g all\nfunc.func @main(%x: " + type +
           ") {\n%t = comm.all_reduce sum %x on @g : " + type +
           "\n%r = comm.wait %t : !comm.token<" + type + ">\nreturn\n}\n";
  };
  EXPECT_EQ(replace(program("tensor<8xf32>"), program("tensor<8xf32>")), "");
  EXPECT_EQ(replace(program("tensor<?xf32>"), program("tensor<8xf32>")), "");
  EXPECT_NE(replace(program("tensor<8xf32>"), program("tensor<4xf32>")), "");
  EXPECT_NE(replace(program("tensor<8xf32>"), program("tensor<8xi32>")), "");
}

TEST_F(CommunicationValidationTest, RejectsAnotherBranch) {
  auto program = [](const std::string &first, const std::string &second) {
    return onTensors("scf.if %c {\n" + first + "} else {\n" + second + "}\n");
  };
  EXPECT_EQ(replace(program(startT + waitT, ""), program(startT + waitT, "")),
            "");
  EXPECT_NE(replace(program(startT + waitT, ""), program("", startT + waitT)),
            "");
  EXPECT_NE(replace(program(startT + waitT, ""), onTensors(startT + waitT)),
            "");
}

TEST_F(CommunicationValidationTest, FollowsTokensThroughOps) {
  auto program = [](const std::string &yielded, const std::string &awaited) {
    return onTensors(startT + startU +
                     "%v:2 = scf.if %c -> (!comm.token<tensor<8xf32>>, "
                     "!comm.token<tensor<8xf32>>) {\nscf.yield " +
                     yielded +
                     " : !comm.token<tensor<8xf32>>, "
                     "!comm.token<tensor<8xf32>>\n} else {\n"
                     "scf.yield %t, %u : !comm.token<tensor<8xf32>>, "
                     "!comm.token<tensor<8xf32>>\n}\n"
                     "%r = comm.wait " +
                     awaited + " : !comm.token<tensor<8xf32>>\n");
  };
  std::string before = program("%t, %u", "%v#0");
  EXPECT_EQ(replace(before, before), "");
  EXPECT_NE(replace(before, program("%u, %t", "%v#0")), "");
  EXPECT_NE(replace(before, program("%t, %u", "%v#1")), "");
}

TEST_F(CommunicationValidationTest, FollowsCallsThatCommunicate) {
  auto program = [](const std::string &ops) {
    return onTensors(startT + ops + waitT) +
           "func.func private @talks(%x: tensor<8xf32>) {\n" + startT + waitT +
           "return\n}\nfunc.func private @computes() {\nreturn\n}\n";
  };
  const std::string talks = "call @talks(%x) : (tensor<8xf32>) -> ()\n";
  const std::string computes = "call @computes() : () -> ()\n";
  EXPECT_EQ(replace(program(talks + computes), program(talks)), "");
  EXPECT_EQ(replace(program(talks), program(computes + talks)), "");
  EXPECT_NE(replace(program(talks + computes), program(computes)), "");
  EXPECT_NE(replace(program(""), program(talks)), "");
}

TEST_F(CommunicationValidationTest, RejectsAnotherLane) {
  auto program = [](const std::string &attributes) {
    return onTensors("%t = comm.all_reduce sum %x on @g " + attributes +
                     " : tensor<8xf32>\n" + waitT);
  };
  EXPECT_NE(replace(program(""), program("{comm.ctas = 4 : i64}")), "");
  EXPECT_EQ(replace(program("{comm.label = \"a\"}"), program("")), "");
}

TEST_F(CommunicationValidationTest, CombinesStartsByTheRuleOfThePass) {
  auto startOf = [](const std::string &operand, const std::string &token) {
    return token + " = comm.all_reduce sum " + operand +
           " on @g : tensor<8xf32>\n";
  };
  auto launchOf = [](const std::string &operands) {
    return "%v:2 = comm.all_reduce sum " + operands +
           " on @g : tensor<8xf32>, tensor<8xf32>\n";
  };
  auto waitOf = [](const std::string &token, const std::string &name) {
    return name + " = comm.wait " + token + " : !comm.token<tensor<8xf32>>\n";
  };
  std::string before = onTensors(startOf("%x", "%t") + startOf("%y", "%u") +
                                 waitOf("%t", "%r") + waitOf("%u", "%s"));
  std::string waits = waitOf("%v#0", "%r") + waitOf("%v#1", "%s");
  std::string after = onTensors(launchOf("%x, %y") + waits);
  EXPECT_NE(replace(before, after), "");
  CommunicationRules rules;
  rules.mayCombine = true;
  EXPECT_EQ(replace(before, before, rules), "");
  EXPECT_EQ(replace(before, after, rules), "");
  // Another order of operands or waits.
  EXPECT_THAT(replace(before, onTensors(launchOf("%y, %x") + waits), rules),
              HasSubstr("expected the data that it took before"));
  EXPECT_NE(replace(before,
                    onTensors(launchOf("%x, %y") + waitOf("%v#1", "%r") +
                              waitOf("%v#0", "%s")),
                    rules),
            "");
  // A wait between the starts, a start too many, and one of another kind.
  EXPECT_NE(replace(onTensors(startOf("%x", "%t") + waitOf("%t", "%r") +
                              startOf("%y", "%u") + waitOf("%u", "%s")),
                    after, rules),
            "");
  EXPECT_NE(replace(onTensors(startOf("%x", "%t") + waitOf("%t", "%r")), after,
                    rules),
            "");
  EXPECT_NE(replace(onTensors(both), after, rules), "");
  // Where ranks may take different paths.
  auto inBranch = [](const std::string &ops) {
    return onTensors("scf.if %c {\n" + ops + "}\n");
  };
  EXPECT_THAT(replace(inBranch(startOf("%x", "%t") + startOf("%y", "%u") +
                               waitOf("%t", "%r") + waitOf("%u", "%s")),
                      inBranch(launchOf("%x, %y") + waits), rules),
              HasSubstr("is combined where ranks may take different paths"));
}

TEST_F(CommunicationValidationTest, ReplacesStartsByTheRuleOfThePass) {
  std::string before = onTensors(startT + waitT);
  std::string after = onTensors("%t = comm.all_reduce max %x on @g : "
                                "tensor<8xf32>\n" +
                                waitT);
  CommunicationRules rules;
  rules.mayReplace = [](const StartSummary &, const StartSummary &start) {
    return start.reduction == comm::ReductionKind::max;
  };
  EXPECT_EQ(replace(before, after, rules), "");
  EXPECT_NE(replace(before, before, rules), "");
}

/// An all-reduce of %x on @g in steps; `across` is the second one.
static std::string inSteps(const std::string &across) {
  std::string ops =
      "%t = comm.reduce_scatter sum %x on @h dim 0 : tensor<8xf32> -> "
      "tensor<4xf32>\n"
      "%r = comm.wait %t : !comm.token<tensor<4xf32>>\n" +
      across +
      "%s = comm.wait %u : !comm.token<tensor<4xf32>>\n"
      "%v = comm.all_gather %s on @h dim 0 : tensor<4xf32> -> tensor<8xf32>\n"
      "%w = comm.wait %v : !comm.token<tensor<8xf32>>\n";
  return "comm.group @columns [[0, 2], [1, 3]]\n"
         "comm.group @crossed [[0, 3], [1, 2]]\n" +
         onTensors(ops);
}

TEST_F(CommunicationValidationTest, StepsFollowTheGridOfTheGroup) {
  CommunicationRules rules;
  rules.maySplitGroups = true;
  std::string whole = onTensors(startT + waitT);
  std::string right = "%u = comm.all_reduce sum %r on @columns : "
                      "tensor<4xf32>\n";
  EXPECT_EQ(replace(whole, inSteps(right), rules), "");
  EXPECT_THAT(replace(whole, inSteps(right)), HasSubstr(changed));
  // Other members, another reduction, other data.
  EXPECT_THAT(replace(whole,
                      inSteps("%u = comm.all_reduce sum %r on @crossed : "
                              "tensor<4xf32>\n"),
                      rules),
              HasSubstr("no part of a grid of the whole group"));
  EXPECT_THAT(replace(whole,
                      inSteps("%u = comm.all_reduce max %r on @columns : "
                              "tensor<4xf32>\n"),
                      rules),
              HasSubstr("is not the next step of a collective before"));
  EXPECT_THAT(replace(whole,
                      inSteps("%o = tensor.empty() : tensor<4xf32>\n"
                              "%u = comm.all_reduce sum %o on @columns : "
                              "tensor<4xf32>\n"),
                      rules),
              HasSubstr("is not the next step of a collective before"));
}

TEST_F(CommunicationValidationTest, KernelsVanishByTheRuleOfThePass) {
  std::string before =
      onTensors(startU +
                "%t = comm.compute async \"f\"(%x) : (tensor<8xf32>) -> "
                "tensor<8xf32>\n" +
                waitT + waitU);
  std::string after = onTensors(startU + waitU);
  EXPECT_NE(replace(before, after), "");
  CommunicationRules rules;
  rules.mayErase = [](const StartSummary &start) { return !start.kind; };
  EXPECT_EQ(replace(before, after, rules), "");
  EXPECT_NE(replace(onTensors(both), onTensors(startU + waitU), rules), "");
  // The last operation of a function.
  std::string kernel =
      onTensors("%t = comm.compute async \"f\"(%x) : (tensor<8xf32>) -> "
                "tensor<8xf32>\n" +
                waitT);
  EXPECT_EQ(replace(kernel, onTensors(""), rules), "");
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Two parts of a reduce-scatter of a tensor of 8 x 4 on `sizes` columns, put
/// together at `offsets`.
std::string inParts(std::pair<int, int> sizes, std::pair<int, int> offsets) {
  std::string starts, waits, insertions, whole = "%e";
  for (auto [name, size, offset] :
       {std::tuple("0", sizes.first, offsets.first),
        std::tuple("1", sizes.second, offsets.second)}) {
    std::string columns = std::to_string(size) + "xf32>", n = name;
    starts += "%p" + n + " = tensor.empty() : tensor<8x" + columns + "\n%t" +
              n + " = comm.reduce_scatter sum %p" + n +
              " on @h dim 0 : tensor<8x" + columns + " -> tensor<4x" + columns +
              "\n";
    waits += "%r" + n + " = comm.wait %t" + n + " : !comm.token<tensor<4x" +
             columns + ">\n%s" + n + " = tensor.insert_slice %r" + n +
             " into " + whole + "[0, " + std::to_string(offset) + "] [4, " +
             std::to_string(size) + "] [1, 1] : tensor<4x" + columns +
             " into tensor<4x8xf32>\n";
    whole = "%s" + n;
  }
  return onTensors("%e = tensor.empty() : tensor<4x8xf32>\n" + starts + waits);
}

const std::string inOne = onTensors(
    "%p = tensor.empty() : tensor<8x8xf32>\n"
    "%t = comm.reduce_scatter sum %p on @h dim 0 : tensor<8x8xf32> -> "
    "tensor<4x8xf32>\n"
    "%r = comm.wait %t : !comm.token<tensor<4x8xf32>>\n");

class DivisionTest : public CommunicationValidationTest {
protected:
  DivisionTest() { rules.mayDivide = true; }
  CommunicationRules rules;
};

TEST_F(DivisionTest, AcceptsPartsThatCoverTheWhole) {
  EXPECT_EQ(replace(inOne, inParts({4, 4}, {0, 4}), rules), "");
  EXPECT_EQ(replace(inOne, inParts({2, 6}, {6, 0}), rules), "");
  EXPECT_EQ(replace(inOne, inOne, rules), "");
}

TEST_F(DivisionTest, RejectsPartsWithoutTheRule) {
  EXPECT_NE(replace(inOne, inParts({4, 4}, {0, 4})), "");
}

TEST_F(DivisionTest, RejectsPartsThatLeaveDataOut) {
  EXPECT_EQ(replace(inOne, inParts({4, 2}, {0, 4}), rules),
            "'comm.reduce_scatter' op transfers parts of "
            "'comm.reduce_scatter' sum of tensor<8x8xf32> on @h that leave "
            "out 2 of its elements along dimension 1 after a-pass");
}

TEST_F(DivisionTest, RejectsPartsThatAreTooMany) {
  EXPECT_THAT(replace(inOne, inParts({6, 4}, {0, 4}), rules),
              HasSubstr("that have 2 too many of its elements"));
}

/// Two parts of that reduce-scatter on so many rows, which stay parts.
std::string inRows(int first, int second) {
  std::string starts, waits;
  for (int rows : {first, second}) {
    std::string n = std::to_string(starts.size());
    std::string part = "tensor<" + std::to_string(rows) + "x8xf32>",
                value = "tensor<" + std::to_string(rows / 2) + "x8xf32>";
    starts += "%p" + n + " = tensor.empty() : " + part + "\n%t" + n +
              " = comm.reduce_scatter sum %p" + n + " on @h dim 0 : " + part +
              " -> " + value + "\n";
    waits +=
        "%r" + n + " = comm.wait %t" + n + " : !comm.token<" + value + ">\n";
  }
  return onTensors(starts + waits);
}

TEST_F(DivisionTest, AcceptsPartsOfMembersThatStayPartsByTheRule) {
  EXPECT_NE(replace(inOne, inRows(4, 4), rules), "");
  rules.mayKeepParts = true;
  EXPECT_EQ(replace(inOne, inRows(4, 4), rules), "");
  EXPECT_EQ(replace(inOne, inRows(2, 6), rules), "");
  EXPECT_THAT(replace(inOne, inRows(4, 2), rules),
              HasSubstr("that leave out 1 of its elements along dimension 0"));
}

TEST_F(DivisionTest, RejectsPartsThatOverlap) {
  EXPECT_EQ(replace(inOne, inParts({4, 4}, {0, 2}), rules),
            "'comm.wait' op awaits parts of a value that was one before; they "
            "give two parts at 2 to 3 of dimension 1 after a-pass");
}

TEST_F(DivisionTest, RejectsAGapBetweenParts) {
  EXPECT_THAT(replace(inOne, inParts({4, 4}, {4, 4}), rules),
              HasSubstr("no part at 0 to 3 of dimension 1"));
}

TEST_F(DivisionTest, RejectsPartsAlongTheDimensionThatMembersSplit) {
  std::string rows;
  for (std::string n : {"0", "1"})
    rows += "%p" + n + " = tensor.empty() : tensor<4x8xf32>\n%t" + n +
            " = comm.reduce_scatter sum %p" + n +
            " on @h dim 0 : tensor<4x8xf32> -> tensor<2x8xf32>\n";
  EXPECT_THAT(replace(inOne, onTensors(rows), rules),
              HasSubstr("found 'comm.reduce_scatter' sum of tensor<4x8xf32>"));
}

TEST_F(DivisionTest, RejectsAPartWithoutWait) {
  std::string parts = inParts({4, 4}, {0, 4});
  size_t begin = parts.find("%r1 = comm.wait"), end = parts.find("return");
  EXPECT_THAT(replace(inOne, parts.erase(begin, end - begin), rules),
              HasSubstr("found the end of the function, expected 'comm.wait'"));
}

//===----------------------------------------------------------------------===//
// Additions
//===----------------------------------------------------------------------===//

class AdditionTest : public CommunicationValidationTest {
protected:
  AdditionTest() { rules.mayAdd = true; }
  CommunicationRules rules;
  /// An operation that the pass has to keep.
  const std::string kept =
      "%k = comm.all_reduce sum %x on @g : tensor<8xf32> loc(\"kept\")\n"
      "%l = comm.wait %k : !comm.token<tensor<8xf32>>\n";
};

TEST_F(AdditionTest, AcceptsOperationsWithAWait) {
  EXPECT_EQ(replace(onTensors(""), onTensors(both), rules), "");
  EXPECT_EQ(replace(onTensors(kept), onTensors(startU + kept + waitU), rules),
            "");
  EXPECT_EQ(replace(onTensors(kept),
                    onTensors("scf.if %c {\n" + startT + waitT + "}\n" + kept),
                    rules),
            "");
}

TEST_F(AdditionTest, RejectsOperationsWithoutAWait) {
  EXPECT_EQ(replace(onTensors(""), onTensors(startT), rules),
            "'comm.all_reduce' op is new and has not one wait in its block "
            "after a-pass");
}

TEST_F(AdditionTest, RejectsOperationsWithTwoWaits) {
  EXPECT_NE(replace(onTensors(""),
                    onTensors(startT + waitT +
                              "%q = comm.wait %t : "
                              "!comm.token<tensor<8xf32>>\n"),
                    rules),
            "");
}

TEST_F(AdditionTest, RejectsOperationsWithAWaitInABranch) {
  EXPECT_NE(replace(onTensors(""),
                    onTensors(startT + "scf.if %c {\n" + waitT + "}\n"), rules),
            "");
}

TEST_F(AdditionTest, RejectsWhatTheProgramHadAndTheResultHasNot) {
  EXPECT_THAT(replace(onTensors(kept), onTensors(both), rules),
              HasSubstr("found the end of the function, expected "
                        "'comm.all_reduce'"));
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// A program on buffers with `ops` while %x is in flight.
std::string onBuffers(const std::string &ops) {
  return "comm.group @g all\n"
         "func.func @main(%x: memref<8xf32>, %y: memref<8xf32>) {\n"
         "%t = comm.all_reduce sum %x into %x on @g : memref<8xf32>, "
         "memref<8xf32>\n" +
         ops +
         "comm.wait %t writes(%x : memref<8xf32>) : !comm.token\n"
         "return\n}\n";
}

TEST_F(CommunicationValidationTest, RejectsANewAccessInFlight) {
  const std::string beside =
                        "memref.copy %y, %y : memref<8xf32> to memref<8xf32>\n",
                    access =
                        "memref.copy %x, %y : memref<8xf32> to memref<8xf32>\n";
  EXPECT_EQ(replace(onBuffers(""), onBuffers(beside)), "");
  EXPECT_EQ(replace(onBuffers(""), onBuffers(access)),
            "'memref.copy' op reads a buffer that an operation in flight "
            "writes after a-pass, expected its wait before");
  // The program was wrong before.
  EXPECT_EQ(replace(onBuffers(access), onBuffers(access)), "");
}

TEST_F(CommunicationValidationTest, TensorsMayBecomeBuffers) {
  EXPECT_EQ(replace(onTensors(startT + waitT), onBuffers("")), "");
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

/// A pass that erases the waits of the program.
struct LosesWaits
    : StructuralPass<PassWrapper<LosesWaits, OperationPass<ModuleOp>>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LosesWaits)
  StringRef getArgument() const override { return "loses-waits"; }
  LogicalResult transform() override {
    getOperation().walk([](comm::WaitOp wait) { wait.erase(); });
    return success();
  }
};

TEST_F(CommunicationValidationTest, APassThatBreaksItsRulesFails) {
  auto run = [&]() {
    auto module = parseSourceString<ModuleOp>(onTensors(both), &context);
    std::string error;
    ScopedDiagnosticHandler handler(
        &context, [&](Diagnostic &diagnostic) { error += diagnostic.str(); });
    PassManager passes(&context);
    passes.addPass(std::make_unique<LosesWaits>());
    EXPECT_EQ(failed(passes.run(*module)), !error.empty());
    return error;
  };
  EXPECT_EQ(run(), "loses-waits has changed the communication of @main: found "
                   "the end of the function, expected 'comm.wait'");
  setPassesValidated(false);
  EXPECT_EQ(run(), "");
  setPassesValidated(true);
}

/// A pass that changes nothing.
struct KeepsAll
    : StructuralPass<PassWrapper<KeepsAll, OperationPass<ModuleOp>>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KeepsAll)
  StringRef getArgument() const override { return "keeps-all"; }
  LogicalResult transform() override { return success(); }
};

/// A pass without validation that erases the starts and their waits.
struct Silences : PassWrapper<Silences, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Silences)
  void runOnOperation() override {
    getOperation().walk([](comm::WaitOp wait) {
      Operation *start = wait.getStart();
      wait.erase();
      start->erase();
    });
  }
};

/// Looks whether the communication is known at its place.
struct LooksUp : PassWrapper<LooksUp, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LooksUp)
  explicit LooksUp(std::vector<bool> &found) : found(found) {}
  LooksUp(const LooksUp &other) = default;
  void runOnOperation() override {
    auto known = getCachedAnalysis<KnownCommunication>();
    found.push_back(known && known->get().summary);
    markAllAnalysesPreserved();
  }
  std::vector<bool> &found;
};

TEST_F(CommunicationValidationTest, NeighboursShareASummary) {
  auto module = parseSourceString<ModuleOp>(onTensors(both), &context);
  std::string error;
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &diagnostic) { error += diagnostic.str(); });
  std::vector<bool> found;
  PassManager passes(&context);
  auto add = [&](std::unique_ptr<Pass> pass) {
    passes.addPass(std::move(pass));
    passes.addPass(std::make_unique<LooksUp>(found));
  };
  passes.addPass(std::make_unique<LooksUp>(found));
  add(std::make_unique<KeepsAll>());
  add(std::make_unique<KeepsAll>());
  // What another pass has changed is no change by the next structural one.
  add(std::make_unique<Silences>());
  add(std::make_unique<KeepsAll>());
  EXPECT_TRUE(succeeded(passes.run(*module)));
  EXPECT_EQ(error, "");
  EXPECT_EQ(found, std::vector<bool>({false, true, true, false, true}));
}

TEST_F(CommunicationValidationTest, ASharedSummaryFindsTheSame) {
  auto module = parseSourceString<ModuleOp>(onTensors(both), &context);
  std::string error;
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &diagnostic) { error += diagnostic.str(); });
  PassManager passes(&context);
  passes.addPass(std::make_unique<KeepsAll>());
  passes.addPass(std::make_unique<LosesWaits>());
  EXPECT_TRUE(failed(passes.run(*module)));
  EXPECT_EQ(error, "loses-waits has changed the communication of @main: found "
                   "the end of the function, expected 'comm.wait'");
}

} // namespace
