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

#include <cmath>

using namespace braid;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
namespace json = llvm::json;

/// The supported versions of the format. The second one may describe the
/// machine.
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
/// Reads a profile from the object of a file.
class Reader {
public:
  explicit Reader(StringRef origin) : origin(origin) {}

  void read(JsonObjectReader &reader);
  Profile take();

private:
  void readEntry(JsonObjectReader &reader);
  /// The times in `ns` of an entry.
  std::vector<double> readTimes(JsonObjectReader &reader);

  StringRef origin;
  Profile profile;
  /// All measurements of each signature, from all entries, by family and sizes.
  std::map<std::pair<std::string, std::vector<int64_t>>,
           std::pair<ParsedSignature, std::vector<double>>>
      measurements;
};
} // namespace

std::vector<double> Reader::readTimes(JsonObjectReader &reader) {
  static constexpr StringRef expected =
      "nanoseconds of at least 0 and below 2^63, or a list of such";
  std::vector<double> times;
  auto readTime = [&](const json::Value &value) {
    std::optional<double> ns = value.getAsNumber();
    if (!ns || !std::isfinite(*ns) || *ns < 0.0 || *ns >= 0x1p63)
      return false;
    times.push_back(*ns);
    return true;
  };
  const json::Value *field = reader.find("ns", expected, /*isOptional=*/false);
  if (!field)
    return times;
  const json::Array *array = field->getAsArray();
  if (array ? array->empty() : !readTime(*field))
    reader.failField("ns", expected);
  for (size_t i = 0; array && i != array->size(); ++i)
    if (!readTime((*array)[i]))
      reader.failElement("ns", i,
                         "found " + describeJson((*array)[i]) + ", expected " +
                             expected);
  return times;
}

void Reader::readEntry(JsonObjectReader &reader) {
  std::string label, text;
  reader.readString("label", label);
  reader.readString("signature", text);
  if (label.empty() == text.empty())
    reader.fail(llvm::Twine(label.empty() ? "neither" : "both") +
                " of the fields \"label\" and \"signature\", expected one");
  std::vector<double> times = readTimes(reader);
  if (times.empty())
    return;
  if (!label.empty() && !profile.setLabel(label, getMedian(times)))
    reader.failField("label", "one entry with all times of a label");
  if (text.empty())
    return;
  std::string expected;
  std::optional<ParsedSignature> parsed =
      ParsedSignature::parse(text, expected);
  if (!parsed)
    return reader.failField("signature", expected);
  auto &[unused, all] = measurements
                            .try_emplace({parsed->family, parsed->sizes},
                                         *parsed, std::vector<double>())
                            .first->second;
  llvm::append_range(all, times);
}

void Reader::read(JsonObjectReader &reader) {
  int64_t version = entriesVersion;
  reader.readInteger("version", version, entriesVersion, machineVersion);
  bool hasMachine = version == machineVersion;
  std::string name;
  if (!hasMachine)
    reader.readString("machine", name);
  if (hasMachine) {
    auto calibration = std::make_shared<Calibration>();
    readCalibration(reader, *calibration, name);
    calibration->origin = origin.str();
    profile.setCalibration(std::move(calibration));
  }
  profile.setHardware(name);
  reader.readObjects("entries", /*isOptional=*/hasMachine,
                     [&](auto &entry) { readEntry(entry); });
}

Profile Reader::take() {
  for (auto &[key, measured] : measurements)
    profile.setSignature(measured.first, getMedian(measured.second));
  return std::move(profile);
}

Expected<Profile> braid::readProfile(StringRef text, StringRef origin) {
  Reader reader(origin);
  if (Error error = JsonObjectReader::readText(
          text, "an object with the fields \"version\" and \"entries\"",
          [&](JsonObjectReader &object) { reader.read(object); }))
    return error;
  return reader.take();
}
