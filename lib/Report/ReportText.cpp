//===- ReportText.cpp - Reports as text -----------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Report/Report.h"

#include "ReportFormat.h"
#include "SortByTime.h"
#include "braid/Support/Units.h"

#include "braid/Support/Text.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace braid;
using llvm::raw_ostream;
using llvm::StringRef;

static void printNodes(const std::vector<ReportedNode> &nodes, unsigned indent,
                       raw_ostream &os);

static void printTotals(const TimelineTotals &totals, unsigned indent,
                        raw_ostream &os) {
  os.indent(indent) << "compute " << totals.computeNs << " ns, communication "
                    << totals.communicationNs << " ns, exposed "
                    << totals.exposedNs << " ns, lower bound "
                    << totals.lowerBoundNs << " ns, peak memory "
                    << totals.peakBytes << " bytes\n";
}

static void printNode(const ReportedNode &node, size_t number, unsigned indent,
                      raw_ostream &os) {
  const SimulatedTimes &times = node.times;
  os.indent(indent) << (node.hidden ? "| " : "") << number << ": " << node.op;
  if (!node.label.empty())
    os << " \"" << escapeControls(node.label) << "\"";
  if (!node.type.empty())
    os << " " << node.type;
  switch (node.role) {
  case StreamRole::Compute:
    os << ", " << node.costNs << " ns (" << node.costSource << "), "
       << times.startNs << " to " << times.endNs << "\n";
    break;
  case StreamRole::Start:
    os << ", " << node.costNs << " ns (" << node.costSource << "), runs on "
       << escapeControls(node.lane) << " " << times.startNs << " to "
       << times.endNs << "\n";
    break;
  case StreamRole::Wait:
    os << ", holds the stream for " << times.endNs - times.startNs << " ns, "
       << times.startNs << " to " << times.endNs << "\n";
    break;
  }
  for (const ReportedBody &body : node.bodies) {
    os.indent(indent + 4) << "region " << body.regionNumber << ", "
                          << body.tripCount
                          << (body.tripCount == 1 ? " time: " : " times: ")
                          << body.totals.makespanNs << " ns each\n";
    printNodes(body.nodes, indent + 4, os);
  }
}

static void printNodes(const std::vector<ReportedNode> &nodes, unsigned indent,
                       raw_ostream &os) {
  for (auto [number, node] : llvm::enumerate(nodes))
    printNode(node, number, indent, os);
}

/// Prints the excess if `function` exceeds the memory limit.
static void printExcess(const Report &report, const ReportedFunction &function,
                        raw_ostream &os) {
  int64_t excess = report.getExcessBytes(function.totals);
  if (excess == 0)
    return;
  int64_t limit = *report.getMemoryLimit();
  os << "MEMORY LIMIT EXCEEDED: the peak is " << excess << " bytes above the "
     << report.getMemoryLimitName() << " of " << limit << " bytes";
  if (std::vector<MemoryExcessInterval> intervals =
          getMemoryExcess(function, limit);
      !intervals.empty())
    os << ", first at " << intervals.front().startNs << " ns";
  os << "\n";
}

static void printTimeline(const Report &report,
                          const ReportedFunction &function, StringRef when,
                          raw_ostream &os) {
  os << "==== Timeline of @" << escapeControls(function.name) << when
     << " ====\n";
  printNodes(function.nodes, 0, os);
  os << llvm::formatv("Est. runtime (ms): {0:F6}\n",
                      static_cast<double>(function.totals.makespanNs) / 1e6);
  printTotals(function.totals, 0, os);
  printExcess(report, function, os);
  // The hidden fraction and the gap, if there is communication to hide.
  if (function.hiddenFraction) {
    os << "hidden " << formatPercent(*function.hiddenFraction)
       << " of the time with communication";
    if (std::optional<double> gap = getGap(function.totals))
      os << ", " << formatPercent(*gap) << " above the lower bound";
    if (!function.lowerBoundKind.empty())
      os << " (" << function.lowerBoundKind << ")";
    os << "\n";
  }
  os << "\n";
}

