//===- CalibrationTest.cpp - What a machine was measured to do ------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cost/Profile/Calibration.h"
#include "Cost/Profile/Profile.h"

#include "gtest/gtest.h"

using namespace braid;

/// The fields that every profile of a machine has, and `fields`.
static std::string withFields(llvm::StringRef fields, int gpus = 2) {
  return (R"({"version": 2,
"machine": {"name": "lab", "gpu": "G", "gpus": )" +
          llvm::Twine(gpus) + R"(, "multiprocessors": 100},
"software": {"nccl": "2.28.9"}, "date": "2026-11-22", "spread": 0.1)" +
          fields + "}")
      .str();
}

static std::string getError(llvm::StringRef text) {
  llvm::Expected<Profile> profile = readProfile(text);
  return profile ? "none" : llvm::toString(profile.takeError());
}

/// The error of a profile with `fields`, which stand on its fourth line.
static std::string getErrorOf(llvm::StringRef fields) {
  return getError(withFields((",\n" + fields).str()));
}

static std::shared_ptr<const Calibration> read(llvm::StringRef fields,
                                               int gpus = 2) {
  return llvm::cantFail(
             readProfile(withFields(fields, gpus), "from profile p.json"))
      .getCalibration();
}

TEST(Calibration, SaysWhatWasMeasuredAndWhere) {
  std::shared_ptr<const Calibration> measured = read("");
  EXPECT_EQ(measured->gpu, "G");
  EXPECT_EQ(measured->gpus, 2);
  EXPECT_EQ(measured->multiprocessors, 100);
  EXPECT_EQ(measured->date, "2026-11-22");
  EXPECT_EQ(measured->spread, 0.1);
  EXPECT_EQ(measured->origin, "from profile p.json");
  ASSERT_EQ(measured->software.size(), 1u);
  EXPECT_EQ(measured->software[0].second, "2.28.9");
}

TEST(Calibration, ProfilesOfProgramsHaveNone) {
  EXPECT_EQ(llvm::cantFail(readProfile(R"({"version": 1, "entries": []})"))
                .getCalibration(),
            nullptr);
}

TEST(Calibration, EntriesStandBesideTheMachine) {
  Profile profile = llvm::cantFail(
      readProfile(withFields(R"(, "entries": [{"label": "a", "ns": 3}])")));
  EXPECT_EQ(profile.lookupLabel("a")->ns, 3);
  EXPECT_NE(profile.getCalibration(), nullptr);
}

TEST(Calibration, CurvesAreStraightBetweenLogarithms) {
  std::shared_ptr<const Calibration> measured = read(
      R"(, "collectives": [{"kind": "all_reduce", "ranks": 2,
                            "points": [[100, 10], [10000, 1000]]}])");
  const CollectiveCurve *curve =
      measured->findCurve("all_reduce", 2, LaneTransport::Default, 0);
  ASSERT_NE(curve, nullptr);
  EXPECT_DOUBLE_EQ(curve->getNs(1), 10);
  EXPECT_DOUBLE_EQ(curve->getNs(100), 10);
  EXPECT_NEAR(curve->getNs(1000), 100, 1e-9);
  EXPECT_DOUBLE_EQ(curve->getNs(10000), 1000);
  EXPECT_DOUBLE_EQ(curve->getNs(20000), 2000);
}

TEST(Calibration, ALimitTakesTheLargestThatWasMeasuredBelow) {
  std::shared_ptr<const Calibration> measured = read(R"(, "collectives": [
    {"kind": "a", "ranks": 2, "points": [[1, 1], [2, 2]]},
    {"kind": "a", "ranks": 2, "ctas": 4, "points": [[1, 3], [2, 4]]},
    {"kind": "a", "ranks": 2, "ctas": 8, "points": [[1, 5], [2, 6]]},
    {"kind": "a", "ranks": 2, "transport": "copy", "points": [[1, 7], [2, 8]]},
    {"kind": "a", "ranks": 2, "transport": "symmetric", "ctas": 2,
     "points": [[1, 9], [2, 9]]}])");
  auto getFirst = [&](LaneTransport transport, int64_t ctas,
                      int64_t ranks = 2) {
    const CollectiveCurve *curve =
        measured->findCurve("a", ranks, transport, ctas);
    return curve ? curve->points.front().second : 0;
  };
  EXPECT_EQ(getFirst(LaneTransport::Default, 0), 1);
  EXPECT_EQ(getFirst(LaneTransport::Default, 4), 3);
  EXPECT_EQ(getFirst(LaneTransport::Default, 7), 3);
  EXPECT_EQ(getFirst(LaneTransport::Default, 100), 5);
  EXPECT_EQ(getFirst(LaneTransport::Default, 3), 0);
  EXPECT_EQ(getFirst(LaneTransport::Default, 0, 4), 0);
  EXPECT_EQ(getFirst(LaneTransport::Copy, 0), 7);
  EXPECT_EQ(getFirst(LaneTransport::Symmetric, 8), 9);
}

