//===- JsonReader.cpp - Reading JSON --------------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Failures/JsonReader.h"
#include "Failures/Failure.h"

#include <algorithm>
#include <charconv>

using namespace braid::run;

/// Reads a text from its beginning to its end.
class JsonValue::Parser {
public:
  Parser(const std::string &text, const std::string &file)
      : text(text), file(file) {}

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

  std::string place() const {
    auto end = text.begin() + static_cast<std::ptrdiff_t>(next);
    auto line = 1 + std::count(text.begin(), end, '\n');
    size_t newline = next ? text.rfind('\n', next - 1) : std::string::npos;
    size_t column = newline == std::string::npos ? next + 1 : next - newline;
    return file + ":" + std::to_string(line) + ":" + std::to_string(column);
  }

  [[noreturn]] void fail(const std::string &expected) const {
    std::string found = next == text.size() ? "the end of the file"
                                            : "'" + text.substr(next, 1) + "'";
    throw RunError(place() + ": found " + found + ", expected " + expected);
  }

  void skipSpaces() {
    while (next < text.size() &&
           std::string(" \t\r\n").find(text[next]) != std::string::npos)
      ++next;
  }

  bool take(const std::string &word) {
    skipSpaces();
    if (text.compare(next, word.size(), word) != 0)
      return false;
    next += word.size();
    return true;
  }

  void demand(const std::string &word) {
    if (!take(word))
      fail("'" + word + "'");
  }

  JsonValue parseValue(int depth) {
    skipSpaces();
    JsonValue value;
    value.place = place();
    if (depth > deepest)
      fail("at most " + std::to_string(deepest) + " levels");
    if (take("{")) {
      value.kind = Kind::Object;
      parseList("}", [&]() {
        skipSpaces();
        std::string key = parseText();
        demand(":");
        value.members[key] = parseValue(depth + 1);
      });
    } else if (take("[")) {
      value.kind = Kind::List;
      parseList("]",
                [&]() { value.elements.push_back(parseValue(depth + 1)); });
    } else if (next < text.size() && text[next] == '"') {
      value.kind = Kind::Text;
      value.string = parseText();
    } else if (take("null")) {
      value.kind = Kind::Null;
    } else if (take("true") || take("false")) {
      value.kind = Kind::Bool;
    } else {
      value.kind = Kind::Number;
      value.integer = parseNumber();
    }
    return value;
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
    if (code != std::errc() || end == begin)
      fail("a value");
    next += static_cast<size_t>(end - begin);
    return value;
  }

  std::string parseText() {
    if (next == text.size() || text[next] != '"')
      fail("'\"'");
    std::string result;
    for (++next; next < text.size() && text[next] != '"'; ++next) {
      if (text[next] != '\\') {
        result += text[next];
        continue;
      }
      ++next;
      result += parseEscape();
    }
    if (next == text.size())
      fail("'\"'");
    ++next;
    return result;
  }

  /// The runtime writes only control characters as \u.
  char parseEscape() {
    static const std::string letters = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
    size_t found =
        next < text.size() ? letters.find(text[next]) : std::string::npos;
    if (found != std::string::npos)
      return meant[found];
    unsigned code = 0;
    const char *digits = text.data() + next + 1;
    bool isCode = next + 4 < text.size() && text[next] == 'u';
    if (isCode) {
      auto [end, error] = std::from_chars(digits, digits + 4, code, 16);
      isCode = error == std::errc() && end == digits + 4 && code < 0x80;
    }
    if (!isCode)
      fail("an escape sequence of ASCII");
    next += 4;
    return static_cast<char>(code);
  }

  const std::string &text;
  const std::string &file;
  size_t next = 0;
};

JsonValue JsonValue::parse(const std::string &text, const std::string &place) {
  return Parser(text, place).parse();
}

void JsonValue::expect(Kind expected) const {
  static constexpr const char *names[] = {"null",   "a boolean", "a number",
                                          "a text", "a list",    "an object"};
  if (kind != expected)
    throw RunError(place + ": found " + names[static_cast<int>(kind)] +
                   ", expected " + names[static_cast<int>(expected)]);
}

int64_t JsonValue::number() const {
  expect(Kind::Number);
  return integer;
}

const std::string &JsonValue::text() const {
  expect(Kind::Text);
  return string;
}

const std::vector<JsonValue> &JsonValue::list() const {
  expect(Kind::List);
  return elements;
}

bool JsonValue::has(const std::string &key) const {
  expect(Kind::Object);
  return members.count(key) != 0;
}

const JsonValue &JsonValue::operator[](const std::string &key) const {
  if (!has(key))
    throw RunError(place + ": the object has no '" + key + "'");
  return members.at(key);
}
