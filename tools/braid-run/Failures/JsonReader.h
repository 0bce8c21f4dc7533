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
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace braid::run {

/// A value of a JSON text. The functions that read it throw a RunError that
/// names the place and the expected kind. A value takes some 100 bytes for each
/// of the text.
class JsonValue {
public:
  /// Reads a text. `place` begins the messages: the name of the file.
  static JsonValue parse(const std::string &text, const std::string &place);

  /// `dump/0.json:3:8`.
  std::string describePlace() const;

  int64_t number() const;
  const std::string &text() const;
  const std::vector<JsonValue> &list() const;
  bool has(const std::string &key) const;
  /// The value of a key of an object.
  const JsonValue &operator[](const std::string &key) const;

private:
  class Parser;
  /// A text and its name, for places in messages.
  struct Source {
    std::string text, file;
  };
  using List = std::vector<JsonValue>;
  using Object = std::map<std::string, JsonValue>;

  template <typename Kind> const Kind &get(const char *expected) const;

  std::shared_ptr<const Source> source;
  size_t offset = 0; ///< In the text.
  /// Null, a boolean, a number, a text, a list, or an object.
  std::variant<std::monostate, bool, int64_t, std::string, List, Object> value;
};

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_FAILURES_JSONREADER_H
