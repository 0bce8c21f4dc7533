//===- ReportComparison.cpp - Comparisons as text and JSON ----------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReportFormat.h"

#include "braid/Report/Report.h"
#include "braid/Support/Text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

#include <cmath>
#include <map>

using namespace braid;
using llvm::raw_ostream;
using llvm::StringRef;

/// How much longer than predicted, as `+12.0 %`; empty without a prediction.
static std::string formatDeviation(int64_t predictedNs, int64_t measuredNs) {
  if (predictedNs <= 0)
    return "";
  double part =
      static_cast<double>(measuredNs) / static_cast<double>(predictedNs) - 1;
  return (part < 0 ? "" : "+") + formatPercent(part);
}

static std::string formatSigned(int64_t ns) {
  return (ns > 0 ? "+" : "") + std::to_string(ns);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// A row of the picture of the timelines in text.
static std::string drawRow(const Comparison &comparison, StringRef lane,
                           bool isMeasured) {
  constexpr int64_t width = 72;
  int64_t totalNs = std::max<int64_t>(
      1, std::max(comparison.predictedNs, comparison.measuredNs));
  std::string row(width, '.');
  for (const ComparedOp &op : comparison.ops) {
    if (op.lane != lane)
      continue;
    int64_t startNs = isMeasured ? op.measuredStartNs : op.predictedStartNs;
    int64_t endNs = isMeasured ? op.measuredEndNs : op.predictedEndNs;
    auto column = [&](int64_t ns) {
      return std::clamp<int64_t>(
          static_cast<int64_t>(static_cast<double>(ns) /
                               static_cast<double>(totalNs) * width),
          0, width - 1);
    };
    if (endNs > startNs)
      for (int64_t i = column(startNs); i <= column(endNs - 1); ++i)
        row[static_cast<size_t>(i)] = lane == "compute" ? '=' : '#';
  }
  return row;
}

/// The compute stream, then the lanes in the order of their first ops.
static std::vector<StringRef> listLanes(const Comparison &comparison) {
  std::vector<StringRef> lanes = {"compute"};
  for (const ComparedOp &op : comparison.ops)
    if (!llvm::is_contained(lanes, StringRef(op.lane)))
      lanes.push_back(op.lane);
  return lanes;
}

void braid::printComparisonText(const Comparison &comparison, raw_ostream &os) {
  os << "==== Predicted and measured, @" << escapeControls(comparison.function)
     << ", rank " << comparison.rank << " ====\n";
  os << "predicted " << comparison.predictedNs << " ns, measured "
     << comparison.measuredNs << " ns";
  if (std::string deviation =
          formatDeviation(comparison.predictedNs, comparison.measuredNs);
      !deviation.empty())
    os << ", " << deviation;
  os << "\n";
  for (StringRef lane : listLanes(comparison))
    for (bool isMeasured : {false, true})
      os << llvm::left_justify(isMeasured ? "measured" : "predicted", 10)
         << drawRow(comparison, lane, isMeasured) << "  "
         << escapeControls(lane) << "\n";
  os << "     off ns  predicted ns   measured ns  op\n";
  for (const ComparedOp *op : comparison.sortByDeviation())
    os << llvm::right_justify(formatSigned(op->getDeviationNs()), 11)
       << llvm::format("%14lld%14lld  ",
                       static_cast<long long>(op->getPredictedNs()),
                       static_cast<long long>(op->getMeasuredNs()))
       << escapeControls(op->name) << "\n";
  for (const std::string &what : comparison.unmatched)
    os << "not compared: " << escapeControls(what) << "\n";
  os << "\n";
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

void braid::printComparisonJson(const Comparison &comparison,
                                llvm::json::OStream &json) {
  json.object([&] {
    json.attribute("function", comparison.function);
    json.attribute("rank", comparison.rank);
    json.attribute("predicted_ns", comparison.predictedNs);
    json.attribute("measured_ns", comparison.measuredNs);
    json.attributeArray("ops", [&] {
      for (const ComparedOp *op : comparison.sortByDeviation())
        json.object([&] {
          json.attribute("name", op->name);
          json.attribute("lane", op->lane);
          json.attribute("predicted_start_ns", op->predictedStartNs);
          json.attribute("predicted_end_ns", op->predictedEndNs);
          json.attribute("measured_start_ns", op->measuredStartNs);
          json.attribute("measured_end_ns", op->measuredEndNs);
          json.attribute("deviation_ns", op->getDeviationNs());
        });
    });
    json.attributeArray("unmatched", [&] {
      for (const std::string &what : comparison.unmatched)
        json.value(what);
    });
  });
}

void braid::printMeasuredProfile(const Comparison &comparison,
                                 StringRef machine, raw_ostream &os) {
  std::map<std::string, std::vector<double>> times;
  for (const ComparedOp &op : comparison.ops)
    for (const auto &[signature, ns] : op.costs)
      times[signature].push_back(ns);
  llvm::json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("version", 1);
    json.attribute("machine", machine);
    json.attributeArray("entries", [&] {
      for (const auto &[signature, ofSignature] : times)
        json.object([&, &signature = signature, &list = ofSignature] {
          json.attribute("signature", signature);
          json.attributeArray("ns", [&] {
            for (double ns : list)
              json.value(static_cast<int64_t>(std::llround(ns)));
          });
        });
    });
  });
  os << "\n";
}
