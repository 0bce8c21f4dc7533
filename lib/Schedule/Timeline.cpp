//===- Timeline.cpp - Timeline of a body ----------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/Timeline.h"

#include "BodyMemory.h"
#include "braid/Schedule/AwaitedTokens.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace braid;
using namespace mlir;

/// What a lane is called: the symbols and texts that its attribute is made of.
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

/// True for ops that are not shown: they stand for nothing that runs.
static bool isLeftOut(Operation *op) {
  return op->hasTrait<OpTrait::IsTerminator>() ||
         matchPattern(op, m_Constant());
}

/// The bytes that live over time: `points`, from `liveBytes` on, without what
/// lives for no time unless it is a peak.
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

Timeline braid::simulateRegion(Region &region, CostModel &model) {
  Timeline timeline;
  std::vector<SimulatedOp> simulated;
  DenseMap<Operation *, unsigned> positions;
  llvm::MapVector<Attribute, unsigned> lanes;
  // Starts whose operation nobody has awaited yet.
  SmallPtrSet<Operation *, 8> inFlight;
  // Costs on the stream that stand for a whole body, and what that consists of.
  SmallVector<std::pair<int64_t, TimelineTotals>> bodies;

  BodyMemory memory(region, model.getOptions().sizes.dynamicSize);
  for (Operation &op : region.getOps()) {
    if (isLeftOut(&op))
      continue;
    unsigned position = timeline.nodes.size();
    TimelineNode node{&op, StreamRole::Compute, model.getCost(&op), "", false,
                      {}};
    SimulatedOp sim;
    sim.costNs = node.cost.ns;

    if (comm::AsyncStartOpInterface start = comm::getAsyncStart(&op)) {
      node.role = StreamRole::Start;
      node.lane = getLaneName(start.getLane());
      sim.lane = lanes.try_emplace(start.getLane(), lanes.size()).first->second;
      inFlight.insert(&op);
    } else {
      node.role =
          isa<comm::WaitOp>(op) ? StreamRole::Wait : StreamRole::Compute;
      for (Operation *start : getAwaitedTokens(&op, region).starts) {
        inFlight.erase(start);
        if (auto it = positions.find(start); it != positions.end())
          sim.awaits.push_back(it->second);
      }
    }
    if (node.role == StreamRole::Compute) {
      node.hidden = !inFlight.empty();
      bool isBody = node.cost.source == CostSource::Callee ||
                    node.cost.source == CostSource::Regions;
      if (std::optional<TimelineTotals> body =
              isBody ? model.getBodyTotals(&op) : std::nullopt) {
        bodies.emplace_back(sim.costNs, *body);
        sim.leastNs = body->lowerBoundNs;
        sim.transientBytes = body->peakBytes;
      }
    }
    sim.role = node.role;
    node.awaits.assign(sim.awaits.begin(), sim.awaits.end());

    // Operands, and what the op's regions use of this body.
    op.walk([&](Operation *user) {
      for (Value operand : user->getOperands()) {
        Operation *definition = operand.getDefiningOp();
        if (!definition)
          continue;
        Operation *ancestor = region.findAncestorOpInRegion(*definition);
        auto it = ancestor ? positions.find(ancestor) : positions.end();
        if (it != positions.end() &&
            !llvm::is_contained(sim.predecessors, it->second))
          sim.predecessors.push_back(it->second);
      }
    });
    memory.add(&op, position);
    positions[&op] = position;
    timeline.nodes.push_back(std::move(node));
    simulated.push_back(std::move(sim));
  }

  for (const BodyMemory::Piece &piece : memory.getPieces()) {
    int64_t &allocated = simulated[piece.users.front()].allocatedBytes;
    allocated = addNs(allocated, piece.bytes);
    if (piece.escapes)
      continue;
    int64_t &freed = simulated[piece.users.back()].freedBytes;
    freed = addNs(freed, piece.bytes);
  }
  Simulation simulation = simulate(simulated, memory.getArgumentBytes());
  for (auto [node, times] : llvm::zip_equal(timeline.nodes, simulation.times))
    node.times = times;
  timeline.memoryCurve =
      getMemoryCurve(simulation.memory, memory.getArgumentBytes());
  TimelineTotals &totals = timeline.totals;
  totals = {simulation.makespanNs,      simulation.computeNs,
            simulation.communicationNs, simulation.exposedNs,
            simulation.lowerBoundNs,    simulation.peakBytes};
  for (auto &[cost, body] : bodies) {
    totals.computeNs = addNs(totals.computeNs - cost, body.computeNs);
    totals.communicationNs =
        addNs(totals.communicationNs, body.communicationNs);
    totals.exposedNs = addNs(totals.exposedNs, body.exposedNs);
  }
  return timeline;
}
