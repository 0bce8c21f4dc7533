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

/// The offset after the string that begins at `offset`.
static size_t skipString(StringRef text, size_t offset) {
  for (++offset; offset < text.size() && text[offset] != '"'; ++offset)
    if (text[offset] == '\\')
      ++offset;
  return std::min(offset + 1, text.size());
}

/// The key that `literal` stands for, which may have escape sequences.
static std::string readKey(StringRef literal) {
  Expected<llvm::json::Value> key = llvm::json::parse(literal);
  if (key)
    return key->getAsString().value_or("").str();
  llvm::consumeError(key.takeError());
  return literal.str();
}

namespace {
/// An object or array that has begun and not ended.
struct Level {
  bool isObject;
  std::string path;
  size_t numElements = 0;
  llvm::StringSet<> keys;
};
} // namespace

/// Calls `visit` with the path of each value of `text`, which may be anything,
/// and with the offsets of its key and of itself. Fails where brackets are
/// nested too deep, and at the second of two equal keys.
static Error
forEachValue(StringRef text,
             llvm::function_ref<void(StringRef path, size_t keyOffset,
                                     size_t valueOffset)>
                 visit) {
  llvm::SmallVector<Level> levels;
  std::string path;
  size_t keyOffset = 0;
  bool expectsKey = false;
  for (size_t offset = 0, end; offset < text.size(); offset = end) {
    char c = text[offset];
    end = offset + 1;
    if (StringRef(" \t\r\n:").contains(c))
      continue;
    if (c == ',' || c == '}' || c == ']') {
      if (c != ',' && !levels.empty())
        levels.pop_back();
      expectsKey = c == ',' && !levels.empty() && levels.back().isObject;
      continue;
    }
    if (c == '"')
      end = skipString(text, offset);
    else if (c != '{' && c != '[')
      end = std::min(text.find_first_of(",:]} \t\r\n", end), text.size());
    if (expectsKey) {
      expectsKey = false;
      StringRef literal = text.slice(offset, end);
      std::string key = readKey(literal);
      if (!levels.back().keys.insert(key).second)
        return makeErrorAt(text, offset,
                           "found " + literal + " a second time in one object");
      path = appendToJsonPath(levels.back().path, key);
      keyOffset = offset;
      continue;
    }
    if (levels.empty() || !levels.back().isObject) {
      path = levels.empty() ? ""
                            : appendToJsonPath(levels.back().path,
                                               levels.back().numElements++);
      keyOffset = offset;
    }
    visit(path, keyOffset, offset);
    if (c != '{' && c != '[')
      continue;
    expectsKey = c == '{';
    levels.push_back({expectsKey, path});
    if (levels.size() > maxDepth)
      return makeErrorAt(text, offset,
                         "found more than " + llvm::Twine(maxDepth) +
                             " nested arrays and objects");
  }
  return Error::success();
}

/// The offsets of the value at `path` and of its key.
static std::pair<size_t, size_t> locate(StringRef text, StringRef path) {
  std::optional<std::pair<size_t, size_t>> found;
  llvm::consumeError(forEachValue(
      text, [&](StringRef at, size_t keyOffset, size_t valueOffset) {
        if (at == path && !found)
          found = {keyOffset, valueOffset};
      }));
  return found.value_or(std::pair<size_t, size_t>());
}

std::string braid::appendToJsonPath(StringRef path, StringRef key) {
  return (path + (path.empty() ? "" : ".") + key).str();
}

std::string braid::appendToJsonPath(StringRef path, size_t index) {
  return (path + "[" + llvm::Twine(index) + "]").str();
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
  if (Error error = forEachValue(text, [](StringRef, size_t, size_t) {}))
    return error;
  Expected<llvm::json::Value> root = llvm::json::parse(text);
  if (!root)
    return convertParseError(text, root.takeError());
  return StrictJson(text, std::move(*root));
}

Error StrictJson::makeError(StringRef path, const llvm::Twine &message) const {
  return makeErrorAt(text, locate(text, path).second, message);
}

void StrictJson::fail(StringRef path, const llvm::Twine &message) const {
  if (!error)
    error = describeAt(text, locate(text, path).second, message);
}

void StrictJson::failAtKey(StringRef path, const llvm::Twine &message) const {
  if (!error)
    error = describeAt(text, locate(text, path).first, message);
}

Error StrictJson::takeError() const {
  return error ? llvm::make_error<JsonError>(*error) : Error::success();
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
