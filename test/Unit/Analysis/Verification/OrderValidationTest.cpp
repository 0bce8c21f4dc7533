//===- OrderValidationTest.cpp - New orders of blocks ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Analysis/Verification/OrderValidation.h"

#include "Analysis/Memory/BlockEffects.h"
#include "braid/Dialect/Comm/IR/Comm.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace braid;
using namespace mlir;

namespace {

/// Parses a module, moves ops of one block, and validates the order that comes
/// out.
class OrderValidationTest : public ::testing::Test {
protected:
  OrderValidationTest() {
    context.loadDialect<arith::ArithDialect, func::FuncDialect,
                        memref::MemRefDialect, scf::SCFDialect,
                        comm::CommDialect>();
  }

  /// Moves op number `from` of the block before number `to`, both counted in
  /// the block as it was; returns the error, empty for none. The block is that
  /// of the ops in the function `main`, or the innermost block with `isNested`.
  std::string move(StringRef text, unsigned from, unsigned to,
                   bool isNested = false) {
    std::string error = moveWithClaim(text, from, to, isNested, OrderClaim());
    // No claim, right or wrong, changes what is found.
    OrderClaim right, wrongPlaces, wrongStaying, everything;
    for (unsigned place = 0; place != numOps; ++place)
      if (place != from)
        right.places.push_back(place);
    unsigned position = to > from ? to - 1 : to;
    right.places.insert(right.places.begin() + position, from);
    for (unsigned index = 0; index != numOps; ++index) {
      if (index != position)
        right.staying.push_back(index);
      wrongPlaces.places.push_back(index);
      wrongPlaces.staying.push_back(index);
    }
    wrongStaying.places = everything.places = right.places;
    wrongStaying.staying = wrongPlaces.staying;
    everything.staying = {0};
    for (const OrderClaim &claim :
         {right, wrongPlaces, wrongStaying, everything})
      EXPECT_EQ(moveWithClaim(text, from, to, isNested, claim).empty(),
                error.empty());
    return error;
  }

  std::string moveWithClaim(StringRef text, unsigned from, unsigned to,
                            bool isNested, const OrderClaim &claim) {
    return change(text, isNested, claim, [&](ArrayRef<Operation *> ops) {
      ops[from]->moveBefore(ops[to]);
    });
  }

  /// Validates what `change` makes of the block with the given ops.
  std::string change(StringRef text, bool isNested, const OrderClaim &claim,
                     function_ref<void(ArrayRef<Operation *>)> change) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return "does not parse";
    auto function = module->lookupSymbol<func::FuncOp>("main");
    Block *block = &function.getBody().front();
    if (isNested)
      function.walk([&](scf::IfOp branch) { block = branch.thenBlock(); });
    std::vector<Operation *> before;
    for (Operation &op : block->without_terminator())
      before.push_back(&op);
    numOps = before.size();
    change(before);
    std::string error;
    ScopedDiagnosticHandler handler(
        &context, [&](Diagnostic &diagnostic) { error += diagnostic.str(); });
    CallEffects calls(/*entersBodies=*/true);
    RankUniformity uniformity(*module);
    BlockEffects effects;
    LogicalResult isRight = validateOrder(*block, before, claim, effects, calls,
                                          uniformity, "a pass");
    EXPECT_EQ(failed(isRight), !error.empty());
    return error;
  }

  MLIRContext context;
  /// The number of ops of the last block.
  unsigned numOps = 0;
};

constexpr StringRef buffers = R"mlir(
  comm.group @g all
  func.func @main(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>) {
    %t = comm.all_reduce sum %x into %x on @g : memref<4xf32>, memref<4xf32>
    memref.copy %y, %z : memref<4xf32> to memref<4xf32>
    comm.wait %t writes(%x : memref<4xf32>) : !comm.token
    memref.copy %x, %z : memref<4xf32> to memref<4xf32>
    return
  }
)mlir";

