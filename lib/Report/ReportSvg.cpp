//===- ReportSvg.cpp - Reports as SVG pictures ----------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A picture has no more details than pixels: adjacent slices of one kind that
// are too narrow to distinguish become one rectangle. So the size of the file
// depends on the width of the picture and not on the program.
//
//===----------------------------------------------------------------------===//

#include "ReportFormat.h"
#include "ReportSlices.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Format.h"

#include <array>

using namespace braid;
using llvm::raw_ostream;
using llvm::StringRef;

static constexpr size_t kMaxDrawnSlices = 100000;
/// The picture draws at most this many functions and only names the others.
static constexpr size_t kMaxFunctions = 24;

// The layout, in units of the picture.
static constexpr double kWidth = 1200, kLeft = 150, kRight = 14;
static constexpr double kRowHeight = 24, kRowGap = 5, kTitleHeight = 26;
static constexpr double kAxisHeight = 22, kMemoryHeight = 54, kPanelGap = 18;
/// Slices within this width become one rectangle.
static constexpr double kTiny = 0.5;

/// The number of characters of UTF-8 text.
static size_t countCharacters(StringRef text) {
  return llvm::count_if(text, [](char c) { return (c & 0xC0) != 0x80; });
}

/// The first `count` characters of UTF-8 text.
static StringRef takeCharacters(StringRef text, size_t count) {
  size_t end = 0;
  while (end < text.size() && ((text[end] & 0xC0) == 0x80 || count > 0)) {
    if ((text[end] & 0xC0) != 0x80)
      --count;
    ++end;
  }
  return text.take_front(end);
}

/// A step of 1, 2 or 5 times a power of ten, at least 1, between at most
/// `maxTicks` ticks on a length of at least 1.
static int64_t getTickStep(int64_t lengthNs, int64_t maxTicks) {
  int64_t least = (lengthNs - 1) / maxTicks + 1;
  int64_t power = 1;
  while (power <= least / 10)
    power *= 10;
  for (int64_t factor : {1, 2, 5})
    if (factor * power >= least)
      return factor * power;
  return 10 * power;
}

static StringRef getClass(SliceKind kind) {
  switch (kind) {
  case SliceKind::Compute:
    return "compute";
  case SliceKind::SideCompute:
    return "side";
  case SliceKind::Communication:
    return "comm";
  case SliceKind::Wait:
    return "wait";
  case SliceKind::Body:
    return "body";
  case SliceKind::LeftOut:
    return "rest";
  }
  llvm_unreachable("unknown kind of slice");
}

/// The tooltip of `slice`.
static std::string getSliceTitle(const ReportSlice &slice) {
  const ReportedNode &node = *slice.node;
  std::string text;
  llvm::raw_string_ostream os(text);
  if (slice.kind == SliceKind::LeftOut) {
    os << slice.tripCount << " more trips of " << getDisplayName(node);
    return text;
  }
  if (!node.label.empty())
    os << node.label << ": ";
  os << node.op << "\n";
  if (!node.type.empty())
    os << node.type << "\n";
  if (slice.kind == SliceKind::Communication)
    os << formatBytes(static_cast<int64_t>(node.bytes)) << " on @" << node.group
       << " (" << node.groupSize << " ranks)\n";
  if (slice.kind == SliceKind::Body && slice.tripCount != 1)
    os << slice.tripCount << " trips\n";
  if (slice.kind == SliceKind::Wait)
    os << "holds the stream for " << formatTime(slice.endNs - slice.startNs)
       << "\n";
  else
    os << formatTime(node.costNs) << " (" << node.costSource << ")\n";
  if (node.times.lostNs > 0)
    os << "slowed down by " << formatTime(node.times.lostNs) << "\n";
  os << formatTime(slice.startNs) << " to " << formatTime(slice.endNs);
  if (node.role == StreamRole::Start && node.times.exposedNs > 0) {
    os << "\nexposed for " << formatTime(node.times.exposedNs);
    if (!node.reason.empty())
      os << ": " << node.reason;
  }
  return text;
}

namespace {
class SvgPrinter {
public:
  SvgPrinter(const Report &report, raw_ostream &os) : report(report), os(os) {}

