//===- ScheduleEvaluator.cpp - Makespan and peak of many orders -----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduleEvaluator.h"
#include "ContentionSimulator.h"
#include "Schedule/Model/FlatProblem.h"
#include "braid/Schedule/Simulation/LoopSimulator.h"
#include "braid/Schedule/Simulation/SimulatedOrder.h"

#include <algorithm>
#include <cassert>

using namespace braid;

ScheduleEvaluator::ScheduleEvaluator(const SchedulingProblem &problem)
    : owned(std::make_unique<FlatProblem>(problem)), flat(*owned),
      limits(flat) {
  prepare();
}

ScheduleEvaluator::ScheduleEvaluator(const FlatProblem &flat)
    : flat(flat), limits(flat) {
  prepare();
}

ScheduleEvaluator::~ScheduleEvaluator() = default;

void ScheduleEvaluator::prepare() {
  endNs.resize(flat.size());
  laneFreeNs.resize(flat.numLanes);
  if (flat.timing != TimingModel::Contended)
    return;
  ops = getOpsByNode(flat.problem);
  times.resize(ops.size());
  machine =
      std::make_unique<ContentionMachine>(ops, flat.problem.machine, times);
}

unsigned ScheduleEvaluator::getStepsPerNode() const {
  // Measured: events instead of sums, and several iterations.
  if (!flat.problem.carriedAwaits.empty())
    return 150;
  return flat.timing == TimingModel::Additive ? 1 : 4;
}

ScheduleEvaluator::Value
ScheduleEvaluator::evaluate(llvm::ArrayRef<unsigned> order) {
  assert(order.size() == flat.size() && "an order has all nodes");
  ++numOrders;
  if (flat.timing == TimingModel::Contended) {
    machine->simulate(order);
    return {machine->getNowNs(), getPeak(order)};
  }
  if (!flat.problem.carriedAwaits.empty()) {
    LoopSimulation loop = simulateLoopOrder(flat.problem, order);
    return {loop.periodNs, loop.iteration.peakBytes};
  }
  if (flat.timing != TimingModel::Additive) {
    Simulation simulation = simulateOrder(flat.problem, order);
    return {simulation.makespanNs, simulation.peakBytes};
  }

  std::fill(laneFreeNs.begin(), laneFreeNs.end(), 0);
  int64_t streamNs = 0;
  for (unsigned node : order) {
    if (int32_t lane = flat.lane[node]; lane >= 0) {
      laneFreeNs[lane] = std::max(streamNs, laneFreeNs[lane]) + flat.cost[node];
      endNs[node] = laneFreeNs[lane];
      continue;
    }
    for (unsigned start : flat.awaited[node])
      streamNs = std::max(streamNs, endNs[start]);
    streamNs += flat.cost[node];
  }
  // What is still in flight has to end, too.
  for (int64_t freeNs : laneFreeNs)
    streamNs = std::max(streamNs, freeNs);
  return {streamNs, getPeak(order)};
}

int64_t ScheduleEvaluator::getPeak(llvm::ArrayRef<unsigned> order) {
  limits.reset();
  int64_t peakBytes = flat.liveBytes;
  for (unsigned node : order)
    peakBytes = std::max(peakBytes, limits.place(node).neededBytes);
  return peakBytes;
}
