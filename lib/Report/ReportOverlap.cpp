//===- ReportOverlap.cpp - Hidden fraction of communication ---------------===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Holistic Trace Analysis measures a trace: the length of the merged intervals
// with communication, and of those in which compute runs, too. A trace of a
// loop with a million trips would be too large. This file therefore measures
// the intervals of a body once and multiplies them by the number of trips. It
// splits the loop wherever an op around the loop begins or ends.
//
//===----------------------------------------------------------------------===//

#include "braid/Report/Report.h"

#include "braid/Support/Units.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <memory>

using namespace braid;

namespace {
/// Nanoseconds with compute, with communication, and with both.
struct Measure {
  int64_t computeNs = 0;
  int64_t communicationNs = 0;
  int64_t bothNs = 0;

  Measure operator+(const Measure &other) const {
    return {addNs(computeNs, other.computeNs),
            addNs(communicationNs, other.communicationNs),
            addNs(bothNs, other.bothNs)};
  }
  Measure operator-(const Measure &other) const {
    return {computeNs - other.computeNs,
            communicationNs - other.communicationNs, bothNs - other.bothNs};
  }
  Measure operator*(int64_t times) const {
    return {multiplyNs(computeNs, times), multiplyNs(communicationNs, times),
            multiplyNs(bothNs, times)};
  }
};

/// The measure of the time from 0 to any moment.
class Coverage {
public:
  virtual ~Coverage() = default;
  virtual Measure measureUntil(int64_t ns) const = 0;
};

/// Bodies that run one after the other, in trips of `tripNs`.
class RepeatedCoverage : public Coverage {
public:
  explicit RepeatedCoverage(int64_t tripNs) : tripNs(tripNs) {}

  void append(const Coverage &body, int64_t lengthNs) {
    if (lengthNs <= 0)
      return;
    bodies.push_back({&body, lengthNs, body.measureUntil(lengthNs)});
  }

  /// Must be called once after the last `append`.
  void finish() {
    if (tripNs > 0)
      trip = measureTrip(tripNs);
  }

  Measure measureUntil(int64_t ns) const override {
    if (tripNs <= 0)
      return {};
    Measure result = trip * (ns / tripNs);
    return ns % tripNs == 0 ? result : result + measureTrip(ns % tripNs);
  }

private:
  struct Body {
    const Coverage *coverage;
    int64_t lengthNs;
    Measure whole; ///< The measure of the whole body.
  };

  /// Measures at most one body anew, so that the time of a measure grows with
  /// the depth of nesting only linearly.
  Measure measureTrip(int64_t ns) const {
    Measure result;
    for (const Body &body : bodies) {
      if (ns < body.lengthNs)
        return ns > 0 ? result + body.coverage->measureUntil(ns) : result;
      result = result + body.whole;
      ns -= body.lengthNs;
    }
    return result;
  }

  std::vector<Body> bodies;
  Measure trip; ///< The measure of a whole trip.
  int64_t tripNs;
};

/// One run of a body, as segments in which the same ops run.
class BodyCoverage : public Coverage {
public:
  /// Adds the time of an op: communication, the coverage `inside` on the
  /// stream, or compute.
  void add(const SimulatedTimes &times, bool isCommunication,
           const Coverage *inside) {
    if (times.endNs <= times.startNs)
      return;
    changes.push_back(
        {times.startNs, changes.size(), isCommunication, inside, 1});
    changes.push_back(
        {times.endNs, changes.size(), isCommunication, inside, -1});
  }

  /// Must be called once after the last `add`.
  void finish() {
    // At the same moment, ends and begins stay in the order of the nodes, which
    // `number` gives.
    llvm::sort(changes, [](const Change &a, const Change &b) {
      return std::pair(a.ns, a.number) < std::pair(b.ns, b.number);
    });
    Segment current;
    int numCompute = 0, numCommunication = 0;
    Measure sum;
    for (const Change &change : changes) {
      if (change.ns > current.startNs) {
        segments.push_back(current);
        sum = sum + current.measure(change.ns);
        current.startNs = change.ns;
        current.before = sum;
        current.insideBefore = {};
        if (current.inside && change.ns > current.insideStartNs)
          current.insideBefore =
              current.inside->measureUntil(change.ns - current.insideStartNs);
      }
      if (change.inside) {
        current.inside = change.delta > 0 ? change.inside : nullptr;
        current.insideBefore = {};
        if (change.delta > 0)
          current.insideStartNs = change.ns;
      } else {
        (change.isCommunication ? numCommunication : numCompute) +=
            change.delta;
      }
      current.hasCompute = numCompute > 0;
      current.hasCommunication = numCommunication > 0;
    }
    segments.push_back(current);
    changes.clear();
  }

