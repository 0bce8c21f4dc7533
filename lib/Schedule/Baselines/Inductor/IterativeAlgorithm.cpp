//===- IterativeAlgorithm.cpp - What both iterative algorithms share ------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IterativeAlgorithm.h"

#include "braid/Schedule/Baselines/Inductor/IterativeOverlap.h"
#include "braid/Schedule/Baselines/Inductor/SimpleOverlap.h"
#include "braid/Support/Units.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <limits>

using namespace braid;
using namespace llvm;
using NameFunction = function_ref<std::string(unsigned)>;

/// `bytes` and a part of it more.
static int64_t addBudget(int64_t bytes, double budget) {
  double more = double(bytes) * budget;
  constexpr int64_t largest = std::numeric_limits<int64_t>::max();
  return more < double(largest) ? addNs(bytes, int64_t(more)) : largest;
}

IterativeAlgorithm::IterativeAlgorithm(const SchedulingProblem &problem,
                                       llvm::ArrayRef<unsigned> order,
                                       const IterativeOptions &options,
                                       Direction direction)
    : problem(problem), options(options), initialOrder(order),
      order(problem, order),
      time(problem, order, options.commRuntimeMult, options.computeRuntimeMult),
      direction(direction), maxSteps(kMaxStepsPerNode * problem.graph.size()) {
  initialPeakBytes = this->order.getPeakBytes();
  limitBytes = addBudget(initialPeakBytes, options.peakMemoryBudget);
  if (problem.maxMemory)
    limitBytes = std::min(limitBytes, *problem.maxMemory);
}

/// True if `statistics` says that the operation is hidden and the options make
/// that count.
bool IterativeAlgorithm::isHidden(const MoveStatistics &statistics) const {
  return options.useRuntimeEstimations &&
         statistics.getFinalExposedNs() <
             -options.extraOverlap * statistics.commNs;
}

/// Says what stands against dragging `candidate` along; true if nothing does.
bool IterativeAlgorithm::mayDrag(unsigned candidate,
                                 MoveStatistics &statistics) const {
  LimitingFactor::Kind limit = LimitingFactor::None;
  if (isNeverDragged(candidate) ||
      (isStart(candidate) && !options.groupWithCollectives))
    limit = LimitingFactor::DataDependency;
  else if (isMatmul(candidate) && !options.useRuntimeEstimations)
    limit = LimitingFactor::MatmulDependency;
  if (limit != LimitingFactor::None)
    statistics.limit = {limit, candidate};
  return limit == LimitingFactor::None;
}

/// Tries to move the group past `candidate`, its neighbour. Returns false, and
/// says why, if that is not possible.
bool IterativeAlgorithm::pass(unsigned candidate, MoveStatistics &statistics) {
  int64_t peakBytes = 0;
  switch (direction == Direction::Left
              ? order.moveLeft(limitBytes, &peakBytes)
              : order.moveRight(limitBytes, &peakBytes)) {
  case MovableOrder::MoveResult::Moved:
    ++statistics.moves;
    return true;
  case MovableOrder::MoveResult::TooManyInFlight:
    statistics.limit = {LimitingFactor::InFlight, candidate};
    return false;
  case MovableOrder::MoveResult::TooManyBytes:
    statistics.limit = {LimitingFactor::PeakMemory, candidate,
                        MovableOrder::none, double(peakBytes),
                        double(initialPeakBytes)};
    return false;
  }
  llvm_unreachable("unknown result of a move");
}

void IterativeAlgorithm::moveNode(MoveStatistics &statistics) {
  bool left = direction == Direction::Left;
  order.beginGroup(statistics.node);
  while (true) {
    unsigned candidate = left ? order.getPrevious(order.getHead())
                              : order.getNext(order.getTail());
    if (candidate == MovableOrder::none)
      break;
    if (!hasStepsLeft()) {
      statistics.limit = {LimitingFactor::StepLimit};
      break;
    }
    if (isHidden(statistics)) {
      statistics.limit = {LimitingFactor::Unexposed};
      break;
    }
    if (left ? order.groupNeeds(candidate) : order.needsGroup(candidate)) {
      if (!mayDrag(candidate, statistics))
        break;
      left ? order.extendLeft() : order.extendRight();
      ++numSteps;
      statistics.grouped.push_back(candidate);
      noteDragged(candidate);
      continue;
    }
    if (!mayPass(candidate, statistics) || !pass(candidate, statistics))
      break;
    notePassed(candidate, statistics);
  }
  order.endGroup();
}

