//===- Trace.cpp - Chrome traces of a run -----------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bytes.h"
#include "Clock.h"
#include "Runner.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <vector>

using namespace braid::run;

static std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof(code), "\\u%04x", c);
      result += code;
    } else {
      result += c;
    }
  }
  return result + '"';
}

static std::string microseconds(int64_t ns) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.3f", static_cast<double>(ns) / 1e3);
  return text;
}

/// A row's name in the viewer.
static std::string nameRow(const char *what, int32_t process, int row,
                           const std::string &name) {
  return "{\"name\": \"" + std::string(what) +
         "\", \"ph\": \"M\", \"pid\": " + std::to_string(process) +
         ", \"tid\": " + std::to_string(row) +
         ", \"args\": {\"name\": " + quoted(name) + "}}";
}

namespace {
/// A braid_rt_event that can travel.
struct Event {
  int32_t rank;
  int32_t category;
  std::string name, signature, lane, where;
  int64_t beginNs, endNs; ///< By the monotonic clock.
  int64_t sequence, bytes;
};
} // namespace

static std::string siteText(const braid_rt_site &site) {
  return site.file ? std::string(site.file) + ":" + std::to_string(site.line) +
                         ":" + std::to_string(site.column)
                   : "";
}

static void writeEvent(ByteWriter &writer, int64_t rank,
                       const braid_rt_event &event, int64_t createdNs) {
  writer.number(rank);
  writer.number(event.category);
  writer.text(event.name);
  writer.text(event.signature);
  writer.text(event.lane);
  writer.text(siteText(event.site));
  writer.number(createdNs + event.beginNs);
  writer.number(createdNs + event.endNs);
  writer.number(event.sequence);
  writer.number(event.bytes);
}

static Event readEvent(ByteReader &reader, const ClockOffset &offset) {
  Event event;
  event.rank = static_cast<int32_t>(reader.number());
  event.category = static_cast<int32_t>(reader.number());
  event.name = reader.text();
  event.signature = reader.text();
  event.lane = reader.text();
  event.where = reader.text();
  event.beginNs = reader.number() + offset.ns;
  event.endNs = reader.number() + offset.ns;
  event.sequence = reader.number();
  event.bytes = reader.number();
  return event;
}

/// The events of this process's ranks.
static std::string ownEvents(const Processes &processes, braid_rt_world *world,
                             const std::vector<braid_rt_context *> &contexts) {
  ByteWriter writer, events;
  int64_t total = 0, createdNs = braid_rt_world_created_ns(world);
  for (size_t i = 0; i < contexts.size(); ++i) {
    int64_t count = 0;
    const braid_rt_event *first = braid_rt_trace(contexts[i], &count);
    for (int64_t k = 0; k < count; ++k)
      writeEvent(events, processes.localRanks()[i], first[k], createdNs);
    total += count;
  }
  writer.number(total);
  writer.bytes += events.bytes;
  return writer.bytes;
}

/// The lines of one rank's events; `originNs` is the time zero.
static void addRank(std::vector<std::string> &lines, int32_t rank,
                    const std::vector<Event> &events, int64_t originNs) {
  lines.push_back(
      nameRow("process_name", rank, 0, "rank " + std::to_string(rank)));
  lines.push_back(nameRow("thread_name", rank, 0, "program"));
  std::map<std::string, int> laneRows;
  for (const Event &event : events) {
    int row = 0;
    std::string name = event.name;
    const char *category = "collective";
    if (event.category == BRAID_RT_EVENT_COLLECTIVE) {
      auto [it, isNew] =
          laneRows.emplace(event.lane, static_cast<int>(laneRows.size()) + 1);
      row = it->second;
      if (isNew)
        lines.push_back(
            nameRow("thread_name", rank, row, "lane @" + event.lane));
    } else {
      bool isStart = event.category == BRAID_RT_EVENT_START;
      category = isStart ? "start" : "wait";
      name = std::string(category) + " " + name;
    }
    lines.push_back(
        "{\"name\": " + quoted(name) + ", \"cat\": \"" + category +
        "\", \"ph\": \"X\", \"ts\": " + microseconds(event.beginNs - originNs) +
        ", \"dur\": " + microseconds(event.endNs - event.beginNs) +
        ", \"pid\": " + std::to_string(rank) +
        ", \"tid\": " + std::to_string(row) +
        ", \"args\": {\"operation\": " + quoted(event.signature) +
        ", \"bytes\": " + std::to_string(event.bytes) +
        ", \"sequence\": " + std::to_string(event.sequence) +
        ", \"site\": " + quoted(event.where) + "}}");
  }
}

void Runner::writeTrace(const std::string &file) const {
  std::vector<ClockOffset> offsets = measureOffsets(processes);
  std::vector<std::string> all =
      processes.exchange(ownEvents(processes, world.get(), contexts()));
  processes.together([&]() {
    if (!processes.isFirst())
      return;
    std::vector<std::vector<Event>> events(processes.worldSize());
    int64_t originNs = INT64_MAX, errorNs = 0;
    for (size_t process = 0; process < all.size(); ++process) {
      ByteReader reader(all[process]);
      errorNs = std::max(errorNs, offsets[process].errorNs);
      for (int64_t count = reader.number(); count > 0; --count) {
        Event event = readEvent(reader, offsets[process]);
        originNs = std::min(originNs, event.beginNs);
        events.at(event.rank).push_back(std::move(event));
      }
    }
    std::vector<std::string> lines;
    for (int32_t rank = 0; rank < processes.worldSize(); ++rank)
      addRank(lines, rank, events[rank], originNs);
    std::ofstream stream(file, std::ios::trunc);
    stream << "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n";
    for (size_t i = 0; i < lines.size(); ++i)
      stream << lines[i] << (i + 1 < lines.size() ? ",\n" : "\n");
    stream << "]}\n";
    stream.close();
    if (!stream)
      throw RunError("cannot write " + file + ": " + std::strerror(errno));
    if (errorNs)
      std::printf("trace: the clocks of the hosts agree to within %s us\n",
                  microseconds(errorNs).c_str());
  });
}