  Measure measureUntil(int64_t ns) const override {
    auto it = llvm::upper_bound(segments, ns,
                                [](int64_t value, const Segment &segment) {
                                  return value < segment.startNs;
                                });
    if (it == segments.begin())
      return {};
    const Segment &segment = *std::prev(it);
    return segment.before + segment.measure(ns);
  }

private:
  struct Change {
    int64_t ns;
    size_t number;
    bool isCommunication;
    const Coverage *inside;
    int delta;
  };

  struct Segment {
    int64_t startNs = 0;
    bool hasCompute = false;
    bool hasCommunication = false;
    const Coverage *inside = nullptr;
    int64_t insideStartNs = 0;
    /// The measure of what is inside, before `startNs`.
    Measure insideBefore;
    /// The measure of the time before `startNs`.
    Measure before;

    /// The measure of the time from `startNs` to `untilNs`.
    Measure measure(int64_t untilNs) const {
      int64_t length = untilNs - startNs;
      Measure own = {hasCompute ? length : 0, hasCommunication ? length : 0,
                     hasCompute && hasCommunication ? length : 0};
      if (!inside || (hasCompute && hasCommunication))
        return own;
      Measure within =
          inside->measureUntil(untilNs - insideStartNs) - insideBefore;
      if (hasCommunication)
        return {within.computeNs, length, within.computeNs};
      if (hasCompute)
        return {length, within.communicationNs, within.communicationNs};
      return within;
    }
  };

  std::vector<Change> changes;
  std::vector<Segment> segments;
};

/// Builds and caches the coverage of every body.
class CoverageBuilder {
public:
  CoverageBuilder(const ReportedProgram &program) : program(program) {}

  /// The coverage of a body that takes `lengthNs`. Operations that one trip of
  /// a loop carries to the next are in flight in the next trip.
  const Coverage &getCoverage(const std::vector<ReportedNode> &nodes,
                              int64_t lengthNs) {
    if (auto it = bodies.find(&nodes); it != bodies.end())
      return *it->second;
    auto coverage = std::make_unique<BodyCoverage>();
    for (const ReportedNode &node : nodes) {
      if (node.role == StreamRole::Wait)
        continue;
      bool isCommunication =
          node.role == StreamRole::Start && !node.group.empty();
      const Coverage *inside = getInside(node);
      coverage->add(node.times, isCommunication, inside);
      SimulatedTimes times = node.times;
      while (node.role == StreamRole::Start && lengthNs > 0 &&
             times.endNs > lengthNs) {
        times.startNs = std::max<int64_t>(0, times.startNs - lengthNs);
        times.endNs -= lengthNs;
        coverage->add(times, isCommunication, inside);
      }
    }
    coverage->finish();
    return *(bodies[&nodes] = std::move(coverage));
  }

private:
  /// The coverage of the bodies of `node`; null if `node` is only compute.
  const Coverage *getInside(const ReportedNode &node) {
    int64_t lengthNs = node.times.endNs - node.times.startNs;
    std::unique_ptr<RepeatedCoverage> inside;
    if (node.callee && node.costNs > 0) {
      const ReportedFunction &callee = program[*node.callee];
      inside = std::make_unique<RepeatedCoverage>(lengthNs);
      inside->append(getCoverage(callee.nodes, callee.totals.makespanNs),
                     callee.totals.makespanNs);
    } else if (!node.bodies.empty()) {
      // Contention slows each trip of the op down equally.
      int64_t tripCount = std::max<int64_t>(1, node.bodies.front().tripCount);
      inside = std::make_unique<RepeatedCoverage>(lengthNs / tripCount);
      for (const ReportedBody &body : node.bodies)
        if (body.counts)
          inside->append(getCoverage(body.nodes, body.totals.makespanNs),
                         body.totals.makespanNs);
    } else {
      return nullptr;
    }
    inside->finish();
    repeated.push_back(std::move(inside));
    return repeated.back().get();
  }

  const ReportedProgram &program;
  llvm::DenseMap<const std::vector<ReportedNode> *,
                 std::unique_ptr<BodyCoverage>>
      bodies;
  std::vector<std::unique_ptr<RepeatedCoverage>> repeated;
};
} // namespace

void braid::measureHiddenFractions(ReportedProgram &program) {
  CoverageBuilder builder(program);
  for (ReportedFunction &function : program) {
    Measure measure =
        builder.getCoverage(function.nodes, function.totals.makespanNs)
            .measureUntil(function.totals.makespanNs);
    function.hiddenFraction.reset();
    if (measure.communicationNs > 0)
      function.hiddenFraction = static_cast<double>(measure.bothNs) /
                                static_cast<double>(measure.communicationNs);
  }
}
