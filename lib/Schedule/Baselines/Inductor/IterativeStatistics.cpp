//===- IterativeStatistics.cpp - The table of the iterative algorithms ----===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/Baselines/Inductor/IterativeOverlap.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace braid;
using namespace llvm;

using NameFunction = function_ref<std::string(unsigned)>;

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
