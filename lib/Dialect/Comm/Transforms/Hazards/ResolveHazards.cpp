//===- ResolveHazards.cpp - The comm-resolve-hazards pass -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../InFlightCheck.h"
#include "Dialect/Comm/Transforms/Schedule/SchedulingPass.h"
#include "HazardRepair.h"

#include "braid/Analysis/Structure/StructuralPass.h"
#include "braid/Analysis/Verification/ProgramVerifier.h"
#include "braid/Dialect/Comm/Transforms/Passes.h"
#include "braid/ScheduleIR/Timeline.h"
#include "braid/Support/IR/Remarks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/MapVector.h"

namespace braid::comm {
#define GEN_PASS_DEF_COMMRESOLVEHAZARDSPASS
#include "braid/Dialect/Comm/Transforms/Passes.h.inc"
} // namespace braid::comm

using namespace braid;
using namespace braid::comm;
using namespace mlir;

namespace {
struct CommResolveHazardsPass
    : StructuralPass<PassWithCosts<
          comm::impl::CommResolveHazardsPassBase<CommResolveHazardsPass>>> {
  using StructuralPass::StructuralPass;

  LogicalResult initialize(MLIRContext *context) override {
    return checkRanksOption(context, ranks);
  }

  CommunicationRules getRules() const override {
    CommunicationRules rules;
    rules.mayRaiseWaits = true;
    return rules;
  }
  LogicalResult transform() override;

private:
  SmallVector<Hazard> findHazards();
  FailureOr<bool> repair(const Hazard &hazard, std::optional<int64_t> maxMemory,
                         bool isStale);
  FailureOr<TimelineTotals> simulate(func::FuncOp function);
  InFlightDiagnostic reportUnresolved(const Hazard &hazard);
};
} // namespace

/// All accesses in flight, by the start. Those of operations that start
/// elsewhere come one by one.
SmallVector<Hazard> CommResolveHazardsPass::findHazards() {
  llvm::MapVector<Operation *, Hazard> hazards;
  auto add = [&](Operation *start, Operation *access) {
    Hazard &hazard = hazards[start ? start : access];
    hazard.start = start;
    hazard.accesses.insert(access);
  };
  for (const InFlightAccess &access : findInFlightAccesses(getOperation()))
    add(access.start, access.op);
  ProgramVerifierOptions options;
  if (ranks != 0)
    options.numRanks = ranks;
  for (const BufferHazard &hazard : findBufferHazards(getOperation(), options))
    add(hazard.start, hazard.access);
  return llvm::map_to_vector(hazards, [](auto &entry) { return entry.second; });
}

FailureOr<TimelineTotals>
CommResolveHazardsPass::simulate(func::FuncOp function) {
  FailureOr<CostOptions> costs =
      resolvePassCosts(getOperation(), function, getCostSettings());
  if (failed(costs))
    return failure();
  // What is known of bodies has changed.
  CostModel model(*costs);
  return model.getTimeline(function.getBody()).totals;
}

InFlightDiagnostic
CommResolveHazardsPass::reportUnresolved(const Hazard &hazard) {
  InFlightDiagnostic diagnostic =
      hazard.accesses.front()->emitError()
      << "'" << hazard.accesses.front()->getName()
      << "' op touches a buffer in flight, and neither an earlier wait nor a "
         "copy keeps what the program means";
  if (hazard.start)
    diagnostic.attachNote(hazard.start->getLoc())
        << "the operation starts here";
  return diagnostic;
}

