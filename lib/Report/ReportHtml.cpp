//===- ReportHtml.cpp - Reports as pages ----------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ReportPage/ has the page, its style and its script. The page contains the
// report as JSON, in rows whose columns page.js names. The page's policy allows
// only this style and this script, by their hashes, so that no label of a
// program can run as a script, and the page fetches nothing.
//
//===----------------------------------------------------------------------===//

#include "ReportFormat.h"
#include "ReportSlices.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
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
/// Writes the data of one page.
class PageData {
public:
  PageData(const Report &report, OStream &json) : report(report), json(json) {}

  void print();

private:
  void printTimeline(StringRef key, const ReportedProgram &program,
                     const ReportedFunction *function,
                     llvm::ArrayRef<std::string> lanes);
  void printNodes(const SlicedFunction &sliced,
                  const std::vector<const ReportedNode *> &nodes);
  void printCollectives(
      const ReportedProgram &program, const ReportedFunction &function,
      const llvm::DenseMap<const ReportedNode *, int64_t> &positions);

  const Report &report;
  OStream &json;
  /// The number of slices that the page may still add.
  size_t slicesLeft = kMaxSlices;
};
} // namespace

void PageData::printNodes(const SlicedFunction &sliced,
                          const std::vector<const ReportedNode *> &nodes) {
  json.attributeArray("nodes", [&] {
    for (const ReportedNode *node : nodes)
      json.array([&] {
        json.value(node->label);
        json.value(node->op);
        json.value(node->type);
        json.value(node->costNs);
        json.value(node->costSource);
        json.value(node->group.empty() ? node->valueBytes : node->bytes);
        json.value(node->group);
        json.value(node->groupSize);
        json.value(node->times.exposedNs);
        json.value(node->reason);
        json.value(node->times.lostNs);
      });
  });
}

void PageData::printCollectives(
    const ReportedProgram &program, const ReportedFunction &function,
    const llvm::DenseMap<const ReportedNode *, int64_t> &positions) {
  const ReportedProgram *before =
      report.before && &program == &report.after ? &*report.before : nullptr;
  json.attributeArray("collectives", [&] {
    for (const ReportedCollective &collective :
         listCollectives(function, before))
      json.array([&] {
        const ReportedNode &node = *collective.node;
        json.value(node.label);
        json.value(node.kind);
        json.value(node.group);
        json.value(node.groupSize);
        json.value(node.bytes);
        json.value(collective.runs);
        json.value(node.costNs);
        json.value(node.costSource);
        json.value(collective.exposedNs);
        json.value(collective.exposedBeforeNs);
        json.value(node.reason);
        auto it = positions.find(&node);
        json.value(it == positions.end() ? -1 : it->second);
      });
  });
}

void PageData::printTimeline(StringRef key, const ReportedProgram &program,
                             const ReportedFunction *function,
                             llvm::ArrayRef<std::string> lanes) {
  if (!function) {
    json.attribute(key, nullptr);
    return;
  }
  SlicedFunction sliced = sliceFunction(program, *function, lanes, slicesLeft);
  slicesLeft -= std::min(slicesLeft, sliced.slices.size());
  // Each op once, even if it runs several times.
  std::vector<const ReportedNode *> nodes;
  llvm::DenseMap<const ReportedNode *, int64_t> positions;
  for (const ReportSlice &slice : sliced.slices)
    if (positions.try_emplace(slice.node, nodes.size()).second)
      nodes.push_back(slice.node);

  const TimelineTotals &totals = function->totals;
  json.attributeObject(key, [&] {
    json.attribute("makespan", totals.makespanNs);
    json.attribute("compute", totals.computeNs);
    json.attribute("communication", totals.communicationNs);
    json.attribute("exposed", totals.exposedNs);
    json.attribute("lowerBound", totals.lowerBoundNs);
    json.attribute("lowerBoundKind", function->lowerBoundKind);
    json.attribute("peak", totals.peakBytes);
    printFraction(json, "gap", getGap(totals));
    printFraction(json, "hidden", function->hiddenFraction);
    json.attribute("isComplete", sliced.isComplete);
    json.attributeArray("tracks", [&] {
      for (const ReportTrack &track : sliced.tracks)
        json.value(track.isStream ? "compute" : "lane " + track.getName());
    });
    printNodes(sliced, nodes);
    json.attributeArray("slices", [&] {
      for (const ReportSlice &slice : sliced.slices)
        json.array([&] {
          json.value(static_cast<int64_t>(slice.kind));
          json.value(positions[slice.node]);
          json.value(slice.track);
          json.value(slice.startNs);
          json.value(slice.endNs);
          json.value(slice.depth);
          json.value(slice.tripCount);
        });
    });
    json.attributeArray("exposedParts", [&] {
      for (const ExposedInterval &interval : sliced.exposed)
        json.array([&] {
          json.value(interval.track);
          json.value(interval.startNs);
          json.value(interval.endNs);
          json.value(interval.slice);
        });
    });
    json.attributeArray("memory", [&] {
      for (const MemorySample &sample : function->memoryCurve)
        json.array([&] {
          json.value(sample.ns);
          json.value(sample.bytes);
        });
    });
    printCollectives(program, *function, positions);
  });
}

void PageData::print() {
  json.object([&] {
    json.attribute("machine", report.machine);
    json.attribute("collectiveModel", report.collectiveModel);
    json.attribute("ranks", report.ranks);
    json.attribute("passes", report.before ? llvm::json::Value(report.passes)
                                           : llvm::json::Value(nullptr));
    json.attribute("numerics", escapeControls(describeNumerics(report)));
    json.attribute("memoryLimit", report.getMemoryLimit());
    json.attributeArray("functions", [&] {
      for (const FunctionPair &pair : pairFunctions(report))
        json.object([&] {
          std::vector<std::string> lanes;
          if (pair.before)
            collectLanes(*report.before, *pair.before, lanes);
          if (pair.after)
            collectLanes(report.after, *pair.after, lanes);
          json.attribute("name", (pair.after ? pair.after : pair.before)->name);
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
  std::string comparison;
  llvm::raw_string_ostream comparisonStream(comparison);
  if (report.comparison)
    printComparisonHtml(*report.comparison, comparisonStream);
  insert("@comparison@", comparison);
  insert("@report@", escapeForScript(data));
  insert("@script@", kPageJs);
  os << rest;
}
