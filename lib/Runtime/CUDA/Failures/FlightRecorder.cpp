//===- FlightRecorder.cpp - The last operations of a rank -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Failures/FlightRecorder.h"
#include "Core/Error.h"

#include <algorithm>
#include <cstdio>

using namespace braid::rt;
using namespace braid::rt::cuda;

int64_t FlightRecorder::start(const Flight &flight, const std::string &lane) {
  ++started;
  Entry &entry = entries[static_cast<size_t>(started) % capacity];
  entry = {flight.call,
           &lane,
           started,
           flight.sequence,
           flight.invocation,
           flight.startedNs,
           0,
           flight.captured};
  return started;
}

void FlightRecorder::finish(int64_t number, int64_t nowNs) {
  Entry &entry = entries[static_cast<size_t>(number) % capacity];
  if (entry.number == number)
    entry.finishedNs = nowNs;
}

template <typename Visit>
void FlightRecorder::forEach(size_t most, Visit visit) const {
  int64_t count = std::min<int64_t>(started, static_cast<int64_t>(most));
  for (int64_t number = started - count + 1; number <= started; ++number)
    visit(entries[static_cast<size_t>(number) % capacity]);
}

/// A text between quotation marks.
static std::string quote(const std::string &text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x",
                    static_cast<unsigned>(static_cast<unsigned char>(c)));
      result += escape;
    } else {
      result += c;
    }
  }
  return result + '"';
}

static const char *stateOf(const FlightRecorder::Entry &entry) {
  if (entry.captured)
    return "recorded";
  return entry.finishedNs ? "finished" : "started";
}

std::string FlightRecorder::toJson(int32_t rank, int32_t worldSize,
                                   const std::string &error) const {
  std::string text =
      "{\n  \"version\": 1,\n  \"rank\": " + std::to_string(rank) +
      ",\n  \"world_size\": " + std::to_string(worldSize) +
      ",\n  \"error\": " + quote(error) + ",\n  \"entries\": [";
  const char *separator = "\n    ";
  forEach(capacity, [&](const Entry &entry) {
    const Operation &operation = entry.call->operation;
    text += separator;
    separator = ",\n    ";
    text += "{\"number\": " + std::to_string(entry.number) +
            ", \"lane\": " + quote(*entry.lane) +
            ", \"sequence\": " + std::to_string(entry.sequence) +
            ", \"invocation\": " + std::to_string(entry.invocation) +
            ", \"operation\": " + quote(operation.signature()) +
            ", \"site\": " + quote(describeSite(operation.site)) +
            ", \"bytes\": " + std::to_string(operation.linkBytes()) +
            ", \"state\": " + quote(stateOf(entry)) +
            ", \"started_ns\": " + std::to_string(entry.startedNs) +
            ", \"finished_ns\": " + std::to_string(entry.finishedNs) + "}";
  });
  return text + "\n  ]\n}\n";
}

std::string FlightRecorder::describeLast(size_t count) const {
  std::string text;
  forEach(count, [&](const Entry &entry) {
    const Operation &operation = entry.call->operation;
    std::string site = describeSite(operation.site);
    text += "\n  number " + std::to_string(entry.number) + ": " +
            operation.signature() + " on @" + *entry.lane + ", number " +
            std::to_string(entry.sequence) + (site.empty() ? "" : ", at ") +
            site + ": " + stateOf(entry);
  });
  return text;
}
