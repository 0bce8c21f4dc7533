//===- Report.h - What a program's timeline says ----------------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_REPORT_REPORT_H
#define BRAID_REPORT_REPORT_H

#include "braid/Schedule/Bounds/LowerBound.h"
#include "braid/ScheduleIR/Timeline.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace braid {

struct ReportedNode;

/// A region of an op, with a timeline of its own that begins at 0.
struct ReportedBody {
  unsigned regionNumber;
  /// How often it runs.
  int64_t tripCount;
  /// Part of the cost of the op. Of the arms of a condition that is the longest
  /// alone.
  bool counts;
  TimelineTotals totals;
  std::vector<ReportedNode> nodes;
};

/// An op, free of the IR that it comes from.
struct ReportedNode {
  std::string label;
  /// "compute", "wait", or what a start starts: "all_reduce", "async_compute".
  std::string kind;
  /// The op's name and the types of the values that it stands for.
  std::string op;
  std::string type;
  /// The bytes of these values.
  uint64_t valueBytes = 0;
  /// "compute", or the lane of a start.
  std::string lane;
  StreamRole role;
  int64_t costNs;
  std::string costSource;
  /// What profiles call it; empty for waits.
  std::string signature;
  bool hidden;
  SimulatedTimes times;
  /// Of a start of a collective: its group, the number of its members, and the
  /// bytes of the whole operation.
  std::string group;
  int64_t groupSize = 0;
  uint64_t bytes = 0;
  /// The ranks of the communicator that rank 0 is in, such as "[0, 1]", cut
  /// short behind the first 30; how operands are combined, empty if they are
  /// not; the type of the elements, and how many go in and come out.
  std::string groupRanks;
  std::string reduction;
  std::string elementType;
  uint64_t inputElements = 0;
  uint64_t outputElements = 0;
  /// Of a start of a collective: why some of it is exposed. Empty if nothing is
  /// or nobody knows.
  std::string reason;
  /// Of what awaits: the starts, by their position in the same body; and those
  /// of the trip before, in the body of a loop.
  std::vector<unsigned> awaits;
  std::vector<unsigned> carriedAwaits;
  /// Of a start: its number in the program that the report is about, which
  /// tells it from others in the programs before and after passes. -1 for what
  /// passes made anew.
  int64_t number = -1;
  std::vector<ReportedBody> bodies;
  /// Of a call that costs what its callee takes: the callee, by its position in
  /// the program.
  std::optional<size_t> callee;
};

/// A function with a body.
struct ReportedFunction {
  std::string name;
  TimelineTotals totals;
  std::vector<ReportedNode> nodes;
  /// Bytes that live over time.
  std::vector<MemorySample> memoryCurve;
  /// The part of the time with communication in flight in which compute runs
  /// beside it: |comm & compute| / |comm| over merged intervals, on all streams
  /// and lanes, as Holistic Trace Analysis defines the overlap. None without
  /// communication.
  std::optional<double> hiddenFraction;
  /// Why no order can be faster than the lower bound: "critical path". Empty if
  /// that is not known.
  std::string lowerBoundKind;
};

/// A program as it stands.
using ReportedProgram = std::vector<ReportedFunction>;

/// Everything that is printed.
struct Report {
  std::string hardware;
  std::string collectiveModel;
  int64_t worldSize;
  int64_t dynamicSize;
  /// The passes between `before` and `after`.
  std::string passes;
  /// Bytes of memory of a device; none if unlimited.
  std::optional<int64_t> deviceMemory;
  /// Bytes that the user says may live at once; none for those of a device.
  std::optional<int64_t> maxMemory;
  /// The program as written, if passes are asked for.
  std::optional<ReportedProgram> before;
  /// The program as it would run.
  ReportedProgram after;

