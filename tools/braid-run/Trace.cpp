//===- Trace.cpp - Chrome traces of a run -----------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runner.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>

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

void Runner::writeTrace(const std::string &file) const {
  std::vector<std::string> lines;
  int64_t originNs = INT64_MAX;
  for (int32_t rank = 0; rank < ranks; ++rank) {
    int64_t count = 0;
    const braid_rt_event *events =
        braid_rt_trace(braid_rt_world_context(world.get(), rank), &count);
    for (int64_t i = 0; i < count; ++i)
      originNs = std::min(originNs, events[i].beginNs);
  }
  for (int32_t rank = 0; rank < ranks; ++rank) {
    int64_t count = 0;
    const braid_rt_event *events =
        braid_rt_trace(braid_rt_world_context(world.get(), rank), &count);
    lines.push_back(
        nameRow("process_name", rank, 0, "rank " + std::to_string(rank)));
    lines.push_back(nameRow("thread_name", rank, 0, "program"));
    std::map<std::string, int> laneRows;
    for (int64_t i = 0; i < count; ++i) {
      const braid_rt_event &event = events[i];
      int row = 0;
      std::string name = event.name;
      const char *category = "collective";
      if (event.category == BRAID_RT_EVENT_COLLECTIVE) {
        auto [it, isNew] =
            laneRows.emplace(event.lane, static_cast<int>(laneRows.size()) + 1);
        row = it->second;
        if (isNew)
          lines.push_back(nameRow("thread_name", rank, row,
                                  std::string("lane @") + event.lane));
      } else {
        bool isStart = event.category == BRAID_RT_EVENT_START;
        category = isStart ? "start" : "wait";
        name = std::string(category) + " " + name;
      }
      std::string where = event.site.file
                              ? std::string(event.site.file) + ":" +
                                    std::to_string(event.site.line) + ":" +
                                    std::to_string(event.site.column)
                              : "";
      lines.push_back("{\"name\": " + quoted(name) + ", \"cat\": \"" +
                      category + "\", \"ph\": \"X\", \"ts\": " +
                      microseconds(event.beginNs - originNs) + ", \"dur\": " +
                      microseconds(event.endNs - event.beginNs) +
                      ", \"pid\": " + std::to_string(rank) +
                      ", \"tid\": " + std::to_string(row) +
                      ", \"args\": {\"operation\": " + quoted(event.signature) +
                      ", \"bytes\": " + std::to_string(event.bytes) +
                      ", \"sequence\": " + std::to_string(event.sequence) +
                      ", \"site\": " + quoted(where) + "}}");
    }
  }
  std::ofstream stream(file, std::ios::trunc);
  stream << "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n";
  for (size_t i = 0; i < lines.size(); ++i)
    stream << lines[i] << (i + 1 < lines.size() ? ",\n" : "\n");
  stream << "]}\n";
  stream.close();
  if (!stream)
    throw RunError("cannot write " + file + ": " + std::strerror(errno));
}
