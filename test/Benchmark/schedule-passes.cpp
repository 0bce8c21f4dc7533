//===- schedule-passes.cpp - Time of the scheduling passes ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Prints the processor time that the passes take, in one thread, on one block
// of 10,000 and of 100,000 ops of which every twentieth starts a collective;
// the best of five runs, and what the validation of the new order adds to it.
// Verification between passes is MLIR's, not ours, and
// is left out.
//
//===----------------------------------------------------------------------===//

#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "braid/Dialect/Comm/Transforms/ScheduleVerification.h"
#include "braid/InitAll.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <ctime>
#include <deque>
#include <optional>
#include <random>

using namespace braid;
using namespace mlir;

namespace {

/// A function of `numOps` ops on tensors or on buffers.
class ProgramBuilder {
public:
  ProgramBuilder(MLIRContext &context, bool onBuffers)
      : builder(&context), loc(builder.getUnknownLoc()), onBuffers(onBuffers) {}

  OwningOpRef<ModuleOp> build(unsigned numOps) {
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
    builder.setInsertionPointToStart(module->getBody());
    comm::GroupOp::create(builder, loc, "world", /*ranks=*/nullptr,
                          /*sym_visibility=*/nullptr);
    Type tensor = RankedTensorType::get({64}, builder.getF32Type());
    Type buffer = MemRefType::get({64}, builder.getF32Type());
    SmallVector<Type> arguments(onBuffers ? 64 : 1,
                                onBuffers ? buffer : tensor);
    auto function = func::FuncOp::create(
        builder, loc, "main", builder.getFunctionType(arguments, {}));
    Block *block = function.addEntryBlock();
    builder.setInsertionPointToStart(block);
    values.assign(block->args_begin(), block->args_end());

    for (unsigned i = 0; i != numOps; ++i) {
      if (i % 20 == 0)
        addStart();
      else if (i % 20 == 10)
        addWait();
      else
        addCompute();
    }
    while (!inFlight.empty())
      addWait();
    func::ReturnOp::create(builder, loc);
    return module;
  }

private:
  Value pick(size_t recent) {
    size_t count = std::min(recent, values.size());
    return values[values.size() - 1 - engine() % count];
  }
  void setCost(Operation *op, int64_t bound) {
    op->setAttr(comm::CommDialect::kCostAttrName,
                builder.getI64IntegerAttr(engine() % bound));
  }
  void addStart() {
    Value source = pick(onBuffers ? 64 : 4);
    SmallVector<Value> into;
    Type token;
    if (onBuffers) {
      into.push_back(source);
      token = comm::TokenType::get(builder.getContext());
    } else {
      token = comm::TokenType::get(source.getType());
    }
    auto start = comm::AllReduceOp::create(
        builder, loc, TypeRange{token}, comm::ReductionKind::sum,
        /*scale=*/Value(), ValueRange{source}, into, "world");
    setCost(start, 100);
    inFlight.push_back(start);
  }
  void addWait() {
    if (inFlight.empty())
      return;
    comm::AllReduceOp start = inFlight.front();
    inFlight.pop_front();
    auto wait = comm::WaitOp::create(builder, loc, start.getTokens().front(),
                                     ValueRange(), start.getOutputs());
    if (!onBuffers)
      values.push_back(wait.getValue());
  }
  void addCompute() {
    if (!onBuffers) {
      auto op = comm::ComputeOp::create(builder, loc, "f",
                                        ValueRange{pick(2), pick(50)},
                                        TypeRange{values.front().getType()});
      setCost(op, 40);
      values.push_back(op.getOutputs().front());
      return;
    }
    auto op = linalg::CopyOp::create(builder, loc, pick(64), pick(64));
    setCost(op, 40);
  }

