//===- TcpStore.cpp - The store of a launcher's processes -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Processes/TcpStore.h"
#include "Core/Environment.h"
#include "Core/Error.h"
#include "Core/Messages.h"

#include <algorithm>
#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

using namespace braid::rt;
using namespace braid::rt::cuda;

namespace {
enum FrameKind : uint32_t {
  Hello,   ///< To rank 0: the number of ranks (`number`) and the job.
  Welcome, ///< From rank 0.
  Refused, ///< From rank 0: the reason.
  Part,    ///< To rank 0: one process's bytes of an exchange.
  Parts,   ///< From rank 0: the bytes of all processes.
  Failure, ///< From rank 0: the reason why exchanges fail.
  Post,    ///< To all others.
  Lost,    ///< From rank 0: `process` has died.
  Goodbye  ///< The sender ends as it should.
};
} // namespace

/// The time that an ending process waits for the others after a failure.
static constexpr int64_t patienceNs = int64_t(1000) * 1000 * 1000;

std::unique_ptr<Store>
braid::rt::cuda::createTcpStore(const Launch &launch, int64_t timeoutNs,
                                StoreListener &listener) {
  return std::make_unique<TcpStore>(launch, timeoutNs, listener);
}

TcpStore::TcpStore(const Launch &launch, int64_t timeoutNs,
                   StoreListener &listener)
    : launch(launch), timeoutNs(timeoutNs), listener(listener),
      joined(static_cast<size_t>(launch.size)) {
  wakeSocket = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  try {
    if (launch.rank == 0)
      listenSocket = listenAt(launch.port);
    else
      connectToServer();
  } catch (const Error &) {
    close(wakeSocket);
    throw;
  }
  joined[0] = true;
  thread = std::thread([this]() { serve(); });
  try {
    exchange("");
  } catch (const Error &) {
    {
      Lock lock(mutex);
      stopping = true;
    }
    wakeThread();
    thread.join();
    if (listenSocket >= 0)
      close(listenSocket);
    close(wakeSocket);
    throw;
  }
}

TcpStore::~TcpStore() {
  Lock lock(mutex);
  if (launch.rank != 0)
    sendTo(0, {Goodbye, launch.rank, 0, ""});
  // Rank 0 passes messages on until the others have left; it answers their
  // goodbye at once.
  int64_t deadlineNs =
      monotonicNs() + (failure.empty() ? timeoutNs : patienceNs);
  while (monotonicNs() < deadlineNs && !allHaveLeft())
    changed.wait_for(lock, std::chrono::milliseconds(20));
  stopping = true;
  lock.unlock();
  wakeThread();
  thread.join();
  if (listenSocket >= 0)
    close(listenSocket);
  close(wakeSocket);
}

bool TcpStore::allHaveLeft() const {
  return std::all_of(connections.begin(), connections.end(),
                     [](const std::unique_ptr<Connection> &connection) {
                       return connection->closed() || connection->saidGoodbye ||
                              connection->process < 0;
                     });
}

std::string TcpStore::place() const {
  return launch.address + ":" + std::to_string(launch.port);
}

void TcpStore::connectToServer() {
  int64_t deadlineNs = monotonicNs() + timeoutNs;
  connections.push_back(std::make_unique<Connection>(
      connectTo(launch.address, launch.port, deadlineNs)));
  Connection &server = *connections.back();
  server.process = 0;
  server.send({Hello, launch.rank, launch.size, launch.job});
  std::string refusal;
  while (!welcome && refusal.empty()) {
    pollfd waiting = {server.descriptor(), POLLIN, 0};
    int64_t leftMs = (deadlineNs - monotonicNs()) / 1000000;
    if (leftMs <= 0)
      refusal = describeTimeout(timeoutNs) + "the store of rank 0 at " +
                place() + " does not answer";
    poll(&waiting, 1, static_cast<int>(std::clamp<int64_t>(leftMs, 1, 1000)));
    server.flush();
    Lock lock(mutex);
    server.receive([&](Frame &&frame) {
      if (frame.kind == Welcome)
        welcome = true;
      else if (frame.kind == Refused)
        refusal = "the store of rank 0 at " + place() + " refuses rank " +
                  std::to_string(launch.rank) + ": " + frame.body;
      else
        handle(lock, server, std::move(frame));
    });
    if (!server.understood())
      refusal = "what listens at " + place() +
                " is no store of Braid's: set MASTER_PORT to a free port of " +
                "rank 0's host";
    else if (server.closed() && !welcome && refusal.empty())
      refusal =
          "the store of rank 0 at " + place() + " has closed the connection";
  }
  if (!refusal.empty())
    throw Error(refusal);
}

