//===- Connection.cpp - Framed messages over a socket ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Processes/Connection.h"

#include <algorithm>
#include <cerrno>
#include <sys/socket.h>
#include <unistd.h>

using namespace braid::rt;
using namespace braid::rt::cuda;

/// What may wait for a process that does not read, besides one message.
static constexpr size_t mostUnsent = size_t(256) << 20;

/// How often a connection is read before the others have their turn.
static constexpr int readsAtOnce = 8;

Connection::Connection(int socket, Side side) : socket(socket), parser(side) {}

Connection::~Connection() { ::close(socket); }

void Connection::reject(const std::string &why) {
  if (!isClosed)
    whyRejected = why;
  isClosed = true;
}

void Connection::send(const Frame &frame) {
  if (unsent.size() > mostUnsent)
    return reject("the other side does not read its messages");
  unsent += encodeFrame(frame, ownSeal ? &*ownSeal : nullptr);
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

void Connection::receive(const Handle &handle) {
  char buffer[65536];
  bool ended = false, goesOn = true;
  for (int i = 0; i < readsAtOnce && !isClosed && !ended && goesOn; ++i) {
    ssize_t count =
        recv(socket, buffer, std::min(sizeof(buffer), parser.room()), 0);
    bool isRead = false;
    if (count > 0)
      parser.add(buffer, static_cast<size_t>(count));
    else if (count == 0 ||
             (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
      ended = true;
    else
      isRead = errno != EINTR;
    while (!isClosed && goesOn) {
      std::optional<Frame> frame = parser.next();
      if (!frame)
        break;
      goesOn = handle(std::move(*frame));
    }
    if (!parser.problem().empty())
      reject(parser.problem());
    goesOn &= !isRead;
  }
  isClosed |= ended;
}

void Connection::seal(const Digest &own, const Digest &others) {
  ownSeal.emplace(own);
  parser.expectSeal(Seal(others));
}
