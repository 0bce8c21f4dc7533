//===- TraceWriter.cpp - Traces for viewers and tools ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Report/TraceWriter.h"

#include <nlohmann/json.hpp>

#include <cctype>
#include <utility>

using namespace braid;
using nlohmann::ordered_json;

/// The spelling of NCCL's names: `AllReduce` for `all_reduce`.
static std::string toCamelCase(const std::string &name) {
  std::string result;
  bool isFirst = true;
  for (char c : name) {
    if (c != '_')
      result +=
          isFirst
              ? static_cast<char>(std::toupper(static_cast<unsigned char>(c)))
              : c;
    isFirst = c == '_';
  }
  return result;
}

/// The second text of the pair with `name`, or `name`.
template <size_t count>
static std::string
lookUp(const std::string &name,
       const std::pair<const char *, const char *> (&names)[count]) {
  for (auto [ours, theirs] : names)
    if (name == ours)
      return theirs;
  return name;
}

/// Names of PyTorch's process groups.
static constexpr std::pair<const char *, const char *> collectiveNames[] = {
    {"all_reduce", "allreduce"},
    {"all_gather", "_allgather_base"},
    {"reduce_scatter", "_reduce_scatter_base"},
    {"all_to_all", "all_to_allv"}};

static constexpr std::pair<const char *, const char *> dtypeNames[] = {
    {"i1", "Bool"},
    {"i8", "Char"},
    {"i16", "Short"},
    {"i32", "Int"},
    {"i64", "Long"},
    {"f16", "Half"},
    {"bf16", "BFloat16"},
    {"f32", "Float"},
    {"f64", "Double"},
    {"complex<f32>", "ComplexFloat"},
    {"complex<f64>", "ComplexDouble"},
    {"f8E4M3FN", "Float8_e4m3fn"},
    {"f8E5M2", "Float8_e5m2"}};

std::string TracedCollective::getEventName() const {
  std::string name = "ncclDevKernel_" + toCamelCase(kind);
  if (!reduction.empty())
    name += "_" + toCamelCase(reduction) + "_" + elementType;
  return label.empty() ? name : name + "(" + label + ")";
}

void TracedCollective::appendTo(ordered_json &args) const {
  args.update({{"Collective name", lookUp(kind, collectiveNames)},
               {"dtype", lookUp(elementType, dtypeNames)},
               {"In msg nelems", inputElements},
               {"Out msg nelems", outputElements},
               {"Group size", groupSize},
               {"Process Group Name", group},
               {"Process Group Ranks", ranks},
               {"Rank", rank},
               {"Seq", sequence},
               {"bytes", bytes}});
}

/// Names of programs may be no UTF-8.
static std::string print(const ordered_json &value, int indent = -1) {
  return value.dump(indent, ' ', /*ensure_ascii=*/false,
                    ordered_json::error_handler_t::replace);
}

void TraceWriter::add(const ordered_json &event) {
  events += (events.empty() ? "" : ",\n") + print(event);
}

void TraceWriter::describe(int64_t process, int64_t row,
                           const std::string &property, const std::string &key,
                           const ordered_json &value) {
  add({{"name", property},
       {"ph", "M"},
       {"ts", 0.0},
       {"pid", process},
       {"tid", row},
       {"args", {{key, value}}}});
}

void TraceWriter::addSlice(int64_t process, int64_t row,
                           const std::string &category, const std::string &name,
                           int64_t startNs, int64_t durationNs,
                           const ordered_json &args) {
  ordered_json event = {{"ph", "X"},
                        {"cat", category},
                        {"name", name},
                        {"pid", process},
                        {"tid", row},
                        {"ts", toTraceTime(startNs)},
                        {"dur", toTraceTime(durationNs)}};
  if (!args.empty())
    event["args"] = args;
  add(event);
}

void TraceWriter::addBytes(int64_t process, const std::string &counter,
                           int64_t ns, int64_t bytes) {
  add({{"ph", "C"},
       {"name", counter},
       {"pid", process},
       {"tid", programRow},
       {"ts", toTraceTime(ns)},
       {"args", {{"bytes", bytes}}}});
}

void TraceWriter::addArrowEnd(int64_t id, bool isStart, int64_t process,
                              int64_t row, int64_t ns) {
  ordered_json event = {{"ph", isStart ? "s" : "f"},
                        {"id", id},
                        {"pid", process},
                        {"tid", row},
                        {"ts", toTraceTime(ns)},
                        {"cat", "awaits"},
                        {"name", "awaits"}};
  if (!isStart)
    event["bp"] = "e";
  add(event);
}

std::string TraceWriter::finish(ordered_json head) const {
  head["traceEvents"] = ordered_json::array();
  std::string text = print(head, /*indent=*/1);
  return text.insert(text.rfind(']'), "\n" + events + "\n ") + "\n";
}
