//===- WindowSearchTest.cpp - Exact search of a part of an order ----------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedule/Search/Improvement/WindowSearch.h"
#include "TestProblems/MemoryProblems.h"

#include "gtest/gtest.h"

using namespace braid;
using namespace braid::test;

namespace {

// The last sets of 64 nodes are the words that a DenseMap keeps for itself.
TEST(WindowSearch, LeastPeakOfAsManyNodesAsAWordHasBits) {
  // A chain of 63 nodes with a buffer, and a longer node whose buffer stays, so
  // that it comes last.
  std::string program = "big:1000, x0", chain = "x0";
  for (unsigned i = 1; i != 63; ++i) {
    std::string name = "x" + std::to_string(i);
    program += ", " + name + "(x" + std::to_string(i - 1) + ")";
    chain += "," + name;
  }
  NamedProblem named = parseProblem(program, "100 x0 x62, 10! big");
  named.problem.maxMemory = 100;
  FlatProblem flat(named.problem);
  ASSERT_EQ(flat.size(), 64u);
  std::vector<unsigned> position;
  std::vector<int64_t> zeros;
  WindowSearch search(flat);
  WindowSearch::Result result = search.searchPeak(
      getWholeWindow(flat, getProgramOrder(named.problem.graph), position,
                     zeros),
      /*upperBytes=*/110, /*width=*/10, /*maxSteps=*/100'000);
  EXPECT_TRUE(result.improved);
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(result.value, 100);
  EXPECT_EQ(named.print(result.order), chain + ",big");
}

} // namespace
