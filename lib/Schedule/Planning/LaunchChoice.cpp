//===- LaunchChoice.cpp - Which launches pay ------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchChoice.h"

#include "braid/Support/Units.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace braid;

/// The bytes at which a launch is full, in the order in which they are tried. A
/// launch of the first size takes about its latency on fast links.
static constexpr int64_t ladder[] = {int64_t{1} << 20, int64_t{32} << 20,
                                     int64_t{8} << 20, int64_t{128} << 20};

/// The same in ascending order.
static constexpr int64_t sizes[] = {ladder[0], ladder[2], ladder[1], ladder[3]};

size_t braid::getMostLaunchTrials(size_t numOps) {
  constexpr size_t triedOps = 10'000, fewestTrials = 2, mostTrials = 12;
  return std::clamp(triedOps / std::max<size_t>(1, numOps), fewestTrials,
                    mostTrials);
}

bool braid::isBetter(const BlockPrediction &found,
                     const BlockPrediction &present, double minGain) {
  constexpr double leastSaving = 0.02;
  return found.makespanNs < lessGain(present.makespanNs, minGain) ||
         (found.makespanNs <= present.makespanNs &&
          found.peakBytes <= present.peakBytes &&
          found.collectiveNs < lessGain(present.collectiveNs, leastSaving));
}

namespace {
/// Launches, and what they give.
struct LaunchTrial {
  LaunchLimits limits;
  LaunchGroups groups;
  BlockPrediction prediction;
};

class LaunchSearch {
public:
  using Predict =
      function_ref<FailureOr<BlockPrediction>(const LaunchGroups &, bool)>;

  LaunchSearch(const ScheduleGraph &graph, ArrayRef<LaunchItem> items,
               const LaunchChoiceOptions &options, Predict predict)
      : graph(graph), items(items), options(options), predict(predict) {}

  LogicalResult run(const LaunchLimits &limits);
  LaunchGroups takeBest() { return std::move(getBest().groups); }

private:
  LogicalResult tryLimits(LaunchLimits limits);
  LogicalResult tryPairs(LaunchLimits limits);
  LogicalResult settle();
  bool mayReplaceProgram(const BlockPrediction &found) const;
  LaunchTrial &getBest();

  const ScheduleGraph &graph;
  ArrayRef<LaunchItem> items;
  const LaunchChoiceOptions &options;
  Predict predict;
  /// The first one is the program as it is.
  std::vector<LaunchTrial> trials;
  bool isSettled = false;
};
} // namespace

/// True if launches with the prediction `found` are better than none.
bool LaunchSearch::mayReplaceProgram(const BlockPrediction &found) const {
  const BlockPrediction &program = trials.front().prediction;
  // Fewer launches are worth what the model cannot tell.
  if (isSettled)
    return lessGain(found.makespanNs, options.minGain) <= program.makespanNs;
  return isBetter(found, program, options.minGain);
}

/// The trial with the least time of collectives among those that are as short
/// as the shortest one, as far as the model can tell.
LaunchTrial &LaunchSearch::getBest() {
  LaunchTrial *shortest = &trials.front();
  for (LaunchTrial &trial : trials)
    if (mayReplaceProgram(trial.prediction) &&
        trial.prediction.makespanNs < shortest->prediction.makespanNs)
      shortest = &trial;
  // Final searches, too, find orders that are apart by this fraction.
  constexpr double unsure = 0.01;
  double part = isSettled ? unsure : options.minGain;
  LaunchTrial *best = shortest;
  for (LaunchTrial &trial : trials)
    if (mayReplaceProgram(trial.prediction) &&
        lessGain(trial.prediction.makespanNs, part) <=
            shortest->prediction.makespanNs &&
        trial.prediction.collectiveNs < best->prediction.collectiveNs)
      best = &trial;
  return *best;
}

/// Predicts the launches within `limits`, unless the trials have them.
LogicalResult LaunchSearch::tryLimits(LaunchLimits limits) {
  if (trials.size() >= options.maxTrials)
    return success();
  LaunchGroups groups = findLaunchGroups(graph, items, limits);
  if (llvm::any_of(trials, [&](const LaunchTrial &trial) {
        return trial.groups.groups == groups.groups;
      }))
    return success();
  FailureOr<BlockPrediction> prediction = predict(groups, false);
  if (failed(prediction))
    return failure();
  trials.push_back({std::move(limits), std::move(groups), *prediction});
  return success();
}

/// Predicts the program and the best launches anew, with the search that the
/// program gets in the end, and forgets the others: what short searches find
/// differs by more than launches do.
LogicalResult LaunchSearch::settle() {
  constexpr size_t mostSettled = 4;
  LaunchTrial *next = &getBest();
  if (next == &trials.front())
    return success();
  auto isShorter = [](const LaunchTrial &a, const LaunchTrial &b) {
    return a.prediction.makespanNs < b.prediction.makespanNs;
  };
  size_t numSettled = 1;
  do {
    std::swap(trials[numSettled++], *next);
    next = llvm::min_element(MutableArrayRef(trials).drop_front(numSettled),
                             isShorter);
  } while (numSettled <= mostSettled && numSettled < trials.size());
  trials.erase(trials.begin() + static_cast<ptrdiff_t>(numSettled),
               trials.end());
  for (LaunchTrial &trial : trials) {
    FailureOr<BlockPrediction> prediction = predict(trial.groups, true);
    if (failed(prediction))
      return failure();
    trial.prediction = *prediction;
  }
  isSettled = true;
  return success();
}

/// Predicts launches of the least bytes that hold two operations of a key.
LogicalResult LaunchSearch::tryPairs(LaunchLimits limits) {
  SmallVector<double> sums(limits.bytes.size()), counts(limits.bytes.size());
  for (const LaunchItem &item : items) {
    sums[item.key] += static_cast<double>(item.bytes);
    ++counts[item.key];
  }
  for (auto [sum, count, bytes] : llvm::zip_equal(sums, counts, limits.bytes)) {
    const int64_t *found = std::begin(sizes);
    while (std::next(found) != std::end(sizes) &&
           static_cast<double>(*found) * count < 2 * sum)
      ++found;
    bytes = {*found};
  }
  return tryLimits(std::move(limits));
}

LogicalResult LaunchSearch::run(const LaunchLimits &limits) {
  if (failed(tryLimits(limits)) || failed(tryPairs(limits)))
    return failure();
  for (int64_t bytes : ladder) {
    LaunchLimits trial = limits;
    for (auto &ofKey : trial.bytes)
      ofKey = {bytes};
    if (failed(tryLimits(std::move(trial))))
      return failure();
  }
  for (size_t key = 0, end = limits.bytes.size(); key != end; ++key) {
    LaunchLimits best = getBest().limits;
    best.bytes[key].clear();
    if (failed(tryLimits(best)))
      return failure();
    for (int64_t bytes : ladder) {
      best.bytes[key] = {bytes};
      if (failed(tryLimits(best)))
        return failure();
    }
  }
  return settle();
}

FailureOr<LaunchGroups> braid::chooseLaunches(
    const ScheduleGraph &graph, ArrayRef<LaunchItem> items,
    const LaunchLimits &limits, const LaunchChoiceOptions &options,
    function_ref<FailureOr<BlockPrediction>(const LaunchGroups &, bool)>
        predict) {
  LaunchSearch search(graph, items, options, predict);
  if (failed(search.run(limits)))
    return failure();
  return search.takeBest();
}
