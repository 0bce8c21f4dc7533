//===- CalibrationReader.cpp - Calibrations from JSON ---------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Calibration.h"
#include "Cost/Hardware/ContentionFile.h"
#include "Support/JsonObjectReader.h"
#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace braid;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
namespace json = llvm::json;

const llvm::StringLiteral braid::laneTransportNames[] = {"default", "symmetric",
                                                         "copy"};

/// What no machine of today comes near, in operations and bytes per second.
static constexpr double mostOps = 1e18, mostBandwidth = 1e15;
/// The longest that one op may have taken: an hour.
static constexpr double longestNs = 3.6e12;
/// The most multiprocessors, and ranks, that a machine has.
static constexpr int64_t mostParts = 1 << 24;

/// Calls `read(reader)` for each object of the list `name` of `parent`.
static Error
readList(JsonObjectReader &parent, StringRef name,
         llvm::function_ref<Error(JsonObjectReader &)> readElement) {
  Expected<const json::Array *> list =
      parent.readArray(name, /*isOptional=*/true);
  if (!list || !*list)
    return list.takeError();
  return parent.readObjects(**list, name, readElement);
}

/// A date as 2026-11-22.
static bool isDate(StringRef text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-')
    return false;
  unsigned year, month, day;
  return !text.take_front(4).getAsInteger(10, year) &&
         !text.substr(5, 2).getAsInteger(10, month) &&
         !text.take_back(2).getAsInteger(10, day) && month >= 1 &&
         month <= 12 && day >= 1 && day <= 31;
}

static Error readMachine(JsonObjectReader &parent, Calibration &result) {
  Expected<const json::Object *> object =
      parent.readObject("machine", /*isOptional=*/false);
  if (!object)
    return object.takeError();
  JsonObjectReader reader(parent.getFile(), **object,
                          parent.getPath("machine"));
  if (Error error = reader.readString("gpu", result.gpu, /*isOptional=*/false))
    return error;
  if (Error error = reader.readInteger("gpus", result.gpus, 1, mostParts))
    return error;
  if (Error error = reader.readInteger("multiprocessors",
                                       result.multiprocessors, 1, mostParts))
    return error;
  return reader.finish();
}

static Error readSoftware(JsonObjectReader &parent, Calibration &result) {
  Expected<const json::Object *> object =
      parent.readObject("software", /*isOptional=*/false);
  if (!object)
    return object.takeError();
  JsonObjectReader reader(parent.getFile(), **object,
                          parent.getPath("software"));
  for (const auto &[name, value] : **object) {
    std::string version;
    if (Error error = reader.readString(name, version, /*isOptional=*/false))
      return error;
    result.software.emplace_back(name.str(), std::move(version));
  }
  llvm::sort(result.software);
  return Error::success();
}

static Error readRates(JsonObjectReader &parent, Calibration &result) {
  Expected<const json::Object *> object =
      parent.readObject("sustained", /*isOptional=*/true);
  if (!object || !*object)
    return object.takeError();
  JsonObjectReader reader(parent.getFile(), **object,
                          parent.getPath("sustained"));
  if (Error error = reader.readRealInRange("memory_bytes_per_second",
                                           result.memoryBandwidth, 1,
                                           mostBandwidth, /*isOptional=*/true))
    return error;
  Expected<const json::Object *> rates =
      reader.readObject("product_ops_per_second", /*isOptional=*/true);
  if (!rates)
    return rates.takeError();
  if (*rates) {
    JsonObjectReader ofElement(reader.getFile(), **rates,
                               reader.getPath("product_ops_per_second"));
    for (auto [name, rate] : llvm::zip_equal(
             elementClassNames, llvm::MutableArrayRef(result.productRate)))
      if (Error error = ofElement.readRealInRange(name, rate, 1, mostOps,
                                                  /*isOptional=*/true))
        return error;
    if (Error error = ofElement.finish())
      return error;
  }
  return reader.finish();
}

/// Pairs of bytes and ns, both ascending.
static Error readPoints(JsonObjectReader &reader, CollectiveCurve &curve) {
  Expected<const json::Array *> list =
      reader.readArray("points", /*isOptional=*/false);
  if (!list)
    return list.takeError();
  const StrictJson &file = reader.getFile();
  constexpr size_t fewest = 2;
  if ((*list)->size() < fewest)
    return reader.makeFieldError("points", "at least 2 points");
  for (auto [index, value] : llvm::enumerate(**list)) {
    llvm::SmallVector<JsonStep> path = reader.getPath("points");
    path.emplace_back(size_t(index));
    const json::Array *pair = value.getAsArray();
    std::optional<double> bytes, ns;
    if (pair && pair->size() == 2) {
      bytes = (*pair)[0].getAsNumber();
      ns = (*pair)[1].getAsNumber();
    }
    if (!bytes || !ns || !(*bytes >= 1) || !(*bytes < 0x1p63) || !(*ns > 0) ||
        !(*ns <= longestNs))
      return file.makeError(
          path, "found " + describeJson(value) +
                    " in field \"points\", expected [bytes, ns] of at least 1 "
                    "byte, more than 0 ns and at most an hour");
    if (!curve.points.empty() && *bytes <= curve.points.back().first)
      return file.makeError(path, "found " + describeJson((*pair)[0]) +
                                      " bytes after as many or more, expected "
                                      "ascending sizes");
    // Noise makes a larger one faster now and then, but not by half.
    constexpr double noise = 0.5;
    if (!curve.points.empty() && *ns < noise * curve.points.back().second)
      return file.makeError(path,
                            "found less than half of the time of a smaller "
                            "size, expected times that ascend with sizes");
    curve.points.emplace_back(*bytes, *ns);
  }
  return Error::success();
}

