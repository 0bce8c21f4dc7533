//===- StrangersTest.cpp - Strangers at the port of a store ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whoever reaches the port of rank 0 may send anything: the job has its result,
// or says what is wrong.
//
//===----------------------------------------------------------------------===//

#include "CUDA/Processes/Door.h"
#include "FreePort.h"
#include "StoreTesting.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstring>
#include <fcntl.h>
#include <future>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace braid::rt;
using namespace braid::rt::cuda;
using namespace braid::test;
using testing::AllOf;
using testing::AnyOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

namespace {
/// A stranger's socket.
class Stranger {
public:
  explicit Stranger(int32_t port)
      : socket(connectTo("127.0.0.1", port, monotonicNs() + 20 * secondNs)) {}
  ~Stranger() { close(socket); }
  Stranger(const Stranger &) = delete;
  Stranger &operator=(const Stranger &) = delete;

  void send(const std::string &bytes) const {
    ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  /// All that comes until rank 0 closes the connection, or within 20 s.
  std::string readAll() const {
    std::string all;
    while (true) {
      pollfd waiting = {socket, POLLIN, 0};
      if (poll(&waiting, 1, 20000) != 1)
        return all + " and the connection stays open";
      char buffer[4096];
      ssize_t count = recv(socket, buffer, sizeof(buffer), 0);
      if (count <= 0)
        return all;
      all.append(buffer, static_cast<size_t>(count));
    }
  }

private:
  int socket;
};

/// A header of a frame, with any contents.
std::string header(uint32_t kind, int32_t process = 0, int64_t number = 0,
                   uint64_t size = 0, const char *magic = "BRAIDST2") {
  std::string bytes(magic, 8);
  auto put = [&](const auto &value) {
    bytes.append(reinterpret_cast<const char *>(&value), sizeof(value));
  };
  put(kind);
  put(process);
  put(number);
  put(size);
  return bytes;
}

std::string handshakeOf(int32_t rank, int32_t size) {
  return encodeFrame(
      {Handshake, 0, 0,
       toBytes(Greeting{rank, size, sha256("job"), drawNonce()})},
      nullptr);
}

/// Three ranks, of which the last one comes when the stranger has done his
/// work. Returns the log of rank 0; the job has its result on all ranks.
std::string attack(const std::function<void(int32_t port)> &stranger) {
  int32_t port = freePort();
  std::string log;
  std::vector<std::string> results = runRanks(3, [&](int32_t rank) {
    if (rank == 2)
      stranger(port);
    Listener listener;
    auto store = makeStore(launchOf(rank, 3, port), 60 * secondNs, listener);
    std::string text;
    for (const std::string &part : store->exchange(std::to_string(rank)))
      text += part;
    if (rank == 0)
      log = listener.waitForLog("");
    return text;
  });
  EXPECT_THAT(results, Each("012"));
  return log;
}

/// The same with bytes after which rank 0 closes the connection.
std::string attackWith(const std::string &bytes) {
  return attack([&](int32_t port) {
    Stranger stranger(port);
    stranger.send(bytes);
    EXPECT_THAT(stranger.readAll(), Not(HasSubstr("stays open")));
  });
}
} // namespace

//===----------------------------------------------------------------------===//
// Without the job's key
//===----------------------------------------------------------------------===//

TEST(Strangers, SilentConnectionsWaitForNothing) {
  std::vector<std::unique_ptr<Stranger>> strangers;
  std::string log = attack([&](int32_t port) {
    for (int i = 0; i < 20; ++i)
      strangers.push_back(std::make_unique<Stranger>(port));
  });
  EXPECT_THAT(log, IsEmpty());
  // Nobody may stay when all ranks are in.
  for (const auto &stranger : strangers)
    EXPECT_THAT(stranger->readAll(), Not(HasSubstr("stays open")));
}

TEST(Strangers, OtherProtocolsAreNoMessages) {
  for (const char *bytes : {"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
                            "\x16\x03\x01\x02", "BRAIE"})
    EXPECT_THAT(attackWith(bytes),
                HasSubstr("closes a connection from 127.0.0.1:"))
        << bytes;
}

TEST(Strangers, OlderVersionIsNoMessage) {
  EXPECT_THAT(attackWith(header(Handshake, 1, 3, 0, "BRAIDST1")),
              HasSubstr("the bytes are no message of Braid's"));
}

TEST(Strangers, HalfAMessageChangesNothing) {
  attack([](int32_t port) {
    Stranger stranger(port);
    stranger.send(handshakeOf(2, 3).substr(0, 40));
  });
}

TEST(Strangers, LongLengthsCloseTheConnection) {
  for (uint64_t size : {uint64_t(1) << 32, uint64_t(1) << 62, ~uint64_t(0)})
    EXPECT_THAT(attackWith(header(Handshake, 1, 3, size)),
                HasSubstr("a message Handshake has"))
        << size;
}

TEST(Strangers, NothingBigIsReadBeforeTheIntroduction) {
  // Rank 0 reads no more once it has seen the length.
  attack([](int32_t port) {
    Stranger stranger(port);
    stranger.send(header(Handshake, 1, 3, uint64_t(1) << 32));
    for (int i = 0; i < 64; ++i)
      stranger.send(std::string(size_t(1) << 20, 'y'));
    EXPECT_THAT(stranger.readAll(), Not(HasSubstr("stays open")));
  });
}

TEST(Strangers, MessagesBeforeTheIntroductionAreRefused) {
  for (uint32_t kind : std::initializer_list<uint32_t>{
           Part, Parts, Failed, Post, Lost, Goodbye, Accepted, Refused, Welcome,
           Challenge, WrongKey, uint32_t(Goodbye) + 1, ~uint32_t(0)})
    EXPECT_THAT(attackWith(header(kind, 2, 1)),
                HasSubstr("comes before the introduction"))
        << kind;
}

TEST(Strangers, ProofBeforeAGreetingIsRefused) {
  EXPECT_THAT(
      attackWith(encodeFrame({Proof, 0, 0, std::string(32, 'x')}, nullptr)),
      HasSubstr("a proof comes before a greeting"));
}

TEST(Strangers, SecondGreetingIsRefused) {
  EXPECT_THAT(attackWith(handshakeOf(2, 3) + handshakeOf(1, 3)),
              HasSubstr("a message comes twice"));
}

TEST(Strangers, GuessedProofIsRefusedAndNothingIsTold) {
  std::string log = attack([](int32_t port) {
    Stranger stranger(port);
    stranger.send(handshakeOf(2, 3) +
                  encodeFrame({Proof, 0, 0, std::string(32, 'x')}, nullptr));
    std::string told = stranger.readAll();
    // A challenge and `WrongKey`: two headers and a number.
    EXPECT_EQ(told.size(), 32u + 32u + 32u);
    EXPECT_THAT(told, Not(HasSubstr("job")));
  });
  EXPECT_THAT(log, HasSubstr("it does not know the job's key"));
}

TEST(Strangers, RankWithAnotherKeyIsToldSo) {
  attack([](int32_t port) {
    Listener listener;
    try {
      createTcpStore(launchOf(2, 3, port),
                     {"another key, of 32 characters...", "BRAID_JOB_KEY"},
                     60 * secondNs, listener);
      ADD_FAILURE() << "the key is another one";
    } catch (const Error &error) {
      EXPECT_THAT(error.what(),
                  AllOf(HasSubstr("has another key than this rank, which uses "
                                  "BRAID_JOB_KEY"),
                        HasSubstr("BRAID_JOB_KEY_FILE")));
    }
  });
}

TEST(Strangers, FloodOfConnectionsLeavesTheRanksIn) {
  std::vector<std::unique_ptr<Stranger>> strangers;
  std::string log = attack([&](int32_t port) {
    for (int i = 0; i < 400; ++i)
      strangers.push_back(std::make_unique<Stranger>(port));
  });
  EXPECT_THAT(log, HasSubstr("too many connections have no introduction"));
  // A flood does not fill the log.
  EXPECT_LE(std::count(log.begin(), log.end(), '\n'), 16);
}

TEST(Strangers, FloodOfNoiseDoesNotFillTheLog) {
  std::string log = attack([](int32_t port) {
    for (int i = 0; i < 40; ++i) {
      Stranger stranger(port);
      stranger.send("noise");
      stranger.readAll();
    }
  });
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 16);
  EXPECT_THAT(log, HasSubstr("further ones are not named"));
}

