//===- ListScheduleTest.cpp - Orders of the list scheduler ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestProblems/MemoryProblems.h"
#include "TestProblems/StandardPrograms.h"
#include "braid/Schedule/Simulation/SimulatedOrder.h"

#include "braid/Schedule/Baselines/Inductor/RaiseCollectives.h"
#include "llvm/ADT/STLExtras.h"

#include "gtest/gtest.h"

#include <limits>

using namespace braid;
using namespace braid::test;

namespace {

// In place: readers of the buffer come before the collective that writes it.
constexpr const char *programNRInPlace =
    "mm1, relu(mm1), mm2(relu), ar(mm1,relu), w(ar), mm3(w,mm2)";
// A copy saves the readers from that.
constexpr const char *programNSRClone =
    "mm1, relu1(mm1), mm2(relu1), cl(mm1), ar(cl), w(ar), relu2(mm2), "
    "mm3(relu2), mm4(w,mm3)";

constexpr ListScheduleOptions sink = {/*raise=*/false, /*sink=*/true,
                                      /*reorder=*/false};
constexpr ListScheduleOptions raise = {/*raise=*/true, /*sink=*/false,
                                       /*reorder=*/false};
constexpr ListScheduleOptions reorder = {/*raise=*/true, /*sink=*/true,
                                         /*reorder=*/true};
constexpr ListScheduleOptions fill = {/*raise=*/true, /*sink=*/false,
                                      /*reorder=*/true};

/// Runs one scheduler on the result of the other.
std::string run(std::initializer_list<ListScheduleOptions> passes,
                llvm::StringRef program) {
  NamedProblem named = parseProblem(program);
  for (ListScheduleOptions options : passes) {
    ScheduleOrder order = listSchedule(named.problem, options);
    std::string reason;
    EXPECT_TRUE(isAllowedOrder(named.problem, order, &reason)) << reason;
    NamedProblem result;
    result.problem.graph = permute(named.problem.graph, order);
    for (unsigned node : order)
      result.names.push_back(named.names[node]);
    named = std::move(result);
  }
  return named.print(getProgramOrder(named.problem.graph));
}

std::string run(const ListScheduleOptions &options, llvm::StringRef program) {
  return run({options}, program);
}

TEST(ListSchedule, Sink) {
  EXPECT_EQ(run(sink, programA), "ar,relu,mm,w,add");
  EXPECT_EQ(run(sink, programA2), "relu,mm,ar,w,add");
  EXPECT_EQ(run(sink, programNS), "ar,mm1,w,mm2");
  EXPECT_EQ(run(sink, programNR), "mm1,relu,mm2,ar,w,mm3");
  EXPECT_EQ(run(sink, programNSR), "mm1,relu1,mm2,ar,relu2,mm3,w,mm4");
  EXPECT_EQ(run(sink, programR), "ar1,g,c,d,w1,f,ar2,w2,s,e");
  EXPECT_EQ(run(sink, programI3), "a1,m1,a2,m2,a3,m3,m4,w1,w2,w3,o");
}

TEST(ListSchedule, Raise) {
  EXPECT_EQ(run(raise, programA), "ar,w,relu,mm,add");
  EXPECT_EQ(run(raise, programA2), "ar,relu,mm,w,add");
  EXPECT_EQ(run(raise, programNS), "ar,w,mm1,mm2");
  EXPECT_EQ(run(raise, programNR), "mm1,ar,relu,mm2,w,mm3");
  EXPECT_EQ(run(raise, programNSR), "mm1,ar,relu1,mm2,w,relu2,mm3,mm4");
  EXPECT_EQ(run(raise, programR), "ar1,w1,c,d,f,ar2,g,w2,s,e");
  EXPECT_EQ(run(raise, programI3), "a1,a2,a3,w1,m1,w2,m2,w3,m3,m4,o");
}

TEST(ListSchedule, RaiseSinkReorder) {
  EXPECT_EQ(run(reorder, programA), "ar,relu,mm,w,add");
  EXPECT_EQ(run(reorder, programA2), "ar,relu,mm,w,add");
  EXPECT_EQ(run(reorder, programNS), "ar,mm1,w,mm2");
  EXPECT_EQ(run(reorder, programNR), "mm1,ar,relu,mm2,w,mm3");
  EXPECT_EQ(run(reorder, programNSR), "mm1,ar,relu1,mm2,relu2,mm3,w,mm4");
  EXPECT_EQ(run(reorder, programR), "ar1,c,d,g,w1,f,ar2,w2,s,e");
  EXPECT_EQ(run(reorder, programI3), "a1,m1,m2,m3,a2,m4,a3,w1,w2,w3,o");
}

TEST(ListSchedule, SinkThenRaise) {
  EXPECT_EQ(run({sink, raise}, programA), "ar,relu,mm,w,add");
  EXPECT_EQ(run({sink, raise}, programA2), "ar,relu,mm,w,add");
  EXPECT_EQ(run({sink, raise}, programNS), "ar,mm1,w,mm2");
  EXPECT_EQ(run({sink, raise}, programNR), "mm1,ar,relu,mm2,w,mm3");
  EXPECT_EQ(run({sink, raise}, programNSR), "mm1,ar,relu1,mm2,relu2,mm3,w,mm4");
  EXPECT_EQ(run({sink, raise}, programR), "ar1,c,d,w1,f,ar2,g,w2,s,e");
  EXPECT_EQ(run({sink, raise}, programI3), "a1,a2,a3,m1,m2,m3,m4,w1,w2,w3,o");
}

// What PyTorch's tests ask of in-place collectives.
TEST(ListSchedule, InPlace) {
  EXPECT_EQ(run(sink, "ar, w(ar), mm1, mm2(w,mm1)"), "ar,mm1,w,mm2");
  EXPECT_EQ(run(raise, programNRInPlace), "mm1,relu,ar,mm2,w,mm3");
  EXPECT_EQ(run({sink, raise}, programNRInPlace), "mm1,relu,ar,mm2,w,mm3");
  EXPECT_EQ(run(reorder, programNRInPlace), "mm1,relu,ar,mm2,w,mm3");
  EXPECT_EQ(run({sink, raise}, programNSRClone),
            "mm1,cl,ar,relu1,mm2,relu2,mm3,w,mm4");
  EXPECT_EQ(run(reorder, programNSRClone),
            "mm1,cl,ar,relu1,mm2,relu2,mm3,w,mm4");
  EXPECT_EQ(run(raise, programNSRClone), "mm1,cl,ar,relu1,mm2,w,relu2,mm3,mm4");
}

/// The starts whose operations are exposed where a collective and a matmul take
/// 100 ns and everything else nothing.
unsigned countExposed(const ListScheduleOptions &options,
                      llvm::StringRef program, std::string &order) {
  NamedProblem named = parseProblem(program);
  ScheduleOrder result = listSchedule(named.problem, options);
  order = named.print(result);
  return llvm::count_if(
      simulateOrder(named.problem, result).times,
      [](const SimulatedTimes &times) { return times.exposedNs > 0; });
}

// The programs of PyTorch's test_aten_comm_compute_reordering.py that ask for
// an order: one matmul hides one collective. Only in the program of
// test_reorder_compute_for_overlap_mul the order differs: theirs puts g beside
// the first collective, where d is enough, and leaves the second exposed.
TEST(ListSchedule, OneMatmulHidesOneCollective) {
  std::string order;
  EXPECT_EQ(countExposed(reorder, "ar, w(ar), mm1:100, mm2:100(w,mm1)", order),
            0u);
  EXPECT_EQ(order, "ar,mm1,w,mm2");

  EXPECT_EQ(countExposed(reorder,
                         "mm1:100, c:0(mm1), mm2:100(c), b:0(mm1), ar(b), "
                         "w(ar), mm3:100(mm2,w)",
                         order),
            0u);
  EXPECT_EQ(order, "mm1,b,ar,c,mm2,w,mm3");

  EXPECT_EQ(countExposed(reorder,
                         "mm:100, relu:0(mm), mm1:100(relu), ar(mm,relu), "
                         "w(ar), relu1:0(mm1), mm2:100(relu1), mm3:100(w,mm2)",
                         order),
            0u);
  EXPECT_EQ(order, "mm,relu,ar,mm1,relu1,mm2,w,mm3");

  EXPECT_EQ(countExposed(reorder,
                         "ar1, w1(ar1), g:100, c:0, d:100(c), f:0(d,c,w1), "
                         "ar2(f), w2(ar2), s:0(d,w1,w2), e:100(s,g)",
                         order),
            0u);
  EXPECT_EQ(order, "ar1,c,d,w1,f,ar2,g,w2,s,e");

  // All of it stays exposed.
  EXPECT_EQ(run(reorder, "a1, a2, a3, w3(a3), w2(a2), w1(a1), o(w1,w2,w3)"),
            "a1,a2,a3,w3,w2,w1,o");

  // An estimate of the user's: relu takes as long as a collective.
  EXPECT_EQ(countExposed(reorder,
                         "relu:100, mm:0(relu), ar, w(ar), mul:0(mm,w)", order),
            0u);
  EXPECT_EQ(order, "ar,relu,mm,w,mul");
}

TEST(ListSchedule, WithoutOptionsNothingMoves) {
  EXPECT_EQ(run(ListScheduleOptions(), programR), "ar1,w1,g,c,d,f,ar2,w2,s,e");
}

TEST(ListSchedule, FillersMayBeLongerThanTheOperation) {
  EXPECT_EQ(run(fill, "a1:10, w1(a1), f(w1), x:90, y:1"), "a1,x,w1,f,y");
  EXPECT_EQ(run(fill, "a1:0, w1(a1), f(w1), x:90"), "a1,w1,f,x");
}

TEST(ListSchedule, OpaqueNodesAndNodesThatHoldAreNoFiller) {
  EXPECT_EQ(run(reorder, "a1, w1(a1), op, x"), "a1,w1,op,x");
  // h awaits a1 inside of itself: it is no filler for a2, and sinks.
  EXPECT_EQ(run(reorder, "a1, a2, h:9(a1), x:50, w2(a2)"), "a1,x,a2,h,w2");
}

TEST(ListSchedule, ReadyStartsPassOthersUnlessTheirOrderIsKept) {
  NamedProblem named = parseProblem("a1, w1(a1), a2(w1), a3, w2(a2), w3(a3)");
  EXPECT_EQ(named.print(listSchedule(named.problem, sink)),
            "a1,a3,w1,a2,w2,w3");
  named.problem.keepOrderOfStarts = true;
  EXPECT_EQ(named.print(listSchedule(named.problem, sink)),
            "a1,w1,a2,a3,w2,w3");
}

TEST(ListSchedule, LimitsOperationsInFlight) {
  NamedProblem named =
      parseProblem("a1, a2, a3, w1(a1), w2(a2), w3(a3), x, y, z");
  named.problem.maxInFlight = 2;
  EXPECT_EQ(named.print(listSchedule(named.problem, sink)),
            "a1,a2,x,y,z,w1,a3,w2,w3");
  EXPECT_EQ(named.print(listSchedule(named.problem, raise)),
            "a1,a2,w1,a3,w2,w3,x,y,z");
  // Only a3 leads to what awaits a1 and a2.
  NamedProblem stuck = parseProblem("a1, a2, a3, w1(a1,a3), w2(a2,a3), w3(a3)");
  stuck.problem.maxInFlight = 2;
  EXPECT_EQ(stuck.print(listSchedule(stuck.problem, sink)),
            "a1,a2,a3,w1,w2,w3");
}

TEST(ListSchedule, HugeCostsDoNotOverflow) {
  std::string huge = std::to_string(std::numeric_limits<int64_t>::max());
  EXPECT_EQ(run(fill, "a1:" + huge + ", w1(a1), x:" + huge + ", y:" + huge),
            "a1,x,w1,y");
}

class ListScheduleFlags : public testing::TestWithParam<int> {
protected:
  ListScheduleOptions options = {(GetParam() & 1) != 0, (GetParam() & 2) != 0,
                                 (GetParam() & 4) != 0};
};
INSTANTIATE_TEST_SUITE_P(Property, ListScheduleFlags, testing::Range(0, 8));

TEST_P(ListScheduleFlags, SameAsTheRuleWordByWord) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SchedulingProblem problem =
        makeMemoryProblem(seed, varyOptions(seed, 5 + 2 * seed));
    problem.keepOrderOfStarts = seed % 2;
    ScheduleOrder order = listSchedule(problem, options);
    std::string reason;
    ASSERT_TRUE(isAllowedOrder(problem, order, &reason))
        << "seed " << seed << ": " << reason;
    ASSERT_EQ(order, listScheduleNaively(problem, options)) << "seed " << seed;
    if (options.raise)
      ASSERT_TRUE(keepsOrderOfStarts(problem.graph, order));
  }
}

