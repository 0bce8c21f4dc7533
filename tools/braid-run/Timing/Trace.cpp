//===- Trace.cpp - Traces of a run for viewers and tools --------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fields and names are those of Kineto, as in the traces of comm-report
// (lib/Report/ReportTrace.cpp). Holistic Trace Analysis counts every event with
// a `stream` as work of the GPU, and names that begin with "nccl" as
// communication.
//
//===----------------------------------------------------------------------===//

#include "Timing/Trace.h"
#include "Common/Json.h"
#include "Tensors/Arguments.h"
#include "Timing/Figures.h"
#include "braid/Support/OutputFile.h"

#include <cctype>
#include <cstring>
#include <map>
#include <sstream>

using namespace braid::run;

/// The number of the compute stream in traces of PyTorch. Lanes follow.
static constexpr int64_t computeStream = 7;
/// The row of the rank's thread: its invocation, starts and waits.
static constexpr int64_t programRow = 0;

/// The spelling of NCCL's names: `AllReduce` for `all_reduce`.
static std::string toCamelCase(const std::string &name) {
  std::string result;
  bool isFirst = true;
  for (char c : name) {
    if (c == '_') {
      isFirst = true;
      continue;
    }
    result +=
        isFirst ? static_cast<char>(std::toupper(static_cast<unsigned char>(c)))
                : c;
    isFirst = false;
  }
  return result;
}

/// The name of a collective in PyTorch's process groups.
static std::string collectiveName(int32_t kind) {
  switch (kind) {
  case BRAID_RT_ALL_REDUCE:
    return "allreduce";
  case BRAID_RT_ALL_GATHER:
    return "_allgather_base";
  case BRAID_RT_REDUCE_SCATTER:
    return "_reduce_scatter_base";
  case BRAID_RT_ALL_TO_ALL:
    return "all_to_allv";
  default:
    return braid_rt_kind_name(kind);
  }
}

/// PyTorch's name of an element type.
static std::string dtypeName(int32_t dtype) {
  static constexpr const char *names[BRAID_RT_DTYPE_COUNT] = {
      "Bool",          "Char",          "Short",      "Int",    "Long",
      "Half",          "BFloat16",      "Float",      "Double", "ComplexFloat",
      "ComplexDouble", "Float8_e4m3fn", "Float8_e5m2"};
  return dtype >= 0 && dtype < BRAID_RT_DTYPE_COUNT ? names[dtype] : "";
}

/// The label, or an empty text.
static std::string labelOf(const Event &event) {
  return event.kind >= 0 && event.name != braid_rt_kind_name(event.kind)
             ? event.name
             : "";
}

/// `ncclDevKernel_AllReduce_Sum_f32(label)`.
static std::string operationName(const Event &event) {
  std::string name =
      "ncclDevKernel_" + toCamelCase(braid_rt_kind_name(event.kind));
  if (event.reduction >= 0)
    name += "_" + toCamelCase(braid_rt_reduction_name(event.reduction)) + "_" +
            braid_rt_dtype_name(event.dtype);
  std::string label = labelOf(event);
  return label.empty() ? name : name + "(" + label + ")";
}

static std::string rankList(const std::vector<int32_t> &ranks) {
  std::string text = "[";
  for (int32_t rank : ranks)
    text += (text.size() > 1 ? ", " : "") + std::to_string(rank);
  return text + "]";
}

namespace {
/// The events of one rank as lines of JSON.
class RankPrinter {
public:
  /// `isMain`: true for the rank whose streams tools add up.
  RankPrinter(int32_t rank, bool isMain, int64_t originNs,
              std::vector<std::string> &lines)
      : rank(rank), isMain(isMain), originNs(originNs), lines(lines) {}

  void print(const std::vector<Event> &events, bool isHostMemory);

private:
  void metadata(int64_t row, const std::string &name, const std::string &key,
                const std::string &value);
  void slice(const std::string &category, const std::string &name, int64_t row,
             int64_t beginNs, int64_t endNs, JsonObject args);
  void printEvent(const Event &event);
  int64_t rowOf(const Event &event);
  /// The arguments of an event on a stream.
  JsonObject work(int64_t row);

  const int32_t rank;
  const bool isMain;
  const int64_t originNs;
  std::vector<std::string> &lines;
  std::map<std::string, int64_t> rows;
  int64_t correlation = 0;
};
} // namespace

void RankPrinter::metadata(int64_t row, const std::string &name,
                           const std::string &key, const std::string &value) {
  lines.push_back(JsonObject()
                      .text("name", name)
                      .text("ph", "M")
                      .number("pid", rank)
                      .number("tid", row)
                      .raw("args", JsonObject().raw(key, value).str())
                      .str());
}

void RankPrinter::slice(const std::string &category, const std::string &name,
                        int64_t row, int64_t beginNs, int64_t endNs,
                        JsonObject args) {
  lines.push_back(JsonObject()
                      .text("name", name)
                      .text("cat", category)
                      .text("ph", "X")
                      .raw("ts", microseconds(beginNs - originNs))
                      .raw("dur", microseconds(endNs - beginNs))
                      .number("pid", rank)
                      .number("tid", row)
                      .raw("args", args.str())
                      .str());
}