//===----------------------------------------------------------------------===//
// Calls of ranks
//===----------------------------------------------------------------------===//

std::vector<std::string> TcpStore::exchange(const std::string &bytes) {
  Lock lock(mutex);
  int64_t number = ++exchanges;
  if (launch.rank == 0)
    gather(0, number, std::string(bytes));
  else
    sendTo(0, {Part, launch.rank, number, bytes});
  lock.unlock();
  wakeThread();
  lock.lock();
  changed.wait(lock,
               [&]() { return !failure.empty() || results.count(number); });
  auto found = results.find(number);
  if (found == results.end())
    throw Error(failure);
  std::vector<std::string> result = std::move(found->second);
  results.erase(found);
  return result;
}

void TcpStore::post(const std::string &bytes) {
  Lock lock(mutex);
  sendToAll({Post, launch.rank, 0, bytes}, launch.rank);
  lock.unlock();
  wakeThread();
}

void TcpStore::interrupt(const std::string &text) {
  Lock lock(mutex);
  fail(text);
}

void TcpStore::fail(const std::string &text) {
  if (failure.empty())
    failure = text;
  changed.notify_all();
}

void TcpStore::wakeThread() {
  uint64_t one = 1;
  // A write fails only if the counter is full, and then the thread is awake.
  [[maybe_unused]] ssize_t written = write(wakeSocket, &one, sizeof(one));
}

void TcpStore::sendTo(int32_t process, const Frame &frame) {
  for (const std::unique_ptr<Connection> &connection : connections)
    if (connection->process == process)
      connection->send(frame);
}

void TcpStore::sendToAll(const Frame &frame, int32_t except) {
  // Ranks other than 0 have one connection, which forwards to all others.
  for (const std::unique_ptr<Connection> &connection : connections)
    if (connection->process >= 0 && connection->process != except)
      connection->send(frame);
}

//===----------------------------------------------------------------------===//
// The thread
//===----------------------------------------------------------------------===//

void TcpStore::serve() {
  Lock lock(mutex);
  while (!stopping) {
    waitForSockets(lock);
    if (listenSocket >= 0)
      acceptAll();
    // Messages add no connections; only this thread does.
    for (const std::unique_ptr<Connection> &connection : connections) {
      connection->flush();
      connection->receive(
          [&](Frame &&frame) { handle(lock, *connection, std::move(frame)); });
    }
    dropClosed(lock);
    giveUpLateExchanges();
    changed.notify_all();
  }
}

void TcpStore::waitForSockets(Lock &lock) {
  std::vector<pollfd> sockets = {{wakeSocket, POLLIN, 0}};
  if (listenSocket >= 0)
    sockets.push_back({listenSocket, POLLIN, 0});
  for (const std::unique_ptr<Connection> &connection : connections)
    if (!connection->closed())
      sockets.push_back(
          {connection->descriptor(),
           static_cast<short>(POLLIN | (connection->hasUnsent() ? POLLOUT : 0)),
           0});
  int timeoutMs = gatherings.empty() ? 1000 : 20;
  lock.unlock();
  poll(sockets.data(), sockets.size(), timeoutMs);
  uint64_t count = 0;
  [[maybe_unused]] ssize_t got = read(wakeSocket, &count, sizeof(count));
  lock.lock();
}

void TcpStore::acceptAll() {
  for (int socket; (socket = acceptFrom(listenSocket)) >= 0;)
    connections.push_back(std::make_unique<Connection>(socket));
}

void TcpStore::dropClosed(Lock &lock) {
  for (size_t i = 0; i < connections.size();) {
    Connection &connection = *connections[i];
    if (!connection.closed()) {
      ++i;
      continue;
    }
    int32_t process = connection.process;
    bool isLost = process >= 0 && !connection.saidGoodbye;
    connections.erase(connections.begin() + static_cast<ptrdiff_t>(i));
    if (!isLost || stopping)
      continue;
    if (launch.rank == 0)
      sendToAll({Lost, process, 0, ""}, process);
    fail("rank " + std::to_string(process) +
         " has lost its connection to the other ranks");
    lock.unlock();
    listener.lost(process);
    lock.lock();
  }
}

