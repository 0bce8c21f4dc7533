//===- Sockets.cpp - Listening and connecting -----------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Processes/Sockets.h"
#include "Base/Environment.h"
#include "Base/Error.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <set>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace braid::rt;
using namespace braid::rt::cuda;

namespace {
/// The addresses of a host; freed with it.
class Addresses {
public:
  Addresses(std::string host, int32_t port) {
    // As in a URL.
    if (host.size() > 2 && host.front() == '[' && host.back() == ']')
      host = host.substr(1, host.size() - 2);
    addrinfo hints = {};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    int status =
        getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &first);
    if (status != 0)
      why = status == EAI_SYSTEM ? std::strerror(errno) : gai_strerror(status);
    // A name may have an address twice.
    std::set<std::string> seen;
    for (addrinfo *a = first; a; a = a->ai_next)
      if (seen.emplace(reinterpret_cast<const char *>(a->ai_addr),
                       a->ai_addrlen)
              .second)
        all.push_back(a);
  }
  ~Addresses() {
    if (first)
      freeaddrinfo(first);
  }
  Addresses(const Addresses &) = delete;
  Addresses &operator=(const Addresses &) = delete;

  std::vector<const addrinfo *> all;
  std::string why; ///< The reason why there are no addresses.

private:
  addrinfo *first = nullptr;
};
} // namespace

static bool isLoopback(const addrinfo &address) {
  if (address.ai_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, address.ai_addr, sizeof(v4));
    return ntohl(v4.sin_addr.s_addr) >> 24 == 127;
  }
  sockaddr_in6 v6;
  std::memcpy(&v6, address.ai_addr, sizeof(v6));
  return address.ai_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr);
}

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
// Listening
//===----------------------------------------------------------------------===//

/// Listens at one address; -1 with errno if this fails.
static int listenOnce(const addrinfo &address) {
  int listener =
      socket(address.ai_family, address.ai_socktype, address.ai_protocol);
  if (listener < 0)
    return -1;
  int on = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  // The addresses of IPv4 have sockets of their own.
  if (address.ai_family == AF_INET6)
    setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
  if (bind(listener, address.ai_addr, address.ai_addrlen) == 0 &&
      listen(listener, 1024) == 0) {
    configure(listener);
    return listener;
  }
  int error = errno;
  ::close(listener);
  errno = error;
  return -1;
}

std::vector<int> braid::rt::cuda::listenAt(const std::string &host,
                                           int32_t port, bool hasOtherHosts) {
  std::vector<int> listeners;
  auto fail = [&](const std::string &why) {
    for (int listener : listeners)
      ::close(listener);
    throw Error("rank 0 cannot serve the store at port " +
                std::to_string(port) + " of " + host + ": " + why);
  };
  Addresses addresses(host, port);
  if (hasOtherHosts && !addresses.all.empty() &&
      std::all_of(addresses.all.begin(), addresses.all.end(),
                  [](const addrinfo *a) { return isLoopback(*a); }))
    fail("on the host of rank 0 this is a loopback address, and some ranks are "
         "on other hosts: set MASTER_ADDR to an address or a name of rank 0's "
         "host in their network");
  std::string why = addresses.why;
  for (const addrinfo *address : addresses.all) {
    int listener = listenOnce(*address);
    if (listener >= 0) {
      listeners.push_back(listener);
      continue;
    }
    why = std::strerror(errno);
    // A host may lack IPv6, and a name may have addresses of several hosts.
    if (errno != EADDRNOTAVAIL && errno != EAFNOSUPPORT)
      fail(why + "; another program may have the port: set MASTER_PORT to a "
                 "free one");
  }
  if (listeners.empty())
    fail(why +
         "; is MASTER_ADDR an address or a name of rank 0's host? Where "
         "others reach it by an address that it does not have, start rank "
         "0 with MASTER_ADDR=0.0.0.0");
  return listeners;
}

int braid::rt::cuda::acceptFrom(int listener) {
  int socket = accept(listener, nullptr, nullptr);
  if (socket >= 0)
    configure(socket);
  return socket;
}

//===----------------------------------------------------------------------===//
// Connecting
//===----------------------------------------------------------------------===//

/// True if a socket has got the port that it wanted to connect to, at which
/// nobody listens: it is connected to itself.
static bool isOwnPeer(int socket) {
  sockaddr_storage own = {}, peer = {};
  socklen_t ownSize = sizeof(own), peerSize = sizeof(peer);
  return getsockname(socket, reinterpret_cast<sockaddr *>(&own), &ownSize) ==
             0 &&
         getpeername(socket, reinterpret_cast<sockaddr *>(&peer), &peerSize) ==
             0 &&
         ownSize == peerSize && std::memcmp(&own, &peer, ownSize) == 0;
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
  if (error == 0 && isOwnPeer(socket))
    error = ECONNREFUSED;
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
    Addresses addresses(host, port);
    why = addresses.why;
    for (const addrinfo *address : addresses.all) {
      int socket = connectOnce(*address, deadlineNs);
      if (socket >= 0)
        return socket;
      why = std::strerror(errno);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  } while (monotonicNs() < deadlineNs);
  throw Error("cannot connect to the store of rank 0 at " +
              describePlace(host, port) + ": " + why +
              "; is MASTER_ADDR the host of rank 0, and does rank 0 run?");
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

std::string braid::rt::cuda::describePlace(const std::string &host,
                                           int32_t port) {
  bool hasColons = host.find(':') != std::string::npos && host[0] != '[';
  return (hasColons ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::string braid::rt::cuda::describePeer(int socket) {
  sockaddr_storage address = {};
  socklen_t size = sizeof(address);
  char host[NI_MAXHOST] = "", port[NI_MAXSERV] = "";
  if (getpeername(socket, reinterpret_cast<sockaddr *>(&address), &size) != 0 ||
      getnameinfo(reinterpret_cast<sockaddr *>(&address), size, host,
                  sizeof(host), port, sizeof(port),
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return "an unknown address";
  return describePlace(host,
                       static_cast<int32_t>(std::strtol(port, nullptr, 10)));
}
