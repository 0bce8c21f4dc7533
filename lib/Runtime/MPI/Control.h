//===- Control.h - Messages about operations, not data ----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_MPI_CONTROL_H
#define BRAID_RUNTIME_MPI_CONTROL_H

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace braid::rt {

/// The tags of the control communicator.
enum ControlKind {
  StatusQuestion, ///< The number of the inquiry.
  StatusAnswer,   ///< The same, and a Status.
  GivenUp,        ///< A member gives an operation up: queue, number, text.
  Failed,         ///< The sender has failed: its text.
  FailureHeard,   ///< The counters of one who starts nothing with it any more.
  LastOperations, ///< What the failed rank still takes part in.
  GroupAsked,     ///< To rank 0: a rank, the key and the ranks of a group.
  GroupReady      ///< From rank 0: its members are to make the group now.
};

/// What a rank is doing.
struct Status {
  int64_t begun = 0, ended = 0; ///< Invocations.
  int64_t meetings = 0;
  int64_t waitCount = 0; ///< Tells one wait from the next.
  bool running = false;
  /// It waits for an operation that some member may not have started.
  bool isBlocked = false;
  uint64_t queue = 0;      ///< Of that operation, as the rank counts it,
  uint64_t otherQueue = 0; ///< and as its other members count it.
  int64_t number = 0;
  std::vector<int32_t> members;
  std::string operation;
  /// The operations that it has started, by queue.
  std::map<uint64_t, int64_t> started;
};

/// Puts values behind one another.
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
  Writer &put(const std::map<uint64_t, int64_t> &counters) {
    put<int64_t>(static_cast<int64_t>(counters.size()));
    for (const auto &entry : counters)
      put(entry.first).put(entry.second);
    return *this;
  }
  Writer &put(const Status &status);

  std::string bytes;
};

/// Takes them out again, in the same order.
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
  std::map<uint64_t, int64_t> getCounters() {
    std::map<uint64_t, int64_t> counters;
    for (auto left = get<int64_t>(); left > 0; --left) {
      auto queue = get<uint64_t>();
      counters[queue] = get<int64_t>();
    }
    return counters;
  }
  Status getStatus();

private:
  const std::string &bytes;
  size_t position = 0;
};

} // namespace braid::rt

#endif // BRAID_RUNTIME_MPI_CONTROL_H
