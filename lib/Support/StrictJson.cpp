//===- StrictJson.cpp - JSON files that users write -----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StrictJson.h"

#include "braid/Support/Text.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"

using namespace braid;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

char JsonError::ID = 0; // NOLINT(readability-identifier-naming)

/// Far more than any of our files needs, far less than the parser's stack
/// allows.
static constexpr unsigned maxDepth = 64;

void JsonError::log(llvm::raw_ostream &os) const {
  os << line << ":" << column << ": " << text;
}

std::error_code JsonError::convertToErrorCode() const {
  return llvm::inconvertibleErrorCode();
}

static JsonError describeAt(StringRef text, size_t offset,
                            const llvm::Twine &message) {
  StringRef before = text.take_front(offset);
  size_t lineStart = before.rfind('\n') + 1; // npos + 1 is 0
  return {static_cast<unsigned>(before.count('\n')) + 1,
          static_cast<unsigned>(offset - lineStart) + 1, message.str()};
}

static Error makeErrorAt(StringRef text, size_t offset,
                         const llvm::Twine &message) {
  return llvm::make_error<JsonError>(describeAt(text, offset, message));
}

//===----------------------------------------------------------------------===//
// Places in a text
//===----------------------------------------------------------------------===//

static size_t skipSpace(StringRef text, size_t offset) {
  return std::min(text.find_first_not_of(" \t\r\n", offset), text.size());
}

/// The offset after the string that begins at `offset`.
static size_t skipString(StringRef text, size_t offset) {
  for (++offset; offset < text.size() && text[offset] != '"'; ++offset)
    if (text[offset] == '\\')
      ++offset;
  return std::min(offset + 1, text.size());
}

/// The first offset at which brackets are nested too deep; none if they never
/// are. The text may be anything.
static std::optional<size_t> findTooDeep(StringRef text) {
  unsigned depth = 0;
  for (size_t offset = 0; offset < text.size();) {
    char c = text[offset];
    if (c == '"') {
      offset = skipString(text, offset);
      continue;
    }
    if ((c == '{' || c == '[') && ++depth > maxDepth)
      return offset;
    if ((c == '}' || c == ']') && depth > 0)
      --depth;
    ++offset;
  }
  return std::nullopt;
}

/// The offset after the value that begins at `offset` of a valid text.
static size_t skipValue(StringRef text, size_t offset) {
  unsigned depth = 0;
  do {
    char c = text[offset];
    if (c == '"') {
      offset = skipString(text, offset);
    } else if (c == '{' || c == '[') {
      ++depth;
      ++offset;
    } else if (c == '}' || c == ']') {
      --depth;
      ++offset;
    } else if (StringRef(",: \t\r\n").contains(c)) {
      ++offset;
    } else {
      offset = std::min(text.find_first_of(",:]} \t\r\n", offset), text.size());
    }
  } while (depth > 0);
  return offset;
}

/// Calls `visit(key, keyOffset, valueOffset)` for the members of the object, or
/// the elements of the array (without a key), that begins at `offset` of a
/// valid text, until `visit` returns false.
static void
forEachMember(StringRef text, size_t offset,
              llvm::function_ref<bool(StringRef key, size_t keyOffset,
                                      size_t valueOffset)>
                  visit) {
  bool isObject = text[offset] == '{';
  offset = skipSpace(text, offset + 1);
  while (text[offset] != '}' && text[offset] != ']') {
    std::string key;
    size_t keyOffset = offset;
    if (isObject) {
      offset = skipString(text, offset);
      if (Expected<llvm::json::Value> parsed =
              llvm::json::parse(text.slice(keyOffset, offset)))
        key = parsed->getAsString().value_or("").str();
      else
        llvm::consumeError(parsed.takeError());
      offset = skipSpace(text, skipSpace(text, offset) + 1); // the colon
    }
    if (!visit(key, keyOffset, offset))
      return;
    offset = skipSpace(text, skipValue(text, offset));
    if (text[offset] == ',')
      offset = skipSpace(text, offset + 1);
  }
}

/// The offset of the first duplicate key in the value that begins at `offset`.
static std::optional<size_t> findDuplicateKey(StringRef text, size_t offset) {
  if (text[offset] != '{' && text[offset] != '[')
    return std::nullopt;
  bool isObject = text[offset] == '{';
  llvm::StringSet<> keys;
  std::optional<size_t> duplicate;
  forEachMember(text, offset,
                [&](StringRef key, size_t keyOffset, size_t valueOffset) {
                  if (isObject && !keys.insert(key).second)
                    duplicate = keyOffset;
                  else
                    duplicate = findDuplicateKey(text, valueOffset);
                  return !duplicate;
                });
  return duplicate;
}

