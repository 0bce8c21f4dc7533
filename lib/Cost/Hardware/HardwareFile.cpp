//===- HardwareFile.cpp - Machines described in files ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Cost/Hardware/Hardware.h"

#include "Support/StrictJson.h"
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

/// By `ElementClass`.
static constexpr llvm::StringLiteral peakFields[numElementClasses] = {
    "f64", "f32", "bf16", "f16", "f8", "i8", "integer"};

/// By `GpuGeneration`.
static constexpr llvm::StringLiteral generations[] = {"none", "volta", "ampere",
                                                      "hopper", "blackwell"};

/// By `CpuVendor`.
static constexpr llvm::StringLiteral cpuVendors[] = {"intel", "amd"};

/// By `CollectiveModelKind`.
static constexpr llvm::StringLiteral collectiveModels[] = {
    "nccl", "inductor", "inductor-newest", "link"};

//===----------------------------------------------------------------------===//
// Reader
//===----------------------------------------------------------------------===//

namespace {
/// Reads the fields of one object into a machine.
class ObjectReader {
public:
  /// `parent` is the field with the value `object`; empty for the whole file.
  ObjectReader(const StrictJson &file, const json::Object &object,
               llvm::StringRef parent, bool hasBase)
      : file(file), object(object), parent(parent), hasBase(hasBase) {}

  /// An error at the value of the field `name`, which must exist.
  llvm::Error makeFieldError(llvm::StringRef name,
                             const llvm::Twine &expected) const {
    return file.makeError(getPath(name), "found " +
                                             describeJson(*object.get(name)) +
                                             " in field " + quote(name) +
                                             ", expected " + expected);
  }

  /// The value of the field `name`; null if it is absent, which is an error
  /// unless there is a base or a default (`isOptional`).
  llvm::Expected<const json::Value *>
  find(llvm::StringRef name, const llvm::Twine &expected, bool isOptional) {
    known.insert(name);
    const json::Value *value = object.get(name);
    if (!value && !hasBase && !isOptional)
      return file.makeError(getObjectPath(), "no field " + quote(name) +
                                                 ", expected " + expected +
                                                 ", or a field \"base\"");
    return value;
  }

  llvm::Error read(const RealField &field, Hardware &hardware,
                   bool isOptional = false) {
    return readReal(field.name, field.get(hardware), field.mayBeZero,
                    isOptional);
  }

  llvm::Error readReal(llvm::StringRef name, double &result, bool mayBeZero,
                       bool isOptional = false) {
    llvm::StringRef expected =
        mayBeZero ? "a number of at least 0" : "a number above 0";
    llvm::Expected<const json::Value *> value =
        find(name, expected, isOptional);
    if (!value || !*value)
      return value.takeError();
    std::optional<double> number = (*value)->getAsNumber();
    if (!number || !std::isfinite(*number) || *number < 0 ||
        (*number == 0 && !mayBeZero))
      return makeFieldError(name, expected);
    result = *number;
    return llvm::Error::success();
  }

  llvm::Error read(const IntegerField &field, Hardware &hardware,
                   bool isOptional = false) {
    std::string expected = "an integer of at least " + llvm::itostr(field.min);
    if (field.max != noLimit)
      expected = "an integer from " + llvm::itostr(field.min) + " to " +
                 llvm::itostr(field.max);
    llvm::Expected<const json::Value *> value =
        find(field.name, expected, isOptional);
    if (!value || !*value)
      return value.takeError();
    std::optional<int64_t> number = (*value)->getAsInteger();
    if (!number || *number < field.min || *number > field.max)
      return makeFieldError(field.name, expected);
    field.get(hardware) = *number;
    return llvm::Error::success();
  }

  llvm::Error read(const BoolField &field, Hardware &hardware) {
    llvm::Expected<const json::Value *> value =
        find(field.name, "true or false", /*isOptional=*/true);
    if (!value || !*value)
      return value.takeError();
    std::optional<bool> flag = (*value)->getAsBoolean();
    if (!flag)
      return makeFieldError(field.name, "true or false");
    field.get(hardware) = *flag;
    return llvm::Error::success();
  }

  /// A string; `result` stays as it is if the field is absent.
  llvm::Error readString(llvm::StringRef name, std::string &result) {
    llvm::StringRef expected = "a string that is not empty";
    llvm::Expected<const json::Value *> value =
        find(name, expected, /*isOptional=*/true);
    if (!value || !*value)
      return value.takeError();
    std::optional<llvm::StringRef> text = (*value)->getAsString();
    if (!text || text->empty())
      return makeFieldError(name, expected);
    result = text->str();
    return llvm::Error::success();
  }

