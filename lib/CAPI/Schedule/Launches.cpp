//===- Launches.cpp - Operations that share a launch ----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Errors.h"
#include "Objects.h"
#include "Schedule/Planning/LaunchChoice.h"

#include "llvm/ADT/STLExtras.h"

using namespace braid;

/// The items, ascending by node; nothing and `error` for wrong ones.
static std::optional<std::vector<LaunchItem>>
readItems(const SchedulingProblem &problem, const braid_launch_item *items,
          int64_t count, braid_error *error) {
  std::vector<LaunchItem> result;
  for (int64_t index = 0; index < count; ++index) {
    braid_launch_item item =
        read(getElement(items, items->struct_size, index), items->struct_size);
    if (item.node < 0 || item.node >= int64_t(problem.graph.size()) ||
        problem.graph[item.node].kind != NodeKind::Start ||
        (!result.empty() && item.node <= int64_t(result.back().node))) {
      fail(error, BRAID_INVALID_ARGUMENT,
           "items: found node " + llvm::Twine(item.node) +
               ", expected starts in ascending order",
           item.node);
      return std::nullopt;
    }
    if (item.key < 0 || item.key >= count || item.bytes < 0) {
      fail(error, BRAID_INVALID_ARGUMENT,
           "items: found key " + llvm::Twine(item.key) + " and " +
               llvm::Twine(item.bytes) + " bytes, expected a key below " +
               llvm::Twine(count) + ", and at least 0 bytes",
           item.node);
      return std::nullopt;
    }
    result.push_back({static_cast<unsigned>(item.node),
                      static_cast<unsigned>(item.key), item.bytes});
  }
  return result;
}

/// Writes the number of the launch of each item, -1 for one of its own.
static void writeLaunches(llvm::ArrayRef<LaunchItem> items,
                          const LaunchGroups &groups, int64_t *launches) {
  for (auto [index, item] : llvm::enumerate(items)) {
    auto isIn = [node = item.node](llvm::ArrayRef<unsigned> group) {
      return llvm::is_contained(group, node);
    };
    auto found = llvm::find_if(groups.groups, isIn);
    launches[index] = found == groups.groups.end()
                          ? -1
                          : std::distance(groups.groups.begin(), found);
  }
}

int32_t braid_choose_launches(const braid_problem *problem,
                              const braid_launch_item *items, int64_t num_items,
                              const braid_launch_options *options,
                              braid_predict_launches predict, void *context,
                              int64_t *launches, braid_error *error) {
  if (!isGiven(problem, "problem", error) ||
      !hasSize(options, "options", error))
    return BRAID_INVALID_ARGUMENT;
  braid_launch_options given = read(*options);
  if (given.full_bytes <= 0 &&
      !isGiven(reinterpret_cast<const void *>(predict), "predict", error))
    return BRAID_INVALID_ARGUMENT;
  if (num_items <= 0)
    return BRAID_OK;
  if (!hasSize(items, "items", error) || !isGiven(launches, "launches", error))
    return BRAID_INVALID_ARGUMENT;
  std::optional<std::vector<LaunchItem>> starts =
      readItems(problem->problem, items, num_items, error);
  if (!starts)
    return BRAID_INVALID_ARGUMENT;
  const ScheduleGraph &graph = problem->problem.graph;
  LaunchChoiceOptions choice;
  choice.minGain = given.min_gain;
  choice.maxTrials = given.max_trials > 0 ? given.max_trials
                                          : getMostLaunchTrials(graph.size());
  LaunchLimits limits;
  for (const LaunchItem &item : *starts)
    limits.bytes.resize(std::max<size_t>(limits.bytes.size(), item.key + 1));
  if (given.full_bytes > 0) {
    llvm::fill(limits.bytes, llvm::SmallVector<int64_t, 2>{given.full_bytes});
    writeLaunches(*starts, findLaunchGroups(graph, *starts, limits), launches);
    return BRAID_OK;
  }
  int32_t code = BRAID_OK;
  auto ask =
      [&](const LaunchGroups &groups) -> llvm::FailureOr<LaunchPrediction> {
    writeLaunches(*starts, groups, launches);
    braid_launch_prediction found = {};
    found.struct_size = sizeof(found);
    code = predict(context, launches, &found);
    if (code != BRAID_OK)
      return llvm::failure();
    return LaunchPrediction{found.makespan_ns, found.collective_ns,
                            found.peak_bytes};
  };
  llvm::FailureOr<LaunchGroups> chosen =
      chooseLaunches(graph, *starts, limits, choice, ask);
  if (llvm::failed(chosen))
    return fail(error, static_cast<braid_code>(code),
                "found no prediction of launches");
  writeLaunches(*starts, *chosen, launches);
  return BRAID_OK;
}
