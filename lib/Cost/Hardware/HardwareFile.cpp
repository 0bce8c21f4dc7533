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

static llvm::Error read(JsonObjectReader &reader, const RealField &field,
                        Hardware &hardware, bool isOptional = false) {
  return reader.readReal(field.name, field.get(hardware), field.mayBeZero,
                         isOptional);
}

static llvm::Error read(JsonObjectReader &reader, const IntegerField &field,
                        Hardware &hardware, bool isOptional = false) {
  return reader.readInteger(field.name, field.get(hardware), field.min,
                            field.max, isOptional);
}

static llvm::Error readPeaks(JsonObjectReader &parent, const StrictJson &file,
                             bool hasBase, Hardware &hardware) {
  llvm::StringRef name = "peak_ops_per_second";
  llvm::Expected<const json::Object *> object =
      parent.readObject(name, /*isOptional=*/false);
  if (!object || !*object)
    return object.takeError();
  JsonObjectReader reader(file, **object, {name},
                          hasBase ? JsonMissing::Kept
                                  : JsonMissing::ErrorWithoutBase);
  for (auto [field, peak] :
       llvm::zip_equal(elementClassNames, hardware.peakOpsPerSecond))
    if (llvm::Error error = reader.readReal(field, peak, /*mayBeZero=*/false))
      return error;
  return reader.finish();
}

static llvm::Error readNccl(JsonObjectReader &parent, const StrictJson &file,
                            Hardware &hardware) {
  // Without this field the machine has no NCCL, unless the base has it.
  llvm::StringRef name = "nccl";
  llvm::Expected<const json::Object *> object =
      parent.readObject(name, /*isOptional=*/true);
  if (!object || !*object)
    return object.takeError();
  JsonObjectReader reader(file, **object, {name},
                          hardware.nccl.numChannels > 0
                              ? JsonMissing::Kept
                              : JsonMissing::ErrorWithoutBase);
  for (const IntegerField &field : ncclIntegerFields)
    if (llvm::Error error = read(reader, field, hardware, field.min == 0))
      return error;
  for (const RealField &field : ncclRealFields)
    if (llvm::Error error = read(reader, field, hardware, field.mayBeZero))
      return error;
  for (const BoolField &field : ncclBoolFields)
    if (llvm::Error error = reader.readBool(field.name, field.get(hardware)))
      return error;
  if (llvm::Error error =
          reader.readEnum("cpu", cpuVendors, hardware.nccl.cpuVendor,
                          /*isOptional=*/true))
    return error;
  return reader.finish();
}

/// Checks conditions on several fields.
static llvm::Error checkConsistency(const StrictJson &file,
                                    const Hardware &hardware) {
  const NcclFigures &nccl = hardware.nccl;
  if (nccl.numChannels > 0 && hardware.generation == GpuGeneration::None)
    return file.makeError({}, "found generation \"none\" beside figures of "
                              "NCCL, expected a generation of GPUs");
  if (hardware.defaultCollectiveModel == CollectiveModelKind::Nccl &&
      !hardware.hasNccl())
    return file.makeError({}, "found collective model \"nccl\" and no figures "
                              "of NCCL, expected a field \"nccl\"");
  if (nccl.useCopyEngine && nccl.copyEngineBandwidth == 0)
    return file.makeError(
        {}, "found copy engines in use and no figures of them, expected a "
            "field \"nccl.copy_engine_bandwidth_bytes_per_second\" above 0");
  return llvm::Error::success();
}

llvm::Expected<Hardware> braid::parseHardware(llvm::StringRef text,
                                              llvm::StringRef defaultName) {
  llvm::Expected<StrictJson> file = StrictJson::parse(text);
  if (!file)
    return file.takeError();
  const json::Object *object = file->getRoot().getAsObject();
  if (!object)
    return file->makeError({}, "found " + describeJson(file->getRoot()) +
                                   ", expected an object");

  Hardware hardware = {};
  bool hasBase = object->get("base") != nullptr;
  JsonObjectReader reader(*file, *object, {},
                          hasBase ? JsonMissing::Kept
                                  : JsonMissing::ErrorWithoutBase);
  std::string base;
  if (llvm::Error error = reader.readString("base", base))
    return error;
  if (hasBase) {
    const Hardware *known = lookupHardware(base);
    if (!known)
      return reader.makeFieldError("base", "one of: " + joinHardwareNames());
    hardware = *known;
  }

  hardware.name = defaultName.str();
  if (llvm::Error error = reader.readString("name", hardware.name))
    return error;
  if (llvm::Error error = reader.readString("summary", hardware.summary))
    return error;
  if (llvm::Error error = readPeaks(reader, *file, hasBase, hardware))
    return error;
  for (const RealField &field : realFields)
    if (llvm::Error error = read(reader, field, hardware))
      return error;
  for (const IntegerField &field : integerFields)
    if (llvm::Error error = read(reader, field, hardware))
      return error;
  if (llvm::Error error =
          reader.readEnum("generation", generations, hardware.generation))
    return error;
  if (llvm::Error error =
          reader.readEnum("collective_model", collectiveModelNames,
                          hardware.defaultCollectiveModel))
    return error;
  if (llvm::Error error = readNccl(reader, *file, hardware))
    return error;
  if (llvm::Error error = readContention(reader, hardware.contention))
    return error;
  if (llvm::Error error = reader.finish())
    return error;
  if (llvm::Error error = checkConsistency(*file, hardware))
    return error;
  return hardware;
}
