//===- ProfileReader.cpp - Profiles from JSON -----------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Profile.h"

#include "Calibration.h"
#include "Support/JsonObjectReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace braid;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
namespace json = llvm::json;

/// The versions of the format that are read: the second may describe the
/// machine, too.
static constexpr int64_t entriesVersion = 1, machineVersion = 2;

/// The median: the middle value, or the mean of the two middle values.
static double getMedian(std::vector<double> values) {
  llvm::sort(values);
  size_t middle = values.size() / 2;
  if (values.size() % 2 == 1)
    return values[middle];
  return values[middle - 1] + (values[middle] - values[middle - 1]) / 2;
}

namespace {
/// Reads a profile from a text.
class Reader {
public:
  Reader(const StrictJson &file, StringRef origin)
      : file(file), origin(origin) {}

  Expected<Profile> read();

private:
  Error readHeader(const json::Object &root);
  /// What version 2 has beside the entries.
  Error readMachine(const json::Object &root);
  Error readEntry(const json::Value &value, size_t index);
  /// The times in `ns` of entry number `index`.
  Expected<std::vector<double>> readTimes(const json::Object &entry,
                                          size_t index);
  /// An error at the first field of `object` that is not in `known`.
  Error checkFields(const json::Object &object, JsonPath path,
                    llvm::ArrayRef<StringRef> known);

  const StrictJson &file;
  StringRef origin;
  bool mayLackEntries = false;
  Profile profile;
  /// All measurements of each signature, from all entries, by family and sizes.
  std::map<std::pair<std::string, std::vector<int64_t>>,
           std::pair<ParsedSignature, std::vector<double>>>
      measurements;
};
} // namespace

Error Reader::checkFields(const json::Object &object, JsonPath path,
                          llvm::ArrayRef<StringRef> known) {
  // The object is a hash table; sort the fields so that errors are
  // deterministic.
  std::vector<StringRef> unknown;
  for (const auto &[key, value] : object)
    if (!llvm::is_contained(known, StringRef(key)))
      unknown.push_back(key);
  if (unknown.empty())
    return Error::success();
  llvm::sort(unknown);
  llvm::SmallVector<JsonStep> keyPath(path);
  keyPath.push_back(unknown.front());
  return file.makeKeyError(
      keyPath, "unknown field " + describeJson(json::Value(unknown.front())) +
                   ", expected one of: " + llvm::join(known, " "));
}

Error Reader::readHeader(const json::Object &root) {
  const json::Value *version = root.get("version");
  if (!version)
    return file.makeError({}, "no field \"version\", expected version 1 or 2");
  bool hasMachine = version->getAsInteger() == machineVersion;
  if (!hasMachine && version->getAsInteger() != entriesVersion)
    return file.makeError({"version"}, "found version " +
                                           describeJson(*version) +
                                           ", expected 1 or 2");
  if (hasMachine) {
    if (Error error = readMachine(root))
      return error;
  } else if (Error error =
                 checkFields(root, {}, {"version", "hardware", "entries"})) {
    return error;
  }
  if (const json::Value *hardware = root.get("hardware")) {
    std::optional<StringRef> name = hardware->getAsString();
    if (!name || name->empty())
      return file.makeError({"hardware"}, "found " + describeJson(*hardware) +
                                              " in field \"hardware\", "
                                              "expected the name of a machine");
    profile.setHardware(*name);
  }
  return Error::success();
}

Error Reader::readMachine(const json::Object &root) {
  mayLackEntries = true;
  JsonObjectReader reader(file, root, {});
  for (StringRef name : {"version", "entries"})
    if (Expected<const json::Value *> field =
            reader.find(name, "a value", /*isOptional=*/true);
        !field)
      return field.takeError();
  std::string hardware;
  if (Error error =
          reader.readString("hardware", hardware, /*isOptional=*/false))
    return error;
  auto calibration = std::make_shared<Calibration>();
  if (Error error = readCalibration(reader, *calibration))
    return error;
  if (Error error = reader.finish())
    return error;
  calibration->origin = origin.str();
  profile.setCalibration(std::move(calibration));
  return Error::success();
}

