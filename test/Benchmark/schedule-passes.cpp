//===- schedule-passes.cpp - Time of the scheduling passes ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Prints the processor time that the passes take, in one thread, on one block
// of 1,000, 10,000 and 100,000 ops of which every twentieth starts a
// collective: the median of the runs, and the median of what the validation of
// the new order adds to a run. Verification between passes is MLIR's, not ours,
// and is left out. `schedule-passes [--quick] [reorder]` takes fewer runs, and
// measures the passes alone whose names contain the text.
//
//===----------------------------------------------------------------------===//

#include "Figures.h"
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
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <ctime>
#include <deque>
#include <optional>
#include <random>
#include <vector>

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
    {"comm-sink-waits-iterative, estimated",
     [] {
       return comm::createCommSinkWaitsIterativePass(
           getEstimated<comm::CommSinkWaitsIterativePassOptions>());
     }},
    {"comm-latency-hiding-schedule",
     [] { return comm::createCommLatencyHidingSchedulePass(); }},
    {"comm-reorder-preserving-peak-memory",
     [] { return comm::createCommReorderPreservingPeakMemoryPass(); }},
    {"comm-reorder-preserving-peak-memory, estimated",
     [] {
       return comm::createCommReorderPreservingPeakMemoryPass(
           getEstimated<comm::CommReorderPreservingPeakMemoryPassOptions>());
     }},
};

struct Size {
  const char *name;
  unsigned numOps, numRuns;
};

struct Times {
  /// With validation.
  double seconds;
  /// What validation adds, as a share of the time without.
  double validationShare;
};

/// The processor time of the pass in seconds, if it succeeds.
std::optional<double> measureOnce(const PassCase &passCase, ModuleOp module) {
  PassManager passManager(module.getContext());
  passManager.enableVerifier(false);
  passManager.addPass(passCase.create());
  std::clock_t begin = std::clock();
  if (failed(passManager.run(module)))
    return std::nullopt;
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

double getMedian(std::vector<double> values) {
  auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::optional<Times> measure(const PassCase &passCase, MLIRContext &context,
                             bool onBuffers, const Size &size) {
  std::vector<double> seconds, shares;
  for (unsigned run = 0; run != size.numRuns; ++run) {
    // Programs of both cases lie in memory alike.
    auto measureFresh = [&](bool isVerified) {
      comm::setScheduleVerified(isVerified);
      OwningOpRef<ModuleOp> module =
          ProgramBuilder(context, onBuffers).build(size.numOps);
      return measureOnce(passCase, *module);
    };
    // The second of two runs finds the caches warm: take turns.
    std::optional<double> without, with;
    for (bool isVerified : {run % 2 == 0, run % 2 != 0})
      (isVerified ? with : without) = measureFresh(isVerified);
    if (!with || !without)
      return std::nullopt;
    seconds.push_back(*with);
    shares.push_back(*with / *without - 1);
  }
  return Times{getMedian(seconds), getMedian(shares)};
}

/// Prints the time of one op of the largest program, and by how much that
/// program takes longer than the one before.
void printGrowth(ArrayRef<double> seconds) {
  llvm::outs() << llvm::formatv("{0,12:f0}{1,8:f1}\n",
                                seconds.back() / 100000 * 1e9,
                                seconds.back() / seconds[seconds.size() - 2]);
}

} // namespace

int main(int argc, char **argv) {
  bool isQuick = argc > 1 && StringRef(argv[1]) == "--quick";
  StringRef filter = argc > 1 + isQuick ? argv[1 + isQuick] : "";
  DialectRegistry registry;
  registerAllDialects(registry);
  registry.insert<func::FuncDialect, linalg::LinalgDialect,
                  memref::MemRefDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();

  const Size sizes[] = {{"1,000 ops", 1000, isQuick ? 15U : 41U},
                        {"10,000 ops", 10000, isQuick ? 5U : 15U},
                        {"100,000 ops", 100000, isQuick ? 3U : 15U}};
  for (bool onBuffers : {false, true}) {
    llvm::outs() << llvm::formatv("{0,-47}",
                                  onBuffers ? "on buffers" : "on tensors");
    for (const Size &size : sizes)
      llvm::outs() << llvm::formatv("{0,14}{1,12}", size.name, "validation");
    llvm::outs() << llvm::formatv("{0,12}{1,8}\n", "ns per op", "ratio");
    std::vector<double> totals(std::size(sizes), 0);
    for (const PassCase &passCase : passCases) {
      if (!StringRef(passCase.name).contains(filter))
        continue;
      llvm::outs() << llvm::formatv("{0,-47}", passCase.name);
      std::vector<double> medians;
      for (auto [size, total] : llvm::zip_equal(sizes, totals)) {
        std::optional<Times> times =
            measure(passCase, context, onBuffers, size);
        if (!times)
          return 1;
        medians.push_back(times->seconds);
        if (passCase.inPipeline)
          total += times->seconds;
        llvm::outs() << llvm::formatv("{0,12:f5} s{1,10:f1} %", times->seconds,
                                      100 * times->validationShare);
        std::string figure =
            llvm::formatv("{0}, {1}, {2}", passCase.name,
                          onBuffers ? "buffers" : "tensors", size.name);
        test::recordFigure(figure, times->seconds, "s");
      }
      printGrowth(medians);
    }
    if (!filter.empty())
      continue;
    llvm::outs() << llvm::formatv("{0,-47}", "the first three together");
    for (double total : totals)
      llvm::outs() << llvm::formatv("{0,12:f5} s{1,12}", total, "");
    printGrowth(totals);
    llvm::outs() << '\n';
  }
  return 0;
}
