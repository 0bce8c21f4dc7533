//===- Report.h - Reports of the timelines of a program ---------*- C++ -*-===//
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
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
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
  /// The number of runs.
  int64_t tripCount;
  /// True if the body is part of the cost of the op. Of the arms of a condition
  /// only the longest is.
  bool counts;
  TimelineTotals totals;
  std::vector<ReportedNode> nodes;
};

/// An op, independent of its IR.
struct ReportedNode {
  std::string label;
  /// "compute", "wait", or the operation of a start: "all_reduce",
  /// "async_compute".
  std::string kind;
  /// The op's name and the types of its values.
  std::string op;
  std::string type;
  /// The bytes of these values.
  uint64_t valueBytes = 0;
  /// "compute", or the lane of a start.
  std::string lane;
  StreamRole role;
  int64_t costNs;
  std::string costSource;
  /// The signature of the op in profiles; empty for waits.
  std::string signature;
  /// `64x32x16 bf16` of what is computed as one matmul, as the runtime calls
  /// it; empty for other ops.
  std::string matmul;
  bool hidden;
  SimulatedTimes times;
  /// Of a start of a collective: its group, the number of its members, and the
  /// bytes of the whole operation.
  std::string group;
  int64_t groupSize = 0;
  uint64_t bytes = 0;
  /// The ranks of the communicator of rank 0, such as "[0, 1]", with at most 30
  /// ranks; the reduction, or empty; the element type, and the numbers of
  /// elements of the operands and of the results.
  std::string groupRanks;
  std::string reduction;
  std::string elementType;
  uint64_t inputElements = 0;
  uint64_t outputElements = 0;
  /// Of a start of a collective: the reason of its exposed time. Empty if no
  /// time is exposed or the reason is unknown.
  std::string reason;
  /// Of an op that awaits operations: their starts, by position in the same
  /// body; and the starts of the previous iteration, in the body of a loop.
  std::vector<unsigned> awaits;
  std::vector<unsigned> carriedAwaits;
  /// Of a start: its number, which identifies the start in the programs before
  /// and after passes. -1 for a start that a pass has created.
  int64_t number = -1;
  std::vector<ReportedBody> bodies;
  /// Of a call with the cost of its callee: the callee, by its position in the
  /// program.
  std::optional<size_t> callee;
};

/// A function with a body.
struct ReportedFunction {
  std::string name;
  TimelineTotals totals;
  std::vector<ReportedNode> nodes;
  /// The live bytes over time.
  std::vector<MemorySample> memoryCurve;
  /// The fraction of the time with communication in flight in which compute
  /// runs, too: |comm & compute| / |comm| over merged intervals of all streams
  /// and lanes, as Holistic Trace Analysis defines the overlap. None without
  /// communication.
  std::optional<double> hiddenFraction;
  /// The name of the lower bound: "critical path". Empty if unknown.
  std::string lowerBoundKind;
};

/// All functions of a program.
using ReportedProgram = std::vector<ReportedFunction>;

/// One op of a program beside what a run of the program has measured. Times
/// count from the begin of the program.
struct ComparedOp {
  /// The label of the op, or else its kind; `compute before wait "a"` where a
  /// run tells apart only what is between starts and waits.
  std::string name;
  /// "compute", or the lane of a start.
  std::string lane;
  int64_t predictedStartNs = 0, predictedEndNs = 0;
  int64_t measuredStartNs = 0, measuredEndNs = 0;
  /// What the op would have cost alone by the measurement, by signature: each
  /// cost of the model times measured over predicted time.
  std::vector<std::pair<std::string, double>> costs;

  int64_t getPredictedNs() const { return predictedEndNs - predictedStartNs; }
  int64_t getMeasuredNs() const { return measuredEndNs - measuredStartNs; }
  /// How much longer the op took than predicted.
  int64_t getDeviationNs() const { return getMeasuredNs() - getPredictedNs(); }
};

/// A predicted timeline beside a measured one.
struct Comparison {
  /// The function that has run, and the rank.
  std::string function;
  int64_t rank = 0;
  int64_t predictedNs = 0, measuredNs = 0;
  /// In the order of the program.
  std::vector<ComparedOp> ops;
  /// What the run has not measured, and what it has measured of no op.
  std::vector<std::string> unmatched;

  /// The ops that deviate most first; equal ones stay in program order.
  std::vector<const ComparedOp *> sortByDeviation() const;
};

/// A sum that passes may have given another order than in the program as
/// written.
struct ReportedSum {
  /// `all_reduce sum`, `linalg.matmul`.
  std::string operation;
  /// `file.mlir:3:5`; empty if unknown.
  std::string site;
  /// `in 4 chunks; 8 CTAs`.
  std::string reason;
};

/// The contents of a report.
struct Report {
  std::string machine;
  std::string collectiveModel;
  int64_t ranks;
  int64_t dynamicSize;
  /// The passes between `before` and `after`.
  std::string passes;
  /// Bytes of memory of a device; none if unlimited.
  std::optional<int64_t> deviceMemory;
  /// The user's limit of live bytes; none for the memory of a device.
  std::optional<int64_t> maxMemory;
  /// The program as written, if the report has passes.
  std::optional<ReportedProgram> before;
  /// The program after the passes.
  ReportedProgram after;
  /// The sums of `after` in another order. Without one, results have the same
  /// bits as those of the program as written.
  std::vector<ReportedSum> reorderedSums;
  /// `after` beside a run of it, if there is a trace of one.
  std::optional<Comparison> comparison;