void TcpStore::deliver(Lock &lock, int32_t process, const std::string &bytes) {
  lock.unlock();
  listener.received(process, bytes);
  lock.lock();
}

void TcpStore::handle(Lock &lock, Connection &from, Frame &&frame) {
  // The first message of a connection must be the introduction.
  if (launch.rank == 0 && from.process < 0 && frame.kind != Hello)
    return from.close();
  switch (frame.kind) {
  case Hello:
    return handleHello(from, frame);
  case Part:
    return gather(from.process, frame.number, std::move(frame.body));
  case Parts: {
    std::vector<std::string> &parts = results[frame.number];
    size_t position = 0;
    for (int32_t process = 0; process < launch.size; ++process) {
      uint64_t size = 0;
      std::memcpy(&size, frame.body.data() + position, sizeof(size));
      position += sizeof(size);
      parts.push_back(frame.body.substr(position, size));
      position += size;
    }
    return changed.notify_all();
  }
  case Failure:
    return fail(frame.body);
  case Post:
    if (launch.rank == 0)
      sendToAll(frame, frame.process);
    return deliver(lock, frame.process, frame.body);
  case Lost:
    fail("rank " + std::to_string(frame.process) +
         " has lost its connection to the other ranks");
    lock.unlock();
    listener.lost(frame.process);
    return lock.lock();
  case Goodbye:
    from.saidGoodbye = true;
    // Closing a socket with unread data discards sent data, so the client waits
    // for this answer.
    if (launch.rank == 0)
      from.send({Goodbye, 0, 0, ""});
    return changed.notify_all();
  default:
    return from.close();
  }
}

//===----------------------------------------------------------------------===//
// On rank 0
//===----------------------------------------------------------------------===//

void TcpStore::refuse(Connection &from, const std::string &why) {
  from.send({Refused, 0, 0, why});
}

void TcpStore::handleHello(Connection &from, const Frame &frame) {
  int32_t process = frame.process;
  if (frame.body != launch.job)
    return refuse(from, "it belongs to the job '" + launch.job +
                            "', this rank to the job '" + frame.body +
                            "': set MASTER_PORT to another port");
  if (frame.number != launch.size)
    return refuse(from, "rank 0 has been started as one of " +
                            std::to_string(launch.size) +
                            " ranks, this one as one of " +
                            std::to_string(frame.number));
  if (process < 1 || process >= launch.size || joined[process])
    return refuse(from, process < 1 || process >= launch.size
                            ? "there is no such rank"
                            : "another process has this rank");
  joined[process] = true;
  from.process = process;
  from.send({Welcome, 0, 0, ""});
}

void TcpStore::gather(int32_t process, int64_t number, std::string &&bytes) {
  if (launch.rank != 0)
    return;
  Gathering &gathering = gatherings[number];
  if (gathering.parts.empty()) {
    gathering.parts.resize(static_cast<size_t>(launch.size));
    gathering.beganNs = monotonicNs();
  }
  gathering.parts[process] = std::move(bytes);
  if (++gathering.arrived < gathering.parts.size())
    return;
  Frame all = {Parts, 0, number, ""};
  std::vector<std::string> &result = results[number];
  for (std::optional<std::string> &part : gathering.parts) {
    uint64_t size = part->size();
    all.body.append(reinterpret_cast<const char *>(&size), sizeof(size));
    all.body += *part;
    result.push_back(std::move(*part));
  }
  gatherings.erase(number);
  sendToAll(all, 0);
  changed.notify_all();
}

std::string TcpStore::describeAbsent(const Gathering &gathering) const {
  std::vector<int32_t> unknown, late;
  for (int32_t process = 0; process < launch.size; ++process)
    if (!gathering.parts[process])
      (joined[process] ? late : unknown).push_back(process);
  if (!unknown.empty())
    return listRanks(unknown) + (unknown.size() == 1 ? " has" : " have") +
           " not connected to the store of rank 0 at " + place();
  return listRanks(late) + (late.size() == 1 ? " does" : " do") +
         " not come to what all ranks do together";
}

void TcpStore::giveUpLateExchanges() {
  for (const auto &[number, gathering] : gatherings) {
    if (monotonicNs() - gathering.beganNs < timeoutNs || !failure.empty())
      continue;
    std::string text = describeTimeout(timeoutNs) + describeAbsent(gathering);
    sendToAll({Failure, 0, 0, text}, 0);
    fail(text);
  }
}
