//===- MeasuredTrace.h - Traces of runs, for comparisons --------*- C++ -*-===//
//
// Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef BRAID_LIB_REPORT_MEASUREDTRACE_H
#define BRAID_LIB_REPORT_MEASUREDTRACE_H

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace braid {

/// The kind of an event in a trace of `braid-run --trace`.
enum class MeasuredKind { Start, Wait, Collective, Compute };

/// One event. Times are in ns since the begin of the trace.
struct MeasuredEvent {
  MeasuredKind kind;
  /// The label of a start, a wait or a collective, or else its kind; the name
  /// of a kernel.
  std::string name;
  int64_t startNs, endNs;
  /// Of a collective: its kind, its group, and the elements of its operands.
  std::string collective;
  std::string group;
  int64_t elements = 0;
};

/// The run of one rank.
struct MeasuredRun {
  int64_t rank = 0;
  /// The function that has run, and its invocation.
  std::string function;
  int64_t startNs = 0, endNs = 0;
  /// The host has computed: the trace shows compute only as what is between
  /// starts and waits.
  bool isHost = false;
  /// In the order of their begins.
  std::vector<MeasuredEvent> events;
};

/// Reads the run of the first rank in a trace.
llvm::Expected<MeasuredRun> readMeasuredRun(llvm::StringRef text);

} // namespace braid

#endif // BRAID_LIB_REPORT_MEASUREDTRACE_H
