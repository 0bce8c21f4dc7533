//===- ReportSlices.cpp - Timelines as slices of tracks -------------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReportSlices.h"

#include "braid/Support/Units.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <numeric>
#include <tuple>

using namespace braid;

llvm::StringRef braid::getDisplayName(const ReportedNode &node) {
  return node.label.empty() ? node.op : node.label;
}

/// True if `node` is a call with the time of its callee.
static bool hasCallee(const ReportedNode &node) {
  return node.callee && node.costNs > 0;
}

namespace {
/// Visits the ops that run in a function, including callees, once each.
class NodeWalker {
public:
  NodeWalker(const ReportedProgram &program,
             llvm::function_ref<void(const ReportedNode &)> visit)
      : program(program), visit(visit), visited(program.size()) {}

  void walk(const std::vector<ReportedNode> &nodes) {
    for (const ReportedNode &node : nodes) {
      visit(node);
      for (const ReportedBody &body : node.bodies)
        walk(body.nodes);
      if (hasCallee(node) && !visited[*node.callee]) {
        visited[*node.callee] = true;
        walk(program[*node.callee].nodes);
      }
    }
  }

private:
  const ReportedProgram &program;
  llvm::function_ref<void(const ReportedNode &)> visit;
  std::vector<bool> visited;
};
} // namespace

void braid::collectLanes(const ReportedProgram &program,
                         const ReportedFunction &function,
                         std::vector<std::string> &lanes) {
  auto visit = [&](const ReportedNode &node) {
    if (node.role == StreamRole::Start && !llvm::is_contained(lanes, node.lane))
      lanes.push_back(node.lane);
  };
  NodeWalker(program, visit).walk(function.nodes);
}

std::vector<size_t> braid::getEntryFunctions(const ReportedProgram &program) {
  std::vector<bool> isCalled(program.size()), isReached(program.size());
  for (auto [index, function] : llvm::enumerate(program)) {
    auto visit = [&, caller = index](const ReportedNode &node) {
      if (hasCallee(node) && *node.callee != caller)
        isCalled[*node.callee] = true;
    };
    NodeWalker(program, visit).walk(function.nodes);
  }
  std::vector<size_t> entries;
  auto addEntry = [&](size_t index) {
    entries.push_back(index);
    isReached[index] = true;
    auto visit = [&](const ReportedNode &node) {
      if (hasCallee(node))
        isReached[*node.callee] = true;
    };
    NodeWalker(program, visit).walk(program[index].nodes);
  };
  for (size_t index : llvm::seq(program.size()))
    if (!isCalled[index])
      addEntry(index);
  // Add recursive functions that no other function calls.
  for (size_t index : llvm::seq(program.size()))
    if (!isReached[index])
      addEntry(index);
  llvm::sort(entries);
  return entries;
}

std::vector<FunctionPair> braid::pairFunctions(const Report &report) {
  std::vector<FunctionPair> pairs;
  for (size_t index : getEntryFunctions(report.after))
    pairs.push_back(
        {report.before ? findFunction(*report.before, report.after[index].name)
                       : nullptr,
         &report.after[index]});
  if (report.before)
    for (size_t index : getEntryFunctions(*report.before))
      if (!findFunction(report.after, (*report.before)[index].name))
        pairs.push_back({&(*report.before)[index], nullptr});
  return pairs;
}

namespace {
class Slicer {
public:
  Slicer(const ReportedProgram &program, llvm::ArrayRef<std::string> lanes,
         bool isComplete)
      : program(program), lanes(lanes), rowsOfLane(lanes.size()) {
    result.isComplete = isComplete;
  }

  SlicedFunction slice(const ReportedFunction &function);

private:
  std::vector<unsigned> addNodes(const std::vector<ReportedNode> &nodes,
                                 int64_t makespanNs, int64_t offsetNs,
                                 int64_t limitNs, unsigned depth,
                                 llvm::ArrayRef<unsigned> tripBefore = {});
  void addInside(const ReportedNode &node, const SimulatedTimes &times,
                 unsigned depth);
  void addExposed(llvm::SmallVector<unsigned> starts, int64_t fromNs);
  void orderSlices();
  size_t getLane(const ReportSlice &slice) const {
    return llvm::find(lanes, slice.node->lane) - lanes.begin();
  }
  unsigned takeRow(size_t lane, int64_t startNs, int64_t endNs);

  const ReportedProgram &program;
  llvm::ArrayRef<std::string> lanes;
  /// For each lane, the times when its rows are free.
  std::vector<std::vector<int64_t>> rowsOfLane;
  SlicedFunction result;
};
} // namespace