TEST_P(ListScheduleFlags, Idempotent) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SchedulingProblem problem = makeMemoryProblem(seed, varyOptions(seed, 400));
    ScheduleOrder order = listSchedule(problem, options);
    std::vector<unsigned> position(order.size());
    for (auto [index, node] : llvm::enumerate(order))
      position[node] = index;
    SchedulingProblem once;
    once.graph = permute(problem.graph, order);
    for (auto [node, start] : problem.awaits)
      once.awaits.emplace_back(position[node], position[start]);
    llvm::sort(once.awaits);
    ASSERT_TRUE(isProgramOrder(listSchedule(once, options))) << "seed " << seed;
  }
}

TEST_P(ListScheduleFlags, KeepsLimitsOfOperationsInFlight) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SchedulingProblem problem = makeMemoryProblem(seed, varyOptions(seed, 300));
    // The program itself keeps this one.
    problem.maxInFlight = 1;
    while (!isAllowedOrder(problem, getProgramOrder(problem.graph)))
      ++problem.maxInFlight;
    ScheduleOrder order = listSchedule(problem, options);
    std::string reason;
    ASSERT_TRUE(isLegalOrder(problem.graph, order, &reason)) << reason;
  }
}

TEST(ListScheduleProperties, RaisesAsRaiseCollectivesWithProducersDoes) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SchedulingProblem problem;
    problem.graph = makeRandomGraph(seed, varyOptions(seed, 500));
    ASSERT_EQ(listSchedule(problem, raise),
              raiseCollectivesWithProducers(problem.graph));
  }
}

} // namespace
