//===- ProfileSignatureParser.cpp - Signatures of measured ops ------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Profile.h"

#include "llvm/ADT/StringExtras.h"

using namespace braid;
using llvm::StringRef;

/// The offset of the first character of `wanted` in `text` outside of quotes
/// and brackets; npos if there is none.
static size_t findOutside(StringRef text, StringRef wanted) {
  // The brackets that are open.
  std::string closers;
  for (size_t offset = 0; offset < text.size(); ++offset) {
    char c = text[offset];
    if (closers.empty() && wanted.contains(c))
      return offset;
    if (c == '"') {
      for (++offset; offset < text.size() && text[offset] != '"'; ++offset)
        if (text[offset] == '\\')
          ++offset;
      continue;
    }
    if (!closers.empty() && c == closers.back()) {
      closers.pop_back();
      continue;
    }
    constexpr StringRef opening = "([{<", closing = ")]}>";
    if (size_t bracket = opening.find(c); bracket != StringRef::npos)
      closers += closing[bracket];
  }
  return StringRef::npos;
}

/// Appends `type`, such as 64x128xbf16, as type number `number` to `signature`.
/// Returns false if a size is 0 or too large.
static bool addType(StringRef type, unsigned number, ParsedSignature &signature,
                    std::string &error) {
  while (true) {
    StringRef digits = type.take_while(llvm::isDigit);
    if (digits.empty() || !type.substr(digits.size()).starts_with("x"))
      break;
    int64_t size;
    if (digits.getAsInteger(10, size) || size < 1) {
      error = ("sizes from 1 to 9223372036854775807, not " + digits).str();
      return false;
    }
    signature.sizes.push_back(size);
    signature.typeOfSize.push_back(number);
    signature.family += "?x";
    type = type.drop_front(digits.size() + 1);
  }
  if (type.empty()) {
    error = "a type between commas and parentheses";
    return false;
  }
  signature.family += type;
  return true;
}

/// Parses `(TYPE, TYPE, ...)` at the front of `text`.
static bool consumeTypes(StringRef &text, unsigned &numTypes,
                         ParsedSignature &signature, std::string &error) {
  if (!text.consume_front("(")) {
    error = "'(' before types";
    return false;
  }
  signature.family += '(';
  text = text.ltrim();
  if (text.consume_front(")")) {
    signature.family += ')';
    return true;
  }
  while (true) {
    size_t end = findOutside(text, ",)");
    if (end == StringRef::npos) {
      error = "')' after types";
      return false;
    }
    if (!addType(text.take_front(end).trim(), numTypes++, signature, error))
      return false;
    bool isLast = text[end] == ')';
    text = text.drop_front(end + 1);
    signature.family += isLast ? ")" : ", ";
    if (isLast)
      return true;
  }
}

/// Parses `HEAD, N bytes`, or `HEAD, N ranks` for an op without data.
static bool parseCollective(StringRef text, ParsedSignature &signature,
                            std::string &error) {
  auto [head, size] = text.rsplit(',');
  signature.isCollective = true;
  if (size.ends_with(" ranks") || size.ends_with(" nodes")) {
    signature.family = text.str();
    return true;
  }
  int64_t bytes;
  if (!size.consume_back("bytes") || size.trim().getAsInteger(10, bytes) ||
      bytes < 1) {
    error = "'OP(TYPES) -> (TYPES)' or 'OP, N bytes', as comm-report prints it "
            "with format=json";
    return false;
  }
  signature.family = (head.trim() + ", ? bytes").str();
  signature.sizes = {bytes};
  signature.typeOfSize = {0};
  return true;
}

std::optional<ParsedSignature> ParsedSignature::parse(StringRef text,
                                                      std::string &error) {
  ParsedSignature signature;
  text = text.trim();
  signature.op =
      text.take_until([](char c) { return StringRef(" #(,").contains(c); })
          .str();
  if (signature.op.empty()) {
    error = "the name of an op first";
    return std::nullopt;
  }
  size_t paren = findOutside(text, "(");
  if (paren == StringRef::npos) {
    if (!parseCollective(text, signature, error))
      return std::nullopt;
    return signature;
  }

  unsigned numTypes = 0;
  signature.family = text.take_front(paren).trim().str();
  text = text.drop_front(paren);
  if (!consumeTypes(text, numTypes, signature, error))
    return std::nullopt;
  text = text.ltrim();
  if (!text.consume_front("->")) {
    error = "'->' between the types of what is read and of what is written";
    return std::nullopt;
  }
  signature.family += " -> ";
  text = text.ltrim();
  if (!consumeTypes(text, numTypes, signature, error))
    return std::nullopt;
  if (!text.trim().empty()) {
    error = "nothing after the types of what is written";
    return std::nullopt;
  }
  return signature;
}
