//===- StartOperandsTest.cpp - Passes that exchange data of starts --------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Analysis/Structure/StructuralPass.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <functional>

using namespace braid;
using namespace mlir;

namespace {

/// Stands in for passes that change the operands of the starts of a program.
class StartOperandsTest : public ::testing::Test {
protected:
  using Starts = SmallVector<comm::AllReduceOp>;

  StartOperandsTest() {
    context.loadDialect<arith::ArithDialect, func::FuncDialect,
                        linalg::LinalgDialect, math::MathDialect,
                        memref::MemRefDialect, tensor::TensorDialect,
                        comm::CommDialect>();
  }

  /// The error for a pass that makes `change` of the starts of a function with
  /// the body `ops`; empty for none.
  std::string run(const std::string &ops,
                  const std::function<void(Starts &)> &change) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
        "comm.group @g all\n"
        "func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>,\n"
        "                %a: memref<8xf32>, %b: memref<8xf32>) {\n" +
            ops + "return\n}\n",
        &context);
    if (!module)
      return "does not parse";
    Starts starts;
    module->walk([&](comm::AllReduceOp start) { starts.push_back(start); });
    std::string error;
    ScopedDiagnosticHandler handler(
        &context, [&](Diagnostic &diagnostic) { error += diagnostic.str(); });
    KnownCommunication known(*module);
    LogicalResult isRight = runValidated(*module, {}, "a-pass", known, [&]() {
      change(starts);
      return success();
    });
    EXPECT_EQ(failed(isRight), !error.empty());
    return error;
  }

  /// Exchanges operand `number` of the last two starts.
  static std::function<void(Starts &)> swap(unsigned number) {
    return [number](Starts &starts) {
      comm::AllReduceOp first = starts[starts.size() - 2],
                        second = starts.back();
      Value value = first->getOperand(number);
      first->setOperand(number, second->getOperand(number));
      second->setOperand(number, value);
    };
  }

  MLIRContext context;
};

const std::string waits = "%r = comm.wait %t : !comm.token<tensor<8xf32>>\n"
                          "%s = comm.wait %u : !comm.token<tensor<8xf32>>\n";

/// Two starts that differ in their operands alone.
std::string reduce(const std::string &first, const std::string &second) {
  return "%t = comm.all_reduce sum " + first +
         " on @g : tensor<8xf32>\n"
         "%u = comm.all_reduce sum " +
         second + " on @g : tensor<8xf32>\n" + waits;
}

TEST_F(StartOperandsTest, FindsExchangedArguments) {
  EXPECT_EQ(run(reduce("%x", "%y"), swap(0)),
            "'comm.all_reduce' op takes operand #0 from argument #1 of the "
            "function after a-pass, expected the data that it took before");
  EXPECT_EQ(run(reduce("%x", "%x"), swap(0)), "");
}

TEST_F(StartOperandsTest, FindsOneArgumentInPlaceOfAnother) {
  EXPECT_EQ(run(reduce("%x", "%y"),
                [](Starts &starts) {
                  starts[1]->setOperand(0, starts[0]->getOperand(0));
                }),
            "'comm.all_reduce' op takes operand #0 from argument #0 of the "
            "function after a-pass, expected the data that it took before");
}

const std::string awaited =
    "%v = comm.all_reduce sum %x on @g : tensor<8xf32>\n"
    "%w = comm.all_reduce sum %y on @g : tensor<8xf32>\n"
    "%p = comm.wait %v : !comm.token<tensor<8xf32>>\n"
    "%q = comm.wait %w : !comm.token<tensor<8xf32>>\n";

TEST_F(StartOperandsTest, FindsExchangedResultsOfWaits) {
  EXPECT_EQ(run(awaited + reduce("%p", "%q"), swap(0)),
            "'comm.all_reduce' op takes operand #0 from the result of another "
            "operation after a-pass, expected the data that it took before");
  EXPECT_EQ(run(awaited + reduce("%p", "%q"), [](Starts &) {}), "");
}

const std::string computed = "%p = math.exp %x : tensor<8xf32>\n"
                             "%q = math.exp %p : tensor<8xf32>\n";

TEST_F(StartOperandsTest, FindsExchangedResultsOfOps) {
  EXPECT_EQ(run(computed + reduce("%p", "%q"), swap(0)),
            "'comm.all_reduce' op takes operand #0 from what fed another "
            "operation after a-pass, expected the data that it took before");
  EXPECT_EQ(run(computed + reduce("%q", "%x"), swap(0)),
            "'comm.all_reduce' op takes operand #0 from argument #0 of the "
            "function after a-pass, expected the data that it took before");
}

