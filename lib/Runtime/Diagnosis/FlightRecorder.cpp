//===- FlightRecorder.cpp - The last operations of a rank -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Diagnosis/FlightRecorder.h"
#include "Base/Bytes.h"
#include "Base/Error.h"
#include "Base/JsonText.h"
#include "Operations/Messages.h"
#include "braid/Support/OutputFile.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <sys/stat.h>

using namespace braid::rt;

//===----------------------------------------------------------------------===//
// Recording
//===----------------------------------------------------------------------===//

void FlightRecorder::beginInvocation() {
  std::lock_guard<std::mutex> lock(mutex);
  ++begun;
  error.clear();
}

void FlightRecorder::endInvocation() {
  std::lock_guard<std::mutex> lock(mutex);
  ended = begun;
}

void FlightRecorder::fail(const std::string &message) {
  std::lock_guard<std::mutex> lock(mutex);
  error = message;
}

int64_t FlightRecorder::start(Start start) {
  const Operation &operation = start.call->operation;
  int64_t queue = -1;
  if (operation.isPointToPoint())
    queue = 2 * operation.peer + (operation.kind == BRAID_RT_SEND);
  std::lock_guard<std::mutex> lock(mutex);
  if (!start.sequence)
    start.sequence = ++countOf({start.communicator, queue});
  ++started;
  Entry &entry = entries[static_cast<size_t>(started) % capacity];
  entry.number = started;
  entry.invocation = begun;
  entry.startedNs.store(start.startedNs, std::memory_order_relaxed);
  entry.finishedNs.store(0, std::memory_order_relaxed);
  entry.state.store(start.captured ? State::Recorded : State::Started,
                    std::memory_order_relaxed);
  entry.start = std::move(start);
  return started;
}

int64_t &FlightRecorder::countOf(const CountKey &key) {
  if (!lastCount || lastCount->first != key)
    lastCount = &*counts.try_emplace(key).first;
  return lastCount->second;
}

FlightRecorder::Entry *FlightRecorder::find(int64_t number) {
  Entry &entry = entries[static_cast<size_t>(number) % capacity];
  return entry.number == number ? &entry : nullptr;
}

void FlightRecorder::setStarted(int64_t number, int64_t nowNs) {
  if (Entry *entry = find(number))
    entry->startedNs.store(nowNs, std::memory_order_relaxed);
}

void FlightRecorder::await(int64_t number) {
  Entry *entry = find(number);
  if (entry && entry->state.load(std::memory_order_relaxed) == State::Started)
    entry->state.store(State::Awaited, std::memory_order_relaxed);
}

void FlightRecorder::finish(int64_t number, int64_t nowNs) {
  Entry *entry = find(number);
  if (!entry || entry->state.load(std::memory_order_relaxed) == State::Recorded)
    return;
  entry->finishedNs.store(nowNs, std::memory_order_relaxed);
  entry->state.store(State::Finished, std::memory_order_relaxed);
}

void FlightRecorder::refuse(int64_t number) {
  if (Entry *entry = find(number))
    entry->state.store(State::Refused, std::memory_order_relaxed);
}

void FlightRecorder::clear() {
  std::lock_guard<std::mutex> lock(mutex);
  for (Entry &entry : entries) {
    entry.start = {};
    entry.number = 0;
  }
  counts.clear();
  lastCount = nullptr;
  started = begun = ended = 0;
  error.clear();
}

