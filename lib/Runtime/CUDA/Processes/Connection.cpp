//===- Connection.cpp - Framed messages over a socket ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Processes/Connection.h"
#include "Core/Environment.h"
#include "Core/Error.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace braid::rt;
using namespace braid::rt::cuda;

namespace {
/// The header of every message.
struct Header {
  char magic[8];
  uint32_t kind;
  int32_t process;
  int64_t number;
  uint64_t size;
};

/// The addresses of a host; freed with it.
class Addresses {
public:
  /// `host` is nullptr for all interfaces of this host.
  Addresses(const char *host, int32_t port) {
    addrinfo hints = {};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = host ? 0 : AI_PASSIVE;
    int status =
        getaddrinfo(host, std::to_string(port).c_str(), &hints, &first);
    if (status != 0)
      why = gai_strerror(status);
  }
  ~Addresses() {
    if (first)
      freeaddrinfo(first);
  }
  Addresses(const Addresses &) = delete;
  Addresses &operator=(const Addresses &) = delete;

  addrinfo *first = nullptr;
  std::string why; ///< The reason why there are no addresses.
};
} // namespace

static constexpr char magic[8] = {'B', 'R', 'A', 'I', 'D', 'S', 'T', '1'};
/// The longest message of a store.
static constexpr uint64_t longestBody = uint64_t(1) << 32;

static void configure(int socket) {
  fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK);
  fcntl(socket, F_SETFD, FD_CLOEXEC);
  int on = 1, idle = 10, interval = 5, count = 3;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  // Keepalive detects hosts that have crashed.
  setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

Connection::Connection(int socket) : socket(socket) {}

Connection::~Connection() { ::close(socket); }

void Connection::send(const Frame &frame) {
  Header header = {};
  std::memcpy(header.magic, magic, sizeof(magic));
  header.kind = frame.kind;
  header.process = frame.process;
  header.number = frame.number;
  header.size = frame.body.size();
  unsent.append(reinterpret_cast<const char *>(&header), sizeof(header));
  unsent += frame.body;
  flush();
}

void Connection::flush() {
  size_t done = 0;
  while (!isClosed && done < unsent.size()) {
    ssize_t sent = ::send(socket, unsent.data() + done, unsent.size() - done,
                          MSG_NOSIGNAL);
    if (sent >= 0) {
      done += static_cast<size_t>(sent);
      continue;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK)
      break;
    if (errno != EINTR)
      isClosed = true;
  }
  unsent.erase(0, done);
}

void Connection::receive(const std::function<void(Frame &&frame)> &handle) {
  char buffer[65536];
  bool ended = false;
  while (!isClosed && !ended) {
    ssize_t count = recv(socket, buffer, sizeof(buffer), 0);
    if (count > 0)
      received.append(buffer, static_cast<size_t>(count));
    else if (count == 0 ||
             (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
      ended = true;
    else if (errno != EINTR)
      break;
  }
  size_t position = 0;
  Header header;
  while (!isClosed && received.size() - position >= sizeof(header)) {
    std::memcpy(&header, received.data() + position, sizeof(header));
    if (std::memcmp(header.magic, magic, sizeof(magic)) != 0 ||
        header.size > longestBody) {
      isForeign = isClosed = true;
      break;
    }
    if (received.size() - position - sizeof(header) < header.size)
      break;
    position += sizeof(header);
    Frame frame;
    frame.kind = header.kind;
    frame.process = header.process;
    frame.number = header.number;
    frame.body = received.substr(position, header.size);
    position += header.size;
    handle(std::move(frame));
  }
  received.erase(0, position);
  // A part of a header may already show that the peer is not a store.
  if (ended && !received.empty() &&
      std::memcmp(received.data(), magic,
                  std::min(received.size(), sizeof(magic))) != 0)
    isForeign = true;
  isClosed |= ended;
}

//===----------------------------------------------------------------------===//
// Connecting
//===----------------------------------------------------------------------===//

int braid::rt::cuda::listenAt(int32_t port) {
  Addresses addresses(nullptr, port);
  std::string why = addresses.why;
  for (addrinfo *a = addresses.first; a; a = a->ai_next) {
    int listener = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
    if (listener < 0) {
      why = std::strerror(errno);
      continue;
    }
    int on = 1, off = 0;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (a->ai_family == AF_INET6)
      setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    if (bind(listener, a->ai_addr, a->ai_addrlen) == 0 &&
        listen(listener, 1024) == 0) {
      configure(listener);
      return listener;
    }
    why = std::strerror(errno);
    ::close(listener);
  }
  throw Error("rank 0 cannot serve the store at port " + std::to_string(port) +
              ": " + why +
              "; another program may have the port: set MASTER_PORT to a free "
              "one");
}

int braid::rt::cuda::acceptFrom(int listener) {
  int socket = accept(listener, nullptr, nullptr);
  if (socket >= 0)
    configure(socket);
  return socket;
}

/// Connects to one address; -1 with errno if this fails.
static int connectOnce(const addrinfo &address, int64_t deadlineNs) {
  int socket =
      ::socket(address.ai_family, address.ai_socktype, address.ai_protocol);
  if (socket < 0)
    return -1;
  configure(socket);
  int error = 0;
  if (connect(socket, address.ai_addr, address.ai_addrlen) != 0) {
    error = errno;
    if (error == EINPROGRESS) {
      pollfd waiting = {socket, POLLOUT, 0};
      int64_t leftMs = (deadlineNs - monotonicNs()) / 1000000;
      poll(&waiting, 1, static_cast<int>(std::clamp<int64_t>(leftMs, 1, 3000)));
      socklen_t size = sizeof(error);
      if (!(waiting.revents & (POLLOUT | POLLERR | POLLHUP)))
        error = ETIMEDOUT;
      else if (getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
        error = errno;
    }
  }
  if (error == 0)
    return socket;
  ::close(socket);
  errno = error;
  return -1;
}

int braid::rt::cuda::connectTo(const std::string &host, int32_t port,
                               int64_t deadlineNs) {
  std::string why;
  do {
    Addresses addresses(host.c_str(), port);
    why = addresses.why;
    for (addrinfo *a = addresses.first; a; a = a->ai_next) {
      int socket = connectOnce(*a, deadlineNs);
      if (socket >= 0)
        return socket;
      why = std::strerror(errno);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  } while (monotonicNs() < deadlineNs);
  throw Error("cannot connect to the store of rank 0 at " + host + ":" +
              std::to_string(port) + ": " + why +
              "; is MASTER_ADDR the host of rank 0, and does rank 0 run?");
}