TEST(Calibration, GroupsHaveCurvesOfTheirOwn) {
  std::shared_ptr<const Calibration> measured = read(R"(, "collectives": [
    {"kind": "a", "ranks": 2, "groups": 2, "points": [[1, 1], [2, 2]]},
    {"kind": "a", "ranks": 2, "groups": 2, "stride": 2,
     "points": [[1, 3], [2, 4]]},
    {"kind": "a", "ranks": 2, "points": [[1, 5], [2, 6]]},
    {"kind": "a", "ranks": 2, "groups": 2, "ctas": 8,
     "points": [[1, 7], [2, 8]]}])",
                                                     4);
  auto getFirst = [&](int64_t groups, int64_t stride, int64_t ctas = 0) {
    return measured
        ->findCurve("a", 2, LaneTransport::Default, ctas, groups, stride)
        ->points.front()
        .second;
  };
  EXPECT_EQ(getFirst(1, 1), 5);
  EXPECT_EQ(getFirst(2, 1), 1);
  EXPECT_EQ(getFirst(2, 2), 3);
  EXPECT_EQ(getFirst(2, 3), 1);
  EXPECT_EQ(getFirst(4, 1), 5);
  EXPECT_EQ(getFirst(1, 1, 8), 7);
}

TEST(Calibration, RatesTakeThePlaceOfTheDatasheets) {
  std::shared_ptr<const Calibration> measured = read(R"(, "launch_ns": 7,
    "sustained": {"memory_bytes_per_second": 5e11,
                  "matmul_ops_per_second": {"bf16": 3e14}},
    "contention": {"model": "share"})");
  const Hardware &known = *lookupHardware("h200x8");
  Hardware hardware = measured->apply(known);
  EXPECT_EQ(hardware.getPeak(ElementClass::BF16), 3e14);
  EXPECT_EQ(hardware.getPeak(ElementClass::F32),
            known.getPeak(ElementClass::F32));
  EXPECT_EQ(hardware.memoryBandwidth, 5e11);
  EXPECT_EQ(hardware.launchNs, 7);
  EXPECT_EQ(hardware.name, "h200x8");
}

TEST(Calibration, MatmulsAreFoundByShapeAndTarget) {
  std::shared_ptr<const Calibration> measured = read(R"(, "matmuls": [
    {"rows": 8, "columns": 9, "depth": 10, "element": "bf16",
     "multiprocessors": 100, "ns": 50},
    {"rows": 8, "columns": 9, "depth": 10, "element": "bf16",
     "multiprocessors": 90, "ns": 60}])");
  EXPECT_EQ(measured->findMatmul({8, 9, 10, ElementClass::BF16}, 0)->ns, 50);
  EXPECT_EQ(measured->findMatmul({8, 9, 10, ElementClass::BF16}, 90)->ns, 60);
  EXPECT_EQ(measured->findMatmul({8, 9, 10, ElementClass::BF16}, 80), nullptr);
  EXPECT_EQ(measured->findMatmul({9, 8, 10, ElementClass::BF16}, 0), nullptr);
  EXPECT_EQ(measured->findMatmul({8, 9, 10, ElementClass::F32}, 0), nullptr);
}

