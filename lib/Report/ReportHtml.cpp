//===- ReportHtml.cpp - Reports as pages ----------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ReportPage/ has the page, its style and its script, which draws the report.
// The page contains the report as JSON, and beside it the slices of timelines,
// in rows whose columns page.js names. The page's policy allows only this style
// and this script, by their hashes, so that no label of a program can run as a
// script, and the page fetches nothing.
//
//===----------------------------------------------------------------------===//

#include "ReportFormat.h"
#include "ReportSlices.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SHA256.h"

#include "ReportPage.inc"

using namespace braid;
using llvm::StringRef;
using llvm::json::OStream;

/// The most slices of a page that browsers draw quickly.
static constexpr size_t kMaxSlices = 200000;

namespace {
/// Writes the slices of one page.
class PageData {
public:
  PageData(const Report &report, OStream &json) : report(report), json(json) {}

  void print();

private:
  void printTimeline(StringRef key, const ReportedProgram &program,
                     const ReportedFunction *function,
                     llvm::ArrayRef<std::string> lanes);

  const Report &report;
  OStream &json;
  /// The number of slices that the page may still add.
  size_t slicesLeft = kMaxSlices;
};
} // namespace

using NodeNumbers = llvm::DenseMap<const ReportedNode *, int64_t>;

/// Numbers nodes before those of their bodies, as page.js does.
static void numberNodes(llvm::ArrayRef<ReportedNode> nodes,
                        NodeNumbers &numbers) {
  for (const ReportedNode &node : nodes) {
    numbers.try_emplace(&node, numbers.size());
    for (const ReportedBody &body : node.bodies)
      numberNodes(body.nodes, numbers);
  }
}

void PageData::printTimeline(StringRef key, const ReportedProgram &program,
                             const ReportedFunction *function,
                             llvm::ArrayRef<std::string> lanes) {
  if (!function)
    return;
  SlicedFunction sliced = sliceFunction(program, *function, lanes, slicesLeft);
  slicesLeft -= std::min(slicesLeft, sliced.slices.size());
  NodeNumbers numbers;
  for (const ReportedFunction &other : program)
    numberNodes(other.nodes, numbers);

  auto printRow = [&](std::initializer_list<int64_t> values) {
    json.array([&] {
      for (int64_t value : values)
        json.value(value);
    });
  };
  json.attributeObject(key, [&] {
    json.attribute("function", function - program.data());
    json.attribute("isComplete", sliced.isComplete);
    json.attributeArray("tracks", [&] {
      for (const ReportTrack &track : sliced.tracks)
        json.value(track.isStream ? "compute" : "lane " + track.getName());
    });
    json.attributeArray("slices", [&] {
      for (const ReportSlice &slice : sliced.slices)
        printRow({static_cast<int64_t>(slice.kind), numbers[slice.node],
                  slice.track, slice.startNs, slice.endNs, slice.depth,
                  slice.tripCount});
    });
    json.attributeArray("exposedParts", [&] {
      for (const ExposedInterval &interval : sliced.exposed)
        printRow(
            {interval.track, interval.startNs, interval.endNs, interval.slice});
    });
  });
}

void PageData::print() {
  json.object([&] {
    json.attributeBegin("report");
    printReport(report, json);
    json.attributeEnd();
    json.attributeArray("timelines", [&] {
      for (const FunctionPair &pair : pairFunctions(report))
        json.object([&] {
          std::vector<std::string> lanes;
          if (pair.before)
            collectLanes(*report.before, *pair.before, lanes);
          if (pair.after)
            collectLanes(report.after, *pair.after, lanes);
          printTimeline("before", report.before ? *report.before : report.after,
                        pair.before, lanes);
          printTimeline("after", report.after, pair.after, lanes);
        });
    });
  });
}

/// Escapes JSON so that no browser parses its strings as markup.
static std::string escapeForScript(StringRef json) {
  std::string result;
  result.reserve(json.size());
  for (char c : json) {
    if (c == '<')
      result += "\\u003c";
    else if (c == '>')
      result += "\\u003e";
    else if (c == '&')
      result += "\\u0026";
    else
      result += c;
  }
  return result;
}

/// The source expression of a Content-Security-Policy that allows only `text`.
static std::string getPolicySource(StringRef text) {
  std::array<uint8_t, 32> hash =
      llvm::SHA256::hash(llvm::arrayRefFromStringRef(text));
  return "'sha256-" + llvm::encodeBase64(hash) + "'";
}

void braid::printHtml(const Report &report, llvm::raw_ostream &os) {
  std::string data;
  llvm::raw_string_ostream dataStream(data);
  OStream json(dataStream);
  PageData(report, json).print();
  json.flush();

  std::string policy = "default-src 'none'; script-src " +
                       getPolicySource(kPageJs) + "; style-src " +
                       getPolicySource(kPageCss) +
                       "; base-uri 'none'; form-action 'none'";
  // The placeholders of the page are in this order.
  StringRef rest = kPageHtml;
  auto insert = [&](StringRef mark, StringRef text) {
    auto [head, tail] = rest.split(mark);
    os << head << text;
    rest = tail;
  };
  insert("@policy@", policy);
  insert("@style@", kPageCss);
  insert("@report@", escapeForScript(data));
  insert("@script@", kPageJs);
  os << rest;
}
