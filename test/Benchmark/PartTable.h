//===- PartTable.h - What each part of the search is worth ------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of the search and its bounds by their names, and what orders and
// bounds lose without them.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TEST_BENCHMARK_PARTTABLE_H
#define BRAID_TEST_BENCHMARK_PARTTABLE_H

#include "Schedule/Search/SearchParts.h"
#include "braid/Schedule/Search/SearchSchedule.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <ctime>
#include <string>
#include <vector>

namespace braid::test {

/// Of a part of the search, the problems that it does anything for.
enum class PartUse { Always, Contention, Memory };

struct SearchPart {
  const char *name;
  bool SearchParts::*option;
  PartUse use = PartUse::Always;
};

struct BoundPart {
  const char *name;
  bool LowerBoundParts::*option;
  PartUse use = PartUse::Always;
};

inline constexpr SearchPart searchParts[] = {
    {"passes", &SearchParts::usePasses},
    {"list-rules", &SearchParts::useListRules},
    {"tuned-lists", &SearchParts::useTunedLists},
    {"beam", &SearchParts::useBeam},
    {"exact", &SearchParts::useExact},
    {"windows", &SearchParts::useWindows},
    {"moves", &SearchParts::useMoves},
    {"contention-moves", &SearchParts::useContentionMoves, PartUse::Contention},
    {"multipliers", &SearchParts::useMultipliers, PartUse::Contention},
    {"least-memory-lists", &SearchParts::useLeastMemoryLists, PartUse::Memory},
    {"depth-first", &SearchParts::useDepthFirst, PartUse::Memory},
    {"peak-windows", &SearchParts::usePeakWindows, PartUse::Memory}};

inline constexpr BoundPart boundParts[] = {
    {"bound-refined-heads", &LowerBoundParts::refinedHeads},
    {"bound-head-tail", &LowerBoundParts::headTail},
    {"bound-knapsack", &LowerBoundParts::knapsack},
    {"bound-two-jobs", &LowerBoundParts::twoJobs},
    {"bound-multipliers", &LowerBoundParts::multipliers, PartUse::Contention},
    {"bound-states", &LowerBoundParts::states, PartUse::Contention}};

/// Leaves the part out. False if there is none of this name.
inline bool leaveOut(llvm::StringRef name, SearchParts &options) {
  for (const SearchPart &part : searchParts)
    if (name == part.name) {
      options.*part.option = false;
      return true;
    }
  for (const BoundPart &part : boundParts)
    if (name == part.name) {
      options.boundParts.*part.option = false;
      return true;
    }
  return false;
}

/// What `name` means to the search; none if it is no effort.
inline std::optional<SearchEffort> parseEffort(llvm::StringRef name) {
  if (name == "low")
    return SearchEffort::Low;
  if (name == "default")
    return SearchEffort::Default;
  if (name == "high")
    return SearchEffort::High;
  return std::nullopt;
}

/// All names, for messages.
inline std::string getPartNames() {
  std::vector<std::string> names;
  for (const SearchPart &part : searchParts)
    names.push_back(part.name);
  for (const BoundPart &part : boundParts)
    names.push_back(part.name);
  return llvm::join(names, ", ");
}

/// Searches problems with all parts and without each of them.
class PartTable {
public:
  explicit PartTable(uint64_t maxSteps) {
    all.maxSteps = maxSteps;
    all.effort = SearchEffort::High;
  }

  void add(const SchedulingProblem &problem) {
    double begin = getSeconds();
    SearchResult result = searchWithParts(problem, all);
    ++numProblems;
    seconds += getSeconds() - begin;
    numProven += result.optimal;
    numFitting += !result.excess;
    ratios += double(result.makespanNs) / double(result.lowerBoundNs);
    for (const SearchPart &part : searchParts)
      if (isOfUse(part.use, problem))
        addSearch(problem, result, {part.name});
    addSearch(problem, result, {"windows", "moves"});
    int64_t boundNs = computeLowerBounds(problem, result.makespanNs).best();
    for (const BoundPart &part : boundParts)
      if (isOfUse(part.use, problem))
        addBound(problem, result.makespanNs, boundNs, {part.name});
    addBound(problem, result.makespanNs, boundNs,
             {"bound-refined-heads", "bound-knapsack"});
  }

