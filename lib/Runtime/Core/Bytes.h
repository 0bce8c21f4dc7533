//===- Bytes.h - Serialization of values ------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CORE_BYTES_H
#define BRAID_RUNTIME_CORE_BYTES_H

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace braid::rt {

/// Serializes values for another process of the world.
class Writer {
public:
  template <typename T> Writer &put(T value) {
    bytes.append(reinterpret_cast<const char *>(&value), sizeof(value));
    return *this;
  }
  Writer &put(const std::string &text) {
    put<int64_t>(static_cast<int64_t>(text.size()));
    bytes += text;
    return *this;
  }
  template <typename T> Writer &put(const std::vector<T> &values) {
    put<int64_t>(static_cast<int64_t>(values.size()));
    for (const T &value : values)
      put(value);
    return *this;
  }
  Writer &put(const std::map<uint64_t, int64_t> &counters) {
    put<int64_t>(static_cast<int64_t>(counters.size()));
    for (const auto &entry : counters)
      put(entry.first).put(entry.second);
    return *this;
  }

  std::string bytes;
};

/// Reads the values in the order in which they were written.
class Reader {
public:
  explicit Reader(const std::string &bytes) : bytes(bytes) {}
  template <typename T> T get() {
    T value;
    std::memcpy(&value, bytes.data() + position, sizeof(value));
    position += sizeof(value);
    return value;
  }
  std::string getText() {
    auto length = static_cast<size_t>(get<int64_t>());
    position += length;
    return bytes.substr(position - length, length);
  }
  template <typename T> std::vector<T> getList() {
    std::vector<T> values;
    for (auto left = get<int64_t>(); left > 0; --left)
      values.push_back(get<T>());
    return values;
  }
  std::map<uint64_t, int64_t> getCounters() {
    std::map<uint64_t, int64_t> counters;
    for (auto left = get<int64_t>(); left > 0; --left) {
      auto queue = get<uint64_t>();
      counters[queue] = get<int64_t>();
    }
    return counters;
  }
  bool atEnd() const { return position >= bytes.size(); }

private:
  const std::string &bytes;
  size_t position = 0;
};

/// FNV-1a, which is equal on all processes, independent of their libraries.
inline uint64_t hashText(const std::string &text,
                         uint64_t hash = 0xcbf29ce484222325) {
  for (char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

} // namespace braid::rt

#endif // BRAID_RUNTIME_CORE_BYTES_H