/// Takes the first row of `lane` that is free at `startNs` until `endNs`.
unsigned Slicer::takeRow(size_t lane, int64_t startNs, int64_t endNs) {
  std::vector<int64_t> &rows = rowsOfLane[lane];
  auto it =
      llvm::find_if(rows, [&](int64_t freeNs) { return freeNs <= startNs; });
  if (it == rows.end())
    it = rows.insert(it, 0);
  *it = endNs;
  return it - rows.begin();
}

/// Adds the exposed time of `starts`, which the stream awaits from `fromNs` on.
/// Each start is responsible for the time after the ends of earlier ones.
void Slicer::addExposed(llvm::SmallVector<unsigned> starts, int64_t fromNs) {
  llvm::sort(starts, [&](unsigned a, unsigned b) {
    return std::pair(result.slices[a].endNs, a) <
           std::pair(result.slices[b].endNs, b);
  });
  for (unsigned start : starts) {
    int64_t endNs = result.slices[start].endNs;
    if (endNs <= fromNs)
      continue;
    result.exposed.push_back({/*track=*/0, fromNs, endNs, start});
    fromNs = endNs;
  }
}

void Slicer::addInside(const ReportedNode &node, const SimulatedTimes &times,
                       unsigned depth) {
  if (hasCallee(node)) {
    const ReportedFunction &callee = program[*node.callee];
    if (result.isComplete)
      addNodes(callee.nodes, callee.totals.makespanNs, times.startNs,
               times.endNs, depth + 1);
    return;
  }
  // Contention makes an op longer than its body; each trip gets an equal share.
  int64_t tripCount = std::max<int64_t>(1, node.bodies.front().tripCount);
  int64_t tripNs = (times.endNs - times.startNs) / tripCount;
  int64_t shown = result.isComplete ? tripCount : 1;
  // Only loops with one region carry tokens.
  std::vector<unsigned> slices;
  for (int64_t trip = 0; trip < shown; ++trip) {
    int64_t atNs = times.startNs + trip * tripNs, limitNs = atNs + tripNs;
    for (const ReportedBody &body : node.bodies) {
      if (!body.counts)
        continue;
      slices = addNodes(
          body.nodes, body.totals.makespanNs, atNs, limitNs, depth + 1,
          slices.size() == body.nodes.size() ? llvm::ArrayRef(slices)
                                             : llvm::ArrayRef<unsigned>());
      atNs = std::min(limitNs, addNs(atNs, body.totals.makespanNs));
    }
  }
  int64_t restNs = times.startNs + shown * tripNs;
  if (shown < tripCount && restNs < times.endNs)
    result.slices.push_back({SliceKind::LeftOut,
                             &node,
                             0,
                             restNs,
                             times.endNs,
                             restNs,
                             depth + 1,
                             tripCount - shown,
                             {}});
}

/// Adds the slices of `nodes`, which run from `offsetNs` on, on the stream at
/// most until `limitNs`. Returns their slices. `tripBefore` has the slices of
/// the previous trip, if any.
std::vector<unsigned> Slicer::addNodes(const std::vector<ReportedNode> &nodes,
                                       int64_t makespanNs, int64_t offsetNs,
                                       int64_t limitNs, unsigned depth,
                                       llvm::ArrayRef<unsigned> tripBefore) {
  std::vector<unsigned> sliceOf(nodes.size());
  llvm::SmallVector<unsigned> starts;
  int64_t streamNs = offsetNs;
  for (auto [index, node] : llvm::enumerate(nodes)) {
    SimulatedTimes times = node.times;
    times.issuedNs = addNs(times.issuedNs, offsetNs);
    times.startNs = addNs(times.startNs, offsetNs);
    times.endNs = addNs(times.endNs, offsetNs);
    if (node.role != StreamRole::Start) {
      times.startNs = std::min(times.startNs, limitNs);
      times.endNs = std::min(times.endNs, limitNs);
    }
    unsigned slice = sliceOf[index] = result.slices.size();
    ReportSlice added{SliceKind::Compute, &node, 0, times.startNs, times.endNs,
                      times.issuedNs,     depth,
                      /*tripCount=*/1,    {}};
    for (unsigned awaited : node.awaits)
      added.awaits.push_back(sliceOf[awaited]);
    if (!tripBefore.empty())
      for (unsigned awaited : node.carriedAwaits)
        added.awaits.push_back(tripBefore[awaited]);
    bool hasInside = hasCallee(node) || !node.bodies.empty();
    if (node.role == StreamRole::Start)
      added.kind = node.group.empty() ? SliceKind::SideCompute
                                      : SliceKind::Communication;
    else if (node.role == StreamRole::Wait)
      added.kind = SliceKind::Wait;
    else if (hasInside)
      added.kind = SliceKind::Body;
    if (!node.bodies.empty())
      added.tripCount = node.bodies.front().tripCount;
    result.slices.push_back(std::move(added));

    if (node.role == StreamRole::Start) {
      starts.push_back(slice);
      continue;
    }
    streamNs = times.endNs;
    addExposed(llvm::SmallVector<unsigned>(result.slices[slice].awaits.begin(),
                                           result.slices[slice].awaits.end()),
               times.issuedNs);
    if (hasInside)
      addInside(node, times, depth);
  }
  // The end of a body awaits operations that are still in flight.
  if (streamNs < addNs(offsetNs, makespanNs))
    addExposed(std::move(starts), streamNs);
  return sliceOf;
}

