//===- RefinedPlan.cpp - Plans op by op -----------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RefinedPlan.h"
#include "ChoiceSimulator.h"
#include "Schedule/Model/FlatProblem.h"
#include "Schedule/Search/Improvement/MemorySchedule.h"
#include "Schedule/Search/LeastMemory.h"

#include "braid/Schedule/Simulation/LoopSimulator.h"
#include "braid/Schedule/Simulation/SimulatedOrder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <tuple>

using namespace braid;
using namespace llvm;

/// What an option for one op has to gain, as a fraction of the makespan: less
/// would only make plans harder to read.
static constexpr double leastGain = 0.001;

/// What a plan may lose, as a fraction of the makespan, where operations are
/// kept from running beside others of their lane.
static constexpr double mostLoss = 0.01;

namespace {

/// Some ops of a class.
struct Part {
  unsigned opClass;
  /// The ops keep their option.
  bool isFixed;
  /// The places of the ops among those of the class.
  std::vector<unsigned> places;
};

class Refiner {
public:
  Refiner(const SchedulingProblem &problem, ArrayRef<OpClass> opClasses,
          const ResourcePlan &plan, const ConcurrentOps &concurrent,
          unsigned maxSimulations);

  RefinedPlan run(RefinedOps ops);

private:
  std::vector<bool> findConcurrent() const;
  std::vector<Part> divide(function_ref<unsigned(unsigned node)> getKey,
                           function_ref<bool(unsigned node)> isFixed) const;
  SchedulingProblem getPlanned() const;
  void separateClasses();
  void improve(ArrayRef<Part> parts, double minGain);

  const SchedulingProblem &problem;
  ArrayRef<OpClass> opClasses;
  const ConcurrentOps &concurrent;
  unsigned maxSimulations;
  RefinedPlan refined;
};

} // namespace

Refiner::Refiner(const SchedulingProblem &problem, ArrayRef<OpClass> opClasses,
                 const ResourcePlan &plan, const ConcurrentOps &concurrent,
                 unsigned maxSimulations)
    : problem(problem), opClasses(opClasses), concurrent(concurrent),
      maxSimulations(maxSimulations) {
  refined.order = plan.order;
  refined.beforeNs = plan.beforeNs;
  refined.afterNs = plan.afterNs;
  for (auto [opClass, option] : zip_equal(opClasses, plan.options))
    refined.options.emplace_back(opClass.ops.size(), option);
}

/// By node: true for compute beside which operations may run in some order, so
/// that no later schedule takes its room, and for starts of operations with
/// compute before their wait.
std::vector<bool> Refiner::findConcurrent() const {
  std::vector<bool> isConcurrent(problem.graph.size());
  // Starts of operations in flight, without compute since then.
  SmallVector<unsigned> alone;
  for (unsigned node : refined.order) {
    for (unsigned start : problem.getAwaitedStarts(node))
      llvm::erase(alone, start);
    if (problem.graph[node].kind == NodeKind::Start) {
      alone.push_back(node);
      continue;
    }
    if (problem.graph[node].cost == 0)
      continue;
    isConcurrent[node] = concurrent.hasAny(node);
    for (unsigned start : alone)
      isConcurrent[start] = true;
    alone.clear();
  }
  return isConcurrent;
}

/// The parts of classes whose ops have the same key and the same option, and
/// are fixed or not.
std::vector<Part>
Refiner::divide(function_ref<unsigned(unsigned node)> getKey,
                function_ref<bool(unsigned node)> isFixed) const {
  std::vector<Part> parts;
  for (auto [number, opClass] : enumerate(opClasses)) {
    std::map<std::tuple<bool, unsigned, unsigned>, size_t> partOf;
    for (auto [place, node] : enumerate(opClass.ops)) {
      bool isNodeFixed = isFixed(node);
      std::tuple key(isNodeFixed, isNodeFixed ? 0 : getKey(node),
                     refined.options[number][place]);
      auto [known, isNew] = partOf.try_emplace(key, parts.size());
      if (isNew)
        parts.push_back({static_cast<unsigned>(number), isNodeFixed, {}});
      parts[known->second].places.push_back(static_cast<unsigned>(place));
    }
  }
  return parts;
}

/// The problem whose ops run as planned so far.
SchedulingProblem Refiner::getPlanned() const {
  SchedulingProblem planned = problem;
  applyOptions(planned, opClasses, refined.options);
  return planned;
}

/// The first operation of `order` that is queued behind another one of its
/// lane that runs as another variant, and that other one. They are not of one
/// lane then, and would run beside each other: how fast is not known.
static std::optional<std::pair<unsigned, unsigned>>
findMixedQueue(const SchedulingProblem &planned, ArrayRef<unsigned> order) {
  std::vector<SimulatedTimes> times = simulateOrder(planned, order).times;
  std::map<int32_t, size_t> lastOfLane;
  for (auto [position, node] : enumerate(order)) {
    if (planned.graph[node].kind != NodeKind::Start)
      continue;
    auto [last, isFirst] =
        lastOfLane.try_emplace(planned.graph[node].lane, position);
    unsigned before = order[last->second];
    const ResourceDemand &one = planned.demands[before],
                         &other = planned.demands[node];
    if (!isFirst && times[position].issuedNs < times[last->second].endNs &&
        (one.multiprocessors != other.multiprocessors ||
         one.clusterSize != other.clusterSize))
      return std::pair(node, before);
    last->second = position;
  }
  return std::nullopt;
}

