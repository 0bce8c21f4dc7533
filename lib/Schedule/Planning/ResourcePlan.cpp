//===- ResourcePlan.cpp - Choice of thread-block limits and engines -------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ResourcePlan.h"
#include "ChoiceSimulator.h"
#include "ResourceHeadroom.h"
#include "Schedule/Model/FlatProblem.h"
#include "Schedule/Search/LeastMemory.h"
#include "Schedule/Search/SearchParts.h"

#include "braid/Schedule/Bounds/LowerBound.h"
#include "braid/Schedule/Search/SearchSchedule.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>

using namespace braid;
using namespace llvm;

/// The plans that get a search of their own, as the order without a plan does.
static constexpr size_t searchedPlans = 3;

/// The plans among which alternatives to the best one are chosen.
static constexpr size_t comparedPlans = 16;

namespace {

class Planner {
public:
  Planner(const SchedulingProblem &problem, ArrayRef<OpClass> opClasses,
          unsigned maxSimulations);

  ResourcePlan planProgramOrder();
  SearchedPlans searchPlans(SearchParts options, bool findsAlternatives);

private:
  bool isDone() const { return simulator.getNumSimulated() >= maxSimulations; }
  const SearchResult &search(const ResourceChoice &choice,
                             const SearchParts &options);
  /// Simulates the order of the plan with `choice`, and keeps what is better.
  bool consider(const ResourceChoice &choice);
  /// One class after the other, as long as that gains.
  void improveByClasses();
  size_t countOptions(unsigned kind) const;
  /// One option for each kind of class.
  std::vector<ResourceChoice> getClassChoices() const;
  std::vector<ScheduleOrder> getOrders(size_t mostOrders);
  std::pair<int64_t, size_t> findOrder(ArrayRef<ScheduleOrder> orders,
                                       ArrayRef<int64_t> peakBytes,
                                       const ResourceChoice &choice,
                                       double minGain);
  std::vector<std::pair<ResourceChoice, ScheduleOrder>>
  getBeginnings(double minGain, size_t most);
  void sinkWaits(ResourcePlan &sunk);
  void searchOrder(const ResourceChoice &choice, const SearchParts &options,
                   int64_t &makespanNs, ScheduleOrder &order);
  ResourcePlan searchOrderAlone(const SearchParts &options);
  std::vector<ResourcePlan> findAlternatives(
      const SearchParts &options, const ResourceChoice &best,
      ArrayRef<std::pair<ResourceChoice, ScheduleOrder>> beginnings);
  ResourcePlan takePlan();
  ResourcePlan searchFrom(const SearchParts &options, ResourceChoice choice,
                          ScheduleOrder order);
  std::vector<ResourcePlan>
  searchAll(const SearchParts &options,
            ArrayRef<std::pair<ResourceChoice, ScheduleOrder>> beginnings);

  const MachineModel &machine;
  ArrayRef<OpClass> opClasses;
  unsigned maxSimulations;
  ChoiceSimulator simulator;
  ResourcePlan plan;
  /// What searches have found: searches from several beginnings often come to
  /// the same choice.
  std::map<ResourceChoice, SearchResult> searched;
};

} // namespace

Planner::Planner(const SchedulingProblem &problem, ArrayRef<OpClass> opClasses,
                 unsigned maxSimulations)
    : machine(problem.machine), opClasses(opClasses),
      maxSimulations(maxSimulations), simulator(problem, opClasses) {
  plan.options.assign(opClasses.size(), 0);
  plan.order = getProgramOrder(problem.graph);
  plan.beforeNs = plan.afterNs = simulator.simulate(plan.order, plan.options);
}

const SearchResult &Planner::search(const ResourceChoice &choice,
                                    const SearchParts &options) {
  auto [known, isNew] = searched.try_emplace(choice);
  if (isNew)
    known->second = searchWithParts(simulator.getProblem(choice), options);
  return known->second;
}

