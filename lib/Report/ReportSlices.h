//===- ReportSlices.h - Timelines as pictures show them ---------*- C++ -*-===//
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

/// What a slice shows.
enum class SliceKind {
  Compute,       ///< compute on the compute stream
  SideCompute,   ///< compute on a side stream
  Communication, ///< an operation on a lane
  Wait,          ///< the stream awaits operations
  Body,          ///< an op with a body (a loop, a call), around its slices
  LeftOut        ///< trips of a body that have no slices of their own
};

constexpr size_t kNumSliceKinds = 6;

/// An op that runs once, on one track.
struct ReportSlice {
  SliceKind kind;
  const ReportedNode *node;
  unsigned track;
  int64_t startNs;
  int64_t endNs;
  /// When the stream came to the op.
  int64_t issuedNs;
  /// The bodies around it.
  unsigned depth;
  /// Of a body or trips left out: how many trips, in all.
  int64_t tripCount;
  /// The slices that it awaits.
  std::vector<unsigned> awaits;
};

/// A row. The slices of one track nest.
struct ReportTrack {
  /// "compute", or the lane.
  std::string lane;
  bool isStream;
  /// Tells the tracks of one lane apart.
  unsigned row;

  /// What the row is called.
  std::string getName() const {
    return row == 0 ? lane : lane + " (" + std::to_string(row + 1) + ")";
  }
};

/// Part of a lane's time during which the stream stands still for it.
struct ExposedInterval {
  unsigned track;
  int64_t startNs;
  int64_t endNs;
  /// The slice that is exposed.
  unsigned slice;
};

/// A function's timeline with what runs in loops and calls put in its place.
struct SlicedFunction {
  std::vector<ReportTrack> tracks;
  /// Those of a track stand in order of their start, outer ones first.
  std::vector<ReportSlice> slices;
  std::vector<ExposedInterval> exposed;
  /// False if trips of bodies are left out.
  bool isComplete = true;
};

/// The names of the lanes that `function` uses, in loops and calls, too, in
/// order of their appearance; appended to `lanes` unless they are there.
void collectLanes(const ReportedProgram &program,
                  const ReportedFunction &function,
                  std::vector<std::string> &lanes);

/// Cuts the timeline of `function` into slices. Track 0 is the compute stream;
/// others follow in the order of `lanes`; a lane with operations at the same
/// time, which only happens between bodies that are simulated apart, has
/// several. If there would be more than `maxSlices`, bodies show their first
/// trip alone, and calls nothing of what they call.
SlicedFunction sliceFunction(const ReportedProgram &program,
                             const ReportedFunction &function,
                             llvm::ArrayRef<std::string> lanes,
                             size_t maxSlices);

/// The functions of `program` that nobody calls, by position: those that a
/// picture begins with. Every function is one of them, or is called by one
/// directly or through others.
std::vector<size_t> getEntryFunctions(const ReportedProgram &program);

/// A function before and after passes; null where it is not.
struct FunctionPair {
  const ReportedFunction *before;
  const ReportedFunction *after;
};

/// The functions that pictures of `report` show: those of the program as it
/// would run, then those that passes have done away with.
std::vector<FunctionPair> pairFunctions(const Report &report);

/// What a slice of `node` is called: its label, or else its op.
llvm::StringRef getDisplayName(const ReportedNode &node);

} // namespace braid

#endif // BRAID_LIB_REPORT_REPORTSLICES_H
