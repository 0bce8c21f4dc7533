//===- IterativePass.cpp - Base of the iterative passes -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IterativePass.h"

#include "braid/Dialect/Comm/IR/Comm.h"
#include "braid/Support/MatmulAttributes.h"
#include "braid/Support/OutputFile.h"
#include "braid/Support/Text.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <cmath>

using namespace mlir;
using namespace braid;

LogicalResult
braid::comm::checkIterativeOptions(Location loc,
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

FailureOr<comm::IterativeTotals> braid::comm::runIterativePass(
    Operation *root, AnalysisManager analyses, const CostSettings &settings,
    IterativeOptions options, IterativeFunction algorithm, StringRef title,
    const std::string &output, StringRef pass) {
  IterativeTotals totals;
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
      totals.numMoved += statistics.moves != 0;
      totals.numMoves += statistics.moves;
      totals.improvementNs +=
          statistics.getInitialExposedNs() - statistics.getFinalExposedNs();
    }
    if (!output.empty()) {
      os << "func @" << getFunctionOf(block.block.block).getName() << ":\n";
      printStatistics(
          result, title,
          [&](unsigned node) { return getNodeName(ops[node], node); }, os);
    }
    return std::move(result.order);
  };
  ScheduleChanges changes;
  if (failed(scheduleProblems(root, analyses, settings, changes, schedule,
                              [](NodeKind) { return false; })))
    return failure();
  if (failed(verifyChanges(root, changes, pass)))
    return failure();
  if (failed(writeTable(root, table, output))) {
    changes.undo();
    return failure();
  }
  return totals;
}