Expected<std::vector<double>> Reader::readTimes(const json::Object &entry,
                                                size_t index) {
  const json::Value *field = entry.get("ns");
  if (!field)
    return file.makeError({"entries", index},
                          "no field \"ns\", expected the measured nanoseconds");
  static constexpr StringRef expected =
      " in field \"ns\", expected nanoseconds of at least 0 and below 2^63";
  auto readTime = [](const json::Value &value) -> std::optional<double> {
    std::optional<double> ns = value.getAsNumber();
    if (!ns || !std::isfinite(*ns) || *ns < 0.0 || *ns >= 0x1p63)
      return std::nullopt;
    return ns;
  };

  std::vector<double> times;
  const json::Array *array = field->getAsArray();
  if (!array) {
    std::optional<double> ns = readTime(*field);
    if (!ns)
      return file.makeError({"entries", index, "ns"},
                            "found " + describeJson(*field) + expected +
                                ", or a list of such");
    times.push_back(*ns);
    return times;
  }
  if (array->empty())
    return file.makeError({"entries", index, "ns"},
                          "found an empty list in field \"ns\", expected at "
                          "least one time");
  for (auto [position, value] : llvm::enumerate(*array)) {
    std::optional<double> ns = readTime(value);
    if (!ns)
      return file.makeError({"entries", index, "ns", position},
                            "found " + describeJson(value) + expected);
    times.push_back(*ns);
  }
  return times;
}

Error Reader::readEntry(const json::Value &value, size_t index) {
  const json::Object *entry = value.getAsObject();
  if (!entry)
    return file.makeError({"entries", index},
                          "found " + describeJson(value) +
                              ", expected an object with the fields \"label\" "
                              "or \"signature\", and \"ns\"");
  if (Error error =
          checkFields(*entry, {"entries", index}, {"label", "signature", "ns"}))
    return error;
  const json::Value *label = entry->get("label");
  const json::Value *signature = entry->get("signature");
  if (!label == !signature)
    return file.makeError({"entries", index},
                          llvm::Twine(label ? "both" : "neither") +
                              " of the fields \"label\" and \"signature\", "
                              "expected one");
  StringRef keyName = label ? "label" : "signature";
  const json::Value &key = label ? *label : *signature;
  std::optional<StringRef> text = key.getAsString();
  if (!text || text->empty())
    return file.makeError({"entries", index, keyName},
                          "found " + describeJson(key) + " in field \"" +
                              keyName + "\", expected a text");
  Expected<std::vector<double>> times = readTimes(*entry, index);
  if (!times)
    return times.takeError();

  if (label) {
    if (!profile.setLabel(*text, getMedian(*times)))
      return file.makeError({"entries", index, "label"},
                            "found label " + describeJson(key) +
                                " a second time with another time, expected "
                                "one entry with all its times");
    return Error::success();
  }
  std::string expected;
  std::optional<ParsedSignature> parsed =
      ParsedSignature::parse(*text, expected);
  if (!parsed)
    return file.makeError({"entries", index, "signature"},
                          "found signature " + describeJson(key) +
                              ", expected " + expected);
  auto &[unused, all] = measurements
                            .try_emplace({parsed->family, parsed->sizes},
                                         *parsed, std::vector<double>())
                            .first->second;
  llvm::append_range(all, *times);
  return Error::success();
}

Expected<Profile> Reader::read() {
  const json::Object *root = file.getRoot().getAsObject();
  if (!root)
    return file.makeError({}, "found " + describeJson(file.getRoot()) +
                                  ", expected an object with the fields "
                                  "\"version\" and \"entries\"");
  if (Error error = readHeader(*root))
    return error;
  const json::Value *field = root->get("entries");
  if (!field && mayLackEntries)
    return std::move(profile);
  if (!field)
    return file.makeError({}, "no field \"entries\", expected a list");
  const json::Array *entries = field->getAsArray();
  if (!entries)
    return file.makeError({"entries"},
                          "found " + describeJson(*field) +
                              " in field \"entries\", expected a list");
  for (auto [index, entry] : llvm::enumerate(*entries))
    if (Error error = readEntry(entry, index))
      return error;
  for (auto &[key, measured] : measurements)
    profile.setSignature(measured.first, getMedian(measured.second));
  return std::move(profile);
}

Expected<Profile> braid::readProfile(StringRef text, StringRef origin) {
  Expected<StrictJson> file = StrictJson::parse(text);
  if (!file)
    return file.takeError();
  return Reader(*file, origin).read();
}
