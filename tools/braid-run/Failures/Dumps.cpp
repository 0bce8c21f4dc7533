//===- Dumps.cpp - Reading the files of the flight recorder ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Failures/Dumps.h"
#include "Common/Failure.h"
#include "braid/Support/Text.h"

#include <nlohmann/json.hpp>

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
static constexpr int64_t anyNumber = std::numeric_limits<int64_t>::max();

namespace {
/// A value of a dump. The functions that read it throw a RunError that names
/// the file, the place in it, what was found and what was expected.
class Field {
public:
  /// `place` is the file, or `file: path`.
  Field(const nlohmann::json &value, std::string place, bool isRoot = false)
      : value(value), place(std::move(place)), isRoot(isRoot) {}

  [[noreturn]] void fail(const std::string &expected) const {
    std::string found =
        value.is_structured() ? value.type_name() : value.dump();
    throw RunError(place + ": found " + found + ", expected " + expected);
  }

  int64_t number(int64_t least, int64_t most) const {
    bool fits = value.is_number_integer() &&
                (!value.is_number_unsigned() ||
                 value.get<uint64_t>() <= static_cast<uint64_t>(anyNumber));
    auto number = fits ? value.get<int64_t>() : 0;
    if (!fits || number < least || number > most)
      fail("a number from " + std::to_string(least) + " to " +
           std::to_string(most));
    return number;
  }

  const std::string &text() const {
    if (!value.is_string())
      fail("a text");
    return value.get_ref<const std::string &>();
  }

  /// A text for one line of a message.
  std::string line() const { return braid::escapeControls(text()); }

  std::vector<Field> list() const {
    if (!value.is_array())
      fail("a list");
    std::vector<Field> elements;
    for (const nlohmann::json &element : value)
      elements.emplace_back(element, place + "[" +
                                         std::to_string(elements.size()) + "]");
    return elements;
  }

  bool has(const char *key) const {
    if (!value.is_object())
      fail("an object");
    return value.contains(key);
  }

  Field operator[](const char *key) const {
    if (!has(key))
      throw RunError(place + ": the object has no '" + key + "'");
    return {value[key], place + (isRoot ? ": " : ".") + key};
  }

private:
  const nlohmann::json &value;
  std::string place;
  bool isRoot;
};

struct DumpGroup {
  std::string name, key;
  std::shared_ptr<const std::vector<int32_t>> ranks;
};
} // namespace

static DumpGroup readGroup(const Field &group, int32_t worldSize) {
  auto ranks = std::make_shared<std::vector<int32_t>>();
  std::set<int32_t> known;
  for (const Field &element : group["ranks"].list()) {
    auto rank = static_cast<int32_t>(element.number(0, worldSize - 1));
    if (!known.insert(rank).second)
      element.fail("each rank of the group once");
    ranks->push_back(rank);
  }
  return {group["name"].line(), group["key"].text(), ranks};
}

static DumpEntry readEntry(const Field &field,
                           const std::vector<DumpGroup> &groups,
                           int32_t worldSize) {
  DumpEntry entry;
  auto count = static_cast<int64_t>(groups.size());
  const DumpGroup &group =
      groups[static_cast<size_t>(field["group"].number(0, count - 1))];
  entry.queue = group.key;
  entry.group = group.name;
  entry.ranks = group.ranks;
  auto rankOf = [&](const char *key) {
    return static_cast<int32_t>(field[key].number(0, worldSize - 1));
  };
  entry.isMessage = field.has("from");
  if (entry.isMessage) {
    int32_t from = rankOf("from"), to = rankOf("to");
    entry.ranks = std::make_shared<std::vector<int32_t>>(
        std::initializer_list<int32_t>{from, to});
    entry.queue += " " + std::to_string(from) + " to " + std::to_string(to);
  }
  entry.sequence = field["sequence"].number(1, anyNumber);
  entry.invocation = field["invocation"].number(0, anyNumber);
  entry.operation = field["operation"].line();
  if (std::string site = field["site"].line(); !site.empty())
    entry.operation += " at " + site;
  entry.fingerprint = field["fingerprint"].text();
  entry.state = field["state"].text();
  static const std::set<std::string> states = {"started", "awaited", "finished",
                                               "recorded", "refused"};
  if (states.count(entry.state) == 0)
    field["state"].fail("started, awaited, finished, recorded or refused");
  return entry;
}

/// Messages of engines may have several lines.
static std::string indentLines(const std::string &message) {
  std::string text;
  for (char c : braid::makePrintable(message))
    text += c == '\n' ? std::string("\n    ") : std::string(1, c);
  return text;
}

static nlohmann::json parse(const std::string &text, const std::string &file) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception &error) {
    // Without the name of the exception.
    std::string message = error.what();
    throw RunError(file + ": " + message.substr(message.find("] ") + 2));
  }
}

Dump braid::run::readDump(const std::string &text, const std::string &file) {
  nlohmann::json root = parse(text, file);
  Field value(root, file, /*isRoot=*/true);
  if (!value.has("version") || !value.has("entries"))
    throw RunError(file + ": this is no file of --flight-recorder: it has no "
                          "'version' or no 'entries'");
  value["version"].number(formatVersion, formatVersion);
  Dump dump;
  dump.file = file;
  constexpr int64_t mostRanks = std::numeric_limits<int32_t>::max();
  dump.worldSize = static_cast<int32_t>(value["ranks"].number(1, mostRanks));
  dump.rank = static_cast<int32_t>(value["rank"].number(0, dump.worldSize - 1));
  dump.reason = value["reason"].line();
  dump.error = indentLines(value["error"].text());
  dump.begun = value["begun"].number(0, anyNumber);
  dump.ended = value["ended"].number(0, dump.begun);
  std::vector<DumpGroup> groups;
  for (const Field &group : value["groups"].list())
    groups.push_back(readGroup(group, dump.worldSize));
  for (const Field &entry : value["entries"].list()) {
    if (dump.entries.empty())
      dump.dropped = entry["number"].number(1, anyNumber) - 1;
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