bool Planner::consider(const ResourceChoice &choice) {
  if (isDone() || choice == plan.options ||
      !leavesHeadroom(machine, opClasses, choice))
    return false;
  int64_t ns = simulator.simulate(plan.order, choice);
  if (ns >= plan.afterNs)
    return false;
  plan.afterNs = ns;
  plan.options = choice;
  return true;
}

size_t Planner::countOptions(unsigned kind) const {
  size_t count = 1;
  for (const OpClass &opClass : opClasses)
    if (opClass.kind == kind)
      count = std::max(count, opClass.options.size());
  return count;
}

std::vector<ResourceChoice> Planner::getClassChoices() const {
  std::vector<ResourceChoice> choices;
  for (unsigned first = 0, end = countOptions(0); first != end; ++first)
    for (unsigned second = 0, last = countOptions(1); second != last;
         ++second) {
      ResourceChoice &choice = choices.emplace_back();
      for (const OpClass &opClass : opClasses) {
        unsigned option = opClass.kind == 0 ? first : second;
        choice.push_back(option < opClass.options.size() ? option : 0);
      }
      if (!leavesHeadroom(machine, opClasses, choice))
        choices.pop_back();
    }
  return choices;
}

void Planner::improveByClasses() {
  for (bool gained = true; gained && !isDone();) {
    gained = false;
    for (auto [number, opClass] : enumerate(opClasses))
      for (unsigned option = 0, end = opClass.options.size(); option != end;
           ++option) {
        ResourceChoice choice = plan.options;
        choice[number] = option;
        gained |= consider(choice);
      }
  }
}

ResourcePlan Planner::planProgramOrder() {
  for (const ResourceChoice &choice : getClassChoices())
    consider(choice);
  improveByClasses();
  return takePlan();
}

ResourcePlan Planner::takePlan() {
  plan.numSimulated = simulator.getNumSimulated();
  return std::move(plan);
}

/// Allowed orders that differ, the program's first, then the shortest without a
/// plan.
std::vector<ScheduleOrder> Planner::getOrders(size_t mostOrders) {
  ResourceChoice none(opClasses.size(), 0);
  const SchedulingProblem &problem = simulator.getProblem(none);
  std::vector<ScheduleOrder> orders = {getProgramOrder(problem.graph)};
  std::vector<std::pair<int64_t, ScheduleOrder>> others;
  for (ScheduleCandidate &candidate : getScheduleCandidates(problem)) {
    bool isKnown = is_contained(orders, candidate.order) ||
                   any_of(others, [&](const auto &other) {
                     return other.second == candidate.order;
                   });
    if (!isKnown && isAllowedOrder(problem, candidate.order)) {
      int64_t ns = simulator.simulate(candidate.order, none);
      others.emplace_back(ns, std::move(candidate.order));
    }
  }
  // Of orders that take the same time, the order of their nodes decides.
  llvm::sort(others);
  for (auto &[ns, order] : others)
    if (orders.size() < mostOrders)
      orders.push_back(std::move(order));
  return orders;
}

/// The makespan and the number of the order with the lowest peak memory among
/// those over which the shortest gains less than `minGain`.
std::pair<int64_t, size_t> Planner::findOrder(ArrayRef<ScheduleOrder> orders,
                                              ArrayRef<int64_t> peakBytes,
                                              const ResourceChoice &choice,
                                              double minGain) {
  SmallVector<int64_t> makespansNs;
  for (const ScheduleOrder &order : orders)
    makespansNs.push_back(simulator.simulate(order, choice));
  size_t best =
      *findLeastMemory(makespansNs, *llvm::min_element(makespansNs), minGain,
                       [&](size_t which) { return peakBytes[which]; });
  return {makespansNs[best], best};
}

