//===- IterativePasses.cpp - Passes that swap under a memory budget -------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SchedulingPass.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "braid/Schedule/Baselines/Inductor/IterativeOverlap.h"
#include "braid/Support/IR/Remarks.h"
#include "braid/Support/MatmulAttributes.h"
#include "braid/Support/OutputFile.h"
#include "braid/Support/Text.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

namespace braid::comm {
#define GEN_PASS_DEF_COMMREORDERPRESERVINGPEAKMEMORYPASS
#define GEN_PASS_DEF_COMMSINKWAITSITERATIVEPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace mlir;
using namespace braid;

/// Fails if a number in `options` is invalid, with an error at `loc` that names
/// the option.
static LogicalResult checkIterativeOptions(Location loc,
                                           const IterativeOptions &options) {
  std::pair<StringRef, double> numbers[] = {
      {"peak-memory-budget", options.peakMemoryBudget},
      {"comm-runtime-mult", options.commRuntimeMult},
      {"compute-runtime-mult", options.computeRuntimeMult},
      {"extra-overlap", options.extraOverlap}};
  for (auto [name, number] : numbers)
    if (!std::isfinite(number) || number < 0)
      return emitError(loc)
             << "expected a finite number of at least 0 in option '" << name
             << "', found " << number;
  return success();
}

/// Returns true if `op` is a matmul or a convolution, or a kernel that may be
/// one.
static bool mayBeMatmul(Operation *op) {
  auto compute = dyn_cast<comm::ComputeOp>(op);
  if ((compute && compute.isOpaque()) ||
      isa<CallOpInterface, gpu::LaunchFuncOp>(op))
    return true;
  return op
      ->walk([](linalg::LinalgOp linalgOp) {
        return linalgOp->hasAttr(kBiasAttrName) ||
                       linalg::isaContractionOpInterface(linalgOp) ||
                       linalg::isaConvolutionOpInterface(linalgOp)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// The label of `op`, or the name of its kernel, or the op name with the number
/// of the node. The name of a wait differs from that of its start.
static std::string getNodeName(Operation *op, unsigned node) {
  StringRef label = comm::getLabel(op);
  if (!label.empty())
    return escapeControls(label);
  if (auto compute = dyn_cast<comm::ComputeOp>(op))
    return escapeControls(compute.getKernel());
  return (op->getName().getStringRef() + "#" + Twine(node)).str();
}

/// Writes `table` to the file `output`, unless the name is empty. Emits an
/// error at `op` and fails if it cannot.
static LogicalResult writeTable(Operation *op, StringRef table,
                                const std::string &output) {
  if (output.empty())
    return success();
  // Standard output is for the program.
  if (output == "-") {
    llvm::errs() << table;
    return success();
  }
  if (std::string error = writeWholeFile(output, table); !error.empty())
    return emitError(op->getLoc()) << "option 'statistics': " << error;
  return success();
}

namespace {
/// A pass with `iterativeOptions`.
template <typename Base>
class IterativePass : public comm::ModuleOrFunctionPass<Base> {
public:
  using comm::ModuleOrFunctionPass<Base>::ModuleOrFunctionPass;

  LogicalResult initialize(MLIRContext *context) override {
    if (failed(comm::ModuleOrFunctionPass<Base>::initialize(context)))
      return failure();
    return checkIterativeOptions(comm::getOptionLoc(context),
                                 getIterativeOptions());
  }

protected:
  /// The values of `iterativeOptions`.
  IterativeOptions getIterativeOptions() const {
    IterativeOptions options;
    options.useRuntimeEstimations = this->useRuntimeEstimations;
    options.peakMemoryBudget = this->peakMemoryBudget;
    options.groupWithCollectives = this->groupWithCollectives;
    options.commRuntimeMult = this->commRuntimeMult;
    options.computeRuntimeMult = this->computeRuntimeMult;
    options.extraOverlap = this->extraOverlap;
    return options;
  }

  /// Runs `algorithm` on each block with a start or a wait. Prints statistics,
  /// under `title`, to the file of the option. The remark `movedName` counts
  /// what it moves.
  void run(IterativeOptions options,
           IterativeResult (*algorithm)(const SchedulingProblem &,
                                        ArrayRef<unsigned>,
                                        const IterativeOptions &),
           StringRef title, StringRef movedName);
};

struct CommReorderPreservingPeakMemoryPass
    : IterativePass<comm::impl::CommReorderPreservingPeakMemoryPassBase<
          CommReorderPreservingPeakMemoryPass>> {
  using IterativePass::IterativePass;

  void runOnOperation() override {
    IterativeOptions options = getIterativeOptions();
    options.reorderCollectives =
        useRuntimeEstimations && unsafeCollectivesReorder;
    run(std::move(options), reorderPreservingPeakMemory, "Collective node",
        "moved-starts");
  }
};

struct CommSinkWaitsIterativePass
    : IterativePass<comm::impl::CommSinkWaitsIterativePassBase<
          CommSinkWaitsIterativePass>> {
  using IterativePass::IterativePass;

  void runOnOperation() override {
    IterativeOptions options = getIterativeOptions();
    options.swapWithCollectives = swapWithCollectives;
    run(std::move(options), sinkWaitsIterative, "Wait node", "moved-waits");
  }
};
} // namespace

template <typename Base>
void IterativePass<Base>::run(
    IterativeOptions options,
    IterativeResult (*algorithm)(const SchedulingProblem &, ArrayRef<unsigned>,
                                 const IterativeOptions &),
    StringRef title, StringRef movedName) {
  Operation *root = this->getOperation();
  unsigned numMoved = 0, numMoves = 0;
  std::string table;
  llvm::raw_string_ostream os(table);
  auto schedule = [&](BlockProblem &block,
                      CostModel &) -> FailureOr<ScheduleOrder> {
    ArrayRef<Operation *> ops = block.block.ops;
    options.isMatmul.assign(ops.size(), false);
    for (auto [node, op] : llvm::enumerate(ops))
      options.isMatmul[node] = mayBeMatmul(op);
    IterativeResult result =
        algorithm(block.problem, getProgramOrder(block.problem.graph), options);
    for (const MoveStatistics &statistics : result.statistics) {
      numMoved += statistics.moves != 0;
      numMoves += statistics.moves;
    }
    if (!this->statisticsOutput.empty()) {
      os << "func @" << comm::getFunctionOf(block.block.block).getName()
         << ":\n";
      printStatistics(
          result, title,
          [&](unsigned node) { return getNodeName(ops[node], node); }, os);
    }
    return std::move(result.order);
  };
  ScheduleChanges changes;
  if (failed(comm::scheduleProblems(root, this->getAnalysisManager(),
                                    this->getCostSettings(), changes, schedule,
                                    [](NodeKind) { return false; })) ||
      failed(comm::verifyChanges(root, changes, this->getArgument())))
    return this->signalPassFailure();
  if (failed(writeTable(root, table, this->statisticsOutput))) {
    changes.undo();
    return this->signalPassFailure();
  }
  emitCountRemark(root, this->getArgument(), movedName, numMoved);
  emitCountRemark(root, this->getArgument(), "passed-ops", numMoves);
}
