//===- schedule-quality.cpp - How good schedules are ----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prints, without contention but for `contended`:
//   small  how often each algorithm finds the shortest order of small graphs,
//          with and without a memory limit;
//   steps  the makespan over the lower bound of training steps; steps16: of
//          those of 16 layers alone;
//   contended  the makespan of small graphs over their bound and optimum, and
//          each bound of training steps of 16 layers in parts of the makespan,
//          on machines whose ops slow each other down;
//   time   what the search and one list schedule take on long programs;
//   parts  what the search gives without some of its parts.
//
//   schedule-quality [--effort=low|default|high]
//       [small|steps|steps16|contended|time|parts]...
//
//===----------------------------------------------------------------------===//

#include "Figures.h"
#include "PartTable.h"
#include "TestProblems/ExhaustiveSearch.h"
#include "TestProblems/LayeredGraphs.h"
#include "braid/Schedule/Simulation/SimulatedOrder.h"

#include "braid/Schedule/Search/SearchSchedule.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <ctime>
#include <map>
#include <numeric>
#include <sys/resource.h>

using namespace braid;
using namespace braid::test;

static SearchOptions defaultOptions;

/// Of processor time.
static double getSeconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

static double getPeakMegabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024.0;
}

//===----------------------------------------------------------------------===//
// Small graphs
//===----------------------------------------------------------------------===//

namespace {
/// Of one algorithm, by shape: how often it was best, and how long its orders
/// are over the shortest.
struct Score {
  std::array<unsigned, numSmallShapes> best = {};
  double ratios = 0;
};
} // namespace

static void printSmall(unsigned numProblems, bool limitMemory) {
  std::vector<std::pair<std::string, Score>> scores;
  auto getScore = [&](llvm::StringRef name) -> Score & {
    for (auto &[known, score] : scores)
      if (known == name)
        return score;
    return scores.emplace_back(name.str(), Score()).second;
  };
  std::array<unsigned, numSmallShapes> count = {};
  unsigned proven = 0, held = 0;
  double seconds = 0;
  for (unsigned i = 0; i != numProblems; ++i) {
    unsigned shape = i % numSmallShapes;
    SchedulingProblem problem =
        makeSmallProblem(static_cast<SmallShape>(shape), i, 12 + i % 5);
    if (limitMemory)
      problem.maxMemory = *findLeastPeakExhaustively(problem) * 21 / 20;
    double begin = getSeconds();
    SearchResult result = searchSchedule(problem, defaultOptions);
    seconds += getSeconds() - begin;
    int64_t least = *findLeastMakespanExhaustively(
        problem,
        result.excess ? std::nullopt : std::optional(result.makespanNs));
    ++count[shape];
    auto add = [&](llvm::StringRef name, llvm::ArrayRef<unsigned> order) {
      Simulation simulation = simulateOrder(problem, order);
      Score &score = getScore(name);
      if (problem.maxMemory && simulation.peakBytes > *problem.maxMemory)
        return;
      score.best[shape] += simulation.makespanNs == least;
      score.ratios += double(simulation.makespanNs) / double(least);
    };
    for (const ScheduleCandidate &candidate : getScheduleCandidates(problem))
      add(candidate.name, candidate.order);
    add("comm-schedule", result.order);
    proven += result.optimal;
    held += !result.excess;
  }

  llvm::outs() << llvm::formatv(
      "{0} graphs of 12 to 16 nodes, {1}: percent shortest\n", numProblems,
      limitMemory ? "memory at most 1.05 times the least peak of all orders"
                  : "no memory limit");
  llvm::outs() << llvm::formatv("{0,-34}", "");
  for (unsigned shape = 0; shape != numSmallShapes; ++shape)
    llvm::outs() << llvm::formatv(
        "{0,20}", stringifySmallShape(static_cast<SmallShape>(shape)));
  llvm::outs() << llvm::formatv("{0,8}\n", "all");
  for (const auto &[name, score] : scores) {
    llvm::outs() << llvm::formatv("{0,-34}", name);
    unsigned all = 0;
    for (unsigned shape = 0; shape != numSmallShapes; ++shape) {
      llvm::outs() << llvm::formatv("{0,20:f1}",
                                    100.0 * score.best[shape] / count[shape]);
      all += score.best[shape];
    }
    llvm::outs() << llvm::formatv("{0,8:f1}\n", 100.0 * all / numProblems);
  }
  std::string graphs =
      limitMemory ? "small graphs within a memory limit" : "small graphs";
  for (const auto &[name, score] : scores)
    if (name == "comm-schedule")
      recordFigure(
          graphs + ", shortest found",
          100.0 * std::accumulate(score.best.begin(), score.best.end(), 0U) /
              numProblems,
          "%", "higher");
  recordFigure(graphs + ", search", 1e3 * seconds / numProblems, "ms");
  llvm::outs() << llvm::formatv(
      "comm-schedule: proven in {0}, limits held in {1} of {2}, {3:f2} ms a "
      "graph\n\n",
      proven, held, numProblems, 1e3 * seconds / numProblems);
}

