//===- Connection.h - Framed messages over a socket -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_PROCESSES_CONNECTION_H
#define BRAID_RUNTIME_CUDA_PROCESSES_CONNECTION_H

#include "CUDA/Processes/Frames.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace braid::rt::cuda {

/// A non-blocking socket.
class Connection {
public:
  /// `side`: which frames this end receives.
  Connection(int socket, Side side);
  ~Connection();
  Connection(const Connection &) = delete;
  Connection &operator=(const Connection &) = delete;

  /// Queues a message and sends as much as the socket accepts. Closes the
  /// connection if the other side does not read what waits already.
  void send(const Frame &frame);
  /// Sends more of the queued messages.
  void flush();
  bool hasUnsent() const { return !isClosed && !unsent.empty(); }

  /// Takes a message; false: the next ones are for the next call of `receive`.
  using Handle = std::function<bool(Frame &&frame)>;

  /// Receives available data, at most a few hundred KiB, and calls `handle` for
  /// each complete message.
  void receive(const Handle &handle);

  /// Seals all later messages of both directions; the introduction is over.
  void seal(const Digest &own, const Digest &others);

  int descriptor() const { return socket; }
  /// True if the other side has closed the connection or has sent invalid data.
  bool closed() const { return isClosed; }
  void close() { isClosed = true; }
  /// Closes the connection, because a message is wrong.
  void reject(const std::string &why);
  /// The reason of a rejection; empty without one.
  const std::string &rejection() const { return whyRejected; }
  /// True if what came is no message of a store.
  bool isForeign() const { return parser.isForeign(); }

  /// The process at the other end; -1 before its introduction.
  int32_t process = -1;
  /// True if the other process has announced its end.
  bool saidGoodbye = false;
  /// The parts of exchanges that the other process has sent.
  int64_t parts = 0;

private:
  const int socket;
  FrameParser parser;
  std::optional<Seal> ownSeal;
  std::string unsent;
  std::string whyRejected;
  bool isClosed = false;
};

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_PROCESSES_CONNECTION_H
