//===- FiguresTest.cpp - Figures of what was recorded -----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Timing/Figures.h"

#include <gmock/gmock.h>

#include <limits>

using namespace braid::run;
using testing::DoubleEq;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

namespace {

Event event(int32_t category, int64_t beginNs, int64_t endNs) {
  Event event;
  event.category = category;
  event.beginNs = beginNs;
  event.endNs = endNs;
  return event;
}

Event collective(int32_t kind, int64_t bytes, int64_t ns,
                 std::vector<int32_t> ranks) {
  Event result = event(BRAID_RT_EVENT_COLLECTIVE, 0, ns);
  result.kind = kind;
  result.bytes = bytes;
  result.ranks = std::move(ranks);
  return result;
}

TEST(IntervalsTest, MergingOrdersJoinsAndDropsEmptyOnes) {
  EXPECT_THAT(merged({{7, 9}, {1, 3}, {3, 4}, {2, 3}, {6, 6}}),
              ElementsAre(Pair(1, 4), Pair(7, 9)));
  EXPECT_THAT(merged({}), IsEmpty());
}

TEST(IntervalsTest, WithoutIsWhatTheFirstHasAlone) {
  EXPECT_THAT(without({{0, 10}, {12, 14}}, {{2, 3}, {5, 13}}),
              ElementsAre(Pair(0, 2), Pair(3, 5), Pair(13, 14)));
  EXPECT_THAT(without({{0, 10}}, {{0, 10}}), IsEmpty());
  EXPECT_EQ(length(without({{0, 5}, {7, 20}}, {{3, 8}, {9, 10}})), 3 + 1 + 10);
}

TEST(OverlapTest, OfADeviceIsThatOfKernelsAndCollectives) {
  // The compute of two kernels from 0 to 10, a collective from 6 to 14: 4 of
  // its 8 ns are exposed. Copies, and what the host does, are neither.
  std::vector<Event> events = {event(BRAID_RT_EVENT_KERNEL, 0, 4),
                               event(BRAID_RT_EVENT_KERNEL, 4, 10),
                               event(BRAID_RT_EVENT_COPY, 10, 12),
                               event(BRAID_RT_EVENT_COLLECTIVE, 6, 14),
                               event(BRAID_RT_EVENT_WAIT, 1, 2),
                               event(BRAID_RT_EVENT_INVOCATION, 0, 20)};
  Overlap overlap = measureOverlap(events, /*isHostMemory=*/false);
  EXPECT_EQ(overlap.computeNs, 10);
  EXPECT_EQ(overlap.communicationNs, 8);
  EXPECT_EQ(overlap.exposedNs, 4);
  EXPECT_THAT(overlap.hiddenFraction(), DoubleEq(0.5));
}

TEST(OverlapTest, OnTheHostComputeIsBetweenStartsAndWaits) {
  std::vector<Event> events = {event(BRAID_RT_EVENT_START, 2, 3),
                               event(BRAID_RT_EVENT_WAIT, 10, 14),
                               event(BRAID_RT_EVENT_COLLECTIVE, 3, 13),
                               event(BRAID_RT_EVENT_INVOCATION, 0, 20)};
  Overlap overlap = measureOverlap(events, /*isHostMemory=*/true);
  EXPECT_EQ(overlap.computeNs, 20 - 1 - 4);
  EXPECT_EQ(overlap.exposedNs, 3);
}

TEST(OverlapTest, WithoutCommunicationNothingIsExposed) {
  Overlap overlap = measureOverlap({event(BRAID_RT_EVENT_KERNEL, 0, 4)}, false);
  EXPECT_EQ(overlap.exposedNs, 0);
  EXPECT_THAT(overlap.hiddenFraction(), DoubleEq(1));
}

TEST(TrafficTest, BusBandwidthIsThatOfNcclTests) {
  // 400 bytes in 100 ns are 4 GB/s; among 4 ranks an all-reduce carries each
  // byte 1.5 times, an all-gather 0.75 times, a broadcast once.
  Recording recording;
  recording.ranks = {{collective(BRAID_RT_ALL_REDUCE, 400, 100, {0, 1, 2, 3}),
                      collective(BRAID_RT_ALL_GATHER, 400, 100, {0, 1, 2, 3}),
                      collective(BRAID_RT_BROADCAST, 400, 100, {0, 1, 2, 3})}};
  std::map<int32_t, Traffic> traffic = measureTraffic(recording);
  EXPECT_THAT(traffic[BRAID_RT_ALL_REDUCE].busBandwidth(), DoubleEq(6));
  EXPECT_THAT(traffic[BRAID_RT_ALL_GATHER].busBandwidth(), DoubleEq(3));
  EXPECT_THAT(traffic[BRAID_RT_BROADCAST].busBandwidth(), DoubleEq(4));
}

TEST(TrafficTest, IsThatOfTheSlowestRank) {
  Recording recording;
  recording.ranks = {{collective(BRAID_RT_ALL_REDUCE, 10, 5, {0, 1})},
                     {collective(BRAID_RT_ALL_REDUCE, 10, 9, {0, 1}),
                      collective(BRAID_RT_ALL_REDUCE, 10, 1, {0, 1})}};
  Traffic traffic = measureTraffic(recording)[BRAID_RT_ALL_REDUCE];
  EXPECT_EQ(traffic.ns, 10);
  EXPECT_EQ(traffic.count, 2);
  EXPECT_EQ(traffic.bytes, 20);
}

TEST(GroupTest, NamesOfGroupsAndLanesMayHaveSpaces) {
  const braid_rt_lane lane = {"the bulk", 8, 0};
  const braid_rt_group world = {"my world", 1, 0, nullptr, nullptr, nullptr};
  const braid_rt_group bulk = {"my world", 1, 0, nullptr, nullptr, &lane};
  const braid_rt_group other = {"my", 1, 0, nullptr, nullptr, nullptr};
  const braid_rt_group *const groups[] = {&world, &bulk, &other};
  braid_rt_program program{};
  program.groupCount = 3;
  program.groups = groups;
  Recording recording;
  for (const char *text : {"my world", "my world the bulk", "my world p2p",
                           "my", "not in the program"}) {
    Event event = collective(BRAID_RT_ALL_REDUCE, 1, 1, {0});
    event.lane = text;
    recording.ranks.push_back({event});
  }
  nameGroups(recording, program);
  std::vector<std::string> found;
  for (const std::vector<Event> &events : recording.ranks)
    found.push_back(events[0].group);
  EXPECT_THAT(found,
              ElementsAre("my world", "my world", "my world", "my", "not"));
}

} // namespace
