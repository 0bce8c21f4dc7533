//===- ReportReasons.cpp - Reasons of exposed communication ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReportReasons.h"

#include "braid/Schedule/Bounds/LowerBound.h"
#include "braid/Schedule/Simulation/ExposureReasons.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/JSON.h"

using namespace braid;
using namespace mlir;

ExposureExplainer::ExposureExplainer(ModuleOp module, CostModel &model,
                                     std::optional<int64_t> memoryLimit)
    : model(model), memoryLimit(memoryLimit), calls(/*entersBodies=*/true),
      uniformity(module) {}

const BlockProblem *ExposureExplainer::getProblem(Block &block) {
  auto [it, isNew] = problems.try_emplace(&block, nullptr);
  if (!isNew)
    return it->second.get();
  // A block that contradicts its `comm.order` still has a timeline, so a report
  // must not fail.
  ScopedDiagnosticHandler handler(block.getParentOp()->getContext(),
                                  [](Diagnostic &) { return success(); });
  FailureOr<BlockProblem> problem =
      buildSchedulingProblem(block, model, calls, uniformity);
  if (failed(problem))
    return nullptr;
  problem->problem.maxMemory = memoryLimit;
  auto owned = std::make_unique<BlockProblem>(std::move(*problem));
  return (problems[&block] = std::move(owned)).get();
}

void ExposureExplainer::explain(Block &block) {
  const BlockProblem *problem = getProblem(block);
  if (!problem)
    return;
  ArrayRef<Operation *> ops = problem->block.ops;
  auto getName = [&](unsigned node) {
    StringRef label = comm::getLabel(ops[node]);
    if (auto compute = dyn_cast<comm::ComputeOp>(ops[node]);
        label.empty() && compute)
      label = compute.getKernel();
    return label.empty() ? ops[node]->getName().getStringRef().str()
                         : "\"" + llvm::json::fixUTF8(label) + "\"";
  };
  for (const ExposureReason &reason : getExposureReasons(
           problem->problem, getProgramOrder(problem->problem.graph)))
    reasons[ops[reason.start]] = describeExposureReason(reason, getName);
}

std::string ExposureExplainer::getReason(Operation *start) {
  if (explained.insert(start->getBlock()).second)
    explain(*start->getBlock());
  return reasons.lookup(start);
}

void ExposureExplainer::improveLowerBound(Region &region,
                                          TimelineTotals &totals,
                                          std::string &kind) {
  if (!region.hasOneBlock() || totals.makespanNs == 0)
    return;
  const BlockProblem *problem = getProblem(region.front());
  if (!problem)
    return;
  LowerBounds bounds = computeLowerBounds(problem->problem, totals.makespanNs);
  totals.lowerBoundNs =
      std::min(totals.makespanNs, std::max(totals.lowerBoundNs, bounds.best()));
  if (bounds.best() == totals.lowerBoundNs)
    kind = stringifyLowerBoundKind(bounds.bestKind()).str();
}
