//===- InvestigationTest.cpp - Why operations do not end ------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Base/Bytes.h"
#include "Diagnosis/Status.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace braid::rt;
using testing::ElementsAre;
using testing::Pair;

namespace {
/// What ranks do, built up by hand.
struct Ranks {
  explicit Ranks(int32_t count) {
    for (int32_t rank = 0; rank < count; ++rank) {
      all[rank].rank = rank;
      all[rank].begun = 1;
      all[rank].wait = 10 + rank;
    }
  }

  /// The rank starts its next collective of a group.
  OpenOperation &start(int32_t rank, uint64_t group,
                       std::vector<int32_t> members, const std::string &text,
                       uint64_t fingerprint = 1) {
    OpenOperation operation;
    operation.match = operation.ownQueue = operation.otherQueue = group;
    operation.lane = group;
    operation.group = "g" + std::to_string(group);
    operation.members = std::move(members);
    operation.sequence = ++all[rank].started[group];
    operation.invocation = 1;
    operation.issue = ++issues;
    operation.fingerprint = fingerprint;
    operation.text = text;
    operation.awaited = true;
    all[rank].open.push_back(operation);
    return all[rank].open.back();
  }

  /// One side of a message; those of one `issue` were issued together.
  void startMessage(int32_t rank, int32_t from, int32_t to, int64_t issue) {
    auto pair = static_cast<uint64_t>(1000 + 10 * from + to);
    OpenOperation operation;
    bool sends = rank == from;
    operation.match = pair;
    operation.ownQueue = pair + (sends ? 1000 : 2000);
    operation.otherQueue = pair + (sends ? 2000 : 1000);
    operation.lane = 1;
    operation.group = "p";
    operation.isMessage = true;
    operation.members = {from, to};
    operation.sequence = ++all[rank].started[operation.ownQueue];
    operation.invocation = 1;
    operation.issue = issue;
    operation.awaited = true;
    operation.text = sends ? "send to " + std::to_string(to)
                           : "recv from " + std::to_string(from);
    all[rank].open.push_back(operation);
  }

  Statuses all;
  int64_t issues = 100;
};
} // namespace

TEST(Investigation, FindsNothingWhereAllHaveStartedTheSame) {
  Ranks ranks(2);
  for (int32_t rank : {0, 1})
    ranks.start(rank, 1, {0, 1}, "a");
  EXPECT_FALSE(findProblem(ranks.all));
  EXPECT_FALSE(findDeadlock(ranks.all, 2));
}

TEST(Investigation, FindsMembersThatDisagree) {
  Ranks ranks(3);
  ranks.start(1, 1, {2, 1}, "b", 5);
  ranks.start(2, 1, {2, 1}, "c", 6);
  std::optional<Failure> failure = findProblem(ranks.all);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->text, "the ranks of group @g1 disagree in collective "
                           "number 1: rank 1 runs b, rank 2 runs c");
  EXPECT_THAT(failure->members, ElementsAre(2, 1));
  EXPECT_EQ(failure->sequence, 1);
}

TEST(Investigation, FindsSplitsThatDisagree) {
  Ranks ranks(2);
  OpenOperation &first = ranks.start(0, 1, {0, 1}, "a");
  first.sent = {1, 3};
  first.expected = {1, 2};
  OpenOperation &second = ranks.start(1, 1, {0, 1}, "b");
  second.sent = {2, 2};
  second.expected = {2, 2};
  std::optional<Failure> failure = findProblem(ranks.all);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->text,
            "the ranks of group @g1 disagree in collective number 1: rank 0 "
            "runs a, rank 1 runs b; rank 0 sends 3 rows to rank 1, which "
            "expects 2");
}

TEST(Investigation, FindsAMemberThatHasEnded) {
  Ranks ranks(2);
  ranks.start(0, 1, {0, 1}, "a");
  EXPECT_FALSE(findProblem(ranks.all));
  ranks.all[1].ended = 1;
  std::optional<Failure> failure = findProblem(ranks.all);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->text,
            "rank 1 has ended its program without starting collective number 1 "
            "of group @g1; rank 0 waits for a");
}

TEST(Investigation, TakesAMemberThatHasFinishedTheOperationForNoneThatIsGone) {
  Ranks ranks(2);
  ranks.start(0, 1, {0, 1}, "a");
  ranks.all[1].started[1] = 1;
  ranks.all[1].ended = 1;
  EXPECT_FALSE(findProblem(ranks.all));
}

TEST(Investigation, FindsRanksThatWaitForEachOther) {
  Ranks ranks(2);
  ranks.start(0, 1, {0, 1}, "a");
  OpenOperation &last = ranks.start(1, 2, {0, 1}, "b");
  std::optional<Deadlock> deadlock = findDeadlock(ranks.all, 2);
  ASSERT_TRUE(deadlock);
  EXPECT_EQ(deadlock->failure.text,
            "every rank waits for another one: rank 0 for a, rank 1 for b");
  EXPECT_THAT(deadlock->failure.members, ElementsAre(0, 1));
  EXPECT_THAT(deadlock->waits, ElementsAre(Pair(0, 10), Pair(1, 11)));
  // It may still start the other one.
  last.awaited = false;
  EXPECT_FALSE(findDeadlock(ranks.all, 2));
}

