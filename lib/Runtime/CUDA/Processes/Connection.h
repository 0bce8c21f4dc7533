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

/// A message of the store's: a header of fixed size, then `body`.
struct Frame {
  uint32_t kind = 0;
  int32_t process = 0; ///< Whom it is from.
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

  /// Queues a message and sends what the socket takes.
  void send(const Frame &frame);
  /// Sends more of what is queued.
  void flush();
  bool hasUnsent() const { return !isClosed && !unsent.empty(); }

  /// Receives what is there and calls `handle` for each whole message.
  void receive(const std::function<void(Frame &&frame)> &handle);

  int descriptor() const { return socket; }
  /// The other side has closed it, or has sent what is no message.
  bool closed() const { return isClosed; }
  /// Whether all that came was messages of the store's.
  bool understood() const { return !isForeign; }
  void close() { isClosed = true; }

  /// The process at the other end, once it has said which one it is.
  int32_t process = -1;
  /// It has said that it ends.
  bool saidGoodbye = false;

private:
  const int socket;
  std::string unsent, received;
  bool isClosed = false;
  bool isForeign = false;
};

/// Listens at a port on all interfaces; throws an Error that says why it
/// cannot.
int listenAt(int32_t port);

/// Accepts a connection; -1 when none is waiting.
int acceptFrom(int listener);

/// Connects to a host, again and again until the deadline of the monotonic
/// clock; throws an Error that says why it cannot.
int connectTo(const std::string &host, int32_t port, int64_t deadlineNs);

} // namespace braid::rt::cuda

#endif // BRAID_RUNTIME_CUDA_PROCESSES_CONNECTION_H