TEST_F(OrderValidationTest, AcceptsWhatTouchesNothingInFlight) {
  EXPECT_EQ(move(buffers, 1, 0), "");
  EXPECT_EQ(move(buffers, 2, 1), "");
}

TEST_F(OrderValidationTest, RejectsAReaderBeforeTheWait) {
  EXPECT_EQ(move(buffers, 3, 2),
            "'comm.wait' op was moved past 'memref.copy' by a pass, expected "
            "that accesses to memory of which one writes keep their order");
}

TEST_F(OrderValidationTest, RejectsAWaitBeforeItsStart) {
  EXPECT_EQ(move(buffers, 2, 0),
            "'comm.wait' op was moved past 'comm.all_reduce' by a pass, "
            "expected that each value stands before its uses");
}

constexpr StringRef nestedUse = R"mlir(
  comm.group @g all
  func.func @main(%c: i1) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %sum = arith.addi %zero, %one : index
    scf.if %c {
      scf.if %c {
        %twice = arith.addi %sum, %sum : index
      }
    }
    %other = arith.muli %zero, %one : index
    return
  }
)mlir";

TEST_F(OrderValidationTest, RejectsARegionBeforeAValueThatItUses) {
  EXPECT_EQ(move(nestedUse, 3, 2),
            "'scf.if' op was moved past 'arith.addi' by a pass, expected that "
            "each value stands before its uses");
  EXPECT_EQ(move(nestedUse, 3, 0),
            "'scf.if' op was moved past 'arith.addi' by a pass, expected that "
            "each value stands before its uses");
  EXPECT_EQ(move(nestedUse, 4, 2), "");
}

TEST_F(OrderValidationTest, RejectsAMissingAndANewOp) {
  OrderClaim same;
  same.places = same.staying = {0, 1, 2, 3, 4};
  for (const OrderClaim &claim : {OrderClaim(), same}) {
    EXPECT_EQ(change(nestedUse, /*isNested=*/false, claim,
                     [](ArrayRef<Operation *> ops) { ops.back()->erase(); }),
              "'func.func' op has other ops after a pass than before, expected "
              "that the pass changes their order alone");
    EXPECT_EQ(change(nestedUse, /*isNested=*/false, claim,
                     [](ArrayRef<Operation *> ops) {
                       Operation *copy = ops.back()->clone();
                       ops.back()->getBlock()->push_front(copy);
                     }),
              "'func.func' op has other ops after a pass than before, expected "
              "that the pass changes their order alone");
  }
}

constexpr StringRef slices = R"mlir(
  comm.group @g all
  func.func @main(%x: memref<8xf32>, %f: f32) {
    %low = memref.subview %x[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
    %high = memref.subview %x[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
    memref.copy %low, %low : memref<4xf32, strided<[1]>> to memref<4xf32, strided<[1]>>
    memref.copy %high, %high : memref<4xf32, strided<[1], offset: 4>> to memref<4xf32, strided<[1], offset: 4>>
    memref.copy %x, %x : memref<8xf32> to memref<8xf32>
    return
  }
)mlir";

TEST_F(OrderValidationTest, TellsSlicesApart) {
  EXPECT_EQ(move(slices, 3, 2), "");
  EXPECT_NE(move(slices, 4, 3), "");
}

constexpr StringRef collectives = R"mlir(
  comm.group @g all
  func.func @main(%x: tensor<4xf32>) {
    %zero = arith.constant 0 : index
    %rank = comm.rank on @g
    %first = arith.cmpi eq, %rank, %zero : index
    %t = comm.all_reduce sum %x on @g : tensor<4xf32>
    %u = comm.all_reduce max %x on @g : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %s = comm.wait %u : !comm.token<tensor<4xf32>>
    scf.if %first {
      %v = comm.all_reduce sum %x on @g : tensor<4xf32>
      %w = comm.all_reduce max %x on @g : tensor<4xf32>
      %p = comm.wait %v : !comm.token<tensor<4xf32>>
      %q = comm.wait %w : !comm.token<tensor<4xf32>>
    }
    return
  }
)mlir";

