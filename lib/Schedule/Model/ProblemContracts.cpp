//===- ProblemContracts.cpp - What problems and orders keep ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "braid/Schedule/Model/SchedulingProblem.h"

#include "LimitTracker.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>
#include <cassert>

using namespace braid;
using namespace llvm;

std::optional<int64_t> SchedulingProblem::getLeastNs(unsigned node) const {
  const auto *it = llvm::partition_point(
      ArrayRef(leastNs), [&](const auto &entry) { return entry.first < node; });
  if (it == ArrayRef(leastNs).end() || it->first != node)
    return std::nullopt;
  return it->second;
}

SmallVector<unsigned, 2>
SchedulingProblem::getAwaitedStarts(unsigned node) const {
  SmallVector<unsigned, 2> starts;
  for (auto it = llvm::lower_bound(awaits, std::pair(node, 0u));
       it != awaits.end() && it->first == node; ++it)
    starts.push_back(it->second);
  return starts;
}

std::vector<unsigned> braid::getLiveBuffers(const SchedulingProblem &problem,
                                            ArrayRef<unsigned> order,
                                            unsigned position) {
  std::vector<unsigned> positions(order.size());
  for (auto [index, node] : llvm::enumerate(order))
    positions[node] = index;
  std::vector<unsigned> live;
  for (auto [index, buffer] : llvm::enumerate(problem.buffers)) {
    unsigned first = order.size(), last = 0;
    for (unsigned user : buffer.users) {
      first = std::min(first, positions[user]);
      last = std::max(last, positions[user]);
    }
    if (buffer.bytes > 0 && first <= position &&
        (buffer.escapes || position <= last))
      live.push_back(index);
  }
  llvm::sort(live, [&](unsigned a, unsigned b) {
    return std::pair(-problem.buffers[a].bytes, a) <
           std::pair(-problem.buffers[b].bytes, b);
  });
  return live;
}

static Error breaks(StringRef property, const Twine &text) {
  return createStringError(inconvertibleErrorCode(), property + ": " + text);
}

namespace {
/// The parts of the input contract.
class ContractChecker {
public:
  explicit ContractChecker(const SchedulingProblem &problem)
      : problem(problem), graph(problem.graph) {}

  Error checkNodes() const;
  Error checkDemands() const;
  Error checkAmounts(StringRef property, StringRef unit,
                     ArrayRef<std::pair<unsigned, int64_t>> amounts) const;
  Error checkAwaits() const;
  Error checkCarriedAwaits() const;
  Error checkBuffers() const;
  Error checkLimits() const;

private:
  bool isStart(unsigned node) const {
    return node < graph.size() && graph[node].kind == NodeKind::Start;
  }
  std::string getNodes() const {
    return ("nodes below " + Twine(graph.size())).str();
  }

  const SchedulingProblem &problem;
  const ScheduleGraph &graph;
};
} // namespace

Error ContractChecker::checkNodes() const {
  for (unsigned node = 0; node != graph.size(); ++node) {
    const ScheduleNode &given = graph[node];
    bool isWait = given.kind == NodeKind::Wait;
    if (given.cost < 0 || (isWait && given.cost != 0))
      return breaks("costs", "node " + Twine(node) + " takes " +
                                 Twine(given.cost) + " ns, expected " +
                                 (isWait ? "0 of a wait" : "at least 0"));
    if (given.bytes < 0)
      return breaks("bytes", "node " + Twine(node) + " has " +
                                 Twine(given.bytes) +
                                 " bytes, expected at least 0");
    if (isStart(node) != (given.lane >= 0))
      return breaks("lanes", "node " + Twine(node) + ", which is " +
                                 stringifyNodeKind(given.kind) + ", has lane " +
                                 Twine(given.lane) +
                                 ", expected lanes of starts alone");
  }
  return Error::success();
}

Error ContractChecker::checkDemands() const {
  size_t size = problem.demands.size();
  if (size != 0 && size != graph.size())
    return breaks("demands", "found " + Twine(size) + ", expected none or " +
                                 Twine(graph.size()) + ", one for each node");
  return Error::success();
}

Error ContractChecker::checkAmounts(
    StringRef property, StringRef unit,
    ArrayRef<std::pair<unsigned, int64_t>> amounts) const {
  int64_t last = -1;
  for (auto [node, amount] : amounts) {
    if (node >= graph.size() || int64_t(node) <= last)
      return breaks(property, "found node " + Twine(node) + " after " +
                                  Twine(last) + ", expected ascending " +
                                  getNodes());
    if (amount < 0)
      return breaks(property, "node " + Twine(node) + " has " + Twine(amount) +
                                  " " + unit + ", expected at least 0");
    last = node;
  }
  return Error::success();
}