TEST(Calibration, MatmulsBetweenTargetsAreOnALine) {
  std::shared_ptr<const Calibration> measured = read(R"(, "matmuls": [
    {"rows": 8, "columns": 8, "depth": 8, "element": "bf16", "ns": 100},
    {"rows": 8, "columns": 8, "depth": 8, "element": "bf16",
     "multiprocessors": 90, "ns": 120},
    {"rows": 8, "columns": 8, "depth": 8, "element": "f16",
     "multiprocessors": 95, "ns": 999}])");
  auto estimate = [&](int64_t multiprocessors) {
    return measured->estimateMatmul({8, 8, 8, ElementClass::BF16},
                                    multiprocessors);
  };
  EXPECT_EQ(estimate(0)->ns, 100);
  EXPECT_TRUE(estimate(0)->isMeasured);
  EXPECT_EQ(estimate(100)->ns, 100);
  EXPECT_EQ(estimate(90)->ns, 120);
  EXPECT_TRUE(estimate(90)->isMeasured);
  EXPECT_EQ(estimate(95)->ns, 110);
  EXPECT_FALSE(estimate(95)->isMeasured);
  EXPECT_EQ(estimate(45)->ns, 240);
  EXPECT_FALSE(estimate(45)->isMeasured);
}

TEST(Calibration, MessagesAreHalvesOfAnExchange) {
  std::shared_ptr<const Calibration> measured = read(
      R"(, "collectives": [{"kind": "all_to_all", "ranks": 2,
                            "points": [[100, 10], [10000, 1000]]}])");
  auto estimate = [&](double bytes, LaneTransport transport) {
    return measured->estimateCollectiveNs("permute", /*ranks=*/4, bytes,
                                          transport, /*ctas=*/0);
  };
  EXPECT_NEAR(*estimate(500, LaneTransport::Default), 100, 1e-9);
  EXPECT_DOUBLE_EQ(*estimate(5000, LaneTransport::Default), 1000);
  // Not measured: much smaller ones, and those by copy engines.
  EXPECT_FALSE(estimate(5, LaneTransport::Default).has_value());
  EXPECT_FALSE(estimate(500, LaneTransport::Copy).has_value());
}

TEST(Calibration, GraphsHaveCurvesOfTheirOwn) {
  std::shared_ptr<const Calibration> measured = read(R"(, "collectives": [
    {"kind": "a", "ranks": 2, "points": [[1000, 10], [4000, 40]]},
    {"kind": "a", "ranks": 2, "graph": true, "points": [[2000, 8], [4000, 9]]},
    {"kind": "a", "ranks": 2, "ctas": 8, "points": [[1000, 50], [4000, 60]]},
    {"kind": "all_to_all", "ranks": 2, "points": [[1000, 20], [4000, 80]]}])");
  auto estimate = [&](llvm::StringRef kind, double bytes, bool inGraph,
                      int64_t ctas = 0) {
    return *measured->estimateCollectiveNs(kind, 2, bytes,
                                           LaneTransport::Default, ctas,
                                           /*groups=*/1, /*stride=*/1, inGraph);
  };
  EXPECT_DOUBLE_EQ(estimate("a", 4000, false), 40);
  EXPECT_DOUBLE_EQ(estimate("a", 4000, true), 9);
  EXPECT_DOUBLE_EQ(estimate("a", 2000, true), 8);
  // Not measured in graphs: smaller ones, another limit, and another kind.
  EXPECT_DOUBLE_EQ(estimate("a", 1000, true), 10);
  EXPECT_DOUBLE_EQ(estimate("a", 4000, true, /*ctas=*/8), 60);
  EXPECT_DOUBLE_EQ(estimate("all_to_all", 4000, true), 80);
}

TEST(Calibration, ExchangesInGraphsArePermutationsOfHalf) {
  std::shared_ptr<const Calibration> measured = read(R"(, "collectives": [
    {"kind": "all_to_all", "ranks": 2, "points": [[1000, 20], [8000, 80]]},
    {"kind": "permute", "ranks": 2, "graph": true,
     "points": [[2000, 9], [4000, 18]]}])",
                                                     /*gpus=*/4);
  auto estimate = [&](llvm::StringRef kind, double bytes, bool inGraph,
                      int64_t ranks = 2) {
    return measured->estimateCollectiveNs(kind, ranks, bytes,
                                          LaneTransport::Default, /*ctas=*/0,
                                          /*groups=*/1, /*stride=*/1, inGraph);
  };
  EXPECT_DOUBLE_EQ(*estimate("all_to_all", 8000, false), 80);
  EXPECT_DOUBLE_EQ(*estimate("all_to_all", 8000, true), 18);
  EXPECT_DOUBLE_EQ(*estimate("all_to_all", 1000, true), 20);
  EXPECT_DOUBLE_EQ(*estimate("send", 4000, true), 18);
  EXPECT_DOUBLE_EQ(*estimate("recv", 4000, false), 80);
  EXPECT_DOUBLE_EQ(*estimate("permute", 500, true), 20);
  EXPECT_DOUBLE_EQ(*estimate("permute", 4000, true, /*ranks=*/4), 18);
  EXPECT_FALSE(estimate("all_to_all", 8000, true, /*ranks=*/4).has_value());
}