  /// Bytes of memory that the program may not exceed; none if unlimited.
  std::optional<int64_t> getMemoryLimit() const {
    return maxMemory ? maxMemory : deviceMemory;
  }
  /// What sets that limit, as in "max-memory".
  llvm::StringRef getMemoryLimitName() const {
    return maxMemory ? "max-memory" : "memory of the hardware";
  }
  /// How much of `totals` is above the limit; 0 if nothing is.
  int64_t getExcessBytes(const TimelineTotals &totals) const {
    std::optional<int64_t> limit = getMemoryLimit();
    return limit ? std::max<int64_t>(0, totals.peakBytes - *limit) : 0;
  }
};

/// A time in which more lives than may.
struct MemoryExcessInterval {
  int64_t startNs, endNs;
  /// The most that lives in it.
  int64_t peakBytes;
};

/// The times in which more than `limit` bytes of `function` live, in order.
/// What lives for no time has an interval of length 0.
std::vector<MemoryExcessInterval>
getMemoryExcess(const ReportedFunction &function, int64_t limit);

/// One start of a function and what is exposed of it.
struct ReportedCollective {
  const ReportedNode *node;
  /// How often it runs: the trip counts of the loops around it.
  int64_t runs;
  /// For all runs together. None before passes if these made it anew.
  int64_t exposedNs;
  std::optional<int64_t> exposedBeforeNs;
};

/// Numbers all starts below `root`, so that a report of a clone that passes
/// have changed can name them.
void numberStarts(mlir::Operation *root);

/// The timelines of all functions in `module` and in modules within it, at the
/// costs of `model`. Kernels (functions within anything else) are left out.
/// What would need more than `memoryLimit` bytes is no better order.
ReportedProgram reportProgram(mlir::ModuleOp module, CostModel &model,
                              std::optional<int64_t> memoryLimit);

/// The starts of `function`, those in bodies included, in order. `before` is
/// the program before passes, null if there were none. Of what passes have
/// copied only the first has an exposed time before; the original's is not told
/// twice.
std::vector<ReportedCollective>
listCollectives(const ReportedFunction &function,
                const ReportedProgram *before = nullptr);

/// The function called `name` in `program`; null if there is none.
const ReportedFunction *findFunction(const ReportedProgram &program,
                                     llvm::StringRef name);

/// How far `totals` is above its lower bound; see the other `getGap`.
inline std::optional<double> getGap(const TimelineTotals &totals) {
  return getGap(totals.makespanNs, totals.lowerBoundNs);
}

/// Fills in `ReportedFunction::hiddenFraction` of all functions. Loops count
/// all their trips and calls what they call.
void measureHiddenFractions(ReportedProgram &program);

/// Writes `report` for people: each function's timeline, one line an op, with
/// `| ` before compute that runs beside an operation in flight, as Inductor's
/// `visualize_overlap` does; its total time; tables of its collectives and of
/// why they are exposed.
void printText(const Report &report, llvm::raw_ostream &os);

/// Writes `report` as JSON.
void printJson(const Report &report, llvm::raw_ostream &os);

/// Writes `report` as a trace in Chrome's JSON, which Perfetto opens, with the
/// field names of Kineto (PyTorch's profiler), which trace tools read. Process
/// 0 is the program as it would run; process 1, if there is one, the program
/// before passes, whose events carry no `stream`, so that tools which add up a
/// rank's streams leave it out. Functions stand one after the other, those that
/// others call within their callers.
void printTrace(const Report &report, llvm::raw_ostream &os);

/// Writes `report` as a picture: for each function a timeline before and after
/// passes, at one scale, with a row for each stream and lane, exposed
/// communication marked, and the memory below.
void printSvg(const Report &report, llvm::raw_ostream &os);

/// Writes `report` as one page of HTML that needs nothing else: the timelines,
/// to zoom into and to ask for the figures of each op, the memory, and tables
/// of the collectives and of why they are exposed.
void printHtml(const Report &report, llvm::raw_ostream &os);

} // namespace braid

#endif // BRAID_REPORT_REPORT_H
