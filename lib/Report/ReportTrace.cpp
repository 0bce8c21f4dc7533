//===- ReportTrace.cpp - Reports as traces --------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names of fields and values are those of Kineto
// (libkineto/src/output_json.cpp) and of PyTorch's process groups. Holistic
// Trace Analysis counts every event with a `stream` as work of the GPU, and
// every event whose name begins with "nccl" as communication.
//
//===----------------------------------------------------------------------===//

#include "ReportFormat.h"
#include "ReportSlices.h"

#include "braid/Support/Units.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

#include <map>

using namespace braid;
using llvm::StringRef;
using llvm::json::OStream;

/// The most slices that trace viewers show quickly.
static constexpr size_t kMaxTracedSlices = 200000;
/// The number of the compute stream in traces of PyTorch. Lanes follow.
static constexpr int64_t kComputeStream = 7;
/// The track that names functions.
static constexpr int64_t kFunctionTrack = 0;

/// The spelling of NCCL's names: `AllReduce` for `all_reduce`.
static std::string toCamelCase(StringRef name) {
  std::string result;
  bool isFirst = true;
  for (char c : name) {
    if (c == '_') {
      isFirst = true;
      continue;
    }
    result += isFirst ? llvm::toUpper(c) : c;
    isFirst = false;
  }
  return result;
}

/// The name of a collective in PyTorch's process groups.
static StringRef getCollectiveName(StringRef kind) {
  return llvm::StringSwitch<StringRef>(kind)
      .Case("all_reduce", "allreduce")
      .Case("all_gather", "_allgather_base")
      .Case("reduce_scatter", "_reduce_scatter_base")
      .Case("all_to_all", "all_to_allv")
      .Default(kind);
}

/// PyTorch's name of an element type.
static StringRef getDtype(StringRef type) {
  return llvm::StringSwitch<StringRef>(type)
      .Case("f16", "Half")
      .Case("bf16", "BFloat16")
      .Case("f32", "Float")
      .Case("f64", "Double")
      .Case("i1", "Bool")
      .Case("i8", "Char")
      .Case("i16", "Short")
      .Case("i32", "Int")
      .Case("i64", "Long")
      .Case("complex<f32>", "ComplexFloat")
      .Case("complex<f64>", "ComplexDouble")
      .Case("f8E4M3FN", "Float8_e4m3fn")
      .Case("f8E5M2", "Float8_e5m2")
      .Default(type);
}

/// True if trace tools would count a kernel of this name as communication or as
/// a copy.
static bool looksLikeNoCompute(StringRef name) {
  for (StringRef prefix : {"nccl", "hip", "hccl", "Memcpy", "Memset", "dma"})
    if (name.starts_with(prefix))
      return true;
  return name.contains("ncclKernel") || name.contains("Memcpy") ||
         name.contains("Memset");
}

static std::string getEventName(const ReportSlice &slice) {
  const ReportedNode &node = *slice.node;
  switch (slice.kind) {
  case SliceKind::Communication: {
    std::string name = "ncclDevKernel_" + toCamelCase(node.kind);
    if (!node.reduction.empty())
      name += "_" + toCamelCase(node.reduction) + "_" + node.elementType;
    if (!node.label.empty())
      name += "(" + node.label + ")";
    return name;
  }
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
  TracePrinter(const Report &report, OStream &json)
      : report(report), json(json) {}

  void print();

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
  void printMetadata(int64_t pid, int64_t tid, StringRef name, StringRef key,
                     llvm::json::Value value);
  void printTime(StringRef key, int64_t ns);
  int64_t getTid(const ReportTrack &track) const;

  const Report &report;
  OStream &json;
  /// The lanes of all functions, and the stream numbers of their rows.
  std::vector<std::string> lanes;
  std::map<std::pair<std::string, unsigned>, int64_t> tids;
  /// The number of earlier operations of each lane, for `Seq`.
  std::map<std::string, int64_t> sequence;
  int64_t numCorrelations = 0;
  int64_t numFlows = 0;
};
} // namespace

/// Prints nanoseconds as microseconds exactly, because readers compare ends
/// with starts.
void TracePrinter::printTime(StringRef key, int64_t ns) {
  json.attributeBegin(key);
  json.rawValue([&](llvm::raw_ostream &os) {
    os << ns / 1000 << "." << llvm::format("%03d", static_cast<int>(ns % 1000));
  });
  json.attributeEnd();
}

