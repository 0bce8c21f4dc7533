//===- JsonFile.cpp - JSON files that users write -------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonFile.h"

#include "braid/Support/Text.h"
#include "llvm/Support/FileSystem.h"

using namespace braid;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

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

/// How deep the brackets of `text`, which may be anything, are nested.
static unsigned getDepth(StringRef text) {
  unsigned depth = 0, deepest = 0;
  bool isString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (isString && c == '\\')
      ++i;
    else if (c == '"')
      isString = !isString;
    else if (!isString && (c == '{' || c == '['))
      deepest = std::max(deepest, ++depth);
    else if (!isString && depth != 0 && (c == '}' || c == ']'))
      --depth;
  }
  return deepest;
}

Expected<llvm::json::Value> braid::parseJson(StringRef text) {
  // Far more than any of our files needs, far less than the parser's stack
  // allows.
  constexpr unsigned maxDepth = 64;
  if (getDepth(text) > maxDepth)
    return llvm::createStringError("found more than " + llvm::Twine(maxDepth) +
                                   " nested arrays and objects");
  return llvm::json::parse(text);
}

std::string braid::appendToJsonPath(StringRef path, StringRef key) {
  return (path + (path.empty() ? "" : ".") + key).str();
}

std::string braid::appendToJsonPath(StringRef path, size_t index) {
  return (path + "[" + llvm::Twine(index) + "]").str();
}

Error braid::makeJsonError(StringRef path, const llvm::Twine &message) {
  return llvm::createStringError(path + (path.empty() ? "" : ": ") + message);
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
