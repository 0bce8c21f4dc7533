//===- ReportTrace.cpp - Reports as traces --------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReportFormat.h"
#include "ReportSlices.h"

#include "braid/Report/TraceWriter.h"
#include "braid/Support/Units.h"
#include "llvm/ADT/STLExtras.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <map>

using namespace braid;
using llvm::StringRef;
using nlohmann::ordered_json;

/// The most slices that trace viewers show quickly.
static constexpr size_t kMaxTracedSlices = 200000;
/// True if trace tools would count a kernel of this name as communication or as
/// a copy.
static bool looksLikeNoCompute(StringRef name) {
  for (StringRef prefix : {"nccl", "hip", "hccl", "Memcpy", "Memset", "dma"})
    if (name.starts_with(prefix))
      return true;
  return name.contains("ncclKernel") || name.contains("Memcpy") ||
         name.contains("Memset");
}

static TracedCollective describeCollective(const ReportedNode &node) {
  return {node.kind,          node.reduction,
          node.elementType,   node.label,
          node.inputElements, node.outputElements,
          node.group,         node.groupRanks,
          node.groupSize,
          /*rank=*/0,
          /*sequence=*/0,     static_cast<int64_t>(node.bytes)};
}

static std::string getEventName(const ReportSlice &slice) {
  const ReportedNode &node = *slice.node;
  switch (slice.kind) {
  case SliceKind::Communication:
    return describeCollective(node).getEventName();
  case SliceKind::Wait:
    return node.label.empty() ? "wait" : "wait " + node.label;
  case SliceKind::LeftOut:
    return std::to_string(slice.tripCount) + " more trips";
  case SliceKind::Compute:
  case SliceKind::SideCompute:
  case SliceKind::Body:
    break;
  }
  StringRef name = getDisplayName(node);
  return looksLikeNoCompute(name) ? node.op + " " + name.str() : name.str();
}

/// The category of a slice in process `pid`. Tools add up the GPU annotations
/// of all processes, so only the program after passes has them.
static StringRef getCategory(SliceKind kind, int64_t pid) {
  switch (kind) {
  case SliceKind::Compute:
  case SliceKind::SideCompute:
  case SliceKind::Communication:
    return "kernel";
  case SliceKind::Wait:
    return "cuda_sync";
  case SliceKind::Body:
  case SliceKind::LeftOut:
    return pid == 0 ? "gpu_user_annotation" : "user_annotation";
  }
  llvm_unreachable("unknown kind of slice");
}

namespace {
/// A function of the trace, cut into slices.
struct TracedFunction {
  const ReportedFunction *function;
  SlicedFunction sliced;
};

class TracePrinter {
public:
  explicit TracePrinter(const Report &report) : report(report) {}

  std::string print();

private:
  std::vector<TracedFunction> trace(const ReportedProgram &program);
  void printProcess(int64_t pid, StringRef name, int64_t sortIndex,
                    llvm::ArrayRef<TracedFunction> functions);
  void printFunction(int64_t pid, const TracedFunction &traced,
                     int64_t offsetNs);
  void printMemoryExcess(int64_t pid, const ReportedFunction &function,
                         int64_t offsetNs);
  void printSlice(int64_t pid, const SlicedFunction &sliced, size_t index,
                  int64_t firstCorrelation, int64_t offsetNs);
  void printFlow(int64_t pid, const SlicedFunction &sliced,
                 const ReportSlice &from, const ReportSlice &to,
                 int64_t offsetNs);
  int64_t getTid(const ReportTrack &track) const;

  const Report &report;
  TraceWriter events;
  /// The lanes of all functions, and the stream numbers of their rows.
  std::vector<std::string> lanes;
  std::map<std::pair<std::string, unsigned>, int64_t> tids;
  /// The number of earlier operations of each lane, for `Seq`.
  std::map<std::string, int64_t> sequence;
  int64_t numCorrelations = 0;
  int64_t numFlows = 0;
};
} // namespace

int64_t TracePrinter::getTid(const ReportTrack &track) const {
  return track.isStream ? TraceWriter::computeRow
                        : tids.at({track.lane, track.row});
}

