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

#include <cmath>

using namespace braid;
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

static void readRates(JsonObjectReader &reader, Calibration &result) {
  reader.readRealInRange("memory_bytes_per_second", result.memoryBandwidth, 1,
                         mostBandwidth, /*isOptional=*/true);
  reader.readObject(
      "matmul_ops_per_second", /*isOptional=*/true, [&](auto &ofElement) {
        for (auto [name, rate] : llvm::zip_equal(
                 elementClassNames, llvm::MutableArrayRef(result.matmulRate)))
          ofElement.readRealInRange(name, rate, 1, mostOps,
                                    /*isOptional=*/true);
      });
}

/// Pairs of bytes and ns, both ascending.
static void readPoints(JsonObjectReader &reader, CollectiveCurve &curve) {
  const json::Array *list = reader.readArray("points", /*isOptional=*/false);
  if (!list)
    return;
  constexpr size_t fewest = 2;
  if (list->size() < fewest)
    return reader.failField("points", "at least 2 points");
  for (auto [index, value] : llvm::enumerate(*list)) {
    auto fail = [&, index = index](const llvm::Twine &message) {
      reader.failElement("points", index, message);
    };
    const json::Array *pair = value.getAsArray();
    std::optional<double> bytes, ns;
    if (pair && pair->size() == 2) {
      bytes = (*pair)[0].getAsNumber();
      ns = (*pair)[1].getAsNumber();
    }
    if (!bytes || !ns || !(*bytes >= 1) || !(*bytes < 0x1p63) || !(*ns > 0) ||
        !(*ns <= longestNs))
      return fail("found " + describeJson(value) +
                  ", expected [bytes, ns] of at least 1 "
                  "byte, more than 0 ns and at most an hour");
    if (!curve.points.empty() && *bytes <= curve.points.back().first)
      return fail("found " + describeJson((*pair)[0]) +
                  " bytes after as many or more, expected ascending sizes");
    // Noise makes a larger one faster now and then, but not by half.
    constexpr double noise = 0.5;
    if (!curve.points.empty() && *ns < noise * curve.points.back().second)
      return fail("found less than half of the time of a smaller size, "
                  "expected times that ascend with sizes");
    curve.points.emplace_back(*bytes, *ns);
  }
}

static void readCollective(JsonObjectReader &reader, Calibration &result) {
  CollectiveCurve curve;
  reader.readString("kind", curve.kind, /*isOptional=*/false);
  reader.readInteger("ranks", curve.ranks, 2, mostParts);
  if (curve.ranks > result.gpus)
    reader.failField("ranks", "at most the machine's \"gpus\", " +
                                  std::to_string(result.gpus));
  reader.readEnum("transport", laneTransportNames, curve.transport,
                  /*isOptional=*/true);
  reader.readInteger("ctas", curve.ctas, 0, result.multiprocessors,
                     /*isOptional=*/true);
  // Groups that run at the same time have no rank in common.
  int64_t parts =
      std::max<int64_t>(1, result.gpus / std::max<int64_t>(1, curve.ranks));
  reader.readInteger("groups", curve.groups, 1, parts, /*isOptional=*/true);
  reader.readInteger("stride", curve.stride, 1, parts, /*isOptional=*/true);
  reader.readBool("graph", curve.inGraph);
  if (curve.transport == LaneTransport::Copy && curve.ctas != 0)
    reader.failField("ctas", "none, as copy engines take no thread blocks");
  if (curve.transport == LaneTransport::Symmetric && curve.ctas == 0)
    reader.fail("no field \"ctas\", expected the limit on thread blocks of "
                "symmetric kernels");
  for (const CollectiveCurve &other : result.collectives)
    if (other.kind == curve.kind && other.ranks == curve.ranks &&
        other.transport == curve.transport && other.ctas == curve.ctas &&
        other.groups == curve.groups && other.stride == curve.stride &&
        other.inGraph == curve.inGraph)
      reader.fail("found a second curve of " + curve.kind +
                  " with the same ranks, groups, transport, CTAs and graph, "
                  "expected one");
  readPoints(reader, curve);
  result.collectives.push_back(std::move(curve));
}