constexpr StringRef startAfterWait = R"mlir(
  comm.group @g all
  func.func @main(%x: tensor<4xf32>, %c: i1) {
    scf.if %c {
      %t = comm.all_reduce sum %x on @g : tensor<4xf32>
      %r = comm.wait %t : !comm.token<tensor<4xf32>>
      %u = comm.all_reduce max %x on @g : tensor<4xf32>
      %s = comm.wait %u : !comm.token<tensor<4xf32>>
    }
    return
  }
)mlir";

TEST_F(OrderValidationTest, LetsRanksInOneTextReorderStarts) {
  EXPECT_EQ(move(collectives, 4, 3), "");
}

TEST_F(OrderValidationTest, KeepsStartsWhereRanksMayTakeDifferentWays) {
  EXPECT_EQ(move(collectives, 1, 0, /*isNested=*/true),
            "'comm.all_reduce' op was moved past 'comm.all_reduce' by a pass, "
            "expected that starts keep their order where ranks may take "
            "different paths");
}

TEST_F(OrderValidationTest,
       KeepsWaitsAfterStartsWhereRanksMayTakeDifferentWays) {
  EXPECT_EQ(move(collectives, 2, 1, /*isNested=*/true),
            "'comm.wait' op was moved past 'comm.all_reduce' by a pass, "
            "expected that a wait stands after the starts that it stood after "
            "where ranks may take different paths");
  EXPECT_EQ(move(collectives, 5, 4), "");
}

TEST_F(OrderValidationTest, LetsStartsPassEarlierWaits) {
  EXPECT_EQ(move(startAfterWait, 2, 1, /*isNested=*/true), "");
}

TEST_F(OrderValidationTest, LetsWaitsPassEachOther) {
  EXPECT_EQ(move(collectives, 3, 2, /*isNested=*/true), "");
}

constexpr StringRef numbers = R"mlir(
  comm.group @g all
  func.func @main(%x: tensor<4xf32>) {
    %t = comm.all_reduce sum %x on @g {comm.order = 0 : i64} : tensor<4xf32>
    %u = comm.all_reduce max %x on @g {comm.order = 1 : i64} : tensor<4xf32>
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %s = comm.wait %u : !comm.token<tensor<4xf32>>
    return
  }
)mlir";

TEST_F(OrderValidationTest, KeepsNumberedStarts) {
  EXPECT_EQ(move(numbers, 1, 0),
            "'comm.all_reduce' op was moved past 'comm.all_reduce' by a pass, "
            "expected that starts with comm.order keep their order");
}

constexpr StringRef messages = R"mlir(
  comm.group @g all
  func.func @main(%x: tensor<4xf32>, %p: index) {
    %t = comm.send %x on @g to %p : tensor<4xf32>
    %u = comm.recv on @g from %p : tensor<4xf32>
    comm.wait %t : !comm.token
    %r = comm.wait %u : !comm.token<tensor<4xf32>>
    return
  }
)mlir";

constexpr StringRef exchangesOfTwoGroups = R"mlir(
  comm.group @g all
  comm.group @h all
  func.func @main(%x: tensor<4xf32>, %p: index) {
    %t = comm.send %x on @g to %p : tensor<4xf32>
    comm.wait %t : !comm.token
    %u = comm.recv on @h from %p : tensor<4xf32>
    %r = comm.wait %u : !comm.token<tensor<4xf32>>
    return
  }
)mlir";

TEST_F(OrderValidationTest, KeepsMessagesAndTheirExchanges) {
  EXPECT_EQ(move(messages, 1, 0),
            "'comm.recv' op was moved past 'comm.send' by a pass, expected "
            "that the messages of a group keep their order");
  EXPECT_EQ(move(messages, 2, 1),
            "'comm.wait' op was moved past 'comm.recv' by a pass, expected "
            "that a wait stands after the messages that it stood after");
  EXPECT_EQ(move(messages, 3, 2), "");
}

