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
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <cmath>
#include <limits>

using namespace braid;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

namespace {
/// A field with a real number.
struct RealField {
  llvm::StringLiteral name;
  double &(*get)(Hardware &);
  /// True if the number may be zero.
  bool mayBeZero;
};

/// A field with an integer.
struct IntegerField {
  llvm::StringLiteral name;
  int64_t &(*get)(Hardware &);
  int64_t min;
  int64_t max;
};

struct BoolField {
  llvm::StringLiteral name;
  bool &(*get)(Hardware &);
};
} // namespace

static constexpr int64_t noLimit = std::numeric_limits<int64_t>::max();

static constexpr RealField realFields[] = {
    {"memory_bandwidth_bytes_per_second",
     [](Hardware &h) -> double & { return h.memoryBandwidth; }, false},
    {"intra_node_bandwidth_bytes_per_second",
     [](Hardware &h) -> double & { return h.intraNodeBandwidth; }, false},
    {"inter_node_bandwidth_bytes_per_second",
     [](Hardware &h) -> double & { return h.interNodeBandwidth; }, false},
    {"link_latency_ns", [](Hardware &h) -> double & { return h.linkLatencyNs; },
     true},
};

static constexpr IntegerField integerFields[] = {
    {"memory_bytes", [](Hardware &h) -> int64_t & { return h.memoryBytes; }, 1,
     noLimit},
    {"ranks_per_node", [](Hardware &h) -> int64_t & { return h.ranksPerNode; },
     1, 1 << 24},
    {"multiprocessors",
     [](Hardware &h) -> int64_t & { return h.multiprocessors; }, 0, 1 << 24},
    {"launch_ns", [](Hardware &h) -> int64_t & { return h.launchNs; }, 0,
     1000000000},
};

static constexpr RealField ncclRealFields[] = {
    {"channel_bandwidth_bytes_per_second",
     [](Hardware &h) -> double & { return h.nccl.channelBandwidth; }, false},
    {"copy_engine_latency_ns",
     [](Hardware &h) -> double & { return h.nccl.copyEngineLatencyNs; }, true},
    {"copy_engine_bandwidth_bytes_per_second",
     [](Hardware &h) -> double & { return h.nccl.copyEngineBandwidth; }, true},
};

static constexpr IntegerField ncclIntegerFields[] = {
    {"channels", [](Hardware &h) -> int64_t & { return h.nccl.numChannels; }, 1,
     32},
    {"max_ctas", [](Hardware &h) -> int64_t & { return h.nccl.maxCtas; }, 0,
     64},
};

static constexpr BoolField ncclBoolFields[] = {
    {"same_channels",
     [](Hardware &h) -> bool & { return h.nccl.hasSameChannels; }},
    {"nvswitch", [](Hardware &h) -> bool & { return h.nccl.hasNvSwitch; }},
    {"nvls", [](Hardware &h) -> bool & { return h.nccl.enableNvls; }},
    {"collnet", [](Hardware &h) -> bool & { return h.nccl.enableCollNet; }},
    {"copy_engine", [](Hardware &h) -> bool & { return h.nccl.useCopyEngine; }},
};

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

//===----------------------------------------------------------------------===//
// Reader
//===----------------------------------------------------------------------===//

static void read(JsonObjectReader &reader, const RealField &field,
                 Hardware &hardware, bool isOptional = false) {
  reader.readReal(field.name, field.get(hardware), field.mayBeZero, isOptional);
}

static void read(JsonObjectReader &reader, const IntegerField &field,
                 Hardware &hardware, bool isOptional = false) {
  reader.readInteger(field.name, field.get(hardware), field.min, field.max,
                     isOptional);
}

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
static void readNccl(JsonObjectReader &parent, Hardware &hardware) {
  parent.readObject(
      "nccl", /*isOptional=*/true,
      [&](auto &reader) {
        for (const IntegerField &field : ncclIntegerFields)
          read(reader, field, hardware, field.min == 0);
        for (const RealField &field : ncclRealFields)
          read(reader, field, hardware, field.mayBeZero);
        for (const BoolField &field : ncclBoolFields)
          reader.readBool(field.name, field.get(hardware));
        reader.readEnum("cpu", cpuVendors, hardware.nccl.cpuVendor,
                        /*isOptional=*/true);
      },
      keepIf(hardware.nccl.numChannels > 0));
}

/// Without this field the network is that of the base, or has no bottlenecks.
static void readNetwork(JsonObjectReader &parent, Hardware &hardware) {
  NetworkFigures &network = hardware.network;
  parent.readObject("network", /*isOptional=*/true, [&](auto &reader) {
    reader.readInteger("leaf_ports", network.leafPorts, 1, 1 << 24);
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
static void checkConsistency(const StrictJson &file, const Hardware &hardware) {
  const NcclFigures &nccl = hardware.nccl;
  if (nccl.numChannels > 0 && hardware.generation == GpuGeneration::None)
    file.fail("", "found generation \"none\" beside figures of "
                  "NCCL, expected a generation of GPUs");
  if (hardware.defaultCollectiveModel == CollectiveModelKind::Nccl &&
      !hardware.hasNccl())
    file.fail("", "found collective model \"nccl\" and no figures "
                  "of NCCL, expected a field \"nccl\"");
  if (nccl.useCopyEngine && nccl.copyEngineBandwidth == 0)
    file.fail("",
              "found copy engines in use and no figures of them, expected a "
              "field \"nccl.copy_engine_bandwidth_bytes_per_second\" above 0");
}

llvm::Expected<Hardware> braid::parseHardware(llvm::StringRef text,
                                              llvm::StringRef defaultName) {
  llvm::Expected<StrictJson> file = StrictJson::parse(text);
  if (!file)
    return file.takeError();
  const json::Object *object = file->getRoot().getAsObject();
  if (!object)
    return file->makeError("", "found " + describeJson(file->getRoot()) +
                                   ", expected an object");

  Hardware hardware = {};
  bool hasBase = object->get("base") != nullptr;
  JsonObjectReader reader(*file, *object, "", keepIf(hasBase));
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
  for (const RealField &field : realFields)
    read(reader, field, hardware);
  for (const IntegerField &field : integerFields)
    read(reader, field, hardware);
  reader.readEnum("generation", generations, hardware.generation);
  reader.readEnum("collective_model", collectiveModelNames,
                  hardware.defaultCollectiveModel);
  readNccl(reader, hardware);
  readNetwork(reader, hardware);
  readContention(reader, hardware.contention);
  reader.finish();
  checkConsistency(*file, hardware);
  if (llvm::Error error = file->takeError())
    return error;
  return hardware;
}