std::vector<TracedFunction>
TracePrinter::trace(const ReportedProgram &program) {
  std::vector<TracedFunction> functions;
  for (size_t index : getEntryFunctions(program)) {
    const ReportedFunction &function = program[index];
    functions.push_back(
        {&function, sliceFunction(program, function, lanes, kMaxTracedSlices)});
  }
  return functions;
}

void TracePrinter::printSlice(int64_t pid, const SlicedFunction &sliced,
                              size_t index, int64_t firstCorrelation,
                              int64_t offsetNs) {
  const ReportSlice &slice = sliced.slices[index];
  const ReportedNode &node = *slice.node;
  int64_t tid = getTid(sliced.tracks[slice.track]);
  StringRef category = getCategory(slice.kind, pid);
  ordered_json args;
  // Tools add up events with a stream, so only kernels of the program after
  // passes have one.
  if (category == "kernel" && pid == 0)
    args.update({{"device", pid}, {"stream", tid}});
  args["correlation"] = firstCorrelation + static_cast<int64_t>(index);
  if (slice.kind == SliceKind::Communication) {
    TracedCollective collective = describeCollective(node);
    collective.sequence = sequence[node.lane]++;
    collective.appendTo(args);
  }
  args.update({{"label", node.label},
               {"op", node.op},
               {"type", node.type},
               {"cost_ns", node.costNs},
               {"cost_source", node.costSource}});
  if (node.times.lostNs > 0)
    args["lost_ns"] = node.times.lostNs;
  if (slice.kind == SliceKind::Body || slice.kind == SliceKind::LeftOut)
    args["trips"] = slice.tripCount;
  if (node.role == StreamRole::Start) {
    args["issued_us"] = toTraceTime(addNs(offsetNs, slice.issuedNs));
    args["exposed_ns"] = node.times.exposedNs;
    if (!node.reason.empty())
      args["reason"] = node.reason;
  }
  events.addSlice(pid, tid, category.str(), getEventName(slice),
                  addNs(offsetNs, slice.startNs), slice.endNs - slice.startNs,
                  args);
}

void TracePrinter::printFlow(int64_t pid, const SlicedFunction &sliced,
                             const ReportSlice &from, const ReportSlice &to,
                             int64_t offsetNs) {
  int64_t id = ++numFlows;
  // An operation that queues for its lane may begin after its wait. Time must
  // not decrease along arrows.
  int64_t fromNs = addNs(offsetNs, from.startNs);
  int64_t toNs = std::max(fromNs, addNs(offsetNs, to.startNs));
  events.addArrowEnd(id, /*isStart=*/true, pid,
                     getTid(sliced.tracks[from.track]), fromNs);
  events.addArrowEnd(id, /*isStart=*/false, pid,
                     getTid(sliced.tracks[to.track]), toNs);
}

/// Prints the limit of the user, and slices for the time above the limit, below
/// the slice of the function.
void TracePrinter::printMemoryExcess(int64_t pid,
                                     const ReportedFunction &function,
                                     int64_t offsetNs) {
  std::optional<int64_t> limit = report.getMemoryLimit();
  if (!limit)
    return;
  std::vector<MemoryExcessInterval> intervals =
      getMemoryExcess(function, *limit);
  for (const MemoryExcessInterval &interval : intervals)
    events.addSlice(pid, TraceWriter::programRow, "user_annotation",
                    "memory limit exceeded", addNs(offsetNs, interval.startNs),
                    interval.endNs - interval.startNs,
                    {{"limit_bytes", *limit},
                     {"excess_bytes", interval.peakBytes - *limit}});
  if (report.maxMemory || !intervals.empty())
    events.addBytes(pid, "memory limit", offsetNs, *limit);
}

void TracePrinter::printFunction(int64_t pid, const TracedFunction &traced,
                                 int64_t offsetNs) {
  const ReportedFunction *function = traced.function;
  const SlicedFunction &sliced = traced.sliced;
  events.addSlice(pid, TraceWriter::programRow, "user_annotation",
                  function->name, offsetNs, function->totals.makespanNs, {});
  printMemoryExcess(pid, *function, offsetNs);
  int64_t firstCorrelation = numCorrelations + 1;
  numCorrelations += static_cast<int64_t>(sliced.slices.size());
  for (size_t index : llvm::seq(sliced.slices.size()))
    printSlice(pid, sliced, index, firstCorrelation, offsetNs);
  for (const ReportSlice &slice : sliced.slices)
    for (unsigned awaited : slice.awaits)
      printFlow(pid, sliced, sliced.slices[awaited], slice, offsetNs);
  for (const MemorySample &sample : function->memoryCurve)
    events.addBytes(pid, "memory", addNs(offsetNs, sample.ns), sample.bytes);
}