int64_t TracePrinter::getTid(const ReportTrack &track) const {
  return track.isStream ? kComputeStream : tids.at({track.lane, track.row});
}

void TracePrinter::printMetadata(int64_t pid, int64_t tid, StringRef name,
                                 StringRef key, llvm::json::Value value) {
  json.object([&] {
    json.attribute("name", name);
    json.attribute("ph", "M");
    printTime("ts", 0);
    json.attribute("pid", pid);
    json.attribute("tid", tid);
    json.attributeObject("args", [&] { json.attribute(key, value); });
  });
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
  json.object([&] {
    json.attribute("ph", "X");
    json.attribute("cat", category);
    json.attribute("name", getEventName(slice));
    json.attribute("pid", pid);
    json.attribute("tid", tid);
    printTime("ts", addNs(offsetNs, slice.startNs));
    printTime("dur", slice.endNs - slice.startNs);
    json.attributeObject("args", [&] {
      // Tools add up events with a stream, so only kernels of the program after
      // passes have one.
      if (category == "kernel" && pid == 0) {
        json.attribute("device", pid);
        json.attribute("stream", tid);
      }
      json.attribute("correlation",
                     firstCorrelation + static_cast<int64_t>(index));
      if (slice.kind == SliceKind::Communication) {
        json.attribute("Collective name", getCollectiveName(node.kind));
        json.attribute("dtype", getDtype(node.elementType));
        json.attribute("In msg nelems", node.inputElements);
        json.attribute("Out msg nelems", node.outputElements);
        json.attribute("Group size", node.groupSize);
        json.attribute("Process Group Name", node.group);
        json.attribute("Process Group Ranks", node.groupRanks);
        json.attribute("Rank", 0);
        json.attribute("Seq", sequence[node.lane]++);
        json.attribute("bytes", node.bytes);
      }
      json.attribute("label", node.label);
      json.attribute("op", node.op);
      json.attribute("type", node.type);
      json.attribute("cost_ns", node.costNs);
      json.attribute("cost_source", node.costSource);
      if (node.times.lostNs > 0)
        json.attribute("lost_ns", node.times.lostNs);
      if (slice.kind == SliceKind::Body || slice.kind == SliceKind::LeftOut)
        json.attribute("trips", slice.tripCount);
      if (node.role != StreamRole::Start)
        return;
      printTime("issued_us", addNs(offsetNs, slice.issuedNs));
      json.attribute("exposed_ns", node.times.exposedNs);
      if (!node.reason.empty())
        json.attribute("reason", node.reason);
    });
  });
}

void TracePrinter::printFlow(int64_t pid, const SlicedFunction &sliced,
                             const ReportSlice &from, const ReportSlice &to,
                             int64_t offsetNs) {
  int64_t id = ++numFlows;
  // An operation that queues for its lane may begin after its wait. Time must
  // not decrease along arrows.
  int64_t fromNs = addNs(offsetNs, from.startNs);
  int64_t toNs = std::max(fromNs, addNs(offsetNs, to.startNs));
  auto printEnd = [&](StringRef phase, const ReportSlice &slice, int64_t ns) {
    json.object([&] {
      json.attribute("ph", phase);
      json.attribute("id", id);
      json.attribute("pid", pid);
      json.attribute("tid", getTid(sliced.tracks[slice.track]));
      printTime("ts", ns);
      json.attribute("cat", "awaits");
      json.attribute("name", "awaits");
      if (phase == "f")
        json.attribute("bp", "e");
    });
  };
  printEnd("s", from, fromNs);
  printEnd("f", to, toNs);
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
    json.object([&] {
      json.attribute("ph", "X");
      json.attribute("cat", "user_annotation");
      json.attribute("name", "memory limit exceeded");
      json.attribute("pid", pid);
      json.attribute("tid", kFunctionTrack);
      printTime("ts", addNs(offsetNs, interval.startNs));
      printTime("dur", interval.endNs - interval.startNs);
      json.attributeObject("args", [&] {
        json.attribute("limit_bytes", *limit);
        json.attribute("excess_bytes", interval.peakBytes - *limit);
      });
    });
  if (!report.maxMemory && intervals.empty())
    return;
  json.object([&] {
    json.attribute("ph", "C");
    json.attribute("name", "memory limit");
    json.attribute("pid", pid);
    json.attribute("tid", kFunctionTrack);
    printTime("ts", offsetNs);
    json.attributeObject("args", [&] { json.attribute("bytes", *limit); });
  });
}

