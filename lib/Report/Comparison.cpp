//===- Comparison.cpp - Predicted beside measured times -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MeasuredTrace.h"
#include "SortByTime.h"

#include "braid/Report/Report.h"
#include "braid/Support/Units.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <deque>
#include <map>

using namespace braid;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

/// The most ops of a comparison.
static constexpr size_t kMaxOps = 200000;

namespace {
/// An op that runs once.
struct PredictedOp {
  const ReportedNode *node;
  int64_t startNs, endNs;
};

/// Work of the compute stream without a break: one matmul, or all that is
/// between two matmuls or two calls.
struct Stretch {
  std::string name;
  int64_t startNs = 0, endNs = 0;
  bool isEmpty = true;
  /// Of predictions: the ops, and their costs.
  std::vector<const ReportedNode *> nodes;

  void add(int64_t start, int64_t end) {
    startNs = isEmpty ? start : std::min(startNs, start);
    endNs = isEmpty ? end : std::max(endNs, end);
    isEmpty = false;
  }
  void add(const PredictedOp &op) {
    add(op.startNs, op.endNs);
    nodes.push_back(op.node);
  }
};

class Comparer {
public:
  Comparer(const ReportedProgram &program, const MeasuredRun &run)
      : program(program), run(run) {}

  Expected<Comparison> compare();

private:
  bool addNodes(const std::vector<ReportedNode> &nodes, int64_t offsetNs,
                unsigned depth);
  void compareCollectives();
  Error compareCalls();
  Error compareMatmuls();
  void addOp(StringRef name, StringRef lane, const Stretch &predicted,
             const Stretch &measured);
  void addUnmatched(const llvm::Twine &text) {
    result.unmatched.push_back(text.str());
  }

  const ReportedProgram &program;
  const MeasuredRun &run;
  std::vector<PredictedOp> ops;
  int64_t originNs = 0;
  Comparison result;
};
} // namespace

/// Adds what `nodes` run, in the order of the program. False if there are too
/// many.
bool Comparer::addNodes(const std::vector<ReportedNode> &nodes,
                        int64_t offsetNs, unsigned depth) {
  constexpr unsigned deepest = 256;
  if (depth > deepest)
    return false;
  for (const ReportedNode &node : nodes) {
    int64_t startNs = addNs(node.times.startNs, offsetNs);
    if (ops.size() >= kMaxOps)
      return false;
    if (node.callee) {
      if (!addNodes(program[*node.callee].nodes, startNs, depth + 1))
        return false;
      continue;
    }
    if (node.bodies.empty()) {
      ops.push_back({&node, startNs, addNs(node.times.endNs, offsetNs)});
      continue;
    }
    int64_t atNs = startNs;
    for (int64_t trip = 0; trip < node.bodies.front().tripCount; ++trip) {
      size_t numBefore = ops.size();
      for (const ReportedBody &body : node.bodies) {
        if (!body.counts)
          continue;
        if (!addNodes(body.nodes, atNs, depth + 1))
          return false;
        atNs = addNs(atNs, body.totals.makespanNs);
      }
      // All trips run the same ops: none.
      if (ops.size() == numBefore)
        break;
    }
  }
  return true;
}