static Error readCollective(JsonObjectReader &reader, Calibration &result) {
  CollectiveCurve curve;
  if (Error error = reader.readString("kind", curve.kind, /*isOptional=*/false))
    return error;
  if (Error error = reader.readInteger("ranks", curve.ranks, 2, mostParts))
    return error;
  if (curve.ranks > result.gpus)
    return reader.makeFieldError("ranks", "at most the machine's \"gpus\", " +
                                              std::to_string(result.gpus));
  if (Error error =
          reader.readEnum("transport", laneTransportNames, curve.transport,
                          /*isOptional=*/true))
    return error;
  if (Error error =
          reader.readInteger("ctas", curve.ctas, 0, result.multiprocessors,
                             /*isOptional=*/true))
    return error;
  if (curve.transport == LaneTransport::Copy && curve.ctas != 0)
    return reader.makeFieldError("ctas", "none, as copy engines take no "
                                         "thread blocks");
  if (curve.transport == LaneTransport::Symmetric && curve.ctas == 0)
    return reader.getFile().makeError(
        reader.getPath(), "no field \"ctas\", expected the limit on thread "
                          "blocks of symmetric kernels");
  for (const CollectiveCurve &other : result.collectives)
    if (other.kind == curve.kind && other.ranks == curve.ranks &&
        other.transport == curve.transport && other.ctas == curve.ctas)
      return reader.getFile().makeError(
          reader.getPath(), "found a second curve of " + curve.kind +
                                " with the same ranks, transport and CTAs, "
                                "expected one");
  if (Error error = readPoints(reader, curve))
    return error;
  result.collectives.push_back(std::move(curve));
  return Error::success();
}

static Error readProduct(JsonObjectReader &reader, Calibration &result) {
  ProductTime product;
  ProductShape &shape = product.shape;
  for (auto [name, size] :
       {std::pair("rows", &shape.rows), std::pair("columns", &shape.columns),
        std::pair("depth", &shape.depth)})
    if (Error error = reader.readInteger(name, *size, 1, int64_t(1) << 32))
      return error;
  if (Error error =
          reader.readEnum("element", elementClassNames, shape.element))
    return error;
  if (Error error = reader.readEnum("transposed", transposedOperandNames,
                                    shape.transposed, /*isOptional=*/true))
    return error;
  if (Error error = reader.readInteger(
          "multiprocessors", product.multiprocessors, 1, result.multiprocessors,
          /*isOptional=*/true))
    return error;
  if (Error error = reader.readRealInRange("ns", product.ns, 1, longestNs))
    return error;
  if (product.multiprocessors == result.multiprocessors)
    product.multiprocessors = 0;
  if (result.findProduct(shape, product.multiprocessors))
    return reader.getFile().makeError(
        reader.getPath(), "found a second time of the same product on as many "
                          "multiprocessors, expected one");
  if (shape.countOperations() / product.ns * 1e9 > mostOps)
    return reader.makeFieldError("ns", "a time that a machine can reach");
  result.products.push_back(product);
  return Error::success();
}

static Error readMissing(JsonObjectReader &parent, Calibration &result) {
  Expected<const json::Array *> list =
      parent.readArray("missing", /*isOptional=*/true);
  if (!list || !*list)
    return list.takeError();
  for (auto [index, value] : llvm::enumerate(**list)) {
    std::optional<StringRef> text = value.getAsString();
    if (text && !text->empty()) {
      result.missing.push_back(text->str());
      continue;
    }
    llvm::SmallVector<JsonStep> path = parent.getPath("missing");
    path.emplace_back(size_t(index));
    return parent.getFile().makeError(
        path, "found " + describeJson(value) +
                  " in field \"missing\", expected what was not measured, as "
                  "a text");
  }
  return Error::success();
}

Error braid::readCalibration(JsonObjectReader &parent, Calibration &result) {
  if (Error error = readMachine(parent, result))
    return error;
  if (Error error = readSoftware(parent, result))
    return error;
  if (Error error = parent.readString("date", result.date, false))
    return error;
  if (!isDate(result.date))
    return parent.makeFieldError("date", "a date such as 2026-11-22");
  if (Error error = parent.readRealInRange("spread", result.spread, 0, 1))
    return error;
  if (Error error = readMissing(parent, result))
    return error;
  int64_t launchNs = -1;
  constexpr int64_t mostLaunchNs = 1'000'000'000;
  if (Error error = parent.readInteger("launch_ns", launchNs, 0, mostLaunchNs,
                                       /*isOptional=*/true))
    return error;
  if (launchNs >= 0)
    result.launchNs = launchNs;
  ContentionFigures contention;
  bool hasContention = false;
  if (Expected<const json::Object *> object =
          parent.readObject("contention", /*isOptional=*/true))
    hasContention = *object != nullptr;
  else
    return object.takeError();
  if (Error error = readContention(parent, contention))
    return error;
  if (hasContention)
    result.contention = contention;
  if (Error error = readRates(parent, result))
    return error;
  if (Error error = readList(parent, "collectives", [&](auto &reader) {
        return readCollective(reader, result);
      }))
    return error;
  return readList(parent, "products",
                  [&](auto &reader) { return readProduct(reader, result); });
}
