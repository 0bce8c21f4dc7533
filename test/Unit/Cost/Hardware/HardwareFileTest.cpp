//===- HardwareFileTest.cpp - Machines described in files -----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Cost/Hardware/Hardware.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace braid;

static constexpr llvm::StringLiteral whole = R"json({
  "name": "two-node-lab",
  "summary": "what stands in the lab",
  "peak_ops_per_second": {"f64": 1e12, "f32": 2e12, "bf16": 3e12, "f16": 4e12,
                          "f8": 5e12, "i8": 6e12, "integer": 7e12},
  "memory_bandwidth_bytes_per_second": 1.5e12,
  "memory_bytes": 1000000000,
  "ranks_per_node": 4,
  "intra_node_bandwidth_bytes_per_second": 1e11,
  "inter_node_bandwidth_bytes_per_second": 1.25e10,
  "link_latency_ns": 700,
  "multiprocessors": 100,
  "launch_ns": 1500,
  "generation": "ampere",
  "collective_model": "inductor",
  "nccl": {"channels": 4, "channel_bandwidth_bytes_per_second": 2e10,
           "same_channels": false, "nvswitch": false, "cpu": "amd",
           "max_ctas": 16, "nvls": true, "collnet": true, "copy_engine": true,
           "copy_engine_latency_ns": 50000,
           "copy_engine_bandwidth_bytes_per_second": 3e11},
  "network": {"leaf_ports": 32, "rails": true, "oversubscription": 2.5}
})json";

/// What is wrong with `text`; empty if nothing is.
static std::string getError(llvm::StringRef text) {
  llvm::Expected<Hardware> hardware = parseHardware(text, "lab");
  return hardware ? "" : llvm::toString(hardware.takeError());
}

TEST(HardwareFile, ReadsEveryField) {
  llvm::Expected<Hardware> hardware = parseHardware(whole, "lab");
  ASSERT_TRUE(static_cast<bool>(hardware)) << getError(whole);
  EXPECT_EQ(hardware->name, "two-node-lab");
  EXPECT_EQ(hardware->summary, "what stands in the lab");
  for (unsigned i = 0; i < numElementClasses; ++i)
    EXPECT_EQ(hardware->peakOpsPerSecond[i], (i + 1) * 1e12);
  EXPECT_EQ(hardware->getPeak(ElementClass::BF16), 3e12);
  EXPECT_EQ(hardware->memoryBandwidth, 1.5e12);
  EXPECT_EQ(hardware->memoryBytes, 1000000000);
  EXPECT_EQ(hardware->ranksPerNode, 4);
  EXPECT_EQ(hardware->intraNodeBandwidth, 1e11);
  EXPECT_EQ(hardware->interNodeBandwidth, 1.25e10);
  EXPECT_EQ(hardware->linkLatencyNs, 700);
  EXPECT_EQ(hardware->network.leafPorts, 32);
  EXPECT_TRUE(hardware->network.hasRails);
  EXPECT_EQ(hardware->network.oversubscription, 2.5);
  EXPECT_EQ(hardware->multiprocessors, 100);
  EXPECT_EQ(hardware->launchNs, 1500);
  EXPECT_EQ(hardware->generation, GpuGeneration::Ampere);
  EXPECT_EQ(hardware->defaultCollectiveModel, CollectiveModelKind::Inductor);
  EXPECT_EQ(hardware->nccl.numChannels, 4);
  EXPECT_EQ(hardware->nccl.channelBandwidth, 2e10);
  EXPECT_FALSE(hardware->nccl.hasSameChannels);
  EXPECT_FALSE(hardware->nccl.hasNvSwitch);
  EXPECT_EQ(hardware->nccl.cpuVendor, CpuVendor::Amd);
  EXPECT_EQ(hardware->nccl.maxCtas, 16);
  EXPECT_TRUE(hardware->nccl.enableNvls);
  EXPECT_TRUE(hardware->nccl.enableCollNet);
  EXPECT_TRUE(hardware->nccl.useCopyEngine);
  EXPECT_EQ(hardware->nccl.copyEngineLatencyNs, 50000);
  EXPECT_EQ(hardware->nccl.copyEngineBandwidth, 3e11);
}