constexpr StringRef exchanges = R"mlir(
  comm.group @g all
  func.func @main(%x: tensor<4xf32>, %p: index) {
    %t = comm.send %x on @g to %p : tensor<4xf32>
    comm.wait %t : !comm.token
    %u = comm.send %x on @g to %p : tensor<4xf32>
    %v = comm.recv on @g from %p : tensor<4xf32>
    comm.wait %u : !comm.token
    %r = comm.wait %v : !comm.token<tensor<4xf32>>
    return
  }
)mlir";

constexpr StringRef messageBesideCollective = R"mlir(
  comm.group @g all
  func.func @main(%x: tensor<4xf32>, %p: index) {
    %t = comm.all_reduce sum %x on @g : tensor<4xf32>
    %u = comm.send %x on @g to %p : tensor<4xf32>
    %v = comm.all_reduce max %x on @g : tensor<4xf32>
    comm.wait %u : !comm.token
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    %s = comm.wait %v : !comm.token<tensor<4xf32>>
    return
  }
)mlir";

TEST_F(OrderValidationTest, KeepsWaitsForCollectivesAfterMessages) {
  EXPECT_EQ(move(messageBesideCollective, 4, 1),
            "'comm.wait' op was moved past 'comm.send' by a pass, expected "
            "that a wait stands after the messages that it stood after");
  // It may pass a start of a collective.
  EXPECT_EQ(move(messageBesideCollective, 4, 2), "");
}

TEST_F(OrderValidationTest, KeepsWaitsForMessagesAfterCollectives) {
  EXPECT_EQ(move(messageBesideCollective, 3, 2),
            "'comm.wait' op was moved past 'comm.all_reduce' by a pass, "
            "expected that a wait for a message stands after the starts that "
            "it stood after");
  EXPECT_EQ(move(messageBesideCollective, 3, 5), "");
}

TEST_F(OrderValidationTest, LetsMessagesPassEarlierWaits) {
  EXPECT_EQ(move(exchangesOfTwoGroups, 2, 1), "");
}

constexpr StringRef nestedMessages = R"mlir(
  comm.group @g all
  func.func @main(%x: tensor<4xf32>, %p: index, %c: i1) {
    %t = comm.all_reduce sum %x on @g : tensor<4xf32>
    scf.if %c {
      %u = comm.send %x on @g to %p : tensor<4xf32>
      comm.wait %u : !comm.token
    }
    %r = comm.wait %t : !comm.token<tensor<4xf32>>
    return
  }
)mlir";

TEST_F(OrderValidationTest, KeepsWaitsAfterMessagesInsideOfOps) {
  EXPECT_EQ(move(nestedMessages, 2, 1),
            "'comm.wait' op was moved past 'scf.if' by a pass, expected that a "
            "wait stands after the messages that it stood after");
}

constexpr StringRef carried = R"mlir(
  comm.group @g all
  func.func @main(%x: tensor<4xf32>, %n: index) {
    %one = arith.constant 1 : index
    %t = comm.all_reduce sum %x on @g : tensor<4xf32>
    %l = scf.for %i = %one to %n step %one iter_args(%k = %t) -> (!comm.token<tensor<4xf32>>) {
      scf.yield %k : !comm.token<tensor<4xf32>>
    }
    %u = comm.all_reduce max %x on @g : tensor<4xf32>
    %r = comm.wait %l : !comm.token<tensor<4xf32>>
    %s = comm.wait %u : !comm.token<tensor<4xf32>>
    return
  }
)mlir";

TEST_F(OrderValidationTest, TakesNoCarriedTokenOfACollectiveForAMessage) {
  EXPECT_EQ(move(carried, 4, 3), "");
}

TEST_F(OrderValidationTest, LetsNoWaitSinkBetweenMessagesThatRunTogether) {
  EXPECT_EQ(move(exchanges, 1, 3),
            "'comm.wait' op was moved past 'comm.send' by a pass, expected "
            "that no wait comes between messages that run together");
  EXPECT_EQ(move(exchanges, 1, 4), "");
}

} // namespace
