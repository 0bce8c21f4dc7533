//===- HardwareFile.cpp - Machines described in files ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Cost/Hardware/Hardware.h"

#include "ContentionFile.h"
#include "Support/JsonObjectReader.h"
#include "llvm/ADT/STLExtras.h"

#include <utility>

using namespace braid;

const llvm::StringLiteral braid::elementClassNames[numElementClasses] = {
    "f64", "f32", "bf16", "f16", "f8", "i8", "integer"};

/// By `GpuGeneration`.
static constexpr llvm::StringLiteral generations[] = {"none", "volta", "ampere",
                                                      "hopper", "blackwell"};

/// By `CpuVendor`.
static constexpr llvm::StringLiteral cpuVendors[] = {"intel", "amd"};

/// By `CollectiveModelKind`.
static constexpr llvm::StringLiteral collectiveModelNames[] = {
    "nccl", "inductor", "link"};

/// The most ranks, ports or multiprocessors of anything.
static constexpr int64_t mostParts = 1 << 24;

static JsonMissing keepIf(bool isKept) {
  return isKept ? JsonMissing::Kept : JsonMissing::ErrorWithoutBase;
}

static void readPeaks(JsonObjectReader &parent, bool hasBase,
                      Hardware &hardware) {
  parent.readObject(
      "peak_ops_per_second", /*isOptional=*/false,
      [&](auto &reader) {
        for (auto [field, peak] :
             llvm::zip_equal(elementClassNames, hardware.peakOpsPerSecond))
          reader.readReal(field, peak, /*mayBeZero=*/false);
      },
      keepIf(hasBase));
}

/// Without this field the machine has no NCCL, unless the base has it.
static void readNccl(JsonObjectReader &parent, NcclFigures &nccl) {
  parent.readObject(
      "nccl", /*isOptional=*/true,
      [&](auto &reader) {
        reader.readInteger("channels", nccl.numChannels, 1, 32);
        reader.readInteger("max_ctas", nccl.maxCtas, 0, 64,
                           /*isOptional=*/true);
        reader.readReal("channel_bandwidth_bytes_per_second",
                        nccl.channelBandwidth, /*mayBeZero=*/false);
        for (auto [name, number] :
             {std::pair("copy_engine_latency_ns", &nccl.copyEngineLatencyNs),
              std::pair("copy_engine_bandwidth_bytes_per_second",
                        &nccl.copyEngineBandwidth)})
          reader.readReal(name, *number, /*mayBeZero=*/true,
                          /*isOptional=*/true);
        for (auto [name, flag] :
             {std::pair("same_channels", &nccl.hasSameChannels),
              std::pair("nvswitch", &nccl.hasNvSwitch),
              std::pair("nvls", &nccl.enableNvls),
              std::pair("collnet", &nccl.enableCollNet),
              std::pair("copy_engine", &nccl.useCopyEngine)})
          reader.readBool(name, *flag);
        reader.readEnum("cpu", cpuVendors, nccl.cpuVendor,
                        /*isOptional=*/true);
      },
      keepIf(nccl.numChannels > 0));
}

/// Without this field the network is that of the base, or has no bottlenecks.
static void readNetwork(JsonObjectReader &parent, Hardware &hardware) {
  NetworkFigures &network = hardware.network;
  parent.readObject("network", /*isOptional=*/true, [&](auto &reader) {
    reader.readInteger("leaf_ports", network.leafPorts, 1, mostParts);
    reader.readBool("rails", network.hasRails);
    reader.readRealInRange("oversubscription", network.oversubscription, 1,
                           1024);
    if (!network.hasRails && hardware.ranksPerNode > 0 &&
        network.leafPorts % hardware.ranksPerNode != 0)
      reader.failField("leaf_ports",
                       "a multiple of the " +
                           llvm::Twine(hardware.ranksPerNode) +
                           " ports of a node, or \"rails\": true");
  });
}

/// Checks conditions on several fields.
static void checkConsistency(const JsonObjectReader &reader,
                             const Hardware &hardware) {
  const NcclFigures &nccl = hardware.nccl;
  if (nccl.numChannels > 0 && hardware.generation == GpuGeneration::None)
    reader.fail("found generation \"none\" beside figures of "
                "NCCL, expected a generation of GPUs");
  if (hardware.defaultCollectiveModel == CollectiveModelKind::Nccl &&
      !hardware.hasNccl())
    reader.fail("found collective model \"nccl\" and no figures "
                "of NCCL, expected a field \"nccl\"");
  if (nccl.useCopyEngine && nccl.copyEngineBandwidth == 0)
    reader.fail(
        "found copy engines in use and no figures of them, expected a "
        "field \"nccl.copy_engine_bandwidth_bytes_per_second\" above 0");
}

static void readHardware(JsonObjectReader &reader, llvm::StringRef defaultName,
                         Hardware &hardware) {
  bool hasBase = reader.getObject().get("base") != nullptr;
  reader.setMissing(keepIf(hasBase));
  std::string base;
  reader.readString("base", base);
  if (const Hardware *known = lookupHardware(base))
    hardware = *known;
  else if (!base.empty())
    reader.failField("base", "one of: " + joinHardwareNames());

  hardware.name = defaultName.str();
  reader.readString("name", hardware.name);
  reader.readString("summary", hardware.summary);
  readPeaks(reader, hasBase, hardware);
  for (auto [name, number] : {std::pair("memory_bandwidth_bytes_per_second",
                                        &hardware.memoryBandwidth),
                              std::pair("intra_node_bandwidth_bytes_per_second",
                                        &hardware.intraNodeBandwidth),
                              std::pair("inter_node_bandwidth_bytes_per_second",
                                        &hardware.interNodeBandwidth)})
    reader.readReal(name, *number, /*mayBeZero=*/false);
  reader.readReal("link_latency_ns", hardware.linkLatencyNs,
                  /*mayBeZero=*/true);
  reader.readInteger("memory_bytes", hardware.memoryBytes, 1);
  constexpr int64_t mostLaunchNs = 1'000'000'000;
  reader.readInteger("ranks_per_node", hardware.ranksPerNode, 1, mostParts);
  reader.readInteger("multiprocessors", hardware.multiprocessors, 0, mostParts);
  reader.readInteger("launch_ns", hardware.launchNs, 0, mostLaunchNs);
  reader.readEnum("generation", generations, hardware.generation);
  reader.readEnum("collective_model", collectiveModelNames,
                  hardware.defaultCollectiveModel);
  readNccl(reader, hardware.nccl);
  readNetwork(reader, hardware);
  readContention(reader, hardware.contention);
  reader.finish();
  checkConsistency(reader, hardware);
}

llvm::Expected<Hardware> braid::parseHardware(llvm::StringRef text,
                                              llvm::StringRef defaultName) {
  Hardware hardware = {};
  auto read = [&](JsonObjectReader &reader) {
    readHardware(reader, defaultName, hardware);
  };
  if (llvm::Error error = JsonObjectReader::readText(text, "an object", read))
    return error;
  return hardware;
}
