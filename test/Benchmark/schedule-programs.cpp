//===- schedule-programs.cpp - How good the orders of programs are --------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads programs and prints, for each block with collectives, the makespan of
// the program's order, of what each scheduling pass makes of it, and of
// comm-schedule, as ratios to the lower bound; and the seconds that the search
// took.
//
//   schedule-programs [--machine=NAME] [--ranks=N] [--steps=N]
//       [--effort=low|default|high] [--without=PART,...] [--parts] FILE...
//
// --parts: prints instead what makespans and bounds lose without each part.
//
//===----------------------------------------------------------------------===//

#include "Figures.h"
#include "PartTable.h"
#include "braid/Analysis/Tokens/RankUniformity.h"
#include "braid/Dialect/Comm/Transforms/PassOptions.h"
#include "braid/InitAll.h"
#include "braid/Schedule/Search/SearchSchedule.h"
#include "braid/Schedule/Simulation/SimulatedOrder.h"
#include "braid/ScheduleIR/CostModel.h"
#include "braid/ScheduleIR/ProblemBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Timer.h"
#include "llvm/Support/raw_ostream.h"

using namespace braid;
using namespace braid::test;
using namespace mlir;

static llvm::cl::list<std::string>
    files(llvm::cl::Positional, llvm::cl::OneOrMore, llvm::cl::desc("FILE..."));
static llvm::cl::opt<std::string> machine("machine", llvm::cl::init(""));
static llvm::cl::opt<int64_t> ranks("ranks", llvm::cl::init(0));
static llvm::cl::opt<uint64_t> steps("steps", llvm::cl::init(0));
static llvm::cl::opt<SearchEffort> effort("effort",
                                          llvm::cl::init(SearchEffort::Default),
                                          comm::getSearchEffortValues());
static llvm::cl::list<std::string>
    without("without", llvm::cl::CommaSeparated,
            llvm::cl::desc("parts of the search and bounds to leave out"));
static llvm::cl::opt<bool>
    ablate("parts", llvm::cl::init(false),
           llvm::cl::desc("print what each part is worth instead"));
static llvm::cl::opt<bool> keepOrder("keep-order", llvm::cl::init(false));

static void printRow(StringRef name, int64_t ns, int64_t boundNs,
                     int64_t peakBytes, StringRef remark) {
  llvm::outs() << llvm::formatv(
      "  {0,-44} {1,12} ns {2,8:F4} {3,8:F2} GB  {4}\n", name, ns,
      static_cast<double>(ns) / static_cast<double>(boundNs),
      static_cast<double>(peakBytes) / 1e9, remark);
}

static void record(StringRef file, const SearchResult &result, double seconds) {
  std::string program = llvm::formatv(
      "{0}, {1} ranks", llvm::sys::path::stem(file), ranks.getValue());
  recordFigure(program + ", makespan over the bound",
               double(result.makespanNs) / double(result.lowerBoundNs), "");
  recordFigure(program + ", search", seconds, "s");
}

static void measure(StringRef file, Block &block, CostModel &model,
                    RankUniformity &uniformity, PartTable &parts) {
  CallEffects calls(/*entersBodies=*/true);
  llvm::TimeRecord begin = llvm::TimeRecord::getCurrentTime();
  FailureOr<BlockProblem> built =
      buildSchedulingProblem(block, model, calls, uniformity);
  if (failed(built))
    exit(1);
  llvm::TimeRecord buildTime = llvm::TimeRecord::getCurrentTime(false);
  buildTime -= begin;
  SchedulingProblem &problem = built->problem;
  problem.keepOrderOfStarts |= keepOrder;
  if (ablate) {
    parts.add(problem);
    return;
  }

  begin = llvm::TimeRecord::getCurrentTime();
  SearchParts options;
  options.maxSteps = steps;
  options.effort = effort;
  for (const std::string &part : without)
    leaveOut(part, options);
  SearchResult result = searchWithParts(problem, options);
  llvm::TimeRecord searchTime = llvm::TimeRecord::getCurrentTime(false);
  searchTime -= begin;

  record(file, result, searchTime.getProcessTime());
  llvm::outs() << llvm::formatv(
      "{0}: {1} nodes, {2} starts, lower bound {3} ns\n",
      llvm::sys::path::filename(file), problem.graph.size(),
      problem.graph.starts().size(), result.lowerBoundNs);
  for (const ScheduleCandidate &candidate : getScheduleCandidates(problem)) {
    Simulation simulation = simulateOrder(problem, candidate.order);
    printRow(candidate.name, simulation.makespanNs, result.lowerBoundNs,
             simulation.peakBytes, "");
  }
  printRow("comm-schedule", result.makespanNs, result.lowerBoundNs,
           result.peakBytes,
           llvm::formatv("{0}{1}; build {2:F2} s, search {3:F2} s, {4} steps",
                         result.optimal ? "optimal; " : "", result.method,
                         buildTime.getProcessTime(),
                         searchTime.getProcessTime(), result.statistics.steps)
               .str());
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::cl::ParseCommandLineOptions(argc, argv);
  for (const std::string &part : without)
    if (SearchParts options; !leaveOut(part, options)) {
      llvm::errs() << "--without: no part '" << part << "'; expected one of "
                   << getPartNames() << "\n";
      return 1;
    }
  PartTable parts(steps);
  DialectRegistry registry;
  mlir::registerAllDialects(registry);
  braid::registerAllDialects(registry);
  MLIRContext context(registry);
  CostSettings settings;
  settings.machine = machine;
  settings.ranks = ranks;
  for (const std::string &file : files) {
    OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(file, &context);
    if (!module)
      return 1;
    FailureOr<CostOptions> costs = resolveCostOptions(*module, settings);
    if (failed(costs))
      return 1;
    CostModel model(*costs);
    RankUniformity uniformity(*module);
    for (auto function : module->getOps<func::FuncOp>())
      for (Block *block : findSchedulableBlocks(function))
        measure(file, *block, model, uniformity, parts);
  }
  if (ablate)
    parts.print("programs");
  return 0;
}