//===----------------------------------------------------------------------===//
// Training steps
//===----------------------------------------------------------------------===//

/// All steps of the benchmark.
static std::vector<StepOptions> getSteps() {
  std::vector<StepOptions> steps;
  for (unsigned which = 0; which != numParallelisms; ++which) {
    auto parallelism = static_cast<Parallelism>(which);
    llvm::SmallVector<unsigned> microBatches = {1};
    if (parallelism == Parallelism::TensorParallel ||
        parallelism == Parallelism::SequenceParallel ||
        parallelism == Parallelism::MixtureOfExperts)
      microBatches = {1, 2, 4};
    if (parallelism == Parallelism::Pipeline)
      microBatches = {4, 8};
    for (unsigned batches : microBatches)
      for (unsigned layers : {16u, 64u, 128u})
        for (unsigned percent : {60u, 100u, 150u})
          for (unsigned variation : {0u, 30u})
            steps.push_back(
                {parallelism, layers, batches, percent, variation, 1});
  }
  return steps;
}

/// The columns: the program, the best of Inductor's passes in any order, and
/// other passes by their names.
static constexpr const char *otherPasses[] = {
    "program order", "list", "simple overlap", "iterative", "latency hiding"};

static void printSteps(unsigned mostLayers) {
  llvm::outs() << "training steps: makespan over the lower bound\n";
  llvm::outs() << llvm::formatv("{0,-20}{1,7}{2,8}{3,6}{4,6}{5,7}", "",
                                "layers", "batches", "comm%", "vary%", "nodes");
  for (const char *name : otherPasses)
    llvm::outs() << llvm::formatv("{0,15}", name);
  llvm::outs() << llvm::formatv("{0,8}{1,15}{2,9}  {3}\n", "inductor",
                                "comm-schedule", "seconds", "found by");
  std::map<std::string, double> worst;
  double allSeconds = 0;
  for (const StepOptions &options : getSteps()) {
    if (options.numLayers > mostLayers)
      continue;
    SchedulingProblem problem = makeTrainingStep(options);
    double begin = getSeconds();
    SearchResult result = searchSchedule(problem, defaultOptions);
    double seconds = getSeconds() - begin;
    allSeconds += seconds;
    double bound = result.lowerBoundNs;
    std::map<std::string, double> ratios;
    for (const ScheduleCandidate &candidate : getScheduleCandidates(problem)) {
      double ratio = simulateOrder(problem, candidate.order).makespanNs / bound;
      if (llvm::is_contained(otherPasses, candidate.name))
        ratios[candidate.name] = ratio;
      else if (double &inductor = ratios["inductor"];
               inductor == 0 || ratio < inductor)
        inductor = ratio;
    }
    double &ratio = worst[stringifyParallelism(options.parallelism)];
    ratio = std::max(ratio, result.makespanNs / bound);
    llvm::outs() << llvm::formatv(
        "{0,-20}{1,7}{2,8}{3,6}{4,6}{5,7}",
        stringifyParallelism(options.parallelism), options.numLayers,
        options.numMicroBatches, options.communicationPercent,
        options.variationPercent, problem.graph.size());
    for (const char *name : otherPasses)
      llvm::outs() << llvm::formatv("{0,15:f3}", ratios[name]);
    llvm::outs() << llvm::formatv("{0,8:f3}{1,15:f4}{2,9:f2}  {3}{4}\n",
                                  ratios["inductor"], result.makespanNs / bound,
                                  seconds, result.method,
                                  result.optimal ? ", optimal" : "");
    llvm::outs().flush();
  }
  for (const auto &[name, ratio] : worst) {
    llvm::outs() << llvm::formatv("{0,-22} at most {1:f4}\n", name, ratio);
    recordFigure("training steps, " + name + ", worst makespan over the bound",
                 ratio, "");
  }
  recordFigure("training steps, search", allSeconds, "s");
  llvm::outs() << "\n";
}

//===----------------------------------------------------------------------===//
// Contention
//===----------------------------------------------------------------------===//

namespace {
/// Makespans over bounds.
struct Gaps {
  unsigned count = 0;
  double ratios = 0, worst = 1, seconds = 0;