void TracePrinter::printProcess(int64_t pid, StringRef name, int64_t sortIndex,
                                llvm::ArrayRef<TracedFunction> functions) {
  events.describe(pid, 0, "process_name", "name", name.str());
  events.describe(pid, 0, "process_labels", "labels", report.machine);
  events.describe(pid, 0, "process_sort_index", "sort_index", sortIndex);
  std::map<int64_t, std::string> names = {
      {TraceWriter::programRow, "function"}};
  for (const TracedFunction &traced : functions)
    for (const ReportTrack &track : traced.sliced.tracks)
      names[getTid(track)] =
          track.isStream ? "compute stream" : "lane " + track.getName();
  for (const auto &[tid, trackName] : names) {
    events.describe(pid, tid, "thread_name", "name", trackName);
    events.describe(pid, tid, "thread_sort_index", "sort_index", tid);
  }
}

std::string TracePrinter::print() {
  if (report.before)
    for (const ReportedFunction &function : *report.before)
      collectLanes(*report.before, function, lanes);
  for (const ReportedFunction &function : report.after)
    collectLanes(report.after, function, lanes);
  std::vector<TracedFunction> before, after = trace(report.after);
  if (report.before)
    before = trace(*report.before);

  // The rows of a lane are adjacent.
  std::map<std::pair<size_t, unsigned>, std::pair<std::string, unsigned>> rows;
  for (const std::vector<TracedFunction> *functions : {&before, &after})
    for (const TracedFunction &traced : *functions)
      for (const ReportTrack &track : traced.sliced.tracks)
        if (!track.isStream)
          rows[{llvm::find(lanes, track.lane) - lanes.begin(), track.row}] = {
              track.lane, track.row};
  for (const auto &[place, row] : rows)
    tids[row] = TraceWriter::computeRow + 1 + static_cast<int64_t>(tids.size());

  // A function begins at the same time in both processes, so each function
  // occupies the time of its slower version.
  auto printFunctions = [&](int64_t pid,
                            llvm::ArrayRef<TracedFunction> functions,
                            llvm::ArrayRef<TracedFunction> others) {
    int64_t offsetNs = 0;
    for (const TracedFunction &traced : functions) {
      printFunction(pid, traced, offsetNs);
      int64_t length = traced.function->totals.makespanNs;
      for (const TracedFunction &other : others)
        if (other.function->name == traced.function->name)
          length = std::max(length, other.function->totals.makespanNs);
      offsetNs = addNs(offsetNs, length);
    }
  };

  if (report.before)
    printProcess(1, "before", 0, before);
  printProcess(0, report.before ? "after " + report.passes : "program", 1,
               after);
  printFunctions(0, after, before);
  sequence.clear();
  printFunctions(1, before, after);

  ordered_json device = {{"id", 0}, {"name", report.machine}};
  if (report.deviceMemory)
    device["totalGlobalMem"] = *report.deviceMemory;
  ordered_json functions = ordered_json::array();
  for (const ReportedFunction &function : report.after) {
    functions.push_back({{"name", function.name},
                         {"makespan_ns", function.totals.makespanNs},
                         {"exposed_ns", function.totals.exposedNs},
                         {"hidden_fraction", nullptr},
                         {"peak_bytes", function.totals.peakBytes}});
    if (function.hiddenFraction)
      functions.back()["hidden_fraction"] =
          std::round(*function.hiddenFraction * 1e6) / 1e6;
    if (int64_t excess = report.getExcessBytes(function.totals))
      functions.back()["memory_excess_bytes"] = excess;
  }
  return events.finish(
      {{"schemaVersion", 1},
       {"deviceProperties", ordered_json::array({device})},
       {"distributedInfo",
        {{"backend", "nccl"}, {"rank", 0}, {"world_size", report.ranks}}},
       {"displayTimeUnit", "ms"},
       {"baseTimeNanoseconds", 0},
       {"simulatedFunctions", functions}});
}

void braid::printTrace(const Report &report, llvm::raw_ostream &os) {
  os << TracePrinter(report).print();
}
