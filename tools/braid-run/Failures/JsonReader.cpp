//===- JsonReader.cpp - Reading JSON --------------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Failures/JsonReader.h"
#include "Common/Failure.h"

#include <algorithm>
#include <charconv>
#include <string_view>

using namespace braid::run;

/// Reads a text from its beginning to its end.
class JsonValue::Parser {
public:
  Parser(const std::string &text, const std::string &file)
      : source(std::make_shared<Source>(Source{text, file})),
        text(source->text) {}

  JsonValue parse() {
    JsonValue value = parseValue(0);
    skipSpaces();
    if (next != text.size())
      fail("the end of the file");
    return value;
  }

private:
  /// Deeper than any dump, so that a bad file cannot use up the stack.
  static constexpr int deepest = 64;

  JsonValue at(size_t offset) const {
    JsonValue value;
    value.source = source;
    value.offset = offset;
    return value;
  }

  [[noreturn]] void fail(const std::string &expected) const {
    std::string found = next == text.size()
                            ? "the end of the file"
                            : "'" + std::string(text.substr(next, 1)) + "'";
    throw RunError(at(next).describePlace() + ": found " + found +
                   ", expected " + expected);
  }

  void skipSpaces() {
    next = std::min(text.find_first_not_of(" \t\r\n", next), text.size());
  }

  bool take(std::string_view word) {
    skipSpaces();
    if (text.substr(next, word.size()) != word)
      return false;
    next += word.size();
    return true;
  }

  void demand(std::string_view word) {
    if (!take(word))
      fail("'" + std::string(word) + "'");
  }

  JsonValue parseValue(int depth) {
    skipSpaces();
    JsonValue result = at(next);
    if (depth > deepest)
      fail("at most " + std::to_string(deepest) + " levels");
    if (take("{"))
      result.value = parseObject(depth);
    else if (take("["))
      result.value = parseElements(depth);
    else if (next < text.size() && text[next] == '"')
      result.value = parseText();
    else if (take("true"))
      result.value = true;
    else if (take("false"))
      result.value = false;
    else if (!take("null"))
      result.value = parseNumber();
    return result;
  }

  Object parseObject(int depth) {
    Object members;
    parseList("}", [&]() {
      skipSpaces();
      size_t begin = next;
      std::string key = parseText();
      demand(":");
      auto [place, isNew] = members.try_emplace(key);
      if (!isNew)
        throw RunError(at(begin).describePlace() + ": found '" + key +
                       "' a second time in one object");
      place->second = parseValue(depth + 1);
    });
    return members;
  }

  List parseElements(int depth) {
    List elements;
    parseList("]", [&]() { elements.push_back(parseValue(depth + 1)); });
    return elements;
  }

  template <typename Element>
  void parseList(const char *end, const Element &parseElement) {
    if (take(end))
      return;
    do
      parseElement();
    while (take(","));
    demand(end);
  }

  int64_t parseNumber() {
    int64_t value = 0;
    const char *begin = text.data() + next;
    auto [end, code] = std::from_chars(begin, text.data() + text.size(), value);
    if (code == std::errc::result_out_of_range)
      fail("a number of 64 bits");
    if (code != std::errc() || end == begin)
      fail("a value");
    next += static_cast<size_t>(end - begin);
    return value;
  }

  std::string parseText() {
    if (next == text.size() || text[next] != '"')
      fail("'\"'");
    std::string result;
    for (++next; next < text.size() && text[next] != '"';)
      if (text[next] == '\\')
        parseEscape(result);
      else
        result += text[next++];
    if (next == text.size())
      fail("'\"'");
    ++next;
    return result;
  }

  void parseEscape(std::string &result) {
    static constexpr std::string_view letters = "\"\\/bfnrt",
                                      meant = "\"\\/\b\f\n\r\t";
    ++next;
    size_t found =
        next < text.size() ? letters.find(text[next]) : std::string::npos;
    if (found != std::string_view::npos) {
      result += meant[found];
      ++next;
      return;
    }
    unsigned code = parseCode();
    // Two surrogates are one character; one of them is none.
    if (code >= 0xD800 && code < 0xDC00 && text.substr(next, 2) == "\\u") {
      size_t second = next++;
      unsigned low = parseCode();
      if (low >= 0xDC00 && low < 0xE000)
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      else
        next = second;
    }
    bool isSurrogate = code >= 0xD800 && code < 0xE000;
    appendUtf8(result, isSurrogate ? 0xFFFD : code);
  }

  /// `u` and four digits.
  unsigned parseCode() {
    unsigned code = 0;
    const char *digits = text.data() + next + 1;
    bool isCode = next + 4 < text.size() && text[next] == 'u';
    if (isCode) {
      auto [end, error] = std::from_chars(digits, digits + 4, code, 16);
      isCode = error == std::errc() && end == digits + 4;
    }
    if (!isCode)
      fail("an escape sequence");
    next += 5;
    return code;
  }

  std::shared_ptr<const Source> source;
  std::string_view text;
  size_t next = 0;
};

JsonValue JsonValue::parse(const std::string &text, const std::string &place) {
  return Parser(text, place).parse();
}

std::string JsonValue::describePlace() const {
  std::string_view before = std::string_view(source->text).substr(0, offset);
  auto line = 1 + std::count(before.begin(), before.end(), '\n');
  // Without a newline npos + 1 is 0.
  size_t lineStart = before.rfind('\n') + 1;
  return source->file + ":" + std::to_string(line) + ":" +
         std::to_string(offset - lineStart + 1);
}

template <typename Kind>
const Kind &JsonValue::get(const char *expected) const {
  static constexpr const char *names[] = {"null",   "a boolean", "a number",
                                          "a text", "a list",    "an object"};
  const Kind *found = std::get_if<Kind>(&value);
  if (!found)
    throw RunError(describePlace() + ": found " + names[value.index()] +
                   ", expected " + expected);
  return *found;
}

int64_t JsonValue::number() const { return get<int64_t>("a number"); }

const std::string &JsonValue::text() const {
  return get<std::string>("a text");
}

const std::vector<JsonValue> &JsonValue::list() const {
  return get<List>("a list");
}

bool JsonValue::has(const std::string &key) const {
  return get<Object>("an object").count(key) != 0;
}

const JsonValue &JsonValue::operator[](const std::string &key) const {
  if (!has(key))
    throw RunError(describePlace() + ": the object has no '" + key + "'");
  return std::get<Object>(value).at(key);
}