/// Assigns tracks to the lanes, and sorts the slices by track and time.
void Slicer::orderSlices() {
  std::vector<unsigned> order(result.slices.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return std::pair(result.slices[a].startNs, a) <
           std::pair(result.slices[b].startNs, b);
  });
  for (unsigned index : order) {
    ReportSlice &slice = result.slices[index];
    if (slice.node->role == StreamRole::Start)
      slice.track = takeRow(getLane(slice), slice.startNs, slice.endNs);
  }

  // Tracks in the order of the lanes.
  result.tracks.push_back({"compute", /*isStream=*/true, /*row=*/0});
  std::vector<unsigned> firstTrack;
  for (auto [lane, rows] : llvm::zip_equal(lanes, rowsOfLane)) {
    firstTrack.push_back(result.tracks.size());
    for (unsigned row = 0; row != rows.size(); ++row)
      result.tracks.push_back({lane, /*isStream=*/false, row});
  }
  for (ReportSlice &slice : result.slices)
    if (slice.node->role == StreamRole::Start)
      slice.track += firstTrack[getLane(slice)];

  // Slices that begin at the same time are in program order, in which outer
  // slices come first.
  llvm::sort(order, [&](unsigned a, unsigned b) {
    const ReportSlice &x = result.slices[a], &y = result.slices[b];
    return std::tuple(x.track, x.startNs, a) <
           std::tuple(y.track, y.startNs, b);
  });
  std::vector<unsigned> position(order.size());
  std::vector<ReportSlice> sorted;
  sorted.reserve(order.size());
  for (auto [index, old] : llvm::enumerate(order)) {
    position[old] = index;
    sorted.push_back(std::move(result.slices[old]));
  }
  result.slices = std::move(sorted);
  for (ReportSlice &slice : result.slices)
    for (unsigned &awaited : slice.awaits)
      awaited = position[awaited];
  for (ExposedInterval &interval : result.exposed) {
    interval.slice = position[interval.slice];
    interval.track = result.slices[interval.slice].track;
  }
  llvm::sort(result.exposed,
             [](const ExposedInterval &a, const ExposedInterval &b) {
               return std::tuple(a.track, a.startNs, a.slice) <
                      std::tuple(b.track, b.startNs, b.slice);
             });
}

SlicedFunction Slicer::slice(const ReportedFunction &function) {
  int64_t makespanNs = function.totals.makespanNs;
  addNodes(function.nodes, makespanNs, 0, makespanNs, 0);
  orderSlices();
  return std::move(result);
}

/// The number of slices of all trips and calls, saturating.
static int64_t countSlices(const ReportedProgram &program,
                           const std::vector<ReportedNode> &nodes,
                           std::vector<int64_t> &countOfFunction) {
  int64_t count = 0;
  for (const ReportedNode &node : nodes) {
    count = addNs(count, 1);
    if (hasCallee(node)) {
      int64_t &inside = countOfFunction[*node.callee];
      if (inside < 0)
        inside =
            countSlices(program, program[*node.callee].nodes, countOfFunction);
      count = addNs(count, inside);
    }
    for (const ReportedBody &body : node.bodies)
      if (body.counts)
        count = addNs(
            count, multiplyNs(countSlices(program, body.nodes, countOfFunction),
                              body.tripCount));
  }
  return count;
}

SlicedFunction braid::sliceFunction(const ReportedProgram &program,
                                    const ReportedFunction &function,
                                    llvm::ArrayRef<std::string> lanes,
                                    size_t maxSlices) {
  std::vector<int64_t> countOfFunction(program.size(), -1);
  int64_t count = countSlices(program, function.nodes, countOfFunction);
  bool isComplete = static_cast<uint64_t>(count) <= maxSlices;
  return Slicer(program, lanes, isComplete).slice(function);
}