TEST(Calibration, TransposedOperandsMakeAnotherMatmul) {
  std::shared_ptr<const Calibration> measured = read(R"(, "matmuls": [
    {"rows": 8, "columns": 8, "depth": 8, "element": "bf16", "ns": 10000},
    {"rows": 8, "columns": 8, "depth": 8, "element": "bf16",
     "transposed": "left", "ns": 12000},
    {"rows": 8, "columns": 8, "depth": 8, "element": "bf16",
     "transposed": "left", "multiprocessors": 90, "ns": 14000}])");
  auto estimate = [&](TransposedOperands transposed, int64_t depth = 8) {
    return *measured->estimateMatmul(
        {8, 8, depth, ElementClass::BF16, transposed}, 90);
  };
  EXPECT_EQ(estimate(TransposedOperands::Left).ns, 14000);
  EXPECT_TRUE(estimate(TransposedOperands::Left).isMeasured);
  EXPECT_NEAR(estimate(TransposedOperands::None).ns, 10000 * 100.0 / 90, 1e-9);
  // 3 us are fixed.
  EXPECT_EQ(estimate(TransposedOperands::Left, 4).ns, 3000 + 11000 / 2);
  // Not measured: the first one of these sizes.
  EXPECT_NEAR(estimate(TransposedOperands::Both).ns, 10000 * 100.0 / 90, 1e-9);
  EXPECT_FALSE(estimate(TransposedOperands::Both).isMeasured);
}

TEST(Calibration, MatmulsOfOtherShapesHaveTheRateOfTheNearest) {
  // 100 tiles of 128 x 256, a wave on 100 multiprocessors; and four waves.
  std::shared_ptr<const Calibration> measured = read(R"(, "matmuls": [
    {"rows": 1280, "columns": 2560, "depth": 64, "element": "bf16", "ns": 103000},
    {"rows": 1280, "columns": 2560, "depth": 64, "element": "bf16",
     "multiprocessors": 50, "ns": 153000},
    {"rows": 5120, "columns": 2560, "depth": 64, "element": "bf16", "ns": 323000}])");
  auto estimate = [&](int64_t rows, int64_t target,
                      ElementClass element = ElementClass::BF16) {
    return measured->estimateMatmul({rows, 2560, 64, element}, target);
  };
  // 3 us are fixed.
  EXPECT_EQ(estimate(2560, 0)->ns, 203000);
  EXPECT_FALSE(estimate(2560, 0)->isMeasured);
  EXPECT_EQ(estimate(2560, 50)->ns, 303000);
  EXPECT_EQ(estimate(3840, 0)->ns, 243000);
  // More than twice as far from any.
  EXPECT_FALSE(estimate(639, 0).has_value());
  EXPECT_FALSE(estimate(10241, 0).has_value());
  EXPECT_FALSE(estimate(1280, 0, ElementClass::F32).has_value());
}

TEST(Calibration, MatmulsOfOtherShapesTakeWholeWaves) {
  std::shared_ptr<const Calibration> measured = read(R"(, "matmuls": [
    {"rows": 1280, "columns": 2560, "depth": 64, "element": "bf16", "ns": 103000},
    {"rows": 5120, "columns": 2560, "depth": 64, "element": "bf16", "ns": 323000}])");
  auto estimate = [&](int64_t rows) {
    return measured->estimateMatmul({rows, 2560, 64, ElementClass::BF16}, 0)
        ->ns;
  };
  // A row more than a wave takes larger tiles, half of another wave smaller
  // ones.
  EXPECT_EQ(estimate(1281), 109250);
  EXPECT_NEAR(estimate(1920), 160224, 1);
  // A tile of half the size takes 0.56 of the time.
  EXPECT_NEAR(estimate(640), 59000, 1e-6);
}