  /// One of `names`; `result` is its index.
  template <typename EnumT>
  llvm::Error readEnum(llvm::StringRef name,
                       llvm::ArrayRef<llvm::StringLiteral> names, EnumT &result,
                       bool isOptional = false) {
    std::string expected = "one of: " + llvm::join(names, " ");
    llvm::Expected<const json::Value *> value =
        find(name, expected, isOptional);
    if (!value || !*value)
      return value.takeError();
    std::optional<llvm::StringRef> text = (*value)->getAsString();
    const auto *it = text ? llvm::find(names, *text) : names.end();
    if (it == names.end())
      return makeFieldError(name, expected);
    result = static_cast<EnumT>(it - names.begin());
    return llvm::Error::success();
  }

  /// An object; null if it is absent.
  llvm::Expected<const json::Object *> readObject(llvm::StringRef name,
                                                  bool isOptional) {
    llvm::Expected<const json::Value *> value =
        find(name, "an object", isOptional);
    if (!value)
      return value.takeError();
    if (!*value)
      return nullptr;
    if (const json::Object *nested = (*value)->getAsObject())
      return nested;
    return makeFieldError(name, "an object");
  }

  /// An error if there is a field that was not read.
  llvm::Error finish() const {
    llvm::SmallVector<llvm::StringRef> unknown;
    for (const auto &[key, value] : object)
      if (!known.contains(key))
        unknown.push_back(key);
    if (unknown.empty())
      return llvm::Error::success();
    llvm::sort(unknown);
    llvm::SmallVector<llvm::StringRef> names(known.keys());
    llvm::sort(names);
    return file.makeKeyError(
        getPath(unknown.front()),
        "unknown field " + quote(unknown.front()) +
            ", expected one of: " + llvm::join(names, " "));
  }

private:
  llvm::SmallVector<JsonStep, 2> getObjectPath() const {
    llvm::SmallVector<JsonStep, 2> path;
    if (!parent.empty())
      path.emplace_back(parent);
    return path;
  }

  llvm::SmallVector<JsonStep, 2> getPath(llvm::StringRef name) const {
    llvm::SmallVector<JsonStep, 2> path = getObjectPath();
    path.emplace_back(name);
    return path;
  }

  /// The name of a field in messages.
  std::string quote(llvm::StringRef name) const {
    return "\"" + (parent.empty() ? "" : parent.str() + ".") + name.str() +
           "\"";
  }

  const StrictJson &file;
  const json::Object &object;
  llvm::StringRef parent;
  bool hasBase;
  llvm::StringSet<> known;
};
} // namespace

static llvm::Error readPeaks(ObjectReader &parent, const StrictJson &file,
                             bool hasBase, Hardware &hardware) {
  llvm::StringRef name = "peak_ops_per_second";
  llvm::Expected<const json::Object *> object =
      parent.readObject(name, /*isOptional=*/false);
  if (!object || !*object)
    return object.takeError();
  ObjectReader reader(file, **object, name, hasBase);
  for (auto [field, peak] :
       llvm::zip_equal(peakFields, hardware.peakOpsPerSecond))
    if (llvm::Error error = reader.readReal(field, peak, /*mayBeZero=*/false))
      return error;
  return reader.finish();
}

static llvm::Error readNccl(ObjectReader &parent, const StrictJson &file,
                            Hardware &hardware) {
  // Without this field the machine has no NCCL, unless the base has it.
  llvm::StringRef name = "nccl";
  llvm::Expected<const json::Object *> object =
      parent.readObject(name, /*isOptional=*/true);
  if (!object || !*object)
    return object.takeError();
  ObjectReader reader(file, **object, name, hardware.nccl.numChannels > 0);
  for (const IntegerField &field : ncclIntegerFields)
    if (llvm::Error error = reader.read(field, hardware, field.min == 0))
      return error;
  for (const RealField &field : ncclRealFields)
    if (llvm::Error error = reader.read(field, hardware, field.mayBeZero))
      return error;
  for (const BoolField &field : ncclBoolFields)
    if (llvm::Error error = reader.read(field, hardware))
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
  ObjectReader reader(*file, *object, "", hasBase);
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
    if (llvm::Error error = reader.read(field, hardware))
      return error;
  for (const IntegerField &field : integerFields)
    if (llvm::Error error = reader.read(field, hardware))
      return error;
  if (llvm::Error error =
          reader.readEnum("generation", generations, hardware.generation))
    return error;
  if (llvm::Error error = reader.readEnum("collective_model", collectiveModels,
                                          hardware.defaultCollectiveModel))
    return error;
  if (llvm::Error error = readNccl(reader, *file, hardware))
    return error;
  if (llvm::Error error = reader.finish())
    return error;
  if (llvm::Error error = checkConsistency(*file, hardware))
    return error;
  return hardware;
}