template <typename Visit>
void FlightRecorder::forEach(size_t most, Visit visit) const {
  int64_t count = std::min<int64_t>(started, static_cast<int64_t>(most));
  for (int64_t number = started - count + 1; number <= started; ++number)
    visit(entries[static_cast<size_t>(number) % capacity]);
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

/// 64 bits, which numbers in JSON do not have.
static std::string quoteHash(uint64_t hash) {
  char digits[24];
  std::snprintf(digits, sizeof(digits), "\"%016" PRIx64 "\"", hash);
  return digits;
}

const char *FlightRecorder::nameOf(State state) {
  static constexpr const char *names[] = {"started", "awaited", "finished",
                                          "recorded", "refused"};
  return names[static_cast<int>(state)];
}

std::string FlightRecorder::toJson(const Entry &entry, size_t group) {
  const Operation &operation = entry.start.call->operation;
  std::string text =
      "{\"number\": " + std::to_string(entry.number) + ", \"lane\": " +
      quoted(describeLane(*entry.start.communicator, operation)) +
      ", \"group\": " + std::to_string(group) +
      ", \"sequence\": " + std::to_string(entry.start.sequence) +
      ", \"invocation\": " + std::to_string(entry.invocation) +
      ", \"operation\": " + quoted(operation.signature()) +
      ", \"fingerprint\": " + quoteHash(entry.start.call->fingerprint) +
      ", \"site\": " + quoted(describeSite(operation.site)) +
      ", \"bytes\": " + std::to_string(operation.linkBytes());
  if (operation.isPointToPoint()) {
    const CommunicatorSpec &spec = *entry.start.communicator;
    int32_t own = spec.ranks[static_cast<size_t>(spec.index)];
    int32_t peer = spec.ranks[static_cast<size_t>(operation.peer)];
    bool sends = operation.kind == BRAID_RT_SEND;
    text += ", \"from\": " + std::to_string(sends ? own : peer) +
            ", \"to\": " + std::to_string(sends ? peer : own);
  }
  return text + ", \"state\": " + quoted(nameOf(entry.state)) +
         ", \"started_ns\": " + std::to_string(entry.startedNs) +
         ", \"finished_ns\": " + std::to_string(entry.finishedNs) + "}";
}

std::string FlightRecorder::toJson(int32_t rank, int32_t worldSize,
                                   const std::string &reason) const {
  std::lock_guard<std::mutex> lock(mutex);
  Groups numbers;
  std::string groups, records;
  forEach(capacity, [&](const Entry &entry) {
    const CommunicatorSpec &spec = *entry.start.communicator;
    auto [found, isNew] = numbers.emplace(&spec, numbers.size());
    if (isNew) {
      std::string ranks;
      for (int32_t member : spec.ranks)
        ranks += (ranks.empty() ? "" : ", ") + std::to_string(member);
      groups += std::string(groups.empty() ? "" : ",") +
                "\n    {\"name\": " + quoted(spec.name) +
                ", \"key\": " + quoteHash(hashText(spec.key)) +
                ", \"ranks\": [" + ranks + "]}";
    }
    records += std::string(records.empty() ? "" : ",") + "\n    " +
               toJson(entry, found->second);
  });
  return "{\n  \"version\": 2,\n  \"rank\": " + std::to_string(rank) +
         ",\n  \"ranks\": " + std::to_string(worldSize) +
         ",\n  \"reason\": " + quoted(error.empty() ? reason : "failure") +
         ",\n  \"error\": " + quoted(error) +
         ",\n  \"begun\": " + std::to_string(begun) +
         ",\n  \"ended\": " + std::to_string(ended) + ",\n  \"groups\": [" +
         groups + "\n  ],\n  \"entries\": [" + records + "\n  ]\n}\n";
}

std::string FlightRecorder::describeLast(size_t count) const {
  std::lock_guard<std::mutex> lock(mutex);
  std::string text;
  forEach(count, [&](const Entry &entry) {
    const Operation &operation = entry.start.call->operation;
    std::string site = describeSite(operation.site);
    text += "\n  number " + std::to_string(entry.number) + ": " +
            operation.signature() + " on @" +
            describeLane(*entry.start.communicator, operation) + ", number " +
            std::to_string(entry.start.sequence) +
            (site.empty() ? "" : ", at ") + site + ": " + nameOf(entry.state);
  });
  return text;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

void FlightRecorder::dump(const Environment &environment, int32_t rank,
                          int32_t worldSize, const std::string &reason,
                          bool always) const {
  if (always || environment.logs(BRAID_RT_DEBUG_INFO)) {
    std::string last = describeLast(8);
    environment.log("the last operations of rank " + std::to_string(rank) +
                    ":" + (last.empty() ? " none" : last));
  }
  if (environment.flightPrefix.empty())
    return;
  std::string path = environment.flightPrefix + std::to_string(rank) + ".json";
  // A reader never finds half a file.
  std::string error = writeWholeFile(path, toJson(rank, worldSize, reason));
  if (!error.empty())
    environment.log(error + ", which was to have the last operations of rank " +
                    std::to_string(rank));
}

void braid::rt::checkFlightFolder(const Environment &environment) {
  size_t slash = environment.flightPrefix.rfind('/');
  if (slash == std::string::npos)
    return;
  std::string folder = environment.flightPrefix.substr(0, slash + 1);
  struct stat status = {};
  if (stat(folder.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    throw Error("option 'flight-recorder' is '" + environment.flightPrefix +
                "', but there is no folder " + folder);
}
