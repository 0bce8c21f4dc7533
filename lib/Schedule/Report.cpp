//===- Report.cpp - What a program's timeline says ------------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/Report.h"

#include "braid/Schedule/AwaitedTokens.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/raw_ostream.h"

using namespace braid;
using namespace mlir;

/// Not of the comm dialect, which verifies its attributes: it stands on a
/// program only while a report is made.
static constexpr llvm::StringLiteral kNumberAttrName = "braid.report_number";

void braid::numberStarts(Operation *root) {
  Builder builder(root->getContext());
  int64_t number = 0;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (comm::getAsyncStart(op))
      op->setAttr(kNumberAttrName, builder.getI64IntegerAttr(number++));
  });
}

/// What `op` is called: its label, or the kernel of a `comm.compute`, or for a
/// wait what its start is called.
static std::string getName(Operation *op) {
  StringRef label = comm::getLabel(op);
  if (!label.empty())
    return label.str();
  if (auto compute = dyn_cast<comm::ComputeOp>(op))
    return compute.getKernel().str();
  if (auto wait = dyn_cast<comm::WaitOp>(op)) {
    SmallVector<Operation *, 1> starts =
        getTokenOrigins(wait.getToken(), *op->getParentRegion()).starts;
    if (starts.size() == 1)
      return getName(starts.front());
  }
  return "";
}

/// The types of the values that `op` stands for: its results, or what its
/// tokens stand for, or the buffers that its operation writes.
static std::string getTypeText(Operation *op) {
  SmallVector<Type> types;
  if (comm::AsyncStartOpInterface start = comm::getAsyncStart(op)) {
    if (start.isBufferForm())
      for (Value destination : start.getDestinations())
        types.push_back(destination.getType());
    else
      for (auto [index, token] : llvm::enumerate(start.getTokens()))
        if (Type type = start.getInFlightType(index))
          types.push_back(type);
  } else {
    llvm::append_range(types, op->getResultTypes());
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(types, os);
  return text;
}

static std::vector<ReportedNode> reportNodes(const Timeline &timeline,
                                             CostModel &model);

static std::vector<ReportedBody> reportBodies(const TimelineNode &node,
                                              CostModel &model) {
  std::vector<ReportedBody> bodies;
  // Callees are reported as functions of their own.
  if (node.cost.source != CostSource::Regions)
    return bodies;
  Operation *op = node.op;
  for (Region &region : op->getRegions()) {
    const Timeline &timeline = model.getTimeline(region);
    if (!timeline.nodes.empty())
      bodies.push_back({region.getRegionNumber(), model.getTripCount(op),
                        timeline.totals, reportNodes(timeline, model)});
  }
  return bodies;
}

static ReportedNode reportNode(const TimelineNode &node, CostModel &model) {
  Operation *op = node.op;
  ReportedNode reported;
  reported.label = getName(op);
  reported.op = op->getName().getStringRef().str();
  reported.type = getTypeText(op);
  reported.role = node.role;
  reported.costNs = node.cost.ns;
  reported.costSource = model.getSourceName(node.cost.source).str();
  reported.hidden = node.hidden;
  reported.times = node.times;
  reported.lane = node.role == StreamRole::Start ? node.lane : "compute";
  if (auto number = op->getAttrOfType<IntegerAttr>(kNumberAttrName))
    reported.number = number.getInt();

  if (auto collective = dyn_cast<comm::CollectiveOpInterface>(op)) {
    CollectiveCall call = model.describe(collective);
    reported.kind = comm::stringifyCollectiveKind(call.kind).str();
    reported.group = collective.getGroupAttr().getValue().str();
    reported.groupSize = call.groupSize;
    reported.bytes = call.getWholeBytes();
  } else if (node.role == StreamRole::Start) {
    reported.kind = "async_compute";
  } else {
    reported.kind = node.role == StreamRole::Wait ? "wait" : "compute";
    reported.bodies = reportBodies(node, model);
  }
  return reported;
}

static std::vector<ReportedNode> reportNodes(const Timeline &timeline,
                                             CostModel &model) {
  std::vector<ReportedNode> nodes;
  nodes.reserve(timeline.nodes.size());
  for (const TimelineNode &node : timeline.nodes)
    nodes.push_back(reportNode(node, model));
  return nodes;
}

static void reportModule(ModuleOp module, CostModel &model,
                         ReportedProgram &program) {
  for (Operation &op : module.getBody()->getOperations()) {
    if (auto nested = dyn_cast<ModuleOp>(op))
      reportModule(nested, model, program);
    auto function = dyn_cast<FunctionOpInterface>(op);
    if (!function || function.isExternal())
      continue;
    const Timeline &timeline = model.getTimeline(function.getFunctionBody());
    program.push_back({function.getName().str(), timeline.totals,
                       reportNodes(timeline, model)});
  }
}

ReportedProgram braid::reportProgram(ModuleOp module, CostModel &model) {
  ReportedProgram program;
  reportModule(module, model, program);
  return program;
}

static void appendCollectives(const std::vector<ReportedNode> &nodes,
                              int64_t runs,
                              std::vector<ReportedCollective> &collectives) {
  for (const ReportedNode &node : nodes) {
    if (node.role == StreamRole::Start)
      collectives.push_back(
          {&node, runs, multiplyNs(node.times.exposedNs, runs), std::nullopt});
    for (const ReportedBody &body : node.bodies)
      appendCollectives(body.nodes, multiplyNs(runs, body.tripCount),
                        collectives);
  }
}

std::vector<ReportedCollective>
braid::listCollectives(const ReportedFunction &function,
                       const ReportedProgram *before) {
  std::vector<ReportedCollective> collectives;
  appendCollectives(function.nodes, 1, collectives);
  if (!before)
    return collectives;
  // Inlining takes starts from one function to another: look in all.
  std::vector<ReportedCollective> earlier;
  for (const ReportedFunction &other : *before)
    appendCollectives(other.nodes, 1, earlier);
  llvm::DenseMap<int64_t, int64_t> exposedByNumber;
  for (const ReportedCollective &collective : earlier)
    exposedByNumber[collective.node->number] = collective.exposedNs;
  for (ReportedCollective &collective : collectives) {
    auto it = exposedByNumber.find(collective.node->number);
    if (collective.node->number < 0 || it == exposedByNumber.end())
      continue;
    collective.exposedBeforeNs = it->second;
    exposedByNumber.erase(it);
  }
  return collectives;
}

const ReportedFunction *braid::findFunction(const ReportedProgram &program,
                                            StringRef name) {
  const auto it = llvm::find_if(
      program, [&](const ReportedFunction &f) { return f.name == name; });
  return it == program.end() ? nullptr : &*it;
}
