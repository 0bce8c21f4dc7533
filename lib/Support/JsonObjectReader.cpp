//===- JsonObjectReader.cpp - Fields of JSON objects ----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonObjectReader.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace braid;
using llvm::StringRef;
namespace json = llvm::json;

llvm::Error JsonObjectReader::readText(StringRef text, StringRef expected,
                                       ReadObject read) {
  llvm::Expected<json::Value> root = parseJson(text);
  if (!root)
    return root.takeError();
  const json::Object *object = root->getAsObject();
  if (!object)
    return makeJsonError("", "found " + describeJson(*root) + ", expected " +
                                 expected);
  llvm::Error error = llvm::Error::success();
  JsonObjectReader reader(error, *object, "", JsonMissing::Error);
  read(reader);
  reader.finish();
  return error;
}

void JsonObjectReader::failAt(StringRef path,
                              const llvm::Twine &message) const {
  if (!error)
    error = makeJsonError(path, message);
}

std::string JsonObjectReader::quote(StringRef name) const {
  return "\"" + appendToJsonPath(path, name) + "\"";
}

void JsonObjectReader::failField(StringRef name,
                                 const llvm::Twine &expected) const {
  // An error says already that the field is absent.
  if (const json::Value *value = object.get(name))
    failAt("", "found " + describeJson(*value) + " in field " + quote(name) +
                   ", expected " + expected);
}

const json::Value *JsonObjectReader::find(StringRef name,
                                          const llvm::Twine &expected,
                                          bool isOptional) {
  known.insert(name);
  const json::Value *value = object.get(name);
  if (!value && !isOptional && missing != JsonMissing::Kept)
    failAt("", "no field " + quote(name) + ", expected " + expected +
                   (missing == JsonMissing::ErrorWithoutBase
                        ? ", or a field \"base\""
                        : ""));
  return value;
}

void JsonObjectReader::readReal(StringRef name, double &result, bool mayBeZero,
                                bool isOptional) {
  StringRef expected =
      mayBeZero ? "a number of at least 0" : "a number above 0";
  const json::Value *value = find(name, expected, isOptional);
  if (!value)
    return;
  std::optional<double> number = value->getAsNumber();
  if (!number || !std::isfinite(*number) || *number < 0 ||
      (*number == 0 && !mayBeZero))
    return failField(name, expected);
  result = *number;
}

void JsonObjectReader::readRealInRange(StringRef name, double &result,
                                       double min, double max,
                                       bool isOptional) {
  std::string expected =
      llvm::formatv("a number from {0:f0} to {1:f0}", min, max).str();
  const json::Value *value = find(name, expected, isOptional);
  if (!value)
    return;
  std::optional<double> number = value->getAsNumber();
  if (!number || !(*number >= min) || !(*number <= max))
    return failField(name, expected);
  result = *number;
}

void JsonObjectReader::readInteger(StringRef name, int64_t &result, int64_t min,
                                   int64_t max, bool isOptional) {
  std::string expected = "an integer of at least " + llvm::itostr(min);
  if (max != std::numeric_limits<int64_t>::max())
    expected =
        "an integer from " + llvm::itostr(min) + " to " + llvm::itostr(max);
  const json::Value *value = find(name, expected, isOptional);
  if (!value)
    return;
  std::optional<int64_t> number = value->getAsInteger();
  if (!number || *number < min || *number > max)
    return failField(name, expected);
  result = *number;
}

void JsonObjectReader::readBool(StringRef name, bool &result) {
  const json::Value *value = find(name, "true or false", /*isOptional=*/true);
  if (!value)
    return;
  std::optional<bool> flag = value->getAsBoolean();
  if (!flag)
    return failField(name, "true or false");
  result = *flag;
}

void JsonObjectReader::readString(StringRef name, std::string &result,
                                  bool isOptional) {
  StringRef expected = "a string that is not empty";
  const json::Value *value = find(name, expected, isOptional);
  if (!value)
    return;
  std::optional<StringRef> text = value->getAsString();
  if (!text || text->empty())
    return failField(name, expected);
  result = text->str();
}

void JsonObjectReader::readIndex(StringRef name,
                                 llvm::ArrayRef<llvm::StringLiteral> names,
                                 size_t &result, bool isOptional) {
  std::string expected = "one of: " + llvm::join(names, " ");
  const json::Value *value = find(name, expected, isOptional);
  if (!value)
    return;
  std::optional<StringRef> text = value->getAsString();
  const auto *it = text ? llvm::find(names, *text) : names.end();
  if (it == names.end())
    return failField(name, expected);
  result = it - names.begin();
}

bool JsonObjectReader::readObject(StringRef name, bool isOptional,
                                  ReadObject read, JsonMissing missingInside) {
  const json::Value *value = find(name, "an object", isOptional);
  if (!value)
    return false;
  const json::Object *nested = value->getAsObject();
  if (!nested) {
    failField(name, "an object");
    return false;
  }
  JsonObjectReader reader(error, *nested, appendToJsonPath(path, name),
                          missingInside);
  read(reader);
  reader.finish();
  return true;
}

const json::Array *JsonObjectReader::readArray(StringRef name,
                                               bool isOptional) {
  const json::Value *value = find(name, "a list", isOptional);
  const json::Array *nested = value ? value->getAsArray() : nullptr;
  if (value && !nested)
    failField(name, "a list");
  return nested;
}

bool JsonObjectReader::readObjects(StringRef name, bool isOptional,
                                   ReadObject read) {
  const json::Array *list = readArray(name, isOptional);
  if (!list)
    return false;
  for (auto [index, value] : llvm::enumerate(*list)) {
    const json::Object *element = value.getAsObject();
    if (!element) {
      failElement(name, index,
                  "found " + describeJson(value) + ", expected an object");
      return false;
    }
    JsonObjectReader reader(
        error, *element, appendToJsonPath(appendToJsonPath(path, name), index),
        JsonMissing::Error);
    read(reader);
    reader.finish();
  }
  return true;
}

void JsonObjectReader::finish() const {
  llvm::SmallVector<StringRef> unknown;
  for (const auto &[key, value] : object)
    if (!known.contains(key))
      unknown.push_back(key);
  if (unknown.empty())
    return;
  llvm::sort(unknown);
  llvm::SmallVector<StringRef> names(known.keys());
  llvm::sort(names);
  failAt("", "unknown field " + quote(unknown.front()) +
                 ", expected one of: " + llvm::join(names, " "));
}
