//===- Bytes.h - Serialization of values ------------------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_BASE_BYTES_H
#define BRAID_RUNTIME_BASE_BYTES_H

#include "Base/Error.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace braid::rt {

/// Whether a struct has a static function `fields(self)`, which ties its fields
/// in the order of their bytes. Other values are plain bytes.
template <typename T, typename = void> struct HasFields : std::false_type {};
template <typename T>
struct HasFields<T, std::void_t<decltype(T::fields(std::declval<T &>()))>>
    : std::true_type {};

/// Serializes values for another process of the world.
class Writer {
public:
  template <typename T> Writer &put(const T &value) {
    if constexpr (HasFields<T>::value)
      std::apply([&](const auto &...fields) { (put(fields), ...); },
                 T::fields(value));
    else
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

/// Reads the values in the order in which they were written. The bytes may be
/// anyone's: every function throws an Error where they do not have the value.
class Reader {
public:
  explicit Reader(const std::string &bytes) : bytes(bytes) {}
  template <typename T> T get() {
    T value = {};
    read(value);
    return value;
  }
  template <typename T> void read(T &value) {
    if constexpr (HasFields<T>::value) {
      std::apply([&](auto &...fields) { (read(fields), ...); },
                 T::fields(value));
    } else {
      static_assert(std::is_trivially_copyable<T>::value, "only plain bytes");
      const char *data = take(sizeof(T));
      if (std::is_same<T, bool>::value && *data != 0 && *data != 1)
        fail("a truth value is " + std::to_string(*data));
      std::memcpy(&value, data, sizeof(value));
    }
  }
  void read(std::string &text) { text = getText(); }
  template <typename T> void read(std::vector<T> &values) {
    values = getList<T>();
  }
  void read(std::map<uint64_t, int64_t> &counters) { counters = getCounters(); }
  /// The number of the elements that follow, each of at least `leastBytes`.
  size_t getCount(size_t leastBytes) {
    auto count = get<int64_t>();
    if (count < 0 || static_cast<uint64_t>(count) > left() / leastBytes)
      fail("a list of " + std::to_string(count) + " elements is left in " +
           std::to_string(left()) + " bytes");
    return static_cast<size_t>(count);
  }
  std::string getText() {
    size_t length = getCount(1);
    return {take(length), length};
  }
  template <typename T> std::vector<T> getList() {
    std::vector<T> values;
    constexpr bool isPlain =
        std::is_trivially_copyable<T>::value && !HasFields<T>::value;
    constexpr size_t least = isPlain ? sizeof(T) : 1;
    for (size_t left = getCount(least); left > 0; --left)
      values.push_back(get<T>());
    return values;
  }
  std::map<uint64_t, int64_t> getCounters() {
    std::map<uint64_t, int64_t> counters;
    for (size_t left = getCount(2 * sizeof(int64_t)); left > 0; --left) {
      auto queue = get<uint64_t>();
      counters[queue] = get<int64_t>();
    }
    return counters;
  }
  bool atEnd() const { return left() == 0; }
  /// Throws an Error if there are more bytes.
  void expectEnd() const {
    if (!atEnd())
      fail(std::to_string(left()) + " bytes are left behind the last value");
  }

private:
  size_t left() const { return bytes.size() - position; }
  const char *take(size_t size) {
    if (size > left())
      fail("a value of " + std::to_string(size) + " bytes is left in " +
           std::to_string(left()) + " bytes");
    position += size;
    return bytes.data() + position - size;
  }
  [[noreturn]] static void fail(const std::string &what) {
    throw Error("a message from another rank is damaged: " + what +
                "; do all ranks run the same version of Braid?");
  }

  const std::string &bytes;
  size_t position = 0;
};

/// A value as the bytes of a message.
template <typename T> std::string toBytes(const T &value) {
  return Writer().put(value).bytes;
}

/// The value of a message. Throws an Error unless the bytes are those of one.
template <typename T> T fromBytes(const std::string &bytes) {
  Reader reader(bytes);
  T value = reader.get<T>();
  reader.expectEnd();
  return value;
}

/// FNV-1a, which is equal on all processes, independent of their libraries.
inline uint64_t hashText(const std::string &text,
                         uint64_t hash = 0xcbf29ce484222325) {
  for (char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

} // namespace braid::rt

#endif // BRAID_RUNTIME_BASE_BYTES_H
