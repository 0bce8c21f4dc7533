//===- Timeline.cpp - Timeline of a body ----------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/ScheduleIR/Timeline.h"

#include "Analysis/AwaitedTokens.h"
#include "Analysis/BodyMemory.h"
#include "Analysis/Prologue.h"
#include "Cost/IR/MachineBuilder.h"
#include "braid/Schedule/Simulation/LoopSimulator.h"
#include "braid/Schedule/Simulation/SimulatedOrder.h"
#include "braid/Support/Units.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/MapVector.h"
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
         (matchPattern(op, m_Constant()) && isPrologueOp(op));
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
      : region(region), model(model), memory(region, model.getOptions().sizes) {
  }

  Timeline build();

private:
  void add(Operation *op);
  void addAwaits(TimelineNode &node, unsigned position);
  void addBody(const TimelineNode &node, unsigned position);
  void addEdges(Operation *op, unsigned position);
  bool usesWait(Operation *op) const;
  Simulation play();

  Region &region;
  CostModel &model;
  Timeline timeline;
  SchedulingProblem problem;
  BodyMemory memory;
  DenseMap<Operation *, unsigned> positions;
  /// Prologue ops that depend on a wait.
  DenseSet<Operation *> prologueOfWaits;
  /// The first start of each lane, by lane.
  llvm::MapVector<Attribute, Operation *> lanes;
  /// Starts whose operations no op has awaited yet.
  SmallPtrSet<Operation *, 8> inFlight;
  /// The costs on the stream of ops with bodies, and the totals of the bodies.
  SmallVector<std::pair<int64_t, TimelineTotals>> bodies;
  /// Nodes that await operations of the previous iteration. The starts may come
  /// later in the body.
  SmallVector<std::pair<unsigned, Operation *>> carried;
};
} // namespace

void TimelineBuilder::addAwaits(TimelineNode &node, unsigned position) {
  TokenOrigins awaited = getAwaitedTokens(node.op, region);
  SmallVector<unsigned> starts;
  for (Operation *start : awaited.starts) {
    inFlight.erase(start);
    if (auto it = positions.find(start); it != positions.end())
      starts.push_back(it->second);
  }
  llvm::sort(starts);
  for (unsigned start : starts)
    problem.awaits.emplace_back(position, start);
  node.awaits.assign(starts.begin(), starts.end());
  for (BlockArgument argument : awaited.arguments)
    for (Operation *start : getCarriedStarts(argument))
      carried.emplace_back(position, start);
}

void TimelineBuilder::addBody(const TimelineNode &node, unsigned position) {
  if (!node.cost.isOfBody())
    return;
  std::optional<TimelineTotals> body = model.getBodyTotals(node.op);
  if (!body)
    return;
  bodies.emplace_back(node.cost.ns, *body);
  problem.leastNs.emplace_back(position, body->lowerBoundNs);
  if (body->peakBytes > 0)
    problem.transientBytes.emplace_back(position, body->peakBytes);
}

/// Adds edges for the uses of `op` and of its regions.
void TimelineBuilder::addEdges(Operation *op, unsigned position) {
  op->walk([&](Operation *user) {
    for (Value operand : user->getOperands()) {
      Operation *definition = operand.getDefiningOp();
      if (!definition)
        continue;
      Operation *ancestor = region.findAncestorOpInRegion(*definition);
      auto it = ancestor ? positions.find(ancestor) : positions.end();
      if (it != positions.end())
        problem.graph.addEdge(it->second, position);
    }
  });
}

/// True if `op`, or an op nested in it, uses the result of a wait of its block,
/// directly or through prologue ops.
bool TimelineBuilder::usesWait(Operation *op) const {
  return op
      ->walk([&](Operation *user) {
        for (Value operand : user->getOperands()) {
          Operation *producer = operand.getDefiningOp();
          if (producer && producer->getBlock() == op->getBlock() &&
              (isa<comm::WaitOp>(producer) ||
               prologueOfWaits.contains(producer)))
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
  bool isPrologue = node.cost.ns == 0 && isPrologueOp(op);
  if (isPrologue && usesWait(op))
    prologueOfWaits.insert(op);
  if (!isPrologue && isUnneededCompute(op) && usesWait(op)) {
    isPrologue = true;
    node.cost.ns = 0;
  }
  ScheduleNode info;
  info.cost = node.cost.ns;
  comm::AsyncStartOpInterface start = comm::getAsyncStart(op);
  if (start) {
    info.kind = NodeKind::Start;
    node.role = StreamRole::Start;
    node.lane = getLaneName(start.getLane());
    auto *lane = lanes.insert({start.getLane(), op}).first;
    info.lane = static_cast<int32_t>(lane - lanes.begin());
  } else if (isa<comm::WaitOp>(op)) {
    info.kind = NodeKind::Wait;
    node.role = StreamRole::Wait;
  }
  unsigned position = problem.graph.addNode(info);
  if (start)
    inFlight.insert(op);
  else
    addAwaits(node, position);
  if (node.role == StreamRole::Compute) {
    node.hidden = !inFlight.empty();
    if (!isPrologue)
      addBody(node, position);
  }
  addEdges(op, position);
  memory.add(op, isPrologue ? std::nullopt : std::optional(position));
  positions[op] = position;
  timeline.nodes.push_back(std::move(node));
}

Simulation TimelineBuilder::play() {
  for (auto [waiter, start] : carried)
    if (auto it = positions.find(start); it != positions.end()) {
      problem.carriedAwaits.push_back({waiter, it->second});
      timeline.nodes[waiter].carriedAwaits.push_back(it->second);
    }
  problem.graph.finalize();
  problem.liveBytes = memory.getArgumentBytes();
  for (const BodyMemory::Piece &piece : memory.getPieces())
    if (!piece.users.empty() && piece.bytes > 0)
      problem.buffers.push_back({piece.bytes, piece.escapes, piece.users});
  problem.machine =
      buildMachine(model, llvm::to_vector(llvm::make_second_range(lanes)));
  if (problem.machine.hasContention())
    for (const TimelineNode &node : timeline.nodes)
      // An op without a cost has no demand, even if its work is known.
      problem.demands.push_back(node.role == StreamRole::Compute &&
                                        node.cost.ns == 0
                                    ? ResourceDemand()
                                    : model.getDemand(node.op));
  ScheduleOrder order = getProgramOrder(problem.graph);
  return problem.carriedAwaits.empty()
             ? simulateOrder(problem, order)
             : simulateLoopOrder(problem, order).iteration;
}

Timeline TimelineBuilder::build() {
  for (Operation &op : region.getOps())
    if (!isLeftOut(&op))
      add(&op);
  Simulation simulation = play();
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