/// No plan, and the best choices for classes, at most `most`, each with the
/// order that is the best one for it.
std::vector<std::pair<ResourceChoice, ScheduleOrder>>
Planner::getBeginnings(double minGain, size_t most) {
  std::vector<ResourceChoice> choices = getClassChoices();
  // The program's order alone, with everything exposed, says little of plans.
  size_t mostOrders = std::max<size_t>(2, maxSimulations / 2 / choices.size());
  std::vector<ScheduleOrder> orders = getOrders(mostOrders);
  std::vector<int64_t> peakBytes = simulator.getPeakBytes(orders);
  struct Beginning {
    int64_t ns;
    size_t choice, order;
  };
  std::vector<Beginning> found;
  for (auto [number, choice] : enumerate(choices)) {
    auto [ns, which] = findOrder(orders, peakBytes, choice, minGain);
    found.push_back({ns, number, which});
  }
  // Choices that are the same for all classes give the same.
  llvm::sort(drop_begin(found), [](const Beginning &a, const Beginning &b) {
    return std::pair(a.ns, a.choice) < std::pair(b.ns, b.choice);
  });
  std::vector<std::pair<ResourceChoice, ScheduleOrder>> beginnings;
  for (const Beginning &beginning : found) {
    const ResourceChoice &choice = choices[beginning.choice];
    bool isKnown = any_of(
        beginnings, [&](const auto &other) { return other.first == choice; });
    if (!isKnown && beginnings.size() <= most)
      beginnings.emplace_back(choice, orders[beginning.order]);
  }
  return beginnings;
}

/// Puts the order that a search finds for `choice`, and its makespan, in the
/// place of `order` and `makespanNs` if that gains enough.
void Planner::searchOrder(const ResourceChoice &choice,
                          const SearchParts &options, int64_t &makespanNs,
                          ScheduleOrder &order) {
  const SearchResult &found = search(choice, options);
  double gained = double(makespanNs - found.makespanNs);
  if (found.excess || gained <= options.minGain * double(makespanNs))
    return;
  makespanNs = found.makespanNs;
  order = found.order;
}

/// Searches and plans in turn.
ResourcePlan Planner::searchFrom(const SearchParts &options,
                                 ResourceChoice choice, ScheduleOrder order) {
  plan.options = std::move(choice);
  plan.order = std::move(order);
  plan.afterNs = simulator.simulate(plan.order, plan.options);
  constexpr unsigned mostRounds = 3;
  for (unsigned round = 0; round != mostRounds; ++round) {
    int64_t beforeNs = plan.afterNs;
    searchOrder(plan.options, options, plan.afterNs, plan.order);
    int64_t searchedNs = plan.afterNs;
    improveByClasses();
    if (plan.afterNs == searchedNs || plan.afterNs == beforeNs)
      break;
  }
  return plan;
}

ResourcePlan Planner::searchOrderAlone(const SearchParts &options) {
  ResourcePlan alone = plan;
  alone.options.assign(opClasses.size(), 0);
  alone.order = getProgramOrder(simulator.getProblem(alone.options).graph);
  alone.afterNs = alone.beforeNs;
  searchOrder(alone.options, options, alone.afterNs, alone.order);
  return alone;
}

/// What the searches from the best of `beginnings` come to, and the present
/// plan, the shortest first.
std::vector<ResourcePlan> Planner::searchAll(
    const SearchParts &options,
    ArrayRef<std::pair<ResourceChoice, ScheduleOrder>> beginnings) {
  unsigned share = maxSimulations / (searchedPlans + 1);
  std::vector<ResourcePlan> plans = {plan};
  size_t numSearched = std::min(beginnings.size(), searchedPlans + 1);
  for (const auto &[choice, order] : beginnings.take_front(numSearched)) {
    maxSimulations = simulator.getNumSimulated() + share;
    plans.push_back(searchFrom(options, choice, order));
  }
  llvm::sort(plans, [](const ResourcePlan &a, const ResourcePlan &b) {
    return std::tie(a.afterNs, a.options) < std::tie(b.afterNs, b.options);
  });
  return plans;
}

