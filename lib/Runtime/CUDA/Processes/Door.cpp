//===- Door.cpp - Where ranks come in -------------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Processes/Door.h"
#include "Base/Bytes.h"
#include "Base/Environment.h"
#include "CUDA/Processes/Sockets.h"

#include <algorithm>
#include <cerrno>
#include <sys/resource.h>
#include <unistd.h>

using namespace braid::rt;
using namespace braid::rt::cuda;

/// The visitors beside all ranks of the world, and at most this share of the
/// descriptors that the process may open.
static constexpr size_t mostStrangers = 256, shareOfDescriptors = 4;

/// After so many lines the log is silent.
static constexpr int64_t mostReports = 16;

/// The connections that are accepted before all visitors have been heard again:
/// few beside `mostStrangers`, so that a flood leaves a rank time to answer.
static constexpr int acceptsAtOnce = 32;

static size_t countStrangers() {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return mostStrangers;
  return std::clamp<size_t>(limit.rlim_cur / shareOfDescriptors, 1,
                            mostStrangers);
}

Door::Door(const Launch &launch, const HmacKey &key, Log log,
           int64_t introductionNs)
    : key(key),
      mostVisitors(static_cast<size_t>(launch.size) + countStrangers()),
      introductionNs(introductionNs), log(std::move(log)),
      listeners(listenAt(launch.address, launch.port, launch.hasOtherHosts)) {}

Door::~Door() {
  for (int listener : listeners)
    close(listener);
}

void Door::addSockets(std::vector<pollfd> &sockets) const {
  if (monotonicNs() >= pausedUntilNs)
    for (int listener : listeners)
      sockets.push_back({listener, POLLIN, 0});
  for (const Visitor &visitor : visitors) {
    bool hasUnsent = visitor.connection->hasUnsent();
    sockets.push_back({visitor.connection->descriptor(),
                       static_cast<short>(POLLIN | (hasUnsent ? POLLOUT : 0)),
                       0});
  }
}

void Door::report(const Visitor &visitor, const std::string &why) {
  if (++reports > mostReports)
    return;
  log("the store of rank 0 closes a connection from " + visitor.peer + ": " +
      why + (reports == mostReports ? "; further ones are not named" : ""));
}

/// Closes the connection that has waited longest. False if there is none.
bool Door::makeRoom() {
  if (visitors.empty())
    return false;
  report(visitors.front(), "too many connections have no introduction");
  visitors.pop_front();
  return true;
}

void Door::acceptAll() {
  constexpr int64_t pauseNs = int64_t(100) * 1000 * 1000;
  int left = acceptsAtOnce;
  for (int listener : listeners)
    while (left-- > 0) {
      int socket = acceptFrom(listener);
      if (socket < 0) {
        bool isShort = errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
                       errno == ENOMEM;
        if (isShort && makeRoom())
          continue;
        if (isShort)
          pausedUntilNs = monotonicNs() + pauseNs;
        break;
      }
      if (visitors.size() >= mostVisitors)
        makeRoom();
      Visitor visitor;
      visitor.connection = std::make_unique<Connection>(socket, Side::RankZero);
      visitor.peer = describePeer(socket);
      visitor.challenge = bytesOf(drawNonce());
      visitor.sinceNs = monotonicNs();
      visitor.connection->send({Challenge, 0, 0, visitor.challenge});
      visitors.push_back(std::move(visitor));
    }
}

void Door::prove(Visitor &visitor, const Admit &admit, const Frame &frame) {
  Connection &connection = *visitor.connection;
  if (visitor.handshake.empty())
    return connection.reject("a proof comes before a greeting");
  Introduction introduction(key, visitor.handshake, visitor.challenge);
  if (!isProof(frame.body, introduction.ofRank)) {
    connection.send({WrongKey, 0, 0, ""});
    return connection.reject("it does not know the job's key");
  }
  connection.send(
      {Welcome, 0, 0, std::string(bytesOf(introduction.ofRankZero))});
  connection.seal(introduction.fromRankZero, introduction.toRankZero);
  Greeting greeting = fromBytes<Greeting>(visitor.handshake);
  std::string refusal = admit(greeting);
  if (!refusal.empty()) {
    connection.send({Refused, 0, 0, refusal});
    return connection.reject("rank " + std::to_string(greeting.rank) +
                             " is refused: " + refusal);
  }
  connection.process = greeting.rank;
  visitor.isAdmitted = true;
  connection.send({Accepted, 0, 0, ""});
}

void Door::hear(Visitor &visitor, const Admit &admit, Frame &&frame) {
  Connection &connection = *visitor.connection;
  if (frame.kind == Handshake && visitor.handshake.empty())
    visitor.handshake = std::move(frame.body);
  else if (frame.kind == Proof && !visitor.isAdmitted)
    prove(visitor, admit, frame);
  else
    connection.reject("a message comes twice");
}

void Door::serve(const Admit &admit, const Enter &enter) {
  int64_t nowNs = monotonicNs();
  for (size_t i = 0; i < visitors.size();) {
    Visitor &visitor = visitors[i];
    Connection &connection = *visitor.connection;
    connection.flush();
    connection.receive([&](Frame &&frame) {
      hear(visitor, admit, std::move(frame));
      // What a rank says next is for the store.
      return !visitor.isAdmitted;
    });
    if (!visitor.isAdmitted && nowNs - visitor.sinceNs > introductionNs)
      connection.reject("it has not introduced itself within " +
                        std::to_string(introductionNs / 1000000000) + " s");
    if (!connection.closed() && !visitor.isAdmitted) {
      ++i;
      continue;
    }
    if (!connection.rejection().empty())
      report(visitor, connection.rejection());
    Visitor gone = std::move(visitor);
    visitors.erase(visitors.begin() + static_cast<ptrdiff_t>(i));
    if (gone.isAdmitted)
      enter(std::move(gone.connection));
  }
  if (nowNs >= pausedUntilNs)
    acceptAll();
}
