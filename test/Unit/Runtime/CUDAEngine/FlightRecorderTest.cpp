//===- FlightRecorderTest.cpp - The last operations of a rank -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CUDA/Failures/FlightRecorder.h"
#include "CUDA/Failures/Failure.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace braid::rt;
using namespace braid::rt::cuda;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

static std::shared_ptr<const Call> makeCall(int64_t size) {
  Operation operation;
  operation.kind = BRAID_RT_ALL_REDUCE;
  operation.reduction = BRAID_RT_SUM;
  Operand operand;
  operand.dtype = BRAID_RT_F32;
  operand.sourceSizes = operand.destinationSizes = {size};
  operation.operands = {operand};
  operation.site = {"prog.mlir", "a \"b\"", 3, 4};
  return std::make_shared<const Call>(operation, 0);
}

TEST(FlightRecorder, TellsWhatWasStartedAndWhatHasFinished) {
  FlightRecorder recorder;
  const std::string lane = "tp latency";
  Flight flight;
  flight.call = makeCall(8);
  flight.sequence = 5;
  flight.invocation = 2;
  flight.startedNs = 100;
  int64_t number = recorder.start(flight, lane);
  recorder.start(flight, lane);
  recorder.finish(number, 250);
  EXPECT_EQ(recorder.toJson(1, 4, "why"),
            R"json({
  "version": 1,
  "rank": 1,
  "world_size": 4,
  "error": "why",
  "entries": [
    {"number": 1, "lane": "tp latency", "sequence": 5, "invocation": 2, "operation": "all_reduce sum tensor<8xf32>", "site": "prog.mlir:3:4 (a \"b\")", "bytes": 32, "state": "finished", "started_ns": 100, "finished_ns": 250},
    {"number": 2, "lane": "tp latency", "sequence": 5, "invocation": 2, "operation": "all_reduce sum tensor<8xf32>", "site": "prog.mlir:3:4 (a \"b\")", "bytes": 32, "state": "started", "started_ns": 100, "finished_ns": 0}
  ]
}
)json");
}

TEST(FlightRecorder, KeepsTheLast256) {
  FlightRecorder recorder;
  const std::string lane = "tp";
  Flight flight;
  flight.call = makeCall(8);
  for (int i = 0; i < 300; ++i)
    recorder.start(flight, lane);
  // The first one has been overwritten.
  recorder.finish(1, 7);
  std::string json = recorder.toJson(0, 1, "");
  EXPECT_THAT(json,
              AllOf(Not(HasSubstr("\"number\": 44,")),
                    HasSubstr("\"number\": 45,"), HasSubstr("\"number\": 300,"),
                    Not(HasSubstr("\"finished_ns\": 7"))));
  EXPECT_EQ(recorder.describeLast(1),
            "\n  number 300: all_reduce sum tensor<8xf32> on @tp, number 0, at "
            "prog.mlir:3:4 (a \"b\"): started");
}

TEST(Failure, IsToldToItsMembersAsItIsAndToOthersAsThatOfARank) {
  Failure failure;
  failure.text = "broken";
  failure.members = {2, 1};
  failure.sequence = 7;
  failure.meeting = 9;
  EXPECT_EQ(failure.textFor(1), "broken");
  EXPECT_EQ(failure.textFor(0), "rank 2 failed: broken");
  Failure copy = Failure::decode(failure.encode());
  EXPECT_EQ(copy.text, failure.text);
  EXPECT_EQ(copy.members, failure.members);
  EXPECT_EQ(copy.cause, -1);
  EXPECT_EQ(copy.meeting, 9U);
  EXPECT_EQ(copy.sequence, 7);
  copy.cause = 3;
  EXPECT_EQ(copy.textFor(0), "rank 3 failed: broken");
}
