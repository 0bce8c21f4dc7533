//===- ReportSlices.h - Timelines as slices of tracks -----------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_REPORT_REPORTSLICES_H
#define BRAID_LIB_REPORT_REPORTSLICES_H

#include "braid/Report/Report.h"

#include <cstdint>
#include <string>
#include <vector>

namespace braid {

/// The kind of a slice.
enum class SliceKind {
  Compute,       ///< compute on the compute stream
  SideCompute,   ///< compute on a side stream
  Communication, ///< an operation on a lane
  Wait,          ///< the stream awaits operations
  Body,          ///< an op with a body (a loop, a call), around its slices
  LeftOut        ///< trips of a body that have no slices of their own
};

/// An op that runs once, on one track.
struct ReportSlice {
  SliceKind kind;
  const ReportedNode *node;
  unsigned track;
  int64_t startNs;
  int64_t endNs;
  /// The time when the stream reached the op.
  int64_t issuedNs;
  /// The number of enclosing bodies.
  unsigned depth;
  /// Of a body or of omitted trips: the number of all trips.
  int64_t tripCount;
  /// The slices that it awaits.
  std::vector<unsigned> awaits;
};

/// A row of a timeline. The slices of one track nest.
struct ReportTrack {
  /// "compute", or the lane.
  std::string lane;
  bool isStream;
  /// The number of the track within its lane.
  unsigned row;

  /// The name of the row.
  std::string getName() const {
    return row == 0 ? lane : lane + " (" + std::to_string(row + 1) + ")";
  }
};

/// An interval in which the stream waits for a lane.
struct ExposedInterval {
  unsigned track;
  int64_t startNs;
  int64_t endNs;
  /// The exposed slice.
  unsigned slice;
};

/// The timeline of a function, with the contents of loops and calls inserted.
struct SlicedFunction {
  std::vector<ReportTrack> tracks;
  /// Sorted by track and start; outer slices come first.
  std::vector<ReportSlice> slices;
  std::vector<ExposedInterval> exposed;
  /// False if trips of bodies are omitted.
  bool isComplete = true;
};

/// Appends to `lanes` the names of the lanes that `function` uses, also in
/// loops and calls, in order of their first use, unless `lanes` has them.
void collectLanes(const ReportedProgram &program,
                  const ReportedFunction &function,
                  std::vector<std::string> &lanes);

/// Cuts the timeline of `function` into slices. Track 0 is the compute stream;
/// the tracks of `lanes` follow in order. A lane has several tracks if its
/// operations overlap, which happens only between bodies that are simulated
/// separately. If there would be more than `maxSlices` slices, the result has
/// only the first trip of each body, and no contents of calls.
SlicedFunction sliceFunction(const ReportedProgram &program,
                             const ReportedFunction &function,
                             llvm::ArrayRef<std::string> lanes,
                             size_t maxSlices);

/// The positions of the functions of `program` with a timeline of their own:
/// functions without callers, and one function of each cycle of calls that no
/// other function calls. These call every other function, directly or
/// indirectly.
std::vector<size_t> getEntryFunctions(const ReportedProgram &program);

/// A function before and after passes; null if it does not exist.
struct FunctionPair {
  const ReportedFunction *before;
  const ReportedFunction *after;
};

/// The functions in pictures of `report`: the functions of the program after
/// passes, then the functions that passes have removed.
std::vector<FunctionPair> pairFunctions(const Report &report);

/// The display name of `node`: its label, or else its op.
llvm::StringRef getDisplayName(const ReportedNode &node);

} // namespace braid

#endif // BRAID_LIB_REPORT_REPORTSLICES_H
