//===- CalibrationPage.cpp - Calibrations as pages ------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Calibration.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <map>
#include <tuple>

using namespace braid;
using llvm::raw_ostream;

static std::string escapeHtml(llvm::StringRef text) {
  std::string escaped;
  llvm::raw_string_ostream stream(escaped);
  llvm::printHTMLEscaped(text, stream);
  return escaped;
}

static std::string nameLane(const CollectiveCurve &curve) {
  std::string name = laneTransportNames[size_t(curve.transport)].str();
  if (curve.groups > 1)
    name = (llvm::Twine(curve.groups) + " groups, stride " +
            llvm::Twine(curve.stride) + ", " + name)
               .str();
  return curve.ctas ? name + ", " + std::to_string(curve.ctas) + " blocks"
                    : name;
}

//===----------------------------------------------------------------------===//
// Curves
//===----------------------------------------------------------------------===//

namespace {
/// A picture of curves with logarithmic axes.
class Chart {
public:
  Chart(llvm::ArrayRef<const CollectiveCurve *> curves, raw_ostream &os);

  void print();

private:
  double getX(double bytes) const { return place(bytes, least[0], most[0]); }
  double getY(double ns) const {
    return height - place(ns, least[1], most[1]) * height / width;
  }
  static double place(double value, double least, double most) {
    return std::log(value / least) / std::log(most / least) * width;
  }
  void printAxes();

  static constexpr double left = 70, top = 10, width = 560, height = 320;
  llvm::ArrayRef<const CollectiveCurve *> curves;
  raw_ostream &os;
  /// Of bytes and ns: powers of ten around all points.
  double least[2], most[2];
};
} // namespace

Chart::Chart(llvm::ArrayRef<const CollectiveCurve *> curves, raw_ostream &os)
    : curves(curves), os(os) {
  auto [bytes, ns] = curves.front()->points.front();
  double from[] = {bytes, ns}, to[] = {bytes, ns};
  for (const CollectiveCurve *curve : curves)
    for (const auto &[x, y] : curve->points)
      for (auto [axis, value] : {std::pair(0, x), std::pair(1, y)}) {
        from[axis] = std::min(from[axis], value);
        to[axis] = std::max(to[axis], value);
      }
  for (int axis : {0, 1}) {
    least[axis] = std::pow(10, std::floor(std::log10(from[axis])));
    most[axis] = std::pow(10, std::floor(std::log10(to[axis])) + 1);
  }
}

void Chart::printAxes() {
  auto line = [&](double x1, double y1, double x2, double y2) {
    os << llvm::format("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
                       "y2=\"%.1f\" stroke=\"#c9d3dc\"/>\n",
                       left + x1, top + y1, left + x2, top + y2);
  };
  constexpr double decade = 10, half = 1.5;
  for (double bytes = least[0]; bytes < most[0] * half; bytes *= decade) {
    line(getX(bytes), 0, getX(bytes), height);
    os << llvm::format("<text x=\"%.1f\" y=\"%.1f\" "
                       "text-anchor=\"middle\">%g B</text>\n",
                       left + getX(bytes), top + height + 16, bytes);
  }
  for (double ns = least[1]; ns < most[1] * half; ns *= decade) {
    line(0, getY(ns), width, getY(ns));
    os << llvm::format("<text x=\"%.1f\" y=\"%.1f\" "
                       "text-anchor=\"end\">%g us</text>\n",
                       left - 6, top + getY(ns) + 4, ns / 1e3);
  }
}

void Chart::print() {
  static constexpr llvm::StringLiteral colors[] = {
      "#3d70b2", "#c2570c", "#4b9359", "#7a5ea8",
      "#c8323f", "#0f8a8a", "#8a6d1a", "#566676"};
  constexpr double legend = 200, row = 18;
  os << llvm::format("<svg viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" "
                     "font-family=\"sans-serif\" font-size=\"12\">\n",
                     left + width + legend, top + height + 30,
                     left + width + legend);
  printAxes();
  for (auto [index, curve] : llvm::enumerate(curves)) {
    llvm::StringRef color = colors[index % std::size(colors)];
    os << "<polyline fill=\"none\" stroke-width=\"2\" stroke=\"" << color
       << "\" points=\"";
    for (const auto &[bytes, ns] : curve->points)
      os << llvm::format("%.1f,%.1f ", left + getX(bytes), top + getY(ns));
    os << "\"/>\n"
       << llvm::format("<text x=\"%.0f\" y=\"%.0f\" fill=\"", left + width + 10,
                       top + row * static_cast<double>(index + 1))
       << color << "\">" << nameLane(*curve) << "</text>\n";
  }
  os << "</svg>\n";
}