/// Puts `start`, and the starts between it and the wait for `before`, behind
/// this wait.
static std::optional<ScheduleOrder>
startBehindWait(const SchedulingProblem &problem, ScheduleOrder order,
                unsigned start, unsigned before) {
  auto first = llvm::find(order, start);
  auto wait = std::find_if(first, order.end(), [&](unsigned node) {
    return is_contained(problem.getAwaitedStarts(node), before);
  });
  if (wait == order.end())
    return std::nullopt;
  auto isStart = [&](unsigned node) {
    return problem.graph[node].kind == NodeKind::Start;
  };
  ScheduleOrder between(first, std::next(wait));
  llvm::copy_if(between, llvm::copy_if(between, first, std::not_fn(isStart)),
                isStart);
  if (!isAllowedOrder(problem, order))
    return std::nullopt;
  return order;
}

/// `order`, with starts behind the waits of what they must not run beside; none
/// if that takes more than a few moves or is not allowed.
static std::optional<ScheduleOrder>
separateQueues(const SchedulingProblem &planned, ScheduleOrder order) {
  constexpr unsigned mostMoves = 4;
  for (unsigned move = 0; move <= mostMoves; ++move) {
    auto mixed = findMixedQueue(planned, order);
    if (!mixed)
      return order;
    std::optional<ScheduleOrder> moved =
        startBehindWait(planned, order, mixed->first, mixed->second);
    if (!moved)
      return std::nullopt;
    order = std::move(*moved);
  }
  return std::nullopt;
}

/// Keeps classes apart that the plan runs as different variants: one after the
/// other, as the plan was simulated. They have lanes of their own then.
void Refiner::separateClasses() {
  if (maxSimulations == 0)
    return;
  SchedulingProblem planned = getPlanned();
  std::optional<ScheduleOrder> order = separateQueues(planned, refined.order);
  if (!order || *order == refined.order)
    return;
  ++refined.numSimulated;
  int64_t ns = simulateLoopOrder(planned, *order).periodNs;
  if (double(ns) > double(refined.afterNs) * (1 + mostLoss))
    return;
  refined.order = std::move(*order);
  refined.afterNs = ns;
}

/// Tries all options of one part after the other, as long as that gains.
void Refiner::improve(ArrayRef<Part> parts, double minGain) {
  std::vector<OpClass> divided;
  ResourceChoice best;
  size_t numOptions = 0;
  for (const Part &part : parts) {
    const OpClass &whole = opClasses[part.opClass];
    OpClass &opClass = divided.emplace_back();
    opClass.options = whole.options;
    opClass.kind = whole.kind;
    for (unsigned place : part.places)
      opClass.ops.push_back(whole.ops[place]);
    best.push_back(refined.options[part.opClass][part.places.front()]);
    if (!part.isFixed)
      numOptions += opClass.options.size() - 1;
  }
  if (refined.numSimulated + numOptions > maxSimulations)
    return;
  SchedulingProblem planned = getPlanned();
  // Plans whose classes cannot be kept apart are left as they are.
  bool isMixed = findMixedQueue(planned, refined.order).has_value();
  ChoiceSimulator simulator(planned, divided);
  auto gains = [&](int64_t ns) {
    return double(refined.afterNs - ns) > minGain * double(refined.afterNs);
  };
  auto tryOption = [&](size_t number, unsigned option) {
    ResourceChoice choice = best;
    choice[number] = option;
    if (choice == best ||
        refined.numSimulated + simulator.getNumSimulated() >= maxSimulations ||
        !concurrent.leavesHeadroom(divided, choice))
      return false;
    int64_t ns = simulator.simulate(refined.order, choice);
    if (!gains(ns))
      return false;
    if (!isMixed) {
      applyChoice(planned, divided, choice);
      std::optional<ScheduleOrder> order =
          separateQueues(planned, refined.order);
      if (!order)
        return false;
      ns = simulator.simulate(*order, choice);
      if (!gains(ns))
        return false;
      refined.order = std::move(*order);
    }
    refined.afterNs = ns;
    best = std::move(choice);
    return true;
  };
  for (bool gained = true; gained;) {
    gained = false;
    for (size_t number = 0; number != parts.size(); ++number)
      for (unsigned option = 0, end = divided[number].options.size();
           option != end && !parts[number].isFixed; ++option)
        gained |= tryOption(number, option);
  }
  refined.numSimulated += simulator.getNumSimulated();
  for (auto [part, option] : zip_equal(parts, best))
    for (unsigned place : part.places)
      refined.options[part.opClass][place] = option;
}

RefinedPlan Refiner::run(RefinedOps ops) {
  separateClasses();
  std::vector<bool> isConcurrent = findConcurrent();
  auto isFixed = [&](unsigned node) {
    return ops == RefinedOps::Alone && isConcurrent[node];
  };
  improve(divide([&](unsigned node) { return unsigned(isConcurrent[node]); },
                 isFixed),
          /*minGain=*/0);
  improve(divide([](unsigned node) { return node; }, isFixed), leastGain);
  return std::move(refined);
}

RefinedPlan braid::refinePlan(const SchedulingProblem &problem,
                              ArrayRef<OpClass> opClasses,
                              const ResourcePlan &plan,
                              const ConcurrentOps &concurrent,
                              unsigned maxSimulations, RefinedOps ops) {
  return Refiner(problem, opClasses, plan, concurrent, maxSimulations).run(ops);
}

const RefinedPlan &braid::chooseRefinedPlan(const SchedulingProblem &problem,
                                            ArrayRef<RefinedPlan> plans,
                                            double minGain) {
  SmallVector<int64_t> makespansNs;
  for (const RefinedPlan &plan : plans)
    makespansNs.push_back(plan.afterNs);
  return plans[*findLeastMemory(
      makespansNs, *llvm::min_element(makespansNs), minGain, [&](size_t which) {
        return getMemoryPeak(FlatProblem(problem), plans[which].order).bytes;
      })];
}
