//===- Dumps.cpp - Reading the files of the flight recorder ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Failures/Dumps.h"
#include "Failures/Failure.h"
#include "Failures/JsonReader.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

using namespace braid::run;

static constexpr int64_t formatVersion = 2;

static int64_t numberIn(const JsonValue &object, const std::string &key,
                        int64_t least, int64_t most) {
  int64_t value = object[key].number();
  if (value < least || value > most)
    throw RunError(object[key].describePlace() + ": '" + key + "' is " +
                   std::to_string(value) + ", expected a number from " +
                   std::to_string(least) + " to " + std::to_string(most));
  return value;
}

static constexpr int64_t anyNumber = std::numeric_limits<int64_t>::max();

static DumpEntry readEntry(const JsonValue &value, const JsonValue &groups,
                           int32_t worldSize) {
  DumpEntry entry;
  auto count = static_cast<int64_t>(groups.list().size());
  auto number = static_cast<size_t>(numberIn(value, "group", 0, count - 1));
  const JsonValue &group = groups.list()[number];
  entry.queue = group["key"].text();
  entry.group = group["name"].text();
  auto rankOf = [&](const JsonValue &object, const char *key) {
    return static_cast<int32_t>(numberIn(object, key, 0, worldSize - 1));
  };
  entry.isMessage = value.has("from");
  if (entry.isMessage) {
    entry.ranks = {rankOf(value, "from"), rankOf(value, "to")};
    entry.queue += " " + std::to_string(entry.ranks[0]) + " to " +
                   std::to_string(entry.ranks[1]);
  } else {
    for (const JsonValue &rank : group["ranks"].list())
      entry.ranks.push_back(static_cast<int32_t>(rank.number()));
  }
  entry.sequence = numberIn(value, "sequence", 1, anyNumber);
  entry.invocation = numberIn(value, "invocation", 0, anyNumber);
  entry.operation = value["operation"].text();
  if (const std::string &site = value["site"].text(); !site.empty())
    entry.operation += " at " + site;
  entry.fingerprint = value["fingerprint"].text();
  entry.state = value["state"].text();
  return entry;
}

static Dump readDump(const std::string &file) {
  std::ifstream stream(file, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(stream)),
                   std::istreambuf_iterator<char>());
  if (!stream)
    throw RunError("cannot read " + file);
  JsonValue value = JsonValue::parse(text, file);
  if (!value.has("version") || !value.has("entries"))
    throw RunError(file + ": this is no file of --flight-recorder: it has no "
                          "'version' or no 'entries'");
  if (int64_t version = value["version"].number(); version != formatVersion)
    throw RunError(file + ": the version is " + std::to_string(version) +
                   ", expected " + std::to_string(formatVersion));
  Dump dump;
  dump.file = file;
  constexpr int64_t mostRanks = std::numeric_limits<int32_t>::max();
  dump.worldSize =
      static_cast<int32_t>(numberIn(value, "world_size", 1, mostRanks));
  dump.rank =
      static_cast<int32_t>(numberIn(value, "rank", 0, dump.worldSize - 1));
  dump.reason = value["reason"].text();
  dump.error = value["error"].text();
  dump.begun = numberIn(value, "begun", 0, anyNumber);
  dump.ended = numberIn(value, "ended", 0, anyNumber);
  for (const JsonValue &entry : value["entries"].list()) {
    if (dump.entries.empty())
      dump.dropped = numberIn(entry, "number", 1, anyNumber) - 1;
    dump.entries.push_back(readEntry(entry, value["groups"], dump.worldSize));
  }
  return dump;
}

std::map<int32_t, Dump> braid::run::readDumps(const std::string &folder) {
  std::error_code problem;
  std::filesystem::directory_iterator files(folder, problem);
  if (problem)
    throw UsageError("--analyze-dumps: " + folder + ": " + problem.message());
  std::vector<std::string> names;
  for (const auto &file : files)
    if (file.path().extension() == ".json")
      names.push_back(file.path().string());
  // The order of a folder is arbitrary.
  std::sort(names.begin(), names.end());
  if (names.empty())
    throw UsageError("--analyze-dumps: " + folder +
                     " has no files *.json; --flight-recorder=" + folder +
                     "/rank writes them");
  std::map<int32_t, Dump> dumps;
  for (const std::string &name : names) {
    Dump dump = readDump(name);
    if (!dumps.empty() && dumps.begin()->second.worldSize != dump.worldSize)
      throw RunError(name + " is of a world of " +
                     std::to_string(dump.worldSize) + " ranks, but " +
                     dumps.begin()->second.file + " of one of " +
                     std::to_string(dumps.begin()->second.worldSize));
    auto [other, isNew] = dumps.emplace(dump.rank, dump);
    if (!isNew)
      throw RunError(name + " and " + other->second.file +
                     " are both of rank " + std::to_string(dump.rank));
  }
  return dumps;
}