static void printCurves(const Calibration &calibration, raw_ostream &os) {
  std::map<std::pair<std::string, int64_t>,
           std::vector<const CollectiveCurve *>>
      groups;
  for (const CollectiveCurve &curve : calibration.collectives)
    groups[{curve.kind, curve.ranks}].push_back(&curve);
  for (const auto &[key, curves] : groups) {
    os << "<h2>" << escapeHtml(key.first) << " of " << key.second
       << " ranks: time by bytes of the whole operation</h2>\n";
    Chart(curves, os).print();
  }
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

static void printMatmuls(const Calibration &calibration, raw_ostream &os) {
  if (calibration.matmuls.empty())
    return;
  // By shape, and then by multiprocessors.
  auto isBefore = [](const MatmulShape &a, const MatmulShape &b) {
    return std::tuple(a.element, a.rows, a.columns, a.depth, a.transposed) <
           std::tuple(b.element, b.rows, b.columns, b.depth, b.transposed);
  };
  std::map<MatmulShape, std::map<int64_t, double>, decltype(isBefore)> rows(
      isBefore);
  std::map<int64_t, bool, std::greater<>> targets;
  for (const MatmulTime &matmul : calibration.matmuls) {
    int64_t target = matmul.multiprocessors ? matmul.multiprocessors
                                            : calibration.multiprocessors;
    rows[matmul.shape][target] = matmul.ns;
    targets[target] = true;
  }
  os << "<h2>Matmuls: microseconds by multiprocessors</h2>\n<table><tr>"
        "<th>matmul</th><th>Tops</th>";
  for (const auto &[target, unused] : targets)
    os << "<th>" << target << "</th>";
  os << "</tr>\n";
  for (const auto &[shape, times] : rows) {
    os << "<tr><td>" << shape.rows << " x " << shape.columns << " x "
       << shape.depth << " " << elementClassNames[size_t(shape.element)];
    if (shape.transposed != TransposedOperands::None)
      os << ", transposed: "
         << transposedOperandNames[size_t(shape.transposed)];
    os << "</td>";
    auto all = times.find(calibration.multiprocessors);
    os << "<td>";
    if (all != times.end())
      os << llvm::format("%.0f", shape.countOperations() / all->second / 1e3);
    os << "</td>";
    for (const auto &[target, unused] : targets) {
      auto found = times.find(target);
      os << "<td>";
      if (found != times.end())
        os << llvm::format("%.1f", found->second / 1e3);
      os << "</td>";
    }
    os << "</tr>\n";
  }
  os << "</table>\n";
}

static void printContention(const Calibration &calibration, raw_ostream &os) {
  if (!calibration.contention)
    return;
  const ContentionFigures &contention = *calibration.contention;
  bool queues = contention.multiprocessorModel == MultiprocessorModel::Queued;
  os << "<h2>Contention: "
     << (queues ? "collectives queue for multiprocessors"
                : "collectives share multiprocessors")
     << "</h2>\n";
  if (!queues)
    return;
  for (const TakenFromPairs &entry : contention.takenFromPairs)
    os << "<p>" << entry.blocks << " single blocks take "
       << entry.multiprocessors << " multiprocessors from matmuls</p>\n";
  os << "<table><tr><th>compute</th><th>collective by</th><th>compute slows "
        "down by</th><th>collective slows down by</th></tr>\n";
  // By `LaneEngine`.
  static constexpr llvm::StringLiteral engineNames[] = {
      "kernels (all_reduce)", "copy engines", "kernels (others)"};
  for (auto [compute, ofCompute] : llvm::enumerate(contention.interference))
    for (auto [engine, both] : llvm::enumerate(ofCompute))
      os << "<tr><td>" << (compute ? "elementwise" : "matmul") << "</td><td>"
         << engineNames[engine]
         << llvm::format("</td><td>%.2f</td><td>%.2f</td></tr>\n", both.compute,
                         both.communication);
  os << "</table>\n";
}

void braid::printCalibrationPage(const Calibration &calibration,
                                 raw_ostream &os) {
  os << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
        "<title>braid-calibrate</title>\n<style>body { font-family: "
        "sans-serif; margin: 2em; } td, th { padding: 0.2em 0.8em; "
        "text-align: right; }</style></head><body>\n";
  os << "<h1>" << calibration.gpus << " x " << escapeHtml(calibration.gpu)
     << "</h1>\n<p>" << calibration.date << ", " << calibration.multiprocessors
     << " multiprocessors";
  for (const auto &[name, version] : calibration.software)
    os << ", " << escapeHtml(name) << " " << escapeHtml(version);
  os << llvm::format("; spread %.1f %%", calibration.spread * 100) << "</p>\n";
  for (const std::string &what : calibration.missing)
    os << "<p>missing: " << escapeHtml(what) << "</p>\n";
  printCurves(calibration, os);
  printMatmuls(calibration, os);
  printContention(calibration, os);
  os << "</body></html>\n";
}
