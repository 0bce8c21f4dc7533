//===- Bytes.h - Messages between processes ---------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_TOOLS_BRAID_RUN_COMMON_BYTES_H
#define BRAID_TOOLS_BRAID_RUN_COMMON_BYTES_H

#include "Common/Failure.h"

#include <cstdint>
#include <cstring>
#include <string>

namespace braid::run {

/// Serializes numbers and texts. All processes of a world have the same byte
/// order, because they run the same compiled program.
class ByteWriter {
public:
  void number(int64_t value) {
    char data[sizeof(value)];
    std::memcpy(data, &value, sizeof(value));
    bytes.append(data, sizeof(value));
  }
  void text(const std::string &value) {
    number(static_cast<int64_t>(value.size()));
    bytes += value;
  }

  std::string bytes;
};

/// Reads the values of a ByteWriter in the same order.
class ByteReader {
public:
  explicit ByteReader(const std::string &bytes) : bytes(bytes) {}

  int64_t number() {
    int64_t value = 0;
    std::memcpy(&value, take(sizeof(value)), sizeof(value));
    return value;
  }
  std::string text() {
    auto size = static_cast<size_t>(number());
    const char *data = take(size);
    return {data, size};
  }

  bool atEnd() const { return next == bytes.size(); }

private:
  const char *take(size_t size) {
    if (size > bytes.size() - next)
      throw RunError("another process has sent too few bytes; do all "
                     "processes run the same braid-run?");
    next += size;
    return bytes.data() + next - size;
  }

  const std::string &bytes;
  size_t next = 0;
};

} // namespace braid::run

#endif // BRAID_TOOLS_BRAID_RUN_COMMON_BYTES_H
