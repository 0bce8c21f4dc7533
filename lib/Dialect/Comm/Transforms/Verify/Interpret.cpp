//===- Interpret.cpp - The pass comm-interpret ----------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Analysis/Tokens/WorldSize.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "braid/Interpreter/Interpreter.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMINTERPRETPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace braid;
using namespace mlir;

namespace {
struct CommInterpretPass
    : comm::impl::CommInterpretPassBase<CommInterpretPass> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    auto fail = [&](int64_t value, StringRef option) {
      return emitError(UnknownLoc::get(context))
             << "invalid number " << value << " in option '" << option
             << "', expected 1 to ";
    };
    if (ranks < 0 || ranks > mostRanks)
      return fail(ranks, "ranks")
             << mostRanks << ", or 0 for the number that the program implies";
    constexpr unsigned mostRounds = 1'000'000;
    if (rounds < 1 || rounds > mostRounds)
      return fail(rounds, "rounds") << mostRounds;
    return success();
  }

  void runOnOperation() override {
    if (describe) {
      if (failed(writeInterpreterEntries(getOperation(), data)))
        return signalPassFailure();
      return markAllAnalysesPreserved();
    }
    FailureOr<OwningOpRef<ModuleOp>> prepared =
        prepareForInterpreter(getOperation());
    if (failed(prepared))
      return signalPassFailure();
    ModuleOp module = *prepared ? **prepared : getOperation();
    auto function = dyn_cast_if_present<FunctionOpInterface>(
        SymbolTable::lookupSymbolIn(module, entry));
    if (!function || function.isExternal()) {
      getOperation().emitError()
          << "the module has no function '" << entry.getValue()
          << "' with a body, expected one to run; the "
             "option 'entry' names another";
      return signalPassFailure();
    }
    numRanks = ranks;
    if (numRanks == 0) {
      SymbolTableCollection symbolTables;
      numRanks =
          getWorldSize(getOperation(), std::nullopt, symbolTables).numRanks;
      if (numRanks > mostRanks) {
        getOperation().emitError() << "the module implies " << numRanks
                                   << " ranks, expected at most " << mostRanks;
        return signalPassFailure();
      }
    }
    SmallVector<int64_t> values(arguments.begin(), arguments.end());
    if (values.empty())
      values.push_back(1);
    for (int64_t value : values)
      if (failed(runAll(function, value)))
        return signalPassFailure();
    markAllAnalysesPreserved();
  }

  static constexpr int64_t mostRanks = 1024;
  int64_t numRanks = 0;

  /// Runs `function` in all interleavings, which have to give one result.
  LogicalResult runAll(FunctionOpInterface function, int64_t argument) {
    std::vector<std::vector<InterpreterTensor>> first;
    // Arguments of braid-run have no number.
    std::string withArgument =
        data.empty() ? ", with argument " + std::to_string(argument) : "";
    for (unsigned round = 0; round != rounds; ++round) {
      InterpreterOptions options;
      options.numRanks = numRanks;
      options.seed = seed + round;
      options.argument = argument;
      options.isInOrder = inOrder;
      if (!data.empty() &&
          failed(readInterpreterArguments(function, data, options)))
        return failure();
      InterpreterResult result = interpret(function, options);
      if (result.failure != InterpreterFailure::None)
        return result.op->emitOpError(result.message)
               << withArgument << (data.empty() ? "" : ",")
               << " in interleaving " << options.seed;
      if (round == 0)
        first = std::move(result.results);
      else if (first != result.results)
        return function.emitOpError("has other results in interleaving ")
               << options.seed << " than in " << seed.getValue()
               << withArgument;
    }
    if (!data.empty() && failed(writeInterpreterResults(function, data, first)))
      return failure();
    if (printResults)
      for (auto [rank, tensors] : llvm::enumerate(first)) {
        InFlightDiagnostic remark = emitRemark(function.getLoc())
                                    << "results on rank " << rank
                                    << " with argument " << argument << ":";
        for (const InterpreterTensor &tensor : tensors)
          for (Attribute element : tensor.elements)
            remark << " " << element;
      }
    return success();
  }
};
} // namespace