Error ContractChecker::checkAwaits() const {
  const std::pair<unsigned, unsigned> *last = nullptr;
  for (const auto &await : problem.awaits) {
    auto [node, start] = await;
    if (node >= graph.size() || !isStart(start) || isStart(node))
      return breaks("awaits",
                    "node " + Twine(node) + " awaits node " + Twine(start) +
                        ", expected a start, and a node that is none");
    if (!graph.hasEdge(start, node))
      return breaks("awaits", "node " + Twine(node) + " awaits node " +
                                  Twine(start) + " without an edge to it");
    if (last && *last >= await)
      return breaks("awaits", "node " + Twine(node) + " awaits node " +
                                  Twine(start) +
                                  " out of order, expected ascending pairs");
    last = &await;
  }
  return Error::success();
}

Error ContractChecker::checkCarriedAwaits() const {
  for (const CarriedAwait &carried : problem.carriedAwaits)
    if (carried.waiter >= graph.size() || !isStart(carried.start))
      return breaks("carried awaits",
                    "node " + Twine(carried.waiter) + " awaits node " +
                        Twine(carried.start) +
                        " of the iteration before, expected a start, and " +
                        getNodes());
  return Error::success();
}

Error ContractChecker::checkBuffers() const {
  for (auto [index, buffer] : llvm::enumerate(problem.buffers)) {
    if (buffer.bytes < 0)
      return breaks("buffers", "buffer " + Twine(index) + " has " +
                                   Twine(buffer.bytes) +
                                   " bytes, expected at least 0");
    if (buffer.users.empty())
      return breaks("buffers",
                    "buffer " + Twine(index) + " has no user, expected one");
    int64_t last = -1;
    for (unsigned user : buffer.users) {
      if (user >= graph.size() || int64_t(user) <= last)
        return breaks("buffers", "buffer " + Twine(index) + " has user " +
                                     Twine(user) + " after " + Twine(last) +
                                     ", expected ascending " + getNodes());
      last = user;
    }
  }
  return Error::success();
}

Error ContractChecker::checkLimits() const {
  if (problem.liveBytes < 0)
    return breaks("live bytes", "found " + Twine(problem.liveBytes) +
                                    ", expected at least 0");
  if (problem.maxMemory && *problem.maxMemory < 0)
    return breaks("memory limit", "found " + Twine(*problem.maxMemory) +
                                      " bytes, expected at least 0");
  return Error::success();
}

Error SchedulingProblem::check() const {
  ContractChecker checker(*this);
  if (Error error = checker.checkNodes())
    return error;
  if (Error error = checker.checkDemands())
    return error;
  if (Error error = checker.checkAmounts("least times", "ns", leastNs))
    return error;
  if (Error error =
          checker.checkAmounts("transient bytes", "bytes", transientBytes))
    return error;
  if (Error error = checker.checkAwaits())
    return error;
  if (Error error = checker.checkCarriedAwaits())
    return error;
  if (Error error = checker.checkBuffers())
    return error;
  return checker.checkLimits();
}

Error SchedulingProblem::verify(ArrayRef<unsigned> order,
                                bool keepsMaxMemory) const {
  std::string reason;
  if (!isLegalOrder(graph, order, &reason))
    return breaks("edges", reason);
  if (keepOrderOfStarts && !keepsOrderOfStarts(graph, order))
    return breaks("order of starts",
                  "the starts do not keep the order of the program");
  bool hasMemoryLimit = keepsMaxMemory && maxMemory;
  if (maxInFlight == 0 && !hasMemoryLimit)
    return Error::success();
  FlatProblem flat(*this);
  LimitTracker limits(flat);
  for (unsigned node : order) {
    if (!limits.mayStart(node)) {
      unsigned lane = graph[node].lane;
      return breaks("operations in flight",
                    "node " + Twine(node) + " is operation " +
                        Twine(limits.getInFlight()[lane] + 1) +
                        " in flight on lane " + Twine(lane) +
                        ", which may have " + Twine(maxInFlight));
    }
    int64_t bytes = limits.place(node).neededBytes;
    if (hasMemoryLimit && bytes > *maxMemory)
      return breaks("memory limit", Twine(bytes) + " bytes live at node " +
                                        Twine(node) + ", expected at most " +
                                        Twine(*maxMemory));
  }
  return Error::success();
}

bool braid::isAllowedOrder(const SchedulingProblem &problem,
                           ArrayRef<unsigned> order, std::string *reason) {
  Error error = problem.verify(order, /*keepsMaxMemory=*/false);
  if (!error)
    return true;
  std::string text = toString(std::move(error));
  if (reason)
    *reason = std::move(text);
  return false;
}