TEST(Strangers, IntroductionHasATimeLimit) {
  int32_t port = freePort();
  std::string log;
  Door door(
      launchOf(0, 2, port), HmacKey("key"),
      [&](const std::string &line) { log += line; },
      /*introductionNs=*/1);
  Stranger stranger(port);
  stranger.send(handshakeOf(1, 2));
  std::thread reader(
      [&]() { EXPECT_THAT(stranger.readAll(), Not(HasSubstr("stays open"))); });
  for (int i = 0; i < 10000 && log.empty(); ++i) {
    door.serve([](const Greeting &) { return ""; },
               [](std::unique_ptr<Connection>) {});
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  reader.join();
  EXPECT_THAT(log, HasSubstr("has not introduced itself within 0 s"));
}

TEST(Strangers, DescriptorsThatAreUsedUpComeBack) {
  // In a process of its own, whose limit nobody else feels.
  pid_t child = fork();
  if (child == 0) {
    int32_t port = freePort();
    std::string log;
    Door door(launchOf(0, 2, port), HmacKey("key"),
              [&](const std::string &line) { log += line; });
    Stranger first(port), second(port);
    // Nothing is left for the two who wait.
    std::vector<int> taken;
    for (int i = 0; i < 4; ++i)
      taken.push_back(open("/dev/null", O_RDONLY));
    rlimit limit = {static_cast<rlim_t>(taken.back() + 1),
                    static_cast<rlim_t>(taken.back() + 1)};
    setrlimit(RLIMIT_NOFILE, &limit);
    auto serve = [&]() {
      door.serve([](const Greeting &) { return ""; },
                 [](std::unique_ptr<Connection>) {});
      std::vector<pollfd> sockets;
      door.addSockets(sockets);
      return sockets.size();
    };
    // The door does not spin: it waits for nobody for a while.
    if (serve() != 0)
      _exit(1);
    // With one descriptor the one who has come first leaves for the other one.
    close(taken.back());
    std::this_thread::sleep_for(std::chrono::milliseconds(120));
    if (serve() == 0 || log.find("too many connections") == std::string::npos)
      _exit(2);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Strangers, NobodyListensWhenAllRanksAreIn) {
  int32_t port = freePort();
  std::vector<std::string> results = runRanks(2, [&](int32_t rank) {
    Listener listener;
    auto store = makeStore(launchOf(rank, 2, port), 20 * secondNs, listener);
    std::string text;
    // Rank 0 closes the port right after it has let the last rank in.
    if (rank == 1) {
      store->exchange("");
      try {
        connectTo("127.0.0.1", port, monotonicNs());
        text = "connected";
      } catch (const Error &error) {
        text = error.what();
      }
    } else {
      store->exchange("");
    }
    store->exchange("");
    return text;
  });
  EXPECT_THAT(results[1], HasSubstr("Connection refused"));
}

//===----------------------------------------------------------------------===//
// Between a rank and rank 0
//===----------------------------------------------------------------------===//

namespace {
/// Passes bytes on between a rank and rank 0, and may change what it likes.
class Middle {
public:
  /// `change` gets the bytes of the rank, as they come, and returns what rank 0
  /// gets. At most `most` bytes pass at once.
  Middle(int32_t port, std::function<std::string(const std::string &)> change,
         size_t most = 65536)
      : own(freePort()), listener(listenAt("127.0.0.1", own).at(0)), most(most),
        change(std::move(change)), thread([this, port]() { run(port); }) {}
  ~Middle() {
    thread.join();
    close(listener);
  }

  /// What the rank has sent so far.
  std::string sent() {
    std::lock_guard<std::mutex> lock(mutex);
    return recorded;
  }

  const int32_t own; ///< The port where the rank connects.

private:
  void run(int32_t port) {
    pollfd waiting = {listener, POLLIN, 0};
    poll(&waiting, 1, 20000);
    int rank = acceptFrom(listener);
    int zero = connectTo("127.0.0.1", port, monotonicNs() + 20 * secondNs);
    for (bool isOpen = rank >= 0; isOpen;) {
      pollfd both[] = {{rank, POLLIN, 0}, {zero, POLLIN, 0}};
      isOpen = poll(both, 2, 20000) > 0;
      for (int side = 0; side < 2 && isOpen; ++side) {
        if (!both[side].revents)
          continue;
        char buffer[65536];
        ssize_t count =
            recv(both[side].fd, buffer, std::min(most, sizeof(buffer)), 0);
        isOpen = count > 0;
        if (!isOpen)
          break;
        std::string bytes(buffer, static_cast<size_t>(count));
        if (side == 0) {
          std::lock_guard<std::mutex> lock(mutex);
          recorded += bytes;
          bytes = change(bytes);
        }
        ::send(both[1 - side].fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      }
    }
    close(rank);
    close(zero);
  }

  int listener;
  const size_t most;
  std::function<std::string(const std::string &)> change;
  std::mutex mutex;
  std::string recorded;
  std::thread thread;
};
} // namespace

TEST(Strangers, RecordedIntroductionIsWorthNothing) {
  int32_t port = freePort();
  std::string log;
  std::vector<std::string> results = runRanks(3, [&](int32_t rank) {
    Listener listener;
    if (rank == 2) {
      Middle middle(port, [](const std::string &bytes) { return bytes; });
      auto connection = enterByHand(launchOf(1, 3, middle.own));
      Stranger stranger(port);
      stranger.send(middle.sent());
      EXPECT_THAT(stranger.readAll(), Not(HasSubstr("stays open")));
      return std::string();
    }
    if (rank == 1)
      return std::string();
    try {
      makeStore(launchOf(0, 3, port), 60 * secondNs, listener);
    } catch (const Error &error) {
      log = listener.waitForLog("does not know");
      return std::string(error.what());
    }
    return std::string("made");
  });
  EXPECT_THAT(results[0], HasSubstr("rank 1 has lost its connection"));
}

/// What two ranks hear of each other when someone between them changes the
/// bytes of rank 1 after the introduction.
static std::vector<std::string>
meddle(const std::function<std::string(const std::string &)> &change) {
  int32_t port = freePort();
  Middle middle(port, [&](const std::string &bytes) {
    // The two messages of the introduction come alone.
    return bytes.size() < 200 || bytes.find("a post") == std::string::npos
               ? bytes
               : change(bytes);
  });
  return runRanks(2, [&](int32_t rank) {
    Listener listener;
    auto store = makeStore(launchOf(rank, 2, rank ? middle.own : port),
                           20 * secondNs, listener);
    if (rank == 1)
      store->post("a post that someone changes" + std::string(200, '.'));
    std::string text;
    try {
      // The bytes may end with the part of the first exchange.
      store->exchange("");
      store->exchange("");
    } catch (const Error &error) {
      text = error.what();
    }
    return text + "\n" + listener.waitForLog("");
  });
}

TEST(Strangers, SlowNetworkIsNoStranger) {
  // Each byte of the rank comes alone, and messages in any pieces.
  int32_t port = freePort();
  std::vector<std::string> results = runRanks(2, [&](int32_t rank) {
    Listener listener;
    if (rank == 0) {
      auto store = makeStore(launchOf(0, 2, port), 20 * secondNs, listener);
      return store->exchange("x").at(1);
    }
    Middle middle(port, [](const std::string &bytes) { return bytes; }, 1);
    auto store = makeStore(launchOf(1, 2, middle.own), 20 * secondNs, listener);
    return store->exchange("x").at(1);
  });
  EXPECT_THAT(results, Each("x"));
}

TEST(Strangers, ChangedMessageEndsTheConnection) {
  std::vector<std::string> results = meddle([](std::string bytes) {
    bytes[bytes.find("a post")] = 'A';
    return bytes;
  });
  EXPECT_THAT(results[0],
              AllOf(HasSubstr("rank 1 has lost its connection"),
                    HasSubstr("the store of rank 0 closes the connection of "
                              "rank 1: a message Post does not come from the "
                              "sender, or not in its turn")));
}

TEST(Strangers, RepeatedMessageEndsTheConnection) {
  std::vector<std::string> results =
      meddle([](const std::string &bytes) { return bytes + bytes; });
  EXPECT_THAT(results[0], HasSubstr("rank 1 has lost its connection"));
}

//===----------------------------------------------------------------------===//
// False servers
//===----------------------------------------------------------------------===//

/// What rank 1 says of a server that sends these bytes, in answer to nothing.
static std::string believe(const std::string &bytes, bool isClosed = false) {
  int32_t port = freePort();
  int listener = listenAt("127.0.0.1", port).at(0);
  std::thread server([&]() {
    pollfd waiting = {listener, POLLIN, 0};
    poll(&waiting, 1, 20000);
    int socket = acceptFrom(listener);
    ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    char buffer[4096];
    for (ssize_t count = 1; count > 0 && !isClosed;) {
      pollfd open = {socket, POLLIN, 0};
      poll(&open, 1, 20000);
      count = recv(socket, buffer, sizeof(buffer), 0);
    }
    close(socket);
  });
  std::string text = "believes it";
  try {
    Listener listener;
    makeStore(launchOf(1, 2, port), 20 * secondNs, listener);
  } catch (const Error &error) {
    text = error.what();
  }
  server.join();
  close(listener);
  return text;
}

static std::string plain(uint32_t kind, size_t size) {
  return encodeFrame({kind, 0, 0, std::string(size, 'x')}, nullptr);
}

TEST(FalseServer, WithoutTheKeyIsNotBelieved) {
  EXPECT_THAT(believe(plain(Challenge, 32) + plain(Welcome, 32)),
              HasSubstr("does not know the job's key"));
}

TEST(FalseServer, CannotLetARankIn) {
  for (uint32_t kind : {Accepted, Parts, Post, Lost, Failed, Refused, Goodbye})
    EXPECT_THAT(believe(plain(Challenge, 32) + header(kind, 0, 1)),
                HasSubstr("is no store of Braid's"))
        << kind;
}

TEST(FalseServer, CannotSendMuch) {
  EXPECT_THAT(believe(header(Challenge, 0, 0, uint64_t(1) << 40)),
              AllOf(HasSubstr("is no store of Braid's"),
                    HasSubstr("a message Challenge has 1099511627776 bytes")));
}

TEST(FalseServer, CannotWelcomeBeforeItsChallenge) {
  EXPECT_THAT(believe(plain(Welcome, 32)), HasSubstr("is no store of Braid's"));
}

TEST(FalseServer, ThatSaysWrongKeyIsAnError) {
  EXPECT_THAT(believe(plain(WrongKey, 0)),
              HasSubstr("has another key than this rank, which uses the test"));
}

TEST(FalseServer, ThatClosesIsTriedAgain) {
  // The first connection ends at once; the second one finds rank 0.
  int32_t port = freePort();
  std::vector<std::string> results = runRanks(2, [&](int32_t rank) {
    if (rank == 0) {
      int listener = listenAt("127.0.0.1", port).at(0);
      pollfd waiting = {listener, POLLIN, 0};
      poll(&waiting, 1, 20000);
      close(acceptFrom(listener));
      close(listener);
    }
    Listener listener;
    auto store = makeStore(launchOf(rank, 2, port), 20 * secondNs, listener);
    return store->exchange("x").at(1);
  });
  EXPECT_THAT(results, Each("x"));
}

//===----------------------------------------------------------------------===//
// Ranks that have the key
//===----------------------------------------------------------------------===//

/// A world of three whose rank 2 sends these frames by hand when all are in.
/// Returns the error of rank 0, what it has heard, and its log.
static std::string misbehave(const std::vector<Frame> &frames) {
  int32_t port = freePort();
  std::vector<std::string> results = runRanks(3, [&](int32_t rank) {
    Listener listener;
    if (rank == 2) {
      auto connection = enterByHand(launchOf(2, 3, port));
      // All ranks come to this exchange when they are in.
      connection->send({Part, 0, 1, ""});
      for (bool isOver = false; !connection->closed();) {
        pollfd waiting = {connection->descriptor(), POLLIN, 0};
        poll(&waiting, 1, 20000);
        connection->receive([&](Frame &&frame) {
          if (frame.kind == Parts && !isOver) {
            isOver = true;
            for (const Frame &own : frames)
              connection->send(own);
          }
          return true;
        });
      }
      return std::string();
    }
    std::string error = "none";
    auto store = makeStore(launchOf(rank, 3, port), 60 * secondNs, listener);
    std::string heard = listener.waitForText("lost");
    try {
      store->exchange("");
    } catch (const Error &caught) {
      error = caught.what();
    }
    return error + "\n" + heard + "\n" + listener.waitForLog("");
  });
  EXPECT_THAT(results[1], HasSubstr("2:lost;"));
  return results[0];
}

static const char *const rankTwoIsClosed =
    "the store of rank 0 closes the connection of rank 2: ";

TEST(BrokenRank, CannotAccuseAnother) {
  EXPECT_THAT(misbehave({{Lost, 1, 0, ""}}),
              AllOf(HasSubstr("rank 2 has lost"), HasSubstr(rankTwoIsClosed),
                    Not(HasSubstr("1:lost"))));
}

TEST(BrokenRank, CannotAnswerForRankZero) {
  for (uint32_t kind : {Parts, Failed, Accepted, Refused})
    EXPECT_THAT(misbehave({{kind, 0, 1, ""}}), HasSubstr(rankTwoIsClosed))
        << kind;
}

TEST(BrokenRank, HasOnePartOfAnExchange) {
  EXPECT_THAT(misbehave({{Part, 0, 2, ""}, {Part, 0, 2, ""}}),
              HasSubstr("its part of exchange number 2 comes out of turn"));
  EXPECT_THAT(misbehave({{Part, 0, 1000, ""}}),
              HasSubstr("its part of exchange number 1000 comes out of turn"));
  EXPECT_THAT(misbehave({{Part, 0, -1, ""}}), HasSubstr("comes out of turn"));
}

TEST(BrokenRank, CannotBeginExchangesWithoutEnd) {
  std::vector<Frame> frames;
  for (int64_t number = 2; number <= 40; ++number)
    frames.push_back({Part, 0, number, "x"});
  EXPECT_THAT(misbehave(frames), HasSubstr("comes out of turn"));
}

TEST(BrokenRank, SpeaksForItselfAlone) {
  // The frame says rank 1 and rank 77777, the connection says rank 2.
  EXPECT_THAT(
      misbehave(
          {{Post, 1, 0, "one"}, {Post, 77777, 0, "two"}, {Lost, 0, 0, ""}}),
      HasSubstr("2:one;2:two;"));
}

TEST(BrokenRank, CannotBeTwoConnections) {
  int32_t port = freePort();
  std::promise<void> isRefused;
  std::vector<std::string> results = runRanks(3, [&](int32_t rank) {
    Listener listener;
    if (rank == 2) {
      auto first = enterByHand(launchOf(2, 3, port));
      auto second = enterByHand(launchOf(2, 3, port));
      EXPECT_LT(second->process, 0);
      isRefused.set_value();
      first->send({Part, 0, 1, ""});
      first->send({Goodbye, 0, 0, ""});
      for (bool isOver = false; !isOver && !first->closed();)
        first->receive([&](Frame &&frame) {
          isOver = frame.kind == Goodbye;
          return !isOver;
        });
      return std::string();
    }
    // Rank 1 comes last, so that the door is open.
    if (rank == 1)
      isRefused.get_future().wait();
    auto store = makeStore(launchOf(rank, 3, port), 20 * secondNs, listener);
    return listener.waitForLog(rank ? "" : "another process has this rank");
  });
  EXPECT_THAT(results[0],
              HasSubstr("rank 2 is refused: another process has this rank"));
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// The results of two ranks that meet at this address; empty where the host has
/// none.
static std::vector<std::string> meetAt(const std::string &address) {
  int32_t port = freePort();
  return runRanks(2, [&](int32_t rank) {
    Listener listener;
    Launch launch = launchOf(rank, 2, port);
    launch.address = address;
    auto store = makeStore(launch, 20 * secondNs, listener);
    return store->exchange("x").at(1);
  });
}

static bool hasIPv6() {
  try {
    for (int listener : listenAt("::1", freePort()))
      close(listener);
    return true;
  } catch (const Error &) {
    return false;
  }
}

TEST(Addresses, RanksMeetAtAName) {
  EXPECT_THAT(meetAt("localhost"), Each("x"));
}

TEST(Addresses, RanksMeetAtAnAddressOfIPv6) {
  if (!hasIPv6())
    GTEST_SKIP() << "this host has no IPv6";
  EXPECT_THAT(meetAt("::1"), Each("x"));
  EXPECT_THAT(meetAt("[::1]"), Each("x"));
}

TEST(Addresses, RankZeroListensAtAllWhereTheUserSaysSo) {
  int32_t port = freePort();
  std::vector<std::string> results = runRanks(2, [&](int32_t rank) {
    Listener listener;
    Launch launch = launchOf(rank, 2, port);
    launch.address = rank ? "127.0.0.2" : "0.0.0.0";
    auto store = makeStore(launch, 20 * secondNs, listener);
    return store->exchange("x").at(1);
  });
  EXPECT_THAT(results, Each("x"));
}

TEST(Addresses, RankZeroListensAtNoOtherAddress) {
  int32_t port = freePort();
  std::vector<int> listeners = listenAt("127.0.0.1", port);
  EXPECT_EQ(listeners.size(), 1u);
  EXPECT_THROW(close(connectTo("127.0.0.2", port, monotonicNs())), Error);
  if (hasIPv6())
    EXPECT_THROW(close(connectTo("::1", port, monotonicNs())), Error);
  close(listeners[0]);
}

static std::string errorOfListening(const std::string &host,
                                    bool hasOtherHosts = false) {
  try {
    for (int listener : listenAt(host, freePort(), hasOtherHosts))
      close(listener);
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

TEST(Addresses, AddressOfAnotherHostIsNamed) {
  // TEST-NET-1, which no host has.
  EXPECT_THAT(errorOfListening("192.0.2.1"),
              AllOf(HasSubstr("of 192.0.2.1: "),
                    HasSubstr("is MASTER_ADDR an address or a name of rank "
                              "0's host?"),
                    HasSubstr("MASTER_ADDR=0.0.0.0")));
}

TEST(Addresses, LoopbackIsNoAddressForOtherHosts) {
  EXPECT_EQ(errorOfListening("127.0.0.1"), "");
  for (const char *host : {"127.0.0.1", "127.0.1.1", "localhost"})
    EXPECT_THAT(errorOfListening(host, /*hasOtherHosts=*/true),
                HasSubstr("this is a loopback address, and some ranks are on "
                          "other hosts: set MASTER_ADDR"))
        << host;
}