  void print();

private:
  void drawFunction(const ReportedFunction *before,
                    const ReportedFunction *after);
  void drawPanel(const ReportedProgram &program,
                 const ReportedFunction &function, StringRef title,
                 llvm::ArrayRef<std::string> lanes);
  void drawTrack(const SlicedFunction &sliced, unsigned track);
  void drawExposed(const SlicedFunction &sliced, unsigned track);
  void drawMemory(const ReportedFunction &function);
  void drawAxis();
  void drawLegend();
  void drawBox(StringRef cssClass, double x, double width, double inset,
               StringRef label, StringRef title);
  void drawText(StringRef cssClass, double x, double textY, StringRef text);

  double getX(int64_t ns) const {
    return kLeft + static_cast<double>(ns) * scale;
  }

  const Report &report;
  raw_ostream &os;
  std::string body;
  llvm::raw_string_ostream out{body};
  /// The labels of a row, which are drawn on top of its rectangles.
  std::string rowLabels;
  llvm::raw_string_ostream labels{rowLabels};
  /// The top of the next row.
  double y = 0;
  /// The length of the present function, and the units of the picture for each
  /// nanosecond.
  int64_t lengthNs = 1;
  double scale = 1;
  /// The number of clip paths, which names the next one.
  unsigned numClips = 0;
};
} // namespace

/// A time at a tick, which is a round number: "2 us".
static std::string formatTick(int64_t ns) {
  std::string text = formatTime(ns);
  auto [number, unit] = StringRef(text).split(' ');
  if (number.contains('.'))
    number = number.rtrim('0').rtrim('.');
  return ns == 0 ? "0" : (number + " " + unit).str();
}

/// A length with up to two decimal places.
static std::string formatLength(double value) {
  std::string text = formatFixed(value, 2);
  StringRef trimmed = StringRef(text).rtrim('0');
  return trimmed.rtrim('.').str();
}

void SvgPrinter::drawText(StringRef cssClass, double x, double textY,
                          StringRef text) {
  out << "<text class=\"" << cssClass << "\" x=\"" << formatLength(x)
      << "\" y=\"" << formatLength(textY) << "\">" << escapeXml(text)
      << "</text>\n";
}

/// Draws a rectangle in the row at `y`, with `label` if it fits.
void SvgPrinter::drawBox(StringRef cssClass, double x, double width,
                         double inset, StringRef label, StringRef title) {
  double shown = std::max(width, kTiny);
  // Leave a small gap to the next rectangle.
  if (shown > 3)
    shown -= 0.6;
  out << "<rect class=\"" << cssClass << "\" x=\"" << formatLength(x)
      << "\" y=\"" << formatLength(y + inset) << "\" width=\""
      << formatLength(shown) << "\" height=\""
      << formatLength(kRowHeight - 2 * inset) << "\"";
  if (shown > 6)
    out << " rx=\"2\"";
  out << "><title>" << escapeXml(title) << "</title></rect>\n";
  constexpr double characterWidth = 6.7;
  auto room = static_cast<size_t>(std::max(0.0, (shown - 8) / characterWidth));
  size_t length = countCharacters(label);
  if (label.empty() || room < std::min<size_t>(length, 4))
    return;
  std::string text = label.str();
  if (length > room)
    text = takeCharacters(label, room - 1).str() + "\u2026";
  labels << "<text class=\"in " << cssClass << "-text\" x=\""
         << formatLength(x + shown / 2) << "\" y=\"" << formatLength(y + 16.5)
         << "\">" << escapeXml(text) << "</text>\n";
}

void SvgPrinter::drawTrack(const SlicedFunction &sliced, unsigned track) {
  // Skip slices without duration.
  std::vector<const ReportSlice *> shown;
  for (const ReportSlice &slice : sliced.slices)
    if (slice.track == track && slice.endNs > slice.startNs)
      shown.push_back(&slice);
  for (size_t i = 0; i < shown.size();) {
    const ReportSlice *first = shown[i];
    double x = getX(first->startNs);
    // Slices within `kTiny` become one rectangle of the kind with the most
    // time.
    std::array<int64_t, kNumSliceKinds> sumNs = {};
    int64_t untilNs = first->endNs;
    size_t end = i;
    while (end < shown.size() &&
           (end == i || getX(shown[end]->endNs) - x < kTiny)) {
      const ReportSlice &slice = *shown[end++];
      sumNs[static_cast<size_t>(slice.kind)] += slice.endNs - slice.startNs;
      untilNs = std::max(untilNs, slice.endNs);
    }
    double width = getX(untilNs) - x;
    if (end == i + 1) {
      // Nested slices are inset.
      drawBox(getClass(first->kind), x, width, std::min(first->depth, 3u) * 2.0,
              first->kind == SliceKind::Wait ? "waits"
                                             : getDisplayName(*first->node),
              getSliceTitle(*first));
    } else {
      auto kind = static_cast<SliceKind>(
          std::max_element(sumNs.begin(), sumNs.end()) - sumNs.begin());
      drawBox(getClass(kind), x, width, 0, "",
              std::to_string(end - i) + " ops, " + formatTime(first->startNs) +
                  " to " + formatTime(untilNs));
    }
    i = end;
  }
}

