//===- FlightRecorderTest.cpp - The last operations of a rank -------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Diagnosis/FlightRecorder.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace braid::rt;
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
  return std::make_shared<const Call>(operation, 10);
}

static std::shared_ptr<const Call> makeSend(int64_t peer) {
  Operation operation;
  operation.kind = BRAID_RT_SEND;
  operation.peer = peer;
  Operand operand;
  operand.dtype = BRAID_RT_F32;
  operand.sourceSizes = {2};
  operation.operands = {operand};
  return std::make_shared<const Call>(operation, 11);
}

/// The group @tp of ranks 1 and 3, for rank 1.
static CommunicatorSpec makeSpec() {
  CommunicatorSpec spec;
  spec.name = "tp";
  spec.key = "key";
  spec.ranks = {1, 3};
  spec.lane.name = "latency";
  return spec;
}

TEST(FlightRecorder, TellsWhatWasStartedAndWhatHasFinished) {
  FlightRecorder recorder;
  CommunicatorSpec spec = makeSpec();
  recorder.beginInvocation();
  int64_t number = recorder.start({makeCall(8), &spec, 100, /*sequence=*/5});
  recorder.start({makeCall(8), &spec, 100, /*sequence=*/6});
  recorder.finish(number, 250);
  recorder.fail("why");
  EXPECT_EQ(recorder.toJson(1, 4, "signal 10"),
            R"json({
  "version": 2,
  "rank": 1,
  "ranks": 4,
  "reason": "failure",
  "error": "why",
  "begun": 1,
  "ended": 0,
  "groups": [
    {"name": "tp", "key": "3dc94a19365b10ec", "ranks": [1, 3]}
  ],
  "entries": [
    {"number": 1, "lane": "tp latency", "group": 0, "sequence": 5, "invocation": 1, "operation": "all_reduce sum tensor<8xf32>", "fingerprint": "000000000000000a", "site": "prog.mlir:3:4 (a \"b\")", "bytes": 32, "state": "finished", "started_ns": 100, "finished_ns": 250},
    {"number": 2, "lane": "tp latency", "group": 0, "sequence": 6, "invocation": 1, "operation": "all_reduce sum tensor<8xf32>", "fingerprint": "000000000000000a", "site": "prog.mlir:3:4 (a \"b\")", "bytes": 32, "state": "started", "started_ns": 100, "finished_ns": 0}
  ]
}
)json");
}

TEST(FlightRecorder, NumbersOperationsOfEachCommunicatorAndPair) {
  FlightRecorder recorder;
  CommunicatorSpec first = makeSpec(), second = makeSpec();
  recorder.start({makeCall(8), &first});
  recorder.start({makeCall(8), &second});
  recorder.start({makeSend(1), &first});
  recorder.start({makeCall(8), &first});
  recorder.start({makeSend(1), &first});
  EXPECT_EQ(recorder.describeLast(5),
            "\n  number 1: all_reduce sum tensor<8xf32> on @tp latency, "
            "number 1, at prog.mlir:3:4 (a \"b\"): started"
            "\n  number 2: all_reduce sum tensor<8xf32> on @tp latency, "
            "number 1, at prog.mlir:3:4 (a \"b\"): started"
            "\n  number 3: send to 1 tensor<2xf32> on @tp latency p2p, "
            "number 1: started"
            "\n  number 4: all_reduce sum tensor<8xf32> on @tp latency, "
            "number 2, at prog.mlir:3:4 (a \"b\"): started"
            "\n  number 5: send to 1 tensor<2xf32> on @tp latency p2p, "
            "number 2: started");
  EXPECT_THAT(recorder.toJson(1, 4, ""), HasSubstr("\"from\": 1, \"to\": 3"));
}

TEST(FlightRecorder, TellsHowFarOperationsAre) {
  FlightRecorder recorder;
  CommunicatorSpec spec = makeSpec();
  int64_t awaited = recorder.start({makeCall(1), &spec});
  int64_t refused = recorder.start({makeCall(2), &spec});
  int64_t recorded = recorder.start({makeCall(3), &spec, 0, 3, true});
  recorder.await(awaited);
  recorder.refuse(refused);
  // Graphs replay the operation: it does not end.
  recorder.await(recorded);
  recorder.finish(recorded, 9);
  EXPECT_THAT(recorder.describeLast(3),
              AllOf(HasSubstr("tensor<1xf32> on @tp latency, number 1, at "
                              "prog.mlir:3:4 (a \"b\"): awaited"),
                    HasSubstr("tensor<2xf32> on @tp latency, number 2, at "
                              "prog.mlir:3:4 (a \"b\"): refused"),
                    HasSubstr("tensor<3xf32> on @tp latency, number 3, at "
                              "prog.mlir:3:4 (a \"b\"): recorded")));
}

TEST(FlightRecorder, WritesUtf8WhateverTheNames) {
  FlightRecorder recorder;
  CommunicatorSpec spec = makeSpec();
  spec.name = "t\xffp \x1b";
  recorder.start({makeCall(8), &spec});
  recorder.fail("cut \xe2\x82");
  EXPECT_THAT(recorder.toJson(1, 4, ""),
              AllOf(HasSubstr("\"name\": \"t\xef\xbf\xbdp \\u001b\""),
                    HasSubstr("\"cut \xef\xbf\xbd\xef\xbf\xbd\"")));
}

TEST(FlightRecorder, KeepsTheLast256) {
  FlightRecorder recorder;
  CommunicatorSpec spec = makeSpec();
  for (int i = 0; i < 300; ++i)
    recorder.start({makeCall(8), &spec});
  // The first one has been overwritten.
  recorder.finish(1, 7);
  std::string json = recorder.toJson(0, 1, "");
  EXPECT_THAT(json,
              AllOf(Not(HasSubstr("\"number\": 44,")),
                    HasSubstr("\"number\": 45,"), HasSubstr("\"number\": 300,"),
                    Not(HasSubstr("\"finished_ns\": 7"))));
}
