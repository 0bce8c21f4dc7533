//===- MeasuredTrace.cpp - Traces of runs, for comparisons ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MeasuredTrace.h"
#include "SortByTime.h"

#include "Support/JsonFile.h"
#include "braid/Report/TraceWriter.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace braid;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
namespace json = llvm::json;

namespace {
class TraceReader {
public:
  Expected<MeasuredRun> read(const json::Value &file);

private:
  Error readEvent(const json::Object &event, size_t index);

  MeasuredRun run;
  bool hasInvocation = false;
};
} // namespace

static Error fail(const llvm::Twine &found) {
  return llvm::createStringError(
      found + ", expected a trace that braid-run --trace has written");
}

/// A time in us as ns; nothing if `value` is no time.
static std::optional<int64_t> readNs(const json::Value *value) {
  std::optional<double> us = value ? value->getAsNumber() : std::nullopt;
  constexpr double most = 1e15;
  if (!us || !(std::abs(*us) < most))
    return std::nullopt;
  return std::llround(*us * 1e3);
}

Error TraceReader::readEvent(const json::Object &event, size_t index) {
  StringRef category = event.getString("cat").value_or("");
  if (event.getString("ph").value_or("") != "X" ||
      event.getInteger("pid").value_or(-1) != run.rank)
    return Error::success();
  std::optional<int64_t> startNs = readNs(event.get("ts")),
                         durationNs = readNs(event.get("dur"));
  StringRef name = event.getString("name").value_or("");
  if (!startNs || !durationNs || *durationNs < 0 || name.empty())
    return makeJsonError(appendToJsonPath("traceEvents", index),
                         "found an event without a name, a time \"ts\" or a "
                         "duration \"dur\" of at least 0, expected all three");
  MeasuredEvent read{MeasuredKind::Compute, name.str(), *startNs,
                     *startNs + *durationNs};
  if (category == "user_annotation") {
    hasInvocation = true;
    run.function = read.name;
    run.startNs = read.startNs;
    run.endNs = read.endNs;
    return Error::success();
  }
  if (category == "start" || category == "wait") {
    read.kind = category == "start" ? MeasuredKind::Start : MeasuredKind::Wait;
    name.consume_front(category);
    read.name = name.trim().str();
  } else if (category != "kernel") {
    return Error::success();
  } else if (event.getInteger("tid").value_or(0) > TraceWriter::computeRow) {
    const json::Object *args = event.getObject("args");
    StringRef operation = args ? args->getString("operation").value_or("") : "";
    if (operation.empty())
      return makeJsonError(appendToJsonPath("traceEvents", index),
                           "found a collective without a field \"operation\" "
                           "in \"args\", expected one");
    read.kind = MeasuredKind::Collective;
    read.collective = operation.split(' ').first.str();
    read.group = args->getString("Process Group Name").value_or("").str();
    read.elements = args->getInteger("In msg nelems").value_or(0);
    StringRef label = args->getString("label").value_or("");
    read.name = label.empty() ? read.collective : label.str();
  }
  run.events.push_back(std::move(read));
  return Error::success();
}

Expected<MeasuredRun> TraceReader::read(const json::Value &file) {
  const json::Object *root = file.getAsObject();
  const json::Array *events = root ? root->getArray("traceEvents") : nullptr;
  const json::Object *ranks =
      root ? root->getObject("distributedInfo") : nullptr;
  std::optional<int64_t> rank =
      ranks ? ranks->getInteger("rank") : std::nullopt;
  std::optional<StringRef> timing =
      root ? root->getString("timing") : std::nullopt;
  if (!events)
    return fail("no list \"traceEvents\"");
  if (!rank)
    return fail("no field \"distributedInfo.rank\"");
  if (!timing)
    return fail("no field \"timing\"");
  run.rank = *rank;
  run.isHost = *timing == "host";
  for (auto [index, value] : llvm::enumerate(*events)) {
    const json::Object *event = value.getAsObject();
    if (!event)
      return makeJsonError(appendToJsonPath("traceEvents", index),
                           "found " + describeJson(value) +
                               ", expected an event");
    if (Error error = readEvent(*event, index))
      return error;
  }
  if (!hasInvocation)
    return fail("no invocation of rank " + llvm::Twine(run.rank));
  sortByTime(run.events,
             [](const MeasuredEvent &event) { return event.startNs; });
  return std::move(run);
}

Expected<MeasuredRun> braid::readMeasuredRun(StringRef text) {
  Expected<json::Value> file = parseJson(text);
  if (!file)
    return file.takeError();
  return TraceReader().read(*file);
}