TEST(Investigation, FindsRanksThatWaitForEachOtherBesideOneThatComputes) {
  Ranks ranks(4);
  ranks.start(0, 1, {0, 1}, "a");
  ranks.start(1, 2, {0, 1}, "b");
  ranks.start(2, 3, {0, 2}, "c");
  std::optional<Deadlock> deadlock = findDeadlock(ranks.all, 4);
  ASSERT_TRUE(deadlock);
  EXPECT_EQ(deadlock->failure.text,
            "ranks 0, 1 and 2 wait for each other: rank 0 for a, rank 1 for b, "
            "rank 2 for c");
  EXPECT_THAT(deadlock->failure.members, ElementsAre(0, 1, 2));
}

TEST(Investigation, FindsRanksThatWaitForEachOtherBesideAnUnknownOne) {
  Ranks ranks(2);
  ranks.start(0, 1, {0, 1}, "a");
  ranks.start(1, 2, {0, 1}, "b");
  std::optional<Deadlock> deadlock = findDeadlock(ranks.all, 3);
  ASSERT_TRUE(deadlock);
  EXPECT_EQ(deadlock->failure.text,
            "ranks 0 and 1 wait for each other: rank 0 for a, rank 1 for b");
}

TEST(Investigation, FindsNoDeadlockWhereAnUnknownRankMayComeFirst) {
  Ranks ranks(2);
  ranks.start(0, 1, {0, 2}, "a");
  ranks.start(1, 2, {0, 1}, "b");
  EXPECT_FALSE(findDeadlock(ranks.all, 3));
}

TEST(Investigation, TellsARankWhoseMessageIsBehindADeadlockFromOneInFront) {
  // Rank 1 has started its message for rank 2 behind one that never ends.
  Ranks ranks(4);
  ranks.startMessage(0, 1, 0, 1);
  ranks.start(0, 2, {0, 1}, "a");
  ranks.startMessage(1, 0, 1, 1);
  ranks.startMessage(1, 1, 2, 2);
  ranks.startMessage(2, 1, 2, 1);
  ranks.start(3, 3, {1, 3}, "b");
  std::optional<Deadlock> deadlock = findDeadlock(ranks.all, 4);
  ASSERT_TRUE(deadlock);
  EXPECT_EQ(deadlock->failure.text,
            "every rank waits for another one: rank 0 for recv from 1, rank 1 "
            "for recv from 0, rank 2 for recv from 1, rank 3 for b");
  // Issued together, the second one passes.
  ranks.all[1].open[1].issue = 1;
  deadlock = findDeadlock(ranks.all, 4);
  ASSERT_TRUE(deadlock);
  EXPECT_THAT(deadlock->failure.members, ElementsAre(0, 1, 3));
}

TEST(Investigation, LetsOperationsOfDifferentLanesEndInAnyOrder) {
  Ranks ranks(2);
  ranks.start(0, 1, {0, 1}, "a");
  ranks.start(0, 2, {0, 1}, "b");
  ranks.start(1, 2, {0, 1}, "b");
  ranks.start(1, 1, {0, 1}, "a");
  EXPECT_FALSE(findDeadlock(ranks.all, 2));
}

TEST(Investigation, FindsSendsThatWaitForReceivesBehindSends) {
  Ranks ranks(2);
  for (int32_t rank : {0, 1}) {
    ranks.startMessage(rank, rank, 1 - rank, 1);
    ranks.startMessage(rank, 1 - rank, rank, 2);
  }
  std::optional<Deadlock> deadlock = findDeadlock(ranks.all, 2);
  ASSERT_TRUE(deadlock);
  EXPECT_EQ(deadlock->failure.text,
            "every rank waits for another one: rank 0 for send to 1, rank 1 "
            "for send to 0");
}

TEST(Investigation, LetsMessagesThatWereIssuedTogetherEnd) {
  Ranks ranks(2);
  for (int32_t rank : {0, 1}) {
    ranks.startMessage(rank, rank, 1 - rank, 1);
    ranks.startMessage(rank, 1 - rank, rank, 1);
  }
  EXPECT_FALSE(findDeadlock(ranks.all, 2));
}

TEST(Investigation, SaysAfterTheTimeoutWhoIsMissingAndWhoDoesNotAnswer) {
  Ranks ranks(4);
  std::vector<int32_t> members = {0, 1, 2, 3};
  OpenOperation late = ranks.start(0, 1, members, "a");
  ranks.start(1, 1, members, "a");
  ranks.start(2, 2, {2, 3}, "b");
  ranks.all.erase(3);
  Failure failure = describeTimedOut(ranks.all, late, 50 * 1000 * 1000);
  EXPECT_EQ(failure.text,
            "timed out after 50 ms: rank 2 has not started collective number 1 "
            "of group @g1; rank 2 waits for b; rank 3 does not answer; ranks 0 "
            "and 1 wait for a");
}

TEST(Investigation, StatusSurvivesTheWayToAnotherProcess) {
  Ranks ranks(2);
  OpenOperation &operation = ranks.start(1, 3, {1, 0}, "text", 77);
  operation.sent = {1, 2};
  operation.isMessage = true;
  RankStatus copy = fromBytes<RankStatus>(toBytes(ranks.all[1]));
  EXPECT_EQ(copy.rank, 1);
  EXPECT_EQ(copy.begun, 1);
  EXPECT_EQ(copy.wait, 11);
  EXPECT_EQ(copy.started, ranks.all[1].started);
  ASSERT_EQ(copy.open.size(), 1U);
  EXPECT_EQ(copy.open[0].text, "text");
  EXPECT_EQ(copy.open[0].fingerprint, 77U);
  EXPECT_THAT(copy.open[0].members, ElementsAre(1, 0));
  EXPECT_THAT(copy.open[0].sent, ElementsAre(1, 2));
  EXPECT_TRUE(copy.open[0].isMessage);
  EXPECT_TRUE(copy.open[0].awaited);
}