/// Prints rows of cells with columns of equal width. The first columns are
/// left-aligned, columns of numbers right-aligned.
static void printTable(const std::vector<std::vector<std::string>> &rows,
                       size_t numTextColumns, raw_ostream &os) {
  std::vector<size_t> widths(rows.front().size());
  for (const std::vector<std::string> &row : rows)
    for (auto [index, cell] : llvm::enumerate(row))
      widths[index] = std::max(widths[index], cell.size());
  for (const std::vector<std::string> &row : rows) {
    std::string line;
    llvm::raw_string_ostream lineStream(line);
    for (auto [index, cell] : llvm::enumerate(row)) {
      if (index > 0)
        lineStream << "  ";
      if (index < numTextColumns)
        lineStream << llvm::left_justify(cell, widths[index]);
      else
        lineStream << llvm::right_justify(cell, widths[index]);
    }
    os << StringRef(line).rtrim() << "\n";
  }
}

static std::string getCollectiveLabel(const ReportedNode &node) {
  return node.label.empty() ? "-" : escapeControls(node.label);
}

static void printCollectives(const ReportedFunction &function,
                             const ReportedProgram *before, raw_ostream &os) {
  std::vector<ReportedCollective> collectives =
      listCollectives(function, before);
  if (collectives.empty())
    return;
  os << "==== Collectives of @" << escapeControls(function.name) << " ====\n";
  std::vector<std::vector<std::string>> rows = {
      {"collective", "kind", "group", "ranks", "bytes", "runs", "cost ns"}};
  if (before)
    rows.front().insert(rows.front().end(),
                        {"exposed before ns", "exposed after ns"});
  else
    rows.front().push_back("exposed ns");

  int64_t costNs = 0, exposedNs = 0;
  for (const ReportedCollective &collective : collectives) {
    const ReportedNode &node = *collective.node;
    rows.push_back({getCollectiveLabel(node), node.kind,
                    node.group.empty() ? "-" : "@" + escapeControls(node.group),
                    std::to_string(node.groupSize), std::to_string(node.bytes),
                    std::to_string(collective.runs),
                    std::to_string(node.costNs)});
    if (before)
      rows.back().push_back(collective.exposedBeforeNs
                                ? std::to_string(*collective.exposedBeforeNs)
                                : "-");
    rows.back().push_back(std::to_string(collective.exposedNs));
    costNs = addNs(costNs, multiplyNs(node.costNs, collective.runs));
    exposedNs = addNs(exposedNs, collective.exposedNs);
  }
  rows.push_back({"total", "", "", "", "", "", std::to_string(costNs)});
  if (before) {
    // The total before passes includes collectives that passes have merged.
    const ReportedFunction *earlier = findFunction(*before, function.name);
    rows.back().push_back(earlier ? std::to_string(earlier->totals.exposedNs)
                                  : "-");
  }
  rows.back().push_back(std::to_string(exposedNs));
  printTable(rows, /*numTextColumns=*/3, os);
  os << "\n";
}

/// Prints the reasons of exposed collectives, the longest exposed time first.
static void printReasons(const ReportedFunction &function, raw_ostream &os) {
  std::vector<ReportedCollective> exposed;
  for (const ReportedCollective &collective : listCollectives(function))
    if (collective.exposedNs > 0 && !collective.node->reason.empty())
      exposed.push_back(collective);
  if (exposed.empty())
    return;
  sortByTime(exposed, [](const ReportedCollective &collective) {
    return -collective.exposedNs;
  });
  os << "==== Why exposed, @" << escapeControls(function.name) << " ====\n";
  std::vector<std::vector<std::string>> rows = {
      {"collective", "exposed ns", "reason"}};
  for (const ReportedCollective &collective : exposed)
    rows.push_back({getCollectiveLabel(*collective.node),
                    std::to_string(collective.exposedNs),
                    escapeControls(collective.node->reason)});
  printTable(rows, /*numTextColumns=*/3, os);
  os << "\n";
}

void braid::printText(const Report &report, raw_ostream &os) {
  os << "comm-report: machine " << escapeControls(report.machine)
     << ", collective model " << report.collectiveModel << ", " << report.ranks
     << " ranks, dynamic size " << report.dynamicSize;
  if (report.maxMemory)
    os << ", max-memory " << *report.maxMemory << " bytes";
  os << "\n";
  if (report.before)
    os << "passes: " << escapeControls(report.passes) << "\n";
  if (report.before || !report.reorderedSums.empty())
    os << "numerics: " << escapeControls(describeNumerics(report)) << "\n";
  os << "\n";
  if (report.comparison)
    printComparisonText(*report.comparison, os);
  if (report.before)
    for (const ReportedFunction &function : *report.before)
      printTimeline(report, function, " before", os);
  for (const ReportedFunction &function : report.after) {
    printTimeline(report, function, report.before ? " after" : "", os);
    printCollectives(function, report.before ? &*report.before : nullptr, os);
    printReasons(function, os);
  }
}