void TracePrinter::printFunction(int64_t pid, const TracedFunction &traced,
                                 int64_t offsetNs) {
  const ReportedFunction *function = traced.function;
  const SlicedFunction &sliced = traced.sliced;
  json.object([&] {
    json.attribute("ph", "X");
    json.attribute("cat", "user_annotation");
    json.attribute("name", function->name);
    json.attribute("pid", pid);
    json.attribute("tid", kFunctionTrack);
    printTime("ts", offsetNs);
    printTime("dur", function->totals.makespanNs);
  });
  printMemoryExcess(pid, *function, offsetNs);
  int64_t firstCorrelation = numCorrelations + 1;
  numCorrelations += static_cast<int64_t>(sliced.slices.size());
  for (size_t index : llvm::seq(sliced.slices.size()))
    printSlice(pid, sliced, index, firstCorrelation, offsetNs);
  for (const ReportSlice &slice : sliced.slices)
    for (unsigned awaited : slice.awaits)
      printFlow(pid, sliced, sliced.slices[awaited], slice, offsetNs);
  for (const MemorySample &sample : function->memoryCurve)
    json.object([&] {
      json.attribute("ph", "C");
      json.attribute("name", "memory");
      json.attribute("pid", pid);
      json.attribute("tid", kFunctionTrack);
      printTime("ts", addNs(offsetNs, sample.ns));
      json.attributeObject("args",
                           [&] { json.attribute("bytes", sample.bytes); });
    });
}

void TracePrinter::printProcess(int64_t pid, StringRef name, int64_t sortIndex,
                                llvm::ArrayRef<TracedFunction> functions) {
  printMetadata(pid, 0, "process_name", "name", name);
  printMetadata(pid, 0, "process_labels", "labels", report.machine);
  printMetadata(pid, 0, "process_sort_index", "sort_index", sortIndex);
  std::map<int64_t, std::string> names;
  for (const TracedFunction &traced : functions)
    for (const ReportTrack &track : traced.sliced.tracks)
      names[getTid(track)] =
          track.isStream ? "compute stream" : "lane " + track.getName();
  printMetadata(pid, kFunctionTrack, "thread_name", "name", "function");
  printMetadata(pid, kFunctionTrack, "thread_sort_index", "sort_index",
                kFunctionTrack);
  for (const auto &[tid, trackName] : names) {
    printMetadata(pid, tid, "thread_name", "name", trackName);
    printMetadata(pid, tid, "thread_sort_index", "sort_index", tid);
  }
}

void TracePrinter::print() {
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
    tids[row] = kComputeStream + 1 + static_cast<int64_t>(tids.size());

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

  json.attributeArray("traceEvents", [&] {
    if (report.before)
      printProcess(1, "before", 0, before);
    printProcess(0, report.before ? "after " + report.passes : "program", 1,
                 after);
    printFunctions(0, after, before);
    sequence.clear();
    printFunctions(1, before, after);
  });
}

void braid::printTrace(const Report &report, llvm::raw_ostream &os) {
  OStream json(os, /*IndentSize=*/1);
  json.object([&] {
    json.attribute("schemaVersion", 1);
    json.attributeArray("deviceProperties", [&] {
      json.object([&] {
        json.attribute("id", 0);
        json.attribute("name", report.machine);
        if (report.deviceMemory)
          json.attribute("totalGlobalMem", *report.deviceMemory);
      });
    });
    json.attributeObject("distributedInfo", [&] {
      json.attribute("backend", "nccl");
      json.attribute("rank", 0);
      json.attribute("world_size", report.ranks);
    });
    json.attribute("displayTimeUnit", "ms");
    json.attribute("baseTimeNanoseconds", 0);
    json.attributeArray("simulatedFunctions", [&] {
      for (const ReportedFunction &function : report.after)
        json.object([&] {
          json.attribute("name", function.name);
          json.attribute("makespan_ns", function.totals.makespanNs);
          json.attribute("exposed_ns", function.totals.exposedNs);
          printFraction(json, "hidden_fraction", function.hiddenFraction);
          json.attribute("peak_bytes", function.totals.peakBytes);
          if (int64_t excess = report.getExcessBytes(function.totals))
            json.attribute("memory_excess_bytes", excess);
        });
    });
    TracePrinter(report, json).print();
  });
  os << "\n";
}
