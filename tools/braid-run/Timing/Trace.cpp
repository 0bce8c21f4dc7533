//===- Trace.cpp - Traces of a run for viewers and tools --------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Timing/Trace.h"
#include "Tensors/Arguments.h"
#include "Timing/Figures.h"
#include "braid/Report/TraceWriter.h"
#include "braid/Support/OutputFile.h"

#include <nlohmann/json.hpp>

#include <map>

using namespace braid::run;
using braid::TraceWriter;
using nlohmann::ordered_json;

/// The label, or an empty text.
static std::string labelOf(const Event &event) {
  return event.kind >= 0 && event.name != braid_rt_kind_name(event.kind)
             ? event.name
             : "";
}

static std::string rankList(const std::vector<int32_t> &ranks) {
  std::string text = "[";
  for (int32_t rank : ranks)
    text += (text.size() > 1 ? ", " : "") + std::to_string(rank);
  return text + "]";
}

namespace {
/// Adds the events of one rank to a trace.
class RankPrinter {
public:
  /// `isMain`: true for the rank whose streams tools add up.
  RankPrinter(int32_t rank, bool isMain, int64_t originNs, TraceWriter &trace)
      : rank(rank), isMain(isMain), originNs(originNs), trace(trace) {}

  void print(const std::vector<Event> &events, bool isHostMemory);

private:
  void slice(const char *category, const std::string &name, int64_t row,
             int64_t beginNs, int64_t endNs, const ordered_json &args);
  void printEvent(const Event &event);
  int64_t rowOf(const Event &event);
  /// The arguments of an event on a stream.
  ordered_json work(int64_t row);

  const int32_t rank;
  const bool isMain;
  const int64_t originNs;
  TraceWriter &trace;
  std::map<std::string, int64_t> rows;
  int64_t correlation = 0;
};
} // namespace

void RankPrinter::slice(const char *category, const std::string &name,
                        int64_t row, int64_t beginNs, int64_t endNs,
                        const ordered_json &args) {
  trace.addSlice(rank, row, category, name, beginNs - originNs, endNs - beginNs,
                 args);
}

ordered_json RankPrinter::work(int64_t row) {
  ordered_json args;
  if (isMain)
    args.update({{"device", rank}, {"stream", row}});
  args["correlation"] = ++correlation;
  return args;
}

static braid::TracedCollective toCollective(const Event &event, int32_t rank) {
  bool isReduction = event.reduction >= 0;
  return {braid_rt_kind_name(event.kind),
          isReduction ? braid_rt_reduction_name(event.reduction) : "",
          event.dtype >= 0 ? braid_rt_dtype_name(event.dtype) : "",
          labelOf(event),
          static_cast<uint64_t>(event.sourceElements),
          static_cast<uint64_t>(event.destinationElements),
          event.group,
          rankList(event.ranks),
          static_cast<int64_t>(event.ranks.size()),
          rank,
          event.sequence,
          event.bytes};
}

int64_t RankPrinter::rowOf(const Event &event) {
  if (event.category != BRAID_RT_EVENT_COLLECTIVE)
    return event.category == BRAID_RT_EVENT_KERNEL ||
                   event.category == BRAID_RT_EVENT_COPY
               ? TraceWriter::computeRow
               : TraceWriter::programRow;
  auto [it, isNew] =
      rows.emplace(event.lane, TraceWriter::computeRow + 1 +
                                   static_cast<int64_t>(rows.size()));
  if (isNew)
    trace.describe(rank, it->second, "thread_name", "name",
                   "lane @" + event.lane);
  return it->second;
}

void RankPrinter::printEvent(const Event &event) {
  int64_t row = rowOf(event);
  auto print = [&](const char *category, const std::string &name,
                   ordered_json args) {
    if (!event.where.empty())
      args["site"] = event.where;
    slice(category, name, row, event.beginNs, event.endNs, args);
  };
  ordered_json args;
  switch (event.category) {
  case BRAID_RT_EVENT_COLLECTIVE: {
    braid::TracedCollective collective = toCollective(event, rank);
    args = work(row);
    collective.appendTo(args);
    args.update({{"operation", event.signature}, {"label", collective.label}});
    return print("kernel", collective.getEventName(), args);
  }
  case BRAID_RT_EVENT_KERNEL:
    return print("kernel", event.name, work(row));
  case BRAID_RT_EVENT_COPY:
    args = work(row);
    args["bytes"] = event.bytes;
    return print("gpu_memcpy", event.name, args);
  case BRAID_RT_EVENT_INVOCATION:
    return print("user_annotation", event.name, args);
  default:
    const char *category =
        event.category == BRAID_RT_EVENT_START ? "start" : "wait";
    args = {{"operation", event.signature}, {"sequence", event.sequence}};
    return print(category, std::string(category) + " " + event.name, args);
  }
}

void RankPrinter::print(const std::vector<Event> &events, bool isHostMemory) {
  trace.describe(rank, 0, "process_name", "name",
                 "rank " + std::to_string(rank));
  trace.describe(rank, 0, "process_sort_index", "sort_index", rank);
  trace.describe(rank, TraceWriter::programRow, "thread_name", "name",
                 "program");
  trace.describe(rank, TraceWriter::computeRow, "thread_name", "name",
                 "compute stream");
  for (const Event &event : events)
    printEvent(event);
  // Add compute, so that tools find it.
  if (isHostMemory)
    for (const auto &[beginNs, endNs] : computeTimes(events, isHostMemory))
      slice("kernel", "compute", TraceWriter::computeRow, beginNs, endNs,
            work(TraceWriter::computeRow));
}

nlohmann::ordered_json
braid::run::toJson(const std::vector<Replacement> &replacements) {
  ordered_json list = ordered_json::array();
  for (const Replacement &each : replacements)
    list.push_back({{"resource", each.resource},
                    {"planned", each.planned},
                    {"reason", each.reason},
                    {"used", each.used},
                    {"ranks", each.ranks}});
  return list;
}

/// Writes the given ranks; tools add up the streams of the first one.
static void writeFile(const std::string &file, const Recording &recording,
                      const std::vector<int32_t> &ranks) {
  TraceWriter trace;
  for (int32_t rank : ranks)
    RankPrinter(rank, rank == ranks[0], recording.beginNs(), trace)
        .print(recording.ranks[rank], recording.isHostMemory);
  const char *timing = recording.isHostMemory    ? "host"
                       : recording.hasActivities ? "cupti"
                                                 : "events";
  ordered_json device = {{"id", ranks[0]}};
  std::string text =
      trace.finish({{"schemaVersion", 1},
                    {"deviceProperties", ordered_json::array({device})},
                    {"distributedInfo",
                     {{"backend", "nccl"},
                      {"rank", ranks[0]},
                      {"world_size", recording.ranks.size()}}},
                    {"timing", timing},
                    {"replaced", toJson(recording.replacements)},
                    {"displayTimeUnit", "ms"},
                    {"baseTimeNanoseconds", 0}});
  if (std::string error = braid::writeWholeFile(file, text); !error.empty())
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
    std::printf("trace: the clocks of the hosts agree to within %.3f us\n",
                braid::toTraceTime(recording.clockErrorNs));
}
