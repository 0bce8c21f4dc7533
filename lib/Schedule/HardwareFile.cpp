//===- HardwareFile.cpp - Machines described in files ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/Hardware.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/ErrorOr.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <limits>

using namespace braid;
namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

namespace {
/// A field with a number that need not be whole.
struct RealField {
  llvm::StringLiteral name;
  double &(*get)(Hardware &);
  /// Zero is a figure too, not only what is above.
  bool mayBeZero;
};

/// A field with a whole number.
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

//===----------------------------------------------------------------------===//
// Reader
//===----------------------------------------------------------------------===//

/// The most objects and arrays within one another: the parser calls itself for
/// each, and no description needs more than two.
static constexpr unsigned maxDepth = 16;

static bool isNestedTooDeep(llvm::StringRef text) {
  unsigned depth = 0;
  bool isInString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (isInString) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        isInString = false;
      continue;
    }
    if (c == '"')
      isInString = true;
    else if (c == '{' || c == '[') {
      if (++depth > maxDepth)
        return true;
    } else if ((c == '}' || c == ']') && depth > 0)
      --depth;
  }
  return false;
}

/// What a message shows of a value.
static std::string describe(const json::Value &value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  constexpr size_t limit = 40;
  return text.size() <= limit ? text : text.substr(0, limit) + "...";
}

namespace {
/// Reads the fields of one object into a machine.
class ObjectReader {
public:
  ObjectReader(const json::Object &object, llvm::StringRef fileName,
               std::string prefix, bool hasBase)
      : object(object), fileName(fileName), prefix(std::move(prefix)),
        hasBase(hasBase) {}

  llvm::Error makeError(const llvm::Twine &message) const {
    return llvm::createStringError(fileName + ": " + message);
  }

  llvm::Error makeFieldError(llvm::StringRef name, const json::Value &found,
                             const llvm::Twine &expected) const {
    return makeError("field '" + prefix + name + "': expected " + expected +
                     ", found " + describe(found));
  }

  /// The value of the field `name`; null if it is absent, which is an error
  /// unless there is a base or a default (`isOptional`).
  llvm::Expected<const json::Value *>
  find(llvm::StringRef name, const llvm::Twine &expected, bool isOptional) {
    known.insert(name);
    const json::Value *value = object.get(name);
    if (!value && !hasBase && !isOptional)
      return makeError("missing field '" + prefix + name + "', expected " +
                       expected + " (or a field 'base')");
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
      return makeFieldError(name, **value, expected);
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
      return makeFieldError(field.name, **value, expected);
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
      return makeFieldError(field.name, **value, "true or false");
    field.get(hardware) = *flag;
    return llvm::Error::success();
  }

  /// A string; `result` stays as it is if the field is absent.
  llvm::Error readString(llvm::StringRef name, std::string &result) {
    llvm::Expected<const json::Value *> value =
        find(name, "a string", /*isOptional=*/true);
    if (!value || !*value)
      return value.takeError();
    std::optional<llvm::StringRef> text = (*value)->getAsString();
    if (!text || text->empty())
      return makeFieldError(name, **value, "a string that is not empty");
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
      return makeFieldError(name, **value, expected);
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
    return makeFieldError(name, **value, "an object");
  }

  /// An error if there is a field that nobody has asked for.
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
    return makeError("unknown field '" + prefix + unknown.front() +
                     "', expected one of: " + llvm::join(names, " "));
  }

private:
  const json::Object &object;
  llvm::StringRef fileName;
  std::string prefix;
  bool hasBase;
  llvm::StringSet<> known;
};
} // namespace

static llvm::Error readPeaks(ObjectReader &parent, llvm::StringRef fileName,
                             bool hasBase, Hardware &hardware) {
  llvm::Expected<const json::Object *> object =
      parent.readObject("peak_ops_per_second", /*isOptional=*/false);
  if (!object || !*object)
    return object.takeError();
  ObjectReader reader(**object, fileName, "peak_ops_per_second.", hasBase);
  for (auto [name, peak] :
       llvm::zip_equal(peakFields, hardware.peakOpsPerSecond))
    if (llvm::Error error = reader.readReal(name, peak, /*mayBeZero=*/false))
      return error;
  return reader.finish();
}