void IterativeAlgorithm::describeOverlap(unsigned start,
                                         MoveStatistics &statistics) const {
  constexpr size_t maxNodes = 4;
  // Compute without a cost, and starts, are passed over, but not endlessly.
  constexpr unsigned maxLooks = 64;
  unsigned looks = 0;
  for (unsigned node = order.getNext(start);
       node != statistics.stop && node != MovableOrder::none;
       node = order.getNext(node)) {
    bool counts = !isStart(node) && time.getRuntime(node) > 0;
    if (++looks > maxLooks ||
        (counts && statistics.overlapped.size() == maxNodes)) {
      statistics.hasMoreOverlapped = true;
      return;
    }
    if (counts)
      statistics.overlapped.push_back(node);
  }
}

IterativeResult
IterativeAlgorithm::finish(std::vector<MoveStatistics> statistics) const {
  return {order.getOrder(), std::move(statistics), initialPeakBytes,
          order.getPeakBytes()};
}

static std::string getUs(double ns) { return formatv("{0:f3}", ns / 1000); }

static std::string describe(const MoveStatistics &statistics,
                            NameFunction name) {
  const LimitingFactor &limit = statistics.limit;
  std::string candidate =
      limit.node == MovableOrder::none ? "" : name(limit.node);
  switch (limit.kind) {
  case LimitingFactor::None:
    return "None";
  case LimitingFactor::CollectiveOrdering:
    return "collective ordering: " + candidate;
  case LimitingFactor::DataDependency:
    return "data dependency: " + candidate + " communicates";
  case LimitingFactor::MatmulDependency:
    return "data dependency: " + candidate + " may be a matmul";
  case LimitingFactor::Unexposed:
    return "unexposed by runtime estimations";
  case LimitingFactor::ExposedGroup:
    return formatv("{0} would expose {1}: {2} ns, before {3} ns", candidate,
                   limit.member == MovableOrder::none ? "more"
                                                      : name(limit.member),
                   uint64_t(limit.newValue), uint64_t(limit.oldValue));
  case LimitingFactor::ExposedCandidate:
    return formatv("{0} would be exposed: {1} ns, before {2} ns", candidate,
                   uint64_t(limit.newValue), uint64_t(limit.oldValue));
  case LimitingFactor::PeakMemory:
    return formatv("peak memory new: {0} vs base: {1}",
                   uint64_t(limit.newValue), uint64_t(limit.oldValue));
  case LimitingFactor::InFlight:
    return "operations in flight: " + candidate;
  case LimitingFactor::StepLimit:
    return "limit of steps";
  }
  llvm_unreachable("unknown limiting factor");
}

static std::string describeOverlap(const MoveStatistics &statistics,
                                   NameFunction name) {
  std::string text;
  raw_string_ostream os(text);
  interleave(
      statistics.overlapped, os, [&](unsigned node) { os << name(node); }, "+");
  if (statistics.hasMoreOverlapped)
    os << "+...";
  os << "->"
     << (statistics.stop == MovableOrder::none ? "end" : name(statistics.stop));
  return text;
}

void braid::printStatistics(const IterativeResult &result, StringRef title,
                            NameFunction name, raw_ostream &os) {
  std::vector<SmallVector<std::string, 11>> rows;
  rows.push_back({title.str(), "comm_time(us)", "comp_time(us)",
                  "initial exposed(us)", "final exposed(us)", "improvement(us)",
                  "limiting factor", "moves", "grouped", "grouped_info",
                  "overlap_info"});
  double improvementNs = 0;
  uint64_t numMoves = 0;
  for (const MoveStatistics &statistics : result.statistics) {
    double initialNs = statistics.getInitialExposedNs();
    double finalNs = statistics.getFinalExposedNs();
    improvementNs += initialNs - finalNs;
    numMoves += statistics.moves;
    rows.push_back({name(statistics.node), getUs(statistics.commNs),
                    getUs(statistics.finalCompNs), getUs(initialNs),
                    getUs(finalNs), getUs(initialNs - finalNs),
                    describe(statistics, name), utostr(statistics.moves),
                    utostr(statistics.grouped.size()),
                    join(map_range(statistics.grouped, name), " "),
                    describeOverlap(statistics, name)});
  }

  os << formatv("improved overlap by {0:f0} ns after {1} reorders\n",
                improvementNs, numMoves)
     << "peak_memory_before: " << result.initialPeakBytes
     << ", peak_memory_after: " << result.finalPeakBytes << "\n";
  SmallVector<size_t, 11> widths(rows.front().size(), 0);
  for (const auto &row : rows)
    for (auto [width, cell] : zip_equal(widths, row))
      width = std::max(width, cell.size());
  for (const auto &row : rows) {
    for (auto [index, cell] : enumerate(row)) {
      bool isLast = index + 1 == row.size();
      os << (index ? " | " : "");
      if (isLast)
        os << cell;
      else
        os << left_justify(cell, widths[index]);
    }
    os << "\n";
  }
}
