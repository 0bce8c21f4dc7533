//===- Json.h - Texts and numbers in JSON -----------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_COMMON_JSON_H
#define BRAID_TOOLS_BRAID_RUN_COMMON_JSON_H

#include "Base/JsonText.h"

#include <cmath>
#include <cstdio>
#include <string>

namespace braid::run {

using rt::quoted;

/// Nanoseconds as microseconds, without rounding.
inline std::string microseconds(long long ns) {
  char text[40];
  std::snprintf(text, sizeof(text), "%s%lld.%03lld", ns < 0 ? "-" : "",
                (ns < 0 ? -ns : ns) / 1000, (ns < 0 ? -ns : ns) % 1000);
  return text;
}

/// Builds an object: `{"a": 1, "b": "c"}`.
class JsonObject {
public:
  JsonObject &number(const std::string &key, long long value) {
    return raw(key, std::to_string(value));
  }
  /// JSON has no infinity and no NaN: they become null.
  JsonObject &real(const std::string &key, double value) {
    if (!std::isfinite(value))
      return raw(key, "null");
    char text[40];
    std::snprintf(text, sizeof(text), "%.9g", value);
    return raw(key, text);
  }
  JsonObject &text(const std::string &key, const std::string &value) {
    return raw(key, quoted(value));
  }
  /// Adds `value`, which is JSON.
  JsonObject &raw(const std::string &key, const std::string &value) {
    fields += (fields.empty() ? "" : ", ") + quoted(key) + ": " + value;
    return *this;
  }
  std::string str() const { return "{" + fields + "}"; }

private:
  std::string fields;
};

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_COMMON_JSON_H