TEST(HardwareFile, ABaseSaysTheRest) {
  llvm::Expected<Hardware> hardware = parseHardware(
      R"json({"base": "h200x8", "ranks_per_node": 4,
              "peak_ops_per_second": {"f8": 1e15}, "nccl": {"max_ctas": 8}})json",
      "half");
  ASSERT_TRUE(static_cast<bool>(hardware));
  const Hardware &base = *lookupHardware("h200x8");
  EXPECT_EQ(hardware->name, "half");
  EXPECT_EQ(hardware->ranksPerNode, 4);
  EXPECT_EQ(hardware->nccl.maxCtas, 8);
  EXPECT_EQ(hardware->getPeak(ElementClass::F8), 1e15);
  EXPECT_EQ(hardware->getPeak(ElementClass::BF16),
            base.getPeak(ElementClass::BF16));
  EXPECT_EQ(hardware->memoryBandwidth, base.memoryBandwidth);
  EXPECT_EQ(hardware->nccl.numChannels, base.nccl.numChannels);
  EXPECT_EQ(hardware->defaultCollectiveModel, CollectiveModelKind::Nccl);
}

TEST(HardwareFile, ErrorsSayWhereAndWhat) {
  EXPECT_EQ(getError("[1]"), "found an array, expected an object");
  EXPECT_EQ(getError("{\n  \"base\": oops}"),
            "[2:11, byte=13]: Invalid JSON value");
  EXPECT_EQ(getError("{\n  \"base\": \"h300x8\"}"),
            "found \"h300x8\" in field \"base\", expected one of: v100x8 "
            "a100x8 h100x8 h200x8 b200x8 cpu ideal");
  EXPECT_EQ(getError(R"({"base": "cpu", "memory_bandwith": 1})"),
            "unknown field \"memory_bandwith\", expected one of: base "
            "collective_model contention generation "
            "inter_node_bandwidth_bytes_per_second "
            "intra_node_bandwidth_bytes_per_second launch_ns link_latency_ns "
            "memory_bandwidth_bytes_per_second memory_bytes multiprocessors "
            "name nccl network peak_ops_per_second ranks_per_node summary");
  EXPECT_EQ(getError("{}"), "no field \"peak_ops_per_second\", expected an "
                            "object, or a field \"base\"");
  EXPECT_EQ(getError(R"({"base": "cpu", "launch_ns": 1.5})"),
            "found 1.5 in field \"launch_ns\", expected an integer from 0 "
            "to 1000000000");
  EXPECT_EQ(getError(R"({"base": "h100x8", "nccl": {"channels": 0}})"),
            "found 0 in field \"nccl.channels\", expected an integer from "
            "1 to 32");
  // Text as it was written, but for what a terminal would act on; and not all
  // of what is long.
  std::string expected = " in field \"base\", expected one of: v100x8 a100x8 "
                         "h100x8 h200x8 b200x8 cpu ideal";
  EXPECT_EQ(getError("{\"base\": \"\xc3\xa9\"}"),
            "found \"\xc3\xa9\"" + expected);
  EXPECT_EQ(getError(R"({"base": "\u001b[31m"})"),
            "found \"\\1B[31m\"" + expected);
  std::string prefix(79, 'a');
  EXPECT_EQ(getError("{\"base\": \"" + prefix + "\xc3\xa9\"}"),
            "found \"" + prefix + "...\"" + expected);
}

TEST(HardwareFile, RejectsWhatIsNoFigure) {
  auto expectError = [](llvm::StringRef field, llvm::StringRef value,
                        llvm::StringRef message) {
    std::string text =
        ("{\"base\": \"h100x8\",\n" + field + ":\n" + value + "}").str();
    EXPECT_EQ(getError(text), ("found " + message).str());
  };
  const std::pair<llvm::StringRef, llvm::StringRef> values[] = {
      {"-1", "-1"},       {"0", "0"},       {"\"fast\"", "\"fast\""},
      {"null", "null"},   {"true", "true"}, {"[1]", "an array"},
      {"{}", "an object"}};
  for (auto [value, found] : values)
    expectError("\"memory_bandwidth_bytes_per_second\"", value,
                (found + " in field \"memory_bandwidth_bytes_per_second\", "
                         "expected a number above 0")
                    .str());
  // JSON has no infinity, but numbers that are too large for a double.
  EXPECT_NE(getError(R"({"base": "h100x8", "link_latency_ns": 1e999})"), "");
  EXPECT_NE(getError(R"({"base": "h100x8", "link_latency_ns": NaN})"), "");
  expectError(
      R"("link_latency_ns")", "-0.5",
      "-0.5 in field \"link_latency_ns\", expected a number of at least "
      "0");
  expectError(R"("memory_bytes")", "0",
              "0 in field \"memory_bytes\", expected an integer of at least 1");
  expectError(R"("name")", "\"\"",
              "\"\" in field \"name\", expected a string that is not empty");
  expectError(R"("summary")", "3",
              "3 in field \"summary\", expected a string that is not empty");
  expectError(R"("generation")", "\"pascal\"",
              "\"pascal\" in field \"generation\", expected one of: none volta "
              "ampere hopper blackwell");
  expectError(R"("collective_model")", "\"gloo\"",
              "\"gloo\" in field \"collective_model\", expected one of: nccl "
              "inductor link");
  expectError(R"("nccl")", "3", "3 in field \"nccl\", expected an object");
  expectError(R"("nccl": {"cpu")", "\"arm\"}",
              "\"arm\" in field \"nccl.cpu\", expected one of: intel amd");
  expectError(R"("nccl": {"nvls")", "1}",
              "1 in field \"nccl.nvls\", expected true or false");
  expectError(
      R"("peak_ops_per_second": {"bf16")", "0}",
      "0 in field \"peak_ops_per_second.bf16\", expected a number above "
      "0");
  EXPECT_EQ(getError(R"({"base": "cpu", "peak_ops_per_second": {"f4": 1}})"),
            "unknown field \"peak_ops_per_second.f4\", expected one of: "
            "bf16 f16 f32 f64 f8 i8 integer");
}

TEST(HardwareFile, RejectsFiguresThatDoNotFit) {
  EXPECT_EQ(getError(R"({"base": "h100x8", "generation": "none"})"),
            "found generation \"none\" beside figures of NCCL, expected a "
            "generation of GPUs");
  EXPECT_EQ(getError(R"({"base": "cpu", "collective_model": "nccl"})"),
            "found collective model \"nccl\" and no figures of NCCL, "
            "expected a field \"nccl\"");
  EXPECT_EQ(getError(R"({"base": "a100x8", "nccl": {"copy_engine": true}})"),
            "found copy engines in use and no figures of them, expected a "
            "field \"nccl.copy_engine_bandwidth_bytes_per_second\" above 0");
  EXPECT_EQ(getError(R"({"base": "cpu", "network": {"leaf_ports": 12, )"
                     R"("oversubscription": 2}})"),
            "found 12 in field \"network.leaf_ports\", expected a "
            "multiple of the 8 ports of a node, or \"rails\": true");
  EXPECT_EQ(getError(R"({"base": "cpu", "network": {"oversubscription": 2}})"),
            "no field \"network.leaf_ports\", expected an integer from 1 "
            "to 16777216");
  EXPECT_EQ(getError(R"({"base": "cpu", "network": {"leaf_ports": 8, )"
                     R"("oversubscription": 0.5}})"),
            "found 0.5 in field \"network.oversubscription\", expected a "
            "number from 1 to 1024");
  // A machine that had no NCCL has to say what it finds.
  EXPECT_EQ(getError(R"({"base": "cpu", "nccl": {"max_ctas": 4}})"),
            "no field \"nccl.channels\", expected an integer from 1 to "
            "32, or a field \"base\"");
}

TEST(HardwareFile, ReadsHowOpsContend) {
  llvm::Expected<Hardware> hardware = parseHardware(
      R"({"base": "h200x8", "contention": {"model": "queue",
  "processor_groups": 7, "lane_launch_ns": 4600, "host_launch_ns": 2000, "host_start_ns": 14000,
  "copy_multiprocessors": 6, "taken_from_pairs": [
    {"blocks": 4, "multiprocessors": 8}, {"blocks": 8, "multiprocessors": 8}],
  "interference": [
    {"compute": "matmul", "engine": "kernel", "compute_factor": 1.5, "collective_factor": 2},
    {"compute": "matmul", "engine": "copy", "compute_factor": 1, "collective_factor": 3},
    {"compute": "elementwise", "engine": "kernel", "compute_factor": 1, "collective_factor": 4},
    {"compute": "elementwise", "engine": "copy", "compute_factor": 1, "collective_factor": 5}]}})",
      "lab");
  ASSERT_TRUE(bool(hardware)) << llvm::toString(hardware.takeError());
  const ContentionFigures &contention = hardware->contention;
  EXPECT_EQ(contention.multiprocessorModel, MultiprocessorModel::Queued);
  EXPECT_EQ(contention.processorGroups, 7);
  EXPECT_EQ(contention.laneLaunchNs, 4600);
  EXPECT_EQ(contention.hostLaunchNs, 2000);
  EXPECT_EQ(contention.hostStartNs, 14000);
  EXPECT_EQ(contention.copyMultiprocessors, 6);
  ASSERT_EQ(contention.takenFromPairs.size(), 2u);
  EXPECT_EQ(contention.takenFromPairs[0].multiprocessors, 8);
  EXPECT_EQ(contention.takenFromPairs[1].blocks, 8);
  EXPECT_EQ(contention.interference[0][0].compute, 1.5);
  EXPECT_EQ(contention.interference[0][0].communication, 2);
  EXPECT_EQ(contention.interference[0][1].communication, 3);
  EXPECT_EQ(contention.interference[1][0].communication, 4);
  EXPECT_EQ(contention.interference[1][1].communication, 5);
  // Kernels of one way that have no factors of their own.
  EXPECT_EQ(contention.interference[0][2].communication, 2);
  EXPECT_EQ(contention.interference[1][2].communication, 4);
}