  /// Bytes of memory that the program may not exceed; none if unlimited.
  std::optional<int64_t> getMemoryLimit() const {
    return maxMemory ? maxMemory : deviceMemory;
  }
  /// The name of the limit, such as "max-memory".
  llvm::StringRef getMemoryLimitName() const {
    return maxMemory ? "max-memory" : "memory of the machine";
  }
  /// The bytes by which the peak of `totals` exceeds the limit, or 0.
  int64_t getExcessBytes(const TimelineTotals &totals) const {
    std::optional<int64_t> limit = getMemoryLimit();
    return limit ? std::max<int64_t>(0, totals.peakBytes - *limit) : 0;
  }
};

/// An interval of time in which memory exceeds the limit.
struct MemoryExcessInterval {
  int64_t startNs, endNs;
  /// The peak of live bytes in the interval.
  int64_t peakBytes;
};

/// The intervals in which more than `limit` bytes of `function` are live, in
/// order. A peak without duration is an interval of length 0.
std::vector<MemoryExcessInterval>
getMemoryExcess(const ReportedFunction &function, int64_t limit);

/// One start of a function and its exposed time.
struct ReportedCollective {
  const ReportedNode *node;
  /// The number of runs: the product of the trip counts of the enclosing loops.
  int64_t runs;
  /// Of all runs together. No time before passes if a pass has created the
  /// start.
  int64_t exposedNs;
  std::optional<int64_t> exposedBeforeNs;
};

/// Numbers all starts below `root`, so that reports of a clone can identify the
/// starts after passes have changed the clone.
void numberStarts(mlir::Operation *root);

/// The timelines of all functions in `module` and in its nested modules, at the
/// costs of `model`. Functions in other ops, such as kernels, are left out. An
/// order that needs more than `memoryLimit` bytes never counts as better.
ReportedProgram reportProgram(mlir::ModuleOp module, CostModel &model,
                              std::optional<int64_t> memoryLimit);

/// The sums of `module` that passes may have given another order.
std::vector<ReportedSum> listReorderedSums(mlir::ModuleOp module);

/// "same bits as the program as written", or the sums in another order.
std::string describeNumerics(const Report &report);

/// The starts of `function`, including those in bodies, in order. `before` is
/// the program before passes, null without passes. If passes have copied a
/// start, only the first copy has an exposed time before, so that a sum counts
/// the time once.
std::vector<ReportedCollective>
listCollectives(const ReportedFunction &function,
                const ReportedProgram *before = nullptr);

/// The function called `name` in `program`; null if there is none.
const ReportedFunction *findFunction(const ReportedProgram &program,
                                     llvm::StringRef name);

/// The gap between the makespan of `totals` and its lower bound; see the other
/// `getGap`.
inline std::optional<double> getGap(const TimelineTotals &totals) {
  return getGap(totals.makespanNs, totals.lowerBoundNs);
}

/// Compares `program` with `trace`, the text of a trace that `braid-run
/// --trace` has written. The run of the first rank in the trace counts. Fails
/// with the path, the found and the expected value if `trace` is no such trace,
/// or one of another program.
llvm::Expected<Comparison> compareWithTrace(const ReportedProgram &program,
                                            llvm::StringRef trace);

/// Writes a comparison: as text, and as the value of a field in JSON.
void printComparisonText(const Comparison &comparison, llvm::raw_ostream &os);
void printComparisonJson(const Comparison &comparison,
                         llvm::json::OStream &json);

/// Writes the measured costs as a profile of the machine called `machine`, for
/// the option `profile` of passes.
void printMeasuredProfile(const Comparison &comparison, llvm::StringRef machine,
                          llvm::raw_ostream &os);

/// Computes `ReportedFunction::hiddenFraction` of all functions. All trips of
/// loops and the callees of calls count.
void measureHiddenFractions(ReportedProgram &program);

/// Writes `report` as text: the timeline of each function, one line for each
/// op, with `| ` before compute that overlaps an operation in flight, as
/// Inductor's `visualize_overlap` does; its total time; tables of its
/// collectives and of the reasons of exposed time.
void printText(const Report &report, llvm::raw_ostream &os);

/// Writes `report` as JSON.
void printJson(const Report &report, llvm::raw_ostream &os);

/// Writes `report` as a trace in Chrome's JSON format for Perfetto, with the
/// field names of Kineto (PyTorch's profiler) for other trace tools. Process 0
/// is the program after passes, process 1 the program before passes. Events of
/// process 1 have no `stream`, so tools that add up the streams of a rank
/// ignore them. Functions follow one another; called functions are within their
/// callers.
void printTrace(const Report &report, llvm::raw_ostream &os);

/// Writes `report` as one self-contained HTML page, which draws the report from
/// its JSON: timelines to zoom into and to select ops in, the memory, and
/// tables of the collectives and of the reasons of exposed time. It prints,
/// too.
void printHtml(const Report &report, llvm::raw_ostream &os);

} // namespace braid

#endif // BRAID_REPORT_REPORT_H