TEST(Calibration, WhatIsWrittenReadsTheSame) {
  std::shared_ptr<const Calibration> measured = read(R"(, "launch_ns": 7,
    "missing": ["contention: there is one rank"],
    "sustained": {"memory_bytes_per_second": 5e11,
                  "matmul_ops_per_second": {"bf16": 3e14}},
    "contention": {"model": "queue", "processor_groups": 8,
      "taken_from_pairs": [{"blocks": 4, "multiprocessors": 8}],
      "interference": [
      {"compute": "matmul", "engine": "kernel", "compute_factor": 1.5,
       "collective_factor": 2},
      {"compute": "matmul", "engine": "copy", "compute_factor": 1,
       "collective_factor": 3},
      {"compute": "elementwise", "engine": "kernel", "compute_factor": 1,
       "collective_factor": 4},
      {"compute": "elementwise", "engine": "copy", "compute_factor": 1,
       "collective_factor": 5},
      {"compute": "matmul", "engine": "one_way_kernel", "compute_factor": 1.25,
       "collective_factor": 6}]},
    "collectives": [
      {"kind": "a", "ranks": 2, "points": [[1, 3], [2, 4]]},
      {"kind": "a", "ranks": 2, "graph": true, "points": [[1, 2], [2, 3]]},
      {"kind": "a", "ranks": 2, "transport": "symmetric", "ctas": 2,
       "points": [[1, 9], [2, 9]]}],
    "matmuls": [
      {"rows": 8, "columns": 9, "depth": 10, "element": "bf16", "ns": 50},
      {"rows": 8, "columns": 9, "depth": 10, "element": "f16",
       "transposed": "both", "multiprocessors": 90, "ns": 60}])");
  std::string text = writeCalibration("lab", *measured);
  Profile profile = llvm::cantFail(readProfile(text));
  EXPECT_EQ(profile.getHardware(), "lab");
  const Calibration &again = *profile.getCalibration();
  EXPECT_EQ(writeCalibration("lab", again), text);
  EXPECT_EQ(again.gpu, "G");
  EXPECT_EQ(again.software, measured->software);
  EXPECT_EQ(again.missing,
            std::vector<std::string>{"contention: there is one rank"});
  EXPECT_EQ(again.launchNs, 7);
  EXPECT_EQ(again.memoryBandwidth, 5e11);
  EXPECT_EQ(again.matmulRate[size_t(ElementClass::BF16)], 3e14);
  ASSERT_TRUE(again.contention.has_value());
  EXPECT_EQ(again.contention->processorGroups, 8);
  ASSERT_EQ(again.contention->takenFromPairs.size(), 1u);
  EXPECT_EQ(again.contention->takenFromPairs[0].multiprocessors, 8);
  EXPECT_EQ(again.contention->interference[0][0].compute, 1.5);
  EXPECT_EQ(again.contention->interference[1][1].communication, 5);
  EXPECT_EQ(again.contention->interference[0][2].compute, 1.25);
  EXPECT_EQ(again.findCurve("a", 2, LaneTransport::Symmetric, 2)->points.size(),
            2u);
  ASSERT_EQ(again.collectives.size(), 3u);
  EXPECT_FALSE(again.collectives[0].inGraph);
  EXPECT_TRUE(again.collectives[1].inGraph);
  EXPECT_EQ(again
                .findMatmul(
                    {8, 9, 10, ElementClass::F16, TransposedOperands::Both}, 90)
                ->ns,
            60);
}

TEST(Calibration, WhatIsShippedSaysSo) {
  std::shared_ptr<const Calibration> shipped = getShippedCalibration("h200x8");
  ASSERT_NE(shipped, nullptr);
  EXPECT_EQ(shipped->origin,
            "measured on 2x and 4x and 8x NVIDIA H200, shipped");
  ASSERT_TRUE(shipped->contention.has_value());
  EXPECT_EQ(shipped->contention->multiprocessorModel,
            MultiprocessorModel::Queued);
  EXPECT_EQ(shipped->multiprocessors,
            lookupHardware("h200x8")->multiprocessors);
  // Measured: 33,554,432 bytes in 0.137 ms on 2 GPUs.
  EXPECT_EQ(shipped->findCurve("all_reduce", 2, LaneTransport::Default, 0)
                ->getNs(32 << 20),
            137442);
  EXPECT_EQ(getShippedCalibration("b200x8"), nullptr);
}