/// Puts waits as late as they may stand if that costs no time: an operation
/// that takes longer than estimated then exposes less.
void Planner::sinkWaits(ResourcePlan &sunk) {
  if (isProgramOrder(sunk.order))
    return;
  const SchedulingProblem &problem = simulator.getProblem(sunk.options);
  ScheduleOrder order = sinkWaitsIn(problem.graph, sunk.order);
  if (isAllowedOrder(problem, order) &&
      simulator.simulate(order, sunk.options) <= sunk.afterNs)
    sunk.order = std::move(order);
}

/// The choices for classes other than `best`, each with the order that a search
/// has found for it, the shortest first.
std::vector<ResourcePlan> Planner::findAlternatives(
    const SearchParts &options, const ResourceChoice &best,
    ArrayRef<std::pair<ResourceChoice, ScheduleOrder>> beginnings) {
  std::vector<ResourcePlan> found;
  for (const auto &[choice, order] : beginnings) {
    if (choice == best)
      continue;
    ResourcePlan other = plan;
    other.options = choice;
    other.order = order;
    other.afterNs = simulator.simulate(order, choice);
    searchOrder(choice, options, other.afterNs, other.order);
    auto isShorter = [](const ResourcePlan &a, const ResourcePlan &b) {
      return a.afterNs < b.afterNs;
    };
    found.insert(llvm::upper_bound(found, other, isShorter), other);
  }
  return found;
}

SearchedPlans Planner::searchPlans(SearchParts options,
                                   bool findsAlternatives) {
  // Bounds only let a search end early. The better ones take longer than what
  // they save of searches as short as these.
  options.boundEffort = LowerBoundEffort::Quick;
  options.boundParts.refinedHeads = options.boundParts.knapsack = false;
  std::vector<std::pair<ResourceChoice, ScheduleOrder>> beginnings =
      getBeginnings(options.minGain,
                    findsAlternatives ? comparedPlans : searchedPlans);
  SearchedPlans found;
  for (ResourcePlan &plan : searchAll(options, beginnings))
    if (none_of(found.compared, [&](const ResourcePlan &other) {
          return other.options == plan.options;
        }))
      found.compared.push_back(std::move(plan));
  if (findsAlternatives)
    found.alternatives =
        findAlternatives(options, found.compared.front().options, beginnings);
  found.orderAlone = searchOrderAlone(options);
  for (std::vector<ResourcePlan> *plans :
       {&found.compared, &found.alternatives})
    for (ResourcePlan &plan : *plans)
      sinkWaits(plan);
  sinkWaits(found.orderAlone);
  return found;
}

ResourcePlan braid::planResources(const SchedulingProblem &problem,
                                  ArrayRef<OpClass> opClasses,
                                  unsigned maxSimulations) {
  return Planner(problem, opClasses, maxSimulations).planProgramOrder();
}

SearchedPlans braid::searchPlans(const SchedulingProblem &problem,
                                 ArrayRef<OpClass> opClasses,
                                 const SearchOptions &options,
                                 unsigned maxSimulations,
                                 bool findsAlternatives) {
  SchedulingProblem unlimited = problem;
  unlimited.maxMemory.reset();
  return Planner(unlimited, opClasses, maxSimulations)
      .searchPlans(options, findsAlternatives);
}

int64_t braid::boundAllPlans(const SchedulingProblem &problem,
                             ArrayRef<OpClass> opClasses) {
  SchedulingProblem relaxed = problem;
  relaxed.demands.assign(problem.graph.size(), ResourceDemand());
  for (const OpClass &opClass : opClasses) {
    int64_t leastNs = opClass.options.front().costNs;
    for (const ResourceOption &option : opClass.options)
      leastNs = std::min(leastNs, option.costNs);
    for (unsigned node : opClass.ops)
      relaxed.graph.setCost(node, leastNs);
  }
  return computeLowerBounds(relaxed).best();
}