/// The offsets of the last key of `path` (or of the element of an array) and of
/// its value.
static std::pair<size_t, size_t> locate(StringRef text, JsonPath path) {
  size_t keyOffset = skipSpace(text, 0), valueOffset = keyOffset;
  for (const JsonStep &step : path) {
    size_t index = 0;
    forEachMember(text, valueOffset,
                  [&](StringRef key, size_t memberKey, size_t memberValue) {
                    const auto *wanted = std::get_if<StringRef>(&step);
                    if (wanted ? key != *wanted
                               : index++ != std::get<size_t>(step))
                      return true;
                    keyOffset = memberKey;
                    valueOffset = memberValue;
                    return false;
                  });
  }
  return {keyOffset, valueOffset};
}

//===----------------------------------------------------------------------===//
// StrictJson
//===----------------------------------------------------------------------===//

/// Converts LLVM's error, whose position is only in its text:
/// `[LINE:COLUMN, byte=OFFSET]: MESSAGE`.
static Error convertParseError(StringRef text, Error error) {
  std::string printed = llvm::toString(std::move(error));
  auto [place, message] = StringRef(printed).split("]: ");
  size_t offset = 0;
  if (place.split("byte=").second.getAsInteger(10, offset))
    return makeErrorAt(text, 0, printed);
  return makeErrorAt(text, std::min(offset, text.size()), message);
}

Expected<StrictJson> StrictJson::parse(StringRef text) {
  if (std::optional<size_t> offset = findTooDeep(text))
    return makeErrorAt(text, *offset,
                       "found more than " + llvm::Twine(maxDepth) +
                           " nested arrays and objects");
  Expected<llvm::json::Value> root = llvm::json::parse(text);
  if (!root)
    return convertParseError(text, root.takeError());
  if (std::optional<size_t> offset = findDuplicateKey(text, skipSpace(text, 0)))
    return makeErrorAt(text, *offset,
                       "found " +
                           text.slice(*offset, skipString(text, *offset)) +
                           " a second time in one object");
  return StrictJson(text, std::move(*root));
}

Error StrictJson::makeError(JsonPath path, const llvm::Twine &message) const {
  return makeErrorAt(text, locate(text, path).second, message);
}

void StrictJson::fail(JsonPath path, const llvm::Twine &message) const {
  if (!error)
    error = describeAt(text, locate(text, path).second, message);
}

void StrictJson::failAtKey(JsonPath path, const llvm::Twine &message) const {
  if (!error)
    error = describeAt(text, locate(text, path).first, message);
}

Error StrictJson::takeError() const {
  return error ? llvm::make_error<JsonError>(*error) : Error::success();
}

static std::string describeOldSpelling(const llvm::Twine &old,
                                       const llvm::Twine &present) {
  return (old + " is the old spelling of " + present +
          ", expected the new one, which alone works from the next release on")
      .str();
}

void StrictJson::warnOfOldKey(JsonPath path, const llvm::Twine &present) const {
  warnings.push_back(
      describeAt(text, locate(text, path).first,
                 describeOldSpelling(
                     "the field \"" + std::get<StringRef>(path.back()) + "\"",
                     "\"" + present + "\"")));
}

void StrictJson::warnOfOldValue(JsonPath path,
                                const llvm::Twine &present) const {
  size_t offset = locate(text, path).second;
  warnings.push_back(describeAt(
      text, offset,
      describeOldSpelling(text.slice(offset, skipString(text, offset)),
                          "\"" + present + "\"")));
}

Expected<std::unique_ptr<llvm::MemoryBuffer>>
braid::readRegularFile(StringRef path) {
  llvm::sys::fs::file_status status;
  if (std::error_code error = llvm::sys::fs::status(path, status))
    return llvm::createStringError(error, error.message());
  if (!llvm::sys::fs::is_regular_file(status))
    return llvm::createStringError("not a regular file");
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer =
      llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return llvm::createStringError(buffer.getError(),
                                   buffer.getError().message());
  return std::move(*buffer);
}

std::string braid::describeJson(const llvm::json::Value &value) {
  switch (value.kind()) {
  case llvm::json::Value::Array:
    return "an array";
  case llvm::json::Value::Object:
    return "an object";
  case llvm::json::Value::String: {
    StringRef string = *value.getAsString();
    constexpr size_t longest = 80;
    if (string.size() <= longest)
      return "\"" + escapeControls(string) + "\"";
    // Do not cut a character: its continuation bytes are 10xxxxxx.
    size_t end = longest;
    while ((string[end] & 0xC0) == 0x80)
      --end;
    return "\"" + escapeControls(string.take_front(end)) + "...\"";
  }
  default: {
    std::string text;
    llvm::raw_string_ostream(text) << value;
    return text;
  }
  }
}