  void add(double ratio, double time) {
    ++count;
    ratios += ratio;
    worst = std::max(worst, ratio);
    seconds += time;
  }
  void print(llvm::StringRef name) const {
    llvm::outs() << llvm::formatv(
        "{0,-44} {1,4} problems: mean {2:f4}, worst {3:f4}, {4:f2} s\n", name,
        count, ratios / std::max(count, 1u), worst, seconds);
  }
};
} // namespace

/// Puts a step on each machine whose ops slow each other down.
static void forEachContention(
    const SchedulingProblem &step,
    llvm::function_ref<void(llvm::StringRef, const SchedulingProblem &)>
        visit) {
  SchedulingProblem shared = step;
  shareGpu(shared);
  visit("shared", shared);
  for (unsigned i = 0; i != numMeasuredLanes; ++i) {
    shared = step;
    shareMeasuredGpu(shared, MeasuredLanes(i));
    visit(stringifyMeasuredLanes(MeasuredLanes(i)), shared);
  }
}

/// What the bound and the search miss of the optimum of small graphs.
static void printSmallContended(unsigned numProblems) {
  std::map<std::string, std::array<Gaps, 3>> gaps;
  unsigned open = 0;
  for (unsigned i = 0; i != numProblems; ++i) {
    SchedulingProblem small = makeSmallProblem(
        static_cast<SmallShape>(i % numSmallShapes), i, 9 + i % 4);
    // Of the size of ops of steps.
    for (unsigned node = 0; node != small.graph.size(); ++node)
      small.graph.setCost(node, 2'000 * small.graph[node].cost);
    forEachContention(small, [&](llvm::StringRef name,
                                 const SchedulingProblem &problem) {
      double begin = getSeconds();
      SearchResult result = searchSchedule(problem, defaultOptions);
      double seconds = getSeconds() - begin;
      int64_t boundNs = computeLowerBounds(problem, result.makespanNs).best();
      // Proven by trying all orders.
      open += !result.optimal;
      auto &[all, bound, search] = gaps[name.str()];
      all.add(double(result.makespanNs) / double(boundNs), seconds);
      bound.add(double(result.lowerBoundNs) / double(boundNs), 0);
      search.add(double(result.makespanNs) / double(result.lowerBoundNs), 0);
    });
  }
  llvm::outs() << llvm::formatv("small contended graphs, {0} not solved\n",
                                open);
  for (const auto &[name, three] : gaps) {
    three[0].print(name + ": search over bound");
    three[1].print(name + ": optimum over bound");
    three[2].print(name + ": search over optimum");
  }
  llvm::outs() << "\n";
}

static void printContended(unsigned mostLayers) {
  auto isShown = [](size_t kind) {
    return LowerBoundKind(kind) == LowerBoundKind::CriticalPath ||
           LowerBoundKind(kind) == LowerBoundKind::Stream ||
           kind >= size_t(LowerBoundKind::Path);
  };
  llvm::outs() << llvm::formatv("{0,-20}{1,8}{2,6}{3,6}{4,7} {5,-14}{6,10}", "",
                                "batches", "comm%", "vary%", "nodes", "machine",
                                "us");
  for (size_t kind = 0; kind != numLowerBoundKinds; ++kind)
    if (isShown(kind))
      llvm::outs() << llvm::formatv(
          "{0,9}", stringifyLowerBoundKind(LowerBoundKind(kind)).take_back(8));
  llvm::outs() << "\n";
  std::map<std::string, Gaps> gaps;
  for (const StepOptions &options : getSteps()) {
    if (options.numLayers > mostLayers)
      continue;
    forEachContention(
        makeTrainingStep(options),
        [&](llvm::StringRef name, const SchedulingProblem &problem) {
          double begin = getSeconds();
          SearchResult result = searchSchedule(problem, defaultOptions);
          double searched = getSeconds() - begin;
          begin = getSeconds();
          LowerBounds bounds = computeLowerBounds(problem, result.makespanNs);
          double bounded = getSeconds() - begin;
          llvm::outs() << llvm::formatv(
              "{0,-20}{1,8}{2,6}{3,6}{4,7} {5,-14}{6,10:f0}",
              stringifyParallelism(options.parallelism),
              options.numMicroBatches, options.communicationPercent,
              options.variationPercent, problem.graph.size(), name,
              double(result.makespanNs) / 1e3);
          for (size_t kind = 0; kind != numLowerBoundKinds; ++kind)
            if (isShown(kind))
              llvm::outs() << llvm::formatv("{0,9:f3}",
                                            double(bounds.ns[kind]) /
                                                double(result.makespanNs));
          double ratio = double(result.makespanNs) / double(bounds.best());
          gaps[name.str()].add(ratio, searched);
          llvm::outs() << llvm::formatv("  {0:f4} {1:f2} s {2:f2} s {3}\n",
                                        ratio, searched, bounded,
                                        result.method);
          llvm::outs().flush();
        });
  }
  for (const auto &[name, gap] : gaps)
    gap.print(name);
  llvm::outs() << "\n";
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

static void printTime() {
  llvm::outs() << llvm::formatv("{0,-30}{1,10}{2,10}{3,10}{4,10}{5,10}{6,10}\n",
                                "", "nodes", "starts", "list s", "search s",
                                "ratio", "peak MB");
  auto print = [](llvm::StringRef name, const SchedulingProblem &problem) {
    SearchOptions listAlone;
    listAlone.maxSteps = 1;
    double begin = getSeconds();
    searchSchedule(problem, listAlone);
    double list = getSeconds() - begin;
    begin = getSeconds();
    SearchResult result = searchSchedule(problem, defaultOptions);
    double search = getSeconds() - begin;
    llvm::outs() << llvm::formatv(
        "{0,-30}{1,10}{2,10}{3,10:f3}{4,10:f3}{5,10:f4}{6,10:f0}\n", name,
        problem.graph.size(), problem.graph.starts().size(), list, search,
        double(result.makespanNs) / double(result.lowerBoundNs),
        getPeakMegabytes());
    std::string program =
        llvm::formatv("{0}, {1} nodes, search", name, problem.graph.size());
    recordFigure(program, search, "s");
    llvm::outs().flush();
  };
  for (unsigned numNodes : {10'000u, 30'000u, 100'000u})
    print("random", makeLongProgram(numNodes, 1));
  // So hard that all steps are spent.
  for (unsigned numLayers : {163u, 490u, 1640u})
    print("tensor parallel, 2 batches",
          makeTrainingStep(
              {Parallelism::TensorParallel, numLayers, 2, 150, 30, 1}));
  llvm::outs() << "\n";
}

//===----------------------------------------------------------------------===//
// Parts of the search
//===----------------------------------------------------------------------===//

static void printParts() {
  auto makeProblem = [](unsigned i, unsigned numNodes) {
    return makeSmallProblem(static_cast<SmallShape>(i % numSmallShapes), i,
                            numNodes);
  };
  PartTable small(/*maxSteps=*/0);
  for (unsigned i = 0; i != 210; ++i)
    small.add(makeProblem(i, 12 + i % 5));
  small.print("small graphs");
  // Fewer steps than the default, as there are many parts.
  for (bool limitMemory : {false, true}) {
    PartTable medium(/*maxSteps=*/5'000'000);
    for (unsigned i = 0; i != 42; ++i) {
      SchedulingProblem problem = makeProblem(i, 70 + 5 * i);
      if (limitMemory)
        problem.maxMemory =
            simulateOrder(problem, getProgramOrder(problem.graph)).peakBytes;
      medium.add(problem);
    }
    medium.print(limitMemory ? "medium graphs with the memory of the program"
                             : "medium graphs");
  }
  PartTable steps(/*maxSteps=*/15'000'000);
  for (const StepOptions &step : getSteps())
    if (step.numLayers == 64 && step.variationPercent == 30 &&
        step.numMicroBatches <= 4)
      steps.add(makeTrainingStep(step));
  steps.print("training steps");
}

int main(int argc, char **argv) {
  std::vector<llvm::StringRef> wanted(argv + 1, argv + argc);
  if (!wanted.empty() && wanted.front().consume_front("--effort=")) {
    std::optional<SearchEffort> effort = parseEffort(wanted.front());
    if (!effort) {
      llvm::errs() << "schedule-quality: unknown effort '" << wanted.front()
                   << "', expected low, default or high\n";
      return 1;
    }
    defaultOptions.effort = *effort;
    wanted.erase(wanted.begin());
  }
  for (llvm::StringRef name : wanted)
    if (!llvm::is_contained(
            {"small", "steps", "steps16", "contended", "time", "parts"},
            name)) {
      llvm::errs() << "schedule-quality: unknown part '" << name
                   << "', expected small, steps, steps16, contended, time or "
                      "parts\n";
      return 1;
    }
  auto isWanted = [&](llvm::StringRef name) {
    return wanted.empty() || llvm::is_contained(wanted, name);
  };
  if (isWanted("small")) {
    printSmall(1000, /*limitMemory=*/false);
    printSmall(1000, /*limitMemory=*/true);
  }
  if (isWanted("steps"))
    printSteps(128);
  else if (isWanted("steps16"))
    printSteps(16);
  if (isWanted("contended")) {
    printSmallContended(210);
    printContended(16);
  }
  if (isWanted("time"))
    printTime();
  if (isWanted("parts"))
    printParts();
  return 0;
}
