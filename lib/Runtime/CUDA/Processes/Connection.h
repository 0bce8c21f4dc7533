//===- Connection.h - Framed messages over a socket -------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_RUNTIME_CUDA_PROCESSES_CONNECTION_H
#define BRAID_RUNTIME_CUDA_PROCESSES_CONNECTION_H

#include <cstdint>
#include <functional>
#include <string>

namespace braid::rt::cuda {

/// A message of the store: a header of fixed size, then `body`.
struct Frame {
  uint32_t kind = 0;
  int32_t process = 0; ///< The sender.
  int64_t number = 0;  ///< Of an exchange.
  std::string body;
};

/// A non-blocking socket.
class Connection {
public:
  explicit Connection(int socket);
  ~Connection();
  Connection(const Connection &) = delete;
  Connection &operator=(const Connection &) = delete;

  /// Queues a message and sends as much as the socket accepts.
  void send(const Frame &frame);
  /// Sends more of the queued messages.
  void flush();
  bool hasUnsent() const { return !isClosed && !unsent.empty(); }

  /// Receives available data and calls `handle` for each complete message.
  void receive(const std::function<void(Frame &&frame)> &handle);

  int descriptor() const { return socket; }
  /// True if the other side has closed the connection or has sent invalid data.
  bool closed() const { return isClosed; }
  /// True if all received data were messages of a store.
  bool understood() const { return !isForeign; }
  void close() { isClosed = true; }

  /// The process at the other end; -1 before its introduction.
  int32_t process = -1;
  /// True if the other process has announced its end.
  bool saidGoodbye = false;

private:
  const int socket;
  std::string unsent, received;
  bool isClosed = false;
  bool isForeign = false;
};

/// Listens at a port on all interfaces. Throws an Error with the reason if this
/// fails.
int listenAt(int32_t port);

/// Accepts a connection; -1 if none is waiting.
int acceptFrom(int listener);

/// Connects to a host, with repeated attempts until the deadline on the
/// monotonic clock. Throws an Error with the reason if this fails.
int connectTo(const std::string &host, int32_t port, int64_t deadlineNs);

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_PROCESSES_CONNECTION_H
