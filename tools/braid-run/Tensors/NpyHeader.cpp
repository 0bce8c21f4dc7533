//===- NpyHeader.cpp - Headers of .npy files --------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// NumPy reads every Python literal. Programs that write .npy files write one
// form of it, which is all that this reader takes: strings without escape
// sequences, decimal numbers, one tuple. Anything else is refused, so that no
// header means something else here than in NumPy.
//
//===----------------------------------------------------------------------===//

#include "Tensors/NpyHeader.h"
#include "Common/Failure.h"
#include "braid/Support/Text.h"

#include <charconv>
#include <set>

using namespace braid::run;

namespace {
class HeaderParser {
public:
  HeaderParser(std::string_view text, bool takesLong)
      : text(text), takesLong(takesLong) {}

  NpyHeader parse();

private:
  [[noreturn]] void fail(const std::string &expected) const {
    std::string found =
        next >= text.size()
            ? "the end of the header"
            : "'" + braid::escapeControls(text.substr(next, 1)) + "'";
    throw RunError("byte " + std::to_string(next + 1) +
                   " of the header: found " + found + ", expected " + expected);
  }

  void skipBlanks() {
    next = std::min(text.find_first_not_of(" \t\n", next), text.size());
  }
  /// Takes `word`, and the blanks behind it.
  bool take(std::string_view word) {
    if (text.substr(next, word.size()) != word)
      return false;
    next += word.size();
    skipBlanks();
    return true;
  }
  void demand(std::string_view word) {
    if (!take(word))
      fail("'" + std::string(word) + "'");
  }
  std::string parseString();
  int64_t parseSize();
  std::vector<int64_t> parseShape();

  std::string_view text;
  bool takesLong;
  size_t next = 0;
};
} // namespace

std::string HeaderParser::parseString() {
  char quote = next < text.size() ? text[next] : '\0';
  if (quote != '\'' && quote != '"')
    fail("a string");
  size_t end = text.find_first_of(std::string("\\\n") + quote, next + 1);
  if (end == std::string_view::npos || text[end] != quote) {
    next = std::min(end, text.size());
    fail("the end of a string, without escape sequences");
  }
  std::string result(text.substr(next + 1, end - next - 1));
  next = end;
  demand(text.substr(end, 1));
  return result;
}

int64_t HeaderParser::parseSize() {
  int64_t size = 0;
  const char *begin = text.data() + next;
  auto [end, code] = std::from_chars(begin, text.data() + text.size(), size);
  if (code != std::errc() || size < 0 || (*begin == '0' && end > begin + 1))
    fail("a decimal number from 0 to 2^63 - 1");
  next += static_cast<size_t>(end - begin);
  // Python 2 has written `4L` for some numbers.
  if (!takesLong || !take("L"))
    skipBlanks();
  return size;
}

std::vector<int64_t> HeaderParser::parseShape() {
  // As many as NumPy has in any version.
  constexpr size_t mostDimensions = 64;
  std::vector<int64_t> shape;
  demand("(");
  while (!take(")")) {
    if (shape.size() == mostDimensions)
      fail("a shape of at most 64 dimensions");
    shape.push_back(parseSize());
    // Without a comma, parentheses mean nothing.
    bool mayEnd = shape.size() > 1 && next < text.size() && text[next] == ')';
    if (!mayEnd)
      demand(",");
  }
  return shape;
}

NpyHeader HeaderParser::parse() {
  NpyHeader header;
  std::set<std::string> keys;
  demand("{");
  while (!take("}")) {
    std::string key = parseString();
    if (!keys.insert(key).second)
      throw RunError("the header has a second '" + key + "'");
    demand(":");
    if (key == "descr") {
      header.descr = parseString();
    } else if (key == "fortran_order") {
      header.isFortran = take("True");
      if (!header.isFortran && !take("False"))
        fail("True or False");
    } else if (key == "shape") {
      header.shape = parseShape();
    } else {
      throw RunError("the header has a key '" + key +
                     "', expected descr, fortran_order and shape alone");
    }
    if (!take(",") && (next == text.size() || text[next] != '}'))
      fail("',' or '}'");
  }
  // NumPy fills the header up with spaces and a newline. Python takes blanks on
  // a line of their own as a wrong indentation.
  size_t end = text.rfind('}') + 1;
  size_t blanks = std::min(text.find_first_not_of(' ', end), text.size());
  if (next != text.size() || text.size() > blanks + 1)
    fail("spaces, a newline and the end of the header");
  for (const char *key : {"descr", "fortran_order", "shape"})
    if (keys.count(key) == 0)
      throw RunError(std::string("the header has no '") + key + "'");
  return header;
}

NpyHeader braid::run::parseNpyHeader(std::string_view text, int major) {
  if (text.size() > longestNpyHeader)
    throw RunError("the header has " + std::to_string(text.size()) +
                   " bytes, expected at most " +
                   std::to_string(longestNpyHeader));
  return HeaderParser(text, /*takesLong=*/major < 3).parse();
}