void SvgPrinter::drawExposed(const SlicedFunction &sliced, unsigned track) {
  const ExposedInterval *first = nullptr;
  int64_t untilNs = 0, sumNs = 0, count = 0;
  auto flush = [&] {
    if (!first)
      return;
    const ReportedNode &node = *sliced.slices[first->slice].node;
    std::string title = "exposed for " + formatTime(sumNs);
    if (count > 1)
      title = std::to_string(count) + " operations " + title;
    else
      title = getDisplayName(node).str() + " " + title +
              (node.reason.empty() ? "" : ": " + node.reason);
    double x = getX(first->startNs);
    out << "<rect class=\"exposed\" x=\"" << formatLength(x) << "\" y=\""
        << formatLength(y) << "\" width=\""
        << formatLength(std::max(kTiny, getX(untilNs) - x)) << "\" height=\""
        << formatLength(kRowHeight) << "\"><title>" << escapeXml(title)
        << "</title></rect>\n";
    first = nullptr;
  };
  for (const ExposedInterval &interval : sliced.exposed) {
    if (interval.track != track)
      continue;
    if (first && (getX(interval.endNs) - getX(first->startNs) > 8 * kTiny ||
                  getX(interval.startNs) - getX(untilNs) >= kTiny))
      flush();
    if (!first) {
      first = &interval;
      sumNs = count = 0;
      untilNs = interval.endNs;
    }
    untilNs = std::max(untilNs, interval.endNs);
    sumNs += interval.endNs - interval.startNs;
    ++count;
  }
  flush();
}

void SvgPrinter::drawAxis() {
  int64_t step = getTickStep(lengthNs, 8);
  double top = y;
  out << "<line class=\"axis\" x1=\"" << formatLength(kLeft) << "\" y1=\""
      << formatLength(top) << "\" x2=\"" << formatLength(kWidth - kRight)
      << "\" y2=\"" << formatLength(top) << "\"/>\n";
  for (int64_t ns = 0; ns <= lengthNs; ns += step) {
    double x = getX(ns);
    out << "<line class=\"axis\" x1=\"" << formatLength(x) << "\" y1=\""
        << formatLength(top) << "\" x2=\"" << formatLength(x) << "\" y2=\""
        << formatLength(top + 4) << "\"/>\n";
    // A label at the right edge would leave the picture.
    if (x < kWidth - 50)
      drawText("tick", x, top + 16, formatTick(ns));
    if (ns > lengthNs - step)
      break;
  }
  y += kAxisHeight;
}

void SvgPrinter::drawMemory(const ReportedFunction &function) {
  int64_t peak = std::max<int64_t>(1, function.totals.peakBytes);
  std::optional<int64_t> limit = report.getMemoryLimit();
  // A limit far above the peak would flatten the curve, so it is only printed.
  bool showsLimit = limit && *limit / 3 <= peak;
  auto most = static_cast<double>(showsLimit ? std::max(*limit, peak) : peak);
  auto getY = [&](int64_t bytes) {
    return y + kMemoryHeight -
           static_cast<double>(bytes) / most * (kMemoryHeight - 6);
  };
  drawText("row", 8, y + 20, "memory");
  drawText("note", 8, y + 36, "peak " + formatBytes(function.totals.peakBytes));
  if (limit)
    drawText(report.getExcessBytes(function.totals) > 0 ? "note over" : "note",
             8, y + 50, "limit " + formatBytes(*limit));

  // The maximum and the last value for each half unit of width.
  std::string outline;
  llvm::raw_string_ostream path(outline);
  path << "M" << formatLength(kLeft) << "," << formatLength(y + kMemoryHeight);
  int64_t last = 0;
  const auto &curve = function.memoryCurve;
  for (size_t i = 0; i < curve.size();) {
    double x = getX(curve[i].ns);
    int64_t highest = curve[i].bytes;
    size_t end = i;
    while (end < curve.size() && getX(curve[end].ns) - x < kTiny)
      highest = std::max(highest, curve[end++].bytes);
    path << "L" << formatLength(x) << "," << formatLength(getY(last));
    if (highest != curve[end - 1].bytes)
      path << "V" << formatLength(getY(highest));
    last = curve[end - 1].bytes;
    path << "V" << formatLength(getY(last));
    i = end;
  }
  double endX = getX(function.totals.makespanNs);
  path << "H" << formatLength(endX) << "V" << formatLength(y + kMemoryHeight)
       << "Z";
  out << "<path class=\"memory\" d=\"" << outline << "\"><title>memory, peak "
      << formatBytes(function.totals.peakBytes) << "</title></path>\n";
  if (int64_t excess = report.getExcessBytes(function.totals)) {
    unsigned clip = numClips++;
    out << "<clipPath id=\"above-" << clip << "\"><rect width=\""
        << formatLength(kWidth) << "\" height=\"" << formatLength(getY(*limit))
        << "\"/></clipPath>\n<path class=\"excess\" clip-path=\"url(#above-"
        << clip << ")\" d=\"" << outline << "\"><title>" << formatBytes(excess)
        << " above the limit</title></path>\n";
  }
  if (showsLimit)
    out << "<line class=\"limit\" x1=\"" << formatLength(kLeft) << "\" y1=\""
        << formatLength(getY(*limit)) << "\" x2=\""
        << formatLength(kWidth - kRight) << "\" y2=\""
        << formatLength(getY(*limit)) << "\"><title>limit "
        << formatBytes(*limit) << "</title></line>\n";
  y += kMemoryHeight + 4;
}

