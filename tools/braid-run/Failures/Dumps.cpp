//===- Dumps.cpp - Reading the files of the flight recorder ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Failures/Dumps.h"
#include "Common/Failure.h"
#include "Failures/JsonReader.h"

#include "braid/Support/Text.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>

using namespace braid::run;

static constexpr int64_t formatVersion = 2;

static int64_t checkNumber(const JsonValue &value, const std::string &name,
                           int64_t least, int64_t most) {
  int64_t number = value.number();
  if (number < least || number > most)
    throw RunError(value.describePlace() + ": " + name + " is " +
                   std::to_string(number) + ", expected a number from " +
                   std::to_string(least) + " to " + std::to_string(most));
  return number;
}

static int64_t numberIn(const JsonValue &object, const std::string &key,
                        int64_t least, int64_t most) {
  return checkNumber(object[key], "'" + key + "'", least, most);
}

static constexpr int64_t anyNumber = std::numeric_limits<int64_t>::max();

/// A text for one line of a message.
static std::string textIn(const JsonValue &object, const std::string &key) {
  return braid::escapeControls(object[key].text());
}

namespace {
struct DumpGroup {
  std::string name, key;
  std::shared_ptr<const std::vector<int32_t>> ranks;
};
} // namespace

static DumpGroup readGroup(const JsonValue &value, int32_t worldSize) {
  auto ranks = std::make_shared<std::vector<int32_t>>();
  std::set<int32_t> known;
  for (const JsonValue &element : value["ranks"].list()) {
    auto rank = static_cast<int32_t>(
        checkNumber(element, "a rank of the group", 0, worldSize - 1));
    if (!known.insert(rank).second)
      throw RunError(element.describePlace() + ": rank " +
                     std::to_string(rank) + " is in the group twice");
    ranks->push_back(rank);
  }
  return {textIn(value, "name"), value["key"].text(), ranks};
}

static DumpEntry readEntry(const JsonValue &value,
                           const std::vector<DumpGroup> &groups,
                           int32_t worldSize) {
  DumpEntry entry;
  auto count = static_cast<int64_t>(groups.size());
  const DumpGroup &group =
      groups[static_cast<size_t>(numberIn(value, "group", 0, count - 1))];
  entry.queue = group.key;
  entry.group = group.name;
  entry.ranks = group.ranks;
  auto rankOf = [&](const JsonValue &object, const char *key) {
    return static_cast<int32_t>(numberIn(object, key, 0, worldSize - 1));
  };
  entry.isMessage = value.has("from");
  if (entry.isMessage) {
    int32_t from = rankOf(value, "from"), to = rankOf(value, "to");
    entry.ranks = std::make_shared<std::vector<int32_t>>(
        std::initializer_list<int32_t>{from, to});
    entry.queue += " " + std::to_string(from) + " to " + std::to_string(to);
  }
  entry.sequence = numberIn(value, "sequence", 1, anyNumber);
  entry.invocation = numberIn(value, "invocation", 0, anyNumber);
  entry.operation = textIn(value, "operation");
  if (std::string site = textIn(value, "site"); !site.empty())
    entry.operation += " at " + site;
  entry.fingerprint = value["fingerprint"].text();
  entry.state = value["state"].text();
  static const std::set<std::string> states = {"started", "awaited", "finished",
                                               "recorded", "refused"};
  if (states.count(entry.state) == 0)
    throw RunError(value["state"].describePlace() + ": the state is '" +
                   entry.state +
                   "', expected started, awaited, finished, recorded or "
                   "refused");
  return entry;
}

/// Messages of engines may have several lines.
static std::string indentLines(const std::string &message) {
  std::string text;
  for (char c : braid::makePrintable(message))
    text += c == '\n' ? std::string("\n    ") : std::string(1, c);
  return text;
}

Dump braid::run::readDump(const std::string &text, const std::string &file) {
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
  // Dumps of the last release.
  bool isOld = !value.has("ranks") && value.has("world_size");
  if (isOld)
    std::fprintf(stderr,
                 "braid-run: warning: %s: 'world_size' is the old spelling of "
                 "'ranks', expected the new one, which alone works from the "
                 "next release on\n",
                 braid::escapeControls(file).c_str());
  dump.worldSize = static_cast<int32_t>(
      numberIn(value, isOld ? "world_size" : "ranks", 1, mostRanks));
  dump.rank =
      static_cast<int32_t>(numberIn(value, "rank", 0, dump.worldSize - 1));
  dump.reason = textIn(value, "reason");
  dump.error = indentLines(value["error"].text());
  dump.begun = numberIn(value, "begun", 0, anyNumber);
  dump.ended = numberIn(value, "ended", 0, dump.begun);
  std::vector<DumpGroup> groups;
  for (const JsonValue &group : value["groups"].list())
    groups.push_back(readGroup(group, dump.worldSize));
  for (const JsonValue &entry : value["entries"].list()) {
    if (dump.entries.empty())
      dump.dropped = numberIn(entry, "number", 1, anyNumber) - 1;
    dump.entries.push_back(readEntry(entry, groups, dump.worldSize));
  }
  return dump;
}

void braid::run::addDump(std::map<int32_t, Dump> &dumps, Dump dump) {
  const std::string file = dump.file;
  if (!dumps.empty() && dumps.begin()->second.worldSize != dump.worldSize)
    throw RunError(file + " is of a world of " +
                   std::to_string(dump.worldSize) + " ranks, but " +
                   dumps.begin()->second.file + " of one of " +
                   std::to_string(dumps.begin()->second.worldSize));
  auto [other, isNew] = dumps.emplace(dump.rank, std::move(dump));
  if (!isNew)
    throw RunError(file + " and " + other->second.file + " are both of rank " +
                   std::to_string(other->first));
}

static Dump readDumpFile(const std::string &file) {
  std::error_code problem;
  // Other files may have no end.
  if (!std::filesystem::is_regular_file(file, problem))
    throw RunError("cannot read " + file + ": " +
                   (problem ? problem.message() : "not a regular file"));
  std::ifstream stream(file, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(stream)),
                   std::istreambuf_iterator<char>());
  if (!stream)
    throw RunError("cannot read " + file + ": " + std::strerror(errno));
  return readDump(text, file);
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
  for (const std::string &name : names)
    addDump(dumps, readDumpFile(name));
  return dumps;
}
