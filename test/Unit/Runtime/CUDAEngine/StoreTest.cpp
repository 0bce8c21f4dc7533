//===- StoreTest.cpp - Processes that meet in a store ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Processes/Store.h"
#include "CUDA/Processes/Connection.h"
#include "Core/Environment.h"
#include "Core/Error.h"
#include "FreePort.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <condition_variable>
#include <mutex>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace braid::rt;
using namespace braid::rt::cuda;
using braid::test::freePort;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

static constexpr int64_t secondNs = int64_t(1000) * 1000 * 1000;

namespace {
/// Keeps what it hears.
class Listener final : public StoreListener {
public:
  void received(int32_t process, const std::string &bytes) override {
    std::lock_guard<std::mutex> lock(mutex);
    heard += std::to_string(process) + ":" + bytes + ";";
    changed.notify_all();
  }
  void lost(int32_t process) override { received(process, "lost"); }
  /// What it has heard once it has heard so much, or after ten seconds.
  std::string waitFor(size_t length) {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait_for(lock, std::chrono::seconds(10),
                     [&]() { return heard.size() >= length; });
    return heard;
  }

private:
  std::mutex mutex;
  std::condition_variable changed;
  std::string heard;
};

Launch launchOf(int32_t rank, int32_t size, int32_t port,
                const std::string &job = "job") {
  Launch launch;
  launch.launcher = "torchrun";
  launch.rank = rank;
  launch.size = size;
  launch.address = "127.0.0.1";
  launch.port = port;
  launch.job = job;
  return launch;
}

/// What each rank's function says, each on a thread of its own.
std::vector<std::string>
runRanks(int32_t count, const std::function<std::string(int32_t)> &body) {
  std::vector<std::string> results(static_cast<size_t>(count));
  std::vector<std::thread> threads;
  for (int32_t rank = 0; rank < count; ++rank)
    threads.emplace_back([&, rank]() {
      try {
        results[static_cast<size_t>(rank)] = body(rank);
      } catch (const Error &error) {
        results[static_cast<size_t>(rank)] = error.what();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  return results;
}
} // namespace

TEST(Store, ExchangeGivesEveryoneTheBytesOfAll) {
  int32_t port = freePort();
  std::vector<std::string> results = runRanks(4, [&](int32_t rank) {
    Listener listener;
    auto store =
        createTcpStore(launchOf(rank, 4, port), 20 * secondNs, listener);
    std::string text;
    for (int round = 0; round < 3; ++round)
      for (const std::string &part :
           store->exchange(std::string(static_cast<size_t>(rank), 'a') +
                           std::to_string(round)))
        text += part + " ";
    return text;
  });
  for (const std::string &result : results)
    EXPECT_EQ(result, "0 a0 aa0 aaa0 1 a1 aa1 aaa1 2 a2 aa2 aaa2 ");
}

TEST(Store, ExchangesMoreThanASocketTakesAtOnce) {
  int32_t port = freePort();
  std::vector<std::string> results = runRanks(2, [&](int32_t rank) {
    Listener listener;
    auto store =
        createTcpStore(launchOf(rank, 2, port), 20 * secondNs, listener);
    std::vector<std::string> all = store->exchange(
        std::string(size_t(20) << 20, static_cast<char>('0' + rank)));
    bool same = all[0] == std::string(size_t(20) << 20, '0') &&
                all[1] == std::string(size_t(20) << 20, '1');
    return std::string(same ? "same" : "other");
  });
  EXPECT_THAT(results, ElementsAre("same", "same"));
}

TEST(Store, PostReachesAllOthersInItsOrder) {
  int32_t port = freePort();
  std::vector<std::string> results = runRanks(3, [&](int32_t rank) {
    Listener listener;
    auto store =
        createTcpStore(launchOf(rank, 3, port), 20 * secondNs, listener);
    if (rank == 1) {
      store->post("first");
      store->post("second");
    }
    std::string heard = rank == 1 ? "" : listener.waitFor(17);
    store->exchange("");
    return heard;
  });
  EXPECT_THAT(results,
              ElementsAre("1:first;1:second;", "", "1:first;1:second;"));
}

TEST(Store, RankThatDoesNotConnectIsNamed) {
  int32_t port = freePort();
  std::vector<std::string> results = runRanks(2, [&](int32_t rank) {
    Listener listener;
    createTcpStore(launchOf(rank, 3, port), secondNs / 2, listener);
    return std::string();
  });
  for (const std::string &result : results)
    EXPECT_THAT(result,
                AllOf(HasSubstr("timed out after 500 ms: rank 2 has not "
                                "connected to the store of rank 0 at "
                                "127.0.0.1:"),
                      HasSubstr(std::to_string(port))));
}

TEST(Store, RankThatDoesNotComeToAnExchangeIsNamed) {
  int32_t port = freePort();
  std::vector<std::string> results = runRanks(3, [&](int32_t rank) {
    Listener listener;
    auto store = createTcpStore(launchOf(rank, 3, port), secondNs, listener);
    if (rank == 1)
      std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    else
      store->exchange("");
    return std::string();
  });
  EXPECT_THAT(results[0], HasSubstr("rank 1 does not come to what all ranks do "
                                    "together"));
  EXPECT_EQ(results[2], results[0]);
}

TEST(Store, ServerThatIsNotThereIsNamed) {
  Listener listener;
  try {
    createTcpStore(launchOf(1, 2, freePort()), secondNs / 5, listener);
    FAIL() << "there is no server";
  } catch (const Error &error) {
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("cannot connect to the store of rank 0 at "
                                "127.0.0.1:"),
                      HasSubstr("Connection refused")));
  }
}

TEST(Store, PortThatIsTakenIsNamed) {
  int32_t port = freePort();
  int listener = listenAt(port);
  Listener hears;
  try {
    createTcpStore(launchOf(0, 2, port), secondNs, hears);
    ADD_FAILURE() << "the port is taken";
  } catch (const Error &error) {
    EXPECT_THAT(
        error.what(),
        AllOf(
            HasSubstr("cannot serve the store at port " + std::to_string(port)),
            HasSubstr("Address already in use"), HasSubstr("set MASTER_PORT")));
  }
  close(listener);
}

TEST(Store, ServerThatIsNoStoreIsFoundOut) {
  int32_t port = freePort();
  int listener = listenAt(port);
  std::thread server([&]() {
    int socket = -1;
    while ((socket = acceptFrom(listener)) < 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const char answer[] =
        "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
    EXPECT_GT(send(socket, answer, sizeof(answer), 0), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    close(socket);
  });
  Listener hears;
  try {
    createTcpStore(launchOf(1, 2, port), 5 * secondNs, hears);
    ADD_FAILURE() << "the server is none of ours";
  } catch (const Error &error) {
    EXPECT_THAT(error.what(), HasSubstr("is no store of Braid's"));
  }
  server.join();
  close(listener);
}

/// What a rank 1 with another launch is told by a store of two ranks.
static std::string refusalOf(const std::function<void(Launch &)> &change) {
  int32_t port = freePort();
  std::vector<std::string> results = runRanks(2, [&](int32_t rank) {
    Listener listener;
    Launch launch = launchOf(rank, 2, port);
    if (rank == 1)
      change(launch);
    createTcpStore(launch, secondNs / 2, listener);
    return std::string();
  });
  EXPECT_THAT(results[0], HasSubstr("rank 1 has not connected"));
  return results[1];
}

TEST(Store, RankOfAnotherJobIsRefused) {
  EXPECT_THAT(refusalOf([](Launch &launch) { launch.job = "other"; }),
              AllOf(HasSubstr("refuses rank 1: it belongs to the job 'job', "
                              "this rank to the job 'other'"),
                    HasSubstr("MASTER_PORT")));
}

TEST(Store, RankOfAWorldOfAnotherSizeIsRefused) {
  EXPECT_THAT(refusalOf([](Launch &launch) { launch.size = 4; }),
              HasSubstr("rank 0 has been started as one of 2 ranks, this one "
                        "as one of 4"));
}

TEST(Store, RankThatIsThereAlreadyIsRefused) {
  int32_t port = freePort();
  std::vector<std::string> results = runRanks(3, [&](int32_t thread) {
    Listener listener;
    createTcpStore(launchOf(std::min(thread, 1), 3, port), secondNs, listener);
    return std::string();
  });
  std::string both = results[1] + results[2];
  EXPECT_THAT(both, HasSubstr("another process has this rank"));
}

TEST(Store, ProcessThatEndsWithoutAGoodbyeIsLost) {
  int32_t port = freePort();
  std::vector<std::string> results = runRanks(3, [&](int32_t rank) {
    Listener listener;
    if (rank == 2) {
      // By hand: it says hello, comes to the first exchange, and is gone.
      int socket = connectTo("127.0.0.1", port, monotonicNs() + 10 * secondNs);
      Connection connection(socket);
      connection.send({/*Hello*/ 0, 2, 3, "job"});
      connection.send({/*Part*/ 3, 2, 1, ""});
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      return std::string();
    }
    auto store =
        createTcpStore(launchOf(rank, 3, port), 20 * secondNs, listener);
    std::string heard = listener.waitFor(7);
    try {
      store->exchange("");
    } catch (const Error &error) {
      heard += error.what();
    }
    return heard;
  });
  for (int rank : {0, 1})
    EXPECT_EQ(results[static_cast<size_t>(rank)],
              "2:lost;rank 2 has lost its connection to the other ranks");
}

TEST(Store, InterruptEndsAnExchangeThatWaits) {
  int32_t port = freePort();
  std::vector<std::string> results = runRanks(2, [&](int32_t rank) {
    Listener listener;
    auto store =
        createTcpStore(launchOf(rank, 2, port), 20 * secondNs, listener);
    std::thread other([&]() {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      store->interrupt("rank 7 failed");
    });
    std::string text;
    try {
      if (rank == 0)
        store->exchange("");
    } catch (const Error &error) {
      text = error.what();
    }
    other.join();
    return text;
  });
  EXPECT_EQ(results[0], "rank 7 failed");
}