TEST_F(StartOperandsTest, DoesNotCompareOpsOfOnePlace) {
  // A line of Python makes both ops; a pass may make one of what the other was.
  const std::string ops =
      "%p = math.exp %x : tensor<8xf32> loc(\"model.py\":1:1)\n"
      "%q = arith.addf %p, %x : tensor<8xf32> loc(\"model.py\":1:1)\n";
  EXPECT_EQ(run(ops + reduce("%p", "%q"), swap(0)), "");
}

const std::string buffers =
    "%c = memref.alloc() : memref<8xf32>\n"
    "%d = memref.alloc() : memref<8xf32>\n"
    "%t = comm.all_reduce sum %a into %c on @g : memref<8xf32>, "
    "memref<8xf32>\n"
    "%u = comm.all_reduce sum %b into %d on @g : memref<8xf32>, "
    "memref<8xf32>\n"
    "comm.wait %t reads(%a : memref<8xf32>) writes(%c : memref<8xf32>) : "
    "!comm.token\n"
    "comm.wait %u reads(%b : memref<8xf32>) writes(%d : memref<8xf32>) : "
    "!comm.token\n";

TEST_F(StartOperandsTest, FindsExchangedBuffers) {
  EXPECT_EQ(run(buffers, swap(0)),
            "'comm.all_reduce' op takes operand #0 from argument #3 of the "
            "function after a-pass, expected the data that it took before");
  EXPECT_EQ(run(buffers, swap(1)),
            "'comm.all_reduce' op takes operand #1 from what fed another "
            "operation after a-pass, expected the data that it took before");
}

TEST_F(StartOperandsTest, LooksThroughCopies) {
  EXPECT_EQ(run(reduce("%x", "%y"),
                [](Starts &starts) {
                  OpBuilder builder(starts[0]);
                  Value source = starts[0]->getOperand(0);
                  Value empty = tensor::EmptyOp::create(
                      builder, starts[0].getLoc(), {8}, builder.getF32Type());
                  Value copy = linalg::CopyOp::create(
                                   builder, starts[0].getLoc(), source, empty)
                                   .getResult(0);
                  starts[0]->setOperand(0, copy);
                }),
            "");
}

TEST_F(StartOperandsTest, AcceptsWhatIsComputedInAnotherWay) {
  // The second op may turn out to compute what the first one does.
  EXPECT_EQ(run(computed + reduce("%p", "%q"),
                [](Starts &starts) {
                  starts[1]->setOperand(0, starts[0]->getOperand(0));
                }),
            "");
  // A new op computes what the first one computed from the argument.
  EXPECT_EQ(run(computed + reduce("%p", "%q"),
                [](Starts &starts) {
                  OpBuilder builder(starts[0]);
                  Operation *op = starts[0]->getOperand(0).getDefiningOp();
                  Value square = arith::MulFOp::create(
                      builder, starts[1].getLoc(), op->getOperand(0),
                      op->getOperand(0));
                  starts[0]->setOperand(0, square);
                }),
            "");
}

TEST_F(StartOperandsTest, ABufferMayHoldAnotherValue) {
  // As bufferization does that reuses the buffer of an argument.
  auto getProgram = [](const std::string &signature, const std::string &ops) {
    return "comm.group @g all\nfunc.func private @main(" + signature + ") {\n" +
           ops + "return\n}\n";
  };
  auto tensors = parseSourceString<ModuleOp>(
      getProgram("%x: tensor<8xf32>, %y: tensor<8xf32>",
                 "%t = comm.all_reduce sum %x on @g : tensor<8xf32>\n"
                 "%r = comm.wait %t : !comm.token<tensor<8xf32>>\n"),
      &context);
  auto buffers = parseSourceString<ModuleOp>(
      getProgram("%x: memref<8xf32>, %y: memref<8xf32>",
                 "memref.copy %x, %y : memref<8xf32> to memref<8xf32>\n"
                 "%t = comm.all_reduce sum %y into %y on @g : memref<8xf32>, "
                 "memref<8xf32>\n"
                 "comm.wait %t writes(%y : memref<8xf32>) : !comm.token\n"),
      &context);
  KnownCommunication known(*tensors);
  EXPECT_TRUE(succeeded(runValidated(*tensors, {}, "a-pass", known, [&]() {
    tensors->getBody()->clear();
    tensors->getBodyRegion().takeBody(buffers->getBodyRegion());
    buffers->getBodyRegion().emplaceBlock();
    return success();
  })));
}

} // namespace
