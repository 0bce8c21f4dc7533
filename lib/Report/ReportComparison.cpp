//===- ReportComparison.cpp - Comparisons as text, JSON and pictures ------===//
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

//===----------------------------------------------------------------------===//
// SVG
//===----------------------------------------------------------------------===//

namespace {
/// The picture: for each lane the predicted row above the measured one. Colors
/// are attributes, as pages allow no style that they do not know.
class ComparisonPicture {
public:
  ComparisonPicture(const Comparison &comparison, raw_ostream &os)
      : comparison(comparison), os(os) {}

  void print();

private:
  void printRow(StringRef lane, bool isMeasured, int64_t y);
  double getX(int64_t ns) const;

  static constexpr int64_t left = 200, width = 900, rowHeight = 20, gap = 10;
  const Comparison &comparison;
  raw_ostream &os;
};
} // namespace

double ComparisonPicture::getX(int64_t ns) const {
  int64_t totalNs = std::max<int64_t>(
      1, std::max(comparison.predictedNs, comparison.measuredNs));
  return left + static_cast<double>(ns) / static_cast<double>(totalNs) * width;
}

void ComparisonPicture::printRow(StringRef lane, bool isMeasured, int64_t y) {
  os << "<text x=\"" << left - 8 << "\" y=\"" << y + 14
     << "\" text-anchor=\"end\">" << escapeXml(lane)
     << (isMeasured ? ", measured" : ", predicted") << "</text>\n";
  StringRef color = lane == "compute" ? (isMeasured ? "#2f6db5" : "#8ab4e8")
                                      : (isMeasured ? "#c2570c" : "#f5b078");
  for (const ComparedOp &op : comparison.ops) {
    if (op.lane != lane)
      continue;
    int64_t startNs = isMeasured ? op.measuredStartNs : op.predictedStartNs;
    int64_t endNs = isMeasured ? op.measuredEndNs : op.predictedEndNs;
    os << "<rect x=\"" << formatFixed(getX(startNs), 2) << "\" y=\"" << y
       << "\" width=\""
       << formatFixed(std::max(0.5, getX(endNs) - getX(startNs)), 2)
       << "\" height=\"" << rowHeight - 4 << "\" fill=\"" << color
       << "\"><title>" << escapeXml(op.name) << ": predicted "
       << formatTime(op.getPredictedNs()) << ", measured "
       << formatTime(op.getMeasuredNs()) << "</title></rect>\n";
  }
}

void ComparisonPicture::print() {
  std::vector<StringRef> lanes = listLanes(comparison);
  int64_t height = static_cast<int64_t>(lanes.size()) * (2 * rowHeight + gap);
  os << "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"comparison\" "
        "viewBox=\"0 0 "
     << left + width + gap << " " << height
     << "\" font-family=\"sans-serif\" font-size=\"12\">\n";
  int64_t y = 0;
  for (StringRef lane : lanes) {
    printRow(lane, /*isMeasured=*/false, y);
    printRow(lane, /*isMeasured=*/true, y + rowHeight);
    y += 2 * rowHeight + gap;
  }
  os << "</svg>\n";
}

void braid::printComparisonSvg(const Comparison &comparison, raw_ostream &os) {
  ComparisonPicture(comparison, os).print();
}

//===----------------------------------------------------------------------===//
// HTML
//===----------------------------------------------------------------------===//

void braid::printComparisonHtml(const Comparison &comparison, raw_ostream &os) {
  // A page shows the ops that deviate most; JSON has all.
  constexpr size_t mostRows = 200;
  os << "<section id=\"comparison\"><h2>Predicted and measured</h2>\n<p>@"
     << escapeXml(comparison.function) << ", rank " << comparison.rank
     << ": predicted " << formatTime(comparison.predictedNs) << ", measured "
     << formatTime(comparison.measuredNs) << " "
     << formatDeviation(comparison.predictedNs, comparison.measuredNs)
     << "</p>\n";
  printComparisonSvg(comparison, os);
  os << "<table><thead><tr><th>op</th><th>off</th><th>predicted</th>"
        "<th>measured</th></tr></thead><tbody>\n";
  std::vector<const ComparedOp *> sorted = comparison.sortByDeviation();
  for (const ComparedOp *op : llvm::ArrayRef(sorted).take_front(mostRows))
    os << "<tr><td>" << escapeXml(op->name) << "</td><td>"
       << (op->getDeviationNs() < 0 ? "-" : "+")
       << formatTime(std::abs(op->getDeviationNs())) << "</td><td>"
       << formatTime(op->getPredictedNs()) << "</td><td>"
       << formatTime(op->getMeasuredNs()) << "</td></tr>\n";
  os << "</tbody></table>\n";
  for (const std::string &what : comparison.unmatched)
    os << "<p>not compared: " << escapeXml(what) << "</p>\n";
  os << "</section>\n";
}