static void readMatmul(JsonObjectReader &reader, Calibration &result) {
  MatmulTime matmul;
  MatmulShape &shape = matmul.shape;
  for (auto [name, size] :
       {std::pair("rows", &shape.rows), std::pair("columns", &shape.columns),
        std::pair("depth", &shape.depth)})
    reader.readInteger(name, *size, 1, int64_t(1) << 32);
  reader.readEnum("element", elementClassNames, shape.element);
  reader.readEnum("transposed", transposedOperandNames, shape.transposed,
                  /*isOptional=*/true);
  reader.readInteger("multiprocessors", matmul.multiprocessors, 1,
                     result.multiprocessors, /*isOptional=*/true);
  reader.readRealInRange("ns", matmul.ns, 1, longestNs);
  if (matmul.multiprocessors == result.multiprocessors)
    matmul.multiprocessors = 0;
  if (result.findMatmul(shape, matmul.multiprocessors))
    reader.fail("found a second time of the same matmul on as many "
                "multiprocessors, expected one");
  if (shape.countOperations() / matmul.ns * 1e9 > mostOps)
    reader.failField("ns", "a time that a machine can reach");
  result.matmuls.push_back(matmul);
}

static void readMissing(JsonObjectReader &parent, Calibration &result) {
  const json::Array *list = parent.readArray("missing", /*isOptional=*/true);
  if (!list)
    return;
  for (auto [index, value] : llvm::enumerate(*list)) {
    std::optional<StringRef> text = value.getAsString();
    if (text && !text->empty()) {
      result.missing.push_back(text->str());
      continue;
    }
    parent.failElement("missing", index,
                       "found " + describeJson(value) +
                           ", expected what was not "
                           "measured, as a text");
  }
}

void braid::readCalibration(JsonObjectReader &parent, Calibration &result,
                            std::string &machine) {
  parent.readObject("machine", /*isOptional=*/false, [&](auto &reader) {
    // Old files have the name elsewhere.
    if (machine.empty())
      reader.readString("name", machine, /*isOptional=*/false);
    reader.readString("gpu", result.gpu, /*isOptional=*/false);
    reader.readInteger("gpus", result.gpus, 1, mostParts);
    reader.readInteger("multiprocessors", result.multiprocessors, 1, mostParts);
  });
  parent.readObject("software", /*isOptional=*/false, [&](auto &reader) {
    for (const auto &[name, value] : reader.getObject()) {
      std::string version;
      reader.readString(name, version, /*isOptional=*/false);
      result.software.emplace_back(name.str(), std::move(version));
    }
  });
  llvm::sort(result.software);
  parent.readString("date", result.date, /*isOptional=*/false);
  if (!isDate(result.date))
    parent.failField("date", "a date such as 2026-11-22");
  parent.readRealInRange("spread", result.spread, 0, 1);
  readMissing(parent, result);
  int64_t launchNs = -1;
  constexpr int64_t mostLaunchNs = 1'000'000'000;
  parent.readInteger("launch_ns", launchNs, 0, mostLaunchNs,
                     /*isOptional=*/true);
  if (launchNs >= 0)
    result.launchNs = launchNs;
  ContentionFigures contention;
  if (readContention(parent, contention))
    result.contention = contention;
  parent.readObject("sustained", /*isOptional=*/true,
                    [&](auto &reader) { readRates(reader, result); });
  parent.readObjects("collectives", /*isOptional=*/true,
                     [&](auto &reader) { readCollective(reader, result); });
  parent.readObjects("matmuls", /*isOptional=*/true,
                     [&](auto &reader) { readMatmul(reader, result); });
}