  OpBuilder builder;
  Location loc;
  bool onBuffers;
  std::mt19937_64 engine{1};
  std::vector<Value> values;
  std::deque<comm::AllReduceOp> inFlight;
};

struct PassCase {
  const char *name;
  std::unique_ptr<Pass> (*create)();
  /// One of the passes that run one after the other, whose sum is printed.
  bool inPipeline = false;
};

/// The iterative passes with estimates.
template <typename Options> Options getEstimated() {
  Options options;
  options.useRuntimeEstimations = true;
  return options;
}

const PassCase passCases[] = {
    {"comm-sink-waits", [] { return comm::createCommSinkWaitsPass(); },
     /*inPipeline=*/true},
    {"comm-raise-collectives",
     [] { return comm::createCommRaiseCollectivesPass(); },
     /*inPipeline=*/true},
    {"comm-reorder-compute-for-overlap",
     [] { return comm::createCommReorderComputeForOverlapPass(); },
     /*inPipeline=*/true},
    {"comm-list-schedule",
     [] {
       comm::CommListSchedulePassOptions options;
       options.raise = options.sink = options.reorder = true;
       return comm::createCommListSchedulePass(options);
     }},
    {"comm-simple-overlap", [] { return comm::createCommSimpleOverlapPass(); }},
    {"comm-sink-waits-iterative",
     [] { return comm::createCommSinkWaitsIterativePass(); }},
    {"  with estimates",
     [] {
       return comm::createCommSinkWaitsIterativePass(
           getEstimated<comm::CommSinkWaitsIterativePassOptions>());
     }},
    {"comm-latency-hiding-schedule",
     [] { return comm::createCommLatencyHidingSchedulePass(); }},
    {"comm-reorder-preserving-peak-memory",
     [] { return comm::createCommReorderPreservingPeakMemoryPass(); }},
    {"  with estimates",
     [] {
       return comm::createCommReorderPreservingPeakMemoryPass(
           getEstimated<comm::CommReorderPreservingPeakMemoryPassOptions>());
     }},
};

/// The processor time of the pass in seconds, if it succeeds.
std::optional<double> measure(const PassCase &passCase, ModuleOp module) {
  PassManager passManager(module.getContext());
  passManager.enableVerifier(false);
  passManager.addPass(passCase.create());
  std::clock_t begin = std::clock();
  if (failed(passManager.run(module)))
    return std::nullopt;
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

} // namespace

int main() {
  DialectRegistry registry;
  registerAllDialects(registry);
  registry.insert<func::FuncDialect, linalg::LinalgDialect,
                  memref::MemRefDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();

  constexpr unsigned sizes[] = {10000, 100000};
  constexpr unsigned numRounds = 5;
  for (bool onBuffers : {false, true}) {
    llvm::outs() << llvm::formatv("{0,-36}{1,14}{2,14}{3,8}{4,12}{5,20}\n",
                                  onBuffers ? "on buffers" : "on tensors",
                                  "10,000 ops", "100,000 ops", "ratio",
                                  "ns per op", "validation");
    double totals[2] = {0, 0};
    for (const PassCase &passCase : passCases) {
      double seconds[2], unchecked[2];
      // What validation adds to the time of the pass.
      auto getShare = [&](int size) {
        return 100 * (seconds[size] / unchecked[size] - 1);
      };
      for (int size : {0, 1}) {
        seconds[size] = unchecked[size] = 1e9;
        for (unsigned round = 0; round != numRounds; ++round) {
          // Programs of both cases lie in memory alike.
          auto measureFresh = [&](bool isVerified) {
            comm::setScheduleVerified(isVerified);
            OwningOpRef<ModuleOp> module =
                ProgramBuilder(context, onBuffers).build(sizes[size]);
            return measure(passCase, *module);
          };
          std::optional<double> without = measureFresh(/*isVerified=*/false);
          std::optional<double> with = measureFresh(/*isVerified=*/true);
          if (!with || !without)
            return 1;
          seconds[size] = std::min(seconds[size], *with);
          unchecked[size] = std::min(unchecked[size], *without);
        }
        if (passCase.inPipeline)
          totals[size] += seconds[size];
      }
      llvm::outs() << llvm::formatv(
          "{0,-36}{1,11:f4} s{2,12:f4} s{3,8:f1}{4,12:f0}{5,10:f1} %{6,6:f1} "
          "%\n",
          passCase.name, seconds[0], seconds[1], seconds[1] / seconds[0],
          seconds[1] / sizes[1] * 1e9, getShare(0), getShare(1));
    }
    llvm::outs() << llvm::formatv(
        "{0,-36}{1,11:f4} s{2,12:f4} s{3,8:f1}{4,12:f0}\n\n",
        "the first three together", totals[0], totals[1], totals[1] / totals[0],
        totals[1] / sizes[1] * 1e9);
  }
  return 0;
}
