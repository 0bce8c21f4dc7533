//===- ResourcePlan.cpp - Who runs on what of the machine -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ResourcePlan.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace braid;
using namespace llvm;

namespace {

class Planner {
public:
  Planner(std::vector<SimulatedOp> ops, const MachineModel &machine,
          ArrayRef<ResourceFamily> families, unsigned maxPlays)
      : ops(std::move(ops)), machine(machine), families(families),
        maxPlays(maxPlays) {}

  ResourcePlan run();

private:
  using Options = std::vector<unsigned>;

  void set(const Options &options);
  /// Plays with `options`, and keeps them if they are better.
  bool consider(const Options &options);
  /// Options for whole classes.
  void tryClasses();
  /// One family after the other.
  bool tryFamilies();
  size_t countOptions(unsigned ofClass) const;

  std::vector<SimulatedOp> ops;
  const MachineModel &machine;
  ArrayRef<ResourceFamily> families;
  unsigned maxPlays;
  ResourcePlan plan;
};

} // namespace

void Planner::set(const Options &options) {
  for (auto [family, option] : zip_equal(families, options))
    for (unsigned op : family.ops) {
      ops[op].costNs = family.options[option].costNs;
      ops[op].demand = family.options[option].demand;
    }
}

bool Planner::consider(const Options &options) {
  if (plan.numPlayed >= maxPlays || options == plan.options)
    return false;
  ++plan.numPlayed;
  set(options);
  int64_t makespanNs = simulate(ops, machine).makespanNs;
  if (makespanNs >= plan.afterNs)
    return false;
  plan.afterNs = makespanNs;
  plan.options = options;
  return true;
}

size_t Planner::countOptions(unsigned ofClass) const {
  size_t count = 1;
  for (const ResourceFamily &family : families)
    if (family.ofClass == ofClass)
      count = std::max(count, family.options.size());
  return count;
}

void Planner::tryClasses() {
  size_t numFirst = countOptions(0), numSecond = countOptions(1);
  for (size_t first = 0; first != numFirst; ++first)
    for (size_t second = 0; second != numSecond; ++second) {
      Options options;
      for (const ResourceFamily &family : families) {
        size_t option = family.ofClass == 0 ? first : second;
        options.push_back(option < family.options.size() ? option : 0);
      }
      consider(options);
    }
}

bool Planner::tryFamilies() {
  bool gained = false;
  for (size_t family = 0; family != families.size(); ++family)
    for (size_t option = 0; option != families[family].options.size();
         ++option) {
      Options options = plan.options;
      options[family] = option;
      gained |= consider(options);
    }
  return gained;
}

ResourcePlan Planner::run() {
  plan.options.assign(families.size(), 0);
  set(plan.options);
  plan.beforeNs = plan.afterNs = simulate(ops, machine).makespanNs;
  plan.numPlayed = 1;
  tryClasses();
  while (tryFamilies() && plan.numPlayed < maxPlays)
    continue;
  return std::move(plan);
}

ResourcePlan braid::planResources(std::vector<SimulatedOp> ops,
                                  const MachineModel &machine,
                                  ArrayRef<ResourceFamily> families,
                                  unsigned maxPlays) {
  return Planner(std::move(ops), machine, families, maxPlays).run();
}