/// Repairs `hazard` in the cheaper of the two ways. Returns false if neither is
/// possible and the hazard is stale: a repair of another one came after it was
/// found.
FailureOr<bool> CommResolveHazardsPass::repair(const Hazard &hazard,
                                               std::optional<int64_t> maxMemory,
                                               bool isStale) {
  CallEffects calls = getCallEffects(getOperation());
  RankUniformity uniformity(getOperation());
  SymbolTableCollection symbolTables;
  HazardContext context{calls, uniformity, symbolTables, {}};
  Operation *origin = hazard.start ? hazard.start : hazard.accesses.front();
  auto function = origin->getParentOfType<func::FuncOp>();
  if (!function)
    return origin->emitOpError("is in flight outside of a function");

  ProgramEdit edit;
  std::string whyNoWait = moveWaits(hazard, context, edit);
  std::optional<TimelineTotals> ofWait, ofCopy;
  if (whyNoWait.empty()) {
    FailureOr<TimelineTotals> totals = simulate(function);
    if (failed(totals))
      return failure();
    ofWait = *totals;
    edit.undo();
  }
  context.buffers = BufferResolver();
  std::string whyNoCopy = copyBuffers(hazard, context, edit);
  if (whyNoCopy.empty()) {
    FailureOr<TimelineTotals> totals = simulate(function);
    if (failed(totals))
      return failure();
    if (maxMemory && totals->peakBytes > *maxMemory) {
      whyNoCopy = ("with it " + Twine(totals->peakBytes) +
                   " bytes are live at once, more than max-memory = " +
                   Twine(*maxMemory))
                      .str();
      edit.undo();
    } else {
      ofCopy = *totals;
    }
  }
  if (!ofWait && !ofCopy && isStale)
    return false;
  if (!ofWait && !ofCopy) {
    InFlightDiagnostic diagnostic = reportUnresolved(hazard);
    diagnostic.attachNote(origin->getLoc())
        << "its wait cannot move up: " << whyNoWait;
    diagnostic.attachNote(origin->getLoc())
        << "it cannot work on a copy: " << whyNoCopy;
    return failure();
  }
  // A wait needs no memory.
  bool isWait = ofWait && (!ofCopy || ofWait->makespanNs <= ofCopy->makespanNs);
  if (isWait) {
    edit.undo();
    context.buffers = BufferResolver();
    moveWaits(hazard, context, edit);
  }
  emitPassedRemark(origin, getArgument(),
                   isWait ? "moved-wait" : "copied-buffer", [&](auto &remark) {
                     using remark::metric;
                     const TimelineTotals &chosen = isWait ? *ofWait : *ofCopy;
                     remark << metric("MakespanNs", chosen.makespanNs)
                            << metric("ExposedNs", chosen.exposedNs)
                            << metric("PeakBytes", chosen.peakBytes);
                     if (ofWait && ofCopy)
                       remark << metric(
                           isWait ? "MakespanWithCopyNs" : "MakespanWithWaitNs",
                           (isWait ? *ofCopy : *ofWait).makespanNs);
                     else if (isWait)
                       remark << metric("NoCopy", whyNoCopy);
                     else
                       remark << metric("NoWait", whyNoWait);
                   });
  return true;
}

LogicalResult CommResolveHazardsPass::transform() {
  FailureOr<std::optional<int64_t>> limit =
      resolveMaxMemory(getOperation(), maxMemory);
  if (failed(limit))
    return failure();
  // A repair may uncover another hazard: a copy to the place of a result is an
  // access, too.
  constexpr unsigned mostRounds = 64;
  SmallVector<Hazard> hazards = findHazards();
  if (hazards.empty()) {
    markAllAnalysesPreserved();
    return success();
  }
  for (unsigned round = 0; !hazards.empty(); ++round) {
    if (round == mostRounds) {
      reportUnresolved(hazards.front());
      return failure();
    }
    for (const auto &[number, hazard] : llvm::enumerate(hazards)) {
      FailureOr<bool> isRepaired = repair(hazard, *limit, number != 0);
      if (failed(isRepaired))
        return failure();
      if (!*isRepaired)
        break;
      // One wait may end the operations of several starts.
      if (!hazard.start || !getOnlyWaits(hazard.start))
        break;
    }
    hazards = findHazards();
  }
  return success();
}
