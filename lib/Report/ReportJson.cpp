//===- ReportJson.cpp - Reports as JSON -----------------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Report/Report.h"

#include "ReportFormat.h"

#include "braid/Support/Text.h"
#include "llvm/Support/JSON.h"

using namespace braid;
using llvm::json::OStream;

static void writeTotals(const TimelineTotals &totals, OStream &json) {
  json.attribute("makespan_ns", totals.makespanNs);
  json.attribute("compute_ns", totals.computeNs);
  json.attribute("communication_ns", totals.communicationNs);
  json.attribute("exposed_ns", totals.exposedNs);
  json.attribute("lower_bound_ns", totals.lowerBoundNs);
  json.attribute("peak_bytes", totals.peakBytes);
  printFraction(json, "gap", getGap(totals));
}

static void writeNodes(const std::vector<ReportedNode> &nodes, OStream &json) {
  json.attributeArray("nodes", [&] {
    for (const ReportedNode &node : nodes)
      json.object([&] {
        json.attribute("label", node.label);
        json.attribute("kind", node.kind);
        json.attribute("lane", node.lane);
        json.attribute("start_ns", node.times.startNs);
        json.attribute("end_ns", node.times.endNs);
        json.attribute("cost_source", node.costSource);
        json.attribute("op", node.op);
        json.attribute("type", node.type);
        json.attribute("bytes",
                       node.group.empty() ? node.valueBytes : node.bytes);
        json.attribute("cost_ns", node.costNs);
        if (!node.signature.empty())
          json.attribute("signature", node.signature);
        json.attribute("issued_ns", node.times.issuedNs);
        json.attribute("hidden", node.hidden);
        json.attribute("lost_ns", node.times.lostNs);
        if (node.role == StreamRole::Start)
          json.attribute("exposed_ns", node.times.exposedNs);
        if (node.bodies.empty())
          return;
        json.attributeArray("bodies", [&] {
          for (const ReportedBody &body : node.bodies)
            json.object([&] {
              json.attribute("region", body.regionNumber);
              json.attribute("trip_count", body.tripCount);
              writeTotals(body.totals, json);
              writeNodes(body.nodes, json);
            });
        });
      });
  });
}

static void printFunction(const Report &report,
                          const ReportedFunction &function,
                          const ReportedProgram *before, OStream &json) {
  json.object([&] {
    json.attribute("name", function.name);
    writeTotals(function.totals, json);
    printFraction(json, "hidden_fraction", function.hiddenFraction);
    json.attribute("lower_bound_kind", function.lowerBoundKind);
    json.attribute("memory_excess_bytes",
                   report.getExcessBytes(function.totals));
    writeNodes(function.nodes, json);
    json.attributeArray("collectives", [&] {
      for (const ReportedCollective &collective :
           listCollectives(function, before))
        json.object([&] {
          const ReportedNode &node = *collective.node;
          json.attribute("label", node.label);
          json.attribute("kind", node.kind);
          json.attribute("group", node.group);
          json.attribute("group_size", node.groupSize);
          json.attribute("bytes", node.bytes);
          json.attribute("runs", collective.runs);
          json.attribute("cost_ns", node.costNs);
          json.attribute("cost_source", node.costSource);
          json.attribute("exposed_ns", collective.exposedNs);
          if (before)
            json.attribute("exposed_before_ns", collective.exposedBeforeNs);
          json.attribute("reason", node.reason);
        });
    });
    json.attributeArray("memory", [&] {
      for (const MemorySample &sample : function.memoryCurve)
        json.object([&] {
          json.attribute("ns", sample.ns);
          json.attribute("bytes", sample.bytes);
        });
    });
  });
}

void braid::printReport(const Report &report, OStream &json) {
  json.object([&] {
    json.attribute("machine", report.machine);
    json.attribute("collective_model", report.collectiveModel);
    json.attribute("ranks", report.ranks);
    json.attribute("dynamic_size", report.dynamicSize);
    json.attribute("memory_limit_bytes", report.getMemoryLimit());
    json.attribute("max_memory_bytes", report.maxMemory);
    if (report.before)
      json.attribute("passes", report.passes);
    json.attributeObject("numerics", [&] {
      json.attribute("class", report.reorderedSums.empty()
                                  ? "same bits"
                                  : "other order of sums");
      json.attributeArray("reordered_sums", [&] {
        for (const ReportedSum &sum : report.reorderedSums)
          json.object([&] {
            json.attribute("operation", sum.operation);
            json.attribute("site", escapeControls(sum.site));
            json.attribute("reason", sum.reason);
          });
      });
    });
    if (report.comparison) {
      json.attributeBegin("comparison");
      printComparisonJson(*report.comparison, json);
      json.attributeEnd();
    }
    json.attributeArray("functions", [&] {
      for (const ReportedFunction &function : report.after)
        printFunction(report, function,
                      report.before ? &*report.before : nullptr, json);
    });
    if (!report.before)
      return;
    json.attributeArray("before", [&] {
      for (const ReportedFunction &function : *report.before)
        printFunction(report, function, nullptr, json);
    });
  });
}

void braid::printJson(const Report &report, llvm::raw_ostream &os) {
  OStream json(os, /*IndentSize=*/2);
  printReport(report, json);
  json.flush();
  os << "\n";
}
