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
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
namespace json = llvm::json;

llvm::SmallVector<JsonStep> JsonObjectReader::getPath(StringRef name) const {
  llvm::SmallVector<JsonStep> result = path;
  result.emplace_back(name);
  return result;
}

std::string JsonObjectReader::quote(StringRef name) const {
  std::string result = "\"";
  for (const JsonStep &step : path) {
    if (const auto *key = std::get_if<StringRef>(&step))
      result += (result.size() > 1 ? "." : "") + key->str();
    else
      result += "[" + llvm::utostr(std::get<size_t>(step)) + "]";
  }
  return result + (path.empty() ? "" : ".") + name.str() + "\"";
}

Error JsonObjectReader::makeFieldError(StringRef name,
                                       const llvm::Twine &expected) const {
  return file.makeError(
      getPath(name), "found " + describeJson(*object.get(name)) + " in field " +
                         quote(name) + ", expected " + expected);
}

Expected<const json::Value *>
JsonObjectReader::find(StringRef name, const llvm::Twine &expected,
                       bool isOptional) {
  known.insert(name);
  const json::Value *value = object.get(name);
  if (!value && !isOptional && missing != JsonMissing::Kept)
    return file.makeError(path, "no field " + quote(name) + ", expected " +
                                    expected +
                                    (missing == JsonMissing::ErrorWithoutBase
                                         ? ", or a field \"base\""
                                         : ""));
  return value;
}

Error JsonObjectReader::readReal(StringRef name, double &result, bool mayBeZero,
                                 bool isOptional) {
  StringRef expected =
      mayBeZero ? "a number of at least 0" : "a number above 0";
  Expected<const json::Value *> value = find(name, expected, isOptional);
  if (!value || !*value)
    return value.takeError();
  std::optional<double> number = (*value)->getAsNumber();
  if (!number || !std::isfinite(*number) || *number < 0 ||
      (*number == 0 && !mayBeZero))
    return makeFieldError(name, expected);
  result = *number;
  return Error::success();
}

Error JsonObjectReader::readRealInRange(StringRef name, double &result,
                                        double min, double max,
                                        bool isOptional) {
  std::string expected =
      llvm::formatv("a number from {0:f0} to {1:f0}", min, max).str();
  Expected<const json::Value *> value = find(name, expected, isOptional);
  if (!value || !*value)
    return value.takeError();
  std::optional<double> number = (*value)->getAsNumber();
  if (!number || !(*number >= min) || !(*number <= max))
    return makeFieldError(name, expected);
  result = *number;
  return Error::success();
}

Error JsonObjectReader::readInteger(StringRef name, int64_t &result,
                                    int64_t min, int64_t max, bool isOptional) {
  std::string expected = "an integer of at least " + llvm::itostr(min);
  if (max != std::numeric_limits<int64_t>::max())
    expected =
        "an integer from " + llvm::itostr(min) + " to " + llvm::itostr(max);
  Expected<const json::Value *> value = find(name, expected, isOptional);
  if (!value || !*value)
    return value.takeError();
  std::optional<int64_t> number = (*value)->getAsInteger();
  if (!number || *number < min || *number > max)
    return makeFieldError(name, expected);
  result = *number;
  return Error::success();
}

Error JsonObjectReader::readBool(StringRef name, bool &result) {
  Expected<const json::Value *> value =
      find(name, "true or false", /*isOptional=*/true);
  if (!value || !*value)
    return value.takeError();
  std::optional<bool> flag = (*value)->getAsBoolean();
  if (!flag)
    return makeFieldError(name, "true or false");
  result = *flag;
  return Error::success();
}

Error JsonObjectReader::readString(StringRef name, std::string &result,
                                   bool isOptional) {
  StringRef expected = "a string that is not empty";
  Expected<const json::Value *> value = find(name, expected, isOptional);
  if (!value || !*value)
    return value.takeError();
  std::optional<StringRef> text = (*value)->getAsString();
  if (!text || text->empty())
    return makeFieldError(name, expected);
  result = text->str();
  return Error::success();
}

Error JsonObjectReader::readIndex(StringRef name,
                                  llvm::ArrayRef<llvm::StringLiteral> names,
                                  size_t &result, bool isOptional) {
  std::string expected = "one of: " + llvm::join(names, " ");
  Expected<const json::Value *> value = find(name, expected, isOptional);
  if (!value || !*value)
    return value.takeError();
  std::optional<StringRef> text = (*value)->getAsString();
  const auto *it = text ? llvm::find(names, *text) : names.end();
  if (it == names.end())
    return makeFieldError(name, expected);
  result = it - names.begin();
  return Error::success();
}

Expected<const json::Object *> JsonObjectReader::readObject(StringRef name,
                                                            bool isOptional) {
  Expected<const json::Value *> value = find(name, "an object", isOptional);
  if (!value)
    return value.takeError();
  if (!*value)
    return nullptr;
  if (const json::Object *nested = (*value)->getAsObject())
    return nested;
  return makeFieldError(name, "an object");
}

Expected<const json::Array *> JsonObjectReader::readArray(StringRef name,
                                                          bool isOptional) {
  Expected<const json::Value *> value = find(name, "a list", isOptional);
  if (!value)
    return value.takeError();
  if (!*value)
    return nullptr;
  if (const json::Array *nested = (*value)->getAsArray())
    return nested;
  return makeFieldError(name, "a list");
}

Error JsonObjectReader::readObjects(
    const json::Array &list, StringRef name,
    llvm::function_ref<Error(JsonObjectReader &)> read) const {
  for (auto [index, value] : llvm::enumerate(list)) {
    llvm::SmallVector<JsonStep> elementPath = getPath(name);
    elementPath.emplace_back(size_t(index));
    const json::Object *element = value.getAsObject();
    if (!element)
      return file.makeError(elementPath, "found " + describeJson(value) +
                                             ", expected an object");
    JsonObjectReader reader(file, *element, elementPath);
    if (Error error = read(reader))
      return error;
    if (Error error = reader.finish())
      return error;
  }
  return Error::success();
}

Error JsonObjectReader::finish() const {
  llvm::SmallVector<StringRef> unknown;
  for (const auto &[key, value] : object)
    if (!known.contains(key))
      unknown.push_back(key);
  if (unknown.empty())
    return Error::success();
  llvm::sort(unknown);
  llvm::SmallVector<StringRef> names(known.keys());
  llvm::sort(names);
  return file.makeKeyError(getPath(unknown.front()),
                           "unknown field " + quote(unknown.front()) +
                               ", expected one of: " + llvm::join(names, " "));
}
