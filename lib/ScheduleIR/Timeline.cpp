//===- Timeline.cpp - Timeline of a body ----------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/ScheduleIR/Timeline.h"

#include "Analysis/Memory/TransparentOps.h"
#include "ProblemFiller.h"
#include "braid/Schedule/Simulation/LoopSimulator.h"
#include "braid/Schedule/Simulation/SimulatedOrder.h"
#include "braid/Support/Units.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"

using namespace braid;
using namespace mlir;

/// The name of a lane: the symbols and strings of its attribute.
static std::string getLaneName(Attribute lane) {
  if (auto symbol = dyn_cast<SymbolRefAttr>(lane))
    return symbol.getRootReference().str();
  if (auto text = dyn_cast<StringAttr>(lane))
    return text.str();
  if (auto parts = dyn_cast<ArrayAttr>(lane))
    return llvm::join(llvm::map_range(parts, getLaneName), " ");
  std::string name;
  llvm::raw_string_ostream(name) << lane;
  return name;
}

/// True for ops that run nothing, which timelines leave out.
static bool isLeftOut(Operation *op) {
  return op->hasTrait<OpTrait::IsTerminator>() ||
         (matchPattern(op, m_Constant()) && isTransparentOp(op));
}

/// The live bytes over time: `points`, beginning with `liveBytes`, without
/// values that hold for no time unless they are peaks.
static std::vector<MemorySample> getMemoryCurve(ArrayRef<MemoryPoint> points,
                                                int64_t liveBytes) {
  std::vector<MemorySample> curve = {{0, liveBytes}};
  for (const MemoryPoint &point : points) {
    size_t size = curve.size();
    if (size >= 2 && curve[size - 1].ns == point.timeNs &&
        curve[size - 1].bytes <= std::max(curve[size - 2].bytes, point.bytes))
      curve.pop_back();
    if (curve.back().bytes != point.bytes)
      curve.push_back({point.timeNs, point.bytes});
  }
  return curve;
}

namespace {
/// Builds a problem whose nodes are the ops of a region in program order.
class TimelineBuilder {
public:
  TimelineBuilder(Region &region, CostModel &model)
      : region(region), model(model),
        filler(problem, model, region,
               BodyMemory(region, model.getOptions().sizes)) {}

  Timeline build();

private:
  void add(Operation *op);
  void addEdges(Operation *op, unsigned position);
  bool usesWait(Operation *op) const;
  Simulation simulate();

  Region &region;
  CostModel &model;
  Timeline timeline;
  SchedulingProblem problem;
  ProblemFiller filler;
  /// Transparent ops that depend on a wait.
  DenseSet<Operation *> transparentOfWaits;
  /// The lanes by the order of their first starts.
  DenseMap<Attribute, int32_t> lanes;
  /// Starts whose operations no op has awaited yet.
  SmallPtrSet<Operation *, 8> inFlight;
  /// The costs on the stream of ops with bodies, and the totals of the bodies.
  SmallVector<std::pair<int64_t, TimelineTotals>> bodies;
};
} // namespace

/// Adds edges for the uses of `op` and of its regions.
void TimelineBuilder::addEdges(Operation *op, unsigned position) {
  op->walk([&](Operation *user) {
    for (Value operand : user->getOperands()) {
      Operation *definition = operand.getDefiningOp();
      if (!definition)
        continue;
      Operation *ancestor = region.findAncestorOpInRegion(*definition);
      if (std::optional<unsigned> node = filler.findNode(ancestor))
        problem.graph.addEdge(*node, position);
    }
  });
}

/// True if `op`, or an op nested in it, uses the result of a wait of its block,
/// directly or through transparent ops.
bool TimelineBuilder::usesWait(Operation *op) const {
  return op
      ->walk([&](Operation *user) {
        for (Value operand : user->getOperands()) {
          Operation *producer = operand.getDefiningOp();
          if (producer && producer->getBlock() == op->getBlock() &&
              (isa<comm::WaitOp>(producer) ||
               transparentOfWaits.contains(producer)))
            return WalkResult::interrupt();
        }
        return WalkResult::advance();
      })
      .wasInterrupted();
}

void TimelineBuilder::add(Operation *op) {
  TimelineNode node{op, StreamRole::Compute, model.getCost(op), "", false, {},
                    {}};
  // Schedules do not contain these ops (see `buildBlockGraph`): they take no
  // time, and their memory becomes live with its first user.
  bool isTransparent = node.cost.ns == 0 && isTransparentOp(op);
  if (isTransparent && usesWait(op))
    transparentOfWaits.insert(op);
  if (!isTransparent && isUnneededCompute(op) && usesWait(op)) {
    isTransparent = true;
    node.cost.ns = 0;
  }
  ScheduleNode info;
  info.cost = node.cost.ns;
  comm::AsyncStartOpInterface start = comm::getAsyncStart(op);
  if (start) {
    info.kind = NodeKind::Start;
    node.role = StreamRole::Start;
    node.lane = getLaneName(start.getLane());
    info.lane = lanes.try_emplace(start.getLane(), lanes.size()).first->second;
  } else if (isa<comm::WaitOp>(op)) {
    info.kind = NodeKind::Wait;
    node.role = StreamRole::Wait;
  }
  unsigned position = problem.graph.addNode(info);
  addEdges(op, position);
  filler.addNode(op, /*allocates=*/!isTransparent);
  if (start)
    inFlight.insert(op);
  else
    for (Operation *awaited : filler.addAwaits())
      inFlight.erase(awaited);
  if (node.role == StreamRole::Compute) {
    node.hidden = !inFlight.empty();
    if (!isTransparent)
      if (std::optional<TimelineTotals> body = filler.addBody())
        bodies.emplace_back(node.cost.ns, *body);
  }
  timeline.nodes.push_back(std::move(node));
}

Simulation TimelineBuilder::simulate() {
  problem.graph.finalize();
  filler.finish();
  for (auto [node, start] : problem.awaits)
    timeline.nodes[node].awaits.push_back(start);
  for (CarriedAwait await : problem.carriedAwaits)
    timeline.nodes[await.waiter].carriedAwaits.push_back(await.start);
  ScheduleOrder order = getProgramOrder(problem.graph);
  return problem.carriedAwaits.empty()
             ? simulateOrder(problem, order)
             : simulateLoopOrder(problem, order).iteration;
}

Timeline TimelineBuilder::build() {
  for (Operation &op : region.getOps())
    if (!isLeftOut(&op))
      add(&op);
  Simulation simulation = simulate();
  for (auto [node, times] : llvm::zip_equal(timeline.nodes, simulation.times))
    node.times = times;
  timeline.memoryCurve = getMemoryCurve(simulation.memory, problem.liveBytes);
  TimelineTotals &totals = timeline.totals;
  totals = {simulation.makespanNs,
            addNs(simulation.computeNs,
                  addNs(simulation.launchNs, simulation.computeLostNs)),
            simulation.communicationNs,
            simulation.exposedNs,
            simulation.lowerBoundNs,
            simulation.peakBytes};
  for (auto &[cost, body] : bodies) {
    totals.computeNs =
        addNs(subtractNs(totals.computeNs, cost), body.computeNs);
    totals.communicationNs =
        addNs(totals.communicationNs, body.communicationNs);
    totals.exposedNs = addNs(totals.exposedNs, body.exposedNs);
  }
  return std::move(timeline);
}

Timeline braid::simulateRegion(Region &region, CostModel &model) {
  return TimelineBuilder(region, model).build();
}