TEST(Calibration, HolesAreErrors) {
  EXPECT_EQ(getError(R"({"version": 2})"),
            "no field \"machine\", expected an object");
  EXPECT_EQ(getErrorOf(R"("contention": {"model": "queue"})"),
            "no field \"contention.processor_groups\", expected an "
            "integer from 0 to 1024");
  EXPECT_EQ(
      getErrorOf(
          R"("contention": {"model": "queue", "processor_groups": 8, "interference": [
{"compute": "matmul", "engine": "kernel", "compute_factor": 1, "collective_factor": 1},
{"compute": "matmul", "engine": "copy", "compute_factor": 1, "collective_factor": 1},
{"compute": "elementwise", "engine": "copy", "compute_factor": 1, "collective_factor": 1}]})"),
      "contention: no factors of compute \"elementwise\" beside engine "
      "\"kernel\", "
      "expected all four pairs");
  EXPECT_EQ(getErrorOf(R"("collectives": [{"kind": "a", "ranks": 2}])"),
            "no field \"collectives[0].points\", expected a list");
  EXPECT_EQ(
      getErrorOf(
          R"("collectives": [{"kind": "a", "ranks": 2, "points": [[1, 1]]}])"),
      "found an array in field \"collectives[0].points\", expected "
      "at least 2 points");
}

TEST(Calibration, MissingMeasurementsAreTexts) {
  EXPECT_EQ(read(R"(, "missing": ["a", "b"])")->missing.size(), 2u);
  EXPECT_EQ(getErrorOf(R"("missing": ["a", ""])"),
            "missing[1]: found \"\", expected what was not "
            "measured, as a text");
  EXPECT_EQ(getErrorOf(R"("missing": 1)"),
            "found 1 in field \"missing\", expected a list");
}

TEST(Calibration, AbsurdFiguresAreErrors) {
  EXPECT_EQ(getErrorOf(R"("launch_ns": -1)"),
            "found -1 in field \"launch_ns\", expected an integer from 0 "
            "to 1000000000");
  EXPECT_EQ(
      getErrorOf(R"("sustained": {"matmul_ops_per_second": {"bf16": 1e19}})"),
      "found 1e+19 in field \"sustained.matmul_ops_per_second.bf16\", "
      "expected a number from 1 to 1000000000000000000");
  EXPECT_EQ(
      getErrorOf(
          R"("collectives": [{"kind": "a", "ranks": 2, "points": [[1, 1], [2, -3]]}])"),
      "collectives[0].points[1]: found an array, expected [bytes, ns] of at "
      "least 1 byte, more than 0 ns and at most an hour");
  EXPECT_EQ(
      getErrorOf(R"("collectives": [{"kind": "a", "ranks": 2, "ctas": 101}])"),
      "found 101 in field \"collectives[0].ctas\", expected an integer "
      "from 0 to 100");
}

TEST(Calibration, ContradictionsAreErrors) {
  EXPECT_EQ(
      getErrorOf(
          R"("collectives": [{"kind": "a", "ranks": 2, "points": [[2, 1], [2, 3]]}])"),
      "collectives[0].points[1]: found 2 bytes after as many or more, expected "
      "ascending sizes");
  EXPECT_EQ(
      getErrorOf(
          R"("collectives": [{"kind": "a", "ranks": 2, "points": [[2, 9], [3, 4]]}])"),
      "collectives[0].points[1]: found less than half of the time of a smaller "
      "size, expected "
      "times that ascend with sizes");
  EXPECT_EQ(
      getErrorOf(
          R"("collectives": [{"kind": "a", "ranks": 2, "transport": "copy", "ctas": 4, "points": []}])"),
      "found 4 in field \"collectives[0].ctas\", expected none, as copy "
      "engines take no thread blocks");
  EXPECT_EQ(
      getErrorOf(
          R"("collectives": [{"kind": "a", "ranks": 3, "points": [[1, 1], [2, 3]]}])"),
      "found 3 in field \"collectives[0].ranks\", expected at most the "
      "machine's \"gpus\", 2");
  EXPECT_EQ(
      getErrorOf(
          R"("collectives": [{"kind": "a", "ranks": 2, "groups": 2, "points": [[1, 1], [2, 3]]}])"),
      "found 2 in field \"collectives[0].groups\", expected an integer "
      "from 1 to 1");
  EXPECT_EQ(getErrorOf(R"("matmuls": [
{"rows": 8, "columns": 8, "depth": 8, "element": "bf16", "ns": 5},
{"rows": 8, "columns": 8, "depth": 8, "element": "bf16", "ns": 6}])"),
            "matmuls[1]: found a second time of the same matmul on as many "
            "multiprocessors, expected one");
}