JsonObject RankPrinter::work(int64_t row) {
  JsonObject args;
  if (isMain)
    args.number("device", rank).number("stream", row);
  return args.number("correlation", ++correlation);
}

int64_t RankPrinter::rowOf(const Event &event) {
  if (event.category != BRAID_RT_EVENT_COLLECTIVE)
    return event.category == BRAID_RT_EVENT_KERNEL ||
                   event.category == BRAID_RT_EVENT_COPY
               ? computeStream
               : programRow;
  auto [it, isNew] = rows.emplace(
      event.lane, computeStream + 1 + static_cast<int64_t>(rows.size()));
  if (isNew)
    metadata(it->second, "thread_name", "name", quoted("lane @" + event.lane));
  return it->second;
}

void RankPrinter::printEvent(const Event &event) {
  int64_t row = rowOf(event);
  auto print = [&](const char *category, const std::string &name,
                   JsonObject args) {
    if (!event.where.empty())
      args.text("site", event.where);
    slice(category, name, row, event.beginNs, event.endNs, args);
  };
  switch (event.category) {
  case BRAID_RT_EVENT_COLLECTIVE:
    return print(
        "kernel", operationName(event),
        work(row)
            .text("Collective name", collectiveName(event.kind))
            .text("dtype", dtypeName(event.dtype))
            .number("In msg nelems", event.sourceElements)
            .number("Out msg nelems", event.destinationElements)
            .number("Group size", static_cast<long long>(event.ranks.size()))
            .text("Process Group Name", event.group)
            .text("Process Group Ranks", rankList(event.ranks))
            .number("Rank", rank)
            .number("Seq", event.sequence)
            .text("operation", event.signature)
            .number("bytes", event.bytes)
            .text("label", labelOf(event)));
  case BRAID_RT_EVENT_KERNEL:
    return print("kernel", event.name, work(row));
  case BRAID_RT_EVENT_COPY:
    return print("gpu_memcpy", event.name,
                 work(row).number("bytes", event.bytes));
  case BRAID_RT_EVENT_INVOCATION:
    return print("user_annotation", event.name, JsonObject());
  case BRAID_RT_EVENT_START:
    return print("start", "start " + event.name,
                 JsonObject()
                     .text("operation", event.signature)
                     .number("sequence", event.sequence));
  default:
    return print("wait", "wait " + event.name,
                 JsonObject()
                     .text("operation", event.signature)
                     .number("sequence", event.sequence));
  }
}

void RankPrinter::print(const std::vector<Event> &events, bool isHostMemory) {
  metadata(0, "process_name", "name", quoted("rank " + std::to_string(rank)));
  metadata(0, "process_sort_index", "sort_index", std::to_string(rank));
  metadata(programRow, "thread_name", "name", quoted("program"));
  metadata(computeStream, "thread_name", "name", quoted("compute stream"));
  for (const Event &event : events)
    printEvent(event);
  // Add compute, so that tools find it.
  if (isHostMemory)
    for (const auto &[beginNs, endNs] : computeTimes(events, isHostMemory))
      slice("kernel", "compute", computeStream, beginNs, endNs,
            work(computeStream));
}

/// Writes the given ranks; tools add up the streams of the first one.
static void writeFile(const std::string &file, const Recording &recording,
                      const std::vector<int32_t> &ranks) {
  std::vector<std::string> lines;
  for (int32_t rank : ranks)
    RankPrinter(rank, rank == ranks[0], recording.beginNs(), lines)
        .print(recording.ranks[rank], recording.isHostMemory);
  std::ostringstream stream;
  stream << "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": "
         << ranks[0] << "}],\n \"distributedInfo\": "
         << JsonObject()
                .text("backend", "nccl")
                .number("rank", ranks[0])
                .number("world_size",
                        static_cast<long long>(recording.ranks.size()))
                .str()
         << ",\n \"timing\": "
         << quoted(recording.isHostMemory    ? "host"
                   : recording.hasActivities ? "cupti"
                                             : "events")
         << ",\n \"replaced\": " << toJson(recording.replacements)
         << ",\n \"displayTimeUnit\": \"ms\", \"baseTimeNanoseconds\": 0,\n"
            " \"traceEvents\": [\n";
  for (size_t i = 0; i < lines.size(); ++i)
    stream << lines[i] << (i + 1 < lines.size() ? ",\n" : "\n");
  stream << "]}\n";
  if (std::string error = braid::writeWholeFile(file, stream.str());
      !error.empty())
    throw RunError(error);
}

void braid::run::writeTrace(const std::string &pattern,
                            const Recording &recording,
                            const Processes &processes) {
  bool isEach = pattern.find("{rank}") != std::string::npos;
  processes.together([&]() {
    if (isEach) {
      for (int32_t rank : processes.localRanks())
        writeFile(expandPattern(pattern, "rank", rank), recording, {rank});
      return;
    }
    if (!processes.isFirst())
      return;
    std::vector<int32_t> all;
    for (int32_t rank = 0; rank < processes.worldSize(); ++rank)
      all.push_back(rank);
    writeFile(pattern, recording, all);
  });
  if (processes.isFirst() && recording.clockErrorNs)
    std::printf("trace: the clocks of the hosts agree to within %s us\n",
                microseconds(recording.clockErrorNs).c_str());
}