void SvgPrinter::drawPanel(const ReportedProgram &program,
                           const ReportedFunction &function, StringRef title,
                           llvm::ArrayRef<std::string> lanes) {
  const TimelineTotals &totals = function.totals;
  std::string summary = formatTime(totals.makespanNs);
  if (totals.exposedNs > 0 || function.hiddenFraction)
    summary += ", " + formatTime(totals.exposedNs) + " exposed";
  if (function.hiddenFraction)
    summary += ", " + formatPercent(*function.hiddenFraction) +
               " of communication hidden";
  if (std::optional<double> gap = getGap(totals))
    summary += ", lower bound " + formatTime(totals.lowerBoundNs) + " (+" +
               formatPercent(*gap) + ")";
  out << "<text class=\"title\" x=\"8\" y=\"" << formatLength(y + 14)
      << "\"><tspan class=\"strong\">" << escapeXml(title) << "</tspan> "
      << escapeXml(summary);
  if (int64_t excess = report.getExcessBytes(totals))
    out << " <tspan class=\"strong over\">memory limit exceeded by "
        << formatBytes(excess) << "</tspan>";
  out << "</text>\n";
  y += kTitleHeight;

  SlicedFunction sliced =
      sliceFunction(program, function, lanes, kMaxDrawnSlices);
  for (auto [track, row] : llvm::enumerate(sliced.tracks)) {
    std::string name = row.isStream ? "compute" : "lane " + row.getName();
    if (countCharacters(name) > 20)
      name = takeCharacters(name, 19).str() + "\u2026";
    drawText("row", 8, y + 16.5, name);
    out << "<rect class=\"lane\" x=\"" << formatLength(kLeft) << "\" y=\""
        << formatLength(y) << "\" width=\""
        << formatLength(kWidth - kRight - kLeft) << "\" height=\""
        << formatLength(kRowHeight) << "\"/>\n";
    drawTrack(sliced, track);
    drawExposed(sliced, track);
    out << rowLabels;
    rowLabels.clear();
    y += kRowHeight + kRowGap;
  }
  drawMemory(function);
  drawAxis();
  if (!sliced.isComplete) {
    drawText("note", kLeft, y + 6, "loops show their first trip alone");
    y += 12;
  }
  y += kPanelGap;
}

void SvgPrinter::drawFunction(const ReportedFunction *before,
                              const ReportedFunction *after) {
  lengthNs = 1;
  std::vector<std::string> lanes;
  if (before) {
    lengthNs = std::max(lengthNs, before->totals.makespanNs);
    collectLanes(*report.before, *before, lanes);
  }
  if (after) {
    lengthNs = std::max(lengthNs, after->totals.makespanNs);
    collectLanes(report.after, *after, lanes);
  }
  scale = (kWidth - kLeft - kRight) / static_cast<double>(lengthNs);
  drawText("heading", 8, y + 16, "@" + (after ? after : before)->name);
  y += 28;
  if (before)
    drawPanel(*report.before, *before, "before", lanes);
  if (after)
    drawPanel(report.after, *after, report.before ? "after" : "", lanes);
}

