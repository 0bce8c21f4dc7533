//===- StoreTest.cpp - Processes that meet in a store ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FreePort.h"
#include "StoreTesting.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <future>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace braid::rt;
using namespace braid::rt::cuda;
using namespace braid::test;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Store, ExchangeGivesEveryoneTheBytesOfAll) {
  int32_t port = freePort();
  std::vector<std::string> results = runRanks(4, [&](int32_t rank) {
    Listener listener;
    auto store = makeStore(launchOf(rank, 4, port), 20 * secondNs, listener);
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
    auto store = makeStore(launchOf(rank, 2, port), 20 * secondNs, listener);
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
    auto store = makeStore(launchOf(rank, 3, port), 20 * secondNs, listener);
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
    makeStore(launchOf(rank, 3, port), 2 * secondNs, listener);
    return std::string();
  });
  for (const std::string &result : results)
    EXPECT_THAT(result,
                AllOf(HasSubstr("timed out after 2000 ms: rank 2 has not "
                                "connected to the store of rank 0 at "
                                "127.0.0.1:"),
                      HasSubstr(std::to_string(port))));
}

TEST(Store, RankThatDoesNotComeToAnExchangeIsNamed) {
  int32_t port = freePort();
  // Rank 1 stays until the others have given up.
  std::promise<void> givenUp[2];
  std::vector<std::string> results = runRanks(3, [&](int32_t rank) {
    Listener listener;
    auto store = makeStore(launchOf(rank, 3, port), 3 * secondNs, listener);
    std::string text;
    if (rank == 1) {
      for (std::promise<void> &each : givenUp)
        each.get_future().wait_for(std::chrono::seconds(20));
      return text;
    }
    try {
      store->exchange("");
    } catch (const Error &error) {
      text = error.what();
    }
    givenUp[rank / 2].set_value();
    return text;
  });
  EXPECT_THAT(results[0], HasSubstr("rank 1 does not come to what all ranks do "
                                    "together"));
  EXPECT_EQ(results[2], results[0]);
}

TEST(Store, ServerThatIsNotThereIsNamed) {
  Listener listener;
  try {
    makeStore(launchOf(1, 2, freePort()), secondNs / 5, listener);
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
  int listener = listenAt("127.0.0.1", port).at(0);
  Listener hears;
  try {
    makeStore(launchOf(0, 2, port), secondNs, hears);
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
  int listener = listenAt("127.0.0.1", port).at(0), socket = -1;
  std::thread server([&]() {
    while ((socket = acceptFrom(listener)) < 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const char answer[] =
        "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
    EXPECT_GT(send(socket, answer, sizeof(answer), MSG_NOSIGNAL), 0);
  });
  Listener hears;
  try {
    makeStore(launchOf(1, 2, port), 20 * secondNs, hears);
    ADD_FAILURE() << "the server is none of ours";
  } catch (const Error &error) {
    EXPECT_THAT(error.what(), HasSubstr("is no store of Braid's"));
  }
  server.join();
  // The answer must not get lost: a connection that ends early is reset.
  close(socket);
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
    makeStore(launch, 2 * secondNs, listener);
    return std::string();
  });
  EXPECT_THAT(results[0], HasSubstr("rank 1 has not connected"));
  return results[1];
}

TEST(Store, RankOfAnotherJobIsRefused) {
  EXPECT_THAT(refusalOf([](Launch &launch) { launch.job = "other"; }),
              AllOf(HasSubstr("refuses rank 1: it belongs to the job 'job', "
                              "this rank to another one"),
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
    makeStore(launchOf(std::min(thread, 1), 3, port), secondNs, listener);
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
      // By hand: it introduces itself, comes to the first exchange, and is
      // gone.
      auto connection = enterByHand(launchOf(2, 3, port));
      connection->send({Part, 0, 1, ""});
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      return std::string();
    }
    auto store = makeStore(launchOf(rank, 3, port), 20 * secondNs, listener);
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
    auto store = makeStore(launchOf(rank, 2, port), 20 * secondNs, listener);
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