static llvm::Error readNccl(ObjectReader &parent, llvm::StringRef fileName,
                            Hardware &hardware) {
  // Without them there is no NCCL, unless the base has it.
  llvm::Expected<const json::Object *> object =
      parent.readObject("nccl", /*isOptional=*/true);
  if (!object || !*object)
    return object.takeError();
  ObjectReader reader(**object, fileName, "nccl.",
                      hardware.nccl.numChannels > 0);
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

/// What no single field can tell.
static llvm::Error checkConsistency(const ObjectReader &reader,
                                    const Hardware &hardware) {
  const NcclFigures &nccl = hardware.nccl;
  if (nccl.numChannels > 0 && hardware.generation == GpuGeneration::None)
    return reader.makeError(
        "field 'generation': expected that of a GPU beside the field 'nccl', "
        "found \"none\"");
  if (hardware.defaultCollectiveModel == CollectiveModelKind::Nccl &&
      !hardware.hasNccl())
    return reader.makeError("field 'collective_model': expected a field 'nccl' "
                            "beside \"nccl\", found none");
  if (nccl.useCopyEngine && nccl.copyEngineBandwidth == 0)
    return reader.makeError(
        "field 'nccl.copy_engine': expected a field "
        "'nccl.copy_engine_bandwidth_bytes_per_second' above 0 beside true, "
        "found none");
  return llvm::Error::success();
}

static llvm::Expected<Hardware> readHardware(const json::Object &object,
                                             llvm::StringRef fileName) {
  Hardware hardware = {};
  bool hasBase = object.get("base") != nullptr;
  ObjectReader reader(object, fileName, "", hasBase);
  std::string base;
  if (llvm::Error error = reader.readString("base", base))
    return error;
  if (hasBase) {
    const Hardware *known = lookupHardware(base);
    if (!known)
      return reader.makeFieldError("base", *object.get("base"),
                                   "one of: " + joinHardwareNames());
    hardware = *known;
  }

  hardware.name = llvm::sys::path::stem(fileName).str();
  if (llvm::Error error = reader.readString("name", hardware.name))
    return error;
  if (llvm::Error error = reader.readString("summary", hardware.summary))
    return error;
  if (llvm::Error error = readPeaks(reader, fileName, hasBase, hardware))
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
  static constexpr llvm::StringLiteral models[] = {"nccl", "inductor",
                                                   "inductor-newest", "link"};
  if (llvm::Error error = reader.readEnum("collective_model", models,
                                          hardware.defaultCollectiveModel))
    return error;
  if (llvm::Error error = readNccl(reader, fileName, hardware))
    return error;
  if (llvm::Error error = reader.finish())
    return error;
  if (llvm::Error error = checkConsistency(reader, hardware))
    return error;
  return hardware;
}

llvm::Expected<Hardware> braid::parseHardware(llvm::StringRef text,
                                              llvm::StringRef fileName) {
  if (isNestedTooDeep(text))
    return llvm::createStringError(
        fileName +
        ": expected an object of figures, found objects or arrays "
        "that are nested more than " +
        llvm::Twine(maxDepth) + " deep");
  llvm::Expected<json::Value> value = json::parse(text);
  if (!value)
    return llvm::createStringError(
        fileName + ": not JSON: " + llvm::toString(value.takeError()));
  const json::Object *object = value->getAsObject();
  if (!object)
    return llvm::createStringError(fileName + ": expected an object, found " +
                                   describe(*value));
  return readHardware(*object, fileName);
}

llvm::Expected<Hardware> braid::readHardwareFile(llvm::StringRef path) {
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> buffer =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return llvm::createStringError(
        path + ": cannot read the file: " + buffer.getError().message());
  return parseHardware((*buffer)->getBuffer(), path);
}
