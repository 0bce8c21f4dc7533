//===- JsonReader.h - Reading JSON ------------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// braid-run links no LLVM, so it reads the runtime's own JSON files with this
// reader. Numbers are integers.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_FAILURES_JSONREADER_H
#define BRAID_TOOLS_BRAID_RUN_FAILURES_JSONREADER_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace braid::run {

/// A value of a JSON text. The functions that read it throw a RunError that
/// names the place and the expected kind.
class JsonValue {
public:
  /// Reads a text. `place` begins the messages: the name of the file.
  static JsonValue parse(const std::string &text, const std::string &place);

  /// `dump/0.json:3:8`.
  const std::string &describePlace() const { return place; }

  int64_t number() const;
  const std::string &text() const;
  const std::vector<JsonValue> &list() const;
  bool has(const std::string &key) const;
  /// The value of a key of an object.
  const JsonValue &operator[](const std::string &key) const;

private:
  enum class Kind { Null, Bool, Number, Text, List, Object };
  class Parser;

  void expect(Kind expected) const;

  Kind kind = Kind::Null;
  std::string place;
  int64_t integer = 0;
  std::string string;
  std::vector<JsonValue> elements;
  std::map<std::string, JsonValue> members;
};

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_FAILURES_JSONREADER_H