TEST(HardwareFile, SaysWhatIsWrongWithContention) {
  EXPECT_EQ(getError(R"({"base": "h200x8", "contention": {"model": "share",
"lane_launch_ns": -1}})"),
            "found -1 in field \"contention.lane_launch_ns\", expected "
            "an integer from 0 to 1000000000");
  EXPECT_EQ(getError(R"({"base": "h200x8", "contention": {"model": "share",
"taken_from_pairs": [{"blocks": 8, "multiprocessors": 4}]}})"),
            "found 4 in field "
            "\"contention.taken_from_pairs[0].multiprocessors\", expected an "
            "integer from 8 to 1024");
  EXPECT_EQ(getError(R"({"base": "h200x8", "contention": {"model": "share",
"taken_from_pairs": [{"blocks": 4, "multiprocessors": 8},
{"blocks": 4, "multiprocessors": 8}]}})"),
            "found 4 in field "
            "\"contention.taken_from_pairs[1].blocks\", expected an integer "
            "from 5 to 1024");
  EXPECT_EQ(getError(R"({"base": "h200x8", "contention": {"model": "share",
"taken_from_pairs": [4]}})"),
            "contention.taken_from_pairs[0]: found 4, expected an object");
  EXPECT_EQ(getError(R"({"base": "h200x8", "contention": {"model": "fair"}})"),
            "found \"fair\" in field \"contention.model\", expected one "
            "of: share queue");
  EXPECT_EQ(getError(R"({"base": "h200x8", "contention": {"model": "share",
"interference": [{"compute": "matmul", "engine": "copy", "compute_factor": 0.5,
"collective_factor": 1}]}})"),
            "found 0.5 in field "
            "\"contention.interference[0].compute_factor\", expected a number "
            "from 1 to 100");
  EXPECT_EQ(getError(R"({"base": "h200x8", "contention": {"model": "share",
"interference": [
{"compute": "matmul", "engine": "copy", "compute_factor": 1, "collective_factor": 1},
{"compute": "matmul", "engine": "copy", "compute_factor": 1, "collective_factor": 1}]}})"),
            "contention.interference[1]: found compute \"matmul\" beside "
            "engine \"copy\" a second "
            "time, expected it once");
}

