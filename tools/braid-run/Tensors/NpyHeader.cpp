//===- NpyHeader.cpp - Headers of .npy files --------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tensors/NpyHeader.h"
#include "Common/Failure.h"
#include "braid/Support/Text.h"

#include <algorithm>
#include <map>
#include <optional>

using namespace braid::run;

namespace {

/// A value of a Python literal, as far as a header has use for it.
struct Value {
  enum class Kind { Text, Bool, Integer, Tuple } kind = Kind::Text;
  size_t place = 0;
  std::string text;
  bool flag = false;
  bool hasSign = false;
  std::optional<int64_t> integer; ///< Nothing: too large for 64 bits.
  std::vector<Value> elements;
};

bool isBlank(char c) { return c == ' ' || c == '\t' || c == '\f'; }
bool isNewline(char c) { return c == '\n' || c == '\r'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// Part of a name or a number.
bool isWordChar(char c) {
  return isDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

/// The value of a digit of any base up to 16; 16 for other characters.
unsigned digitValue(char c) {
  if (isDigit(c))
    return static_cast<unsigned>(c - '0');
  char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? static_cast<unsigned>(lower - 'a' + 10)
                                      : 16;
}

/// Reads a Python expression that is a dictionary.
class LiteralParser {
public:
  LiteralParser(std::string_view text, bool takesLong)
      : text(text), takesLong(takesLong) {}

  std::map<std::string, Value> parse();

private:
  /// As deep as Python nests brackets.
  static constexpr int deepest = 200;

  [[noreturn]] void fail(const std::string &expected) const {
    std::string found =
        next >= text.size()
            ? "the end of the header"
            : "'" + braid::escapeControls(text.substr(next, 1)) + "'";
    throw RunError("byte " + std::to_string(next + 1) +
                   " of the header: found " + found + ", expected " + expected);
  }

  char peek(size_t offset = 0) const {
    return next + offset < text.size() ? text[next + offset] : '\0';
  }
  bool take(char c) {
    if (next == text.size() || text[next] != c)
      return false;
    ++next;
    return true;
  }
  bool takeWord(std::string_view word);
  void demand(char c) {
    if (!take(c))
      fail(std::string("'") + c + "'");
  }

  void skipComment() {
    while (next < text.size() && !isNewline(text[next]))
      ++next;
  }
  void skipBefore();
  void skipInside();
  void skipAfter();

  void open() {
    if (++depth > deepest)
      fail("at most " + std::to_string(deepest) + " nested brackets");
  }

  Value parseValue();
  Value parsePrimary();
  Value parseParentheses();
  Value parseSigned();
  Value parseInteger();
  void skipLongMark();
  bool startsText() const;
  std::string parseTexts();
  void parseText(std::string &result);
  void parseEscape(std::string &result);
  unsigned parseCode(unsigned base, int least, int most);

  std::string_view text;
  bool takesLong;
  size_t next = 0;
  int depth = 0;
};

} // namespace

bool LiteralParser::takeWord(std::string_view word) {
  if (text.substr(next, word.size()) != word || isWordChar(peek(word.size())))
    return false;
  next += word.size();
  return true;
}

/// Skips blanks, and lines without an expression. Python takes the blanks
/// before an expression of a later line as a wrong indentation.
void LiteralParser::skipBefore() {
  while (next < text.size() && (text[next] == ' ' || text[next] == '\t'))
    ++next;
  size_t lineStart = next;
  while (next < text.size()) {
    if (isNewline(text[next])) {
      lineStart = ++next;
      continue;
    }
    if (text[next] == '#')
      skipComment();
    else if (isBlank(text[next]))
      ++next;
    else
      break;
  }
  if (next != lineStart)
    fail("no indentation");
}

/// Skips what separates words within brackets.
void LiteralParser::skipInside() {
  while (next < text.size()) {
    char c = text[next];
    if (isBlank(c) || isNewline(c))
      ++next;
    else if (c == '#')
      skipComment();
    else if (c == '\\' && isNewline(peek(1)))
      next += 2;
    else
      break;
  }
}

void LiteralParser::skipAfter() {
  while (next < text.size()) {
    if (text[next] == '#')
      skipComment();
    else if (isBlank(text[next]) || isNewline(text[next]))
      ++next;
    else
      fail("the end of the header");
  }
  // Python takes blanks on a last line of their own as a wrong indentation,
  // which NumPy removes only from headers that may be of Python 2.
  size_t lastLine = text.find_last_of("\r\n");
  bool hasBlanks =
      lastLine != std::string_view::npos &&
      text.find_first_not_of(" \t", lastLine + 1) == std::string_view::npos &&
      lastLine + 1 < text.size();
  if (hasBlanks && !takesLong)
    fail("no blanks on the last line");
}

std::map<std::string, Value> LiteralParser::parse() {
  skipBefore();
  // Parentheses around the whole mean nothing.
  int around = 0;
  for (; take('('); ++around) {
    open();
    skipInside();
  }
  demand('{');
  open();
  std::map<std::string, Value> members;
  skipInside();
  while (!take('}')) {
    Value key = parseValue();
    if (key.kind != Value::Kind::Text) {
      next = key.place;
      fail("a key that is a string");
    }
    demand(':');
    skipInside();
    // Of equal keys Python takes the last.
    members[key.text] = parseValue();
    if (take(',')) {
      skipInside();
    } else {
      demand('}');
      break;
    }
  }
  for (; around > 0; --around) {
    skipInside();
    demand(')');
  }
  skipAfter();
  return members;
}

/// A value, and what separates it from the next word.
Value LiteralParser::parseValue() {
  Value value = parsePrimary();
  skipInside();
  return value;
}

Value LiteralParser::parsePrimary() {
  Value value;
  value.place = next;
  if (startsText()) {
    value.text = parseTexts();
  } else if (takeWord("True") || takeWord("False")) {
    value.kind = Value::Kind::Bool;
    value.flag = text[next - 2] == 'u';
  } else if (peek() == '(') {
    return parseParentheses();
  } else if (peek() == '+' || peek() == '-') {
    return parseSigned();
  } else if (isDigit(peek())) {
    return parseInteger();
  } else {
    fail("a string, a whole number, a tuple, True or False");
  }
  return value;
}

/// Without a comma, parentheses mean nothing.
Value LiteralParser::parseParentheses() {
  Value tuple;
  tuple.kind = Value::Kind::Tuple;
  tuple.place = next;
  demand('(');
  open();
  bool hasComma = false;
  skipInside();
  while (!take(')')) {
    tuple.elements.push_back(parseValue());
    if (take(',')) {
      hasComma = true;
      skipInside();
      continue;
    }
    demand(')');
    break;
  }
  --depth;
  if (hasComma || tuple.elements.empty())
    return tuple;
  Value only = std::move(tuple.elements.front());
  return only;
}

/// Python's literals have one sign, before a number.
Value LiteralParser::parseSigned() {
  size_t place = next;
  bool isMinus = text[next++] == '-';
  skipInside();
  Value value = parsePrimary();
  if (value.kind != Value::Kind::Integer || value.hasSign) {
    next = place;
    fail("a number with at most one sign");
  }
  if (isMinus && value.integer)
    value.integer = -*value.integer;
  value.hasSign = true;
  value.place = place;
  return value;
}

Value LiteralParser::parseInteger() {
  Value value;
  value.kind = Value::Kind::Integer;
  value.place = next;
  unsigned base = 10;
  if (peek() == '0') {
    char mark = static_cast<char>(peek(1) | 0x20);
    base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
    if (base != 10)
      next += 2;
  }
  bool hasZeroFirst = base == 10 && peek() == '0';
  int64_t number = 0;
  bool fits = true, hasDigit = false;
  while (true) {
    // One underscore may stand between digits and behind 0x.
    if (peek() == '_' && (hasDigit || base != 10) && digitValue(peek(1)) < base)
      ++next;
    unsigned digit = digitValue(peek());
    if (digit >= base)
      break;
    fits = fits && !__builtin_mul_overflow(number, base, &number) &&
           !__builtin_add_overflow(number, digit, &number);
    hasDigit = true;
    ++next;
  }
  if (!hasDigit)
    fail("a digit");
  if (hasZeroFirst && number != 0) {
    next = value.place;
    fail("a number without leading zeros");
  }
  if (takesLong)
    skipLongMark();
  if (isWordChar(peek()) || peek() == '.')
    fail("a whole number");
  if (fits)
    value.integer = number;
  return value;
}

/// Python 2 has written `4L` for some numbers.
void LiteralParser::skipLongMark() {
  while (true) {
    size_t mark = next;
    while (mark < text.size() && isBlank(text[mark]))
      ++mark;
    bool isMark = mark < text.size() && text[mark] == 'L' &&
                  (mark + 1 == text.size() || !isWordChar(text[mark + 1]));
    if (!isMark)
      return;
    next = mark + 1;
  }
}

//===----------------------------------------------------------------------===//
// Strings
//===----------------------------------------------------------------------===//

static bool isQuote(char c) { return c == '\'' || c == '"'; }

bool LiteralParser::startsText() const {
  static constexpr std::string_view prefixes = "uUrR";
  return isQuote(peek()) ||
         (prefixes.find(peek()) != std::string_view::npos && isQuote(peek(1)));
}

/// Strings behind each other are one.
std::string LiteralParser::parseTexts() {
  std::string result;
  while (true) {
    parseText(result);
    size_t end = next;
    skipInside();
    if (!startsText()) {
      next = end;
      return result;
    }
  }
}

void LiteralParser::parseText(std::string &result) {
  bool isRaw = (peek() | 0x20) == 'r';
  if (!isQuote(peek()))
    ++next;
  char quote = peek();
  std::string_view end = text.substr(next, 1);
  if (peek(1) == quote && peek(2) == quote)
    end = text.substr(next, 3);
  next += end.size();
  while (text.substr(next, end.size()) != end) {
    if (next == text.size() || (end.size() == 1 && isNewline(peek())))
      fail("the end of a string");
    if (peek() != '\\') {
      result += text[next++];
      continue;
    }
    if (next + 1 == text.size())
      fail("the end of a string");
    if (isRaw) {
      result += text[next++];
      result += text[next++];
      continue;
    }
    ++next;
    parseEscape(result);
  }
  next += end.size();
}

/// A code of `least` to `most` digits.
unsigned LiteralParser::parseCode(unsigned base, int least, int most) {
  unsigned code = 0;
  int count = 0;
  for (; count < most && digitValue(peek()) < base; ++count, ++next)
    code = code * base + digitValue(peek());
  if (count < least)
    fail("a digit of an escape sequence");
  return code;
}

/// The character behind a backslash.
void LiteralParser::parseEscape(std::string &result) {
  static constexpr std::string_view letters = "\\'\"abfnrtv",
                                    meant = "\\'\"\a\b\f\n\r\t\v";
  char c = peek();
  if (size_t found = letters.find(c); found != std::string_view::npos) {
    result += meant[found];
    ++next;
  } else if (c >= '0' && c <= '7') {
    braid::appendUtf8(result, parseCode(8, 1, 3));
  } else if (c == 'x' || c == 'u' || c == 'U') {
    int digits = c == 'x' ? 2 : c == 'u' ? 4 : 8;
    size_t place = next++;
    unsigned code = parseCode(16, digits, digits);
    if (code > 0x10FFFF) {
      next = place;
      fail("a character of Unicode");
    }
    braid::appendUtf8(result, code);
  } else if (c == 'N') {
    fail("no name of a character");
  } else if (isNewline(c)) {
    ++next;
  } else {
    // Python keeps what is no escape sequence.
    result += '\\';
  }
}

//===----------------------------------------------------------------------===//
// Headers
//===----------------------------------------------------------------------===//

static std::vector<int64_t> readShape(const Value &value) {
  auto fail = [](const Value &at, const std::string &expected) {
    throw RunError("byte " + std::to_string(at.place + 1) +
                   " of the header: expected 'shape' to be " + expected);
  };
  if (value.kind != Value::Kind::Tuple)
    fail(value, "a tuple of whole numbers");
  // As many as NumPy has in any version.
  constexpr size_t mostDimensions = 64;
  if (value.elements.size() > mostDimensions)
    fail(value, "of at most 64 dimensions");
  std::vector<int64_t> shape;
  for (const Value &element : value.elements) {
    if (element.kind != Value::Kind::Integer)
      fail(element, "a tuple of whole numbers");
    if (!element.integer || *element.integer < 0)
      fail(element, "a tuple of numbers from 0 to 2^63 - 1");
    shape.push_back(*element.integer);
  }
  return shape;
}

NpyHeader braid::run::parseNpyHeader(std::string_view text, int major) {
  if (size_t zero = text.find('\0'); zero != std::string_view::npos)
    throw RunError("byte " + std::to_string(zero + 1) +
                   " of the header: found a zero byte");
  // Format 3 is UTF-8, the others are Latin 1.
  bool hasUtf8 = major >= 3;
  if (hasUtf8 && !braid::isUtf8(text))
    throw RunError("the header is not UTF-8, which format 3 is in");
  auto length = std::count_if(text.begin(), text.end(), [&](char c) {
    return !hasUtf8 || (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  });
  if (static_cast<size_t>(length) > longestNpyHeader)
    throw RunError("the header has " + std::to_string(length) +
                   " characters, expected at most " +
                   std::to_string(longestNpyHeader));
  std::map<std::string, Value> members =
      LiteralParser(text, /*takesLong=*/major < 3).parse();
  static const char *const keys[] = {"descr", "fortran_order", "shape"};
  for (const char *key : keys)
    if (members.count(key) == 0)
      throw RunError(std::string("the header has no '") + key + "'");
  for (const auto &[key, value] : members)
    if (key != keys[0] && key != keys[1] && key != keys[2])
      throw RunError("the header has a key '" + key +
                     "', expected descr, fortran_order and shape alone");
  const Value &descr = members["descr"], &fortran = members["fortran_order"];
  if (descr.kind != Value::Kind::Text)
    throw RunError("expected 'descr' in the header to be a string, the name of "
                   "one element type");
  if (fortran.kind != Value::Kind::Bool)
    throw RunError("expected 'fortran_order' in the header to be True or "
                   "False");
  return {descr.text, fortran.flag, readShape(members["shape"])};
}
