//===- TextSink.h - Output of texts about operations ------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that print to a TextSink serve both messages, which are strings,
// and signal handlers, which must not allocate.
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_BASE_TEXTSINK_H
#define BRAID_RUNTIME_BASE_TEXTSINK_H

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>

namespace braid::rt {

/// Receives a text piece by piece.
class TextSink {
public:
  virtual void append(const char *text, size_t size) = 0;

  TextSink &operator<<(const char *text) {
    append(text, std::strlen(text));
    return *this;
  }
  TextSink &operator<<(int64_t value) {
    char digits[24];
    auto result = std::to_chars(digits, digits + sizeof(digits), value);
    append(digits, static_cast<size_t>(result.ptr - digits));
    return *this;
  }

protected:
  ~TextSink() = default;
};

/// Stores the text in a string.
class StringSink final : public TextSink {
public:
  void append(const char *data, size_t size) override {
    text.append(data, size);
  }

  std::string text;
};

/// Stores the beginning of the text in a buffer of at least one byte, always
/// with a closing zero. Signal handlers may use this class.
class BufferSink final : public TextSink {
public:
  BufferSink(char *buffer, size_t size) : next(buffer), left(size - 1) {
    *next = '\0';
  }

  void append(const char *data, size_t size) override {
    size = std::min(size, left);
    std::memcpy(next, data, size);
    next += size;
    left -= size;
    *next = '\0';
  }

private:
  char *next;
  size_t left;
};

} // namespace braid::rt

#endif // BRAID_RUNTIME_BASE_TEXTSINK_H