void Comparer::addOp(StringRef name, StringRef lane, const Stretch &predicted,
                     const Stretch &measured) {
  if (predicted.isEmpty && measured.isEmpty)
    return;
  ComparedOp op;
  op.name = name.str();
  op.lane = lane.str();
  op.predictedStartNs = predicted.startNs;
  op.predictedEndNs = predicted.endNs;
  op.measuredStartNs = measured.isEmpty ? 0 : measured.startNs - originNs;
  op.measuredEndNs = measured.isEmpty ? 0 : measured.endNs - originNs;
  if (op.getPredictedNs() > 0 && !measured.isEmpty)
    for (const ReportedNode *node : predicted.nodes)
      if (!node->signature.empty() && node->costNs > 0)
        op.costs.emplace_back(node->signature,
                              static_cast<double>(node->costNs) *
                                  static_cast<double>(op.getMeasuredNs()) /
                                  static_cast<double>(op.getPredictedNs()));
  result.ops.push_back(std::move(op));
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// Whether only the run knows the sizes of an operation.
static bool isDynamic(const ReportedNode &node) {
  return StringRef(node.type).contains('?');
}

/// Operations of one kind, label and group match in the order of their begins.
/// Operations with static sizes match first, and need the same size; sizes that
/// only the run knows match what is left.
void Comparer::compareCollectives() {
  using Key = std::tuple<std::string, std::string, std::string>;
  // By the elements of their operands, in the order of their begins.
  using Events = std::map<int64_t, std::deque<const MeasuredEvent *>>;
  std::map<Key, Events> measured;
  for (const MeasuredEvent &event : run.events)
    if (event.kind == MeasuredKind::Collective)
      measured[{event.name, event.collective, event.group}][event.elements]
          .push_back(&event);
  auto findNext = [](Events &events, const ReportedNode &node) {
    if (!isDynamic(node))
      return events.find(static_cast<int64_t>(node.inputElements));
    return llvm::min_element(events, [](const auto &a, const auto &b) {
      return a.second.front()->startNs < b.second.front()->startNs;
    });
  };
  for (bool isDynamicTurn : {false, true})
    for (const PredictedOp &op : ops) {
      const ReportedNode &node = *op.node;
      if (node.role != StreamRole::Start || node.group.empty() ||
          isDynamic(node) != isDynamicTurn)
        continue;
      std::string name = node.label.empty() ? node.kind : node.label;
      Events &events = measured[{name, node.kind, node.group}];
      auto found = findNext(events, node);
      if (found == events.end()) {
        addUnmatched(node.kind + " \"" + name + "\" of @" + node.group +
                     ": the run has not measured it");
        continue;
      }
      const MeasuredEvent &event = *found->second.front();
      found->second.pop_front();
      if (found->second.empty())
        events.erase(found);
      Stretch predicted, ran;
      predicted.add(op);
      ran.add(event.startNs, event.endNs);
      addOp(name, node.lane, predicted, ran);
    }
  for (const auto &[key, events] : measured) {
    size_t count = 0;
    for (const auto &[elements, left] : events)
      count += left.size();
    if (count)
      addUnmatched(std::get<1>(key) + " \"" + std::get<0>(key) + "\" of @" +
                   std::get<2>(key) + ": the run has measured " +
                   llvm::Twine(count) + " that the program does not have");
  }
}

//===----------------------------------------------------------------------===//
// Compute
//===----------------------------------------------------------------------===//

/// On the host the run tells apart only what is between calls.
Error Comparer::compareCalls() {
  std::vector<Stretch> predicted(1), measured(1);
  for (const PredictedOp &op : ops) {
    const ReportedNode &node = *op.node;
    bool isCall = node.role == StreamRole::Wait ||
                  (node.role == StreamRole::Start && !node.group.empty());
    if (!isCall) {
      if (op.endNs > op.startNs && node.role == StreamRole::Compute)
        predicted.back().add(op);
      continue;
    }
    std::string name = node.label;
    if (name.empty() && node.role == StreamRole::Start)
      name = node.kind;
    predicted.back().name = node.role == StreamRole::Wait
                                ? "compute before wait"
                                : "compute before start";
    if (!name.empty())
      predicted.back().name += " \"" + name + "\"";
    predicted.emplace_back();
  }
  predicted.back().name = "compute before the end";
  int64_t atNs = run.startNs;
  for (const MeasuredEvent &event : run.events) {
    if (event.kind != MeasuredKind::Start && event.kind != MeasuredKind::Wait)
      continue;
    measured.back().add(atNs, std::max(atNs, event.startNs));
    measured.emplace_back();
    atNs = event.endNs;
  }
  measured.back().add(atNs, std::max(atNs, run.endNs));
  if (predicted.size() != measured.size())
    return llvm::createStringError(
        "found a run with " + llvm::Twine(measured.size() - 1) +
        " starts and waits, expected the " + llvm::Twine(predicted.size() - 1) +
        " of @" + run.function + "; the passes have to be those of the run");
  for (auto [ofProgram, ofRun] : llvm::zip_equal(predicted, measured))
    if (!ofProgram.isEmpty)
      addOp(ofProgram.name, "compute", ofProgram, ofRun);
  return Error::success();
}

/// The name that the runtime gives the matmul of `node`; empty for other ops. A
/// product with a vector has it from its signature.
static std::string getMatmulName(const ReportedNode &node) {
  if (!node.matmul.empty())
    return node.matmul;
  if (!StringRef(node.op).starts_with("linalg.matmul"))
    return "";
  // linalg.matmul(64x16xbf16, 16x32xbf16) -> (64x32xf32)
  llvm::SmallVector<StringRef> types, left, result;
  StringRef(node.signature).split(types, '(');
  if (types.size() != 3)
    return "";
  types[1].split(',').first.split(left, 'x');
  types[2].split(')').first.split(result, 'x');
  if (left.size() != 3 || result.size() != 3)
    return "";
  StringRef depth = left[0] == result[0] ? left[1] : left[0];
  return (result[0] + "x" + result[1] + "x" + depth + " " + left[2]).str();
}

/// On a device matmuls are events of their own; other kernels are compared by
/// what runs between two matmuls, as one kernel may run several ops.
Error Comparer::compareMatmuls() {
  std::vector<Stretch> predicted(1), measured(1);
  auto addMatmul = [](std::vector<Stretch> &list, const std::string &name,
                      int64_t startNs, int64_t endNs) {
    Stretch &added = list.emplace_back();
    added.name = name;
    added.add(startNs, endNs);
    list.emplace_back();
  };
  std::vector<std::string> names;
  for (const PredictedOp &op : ops) {
    const ReportedNode &node = *op.node;
    if (node.role != StreamRole::Compute || op.endNs == op.startNs)
      continue;
    if (std::string name = getMatmulName(node); !name.empty()) {
      names.push_back(node.label.empty() ? "matmul " + name : node.label);
      addMatmul(predicted, name, op.startNs, op.endNs);
      predicted[predicted.size() - 2].nodes.push_back(&node);
    } else {
      predicted.back().add(op);
    }
  }
  for (const MeasuredEvent &event : run.events) {
    if (event.kind != MeasuredKind::Compute)
      continue;
    StringRef name = event.name;
    if (name.consume_front("matmul "))
      addMatmul(measured, name.str(), event.startNs, event.endNs);
    else
      measured.back().add(event.startNs, event.endNs);
  }
  if (predicted.size() != measured.size())
    return llvm::createStringError(
        "found a run of " + llvm::Twine(measured.size() / 2) +
        " matmuls, expected the " + llvm::Twine(predicted.size() / 2) +
        " of @" + run.function + "; the passes have to be those of the run");
  for (size_t i = 1; i < predicted.size(); i += 2)
    if (predicted[i].name != measured[i].name)
      return llvm::createStringError(
          "found a run whose matmul number " + llvm::Twine(i / 2 + 1) + " is " +
          measured[i].name + ", expected " + predicted[i].name +
          "; the passes have to be those of the run");
  for (size_t i = 0; i < predicted.size(); ++i) {
    bool isMatmul = i % 2;
    std::string name = isMatmul               ? names[i / 2]
                       : names.empty()        ? "kernels"
                       : i / 2 < names.size() ? "kernels before " + names[i / 2]
                                              : "kernels after " + names.back();
    if (predicted[i].isEmpty != measured[i].isEmpty)
      addUnmatched(name + (measured[i].isEmpty
                               ? ": the run has not measured them"
                               : ": the program has no such ops"));
    else
      addOp(name, "compute", predicted[i], measured[i]);
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// The comparison
//===----------------------------------------------------------------------===//

Expected<Comparison> Comparer::compare() {
  const ReportedFunction *function = findFunction(program, run.function);
  if (!function)
    return llvm::createStringError(
        "found a run of @" + run.function +
        ", expected one of a function of the program");
  if (!addNodes(function->nodes, 0, 0))
    return llvm::createStringError("found a run of @" + run.function +
                                   ", whose loops and calls run more than " +
                                   llvm::Twine(kMaxOps) + " ops");
  result.function = run.function;
  result.rank = run.rank;
  result.predictedNs = function->totals.makespanNs;
  originNs = run.startNs;
  result.measuredNs = run.endNs - run.startNs;
  if (!run.isHost) {
    // The device begins later than the host, and the host ends later.
    bool isFirst = true;
    int64_t endNs = 0;
    for (const MeasuredEvent &event : run.events) {
      if (event.kind != MeasuredKind::Compute &&
          event.kind != MeasuredKind::Collective)
        continue;
      originNs = isFirst ? event.startNs : std::min(originNs, event.startNs);
      endNs = isFirst ? event.endNs : std::max(endNs, event.endNs);
      isFirst = false;
    }
    if (isFirst)
      return llvm::createStringError(
          "found a run without times of the device, as of a "
          "graph without CUPTI, expected some");
    result.measuredNs = endNs - originNs;
  }
  compareCollectives();
  if (Error error = run.isHost ? compareCalls() : compareMatmuls())
    return error;
  sortByTime(result.ops,
             [](const ComparedOp &op) { return op.predictedStartNs; });
  return std::move(result);
}

Expected<Comparison> braid::compareWithTrace(const ReportedProgram &program,
                                             StringRef trace) {
  Expected<MeasuredRun> run = readMeasuredRun(trace);
  if (!run)
    return run.takeError();
  return Comparer(program, *run).compare();
}

std::vector<const ComparedOp *> Comparison::sortByDeviation() const {
  std::vector<const ComparedOp *> sorted;
  for (const ComparedOp &op : ops)
    sorted.push_back(&op);
  sortByTime(sorted, [](const ComparedOp *op) {
    return -std::abs(op->getDeviationNs());
  });
  return sorted;
}