TEST(HardwareFile, RejectsDeepNesting) {
  std::string text(1 << 20, '[');
  EXPECT_EQ(getError(text), "found more than 64 nested arrays and objects");
  // Brackets in strings are text.
  EXPECT_EQ(getError("{\"base\": \"cpu\", \"summary\": \"\\\"" +
                     std::string(100, '[') + "\"}"),
            "");
}

// Every mutation of a description is read or refused with a message, and what
// is read has sane figures.
TEST(HardwareFile, SurvivesMutations) {
  std::mt19937 random(20261121);
  auto pick = [&](size_t count) {
    return static_cast<size_t>(random() % count);
  };
  const llvm::StringLiteral pieces[] = {"{",           "}",
                                        "[",           "]",
                                        "\"",          ":",
                                        ",",           "-",
                                        "0",           "1e999",
                                        "-1e308",      "null",
                                        "true",        "\\u0000",
                                        "NaN",         "1e-9",
                                        "\\",          "\"base\"",
                                        "\"cpu\"",     "\xff",
                                        "\xc3",        "9223372036854775808",
                                        "\"nccl\": {", "e",
                                        ".",           "\n"};
  const std::string seeds[] = {
      whole.str(),
      R"json({"base": "h200x8", "ranks_per_node": 4, "nccl": {"max_ctas": 8}})json",
      R"json({"base": "cpu", "name": "x"})json"};
  unsigned numRead = 0, numRefused = 0;
  for (unsigned round = 0; round < 20000; ++round) {
    std::string text = seeds[pick(std::size(seeds))];
    for (size_t edits = 1 + pick(4); edits != 0; --edits) {
      size_t position = pick(text.size() + 1);
      switch (pick(5)) {
      case 0: // drop some
        text.erase(position, pick(8));
        break;
      case 1: // put something in
        text.insert(position, pieces[pick(std::size(pieces))].str());
        break;
      case 2: // replace a byte
        if (position < text.size())
          text[position] = static_cast<char>(pick(256));
        break;
      case 3: // repeat a part
        text.insert(position, text.substr(pick(text.size() + 1), pick(40)));
        break;
      case 4: // cut off
        if (pick(8) == 0)
          text.resize(position);
        break;
      }
    }
    llvm::Expected<Hardware> hardware = parseHardware(text, "fuzz");
    if (!hardware) {
      ++numRefused;
      llvm::consumeError(hardware.takeError());
      continue;
    }
    ++numRead;
    for (double peak : hardware->peakOpsPerSecond)
      EXPECT_TRUE(std::isfinite(peak) && peak > 0);
    EXPECT_TRUE(std::isfinite(hardware->memoryBandwidth) &&
                hardware->memoryBandwidth > 0);
    EXPECT_GE(hardware->linkLatencyNs, 0);
    EXPECT_GE(hardware->ranksPerNode, 1);
    EXPECT_GE(hardware->launchNs, 0);
    EXPECT_FALSE(hardware->name.empty());
    if (hardware->defaultCollectiveModel == CollectiveModelKind::Nccl)
      EXPECT_TRUE(hardware->hasNccl());
  }
  // Both happen, so that the test tests both.
  EXPECT_GT(numRead, 100u);
  EXPECT_GT(numRefused, 1000u);
}
