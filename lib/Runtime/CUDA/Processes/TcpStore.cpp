//===- TcpStore.cpp - The store of a launcher's processes -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Base/Bytes.h"
#include "Base/Environment.h"
#include "Base/Error.h"
#include "CUDA/Processes/Connection.h"
#include "CUDA/Processes/Door.h"
#include "CUDA/Processes/Sockets.h"
#include "CUDA/Processes/Store.h"
#include "Operations/Messages.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <poll.h>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>

using namespace braid::rt;
using namespace braid::rt::cuda;

namespace {
/// Rank 0 serves all others: it gathers the bytes of exchanges and forwards
/// posts. One thread in each process receives.
class TcpStore final : public Store {
public:
  TcpStore(const Launch &launch, const JobKey &key, int64_t timeoutNs,
           StoreListener &listener);
  ~TcpStore() override;

  std::vector<std::string> exchange(const std::string &bytes) override;
  void post(const std::string &bytes) override;
  void interrupt(const std::string &text) override;

private:
  using Lock = std::unique_lock<std::mutex>;

  /// The received bytes of one exchange; on rank 0.
  struct Gathering {
    std::vector<std::optional<std::string>> parts;
    size_t arrived = 0;
    int64_t beganNs = 0;
  };

  void connectToServer();
  std::string introduce(Connection &server, int64_t beganNs,
                        int64_t deadlineNs);
  void serve();
  void wakeThread();
  void waitForSockets(Lock &lock);
  void serveDoor(Lock &lock);
  std::string admit(const Greeting &greeting);
  void dropClosed(Lock &lock);
  void handle(Lock &lock, Connection &from, Frame &&frame);
  void handleFromServer(Lock &lock, Connection &from, Frame &&frame);
  void handleLost(Lock &lock, int32_t process);
  void deliver(Lock &lock, int32_t process, const std::string &bytes);
  void gatherFrom(Connection &from, Frame &&frame);
  void gather(int32_t process, int64_t number, std::string &&bytes);
  void takeParts(Connection &from, const Frame &frame);
  void giveUpLateExchanges();
  void fail(const std::string &text);
  void sendTo(int32_t process, const Frame &frame);
  void sendToAll(const Frame &frame, int32_t except);
  bool allHaveLeft() const;
  std::string describeAbsent(const Gathering &gathering) const;
  std::string place() const;

  const Launch launch;
  const HmacKey key;
  const std::string keySource;
  const int64_t timeoutNs;
  StoreListener &listener;

  mutable std::mutex mutex;
  std::condition_variable changed;
  /// To the clients on rank 0, to rank 0 elsewhere.
  std::vector<std::unique_ptr<Connection>> connections;
  std::map<int64_t, Gathering> gatherings;             ///< On rank 0.
  std::vector<bool> joined;                            ///< On rank 0.
  std::map<int64_t, std::vector<std::string>> results; ///< By exchange.
  int64_t exchanges = 0; ///< Begun by this process.
  int64_t completed = 0; ///< Complete on rank 0, whose numbers are in order.
  std::string failure;   ///< The reason why exchanges fail.
  bool stopping = false;
  std::unique_ptr<Door> door; ///< On rank 0, until all ranks are in.
  int wakeSocket = -1;
  std::thread thread;
};
} // namespace

/// A rank 0 that is there answers within this time; a connection that rank 0
/// closes before the introduction is tried again for as long.
static constexpr int64_t answerNs = int64_t(60) * 1000 * 1000 * 1000;

/// The exchanges that a process may begin before the first of them has ended.
static constexpr int64_t mostExchanges = 16;

/// The time that an ending process waits for the others after a failure.
static constexpr int64_t failedTimeoutNs = int64_t(1000) * 1000 * 1000;

std::unique_ptr<Store>
braid::rt::cuda::createTcpStore(const Launch &launch, const JobKey &key,
                                int64_t timeoutNs, StoreListener &listener) {
  return std::make_unique<TcpStore>(launch, key, timeoutNs, listener);
}