  void print(llvm::StringRef title) const {
    llvm::outs() << llvm::formatv(
        "{0}: {1} problems; all parts: mean over the bound {2:f4}, proven {3}, "
        "limits held {4}, {5:f2} s\n",
        title, numProblems, ratios / std::max(numProblems, 1u), numProven,
        numFitting, seconds);
    llvm::outs() << llvm::formatv("{0,-56}{1,8}{2,9}{3,9}{4,8}{5,8}{6,9}\n",
                                  "without", "problems", "mean %", "worst %",
                                  "proven", "held", "seconds");
    for (const Row &row : rows)
      llvm::outs() << llvm::formatv(
          "{0,-56}{1,8}{2,9:f3}{3,9:f3}{4,8}{5,8}{6,9:f2}\n", row.name,
          row.numProblems, 100 * row.changes / row.numProblems,
          100 * row.worstChange, row.numProven, row.numFitting, row.seconds);
    llvm::outs().flush();
  }

private:
  /// Changes of the makespan, or of the bound; more is worse.
  struct Row {
    std::string name;
    unsigned numProblems = 0, numProven = 0, numFitting = 0;
    double changes = 0, worstChange = 0, seconds = 0;
  };

  /// Of processor time.
  static double getSeconds() {
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  }

  static bool isOfUse(PartUse use, const SchedulingProblem &problem) {
    switch (use) {
    case PartUse::Always:
      return true;
    case PartUse::Contention:
      return problem.machine.hasContention();
    case PartUse::Memory:
      return problem.maxMemory.has_value();
    }
    llvm_unreachable("unknown use of a part");
  }

  Row &getRow(llvm::ArrayRef<const char *> names) {
    std::string name = llvm::join(names, ", ");
    for (Row &row : rows)
      if (row.name == name)
        return row;
    rows.emplace_back().name = name;
    return rows.back();
  }

  static void addChange(Row &row, double change) {
    ++row.numProblems;
    row.changes += change;
    row.worstChange = std::max(row.worstChange, change);
  }

  void addSearch(const SchedulingProblem &problem, const SearchResult &with,
                 llvm::ArrayRef<const char *> names) {
    SearchParts options = all;
    for (const char *name : names)
      leaveOut(name, options);
    Row &row = getRow(names);
    double begin = getSeconds();
    SearchResult without = searchWithParts(problem, options);
    row.seconds += getSeconds() - begin;
    row.numProven += without.optimal;
    row.numFitting += !without.excess;
    // Orders that do not keep the limits count as none.
    bool bothFit = !with.excess && !without.excess;
    addChange(row,
              bothFit ? double(without.makespanNs) / double(with.makespanNs) - 1
                      : 0);
  }

  void addBound(const SchedulingProblem &problem, int64_t makespanNs,
                int64_t boundNs, llvm::ArrayRef<const char *> names) {
    SearchParts options;
    for (const char *name : names)
      leaveOut(name, options);
    Row &row = getRow(names);
    double begin = getSeconds();
    int64_t without =
        computeLowerBounds(problem, makespanNs, LowerBoundEffort::Full,
                           options.boundParts)
            .best();
    row.seconds += getSeconds() - begin;
    row.numProven += without >= makespanNs;
    addChange(row, 1 - double(without) / double(boundNs));
  }

  SearchParts all;
  unsigned numProblems = 0, numProven = 0, numFitting = 0;
  double ratios = 0, seconds = 0;
  std::vector<Row> rows;
};

} // namespace braid::test

#endif // BRAID_TEST_BENCHMARK_PARTTABLE_H