void SvgPrinter::drawLegend() {
  double x = 8;
  for (auto [cssClass, text] :
       {std::pair("compute", "compute"), std::pair("side", "side stream"),
        std::pair("comm", "communication"), std::pair("exposed", "exposed"),
        std::pair("wait", "stream waits"), std::pair("body", "loop or call")}) {
    auto drawKey = [&](StringRef key) {
      out << "<rect class=\"" << key << "\" x=\"" << formatLength(x)
          << "\" y=\"" << formatLength(y)
          << "\" width=\"16\" height=\"14\"/>\n";
    };
    // Exposed time is drawn on top of its operation.
    if (StringRef(cssClass) == "exposed")
      drawKey("comm");
    drawKey(cssClass);
    drawText("note", x + 22, y + 11, text);
    x += 42 + 6.5 * static_cast<double>(StringRef(text).size());
  }
  y += 26;
}

void SvgPrinter::print() {
  y = 12;
  std::string heading = "machine " + report.machine + ", collective model " +
                        report.collectiveModel + ", " +
                        std::to_string(report.ranks) + " ranks";
  if (report.before)
    heading += ", passes " + report.passes;
  drawText("note", 8, y + 4, heading);
  y += 18;
  drawLegend();
  size_t numDrawn = 0, numLeft = 0;
  auto draw = [&](const ReportedFunction *before,
                  const ReportedFunction *after) {
    if (numDrawn == kMaxFunctions) {
      ++numLeft;
      return;
    }
    ++numDrawn;
    drawFunction(before, after);
  };
  for (const auto &[before, after] : pairFunctions(report))
    draw(before, after);
  if (numLeft > 0) {
    drawText("note", 8, y, std::to_string(numLeft) + " more functions");
    y += 16;
  }

  os << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 "
     << formatLength(kWidth) << " " << formatLength(y)
     << "\" role=\"img\" aria-label=\"Timelines of a program\">\n"
     << "<style>\n"
        "svg{font:12px system-ui,'Segoe UI',Helvetica,Arial,sans-serif;"
        "--ink:#1c2733;--muted:#5b6b7a;--bg:#fff;--lane:#f3f6f8;"
        "--line:#c3ced8;--compute:#3d70b2;--side:#7a5ea8;--comm:#5aa469;"
        "--bad:#cf3f4f;--stall:#fbdcd9;--body:#e3e9f0;--memory:#bcd3ec}\n"
        "@media(prefers-color-scheme:dark){svg{--ink:#e6edf3;--muted:#9fb0c0;"
        "--bg:#12171d;--lane:#1b222b;--line:#3d4a57;--compute:#4c82c8;"
        "--side:#9078c4;--comm:#4f9a60;--bad:#ff6b78;--stall:#51262b;"
        "--body:#2a3440;--memory:#2c4a6b}}\n"
        ".bg{fill:var(--bg)}.lane{fill:var(--lane)}text{fill:var(--ink)}\n"
        ".heading{font-size:15px;font-weight:600}.strong{font-weight:600}\n"
        ".note,.tick,.row{fill:var(--muted)}.tick{font-size:11px;"
        "text-anchor:middle}.over{fill:var(--bad)}\n"
        ".in{font-size:11px;text-anchor:middle;fill:#fff;pointer-events:none}"
        ".comm-text{paint-order:stroke;stroke:var(--comm);stroke-width:3px}"
        ".wait-text,.body-text,.rest-text{fill:var(--ink)}\n"
        ".compute{fill:var(--compute)}.side{fill:var(--side)}"
        ".comm{fill:var(--comm)}.wait{fill:var(--stall)}\n"
        ".body,.rest{fill:var(--body);stroke:var(--line)}"
        ".rest{stroke-dasharray:3 2}\n"
        ".exposed,.excess{fill:url(#hatch)}.memory{fill:var(--memory)}\n"
        ".axis{stroke:var(--line)}.limit{stroke:var(--bad);stroke-width:1.5;"
        "stroke-dasharray:6 3}\n"
        "</style>\n"
        "<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" "
        "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">"
        "<rect width=\"3.4\" height=\"6\" style=\"fill:var(--bad)\"/>"
        "</pattern></defs>\n"
     << "<rect class=\"bg\" width=\"100%\" height=\"100%\"/>\n"
     << body << "</svg>\n";
}

void braid::printSvg(const Report &report, raw_ostream &os) {
  if (report.comparison)
    return printComparisonSvg(*report.comparison, os);
  SvgPrinter(report, os).print();
}