TcpStore::TcpStore(const Launch &launch, const JobKey &key, int64_t timeoutNs,
                   StoreListener &listener)
    : launch(launch), key(key.bytes), keySource(key.source),
      timeoutNs(timeoutNs), listener(listener),
      joined(static_cast<size_t>(launch.size)) {
  wakeSocket = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  try {
    if (launch.rank == 0)
      door = std::make_unique<Door>(
          launch, this->key,
          [&listener](const std::string &line) { listener.note(line); });
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
    close(wakeSocket);
    throw;
  }
}

TcpStore::~TcpStore() {
  Lock lock(mutex);
  if (launch.rank != 0)
    sendTo(0, {Goodbye, 0, 0, ""});
  // Rank 0 passes messages on until the others have left; it answers their
  // goodbye at once.
  int64_t deadlineNs =
      monotonicNs() + (failure.empty() ? timeoutNs : failedTimeoutNs);
  while (monotonicNs() < deadlineNs && !allHaveLeft())
    changed.wait_for(lock, std::chrono::milliseconds(20));
  stopping = true;
  lock.unlock();
  wakeThread();
  thread.join();
  close(wakeSocket);
}

bool TcpStore::allHaveLeft() const {
  return std::all_of(connections.begin(), connections.end(),
                     [](const std::unique_ptr<Connection> &connection) {
                       return connection->closed() || connection->saidGoodbye;
                     });
}

std::string TcpStore::place() const {
  return describePlace(launch.address, launch.port);
}

/// Introduces this rank. Returns why rank 0 has closed the connection, or
/// nothing if this rank belongs to the world. Throws an Error if rank 0 refuses
/// this rank, or if what listens is another program.
std::string TcpStore::introduce(Connection &server, int64_t beganNs,
                                int64_t deadlineNs) {
  const std::string rankZero = "the store of rank 0 at " + place();
  Greeting greeting = {launch.rank, launch.size, sha256(launch.job),
                       drawNonce()};
  const std::string handshake = toBytes(greeting);
  std::optional<Introduction> expected;
  std::string refusal;
  bool isWelcome = false, isAccepted = false;
  auto hear = [&](Frame &&frame) {
    if (frame.kind == Challenge && !expected) {
      expected.emplace(key, handshake, frame.body);
      server.send({Proof, 0, 0, std::string(bytesOf(expected->ofRank))});
    } else if (frame.kind == WrongKey) {
      refusal = rankZero + " has another key than this rank, which uses " +
                keySource +
                ": all ranks need the same BRAID_JOB_KEY or BRAID_JOB_KEY_FILE";
    } else if (frame.kind == Welcome && expected && !isWelcome) {
      if (!isProof(frame.body, expected->ofRankZero))
        refusal = "what listens at " + place() + " does not know the job's key";
      server.seal(expected->toRankZero, expected->fromRankZero);
      isWelcome = true;
    } else if (frame.kind == Refused) {
      refusal = rankZero + " refuses rank " + std::to_string(launch.rank) +
                ": " + frame.body;
    } else if (frame.kind == Accepted) {
      server.process = 0;
      isAccepted = true;
    } else {
      server.reject("a message comes twice");
    }
  };
  server.send({Handshake, 0, 0, handshake});
  while (!isAccepted && refusal.empty() && !server.closed()) {
    int64_t leftMs = (deadlineNs - monotonicNs()) / 1000000;
    if (leftMs <= 0)
      throw Error(describeTimeout(deadlineNs - beganNs) + rankZero +
                  " does not answer");
    short events =
        static_cast<short>(POLLIN | (server.hasUnsent() ? POLLOUT : 0));
    pollfd waiting = {server.descriptor(), events, 0};
    poll(&waiting, 1, static_cast<int>(std::clamp<int64_t>(leftMs, 1, 1000)));
    server.flush();
    server.receive([&](Frame &&frame) {
      hear(std::move(frame));
      return refusal.empty() && !isAccepted;
    });
  }
  if (!refusal.empty())
    throw Error(refusal);
  if (!isAccepted && !server.rejection().empty())
    throw Error("what listens at " + place() +
                " is no store of Braid's: set MASTER_PORT to a free port of "
                "rank 0's host (" +
                server.rejection() + ")");
  return isAccepted
             ? ""
             : rankZero + " closes every connection; another program may have "
                          "the port: set MASTER_PORT to a free port of rank "
                          "0's host";
}

