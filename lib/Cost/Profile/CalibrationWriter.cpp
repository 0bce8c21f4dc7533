//===- CalibrationWriter.cpp - Calibrations as JSON -----------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Calibration.h"
#include "Cost/Hardware/ContentionFile.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace braid;
namespace json = llvm::json;

/// Nanoseconds with as many digits as a measurement has.
static json::Value toJson(double ns) {
  return static_cast<int64_t>(std::max(1.0, std::round(ns)));
}

static void writeRates(json::OStream &json, const Calibration &calibration) {
  json.object([&]() {
    if (calibration.memoryBandwidth > 0)
      json.attribute("memory_bytes_per_second", calibration.memoryBandwidth);
    json.attributeObject("matmul_ops_per_second", [&]() {
      for (auto [name, rate] : llvm::zip_equal(
               elementClassNames, llvm::ArrayRef(calibration.matmulRate)))
        if (rate > 0)
          json.attribute(name, rate);
    });
  });
}

static void writeCurve(json::OStream &json, const CollectiveCurve &curve) {
  json.object([&]() {
    json.attribute("kind", curve.kind);
    json.attribute("ranks", curve.ranks);
    if (curve.transport != LaneTransport::Default)
      json.attribute("transport", laneTransportNames[size_t(curve.transport)]);
    if (curve.ctas != 0)
      json.attribute("ctas", curve.ctas);
    for (auto [name, number] :
         {std::pair("groups", curve.groups), std::pair("stride", curve.stride)})
      if (number != 1)
        json.attribute(name, number);
    if (curve.inGraph)
      json.attribute("graph", true);
    json.attributeArray("points", [&]() {
      for (auto [bytes, ns] : curve.points) {
        double ofPoint[] = {bytes, ns};
        json.array([&]() {
          json.value(static_cast<int64_t>(ofPoint[0]));
          json.value(toJson(ofPoint[1]));
        });
      }
    });
  });
}

static void writeMatmul(json::OStream &json, const MatmulTime &matmul) {
  json.object([&]() {
    const MatmulShape &shape = matmul.shape;
    json.attribute("rows", shape.rows);
    json.attribute("columns", shape.columns);
    json.attribute("depth", shape.depth);
    json.attribute("element", elementClassNames[size_t(shape.element)]);
    if (shape.transposed != TransposedOperands::None)
      json.attribute("transposed",
                     transposedOperandNames[size_t(shape.transposed)]);
    if (matmul.multiprocessors != 0)
      json.attribute("multiprocessors", matmul.multiprocessors);
    json.attribute("ns", toJson(matmul.ns));
  });
}

std::string braid::writeCalibration(llvm::StringRef machine,
                                    const Calibration &calibration) {
  constexpr int64_t machineVersion = 2;
  std::string text;
  llvm::raw_string_ostream stream(text);
  json::OStream json(stream, /*IndentSize=*/2);
  json.object([&]() {
    json.attribute("version", machineVersion);
    json.attributeObject("machine", [&]() {
      json.attribute("name", machine);
      json.attribute("gpu", calibration.gpu);
      json.attribute("gpus", calibration.gpus);
      json.attribute("multiprocessors", calibration.multiprocessors);
    });
    json.attributeObject("software", [&]() {
      for (const auto &[name, version] : calibration.software)
        json.attribute(name, version);
    });
    json.attribute("date", calibration.date);
    json.attribute("spread", calibration.spread);
    if (!calibration.missing.empty())
      json.attributeArray("missing", [&]() {
        for (const std::string &what : calibration.missing)
          json.value(what);
      });
    if (calibration.launchNs)
      json.attribute("launch_ns", *calibration.launchNs);
    json.attributeBegin("sustained");
    writeRates(json, calibration);
    json.attributeEnd();
    if (calibration.contention) {
      json.attributeBegin("contention");
      writeContention(json, *calibration.contention);
      json.attributeEnd();
    }
    json.attributeArray("collectives", [&]() {
      for (const CollectiveCurve &curve : calibration.collectives)
        writeCurve(json, curve);
    });
    json.attributeArray("matmuls", [&]() {
      for (const MatmulTime &matmul : calibration.matmuls)
        writeMatmul(json, matmul);
    });
  });
  stream << "\n";
  return text;
}