void TcpStore::connectToServer() {
  int64_t beganNs = monotonicNs(), deadlineNs = beganNs + timeoutNs;
  int64_t lastNs = 0; // The end of the time to answer.
  while (true) {
    auto server = std::make_unique<Connection>(
        connectTo(launch.address, launch.port, deadlineNs), Side::OtherRank);
    if (!lastNs)
      lastNs = std::min(deadlineNs, monotonicNs() + answerNs);
    std::string why = introduce(*server, beganNs, lastNs);
    if (why.empty()) {
      connections.push_back(std::move(server));
      return;
    }
    // A flood of strangers may have taken this rank's place.
    if (monotonicNs() >= lastNs)
      throw Error(why);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

//===----------------------------------------------------------------------===//
// Calls of ranks
//===----------------------------------------------------------------------===//

std::vector<std::string> TcpStore::exchange(const std::string &bytes) {
  if (bytes.size() > longestPart)
    throw Error("an exchange of all ranks has " + std::to_string(bytes.size()) +
                " bytes of one rank, expected at most " +
                std::to_string(longestPart));
  Lock lock(mutex);
  int64_t number = ++exchanges;
  if (launch.rank == 0)
    gather(0, number, std::string(bytes));
  else
    sendTo(0, {Part, 0, number, bytes});
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
  if (bytes.size() > longestPost)
    throw Error("a message to all ranks has " + std::to_string(bytes.size()) +
                " bytes, expected at most " + std::to_string(longestPost));
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
    if (connection->process != except)
      connection->send(frame);
}

//===----------------------------------------------------------------------===//
// The thread
//===----------------------------------------------------------------------===//

void TcpStore::serve() {
  Lock lock(mutex);
  while (!stopping) {
    waitForSockets(lock);
    if (door)
      serveDoor(lock);
    // Messages add no connections; only the door does.
    for (const std::unique_ptr<Connection> &connection : connections) {
      connection->flush();
      connection->receive([&](Frame &&frame) {
        handle(lock, *connection, std::move(frame));
        return true;
      });
    }
    dropClosed(lock);
    giveUpLateExchanges();
    changed.notify_all();
  }
}

void TcpStore::waitForSockets(Lock &lock) {
  std::vector<pollfd> sockets = {{wakeSocket, POLLIN, 0}};
  if (door)
    door->addSockets(sockets);
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

void TcpStore::serveDoor(Lock &lock) {
  // Only this thread uses the door.
  lock.unlock();
  door->serve(
      [this](const Greeting &greeting) {
        Lock lock(mutex);
        return admit(greeting);
      },
      [this](std::unique_ptr<Connection> connection) {
        Lock lock(mutex);
        connections.push_back(std::move(connection));
      });
  lock.lock();
  // All ranks are in: other connections are closed.
  if (std::find(joined.begin(), joined.end(), false) == joined.end())
    door.reset();
}

void TcpStore::dropClosed(Lock &lock) {
  for (size_t i = 0; i < connections.size();) {
    Connection &connection = *connections[i];
    if (!connection.closed()) {
      ++i;
      continue;
    }
    int32_t process = connection.process;
    bool isLost = !connection.saidGoodbye;
    std::string why = connection.rejection();
    connections.erase(connections.begin() + static_cast<ptrdiff_t>(i));
    if (!why.empty()) {
      lock.unlock();
      listener.note(
          (launch.rank == 0
               ? "the store of rank 0 closes the connection of rank " +
                     std::to_string(process)
               : "rank " + std::to_string(launch.rank) +
                     " closes its connection to the store of rank 0") +
          ": " + why);
      lock.lock();
    }
    if (!isLost || stopping)
      continue;
    if (launch.rank == 0)
      sendToAll({Lost, process, 0, ""}, process);
    handleLost(lock, process);
  }
}

void TcpStore::deliver(Lock &lock, int32_t process, const std::string &bytes) {
  lock.unlock();
  listener.received(process, bytes);
  lock.lock();
}

void TcpStore::handleLost(Lock &lock, int32_t process) {
  fail("rank " + std::to_string(process) +
       " has lost its connection to the other ranks");
  lock.unlock();
  listener.lost(process);
  lock.lock();
}

/// The parser gives each side only the messages that it may receive, so that
/// rank 0 takes none of those that only rank 0 sends.
void TcpStore::handle(Lock &lock, Connection &from, Frame &&frame) {
  if (launch.rank != 0)
    return handleFromServer(lock, from, std::move(frame));
  switch (frame.kind) {
  case Part:
    return gatherFrom(from, std::move(frame));
  case Post:
    // The connection says who speaks.
    frame.process = from.process;
    sendToAll(frame, frame.process);
    return deliver(lock, frame.process, frame.body);
  case Goodbye:
    from.saidGoodbye = true;
    // Closing a socket with unread data discards sent data, so the client waits
    // for this answer.
    from.send({Goodbye, 0, 0, ""});
    return changed.notify_all();
  default:
    return from.reject("a message comes after the introduction");
  }
}

void TcpStore::handleFromServer(Lock &lock, Connection &from, Frame &&frame) {
  bool namesOther = frame.process >= 0 && frame.process < launch.size &&
                    frame.process != launch.rank;
  switch (frame.kind) {
  case Parts:
    return takeParts(from, frame);
  case Failed:
    return fail(frame.body);
  case Post:
  case Lost:
    if (!namesOther)
      return from.reject("a message names rank " +
                         std::to_string(frame.process));
    if (frame.kind == Post)
      return deliver(lock, frame.process, frame.body);
    return handleLost(lock, frame.process);
  case Goodbye:
    from.saidGoodbye = true;
    return changed.notify_all();
  default:
    return from.reject("a message comes after the introduction");
  }
}

void TcpStore::takeParts(Connection &from, const Frame &frame) {
  // One answer for each exchange that this rank has begun.
  if (frame.number != from.parts + 1 || frame.number > exchanges)
    return from.reject("exchange number " + std::to_string(frame.number) +
                       " is not what this rank waits for");
  try {
    auto parts = fromBytes<std::vector<std::string>>(frame.body);
    if (parts.size() != joined.size())
      return from.reject("an exchange has the bytes of " +
                         std::to_string(parts.size()) + " ranks, expected " +
                         std::to_string(joined.size()));
    results[frame.number] = std::move(parts);
  } catch (const Error &error) {
    return from.reject(error.what());
  }
  from.parts = frame.number;
  changed.notify_all();
}

//===----------------------------------------------------------------------===//
// On rank 0
//===----------------------------------------------------------------------===//

std::string TcpStore::admit(const Greeting &greeting) {
  if (greeting.job != sha256(launch.job))
    return "it belongs to the job '" + launch.job +
           "', this rank to another one: set MASTER_PORT to another port";
  if (greeting.size != launch.size)
    return "rank 0 has been started as one of " + std::to_string(launch.size) +
           " ranks, this one as one of " + std::to_string(greeting.size);
  int32_t process = greeting.rank;
  if (process < 1 || process >= launch.size)
    return "there is no such rank";
  if (joined[process])
    return "another process has this rank";
  joined[process] = true;
  return "";
}

/// Takes a process's part of its next exchange.
void TcpStore::gatherFrom(Connection &from, Frame &&frame) {
  if (frame.number != from.parts + 1 ||
      frame.number > completed + mostExchanges)
    return from.reject("its part of exchange number " +
                       std::to_string(frame.number) + " comes out of turn");
  from.parts = frame.number;
  gather(from.process, frame.number, std::move(frame.body));
}

void TcpStore::gather(int32_t process, int64_t number, std::string &&bytes) {
  Gathering &gathering = gatherings[number];
  if (gathering.parts.empty()) {
    gathering.parts.resize(static_cast<size_t>(launch.size));
    gathering.beganNs = monotonicNs();
  }
  gathering.parts[process] = std::move(bytes);
  if (++gathering.arrived < gathering.parts.size())
    return;
  std::vector<std::string> &result = results[number];
  for (std::optional<std::string> &part : gathering.parts)
    result.push_back(std::move(*part));
  gatherings.erase(number);
  completed = number;
  Frame all = {Parts, 0, number, toBytes(result)};
  if (all.body.size() > longestParts) {
    std::string text =
        "an exchange of all ranks has " + std::to_string(all.body.size()) +
        " bytes, expected at most " + std::to_string(longestParts);
    sendToAll({Failed, 0, 0, text}, 0);
    return fail(text);
  }
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
    sendToAll({Failed, 0, 0, text}, 0);
    fail(text);
  }
}
